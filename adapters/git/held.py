"""A repository while its lock is held. Its rule: only who has one of these changes anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from adapters.git.ledger import Ledger, Made, Merging, Page
from adapters.git.place import Place

LetGo = Callable[[str], Awaitable[None]]


class Held:
    """`let_go` is told of each worktree that is gone, before it is struck out: after a crash it is told again."""

    def __init__(
        self,
        main: Place,
        lock: int,
        ledger: Ledger,
        page: Page,
        let_go: LetGo | None = None,
    ) -> None:
        self.main = main
        self.lock = lock
        self._ledger = ledger
        self._page = page
        self._let_go = let_go

    def made(self, path: Path) -> Made | None:
        """What the bot knows of a worktree of its own."""
        return self._page.worktrees.get(str(path))

    @property
    def worktrees(self) -> tuple[str, ...]:
        """Where the bot's own are."""
        return tuple(self._page.worktrees)

    @property
    def is_at_work(self) -> bool:
        """Whether the bot has any worktree here."""
        return bool(self._page.worktrees)

    def owns(self, branch: str, path: Path) -> bool:
        """Whether the bot created this branch for this worktree."""
        return self._page.branches.get(branch) == str(path)

    def note(self, path: Path, made: Made) -> None:
        self._save(self._page.with_worktree(str(path), made))

    def note_branch(self, branch: str, path: Path) -> None:
        self._save(self._page.with_branch(branch, str(path)))

    async def strike(self, path: Path) -> None:
        """It is gone, with what was kept for whoever worked there."""
        if self._let_go:
            await self._let_go(str(path))
        self._save(self._page.without_worktree(str(path)))

    def strike_branch(self, branch: str) -> None:
        self._save(self._page.without_branch(branch))

    def merge_note(self, path: Path) -> Callable[[Merging | None], None]:
        """Writes down that a merge in this worktree begins, or that it is over."""

        def note(merging: Merging | None) -> None:
            made = self.made(path)
            if made is not None:
                self.note(path, made.model_copy(update={"merging": merging}))

        return note

    def _save(self, page: Page) -> None:
        if page != self._page:
            self._ledger.save(page)
            self._page = page
