"""Notices what was done to a branch of the bot's by hand. Its rule: it is told, with the commit where the branch stood, and nothing is mended."""

from __future__ import annotations

from pathlib import Path

from adapters.git.ledger import Made, Stage
from adapters.git.place import Place
from adapters.git.tree import Tree
from bot.errors import Lost

REFLOG_LIMIT = 64 * 1024


class ByHand:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def require_branch(self, main: Place, path: Path, made: Made | None) -> None:
        """Lost where the branch of a worktree of ours is gone, or no longer holds the commit it began with."""
        if made is None or made.stage is not Stage.READY or not made.branch:
            return
        tip = await self._tree.tip(main, made.branch)
        if tip is None:
            raise _gone(made, path)
        if made.origin and not await self._tree.contains(main, tip, made.origin):
            raise _moved(main, made)


def _gone(made: Made, path: Path) -> Lost:
    """The branch's own reflog went with it; that of its worktree may still be there."""
    _, last = _last_move(Path(made.git_dir) / "logs" / "HEAD")
    known = last or "<commit> (git fsck --lost-found may know it)"
    return Lost(
        f"the branch {made.branch} is gone, and the worktree {path} stood on it",
        f"Bring it back: git branch {made.branch} {known}. Or give the task up.",
    )


def _moved(main: Place, made: Made) -> Lost:
    before, _ = _last_move(main.common / "logs" / "refs" / "heads" / made.branch)
    stood = f"; before its last move it stood at {before}" if before else ""
    return Lost(
        f"the branch {made.branch} was moved by hand: it no longer holds the commit {made.origin[:12]} it began with{stood}",
        f"Put it back: git update-ref refs/heads/{made.branch} {before or '<commit>'}. Or give the task up.",
    )


def _last_move(reflog: Path) -> tuple[str, str]:
    """From where to where, by the last line of a reflog; empty where there is none."""
    if reflog.is_symlink() or not reflog.is_file():
        return "", ""
    with reflog.open("rb") as file:
        file.seek(max(0, reflog.stat().st_size - REFLOG_LIMIT))
        lines = file.read(REFLOG_LIMIT).decode("utf-8", "replace").splitlines()
    fields = lines[-1].split(" ") if lines else []
    return (fields[0], fields[1]) if len(fields) > 2 else ("", "")
