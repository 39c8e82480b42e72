"""Which build system it is, and how its tests run, from names and manifests alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from adapters.git.projects import MANIFESTS, build_commands, is_test
from bot.core.git import BuildSystem

CASES: list[tuple[dict[str, str], BuildSystem, str]] = [
    ({"Cargo.toml": "[package]"}, BuildSystem.CARGO, "cargo test"),
    ({"Cargo.toml": "[package]\n[workspace]"}, BuildSystem.CARGO, "cargo test --workspace"),
    ({"Cargo.toml": "[workspace]\nmembers = ["}, BuildSystem.CARGO, "cargo test --workspace"),
    ({"package.json": '{"scripts": {"test": "mocha"}}'}, BuildSystem.NPM, "npm test"),
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
    ({"requirements-dev.txt": "pytest\n"}, BuildSystem.PYTHON, "python3 -m pytest"),
    ({"pyproject.toml": "[tool.tox]"}, BuildSystem.PYTHON, "tox"),
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
    ({"settings.gradle": ""}, BuildSystem.GRADLE, "gradle test"),
    ({"App.csproj": ""}, BuildSystem.DOTNET, "dotnet test"),
    ({"My App.sln": "", "App.csproj": ""}, BuildSystem.DOTNET, "dotnet test 'My App.sln'"),
    ({"App.csproj": "", "App.Tests.csproj": ""}, BuildSystem.DOTNET, "dotnet test App.Tests.csproj"),
    ({"Gemfile": "", "spec/a_spec.rb": ""}, BuildSystem.RUBY, "bundle exec rspec"),
    ({"Gemfile": "", "Rakefile": "", "test/a_test.rb": ""}, BuildSystem.RUBY, "bundle exec rake test"),
    ({"Rakefile": "", "test/a_test.rb": ""}, BuildSystem.RUBY, "rake test"),
    ({"Gemfile": ""}, BuildSystem.RUBY, ""),
    ({"Makefile": "all:\n\ttrue\ntest: all\n\ttrue\n"}, BuildSystem.MAKE, "make test"),
    ({"Makefile": "test := 1\nall:\n"}, BuildSystem.MAKE, ""),
    ({"CMakeLists.txt": "project(x)\n"}, BuildSystem.CMAKE, ""),
    ({"README.md": ""}, BuildSystem.OTHER, ""),
    # what cannot be read says nothing
    ({"pyproject.toml": "[tool.pytest]\na = " + "1" * 5_000}, BuildSystem.PYTHON, "python3 -m pytest"),
    # a command is read by people before it runs: no name may look like something else, or like an option
    ({"a\u202enls.sln": "", "b.csproj": ""}, BuildSystem.DOTNET, "dotnet test b.csproj"),
    ({"a\n.sln": "", "b\ufffd.sln": ""}, BuildSystem.DOTNET, ""),
    ({"--logger:x.sln": "", "b.csproj": ""}, BuildSystem.DOTNET, "dotnet test ./--logger:x.sln"),
    ({}, BuildSystem.OTHER, ""),
    # what can be tested wins
    ({"package.json": "{}", "pytest.ini": ""}, BuildSystem.PYTHON, "python3 -m pytest"),
    ({"package.json": "{}", "Makefile": "test:\n"}, BuildSystem.MAKE, "make test"),
]  # fmt: skip


@pytest.mark.covers(
    "G-RULE-VERIFY-2",
    "G-ENUM-BuildSystem-Cargo",
    "G-ENUM-BuildSystem-Npm",
    "G-ENUM-BuildSystem-Other",
)
@pytest.mark.parametrize(("files", "system", "command"), CASES)
def test_a_repository_is_recognised(
    files: dict[str, str], system: BuildSystem, command: str
) -> None:
    manifests = {name: text for name, text in files.items() if name in MANIFESTS}
    assert build_commands(files.keys(), manifests)[:2] == (system, command)


PYTEST = "[tool.pytest.ini_options]\n"
TESTED = {"tests/conftest.py": "", "tests/test_a.py": ""}
TOOLS: list[tuple[dict[str, str], str, str]] = [
    # uv makes its environment by itself
    ({"uv.lock": "", "pyproject.toml": '[tool.uv]\ndev-dependencies = ["pytest>=8"]'}, "uv run python -m pytest", ""),
    ({"uv.lock": "", "pyproject.toml": '[dependency-groups]\ndev = ["pytest"]'}, "uv run python -m pytest", ""),
    ({"uv.lock": "", "pyproject.toml": '[dependency-groups]\ntest = ["pytest"]'}, "uv run --group test python -m pytest", ""),
    ({"uv.lock": "", "pyproject.toml": '[project.optional-dependencies]\ncheck = ["pytest"]'}, "uv run --extra check python -m pytest", ""),
    ({"uv.lock": "", "pyproject.toml": PYTEST}, "uv run --with pytest python -m pytest", ""),
    ({"uv.lock": "", "pyproject.toml": "[project]", "test_a.py": ""}, "uv run python -m unittest discover", ""),
    ({"pyproject.toml": "[tool.uv]\npackage = true\n" + PYTEST + '[project]\ndependencies = ["pytest"]'}, "uv run python -m pytest", ""),
    ({"uv.lock": "", "pyproject.toml": "[project]"}, "", ""),
    # these want it made in each worktree
    ({"poetry.lock": "", "pyproject.toml": '[tool.poetry.group.dev.dependencies]\npytest = "^8"'}, "poetry run python -m pytest", "poetry install"),
    ({"pyproject.toml": '[tool.poetry.dependencies]\npytest = "^8"'}, "poetry run python -m pytest", "poetry install"),
    ({"pdm.lock": "", "pyproject.toml": PYTEST}, "pdm run python -m pytest", "pdm install"),
    ({"Pipfile": "pytest = '*'\n", "Pipfile.lock": ""}, "pipenv run python -m pytest", "pipenv sync --dev"),
    ({".venv/bin/python": "", "requirements.txt": "pytest\n"}, ".venv/bin/python -m pytest", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"),
    ({"venv/bin/python": "", "pyproject.toml": '[project.optional-dependencies]\ntest = ["pytest"]'}, "venv/bin/python -m pytest", "python3 -m venv venv && venv/bin/pip install -e '.[test]'"),
    # a lock file names what is used; the environment beside it was made by that
    ({".venv/bin/python": "", "uv.lock": "", "pyproject.toml": '[project]\ndependencies = ["pytest"]'}, "uv run python -m pytest", ""),
    ({"tox.ini": "[testenv]", "uv.lock": "", "pyproject.toml": '[project]\ndependencies = ["pytest"]'}, "uv run python -m pytest", ""),
    # tox, nox and hatch make theirs, too: nobody else says where pytest would come from
    ({"tox.ini": "[tox]\n[pytest]", **TESTED}, "tox", ""),
    ({"tox.ini": "[pytest]", **TESTED}, "python3 -m pytest", ""),
    ({"tox.ini": "[tox]", ".venv/bin/python": "", **TESTED}, ".venv/bin/python -m pytest", "python3 -m venv .venv"),
    ({"noxfile.py": "@nox.session\ndef lint(session): ...\n@nox.session\ndef tests(session): ...", **TESTED}, "nox -s tests", ""),
    ({"noxfile.py": "def coverage(session): ...", "test_a.py": ""}, "nox", ""),
    ({"pyproject.toml": '[tool.hatch.envs.default.scripts]\ntest = "pytest"'}, "hatch run test", ""),
    ({"pyproject.toml": '[tool.hatch.envs.test.scripts]\nrun = "pytest"'}, "hatch run test:run", ""),
    ({"pyproject.toml": "[tool.hatch.envs.hatch-test]\n" + PYTEST}, "hatch test", ""),
    ({"pyproject.toml": "[tool.hatch.build]\n" + PYTEST}, "python3 -m pytest", ""),
    ({"pyproject.toml": "[tool.pdm.version]\n" + PYTEST}, "python3 -m pytest", ""),
    # Node.js
    ({"package.json": '{"scripts": {"test": "x"}}', "package-lock.json": ""}, "npm test", "npm ci"),
    ({"package.json": '{"scripts": {"test": "x"}, "devDependencies": {"x": "1"}}'}, "npm test", "npm install"),
    ({"package.json": '{"scripts": {"test": "node --test"}}'}, "npm test", ""),
    ({"package.json": '{"scripts": {"test": "x"}}', "pnpm-lock.yaml": ""}, "pnpm test", "pnpm install --frozen-lockfile"),
    ({"package.json": "{}", "pnpm-lock.yaml": "", "turbo.json": '{"tasks": {"test": {}}}'}, "pnpm exec turbo run test", "pnpm install --frozen-lockfile"),
    ({"package.json": "{}", "yarn.lock": "", "turbo.json": '{"pipeline": {"test": {}}}'}, "yarn turbo run test", "yarn install"),
    ({"package.json": "{}", "package-lock.json": "", "turbo.json": '{"tasks": {"//#test" : {}}}'}, "npx turbo run test", "npm ci"),
    ({"package.json": "{}", "bun.lockb": "", "turbo.json": '{"tasks": {"build": {}}}'}, "", "bun install --frozen-lockfile"),
    ({"package.json": "{}", "bun.lock": "", "src/a.test.ts": ""}, "bun test", "bun install --frozen-lockfile"),
    ({"Gemfile": "", "spec/a_spec.rb": ""}, "bundle exec rspec", "bundle install"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "command", "set_up"), TOOLS)
def test_lock_files_and_configuration_say_which_tool_runs_the_tests(
    files: dict[str, str], command: str, set_up: str
) -> None:
    manifests = {name: text for name, text in files.items() if name in MANIFESTS}
    assert build_commands(files.keys(), manifests)[1:] == (command, set_up)


_HOSTILE = """
from adapters.git.projects import build_commands
for name, text in (
    ("requirements.txt", "\\n" * 500_000),
    ("CMakeLists.txt", "\\n" * 65_536),
    ("pyproject.toml", ".".join("a" * 500_000) + "=1"),
    ("pyproject.toml", ".".join(['"="'] * 500_000) + "=1"),
    ("Cargo.toml", "[" + ".".join("a" * 500_000) + "]"),
):
    build_commands({name}, {name: text})
