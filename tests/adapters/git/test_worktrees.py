"""Worktrees in a real repository: what people have there is never touched, and what leads out of it is refused."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import psutil
import pytest

from adapters.git import GitWorktrees
from adapters.git.layout import main_checkout
from adapters.git.ledger import RepositoryLocks
from adapters.git.run import Git
from bot.core.errors import Refused, Unavailable
from tests.adapters.git.worlds import BRANCH, RealWorld, git, new_repository, write


@pytest.mark.covers("G-RULE-BRANCH-8")
async def test_worktrees_and_hook_files_stay_out_of_everybodys_status(
    world: RealWorld, path: Path
) -> None:
    write(path, {".claude/settings.local.json": "{}"})
    assert git(world.top, "status", "--porcelain") == ""
    assert git(path, "status", "--porcelain") == ""


async def test_the_exclude_file_keeps_its_lines_and_gets_each_of_ours_once(
    world: RealWorld, first: str
) -> None:
    exclude = world.top / ".git" / "info" / "exclude"
    exclude.write_text("mine.txt")
    for name in ("a", "b"):
        await world.worktrees.prepare(world.path, f"agent/{name}", world.at(f"agent-{name}"), first)
    assert exclude.read_text().splitlines() == [
        "mine.txt",
        "/.worktrees/",
        ".claude/settings.local.json",
    ]


TAKEN: list[Callable[[RealWorld], object]] = [
    lambda world: write(Path(world.at("agent-new")), {"mine.txt": "mine\n"}),
    lambda world: git(world.top, "branch", "agent/new/more"),
]


@pytest.mark.parametrize("by", TAKEN)
async def test_what_somebody_has_there_already_is_taken(
    world: RealWorld, first: str, by: Callable[[RealWorld], object]
) -> None:
    by(world)
    with pytest.raises(Refused, match=r"^taken$"):
        await world.worktrees.prepare(world.path, "agent/new", world.at("agent-new"), first)
    mine = Path(world.at("agent-new")) / "mine.txt"
    assert not mine.exists() or mine.read_text() == "mine\n"


async def test_a_linked_directory_of_worktrees_is_refused(
    world: RealWorld, first: str, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (world.top / ".worktrees").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="symbolic link"):
        await world.worktrees.prepare(world.path, BRANCH, world.at("agent-login"), first)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.covers("G-RULE-BRANCH-1", "G-LIMIT-4", "G-OUT-3")
@pytest.mark.parametrize(
    "branch",
    ["main", "agent", "agent/", "agent/-x", "agent/HEAD", "agent/a/b", "agent/a b", "agent/a\n",
     "agent/../x", "agent/x.lock", "agent/é", "agent/" + "x" * 59, "--force", "refs/heads/main"],
)  # fmt: skip
async def test_only_branches_of_the_bot_s_kind_are_made_or_removed(
    world: RealWorld, first: str, branch: str
) -> None:
    with pytest.raises(Refused, match="no name for a branch"):
        await world.worktrees.prepare(world.path, branch, world.at("agent-x"), first)
    with pytest.raises(Refused, match="no name for a branch"):
        await world.worktrees.remove(world.path, world.at("agent-x"), branch, "main")


@pytest.mark.covers("G-RULE-BRANCH-8")
@pytest.mark.parametrize(
    "place", ["x", ".worktrees/a/b", ".worktrees/../x", ".worktrees/.git", "/elsewhere"]
)
async def test_a_worktree_lies_directly_in_its_directory(
    world: RealWorld, first: str, place: str
) -> None:
    with pytest.raises(Refused, match="no place for a worktree"):
        await world.worktrees.prepare(world.path, BRANCH, str(world.top / place), first)


async def test_worktrees_of_people_that_are_away_are_not_forgotten(
    world: RealWorld, path: Path, first: str, tmp_path: Path
) -> None:
    git(world.top, "worktree", "add", "--quiet", "-b", "disk", str(tmp_path / "disk"))
    (tmp_path / "disk").rename(tmp_path / "unplugged")
    world.vanish(str(path))
    await world.worktrees.prepare(world.path, BRANCH, str(path), first)
    (tmp_path / "unplugged").rename(tmp_path / "disk")
    assert git(tmp_path / "disk", "status", "--porcelain") == ""


async def test_a_worktree_whose_agent_switched_its_branch_is_taken(
    world: RealWorld, path: Path, first: str
) -> None:
    git(path, "switch", "--quiet", "-c", "agent/else")
    with pytest.raises(Refused, match=r"^taken$"):
        await world.worktrees.prepare(world.path, BRANCH, str(path), first)


async def test_a_repository_that_moved_is_told(world: RealWorld, path: Path, first: str) -> None:
    world.top.rename(world.top.parent / "moved")
    with pytest.raises(Refused, match="repository not found at"):
        await world.worktrees.work(str(path), first)


async def test_files_are_not_written_through_a_link(
    world: RealWorld, path: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (path / "specs").symlink_to(tmp_path / "outside")
    with pytest.raises(Refused, match="symbolic link"):
        await world.worktrees.commit_files(str(path), {"specs/s/spec.md": "x\n"}, "docs: x")
    assert list((tmp_path / "outside").iterdir()) == []


async def test_a_linked_file_is_replaced_and_not_written_through(
    world: RealWorld, path: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").write_text("mine\n")
    (path / "spec.md").symlink_to(tmp_path / "outside")
    head = await world.worktrees.commit_files(str(path), {"spec.md": "x\n"}, "docs: x")
    assert (tmp_path / "outside").read_text() == "mine\n"
    assert world.read(head, "spec.md") == "x\n"


async def test_what_an_agent_has_staged_is_not_committed(world: RealWorld, path: Path) -> None:
    write(path, {"staged.py": "s\n", "*.md": "odd name\n", "b.md": "b\n"})
    git(path, "add", "staged.py", "b.md")
    head = await world.worktrees.commit_files(str(path), {"*.md": "new\n"}, "docs: odd")
    assert git(path, "show", "--name-only", "--format=", head) == "*.md"
    assert git(path, "status", "--porcelain").splitlines() == ["A  b.md", "A  staged.py"]


async def test_ignored_files_are_committed_when_asked_for(world: RealWorld, path: Path) -> None:
    write(path, {".gitignore": "specs/\n"})
    head = await world.worktrees.commit_files(str(path), {"specs/spec.md": "x\n"}, "docs: x")
    assert world.read(head, "specs/spec.md") == "x\n"


@pytest.mark.parametrize("name", ["login.py", "secret.env"])
async def test_an_untracked_or_ignored_file_of_a_person_s_stops_the_base(
    world: RealWorld, path: Path, name: str
) -> None:
    world.person_commits("main", {".gitignore": "*.env\n"})
    start = world.tip("main")
    await world.worktrees.merge(str(path), "main", "Merge main")
    write(path, {name: "theirs\n"})
    git(path, "add", "--force", name)
    git(path, "commit", "--quiet", "-m", "work")
    write(world.top, {name: "mine\n"})
    with pytest.raises(Refused, match="overwritten"):
        await world.worktrees.move_base(world.path, "main", BRANCH)
    assert (world.top / name).read_text() == "mine\n"
    assert world.tip("main") == start


async def test_a_base_in_a_person_s_other_worktree_is_left(
    world: RealWorld, path: Path, first: str, tmp_path: Path
) -> None:
    git(world.top, "worktree", "add", "--quiet", "-b", "release", str(tmp_path / "release"))
    commit = world.agent_commits(str(path), {"login.py": "x\n"})
    with pytest.raises(Refused, match="checked out in"):
        await world.worktrees.move_base(world.path, "release", commit)
    assert world.tip("release") == first


async def test_a_base_in_the_middle_of_a_merge_is_left(world: RealWorld, path: Path) -> None:
    commit = world.agent_commits(str(path), {"login.py": "x\n"})
    git(world.top, "branch", "side", commit)
    git(world.top, "merge", "--no-commit", "--no-ff", "side")
    with pytest.raises(Refused, match="under way"):
        await world.worktrees.move_base(world.path, "main", commit)


async def test_a_locked_worktree_is_left(world: RealWorld, path: Path) -> None:
    git(world.top, "worktree", "lock", "--reason", "mine", str(path))
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, "main")
    assert (removal.worktree_gone, removal.reason) == (False, "the worktree is locked: mine")


@pytest.fixture
async def somebody(path: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that works in the worktree."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "print(flush=True); input()"),
        cwd=path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    yield process
    if process.returncode is None:
        process.kill()
    await process.communicate()


async def test_a_worktree_in_which_somebody_works_is_left(
    world: RealWorld, path: Path, somebody: asyncio.subprocess.Process
) -> None:
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, "main")
    assert not removal.worktree_gone
    assert f"process {somebody.pid} " in removal.reason


async def test_ignored_files_go_with_their_worktree(world: RealWorld, path: Path) -> None:
    world.agent_commits(str(path), {".gitignore": "build/\n"})
    write(path, {"build/out.o": "o\n"})
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, BRANCH)
    assert (removal.worktree_gone, removal.branch_gone) == (True, True)


async def test_commits_on_no_branch_keep_their_worktree(world: RealWorld, path: Path) -> None:
    git(path, "switch", "--quiet", "--detach")
    world.agent_commits(str(path), {"login.py": "x\n"})
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, "main")
    assert not removal.worktree_gone
    assert "on no branch" in removal.reason


async def test_a_branch_people_have_checked_out_is_kept(world: RealWorld, path: Path) -> None:
    git(path, "switch", "--quiet", "-c", "agent/else")
    git(world.top, "switch", "--quiet", BRANCH)
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, "main")
    assert not removal.branch_gone
    assert world.tip(BRANCH) is not None


async def test_an_untracked_file_in_the_way_of_a_merge_is_not_a_conflict(
    world: RealWorld, path: Path, first: str
) -> None:
    other = world.at("agent-other")
    await world.worktrees.prepare(world.path, "agent/other", other, first)
    world.agent_commits(other, {"login.py": "o\n"})
    world.agent_leaves(str(path), {"login.py": "mine\n"})
    with pytest.raises(Refused, match="overwritten"):
        await world.worktrees.merge(str(path), "agent/other", "Merge")
    assert (path / "login.py").read_text() == "mine\n"


@pytest.mark.covers("O-X2")
async def test_the_main_checkout_is_not_touched(world: RealWorld, path: Path, first: str) -> None:
    write(world.top, {"code.py": "half done\n", "mine.txt": "mine\n"})
    git(world.top, "add", "mine.txt")
    before = (git(world.top, "status", "--porcelain"), (world.top / ".git" / "index").read_bytes())
    world.agent_commits(str(path), {"login.py": "x\n"})
    proved = {BRANCH: world.tip(BRANCH) or ""}
    await world.worktrees.merge_all(world.path, "main", proved, world.at("scratch"))
    await world.worktrees.remove_scratch(world.path, world.at("scratch"))
    await world.worktrees.commit_files(str(path), {"x.md": "x\n"}, "docs: x")
    await world.worktrees.remove(world.path, str(path), BRANCH, BRANCH)
    after = (git(world.top, "status", "--porcelain"), (world.top / ".git" / "index").read_bytes())
    assert after == before
    assert world.tip("main") == first


async def test_a_slow_git_is_ended_with_its_children(world: RealWorld, tmp_path: Path) -> None:
    program = tmp_path / "slow"
    program.write_text("#!/bin/sh\nsleep 600 &\nwait\n")
    program.chmod(0o755)
    with pytest.raises(Unavailable, match="took longer"):
        await Git(program=str(program), seconds=0.5).read("status", at=main_checkout(world.path))
    left = [
        process for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == world.path
    ]
    assert [process.pid for process in left if process.status() != psutil.STATUS_ZOMBIE] == []


@pytest.mark.covers("B-STORE-6")
async def test_a_held_repository_is_waited_for_only_so_long(world: RealWorld) -> None:
    common = world.top / ".git"
    async with RepositoryLocks().hold(common):
        with pytest.raises(Unavailable, match="another gwt-bot"):
            async with RepositoryLocks(seconds=0.05).hold(common):
                pass


async def test_a_repository_inside_a_worktree_is_not_removed_with_it(
    world: RealWorld, path: Path
) -> None:
    inner = new_repository(path / "inner")
    git(path, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    git(path, "commit", "--quiet", "-m", "nested")
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, BRANCH)
    assert (removal.worktree_gone, removal.branch_gone) == (False, False)
    assert "submodules" in removal.reason
    assert git(inner, "status", "--porcelain") == ""


async def test_a_submodule_nobody_filled_is_no_hindrance(world: RealWorld, tmp_path: Path) -> None:
    inner = new_repository(tmp_path / "inner")
    allow = ("-c", "protocol.file.allow=always")
    git(world.top, *allow, "submodule", "--quiet", "add", str(inner), "sub")
    git(world.top, "commit", "--quiet", "-m", "submodule")
    start, path = git(world.top, "rev-parse", "HEAD"), world.at("agent-login")
    await world.worktrees.prepare(world.path, BRANCH, path, start)
    assert (await world.worktrees.work(path, start)).uncommitted == ()
    removal = await world.worktrees.remove(world.path, path, BRANCH, "main")
    assert (removal.worktree_gone, removal.branch_gone) == (True, True)


@pytest.fixture
def private() -> Iterator[None]:
    old = os.umask(0o077)
    yield
    os.umask(old)


@pytest.mark.usefixtures("private")
async def test_files_git_writes_have_the_operators_modes(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "repository")
    path = repository / ".worktrees" / "agent-a"
    worktrees = GitWorktrees(tmp_path / "home", umask=0o022)
    await worktrees.prepare(
        str(repository), "agent/a", str(path), git(repository, "rev-parse", "HEAD")
    )
    modes = {
        file.stat().st_mode & 0o777
        for file in path.iterdir()
        if file.is_file() and file.name != ".git"
    }
    assert modes == {0o644}


async def test_no_status_shows_a_hidden_folder(world: RealWorld) -> None:
    world.person_leaves({".forge/intents/a.yaml": "title: A\n"})
    for _ in range(2):
        await world.worktrees.hide(world.path, ".forge")
    assert git(world.path, "status", "--porcelain") == ""
    assert (world.lies(world.path, ".git/info/exclude") or "").count("/.forge/") == 1


async def test_what_the_repository_tracks_is_not_hidden_and_hinders_nothing(
    world: RealWorld,
) -> None:
    world.person_commits("main", {".forge/intents/a.yaml": "title: A\n"})
    await world.worktrees.hide(world.path, ".forge")
    before = await world.repository.checkout(world.path)
    world.person_leaves({".forge/intents/a.yaml": "title: B\n", ".forge/intents/b.yaml": "x\n"})
    assert "/.forge/" not in (world.lies(world.path, ".git/info/exclude") or "")
    assert git(world.path, "status", "--porcelain") != ""
    assert (await world.repository.base(world.path)).uncommitted == 0
    assert (await world.repository.checkout(world.path)).touched_since(before) == ()
    path = world.at("agent-x")
    await world.worktrees.prepare(world.path, "agent/x", path, world.tip("main") or "")
    commit = world.agent_commits(path, {"new.py": "x = 1\n"})
    await world.worktrees.move_base(world.path, "main", commit)
    assert world.tip("main") == commit
    assert world.lies(world.path, ".forge/intents/a.yaml") == "title: B\n"


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
    elsewhere = git(world.top, "commit-tree", "-m", "x", "HEAD^{tree}")
    git(world.top, "update-ref", f"refs/heads/{BRANCH}", elsewhere)
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


def hide(path: Path, how: str, file: str, change: str) -> None:
    """Git is told not to look at it, and then it is changed."""
    git(path, "update-index", how, file)
    (path / file).write_text(change)


@pytest.mark.parametrize("how", ["--skip-worktree", "--assume-unchanged"])
async def test_a_change_that_no_status_shows_is_not_committed(
    world: RealWorld, path: Path, how: str
) -> None:
    hide(path, how, "code.py", "assert True\n")
    assert git(path, "status", "--porcelain") == ""
    work = await world.worktrees.work(str(path), world.tip("main") or "")
    assert work.uncommitted == ("code.py",)
    git(path, "update-index", how.replace("--", "--no-"), "code.py")
    git(path, "checkout", "--", "code.py")
    assert (await world.worktrees.work(str(path), world.tip("main") or "")).uncommitted == ()


async def test_what_a_sparse_checkout_leaves_out_is_no_change(world: RealWorld, path: Path) -> None:
    git(path, "update-index", "--skip-worktree", "code.py")
    (path / "code.py").unlink()
    assert (await world.worktrees.work(str(path), world.tip("main") or "")).uncommitted == ()


@pytest.mark.parametrize("how", ["--skip-worktree", "--assume-unchanged"])
async def test_a_worktree_with_a_change_that_no_status_shows_stays(
    world: RealWorld, path: Path, how: str
) -> None:
    hide(path, how, "code.py", "mine\n")
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, "main")
    assert not removal.worktree_gone
    assert (path / "code.py").read_text() == "mine\n"


AGENTS = 20


async def test_twenty_agents_and_the_bot_are_in_nobody_s_way(tmp_path: Path) -> None:
    world = RealWorld(tmp_path)
    bots = [world.worktrees, GitWorktrees(world.home)]  # two, so the lock between them counts
    first, everyone = git(world.top, "rev-parse", "HEAD"), range(AGENTS)
    branches = tuple(f"agent/t{n}" for n in everyone)
    heads = await asyncio.gather(
        *(
            bots[n % 2].prepare(world.path, f"agent/t{n}", world.at(f"t{n}"), first)
            for n in everyone
        )
    )
    assert heads == [first] * AGENTS
    await asyncio.gather(*(_works(world, n, first) for n in everyone))
    assert await world.worktrees.collisions(world.path, branches) == ()
    proved = {name: world.tip(name) or "" for name in branches}
    merged = await world.worktrees.merge_all(world.path, "main", proved, world.at("scratch"))
    names = git(world.top, "ls-tree", "--name-only", merged.commit).splitlines()
    assert {f"own{n}.{kind}" for n in everyone for kind in ("py", "md")} <= set(names)
    await world.worktrees.remove_scratch(world.path, world.at("scratch"))
    removals = await asyncio.gather(
        *(
            world.worktrees.remove(world.path, world.at(f"t{n}"), f"agent/t{n}", merged.commit)
            for n in everyone
        )
    )
    assert [(one.worktree_gone, one.branch_gone) for one in removals] == [(True, True)] * AGENTS
    assert git(world.top, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert git(world.top, "status", "--porcelain") == ""
    git(world.top, "fsck", "--strict", "--no-dangling")


async def _works(world: RealWorld, n: int, first: str) -> None:
    """One task: its agent commits while the bot looks, then the bot commits and merges its neighbour in."""
    path, branch, neighbour = world.at(f"t{n}"), f"agent/t{n}", f"agent/t{(n + 1) % AGENTS}"
    agent = asyncio.to_thread(
        lambda: [world.agent_commits(path, {f"own{n}.py": f"{i}\n"}) for i in (1, 2)]
    )
    looking = world.worktrees.collisions(world.path, (branch, neighbour))
    _, found = await asyncio.gather(agent, looking)
    assert found == ()
    await world.worktrees.commit_files(path, {f"own{n}.md": "own\n"}, "docs: own")
    merged = await world.worktrees.merge(path, neighbour, "Merge the neighbour")
    assert merged.conflicts == ()
    work = await world.worktrees.work(path, first)
    assert (work.head, work.uncommitted) == (merged.commit, ())
    assert {f"own{n}.py", f"own{n}.md"} <= set(work.created_files)
