"""What an agent writes from its worktree never runs in the bot's git: each call refuses, or does without it."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from adapters.git import GitRepository, GitWorktrees
from bot.core.errors import PortError, Refused
from tests.adapters.git.worlds import git, new_repository, write

BRANCH = "agent/login"


class Scene:
    """A repository with one worktree, an agent in it, and a program that must never run."""

    def __init__(self, directory: Path) -> None:
        self.top = new_repository(directory / "repository", {"code.py": "1\n", "b.txt": "b\n"})
        self.path = self.top / ".worktrees" / "agent-login"
        self.marker = directory / "RAN"
        self.evil = directory / "evil"
        self.evil.write_text(f"#!/bin/sh\ntouch {self.marker}\ncat\n")
        self.evil.chmod(0o755)
        self.worktrees = GitWorktrees(directory / "home")
        self.repository = GitRepository(directory / "home")
        self.first = git(self.top, "rev-parse", "HEAD")

    @property
    def admin(self) -> Path:
        return self.top / ".git" / "worktrees" / "agent-login"

    def config(self, key: str, value: str) -> None:
        git(self.top, "config", key, value)

    def attributes(self, line: str) -> None:
        write(self.path, {".gitattributes": line, "code.py": "22\n"})
        (self.top / ".git" / "info" / "attributes").write_text(line)

    async def prepare(self) -> None:
        await self.worktrees.prepare(str(self.top), BRANCH, str(self.path), self.first)


@pytest.fixture
async def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path)
    await scene.prepare()
    write(scene.path, {"code.py": "2\n"})
    git(scene.path, "commit", "--quiet", "--all", "-m", "work")
    return scene


def fsmonitor(scene: Scene) -> None:
    scene.config("core.fsmonitor", str(scene.evil))


def hooks_path(scene: Scene) -> None:
    scene.config("core.hooksPath", str(scene.top / "hooks"))
    hooks(scene, scene.top / "hooks")


def hooks(scene: Scene, directory: Path | None = None) -> None:
    directory = directory or scene.top / ".git" / "hooks"
    directory.mkdir(exist_ok=True)
    for name in ("post-checkout", "pre-commit", "post-commit", "pre-merge-commit", "post-merge"):
        shutil.copy(scene.evil, directory / name)
    for name in ("reference-transaction", "prepare-commit-msg", "commit-msg", "post-index-change"):
        shutil.copy(scene.evil, directory / name)


def filters(scene: Scene) -> None:
    scene.config("filter.x.clean", str(scene.evil))
    scene.config("filter.x.smudge", str(scene.evil))
    scene.attributes("* filter=x\n")


def filter_process(scene: Scene) -> None:
    scene.config("filter.x.process", str(scene.evil))
    scene.attributes("* filter=x\n")


def external_diff(scene: Scene) -> None:
    scene.config("diff.external", str(scene.evil))


def diff_driver(scene: Scene) -> None:
    scene.config("diff.x.command", str(scene.evil))
    scene.attributes("* diff=x\n")


def textconv(scene: Scene) -> None:
    scene.config("diff.x.textconv", str(scene.evil))
    scene.attributes("* diff=x\n")


def merge_driver(scene: Scene) -> None:
    scene.config("merge.x.driver", str(scene.evil))
    scene.attributes("* merge=x\n")


def ssh_command(scene: Scene) -> None:
    scene.config("core.sshCommand", str(scene.evil))
    scene.config("remote.origin.url", "ssh://nowhere/x")


def remote_helper(scene: Scene) -> None:
    scene.config("remote.origin.url", f"ext::{scene.evil}")
    scene.config("remote.origin.promisor", "true")


def signing(scene: Scene) -> None:
    scene.config("gpg.program", str(scene.evil))
    scene.config("commit.gpgSign", "true")


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
    git(other, "config", "filter.x.clean", str(scene.evil))
    git(other, "config", "filter.x.smudge", str(scene.evil))
    git(other, "config", "core.fsmonitor", str(scene.evil))
    scene.attributes("* filter=x\n")
    return other


def pointer_file(scene: Scene) -> None:
    other = _evil_git_dir(scene)
    (scene.path / ".git").write_text(f"gitdir: {other}\n")


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


def credential_helper(scene: Scene) -> None:
    scene.config("credential.helper", f"!{scene.evil}")
    scene.config("remote.origin.url", "https://127.0.0.1:1/x.git")


def pager_and_editor(scene: Scene) -> None:
    scene.config("core.pager", str(scene.evil))
    scene.config("core.editor", str(scene.evil))
    scene.config("pager.log", str(scene.evil))
    scene.config("sequence.editor", str(scene.evil))


def large_file_storage(scene: Scene) -> None:
    for what in ("clean", "smudge", "process"):
        scene.config(f"filter.lfs.{what}", f"{scene.evil} {what} -- %f")
    scene.config("filter.lfs.required", "true")
    scene.attributes("* filter=lfs diff=lfs merge=lfs -text\n")


def rewritten_address(scene: Scene) -> None:
    scene.config(f"url.ext::{scene.evil}.insteadOf", "https://example.org/")
    scene.config("remote.origin.url", "https://example.org/x.git")


def alias(scene: Scene) -> None:
    for name in ("status", "diff", "worktree", "commit"):
        scene.config(f"alias.{name}", f"!{scene.evil}")


def submodule_update(scene: Scene) -> None:
    write(scene.path, {".gitmodules": f'[submodule "x"]\npath = x\nurl = ext::{scene.evil}\n'})
    scene.config("submodule.x.update", f"!{scene.evil}")
    scene.config("submodule.x.url", f"ext::{scene.evil}")


def alternates(scene: Scene) -> None:
    """Objects from elsewhere: no program, but what a tree says could be another thing."""
    info = scene.top / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{scene.top.parent / 'planted' / 'objects'}\n")


def own_attributes(scene: Scene) -> None:
    scene.attributes("* filter=x diff=x merge=x\n")


NOTICED = [
    credential_helper,
    pager_and_editor,
    large_file_storage,
    rewritten_address,
    alias,
    submodule_update,
    fsmonitor,
    hooks_path,
    filters,
    filter_process,
    external_diff,
    diff_driver,
    textconv,
    merge_driver,
    ssh_command,
    remote_helper,
    signing,
    included,
    worktree_configuration,
    pointer_file,
    pointer_link,
    common_directory,
    main_common_directory,
    git_directory_replaced,
]
HARMLESS = [hooks, nested_repository, alternates, own_attributes]


def every_call(scene: Scene) -> list[Callable[[], Awaitable[object]]]:
    top, path, first = str(scene.top), str(scene.path), scene.first
    here, there = scene.worktrees, scene.repository
    scratch = str(scene.top / ".worktrees" / "scratch")
    other = str(scene.top / ".worktrees" / "agent-other")
    return [
        lambda: here.work(path, first),
        lambda: here.diff(path, first, 10_000),
        lambda: here.changed(path, first, ("code.py", ".claude/settings.json")),
        lambda: there.read(top, first, ("code.py", "b.txt")),
        lambda: here.commit_files(path, {"specs/x.md": "x\n"}, "docs: x"),
        lambda: here.prepare(top, BRANCH, path, first),
        lambda: here.prepare(top, "agent/other", other, first),
        lambda: here.merge(path, "main", "merge"),
        lambda: here.merge_all(top, "main", {BRANCH: first}, scratch),
        lambda: here.remove_scratch(top, scratch),
        lambda: here.log(top, first, BRANCH),
        lambda: here.merge(path, "main", "merge", plan="specs"),
        lambda: here.collisions(top, (BRANCH, "main")),
        lambda: here.copy_ignored(top, path, ("b.txt", "specs/**")),
        lambda: here.take_in(top, top, first),
        lambda: here.move_base(top, "main", BRANCH),
        lambda: here.remove(top, path, BRANCH, "main"),
        lambda: there.base(top),
        lambda: there.base(path),
        lambda: there.scan(top, first),
        lambda: there.branches(top),
        lambda: there.checkout(top),
        lambda: there.commit_exists(top, first),
    ]


@pytest.mark.covers("G-RULE-TRUST-1")
@pytest.mark.parametrize("attack", [*NOTICED, *HARMLESS], ids=lambda attack: attack.__name__)
async def test_nothing_an_agent_plants_runs_in_any_call(
    scene: Scene, attack: Callable[[Scene], None]
) -> None:
    attack(scene)
    # ours may have been run by the agent's own git while it planted it
    scene.marker.unlink(missing_ok=True)
    reasons: list[str] = []
    for call in every_call(scene):
        try:
            await call()
        except PortError as error:
            reasons.append(error.reason)
        assert not scene.marker.exists()
    if attack in NOTICED:
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
