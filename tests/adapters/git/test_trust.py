"""What an agent writes from its worktree never runs in the bot's git: each call refuses, or does without it."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.git import GitWorktrees
from bot.core.errors import PortError, Refused
from tests.adapters.git.hostile import Scene, every_call
from tests.adapters.git.worlds import BRANCH, git, new_repository, write
from tests.faults.figures import every_day


@pytest.fixture
async def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path)
    await scene.prepare()
    write(scene.path, {"code.py": "2\n"})
    git(scene.path, "commit", "--quiet", "--all", "-m", "work")
    return scene


LFS = {f"filter.lfs.{what}": f"{{evil}} {what} -- %f" for what in ("clean", "smudge", "process")}
EDITORS = ("core.pager", "core.editor", "pager.log", "sequence.editor")
SETTINGS: dict[str, tuple[dict[str, str], str]] = {
    "a monitor": ({"core.fsmonitor": "{evil}"}, ""),
    "a filter": ({"filter.x.clean": "{evil}", "filter.x.smudge": "{evil}"}, "* filter=x\n"),
    "a filter that goes on": ({"filter.x.process": "{evil}"}, "* filter=x\n"),
    "a filter for large files": ({**LFS, "filter.lfs.required": "true"}, "* filter=lfs diff=lfs merge=lfs -text\n"),
    "a diff": ({"diff.external": "{evil}"}, ""),
    "a diff of some files": ({"diff.x.command": "{evil}"}, "* diff=x\n"),
    "a text of some files": ({"diff.x.textconv": "{evil}"}, "* diff=x\n"),
    "a merge driver": ({"merge.x.driver": "{evil}"}, "* merge=x\n"),
    "a connection": ({"core.sshCommand": "{evil}", "remote.origin.url": "ssh://nowhere/x"}, ""),
    "a helper of remotes": ({"remote.origin.url": "ext::{evil}", "remote.origin.promisor": "true"}, ""),
    "another address": ({"url.ext::{evil}.insteadOf": "https://example.org/", "remote.origin.url": "https://example.org/x.git"}, ""),
    "a helper of credentials": ({"credential.helper": "!{evil}", "remote.origin.url": "https://127.0.0.1:1/x.git"}, ""),
    "a signature": ({"gpg.program": "{evil}", "commit.gpgSign": "true"}, ""),
    "pager and editor": (dict.fromkeys(EDITORS, "{evil}"), ""),
    "aliases": ({f"alias.{name}": "!{evil}" for name in ("status", "diff", "worktree", "commit")}, ""),
    "a submodule": ({"submodule.x.update": "!{evil}", "submodule.x.url": "ext::{evil}"}, ""),
}  # fmt: skip


def hooks(scene: Scene, directory: Path | None = None) -> None:
    directory = directory or scene.top / ".git" / "hooks"
    directory.mkdir(exist_ok=True)
    early = ("post-checkout", "pre-commit", "post-commit", "pre-merge-commit", "post-merge")
    late = ("reference-transaction", "prepare-commit-msg", "commit-msg", "post-index-change")
    for name in (*early, *late):
        shutil.copy(scene.evil, directory / name)


def hooks_elsewhere(scene: Scene) -> None:
    scene.config("core.hooksPath", str(scene.top / "hooks"))
    hooks(scene, scene.top / "hooks")


def submodules(scene: Scene) -> None:
    write(scene.path, {".gitmodules": f'[submodule "x"]\npath = x\nurl = ext::{scene.evil}\n'})
    scene.config("submodule.x.update", f"!{scene.evil}")


def included(scene: Scene) -> None:
    (scene.top / "more").write_text(f'[filter "x"]\nclean = {scene.evil}\nsmudge = {scene.evil}\n')
    scene.config("include.path", "../more")
    scene.attributes("* filter=x\n")


def worktree_configuration(scene: Scene) -> None:
    scene.config("extensions.worktreeConfig", "true")
    (scene.admin / "config.worktree").write_text(f'[filter "x"]\nclean = {scene.evil}\n')
    scene.attributes("* filter=x\n")


def _evil_git_dir(scene: Scene) -> Path:
    other = scene.top.parent / "planted"
    shutil.copytree(scene.top / ".git", other)
    for key in ("filter.x.clean", "filter.x.smudge", "core.fsmonitor"):
        git(other, "config", key, str(scene.evil))
    scene.attributes("* filter=x\n")
    return other


def pointer_file(scene: Scene) -> None:
    (scene.path / ".git").write_text(f"gitdir: {_evil_git_dir(scene)}\n")


def pointer_link(scene: Scene) -> None:
    other = _evil_git_dir(scene)
    (scene.path / ".git").unlink()
    (scene.path / ".git").symlink_to(other)


def common_directory(scene: Scene) -> None:
    (scene.admin / "commondir").write_text(f"{_evil_git_dir(scene)}\n")


def main_common_directory(scene: Scene) -> None:
    (scene.top / ".git" / "commondir").write_text(f"{_evil_git_dir(scene)}\n")


def git_directory_replaced(scene: Scene) -> None:
    other = _evil_git_dir(scene)
    (scene.top / ".git").rename(scene.top / ".git-old")
    (scene.top / ".git").write_text(f"gitdir: {other}\n")


def nested_repository(scene: Scene) -> None:
    inner = new_repository(scene.path / "inner")
    git(inner, "config", "filter.x.clean", str(scene.evil))
    git(inner, "config", "core.fsmonitor", str(scene.evil))
    write(inner, {".gitattributes": "* filter=x\n", "code.py": "changed\n"})
    git(scene.path, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    git(scene.path, "commit", "--quiet", "-m", "nested")
    write(inner, {"code.py": "changed again\n"})


def alternates(scene: Scene) -> None:
    """Objects from elsewhere: no program, but what a tree says could be another thing."""
    info = scene.top / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{scene.top.parent / 'planted' / 'objects'}\n")


def own_attributes(scene: Scene) -> None:
    scene.attributes("* filter=x diff=x merge=x\n")


PLANTED = [
    *(hooks_elsewhere, submodules, included, worktree_configuration, pointer_file, pointer_link),
    *(common_directory, main_common_directory, git_directory_replaced),
]
HARMLESS = [hooks, nested_repository, alternates, own_attributes]
ATTACKS: dict[str, Callable[[Scene], None]] = {one.__name__: one for one in (*PLANTED, *HARMLESS)}


def set_up(scene: Scene, name: str) -> None:
    settings, attributes = SETTINGS[name]
    for key, value in settings.items():
        scene.config(key.format(evil=scene.evil), value.format(evil=scene.evil))
    if attributes:
        scene.attributes(attributes)


WAYS = [*SETTINGS, *ATTACKS]


@pytest.mark.covers("G-RULE-TRUST-1")
@pytest.mark.parametrize("attack", every_day(WAYS[::3], [*WAYS[1::3], *WAYS[2::3]]))
async def test_nothing_an_agent_plants_runs_in_any_call(scene: Scene, attack: str) -> None:
    set_up(scene, attack) if attack in SETTINGS else ATTACKS[attack](scene)
    # ours may have been run by the agent's own git while it planted it
    scene.marker.unlink(missing_ok=True)
    reasons: list[str] = []
    for call in every_call(scene):
        try:
            await call()
        except PortError as error:
            reasons.append(error.reason)
        assert not scene.marker.exists()
    if attack not in [one.__name__ for one in HARMLESS]:
        told = ("git configuration was changed", "not the main checkout")
        assert any(words in reasons[0] for words in told)


async def test_the_reason_names_the_key_and_no_value(scene: Scene) -> None:
    scene.config("filter.x.clean", "canary-value")
    with pytest.raises(Refused, match=r"filter\.x\.clean") as refused:
        await scene.worktrees.work(str(scene.path), scene.first)
    assert "canary" not in refused.value.reason + refused.value.remedy
    assert refused.value.remedy


@pytest.mark.covers("G-RULE-TRUST-2")
async def test_ordinary_changes_are_no_matter(scene: Scene) -> None:
    git(scene.top, "remote", "add", "origin", "https://example.org/x.git")
    git(scene.top, "config", "branch.main.remote", "origin")
    git(scene.top, "config", "user.name", "Somebody")
    git(scene.path, "branch", "agent/aside")
    work = await scene.worktrees.work(str(scene.path), scene.first)
    assert len(work.commits) == 1


async def test_what_a_person_had_configured_before_is_theirs(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.config("filter.upper.clean", "tr a-z A-Z")
    scene.config("include.path", "../shared.gitconfig")
    (scene.top / "shared.gitconfig").write_text("[alias]\nst = status\n")
    await scene.prepare()
    assert (await scene.worktrees.work(str(scene.path), scene.first)).uncommitted == ()
    (scene.top / "shared.gitconfig").write_text("[alias]\nst = !evil\n")
    with pytest.raises(Refused, match="alias"):
        await scene.worktrees.work(str(scene.path), scene.first)


async def test_a_person_may_change_it_while_no_agent_has_a_worktree(scene: Scene) -> None:
    git(scene.top, "merge", "--quiet", BRANCH)
    removal = await scene.worktrees.remove(str(scene.top), str(scene.path), BRANCH, "main")
    assert removal.worktree_gone
    scene.config("alias.st", "status")
    await scene.prepare()
    assert (await scene.worktrees.work(str(scene.path), scene.first)).uncommitted == ()


async def test_an_agent_cannot_end_the_watch_by_removing_its_worktree(scene: Scene) -> None:
    git(scene.top, "worktree", "remove", "--force", str(scene.path))
    scene.config("filter.x.clean", str(scene.evil))
    with pytest.raises(Refused, match="changed"):
        await scene.prepare()


async def test_the_watch_survives_a_restart(scene: Scene, tmp_path: Path) -> None:
    scene.config("filter.x.clean", str(scene.evil))
    with pytest.raises(Refused, match="changed"):
        await GitWorktrees(tmp_path / "home").work(str(scene.path), scene.first)


async def test_a_configuration_that_is_a_fifo_does_not_hang(scene: Scene) -> None:
    config = scene.top / ".git" / "config"
    config.unlink()
    os.mkfifo(config)
    with pytest.raises(Refused, match="no ordinary configuration"):
        await scene.worktrees.work(str(scene.path), scene.first)


async def test_the_note_is_for_the_bot_only(scene: Scene, tmp_path: Path) -> None:
    (note,) = (tmp_path / "home" / "repositories").iterdir()
    assert note.stat().st_mode & 0o077 == 0
    assert note.parent.stat().st_mode & 0o077 == 0


def lying_commit_graph(top: Path, child: str, parent: str) -> bytes:
    """One in which a commit has another parent. Layout: git's gitformat-commit-graph."""
    file = top / ".git" / "objects" / "info" / "commit-graph"
    git(top, "commit-graph", "write", "--reachable")
    graph = bytearray(file.read_bytes())
    chunks: dict[bytes, int] = {}
    for number in range(graph[6]):
        entry = graph[8 + 12 * number : 20 + 12 * number]
        chunks[bytes(entry[:4])] = int.from_bytes(entry[4:], "big")
    count = int.from_bytes(graph[chunks[b"OIDL"] - 4 : chunks[b"OIDL"]], "big")
    ids = [
        graph[chunks[b"OIDL"] + 20 * n : chunks[b"OIDL"] + 20 * (n + 1)].hex() for n in range(count)
    ]
    data = chunks[b"CDAT"] + 36 * ids.index(child)
    graph[data + 20 : data + 24] = ids.index(parent).to_bytes(4, "big")
    graph[data + 28 : data + 32] = (9 << 2).to_bytes(4, "big")  # later than its parent
    graph[-20:] = hashlib.sha1(graph[:-20], usedforsecurity=False).digest()
    return bytes(graph)


