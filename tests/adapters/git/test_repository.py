"""Reading a real repository: from which place, what is refused and why; and a look touches nothing."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.git import GitRepository, GitWorktrees
from adapters.git.repository import MAX_NAMED_FILE_BYTES
from bot.core.errors import Away, Refused, Unavailable
from bot.core.git import Checkout
from bot.core.tampering.signs import find_flags
from tests.adapters.git.worlds import BRANCH, RealWorld, git, new_repository, write


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


async def test_a_folder_a_link_and_a_linked_worktree_lead_to_the_main_checkout(
    top: Path, repository: GitRepository, tmp_path: Path
) -> None:
    write(top, {"a/b/c.txt": "c\n"})
    (tmp_path / "link").symlink_to(top)
    git(top, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    write(tmp_path / "side", {"deep/x.txt": "x\n"})
    for place in (top / "a" / "b", tmp_path / "link", tmp_path / "side" / "deep"):
        base = await repository.base(str(place))
        assert (base.repository, base.branch, base.uncommitted) == (str(top), "main", 1)


async def test_a_submodule_is_a_repository_of_its_own(
    top: Path, repository: GitRepository, tmp_path: Path
) -> None:
    inner = new_repository(tmp_path / "inner")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    base = await repository.base(str(top / "sub"))
    assert base.repository == str(top / "sub")
    assert base.commit == git(inner, "rev-parse", "HEAD")


def _bare(top: Path) -> Path:
    git(top.parent, "clone", "--quiet", "--bare", str(top), "bare.git")
    return top.parent / "bare.git"


def _fresh(top: Path) -> Path:
    (top.parent / "fresh").mkdir()
    git(top.parent / "fresh", "init", "--quiet")
    return top.parent / "fresh"


def _detached(top: Path) -> Path:
    git(top, "checkout", "--quiet", "--detach")
    return top


def _with_a_file(top: Path) -> Path:
    write(top, {".worktrees": ""})
    return top


REFUSED: list[tuple[Callable[[Path], Path], str, str]] = [
    (_bare, "bare", ""),
    (_fresh, "no commits", "."),
    (_detached, "no branch", ""),
    (lambda top: top / "gone", "no directory", ""),
    (lambda top: top / ".git" / "refs", r"inside a \.git", ""),
    (lambda top: new_repository(top.parent / "two\nlines" / "r"), r"a line break in the path .*two.nlines", "Rename"),
    (_with_a_file, r"\.worktrees is a file", "Rename"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "reason", "remedy"), REFUSED)
async def test_where_no_work_can_begin_it_is_said_why(
    top: Path, repository: GitRepository, place: Callable[[Path], Path], reason: str, remedy: str
) -> None:
    with pytest.raises(Refused, match=reason) as refused:
        await repository.base(str(place(top)))
    assert remedy in refused.value.remedy


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


NAMES = (".claude/settings.json", ".mcp.json", ".opencode/plugin", ".env")


async def test_neither_links_nor_what_is_too_large_are_followed_or_hang(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("canary")
    top = new_repository(
        tmp_path / "r", {".opencode/plugin/x.js": "x", ".env": "y" * (MAX_NAMED_FILE_BYTES + 5)}
    )
    (top / ".mcp.json").symlink_to("../secret")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "more")
    head = git(top, "rev-parse", "HEAD")
    found = await GitRepository(tmp_path / "home").read(str(top), head, NAMES)
    assert found.keys() == {".mcp.json", ".opencode/plugin", ".env"}
    assert (found[".mcp.json"], found[".opencode/plugin"]) == ("", "")
    assert len(found[".env"]) == MAX_NAMED_FILE_BYTES


async def test_what_is_planted_in_a_worktree_is_seen_also_where_git_ignores_it(
    tmp_path: Path,
) -> None:
    top = new_repository(tmp_path / "r", {".gitignore": ".claude\n.mcp.json\n.env\n", "a": "1"})
    first = git(top, "rev-parse", "HEAD")
    path = top / ".worktrees" / "agent-x"
    worktrees = GitWorktrees(tmp_path / "home")
    await worktrees.prepare(str(top), "agent/x", str(path), first)
    write(path, {".claude/settings.json": "{}", ".opencode/plugin/x.js": "x"})
    (path / ".mcp.json").symlink_to("/etc/passwd")
    os.mkfifo(path / ".env")
    found = await worktrees.changed(str(path), first, NAMES)
    assert found.keys() == {".claude/settings.json", ".mcp.json", ".opencode/plugin/x.js"}


@pytest.fixture
def elsewhere(world: RealWorld) -> Path:
    """A clone with a commit more."""
    return Path(world.somebody_commits_elsewhere({"theirs.py": "t\n"})[0])


@pytest.mark.covers("O-M17")
@pytest.mark.parametrize("form", ["{}", "file://{}", "../elsewhere"])
async def test_a_repository_of_this_machine_is_asked_and_nothing_is_fetched(
    world: RealWorld, elsewhere: Path, form: str
) -> None:
    git(world.top, "remote", "add", "origin", form.format(elsewhere))
    tip = await world.repository.origin_tip(world.path, "main")
    assert tip == git(elsewhere, "rev-parse", "HEAD")
    assert not await world.repository.commit_exists(world.path, tip)
    assert await world.repository.origin_tip(world.path, "other") == ""


@pytest.mark.parametrize("address", [
    "", "git@127.0.0.1:acme/shop.git", "ssh://127.0.0.1:1/acme/shop",
    "https://user:word@127.0.0.1:1/acme/shop", "http://127.0.0.1:1/acme/shop",
    "ext::touch {tmp}/RAN", "--upload-pack=touch {tmp}/RAN", "/nowhere", "x" * 2000,
])  # fmt: skip
async def test_what_needs_a_login_or_cannot_be_reached_is_no_news(
    world: RealWorld, tmp_path: Path, address: str
) -> None:
    if address:
        git(world.top, "config", "remote.origin.url", address.format(tmp=tmp_path))
    assert await world.repository.origin_tip(world.path, "main") == ""
    assert not (tmp_path / "RAN").exists()


async def test_what_the_repository_is_configured_to_do_has_no_say(
    world: RealWorld, elsewhere: Path, tmp_path: Path
) -> None:
    git(world.top, "remote", "add", "origin", str(elsewhere))
    git(world.top, "config", f"url.{tmp_path}/trap.insteadOf", str(elsewhere))
    git(world.top, "config", "remote.origin.uploadpack", f"touch {tmp_path}/RAN;")
    git(elsewhere, "config", "uploadpack.packObjectsHook", f"touch {tmp_path}/RAN; exec")
    tip = await world.repository.origin_tip(world.path, "main")
    assert tip == git(elsewhere, "rev-parse", "HEAD")
    assert not (tmp_path / "RAN").exists()


TOUCHES: list[tuple[Callable[[Path], object], tuple[str, ...]]] = [
    (lambda top: (top / "tracked.txt").write_text("x\n"), ("tracked.txt",)),
    (lambda top: (top / "tracked.txt").unlink(), ("tracked.txt",)),
    (lambda top: (top / "tracked.txt").chmod(0o755), ("tracked.txt",)),
    (lambda top: (top / "mine.txt").write_text("other\n"), ("mine.txt",)),
    (lambda top: (top / "mine.txt").unlink(), ("mine.txt",)),
    (lambda top: (top / "code.py").write_text("b person's\n"), ("code.py",)),
    (lambda top: git(top, "checkout", "--", "code.py"), ("code.py",)),
    (lambda top: git(top, "add", "code.py"), ("code.py",)),
    (lambda top: git(top, "stash", "--include-untracked"), ("code.py", "mine.txt")),
    (lambda top: os.mkfifo(top / "fifo"), ()),
    (lambda top: (top / "link").symlink_to("/etc/passwd"), ("link",)),
    (lambda top: os.utime(top / "code.py", (1, 1)), ()),
]


@pytest.fixture
def there(tmp_path: Path) -> RealWorld:
    there = RealWorld(tmp_path)
    there.person_commits("main", {".gitignore": "*.log\n", "tracked.txt": "t\n"})
    return there


async def looked(there: RealWorld) -> Checkout:
    index = there.top / ".git" / "index"
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    found = await there.repository.checkout(there.path)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    return found


async def test_a_clean_checkout_has_nothing_to_tell(there: RealWorld) -> None:
    found = await looked(there)
    assert found == Checkout(branch="main", commit=there.tip("main") or "")


async def test_worktrees_and_ignored_files_are_not_told(there: RealWorld) -> None:
    write(there.top, {"x.log": "x\n", ".worktrees/notes.txt": "n\n"})
    await there.worktrees.prepare(
        there.path, "agent/x", there.at("agent-x"), there.tip("main") or ""
    )
    write(Path(there.at("agent-x")), {"new.txt": "n\n"})
    assert (await looked(there)).changed == ()


@pytest.mark.parametrize(("doing", "told"), TOUCHES)
async def test_every_touch_of_a_person_s_work_is_told(
    there: RealWorld, doing: Callable[[Path], object], told: tuple[str, ...]
) -> None:
    write(there.top, {"code.py": "a person's\n", "mine.txt": "mine\n"})
    before = await looked(there)
    doing(there.top)
    assert (await looked(there)).touched_since(before) == told


async def test_a_commit_or_another_branch_is_told_too(there: RealWorld) -> None:
    git(there.top, "switch", "--quiet", "-c", "side")
    commit = there.agent_commits(there.path, {"x.py": "x\n"})
    assert await looked(there) == Checkout(branch="side", commit=commit)
    git(there.top, "switch", "--quiet", "--detach")
    assert await looked(there) == Checkout(branch="", commit=commit)
    git(there.top, "switch", "--quiet", "--orphan", "empty")
    assert await looked(there) == Checkout(branch="empty", commit="")


async def test_very_many_files_are_told_by_their_directory(there: RealWorld) -> None:
    write(there.top, {f"modules/m{n % 7}/f{n}": "x\n" for n in range(1100)} | {"a/b": "b\n"})
    before = await looked(there)
    assert len(before.changed) == 2
    write(there.top, {"modules/m3/f3": "other\n", "a/c": "c\n"})
    assert (await looked(there)).touched_since(before) == ("a/c", "modules/")


async def moved(world: RealWorld) -> tuple[Path, str]:
    """With a worktree in which an agent has worked. Where it lies now, and the agent's commit."""
    first = world.tip("main") or ""
    await world.worktrees.prepare(world.path, BRANCH, world.at("agent-login"), first)
    commit = world.agent_commits(world.at("agent-login"), {"login.py": "x\n"})
    there = world.top.parent / "moved here"
    world.top.rename(there)
    return there, commit


