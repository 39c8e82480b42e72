"""Where a git command works. Its rule: told by the bot, never discovered from files an agent can write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.errors import Away

_UNDER_WAY = (
    ("rebase-merge", "a rebase"),
    ("rebase-apply/applying", "applying patches (git am)"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("MERGE_HEAD", "a merge"),
    ("sequencer", "a cherry-pick or revert of several commits"),
    ("BISECT_LOG", "a bisect"),
)
"""The first that is there tells it best: a rebase cherry-picks, too."""
WAY_BACK = "Bring it back and resume, or say where it lies now: relink /its/new/place"


@dataclass(frozen=True)
class Place:
    """A checkout and the git directories behind it. git gets all three, so it looks for none of them."""

    git_dir: Path
    common: Path
    top: Path
    main: Path
    """The top of the main checkout."""

    @property
    def environment(self) -> dict[str, str]:
        return {
            "GIT_DIR": str(self.git_dir),
            # without it a planted `commondir` file would choose which configuration is read
            "GIT_COMMON_DIR": str(self.common),
            "GIT_WORK_TREE": str(self.top),
        }

    def linked(self, git_dir: Path, top: Path) -> Place:
        """A linked worktree of the same repository."""
        return Place(git_dir=git_dir, common=self.common, top=top, main=self.main)


def main_checkout(repository: str) -> Place:
    """The main checkout whose top directory is `repository`."""
    top = Path(repository)
    if not top.is_absolute() or not top.is_dir():
        raise Away(f"repository not found at {repository}", WAY_BACK)
    top = top.resolve()
    git_dir = _git_dir(top)
    if (git_dir / "objects").is_dir() and not (git_dir / "HEAD").is_file():
        raise damaged(git_dir)
    if not (git_dir / "HEAD").is_file() or (git_dir / "commondir").exists():
        raise Away(
            f"repository not found at {repository}: it is not the main checkout of a repository",
            WAY_BACK,
        )
    return Place(git_dir=git_dir, common=git_dir, top=top, main=top)


def damaged(own: Path) -> Away:
    """A `.git` that is there, and that git does not take for a repository: nobody needs to make a new one."""
    if own.is_file():
        return Away(
            f"{own} leads to no repository: {first_line(own)[:200]!r}",
            f"Bring back what it led to, or repair it from the main checkout: git worktree repair {own.parent}",
        )
    head = own / "HEAD"
    missing = [name for name in ("objects", "refs") if not (own / name).exists()]
    if missing:
        return Away(
            f"the repository in {own} is damaged: {' and '.join(missing)} is missing",
            "Bring it back from a copy or a clone. Do not make a new one over it.",
        )
    if not is_there(head):
        said = "is missing"
    else:
        said = f"says {first_line(head)[:60]!r}" if head.is_file() else "is no ordinary file"
    return Away(
        f"the repository in {own} is damaged: its HEAD {said}",
        f"Write the branch you were on into it: echo 'ref: refs/heads/main' > {head} (with the name of your branch). "
        "No work is lost by that.",
    )


def under_way(main: Place) -> str:
    """What a person has begun in the main checkout and not ended; empty: nothing."""
    for name, what in _UNDER_WAY:
        if is_there(main.git_dir / name):
            return what
    return ""


def pointed_at(pointer: Path) -> Path | None:
    """Where a `.git` file points to; None where it is no such file."""
    content = first_line(pointer)
    if not content.startswith("gitdir: "):
        return None
    return pointer.parent / content.removeprefix("gitdir: ")


def is_there(path: Path) -> bool:
    """Whether there is a file, directory or link of that name. One look: too short to leave the event loop for."""
    return path.exists() or path.is_symlink()


def is_directory(path: Path) -> bool:
    return path.is_dir()


def resolved(path: Path) -> Path:
    return path.resolve()


def first_line(path: Path, limit: int = 4096) -> str:
    """The first line of a small regular file; empty where there is none. A planted FIFO is never opened."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        lines = file.read(limit).decode("utf-8", "surrogateescape").splitlines()
    return lines[0] if lines else ""


def _git_dir(top: Path) -> Path:
    """A directory as a rule; a file that points to it in submodules and with --separate-git-dir."""
    own = top / ".git"
    if own.is_dir():
        return own.resolve()
    return (pointed_at(own) or own).resolve()
