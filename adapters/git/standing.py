"""What stands of the repository's worktrees, whole or broken. Its rule: read from the files themselves, since git skips broken ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import psutil

from adapters.git.place import Place, first_line, pointed_at
from bot.errors import Refused

HALF_MADE = "initializing"
"""What `git worktree add` writes into `locked` until it has checked everything out."""
WORKTREES = ".worktrees"
_BRANCH = re.compile(r"agent/[a-z0-9][a-z0-9_-]{0,57}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")
_HEADS = "ref: refs/heads/"


@dataclass(frozen=True)
class Standing:
    """An entry below .git/worktrees."""

    git_dir: Path
    path: str
    """Empty where the entry is broken."""
    branch: str
    """Empty with a detached HEAD."""
    locked: str | None
    whole: bool


def standing(main: Place) -> list[Standing]:
    directory = main.common / "worktrees"
    entries = sorted(directory.iterdir()) if directory.is_dir() else []
    return [_entry(entry) for entry in entries if entry.is_dir()]


def _entry(git_dir: Path) -> Standing:
    pointer = first_line(git_dir / "gitdir")
    head = first_line(git_dir / "HEAD")
    locked = git_dir / "locked"
    return Standing(
        git_dir=git_dir,
        path=pointer.removesuffix("/.git"),
        branch=head.removeprefix(_HEADS) if head.startswith(_HEADS) else "",
        locked=first_line(locked) if locked.exists() else None,
        whole=bool(pointer and head and first_line(git_dir / "commondir")),
    )


def at_path(entries: list[Standing], path: Path) -> Standing | None:
    return next((entry for entry in entries if entry.path == str(path)), None)


def nameless(entries: list[Standing], path: Path) -> list[Standing]:
    """Entries that never learned their path: git names them after the directory, with a number where that is taken."""
    name = re.compile(re.escape(path.name) + r"\d*")
    return [entry for entry in entries if not entry.path and name.fullmatch(entry.git_dir.name)]


def checked_branch(branch: str) -> str:
    if not _BRANCH.fullmatch(branch):
        raise Refused(f"{branch!r} is no name for a branch of the bot's (agent/…)")
    return branch


def require_folder(directory: Path) -> None:
    """Raise Refused where something else than a real directory stands where the worktrees are to lie."""
    if directory.is_symlink():
        raise Refused(
            f"{directory} is a symbolic link", "Remove the link; worktrees lie in the repository."
        )
    if directory.exists() and not directory.is_dir():
        raise Refused(
            f"{directory} is a file, and the worktrees are made in a folder of that name",
            "Rename it, or move it away.",
        )


def checked_path(main: Place, path: str) -> Path:
    """A worktree's path: directly below `.worktrees`, which must be a real directory of the repository's."""
    require_folder(directory := main.top / WORKTREES)
    asked = Path(path)
    # the given path may reach the repository through a link above it; git notes the resolved one
    if not _NAME.fullmatch(asked.name) or asked.parent.name != WORKTREES or ".." in asked.parts:
        raise Refused(f"{path} is no place for a worktree: it must lie directly in {directory}")
    if asked.parent.parent.resolve() != main.top:
        raise Refused(f"{path} is no place for a worktree: it must lie directly in {directory}")
    found = directory / asked.name
    if found.is_symlink():
        raise Refused(f"{found} is a symbolic link", "Remove the link.")
    return found


def points_back(path: Path, entry: Standing) -> bool:
    return pointed_at(path / ".git") == entry.git_dir


def at_work_in(path: Path) -> list[int]:
    """Processes whose working directory lies in `path`: agents, people's shells, gits."""
    return [process.pid for process in _beneath(path)]


def git_at_work_in(*paths: Path) -> bool:
    """Whether a git that could own a lock file is alive there."""
    return any(
        process.info["name"].startswith("git") for path in paths for process in _beneath(path)
    )


def _beneath(path: Path) -> list[psutil.Process]:
    # where another user's process works is not told (None): it cannot be ours
    processes = psutil.process_iter(["pid", "cwd", "name"])
    return [p for p in processes if p.info["cwd"] and Path(p.info["cwd"]).is_relative_to(path)]