@pytest.mark.covers("O-P5")
async def test_its_worktrees_work_where_it_lies_now(world: RealWorld) -> None:
    there, commit = await moved(world)
    for _ in range(2):
        await world.worktrees.relink(world.path, str(there))
    path = str(there / ".worktrees" / "agent-login")
    assert git(path, "rev-parse", "HEAD") == commit
    assert await world.worktrees.prepare(str(there), BRANCH, path, commit) == commit
    removal = await world.worktrees.remove(str(there), path, BRANCH, None)
    assert (removal.worktree_gone, removal.branch_gone) == (True, False), removal
    assert len(git(there, "worktree", "list").splitlines()) == 1


async def test_killed_half_way_it_is_finished_by_doing_it_again(world: RealWorld) -> None:
    """The ledger has followed, and git was not told yet."""
    there, commit = await moved(world)
    ledger = next((world.home / "repositories").glob("*.json"))
    kept = ledger.read_bytes()
    await world.worktrees.relink(world.path, str(there))
    ledger.write_bytes(kept)
    git(there, "worktree", "repair")
    await world.worktrees.relink(world.path, str(there))
    path = str(there / ".worktrees" / "agent-login")
    assert await world.worktrees.prepare(str(there), BRANCH, path, commit) == commit
    assert not ledger.exists()


