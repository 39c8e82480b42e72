"""What a scan tells of a real repository, what it must not follow, and where it stops."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from adapters.git import GitRepository
from adapters.git.scan import MOST_ENTRIES
from bot.core.errors import Unavailable
from bot.core.git import BuildSystem
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
    assert (scan.files, scan.truncated) == (MOST_ENTRIES, True)
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
    assert ran == [
        f"{top}/backend: go test ./...",
        f"{top}/it's a web: npm test -- --run",
    ]


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
