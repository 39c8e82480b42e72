"""What a scan tells of a real repository, what it must not follow, and where it stops."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.git import GitRepository
from adapters.git.projects import (
    MANIFESTS,
    build_commands,
    combined_set_up,
    combined_test_command,
    find_projects,
    is_test,
    project_manifests,
)
from adapters.git.scan import MAX_ENTRIES
from bot.core.errors import Unavailable
from bot.core.git import BuildSystem, Project
from tests.adapters.git.worlds import PEOPLE, git, new_repository, write


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repository")


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "home")


def commit(top: Path, files: dict[str, str]) -> str:
    write(top, files)
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "more")
    return git(top, "rev-parse", "HEAD")


def commit_of(top: Path, entries: list[str]) -> str:
    """A commit whose top directory has these entries, in the form of `git ls-tree`."""
    done = subprocess.run(
        ["git", "mktree", "-z"],
        cwd=top,
        env=PEOPLE,
        input="".join(f"{entry}\0" for entry in entries).encode(),
        check=True,
        capture_output=True,
    )
    return git(top, "commit-tree", "-m", "many", done.stdout.decode().strip())


def a_git_that_hangs(directory: Path, at: str, *, after: int = 0) -> dict[str, str]:
    """An environment whose git never ends where its arguments end with `at`; the first `after` times it does."""
    real = next(p for part in os.environ["PATH"].split(":") if (p := Path(part, "git")).exists())
    program = directory / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
case "$*" in *"{at}")
  echo . >>{directory}/seen
  [ $(wc -l <{directory}/seen) -gt {after} ] && exec sleep 600
esac
exec {real} "$@"
"""
    )
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}