async def test_what_could_run_code_is_compared_there_too(world: RealWorld) -> None:
    there, _ = await moved(world)
    git(there, "config", "core.fsmonitor", "touch /tmp/never")
    with pytest.raises(Refused, match=r"configuration was changed.*core\.fsmonitor"):
        await world.worktrees.relink(world.path, str(there))


async def test_what_was_kept_for_worktrees_where_it_lay_is_let_go(world: RealWorld) -> None:
    let_go: list[str] = []

    async def told(path: str) -> None:
        await asyncio.sleep(0)
        let_go.append(path)

    there, _ = await moved(world)
    worktrees = GitWorktrees(world.home, on_removed=told)
    for _ in range(2):
        await worktrees.relink(world.path, str(there))
    assert let_go == [f"{world.path}/.worktrees/agent-login"]


async def test_one_that_is_missing_or_another_is_told_from_one_that_is_there(
    world: RealWorld,
) -> None:
    first = world.tip("main") or ""
    await world.repository.require(world.path, first)
    shutil.rmtree(world.top / ".git")
    with pytest.raises(Away, match="repository not found at"):
        await world.repository.require(world.path, first)
    world.top.rename(world.top.parent / "old")
    with pytest.raises(Away, match="repository not found at"):
        await world.repository.require(world.path, first)
    new_repository(world.top, {"another.py": "1\n"})
    with pytest.raises(Away, match="another one stands there"):
        await world.repository.require(world.path, first)


