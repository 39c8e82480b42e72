"""What people do to branches by hand, in a real repository: the reason names the commit to go back to, and nothing is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.core.errors import Refused
from tests.adapters.git.worlds import RealWorld, git

BRANCH = "agent/login"


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    return RealWorld(tmp_path)


@pytest.fixture
async def path(world: RealWorld) -> Path:
    world.person_commits("main", {"more.py": "m\n"})
    here = world.at("agent-login")
    await world.worktrees.prepare(world.path, BRANCH, here, world.tip("main") or "")
    return Path(here)


def offered(refused: pytest.ExceptionInfo[Refused]) -> str:
    found = re.search(r"[0-9a-f]{40}", refused.value.remedy)
    return found[0] if found else ""


@pytest.mark.covers("G-RULE-BRANCHMODE-3")
@pytest.mark.parametrize("vanished", [False, True])
async def test_of_a_deleted_branch_the_commit_it_stood_at_is_offered(
    world: RealWorld, path: Path, vanished: bool
) -> None:
    commit = world.agent_commits(str(path), {"login.py": "x\n"})
    if vanished:
        world.vanish(str(path))
    git(world.top, "update-ref", "-d", f"refs/heads/{BRANCH}")
    for _ in range(2):
        with pytest.raises(Refused, match="is gone") as refused:
            await world.worktrees.prepare(world.path, BRANCH, str(path), commit)
        assert offered(refused) == commit


async def test_of_a_moved_branch_the_commit_it_stood_at_is_offered(
    world: RealWorld, path: Path
) -> None:
    commit = world.agent_commits(str(path), {"login.py": "x\n"})
    git(world.top, "update-ref", f"refs/heads/{BRANCH}", "main~1")
    with pytest.raises(Refused, match="moved by hand") as refused:
        await world.worktrees.commit_files(str(path), {"spec.md": "s\n"}, "docs: s")
    assert offered(refused) == commit
    assert (path / "login.py").read_text() == "x\n"
    git(world.top, "update-ref", f"refs/heads/{BRANCH}", commit)
    assert (await world.worktrees.work(str(path), commit)).uncommitted == ()


async def test_an_agent_may_rewrite_its_own_commits(world: RealWorld, path: Path) -> None:
    start = world.tip("main") or ""
    world.agent_commits(str(path), {"login.py": "x\n"})
    world.vanish(str(path))
    await world.worktrees.prepare(world.path, BRANCH, str(path), start)
    git(path, "commit", "--quiet", "--amend", "-m", "amended")
    assert len((await world.worktrees.work(str(path), start)).commits) == 1


async def test_a_tag_or_file_named_like_a_branch_is_not_taken_for_it(
    world: RealWorld, path: Path
) -> None:
    """Else unmerged work would look as though it were merged."""
    commit = world.agent_commits(str(path), {"login.py": "x\n"})
    git(world.top, "tag", "main", commit)
    (world.top / ".git" / "main").write_text(commit + "\n")
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, "main")
    assert "not merged" in removal.reason
    assert world.tip(BRANCH) == commit


@pytest.mark.parametrize("lie", ["replace", "graft"])
async def test_a_planted_history_does_not_prove_a_merge(
    world: RealWorld, path: Path, lie: str
) -> None:
    commit, base = world.agent_commits(str(path), {"login.py": "x\n"}), world.tip("main") or ""
    if lie == "replace":
        git(world.top, "replace", "--graft", base, commit)
    else:
        (world.top / ".git" / "info" / "grafts").write_text(f"{base} {commit}\n")
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, "main")
    assert "not merged" in removal.reason
    assert world.tip(BRANCH) == commit
