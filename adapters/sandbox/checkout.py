"""What of a repository is seen from one of its worktrees. Its rule: commits on `agent/…` can be made, nothing else can be changed.

Hooks, configuration, other branches, the index of the main checkout and what makes a worktree a worktree are read-only; the
main checkout and other worktrees are not there at all. What is stored already in packs cannot be destroyed.
"""

from __future__ import annotations

from pathlib import Path

from adapters.sandbox.machine import read_only, writable
from bot.errors import Refused

SMALL = 64 * 1024


def checkout(cwd: Path) -> list[str]:
    """The worktree that a program works in, with what git needs of the repository."""
    pointer = cwd / ".git"
    if not pointer.exists() and not pointer.is_symlink():
        return writable(cwd)
    common = _common(cwd.parent.parent)
    admin = _admin(common, cwd) if common else None
    if common is None or admin is None:
        raise Refused(
            f"{cwd} is no worktree of the bot's, or its .git file was changed",
            "Let the task be done anew in a worktree of its own.",
        )
    return [*_repository(common), *_worktree(admin), *writable(cwd), *read_only(pointer)]


def _repository(common: Path) -> list[str]:
    if (common / "reftable").exists():
        raise Refused(
            "the sandbox does not know repositories that keep their branches in a reftable",
            "Set SANDBOX=none, or convert it: git refs migrate --ref-format=files",
        )
    objects = common / "objects"
    words = read_only(common)
    for folder in (objects, common / "refs/heads/agent", common / "logs/refs/heads/agent"):
        folder.mkdir(parents=True, exist_ok=True)
        words += writable(_itself(folder))
    for folder in (objects / "pack", objects / "info"):
        # who could make it could say there which other folders to show
        folder.mkdir(exist_ok=True)
        words += read_only(_itself(folder))
    for other in _alternates(objects):
        words += ["--ro-bind-try", str(other), str(other)]
    return words


def _worktree(admin: Path) -> list[str]:
    words = writable(_itself(admin))
    for name in ("commondir", "gitdir", "config.worktree"):
        words += read_only(admin / name) if (admin / name).is_file() else []
    return words


def _itself(folder: Path) -> Path:
    """What an agent without a sandbox has led elsewhere would be writable there."""
    if folder.resolve() != folder:
        raise Refused(f"{folder} leads elsewhere", "Look who has made it a link, and undo that.")
    return folder


def _common(top: Path) -> Path | None:
    """The git directory of the main checkout: a folder, or a file that points to it in submodules."""
    own = top / ".git"
    if own.is_dir():
        return own.resolve()
    line = _line(own)
    return (top / line.removeprefix("gitdir: ")).resolve() if line.startswith("gitdir: ") else None


def _admin(common: Path, cwd: Path) -> Path | None:
    """Told by the repository, never by the worktree, which the agent can write; both have to agree."""
    pointer = cwd / ".git"
    for one in sorted((common / "worktrees").glob("*")):
        if _line(one / "gitdir") == str(pointer) and _line(pointer) == f"gitdir: {one}":
            return one
    return None


def _alternates(objects: Path) -> list[Path]:
    """Other stores that this one borrows from."""
    file = objects / "info" / "alternates"
    if not file.is_file() or file.is_symlink() or file.stat().st_size > SMALL:
        return []
    lines = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [objects / line for line in lines if line and not line.startswith("#")]


def _line(file: Path) -> str:
    """The first line of a small plain file."""
    if file.is_symlink() or not file.is_file() or file.stat().st_size > SMALL:
        return ""
    lines = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return lines[0] if lines else ""
