"""What is broken, planted or in the way in a repository: each is told at once, with the file and the way out, and nothing is lost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.core.errors import PortError, Refused
from tests.adapters.git.hostile import Scene
from tests.adapters.git.worlds import BRANCH, PEOPLE, git, new_repository, write

IN_THE_TREE = (".gitattributes", ".gitignore", ".gitmodules", "deep/er/.gitignore")
IN_THE_REPOSITORY = (
    *("config", "config.worktree", "packed-refs", "info/exclude", "info/attributes", "shallow"),
    *("HEAD", "index", "refs/heads/agent/other", "objects/info/alternates"),
)
OF_THE_WORKTREE = ("HEAD", "index", "commondir", "gitdir", "config.worktree")


@pytest.fixture
async def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path)
    await scene.prepare()
    return scene


async def refusals(scene: Scene) -> list[PortError]:
    """Of the calls that look at the repository, at the worktree, and change something."""
    top, path = str(scene.top), str(scene.path)
    other = str(scene.path.with_name("agent-other"))
    found: list[PortError] = []
    for call in (
        lambda: scene.repository.base(top),
        lambda: scene.repository.checkout(top),
        lambda: scene.worktrees.work(path, scene.first),
        lambda: scene.worktrees.commit_files(path, {"x.md": "x\n"}, "docs: x"),
        lambda: scene.worktrees.prepare(top, "agent/another", other, scene.first),
    ):
        try:
            await call()
        except PortError as error:
            found.append(error)
    return found


@pytest.mark.parametrize(("where", "name"), [
    *(("tree", name) for name in IN_THE_TREE),
    *(("repository", name) for name in IN_THE_REPOSITORY),
    *(("worktree", name) for name in OF_THE_WORKTREE),
])  # fmt: skip
async def test_a_pipe_in_the_place_of_a_file_that_git_reads_is_named(
    scene: Scene, where: str, name: str
) -> None:
    folder = {"tree": scene.path, "repository": scene.top / ".git", "worktree": scene.admin}[where]
    pipe = folder / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    for refusal in await refusals(scene):
        assert "took longer" not in refusal.reason
        assert name in refusal.reason, refusal.reason
        assert refusal.remedy


def _cut_off(path: Path) -> None:
    with path.open("a") as file:
        file.write("[core\n")


def _leads_nowhere(git_dir: Path) -> None:
    git_dir.rename(git_dir.with_name("elsewhere"))
    git_dir.write_text("gitdir: nowhere\n")


HEAD = r"echo 'ref: refs/heads/main' > .*/HEAD"
DAMAGE: list[tuple[Callable[[Path], object], str, str]] = [
    (lambda top: _cut_off(top / "config"), r"configuration is damaged: bad config line \d+", "Mend that line"),
    (lambda top: (top / "HEAD").write_text(""), r"HEAD says ''", HEAD),
    (lambda top: (top / "HEAD").write_text("garbage\n"), r"HEAD says 'garbage'", HEAD),
    (lambda top: (top / "HEAD").unlink(), r"HEAD is missing", HEAD),
    (lambda top: (top / "index").write_bytes(b"DIRC"), r"index of .* is damaged", r"rm .*/index && git -C .* reset"),
    (lambda top: git(top, "config", "core.repositoryformatversion", "9"), "a form that this git does not know", "newer git"),
    (lambda top: shutil.rmtree(top / "objects"), "objects is missing", "Do not make a new one"),
    (lambda top: (top / "packed-refs").write_text("junk\n"), "unexpected line in .*packed-refs", "from a copy"),
    (_leads_nowhere, "leads to no repository", "Bring back"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "reason", "remedy"), DAMAGE)
async def test_what_is_damaged_is_named_and_nobody_is_told_to_begin_anew(
    tmp_path: Path, damage: Callable[[Path], object], reason: str, remedy: str
) -> None:
    scene = Scene(tmp_path)
    damage(scene.top / ".git")
    with pytest.raises(PortError) as refused:
        await scene.repository.base(str(scene.top))
    assert re.search(reason, refused.value.reason), refused.value.reason
    assert re.search(remedy, refused.value.remedy), refused.value.remedy
    assert "git init" not in refused.value.remedy


async def test_where_there_is_nothing_a_repository_may_be_made(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match="not inside a git repository") as refused:
        await scene.repository.base(str(tmp_path / "empty"))
    assert "git init" in refused.value.remedy


def _shell(command: str, where: Path) -> int:
    words = ["/bin/sh", "-c", command]
    return subprocess.run(words, check=False, cwd=where, env=PEOPLE, capture_output=True).returncode


OPERATIONS = {
    "a merge": "git merge other",
    "a rebase": "git rebase other",
    "a cherry-pick": "git cherry-pick other",
    "a revert": "git revert HEAD~1",
    "a bisect": "git bisect start HEAD HEAD~2",
    "applying patches (git am)": "git format-patch -1 --stdout other | git am",
}


@pytest.mark.parametrize("name", OPERATIONS)
async def test_what_a_person_has_left_half_done_is_named(tmp_path: Path, name: str) -> None:
    scene = Scene(tmp_path)
    for line in ("one", "two"):
        write(scene.top, {"code.py": f"{line}\n"})
        git(scene.top, "commit", "--quiet", "--all", "-m", line)
    git(
        scene.top,
        "branch",
        "ahead",
        git(scene.top, "commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}"),
    )
    git(scene.top, "checkout", "--quiet", "-b", "other", "HEAD~1")
    write(scene.top, {"code.py": "other\n"})
    git(scene.top, "commit", "--quiet", "--all", "-m", "other")
    git(scene.top, "checkout", "--quiet", "main")
    _shell(OPERATIONS[name], scene.top)
    top = str(scene.top)
    if git(scene.top, "branch", "--show-current"):
        assert (await scene.repository.base(top)).under_way == name
        with pytest.raises(Refused, match=re.escape(name)) as refused:
            await scene.worktrees.move_base(top, "main", "ahead")
    else:
        with pytest.raises(Refused, match=name) as refused:
            await scene.repository.base(top)
    assert "Finish it" in refused.value.remedy


async def test_a_lock_that_somebody_left_is_named(scene: Scene) -> None:
    lock = scene.top / ".git" / "packed-refs.lock"
    git(scene.top, "pack-refs", "--all")
    lock.touch()
    with pytest.raises(PortError) as refused:
        await scene.worktrees.delete_branch(
            str(scene.top), BRANCH, scene.first, 0, worktree=str(scene.path)
        )
    assert str(lock) in refused.value.reason + refused.value.remedy
    assert lock.exists()


async def test_files_that_stand_in_the_way_of_a_merge_are_named(scene: Scene) -> None:
    write(scene.top, {"new ü.txt": "theirs\n", "other.txt": "theirs\n"})
    git(scene.top, "add", "--all")
    git(scene.top, "commit", "--quiet", "-m", "new")
    write(scene.path, {"new ü.txt": "mine\n", "other.txt": "mine\n"})
    with pytest.raises(Refused, match=r"new ü\.txt, other\.txt") as refused:
        await scene.worktrees.merge(str(scene.path), "main", "merge")
    assert "Move them away" in refused.value.remedy
    assert (scene.path / "new ü.txt").read_text() == "mine\n"


@pytest.mark.parametrize("times", [1, 30_000], ids=["short", "longer than is compared by line"])
async def test_a_planted_shallow_file_is_named_and_not_the_branch(scene: Scene, times: int) -> None:
    write(scene.path, {"code.py": "2\n"})
    git(scene.path, "commit", "--quiet", "--all", "-m", "work")
    shallow = scene.top / ".git" / "shallow"
    shallow.write_text((git(scene.path, "rev-parse", "HEAD") + "\n") * times)
    with pytest.raises(Refused, match="shallow") as refused:
        await scene.worktrees.work(str(scene.path), scene.first)
    assert f"rm {shallow}" in refused.value.remedy
    assert "by hand" not in refused.value.reason
    shallow.unlink()
    assert len((await scene.worktrees.work(str(scene.path), scene.first)).commits) == 1


async def test_grafts_that_somebody_planted_do_not_count(scene: Scene) -> None:
    write(scene.path, {"code.py": "2\n"})
    git(scene.path, "commit", "--quiet", "--all", "-m", "work")
    (scene.top / ".git/info/grafts").write_text(git(scene.path, "rev-parse", "HEAD") + "\n")
    assert len((await scene.worktrees.work(str(scene.path), scene.first)).commits) == 1


async def test_a_shallow_clone_of_a_persons_own_is_worked_in_and_may_be_completed(
    tmp_path: Path,
) -> None:
    source = new_repository(tmp_path / "source")
    git(source, "commit", "--quiet", "--allow-empty", "-m", "second")
    scene = Scene(tmp_path)
    shutil.rmtree(scene.top)
    git(tmp_path, "clone", "--quiet", "--depth=1", source.as_uri(), str(scene.top))
    scene.first = git(scene.top, "rev-parse", "HEAD")
    await scene.prepare()
    assert (await scene.worktrees.work(str(scene.path), scene.first)).uncommitted == ()
    git(scene.top, "fetch", "--quiet", "--unshallow")
    assert (await scene.worktrees.work(str(scene.path), scene.first)).uncommitted == ()


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
async def test_in_a_sparse_checkout_documents_are_committed_and_merged(
    tmp_path: Path, cone: str
) -> None:
    scene = Scene(tmp_path)
    write(scene.top, {"src/a.py": "a\n", "lib/b.py": "b\n", "specs/old.md": "old\n"})
    git(scene.top, "add", "--all")
    git(scene.top, "commit", "--quiet", "-m", "more")
    scene.first = git(scene.top, "rev-parse", "HEAD")
    git(scene.top, "sparse-checkout", "set", cone, "src")
    await scene.prepare()
    path, files = str(scene.path), {"specs/x.md": "x\n", "specs/old.md": "new\n"}
    commit = await scene.worktrees.commit_files(path, files, "docs: x")
    assert git(scene.top, "show", f"{commit}:specs/x.md") == "x"
    assert git(scene.top, "show", f"{commit}:specs/old.md") == "new"
    assert git(scene.top, "show", f"{commit}:lib/b.py") == "b"
    assert await scene.worktrees.commit_files(path, files, "docs: x") == commit
    assert (await scene.worktrees.work(path, commit)).uncommitted == ()
    git(scene.top, "branch", "theirs", scene.first)
    other = str(scene.path.with_name("agent-theirs"))
    await scene.worktrees.prepare(str(scene.top), "agent/theirs", other, scene.first)
    await scene.worktrees.commit_files(other, {"specs/x.md": "theirs\n"}, "docs: theirs")
    merged = await scene.worktrees.merge(path, "agent/theirs", "merge", plan="specs")
    assert git(scene.top, "show", f"{merged.commit}:specs/x.md") == "x"
    assert git(scene.top, "show", f"{merged.commit}:lib/b.py") == "b"
