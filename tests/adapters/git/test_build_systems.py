"""Which build system it is, and how its tests run, from names and manifests alone."""

from __future__ import annotations

import pytest

from adapters.git.build_systems import MANIFESTS, recognised
from bot.domain.world import BuildSystem

CASES: list[tuple[dict[str, str], BuildSystem, str]] = [
    ({"Cargo.toml": "[package]"}, BuildSystem.CARGO, "cargo test"),
    ({"package.json": '{"scripts": {"test": "vitest"}}'}, BuildSystem.NPM, "npm test"),
    ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, BuildSystem.NPM, ""),
    ({"package.json": "{"}, BuildSystem.NPM, ""),
    ({"package.json": "[" * 100_000}, BuildSystem.NPM, ""),
    ({"package.json": '{"scripts": {"test": "x"}}', "pnpm-lock.yaml": ""}, BuildSystem.PNPM, "pnpm test"),
    ({"package.json": '{"scripts": {"test": "x"}}', "yarn.lock": ""}, BuildSystem.YARN, "yarn test"),
    ({"package.json": '{"scripts": {"test": "x"}}', "bun.lock": ""}, BuildSystem.BUN, "bun run test"),
    ({"package.json": '{"packageManager": "pnpm@9", "scripts": {"test": "x"}}'}, BuildSystem.PNPM, "pnpm test"),
    ({"pyproject.toml": "[tool.pytest.ini_options]"}, BuildSystem.PYTHON, "python3 -m pytest"),
    ({"pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8"]'}, BuildSystem.PYTHON, "python3 -m pytest"),
    ({"requirements.txt": "pytest==8\n", "a_test.py": ""}, BuildSystem.PYTHON, "python3 -m pytest"),
    ({"tests/conftest.py": "", "tests/test_a.py": ""}, BuildSystem.PYTHON, "python3 -m pytest"),
    ({"tox.ini": "[tox]"}, BuildSystem.PYTHON, "tox"),
    ({"noxfile.py": ""}, BuildSystem.PYTHON, "nox"),
    ({"tests/test_a.py": "", "tests/__init__.py": ""}, BuildSystem.PYTHON, "python3 -m unittest discover -s tests -t ."),
    ({"tests/test_a.py": ""}, BuildSystem.PYTHON, "python3 -m unittest discover -s tests"),
    ({"test_a.py": ""}, BuildSystem.PYTHON, "python3 -m unittest discover"),
    ({"pyproject.toml": "[project]\nname = 'x'"}, BuildSystem.PYTHON, ""),
    ({"go.mod": "module x"}, BuildSystem.GO, "go test ./..."),
    ({"pom.xml": ""}, BuildSystem.MAVEN, "mvn -B test"),
    ({"pom.xml": "", "mvnw": ""}, BuildSystem.MAVEN, "./mvnw -B test"),
    ({"build.gradle.kts": "", "gradlew": ""}, BuildSystem.GRADLE, "./gradlew test"),
    ({"src/App.csproj": ""}, BuildSystem.DOTNET, "dotnet test"),
    ({"Gemfile": "", "spec/a_spec.rb": ""}, BuildSystem.RUBY, "bundle exec rspec"),
    ({"Gemfile": "", "Rakefile": "", "test/a_test.rb": ""}, BuildSystem.RUBY, "bundle exec rake test"),
    ({"Makefile": "all:\n\ttrue\ntest: all\n\ttrue\n"}, BuildSystem.MAKE, "make test"),
    ({"Makefile": "test := 1\nall:\n"}, BuildSystem.MAKE, ""),
    ({"CMakeLists.txt": "project(x)\n"}, BuildSystem.CMAKE, ""),
    ({"README.md": ""}, BuildSystem.OTHER, ""),
    ({}, BuildSystem.OTHER, ""),
    # what can be tested wins
    ({"package.json": "{}", "pytest.ini": ""}, BuildSystem.PYTHON, "python3 -m pytest"),
    ({"package.json": "{}", "Makefile": "test:\n"}, BuildSystem.MAKE, "make test"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "system", "command"), CASES)
def test_a_repository_is_recognised(
    files: dict[str, str], system: BuildSystem, command: str
) -> None:
    manifests = {name: text for name, text in files.items() if name in MANIFESTS}
    assert recognised(files.keys(), manifests) == (system, command)


def test_cmake_tests_are_built_first() -> None:
    _, command = recognised(["CMakeLists.txt"], {"CMakeLists.txt": "enable_testing()\n"})
    assert command.startswith("cmake ")
    assert "ctest" in command
