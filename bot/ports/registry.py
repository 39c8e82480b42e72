"""What is kept in a repository beside its code: intents, drafts, observations, histories."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from bot.domain.history import History
from bot.domain.observations import Observation
from bot.domain.registry import Draft, Edit, Filed, Noticed, Shelf
from bot.domain.states import IntentStatus


class Registry(Protocol):
    """`repository` is the top of the main checkout. People edit these files, too: nothing of theirs is ever lost."""

    async def shelf(self, repository: str) -> Shelf:
        """Every intent and every draft. What cannot be read is told in it, and left as it is."""
        ...

    async def add(self, repository: str, filed: Filed) -> str:
        """Put a new intent there, once. Its id: with a number behind it where another has that name."""
        ...

    async def change(
        self,
        repository: str,
        id: str,
        edit: Edit,
        *,
        seen: IntentStatus | None = None,
        session: str | None = None,
    ) -> Filed:
        """Change what the edit names, and nothing else. As it is then.

        Refused: there is none, it cannot be read, it is no longer in the status `seen`, or not of that session.
        """
        ...

    async def put_aside(self, repository: str, draft: Draft) -> None:
        """A draft that has become an intent: out of the way, and not lost."""
        ...

    async def noticed(self, repository: str) -> Noticed:
        """Every observation there is."""
        ...

    async def observe(self, repository: str, new: Iterable[Observation]) -> None:
        """Append observations, each once. Refused: what is there cannot be read."""
        ...

    async def mark(self, repository: str, ids: Collection[str]) -> None:
        """These observations are processed."""
        ...

    async def keep_history(self, repository: str, name: str, history: History) -> None:
        """The history of that name: written, or brought up to date."""
        ...

    async def histories(self, repository: str) -> tuple[str, ...]:
        """The names of all there are."""
        ...