"""


def test_no_manifest_keeps_the_bot_busy_for_ever() -> None:
    """Reading them takes part of a second, or hours: in a process of its own, so that it can be ended."""
    subprocess.run([sys.executable, "-c", _HOSTILE], check=True, timeout=60)


def test_cmake_tests_are_built_first() -> None:
    command = build_commands(["CMakeLists.txt"], {"CMakeLists.txt": "enable_testing()\n"}).command
    assert command.startswith("cmake ")
    assert "ctest" in command


@pytest.mark.parametrize(
    ("script", "lock", "command"),
    [
        ("vitest", "", "npm test -- --run"),
        ("vitest watch", "", "npm test -- --run"),
        ("cross-env TZ=UTC vitest --coverage", "pnpm-lock.yaml", "pnpm test --run"),
        ("vitest", "yarn.lock", "yarn test --run"),
        ("vitest", "bun.lock", "bun run test --run"),
        ("vitest run", "", "npm test"),
        ("vitest --run", "", "npm test"),
        ("jest --watch", "", "npm test -- --watch=false"),
        ("jest --watchAll", "yarn.lock", "yarn test --watchAll=false"),
        ("jest", "", "npm test"),
        ("react-scripts test", "", "npm test"),
        # what is added would go to the last of the two
        ("vitest && eslint .", "", "npm test"),
    ],
)
def test_a_script_that_would_watch_runs_once(script: str, lock: str, command: str) -> None:
    manifests = {"package.json": json.dumps({"scripts": {"test": script}})}
    assert build_commands({"package.json", lock}, manifests)[1] == command


@pytest.mark.parametrize(
    "path",
    [
        *("test_a.py", "a/b_test.py", "pkg/a_test.go", "src/a.test.ts", "src/a.spec.jsx"),
        *("src/__tests__/a.js", "tests/it.rs", "test/a.rb", "spec/a_spec.rb"),
        *("src/test/java/shop/CartTest.java", "CartTests.cs", "src/CartSpec.kt"),
    ],
)
def test_a_file_of_tests_is_known_by_its_name(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path", ["latest.py", "src/contest.ts", "Testament.md", "tests/data.json", "spec.md", "a.rs"]
)
def test_other_files_hold_no_tests(path: str) -> None:
    assert not is_test(path)
