"""A repository that was moved, with the bot's worktrees in it. Its rule: the ledger follows first, then git is told.

What could run code is compared afterwards with what the ledger has kept, as before every other call.
"""

from __future__ import annotations

from pathlib import Path

from adapters.git.held import Held
from adapters.git.ledger import Ledger, Made, Page
from adapters.git.place import is_directory
from adapters.git.run import Git


class Relinking:
    def __init__(self, git: Git, ledger: Ledger) -> None:
        self._git = git
        self._ledger = ledger

    def take_over(self, former: Path, top: Path, common: Path) -> tuple[str, ...]:
        """What was written down of the repository where it lay; where its worktrees were. Done twice, the second finds
        nothing to do."""
        page = self._ledger.page(former)
        if page is None or former == top:
            return ()
        moved = _moved(page, str(top), str(common))
        here = self._ledger.page(top)
        if here is not None:
            known = {**moved.worktrees, **here.worktrees}
            moved = moved.model_copy(
                update={"worktrees": known, "branches": {**moved.branches, **here.branches}}
            )
        self._ledger.save(moved)
        self._ledger.drop(former)
        return tuple(page.worktrees)

    async def repair(self, held: Held) -> None:
        """git finds its worktrees by whole paths, in both directions."""
        paths = [path for path in held.worktrees if is_directory(Path(path))]
        if paths:
            await self._git.write("worktree", "repair", *paths, at=held.main, lock=held.lock)


def _moved(page: Page, top: str, common: str) -> Page:
    def here(path: str) -> str:
        """Also in the key of a file that the configuration includes."""
        if path == page.common or path.startswith(f"{page.common}/"):
            return common + path.removeprefix(page.common)
        if path == page.top or path.startswith(f"{page.top}/"):
            return top + path.removeprefix(page.top)
        return path

    def made_here(made: Made) -> Made:
        return made.model_copy(update={"git_dir": here(made.git_dir)})

    return Page(
        top=top,
        common=common,
        keys={here(key): digest for key, digest in page.keys.items()},
        shallow=page.shallow,
        worktrees={here(path): made_here(made) for path, made in page.worktrees.items()},
        branches={name: here(path) for name, path in page.branches.items()},
    )
