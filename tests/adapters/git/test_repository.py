"""Reading a real repository: from which place, and what is refused and why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adapters.git import GitRepository
from bot.core.errors import Refused, Unavailable
from tests.adapters.git.worlds import git, new_repository, write


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


async def test_a_commit_of_a_far_future_year_is_listed_with_the_others(
    top: Path, repository: GitRepository
) -> None:
    """Whoever commits says when; years of five digits are none to Python."""
    write(top, {"late.txt": "x\n"})
    git(top, "add", "--all")
    tree = git(top, "write-tree")
    parent = git(top, "rev-parse", "HEAD")
    person = "A <a@shop.test> 999999999999 +0000"
    raw = f"tree {tree}\nparent {parent}\nauthor {person}\ncommitter {person}\n\nlater\n"
    (top / ".git" / "raw").write_text(raw)
    late = git(top, "hash-object", "-t", "commit", "-w", str(top / ".git" / "raw"))
    git(top, "reset", "--quiet", "--hard", late)
    [branch] = (await repository.branch_list(str(top))).branches
    assert (branch.subject, branch.at.year) == ("later", 9999)
    ages = await repository.last_changed(str(top), ["late.txt", "code.py"])
    assert [age and age.year == 9999 for age in ages.values()] == [True, False]


async def test_a_subdirectory_leads_to_the_top(top: Path, repository: GitRepository) -> None:
    write(top, {"a/b/c.txt": "c\n"})
    assert (await repository.base(str(top / "a" / "b"))).repository == str(top)


async def test_a_linked_worktree_leads_to_the_main_checkout(
    top: Path, repository: GitRepository, tmp_path: Path
) -> None:
    git(top, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    write(tmp_path / "side", {"deep/x.txt": "x\n"})
    base = await repository.base(str(tmp_path / "side" / "deep"))
    assert (base.repository, base.branch, base.uncommitted) == (str(top), "main", 0)


async def test_a_link_to_the_repository_leads_to_it(
    top: Path, repository: GitRepository, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(top)
    assert (await repository.base(str(tmp_path / "link"))).repository == str(top)


async def test_a_submodule_is_a_repository_of_its_own(
    top: Path, repository: GitRepository, tmp_path: Path
) -> None:
    inner = new_repository(tmp_path / "inner")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    base = await repository.base(str(top / "sub"))
    assert base.repository == str(top / "sub")
    assert base.commit == git(inner, "rev-parse", "HEAD")


async def test_a_bare_repository_is_refused(
    top: Path, repository: GitRepository, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(top), "bare.git")
    with pytest.raises(Refused, match="bare"):
        await repository.base(str(tmp_path / "bare.git"))


async def test_a_repository_without_commits_is_refused(
    repository: GitRepository, tmp_path: Path
) -> None:
    (tmp_path / "fresh").mkdir()
    git(tmp_path / "fresh", "init", "--quiet")
    with pytest.raises(Refused, match="no commits") as refused:
        await repository.base(str(tmp_path / "fresh"))
    assert refused.value.remedy


async def test_a_detached_head_is_refused(top: Path, repository: GitRepository) -> None:
    git(top, "checkout", "--quiet", "--detach")
    with pytest.raises(Refused, match="no branch"):
        await repository.base(str(top))


async def test_a_missing_directory_is_refused(repository: GitRepository, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no directory"):
        await repository.base(str(tmp_path / "gone"))


async def test_the_inside_of_a_git_directory_is_refused(
    top: Path, repository: GitRepository
) -> None:
    with pytest.raises(Refused, match=r"inside a \.git"):
        await repository.base(str(top / ".git" / "refs"))


async def test_without_git_it_is_said_how_to_get_it(top: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    repository = GitRepository(tmp_path / "home", {"PATH": str(tmp_path / "nothing")})
    with pytest.raises(Unavailable, match="git is required") as unavailable:
        await repository.base(str(top))
    assert unavailable.value.remedy


async def test_an_old_git_is_told(top: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\necho git version 2.20.1\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    repository = GitRepository(tmp_path / "home", {"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    with pytest.raises(Unavailable, match=r"2\.36 or newer"):
        await repository.base(str(top))


async def test_git_gets_no_secrets(top: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f'#!/bin/sh\nenv >>{seen}\nexec {git_path()} "$@"\n')
    (tmp_path / "bin" / "git").chmod(0o755)
    environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "SLACK_BOT_TOKEN": "canary"}
    await GitRepository(tmp_path / "home", environment).base(str(top))
    assert "GIT_TERMINAL_PROMPT=0" in seen.read_text()
    assert "canary" not in seen.read_text()


def git_path() -> str:
    return next(
        f"{part}/git" for part in os.environ["PATH"].split(":") if Path(part, "git").exists()
    )


@pytest.mark.parametrize("name", ["main", "HEAD", "--all", "-x", "", "a\nb", "HEAD:README.md"])
async def test_only_a_full_hash_is_a_commit(
    top: Path, repository: GitRepository, name: str
) -> None:
    assert not await repository.commit_exists(str(top), name)


async def test_reading_changes_nothing(top: Path, repository: GitRepository) -> None:
    sha = git(top, "rev-parse", "HEAD")
    os.utime(top / "code.py")  # a plain `git status` would now refresh the index
    before = {path: path.stat().st_mtime_ns for path in (top / ".git").rglob("*")}
    await repository.base(str(top))
    await repository.scan(str(top), sha)
    await repository.branches(str(top))
    assert {path: path.stat().st_mtime_ns for path in (top / ".git").rglob("*")} == before


async def test_a_line_break_in_the_path_is_told(tmp_path: Path, repository: GitRepository) -> None:
    top = new_repository(tmp_path / "two\nlines" / "repository")
    with pytest.raises(Refused, match=r"a line break in the path .*two.nlines") as refusal:
        await repository.base(str(top))
    assert "Rename" in refusal.value.remedy


async def test_a_file_where_the_worktrees_are_to_lie_is_told_before_any_work(
    top: Path, repository: GitRepository
) -> None:
    write(top, {".worktrees": ""})
    with pytest.raises(Refused, match=r"\.worktrees is a file") as refusal:
        await repository.base(str(top))
    assert "Rename" in refusal.value.remedy
