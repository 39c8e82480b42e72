"""Paths of a repository: the checkout, its git directories, worktree entries, `info/exclude`.

They are read directly; paths come from the bot and are never discovered from files an agent can write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from adapters.files import Disk
from bot.core.errors import Away, Refused

# A checkout and its git directories. The bot sets their paths; they are never discovered from files an agent can write.

_OPERATION_FILES = (
    ("rebase-merge", "a rebase"),
    ("rebase-apply/applying", "applying patches (git am)"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("MERGE_HEAD", "a merge"),
    ("sequencer", "a cherry-pick or revert of several commits"),
    ("BISECT_LOG", "a bisect"),
)
"""The first file found describes the state best: a rebase cherry-picks, too."""
HOW_TO_RELINK = "Bring it back and resume, or say where it lies now: relink /its/new/place"


@dataclass(frozen=True)
class GitCheckout:
    """A checkout and its git directories. git is given all of them, so that it does not search for any."""

    git_dir: Path
    common: Path
    top: Path
    main: Path
    """The top directory of the main checkout."""

    @property
    def environment(self) -> dict[str, str]:
        return {
            "GIT_DIR": str(self.git_dir),
            # without it a planted `commondir` file would choose which configuration is read
            "GIT_COMMON_DIR": str(self.common),
            "GIT_WORK_TREE": str(self.top),
        }

    def linked_worktree(self, git_dir: Path, top: Path) -> GitCheckout:
        """Return a linked worktree of the same repository."""
        return GitCheckout(git_dir=git_dir, common=self.common, top=top, main=self.main)


def main_checkout(repository: str) -> GitCheckout:
    """Return the main checkout whose top directory is `repository`; raise Away if there is none."""
    top = Path(repository)
    if not top.is_absolute() or not top.is_dir():
        raise Away(f"repository not found at {repository}", HOW_TO_RELINK)
    top = top.resolve()
    git_dir = _git_dir(top)
    if (git_dir / "objects").is_dir() and not (git_dir / "HEAD").is_file():
        raise damaged_repository(git_dir)
    if not (git_dir / "HEAD").is_file() or (git_dir / "commondir").exists():
        raise Away(
            f"repository not found at {repository}: it is not the main checkout of a repository",
            HOW_TO_RELINK,
        )
    return GitCheckout(git_dir=git_dir, common=git_dir, top=top, main=top)


def damaged_repository(own: Path) -> Away:
    """Return the error for an existing `.git` that git does not accept, so that nobody creates a new one."""
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
    if not path_exists(head):
        said = "is missing"
    else:
        said = f"says {first_line(head)[:60]!r}" if head.is_file() else "is no ordinary file"
    return Away(
        f"the repository in {own} is damaged: its HEAD {said}",
        f"Write the branch you were on into it: echo 'ref: refs/heads/main' > {head} (with the name of your branch). "
        "No work is lost by that.",
    )


def unfinished_operation(main: GitCheckout) -> str:
    """Return the unfinished operation in the main checkout, such as a rebase; empty if there is none."""
    for name, what in _OPERATION_FILES:
        if path_exists(main.git_dir / name):
            return what
    return ""


def pointer_target(pointer: Path) -> Path | None:
    """Return the target of a `.git` file, or None if it is not such a file."""
    content = first_line(pointer)
    if not content.startswith("gitdir: "):
        return None
    return pointer.parent / content.removeprefix("gitdir: ")


def path_exists(path: Path) -> bool:
    """Whether a file, directory or link of that name exists. Fast enough to be called in the event loop."""
    return path.exists() or path.is_symlink()


def is_directory(path: Path) -> bool:
    return path.is_dir()


def resolved(path: Path) -> Path:
    return path.resolve()


def first_line(path: Path, limit: int = 4096) -> str:
    """Return the first line of a small regular file; empty if there is none. A planted FIFO is never opened."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        lines = file.read(limit).decode("utf-8", "surrogateescape").splitlines()
    return lines[0] if lines else ""


def _git_dir(top: Path) -> Path:
    # Usually a directory; a file that points to it in submodules and with --separate-git-dir.
    own = top / ".git"
    if own.is_dir():
        return own.resolve()
    return (pointer_target(own) or own).resolve()


# The entries of worktrees below .git/worktrees, complete or broken. They are read directly, because git skips broken
# ones.

INITIALIZING = "initializing"
"""Content of `locked` while `git worktree add` has not finished."""
WORKTREES = ".worktrees"
_BRANCH = re.compile(r"agent/[a-z0-9][a-z0-9_-]{0,57}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")
_HEADS = "ref: refs/heads/"


@dataclass(frozen=True)
class WorktreeEntry:
    """An entry below .git/worktrees."""

    git_dir: Path
    path: str
    """Empty if the entry is broken."""
    branch: str
    """Empty with a detached HEAD."""
    locked: str | None
    whole: bool


def worktree_entries(main: GitCheckout) -> list[WorktreeEntry]:
    directory = main.common / "worktrees"
    entries = sorted(directory.iterdir()) if directory.is_dir() else []
    return [_read_entry(entry) for entry in entries if entry.is_dir()]


def _read_entry(git_dir: Path) -> WorktreeEntry:
    pointer = first_line(git_dir / "gitdir")
    head = first_line(git_dir / "HEAD")
    locked = git_dir / "locked"
    return WorktreeEntry(
        git_dir=git_dir,
        path=pointer.removesuffix("/.git"),
        branch=head.removeprefix(_HEADS) if head.startswith(_HEADS) else "",
        locked=first_line(locked) if locked.exists() else None,
        whole=bool(pointer and head and first_line(git_dir / "commondir")),
    )