async def test_a_planted_commit_graph_does_not_say_what_is_merged(scene: Scene) -> None:
    tip = git(scene.path, "rev-parse", "HEAD")
    file = scene.top / ".git" / "objects" / "info" / "commit-graph"
    for name in "ab":
        write(scene.top, {name: "new\n"})
        git(scene.top, "add", name)
        git(scene.top, "commit", "--quiet", "-m", name)
    graph = lying_commit_graph(scene.top, git(scene.top, "rev-parse", "main~"), tip)
    file.unlink()
    file.write_bytes(graph)
    assert git(scene.top, "merge-base", tip, "main") == tip, "git itself believes it"
    apart = await scene.repository.apart(str(scene.top), "main", BRANCH)
    assert (apart.ahead, apart.behind) == (1, 2)


async def test_the_bot_commits_under_its_own_name(scene: Scene) -> None:
    git(scene.top, "config", "user.name", "Person")
    await scene.worktrees.commit_files(str(scene.path), {"x.md": "x\n"}, "docs: x")
    who = git(scene.path, "log", "-1", "--format=%an <%ae> %cn <%ce>")
    assert who == "gwt-bot <gwt-bot@localhost> gwt-bot <gwt-bot@localhost>"


async def test_a_configuration_that_includes_itself_is_not_read_for_ever(scene: Scene) -> None:
    with (scene.top / ".git" / "config").open("a") as file:
        file.write("[include]\n" + "path = config\n" * 60)
    with pytest.raises(Refused, match="too many files"):
        await scene.worktrees.work(str(scene.path), "main")


async def test_a_configuration_in_nobodys_home_is_none(scene: Scene) -> None:
    scene.config("include.path", "~no-such-person/config")
    with pytest.raises(Refused, match=r"include\.path"):
        await scene.worktrees.work(str(scene.path), "main")