async def test_a_scan_follows_no_symbolic_link(
    top: Path, repository: GitRepository, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("canary")
    (top / "CLAUDE.md").symlink_to(tmp_path / "secret")
    sha = commit(top, {"AGENTS.md": "Be kind.\n"})
    scan = await repository.scan(str(top), sha)
    assert "canary" not in scan.model_dump_json()
    assert "Be kind." in scan.conventions
    assert "CLAUDE.md" not in scan.directory_tree


async def test_a_scan_reads_the_commit_and_not_the_checkout(
    top: Path, repository: GitRepository
) -> None:
    sha = commit(top, {"CLAUDE.md": "committed\n"})
    (top / "CLAUDE.md").unlink()
    os.mkfifo(top / "CLAUDE.md")
    assert "committed" in (await repository.scan(str(top), sha)).conventions


@pytest.mark.covers("G-RULE-SCAN-3")
async def test_a_scan_is_bounded(top: Path, repository: GitRepository) -> None:
    sha = commit(
        top,
        {
            "CLAUDE.md": "a" * 100_000,
            "AGENTS.md": "b" * 7_000,
            "CONTRIBUTING.md": "c" * 9_000,
            "README.md": "r" * 2_000_000,
            **{f"specs/SPEC-{n:08x}/spec.md": "# S\n" + "s" * 60_000 for n in range(12)},
        },
    )
    scan = await repository.scan(str(top), sha)
    assert scan.truncated
    assert [scan.conventions.count(letter * 1_000) for letter in "abc"] == [8, 7, 1]
    assert len(scan.conventions) < 16_500
    assert len(scan.model_dump_json()) < 40_000
    assert len(scan.specs_summary.splitlines()) == 12


async def test_rules_that_were_cut_say_where_the_rest_is(
    top: Path, repository: GitRepository
) -> None:
    sha = commit(top, {"CLAUDE.md": "a" * 8_001, "AGENTS.md": "Be kind.\n"})
    scan = await repository.scan(str(top), sha)
    assert "read the file CLAUDE.md itself" in scan.conventions
    assert "read the file AGENTS.md" not in scan.conventions
    assert scan.truncated


@pytest.mark.covers(
    "G-RULE-SCAN-2", "G-RULE-SCAN-3", "G-RULE-SCAN-4", "G-RULE-SCAN-5", "G-RULE-SCAN-6"
)
async def test_a_scan_tells_what_there_is(top: Path, repository: GitRepository) -> None:
    sha = commit(
        top,
        {
            "pyproject.toml": "[project]\nname = 'shop'\n[tool.pytest.ini_options]\n",
            "shop/__main__.py": "print()\n",
            "shop/a/b/c/deep.py": "",
            "tests/test_a.py": "",
            ".specify/memory/constitution.md": "Simple.\n",
            "specs/SPEC-0a1b2c3d/spec.md": "# Login\n",
        },
    )
    scan = await repository.scan(str(top), sha)
    assert (scan.build_system, scan.test_command) == (BuildSystem.PYTHON, "python3 -m pytest")
    assert "name = 'shop'" in scan.project_meta
    assert "shop/__main__.py" in scan.source_overview
    assert "shop/a/b/ (1 files)" in scan.directory_tree
    assert scan.directory_tree.splitlines() == sorted(scan.directory_tree.splitlines())
    assert (scan.has_tests, [one.path for one in scan.projects]) == (True, ["."])
    assert scan.specs_summary == "- SPEC-0a1b2c3d: Login"
    assert "Simple." in scan.conventions
    assert (scan.files, scan.truncated) == (8, False)


async def test_odd_names_and_bytes_do_no_harm(top: Path, repository: GitRepository) -> None:
    for name in (b"caf\xe9.txt", b"line\nbreak", "日本語.md".encode()):
        (top / os.fsdecode(name)).write_bytes(b"\xff\x00x")
    (top / "CLAUDE.md").write_bytes(b"\xff\xfe rules\n\x00")
    scan = await repository.scan(str(top), commit(top, {"x": "x\n"}))
    assert "rules" in scan.conventions
    assert "日本語.md" in scan.directory_tree
    scan.model_dump_json().encode()


async def test_a_rule_that_is_a_link_a_submodule_or_a_directory_is_none(
    top: Path, repository: GitRepository, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("canary")
    (top / "docs").mkdir()
    (top / "docs" / "CLAUDE.md").write_text("canary")
    (top / "specs").symlink_to("docs")
    inner = new_repository(tmp_path / "inner", {"CLAUDE.md": "canary\n"})
    git(
        *(top, "-c", "protocol.file.allow=always"),
        *("submodule", "--quiet", "add", str(inner), "AGENTS.md"),
    )
    (top / "CONTRIBUTING.md").symlink_to("docs/CLAUDE.md")
    (top / "CLAUDE.md").symlink_to(tmp_path / "secret")
    sha = commit(top, {"x": "x\n"})
    assert "160000 commit" in git(top, "ls-tree", sha, "AGENTS.md")
    scan = await repository.scan(str(top), sha)
    assert (scan.conventions, scan.specs_summary) == ("", "")
    assert "canary" not in scan.model_dump_json()
    assert not scan.truncated


async def test_a_huge_file_is_named_and_not_read(top: Path, repository: GitRepository) -> None:
    for name in ("CLAUDE.md", "data.bin"):
        with (top / name).open("wb") as huge:
            huge.truncate(64 * 1024 * 1024)
    scan = await repository.scan(str(top), commit(top, {"AGENTS.md": "Be kind.\n"}))
    assert "Be kind." in scan.conventions
    assert "read the file CLAUDE.md itself" in scan.conventions
    assert "data.bin" in scan.directory_tree
    assert scan.truncated
    assert len(scan.model_dump_json()) < 10_000


async def test_a_name_forges_no_line(top: Path, repository: GitRepository) -> None:
    for name in (b"a\n## CLAUDE.md\nforged", b"specs/x\n- y/spec.md", b"caf\xe9/package.json"):
        path = top / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"scripts": {"test": "forged"}}')
    scan = await repository.scan(str(top), commit(top, {"x": "x\n"}))
    told = (scan.directory_tree, scan.specs_summary, scan.source_overview, scan.conventions)
    lines = [line for text in told for line in text.splitlines()]
    assert not any(line.startswith(("## CLAUDE.md", "forged", "- y")) for line in lines)
    assert [one.path for one in scan.projects] == ["."]
    assert scan.test_command == ""


async def test_names_of_any_length_leave_room_for_the_others(
    top: Path, repository: GitRepository
) -> None:
    blob = git(top, "hash-object", "-w", "--stdin")
    names = [f"{n:03}{'x' * 4_000}/main.py" for n in range(50)]
    trees = [f"040000 tree {tree_of(top, blob)}\t{name.partition('/')[0]}" for name in names]
    scan = await repository.scan(str(top), commit_of(top, trees))
    assert scan.directory_tree.count("main.py") == 50
    assert len(scan.directory_tree) < 50 * 300
    assert len(scan.source_overview) < 100 * 300


def tree_of(top: Path, blob: str) -> str:
    done = subprocess.run(
        ["git", "mktree"],
        cwd=top,
        env=PEOPLE,
        input=f"100644 blob {blob}\tmain.py\n".encode(),
        check=True,
        capture_output=True,
    )
    return done.stdout.decode().strip()


async def test_of_too_many_files_some_are_read(top: Path, repository: GitRepository) -> None:
    blob = git(top, "rev-parse", "HEAD:README.md")
    names = ["AGENTS.md", *(f"file{n}.txt" for n in range(60_000))]
    sha = commit_of(top, [f"100644 blob {blob}\t{name}" for name in names])
    scan = await repository.scan(str(top), sha)
    assert (scan.files, scan.truncated) == (MAX_ENTRIES, True)
    assert "hello" in scan.conventions
    assert "… and 49600 more" in scan.directory_tree


async def test_a_scan_that_runs_out_of_time_gives_what_it_has(top: Path, tmp_path: Path) -> None:
    sha = commit(
        top, {"go.mod": "module x\n", "CLAUDE.md": "Be brief.\n", "specs/a/spec.md": "# Login\n"}
    )
    environment = a_git_that_hangs(tmp_path, "cat-file --batch", after=1)
    repository = GitRepository(tmp_path / "home", environment, scan_seconds=5)
    scan = await repository.scan(str(top), sha)
    assert scan.truncated
    assert (scan.files, scan.test_command) == (5, "go test ./...")
    assert "go.mod" in scan.directory_tree
    assert "Be brief." in scan.conventions
    assert scan.specs_summary == "- a"


async def test_rules_that_were_not_read_in_time_are_named(top: Path, tmp_path: Path) -> None:
    sha = commit(top, {"CLAUDE.md": "Be brief.\n", "test_a.py": ""})
    environment = a_git_that_hangs(tmp_path, "cat-file --batch-check", after=1)
    repository = GitRepository(tmp_path / "home", environment, scan_seconds=5)
    scan = await repository.scan(str(top), sha)
    assert (scan.truncated, scan.has_tests) == (True, True)
    assert "read the file CLAUDE.md itself" in scan.conventions


async def test_a_repository_that_cannot_be_listed_in_time_is_told(
    top: Path, tmp_path: Path
) -> None:
    sha = git(top, "rev-parse", "HEAD")
    environment = a_git_that_hangs(tmp_path, f"--full-tree {sha}")
    repository = GitRepository(tmp_path / "home", environment, scan_seconds=1)
    with pytest.raises(Unavailable, match=r"could not be listed in 1 s") as unavailable:
        await repository.scan(str(top), sha)
    assert unavailable.value.remedy


async def test_a_mixed_repository_is_tested_project_by_project(
    top: Path, repository: GitRepository, tmp_path: Path
) -> None:
    sha = commit(
        top,
        {
            "it's a web/package.json": '{"scripts": {"test": "vitest"}}',
            "backend/go.mod": "module backend\n",
        },
    )
    scan = await repository.scan(str(top), sha)
    assert [one.path for one in scan.projects] == [".", "backend", "it's a web"]
    assert (scan.build_system, scan.has_tests) == (BuildSystem.GO, True)
    assert "## backend/go.mod" in scan.project_meta
    ran = run_with_stubs(scan.test_command, top, tmp_path / "stubs", "go", "npm")
    assert ran == [f"{top}/backend: go test ./...", f"{top}/it's a web: npm test -- --run"]


def run_with_stubs(command: str, top: Path, stubs: Path, *programs: str) -> list[str]:
    """Run a test command where each program only says where it was started, and with what."""
    stubs.mkdir()
    for program in programs:
        stub = stubs / program
        stub.write_text(f'#!/bin/sh\necho "$PWD: {program} $*"\n')
        stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    environment = {"PATH": f"{stubs}:/usr/bin:/bin"}
    done = subprocess.run(
        ["sh", "-c", command], cwd=top, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()


async def test_a_repository_without_tests_says_so(top: Path, repository: GitRepository) -> None:
    scan = await repository.scan(str(top), git(top, "rev-parse", "HEAD"))
    assert (scan.has_tests, scan.test_command) == (False, "")
    assert [one.path for one in scan.projects] == ["."]


async def test_specs_are_told_by_id_and_title(top: Path, repository: GitRepository) -> None:
    sha = commit(
        top,
        {
            "specs/SPEC-0a1b2c3d/spec.md": "# Feature Specification: Login\n",
            "specs/001-cart/spec.md": "no title\n",
            "specs/001-cart/deep/spec.md": "# Not one\n",
        },
    )
    scan = await repository.scan(str(top), sha)
    assert scan.specs_summary.splitlines() == ["- 001-cart", "- SPEC-0a1b2c3d: Login"]


async def test_an_environment_beside_the_code_is_used_though_git_ignores_it(
    top: Path, repository: GitRepository
) -> None:
    made = commit(top, {".gitignore": ".venv/\n", "requirements.txt": "pytest\n"})
    write(top, {".venv/bin/python": ""})
    scan = await repository.scan(str(top), made)
    assert scan.test_command == ".venv/bin/python -m pytest"
    assert scan.set_up == "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"
    assert ".venv" not in scan.directory_tree


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
    subprocess.run([sys.executable, "-c", _HOSTILE], check=True, timeout=120)


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


@pytest.mark.parametrize("path", [
    *("test_a.py", "a/b_test.py", "pkg/a_test.go", "src/a.test.ts", "src/a.spec.jsx"),
    *("src/__tests__/a.js", "tests/it.rs", "test/a.rb", "spec/a_spec.rb"),
    *("src/test/java/shop/CartTest.java", "CartTests.cs", "src/CartSpec.kt"),
])  # fmt: skip
def test_a_file_of_tests_is_known_by_its_name(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path", ["latest.py", "src/contest.ts", "Testament.md", "tests/data.json", "spec.md", "a.rs"]
)
def test_other_files_hold_no_tests(path: str) -> None:
    assert not is_test(path)


NPM = '{"scripts": {"test": "mocha"}}'


def seen(files: dict[str, str]) -> tuple[tuple[Project, ...], str]:
    paths = list(files)
    projects = find_projects(paths, files, project_manifests(paths))
    return projects, combined_test_command(projects, paths, files)


def command(files: dict[str, str]) -> str:
    return seen(files)[1]


MEMBERS = {
    "package.json": '{"workspaces": ["packages/*"]}',
    "packages/a/package.json": NPM,
    "packages/b/package.json": NPM,
}
QUOTED = """(cd ./-x && go test ./...) && (cd 'a b' && go test ./...) && (cd 'it'"'"'s; rm -rf x' && npm test)"""
MIXED = {
    "README.md": "",
    "backend/pyproject.toml": PYTEST,
    "backend/tests/test_a.py": "",
    "services/worker/go.mod": "",
    "web/package.json": NPM,
}
IN_ORDER = "(cd backend && python3 -m pytest) && (cd web && npm test) && (cd services/worker && go test ./...)"
NOT_OURS = (
    *("node_modules/x", "web/node_modules/x", "vendor/x", "tests/fixtures/x", "examples/x"),
    *("pkg/testdata", "third_party/x", ".hidden", "docs", "tests/project", "a/b/c/d"),
    *("line\nbreak", "not\ufffdutf8"),
)
PROJECTS: list[tuple[dict[str, str], list[str], str]] = [
    # without a command at the top each project is tested in its folder
    (MIXED, [".", "backend", "web", "services/worker"], IN_ORDER),
    ({"Makefile": "test:\n", "web/package.json": NPM}, [".", "web"], "make test"),
    ({"go.mod": ""}, ["."], "go test ./..."),
    ({}, ["."], ""),
    # tests of a project below are not those of the top
    ({"a/setup.py": "", "a/test_a.py": "", "b/test_b.py": ""}, [".", "a"], "python3 -m unittest discover"),
    ({"a/setup.py": "", "a/test_a.py": ""}, [".", "a"], "(cd a && python3 -m unittest discover)"),
    # what is not ours, or too deep, is no project
    *(({f"{folder}/package.json": NPM, "README.md": ""}, ["."], "") for folder in NOT_OURS),
    # names are quoted for the shell
    ({"it's; rm -rf x/package.json": NPM, "-x/go.mod": "", "a b/go.mod": ""}, [".", "-x", "a b", "it's; rm -rf x"], QUOTED),
    # what lies in a tested project of its kind is tested with it; parts without tests are not told
    ({"app/pom.xml": "", "app/core/pom.xml": "", "app/web/package.json": NPM}, [".", "app", "app/core", "app/web"], "(cd app && mvn -B test) && (cd app/web && npm test)"),
    ({"CMakeLists.txt": "", "src/CMakeLists.txt": "", "web/package.json": "{}"}, [".", "web"], ""),
    # members of a workspace are tested together; a lock file of its own comes before that of the top
    (MEMBERS, [".", "packages/a", "packages/b"], "npm test --workspaces --if-present"),
    ({**MEMBERS, "pnpm-lock.yaml": ""}, [".", "packages/a", "packages/b"], "pnpm --recursive run --if-present test"),
    ({**MEMBERS, "bun.lock": ""}, [".", "packages/a", "packages/b"], "bun run --filter '*' test"),
    ({**MEMBERS, "yarn.lock": ""}, [".", "packages/a", "packages/b"], "(cd packages/a && yarn test) && (cd packages/b && yarn test)"),
    ({**MEMBERS, "api/go.mod": ""}, [".", "api", "packages/a", "packages/b"], "npm test --workspaces --if-present && (cd api && go test ./...)"),
    ({"package.json": '{"workspaces": ["a"]}', "a/package.json": "{}"}, ["."], ""),
    ({"package.json": "{}", "pnpm-workspace.yaml": "", "a/package.json": NPM}, [".", "a"], "pnpm --recursive run --if-present test"),
    ({"yarn.lock": "", "a/package.json": NPM, "b/package.json": NPM, "b/bun.lock": ""}, [".", "a", "b"], "(cd a && yarn test) && (cd b && bun run test)"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "paths", "expected"), PROJECTS)
def test_each_project_of_a_repository_is_tested_by_its_own_means(
    files: dict[str, str], paths: list[str], expected: str
) -> None:
    projects, all_of_it = seen(files)
    assert ([one.path for one in projects], all_of_it) == (paths, expected)


def test_at_most_twelve_projects_are_told_and_those_with_tests_come_first() -> None:
    untested = {f"a{n:02}/package.json": "{}" for n in range(20)}
    tested = {f"z{n:02}/package.json": NPM for n in range(20)}
    projects, all_of_it = seen(untested | tested)
    assert len(projects) == 1 + 12
    assert [one.path for one in projects[1:]] == [f"z{n:02}" for n in range(12)]
    assert all_of_it.count("npm test") == 12


def set_up(files: dict[str, str]) -> str:
    return combined_set_up(seen(files)[0])


def test_the_lock_of_a_workspace_holds_for_its_members_and_is_installed_once() -> None:
    files = {
        "pyproject.toml": "[tool.uv.workspace]",
        "uv.lock": "",
        "api/pyproject.toml": '[project]\ndependencies = ["pytest"]',
        "web/package.json": NPM,
        "web/package-lock.json": "",
        "web/admin/package.json": NPM,
    }
    assert command(files) == "(cd api && uv run python -m pytest) && (cd web && npm test)"
    assert set_up(files) == "(cd web && npm ci)"
    members = {"package.json": '{"workspaces": ["a"]}', "yarn.lock": "", "a/package.json": NPM}
    assert (command(members), set_up(members)) == ("(cd a && yarn test)", "yarn install")