async def test_the_pages_of_two_sessions_become_one(world: RealWorld) -> None:
    """A second bot object has made something where it lies now, before the first one is told."""
    there, commit = await moved(world)
    worktrees, repository = GitWorktrees(world.home), GitRepository(world.home)
    new = str(there / ".worktrees" / "agent-other")
    await worktrees.prepare(str(there), "agent/other", new, commit)
    await world.worktrees.relink(world.path, str(there))
    for name, path in ((BRANCH, str(there / ".worktrees" / "agent-login")), ("agent/other", new)):
        assert await worktrees.prepare(str(there), name, path, commit) == commit
    await repository.require(str(there), commit)


TEST = "tests/test_login.py"
PICTURE = b"\x89PNG\0\0" + bytes(range(256)) * 40


def committed(world: RealWorld, path: Path) -> None:
    world.agent_commits(str(path), {".gitattributes": "*.py -diff\n"})


def noted(world: RealWorld, path: Path) -> None:
    (Path(world.path) / ".git/info").mkdir(exist_ok=True)
    (Path(world.path) / ".git/info/attributes").write_text("* binary\n")


def too_large(world: RealWorld, path: Path) -> None:
    git(path, "config", "core.bigFileThreshold", "1")


HIDINGS: list[Callable[[RealWorld, Path], None]] = [committed, noted, too_large]


@pytest.fixture
def first(world: RealWorld) -> str:
    return world.person_commits("main", {TEST: "def test_it():\n    assert login() == 3\n"})


@pytest.mark.parametrize("hide", HIDINGS)
async def test_text_that_is_called_binary_is_shown_and_looked_at(
    world: RealWorld, path: Path, hide: Callable[[RealWorld, Path], None]
) -> None:
    start = world.tip("main") or ""
    world.agent_commits(str(path), {TEST: "def test_it():\n    pass\n", "app.py": "evil = 1\n"})
    hide(world, path)
    work = await world.worktrees.work(str(path), start)
    diff = await world.worktrees.diff(str(path), start, 100_000, work.head)
    assert "+evil = 1" in diff
    assert [flag.path for flag in find_flags(diff, work) if flag.path == TEST] == [TEST]


async def test_a_picture_is_only_named(world: RealWorld, path: Path) -> None:
    start = world.tip("main") or ""
    (path / "logo.png").write_bytes(PICTURE)
    git(path, "add", "logo.png")
    git(path, "commit", "--quiet", "-m", "feat: logo")
    diff = await world.worktrees.diff(str(path), start, 100_000)
    assert "Binary files /dev/null and b/logo.png differ" in diff
    assert "\0" not in diff
    assert len(diff) < 1_000


async def test_what_was_hidden_is_cut_at_the_limit_as_well(world: RealWorld, path: Path) -> None:
    start = world.tip("main") or ""
    committed(world, path)
    world.agent_commits(str(path), {"app.py": "x = 1\n" * 10_000})
    assert len(await world.worktrees.diff(str(path), start, 5_000)) == 5_000