def entry_at(entries: list[WorktreeEntry], path: Path) -> WorktreeEntry | None:
    return next((entry for entry in entries if entry.path == str(path)), None)


def unnamed_entries(entries: list[WorktreeEntry], path: Path) -> list[WorktreeEntry]:
    """Return the entries without a path that may belong to `path`: git names them after the directory, with a number if
    the name is taken.
    """
    name = re.compile(re.escape(path.name) + r"\d*")
    return [entry for entry in entries if not entry.path and name.fullmatch(entry.git_dir.name)]


def checked_branch(branch: str) -> str:
    if not _BRANCH.fullmatch(branch):
        raise Refused(f"{branch!r} is no name for a branch of the bot's (agent/…)")
    return branch


def require_worktree_folder(directory: Path) -> None:
    """Raise Refused if the folder for worktrees exists but is not a real directory."""
    if directory.is_symlink():
        raise Refused(
            f"{directory} is a symbolic link", "Remove the link; worktrees lie in the repository."
        )
    if directory.exists() and not directory.is_dir():
        raise Refused(
            f"{directory} is a file, and the worktrees are made in a folder of that name",
            "Rename it, or move it away.",
        )


def checked_worktree_path(main: GitCheckout, path: str) -> Path:
    """Check a worktree's path, which must be directly below `.worktrees`, a real directory of the repository."""
    require_worktree_folder(directory := main.top / WORKTREES)
    asked = Path(path)
    # the given path may reach the repository through a link above it; git records the resolved one
    if not _NAME.fullmatch(asked.name) or asked.parent.name != WORKTREES or ".." in asked.parts:
        raise Refused(f"{path} is no place for a worktree: it must lie directly in {directory}")
    if asked.parent.parent.resolve() != main.top:
        raise Refused(f"{path} is no place for a worktree: it must lie directly in {directory}")
    found = directory / asked.name
    if found.is_symlink():
        raise Refused(f"{found} is a symbolic link", "Remove the link.")
    return found


def points_back(path: Path, entry: WorktreeEntry) -> bool:
    return pointer_target(path / ".git") == entry.git_dir


def processes_in(path: Path) -> list[int]:
    """Return the processes whose working directory is in `path`: agents, people's shells, gits."""
    return [process.pid for process in _processes_below(path)]


def git_runs_in(*paths: Path) -> bool:
    """Whether a git process runs there that may own a lock file."""
    return any(
        process.info["name"].startswith("git")
        for path in paths
        for process in _processes_below(path)
    )


def _processes_below(path: Path) -> list[psutil.Process]:
    # the working directory of another user's process is not reported (None); it cannot be ours
    processes = psutil.process_iter(["pid", "cwd", "name"])
    return [p for p in processes if p.info["cwd"] and Path(p.info["cwd"]).is_relative_to(path)]


# Keeps the bot's own files out of `git status`: in the repository's `info/exclude`, never in a committed file.

EXCLUDED = ("/.worktrees/", ".claude/settings.local.json")
REGISTRY_FOLDER = ".forge/"
"""The folder for intents, in the user's own checkout."""
EXCLUDE_LIMIT = 1024 * 1024


def is_in_registry(path: str) -> bool:
    """Whether the path is the bot's own data rather than work of people that could be lost."""
    return path.startswith(REGISTRY_FOLDER)


MAX_EXCLUDED = 200
_INSTALLED = ("node_modules/", ".venv/", "venv/")
"""Folders of package managers, excluded even if they existed before because an earlier run was killed."""
LOCK_FILES = frozenset(
    {
        *("package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"),
        *("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "Gemfile.lock"),
    }
)


def new_untracked(now: Sequence[str], before: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return patterns that make git ignore the new untracked files, and the new lock files, which are not ignored."""
    new = [one for one in now if one not in before or one.endswith(_INSTALLED)]
    locks = [one for one in new if one.rpartition("/")[2] in LOCK_FILES]
    patterns = [_exact_pattern(one) for one in new if one not in locks and one.isprintable()]
    return patterns[:MAX_EXCLUDED], locks


def _exact_pattern(path: str) -> str:
    """Return a pattern that matches only this path."""
    escaped = re.sub(r"([\\*?\[])", r"\\\1", path)
    blanks = len(escaped) - len(escaped.rstrip(" "))
    return "/" + escaped.rstrip(" ") + "\\ " * blanks


def exclude_from_status(main: GitCheckout, patterns: Sequence[str] = EXCLUDED) -> None:
    """Add the missing patterns and leave all other lines unchanged. One file serves all worktrees of the repository."""
    path = main.common / "info" / "exclude"
    old = _read_exclude(path)
    missing = [pattern for pattern in patterns if pattern not in old.splitlines()]
    if not missing:
        return
    ending = "" if not old or old.endswith("\n") else "\n"
    path.parent.mkdir(exist_ok=True)
    content = (old + ending + "\n".join(missing) + "\n").encode("utf-8", "surrogateescape")
    Disk().replace(path, content, mode=0o644, temporary="exclude.gwt-bot")


def _read_exclude(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(EXCLUDE_LIMIT).decode("utf-8", "surrogateescape")
