"""Implements bot.ports.Registry on the `.forge` folder of a main checkout. Everything read there is data of strangers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from adapters.registry import drafts, histories, intents, observations
from adapters.registry.folder import ChangedError, Folder
from adapters.registry.shelves import Shelves, sentence, shown
from adapters.registry.text import BrokenError, edited, edited_list, refused
from bot.domain.history import History
from bot.domain.observations import Observation
from bot.domain.registry import Draft, Edit, Filed, Noticed, Shelf
from bot.domain.states import IntentStatus
from bot.errors import PortError, Refused, Unavailable

MOST_INTENTS = 500
TRIES = 5
TAKEN = "taken"
"""Where drafts go that have become intents."""
T = TypeVar("T")


class ForgeFolder:
    """`umask`: the operator's own."""

    def __init__(self, *, umask: int = 0o022) -> None:
        self._umask = umask
        self._one_at_a_time = threading.Lock()
        self._shelves = Shelves()

    async def shelf(self, repository: str) -> Shelf:
        found = self._folder(repository, "intents"), self._folder(repository, "intent-drafts")
        return await self._done(lambda: self._shelves.read(*found))

    async def add(self, repository: str, filed: Filed) -> str:
        return await self._done(lambda: self._add(repository, filed))

    async def change(
        self,
        repository: str,
        id: str,
        edit: Edit,
        *,
        seen: IntentStatus | None = None,
        session: str | None = None,
    ) -> Filed:
        return await self._done(lambda: self._change(repository, id, edit, seen, session))

    async def put_aside(self, repository: str, draft: Draft) -> None:
        await self._done(lambda: self._put_aside(repository, draft))

    async def noticed(self, repository: str) -> Noticed:
        return await self._done(lambda: self._noticed(repository))

    async def observe(self, repository: str, new: Iterable[Observation]) -> None:
        told = list(new)
        await self._done(
            lambda: self._edit_list(repository, lambda data: observations.append(data, told))
        )

    async def mark(self, repository: str, ids: Collection[str]) -> None:
        await self._done(
            lambda: self._edit_list(repository, lambda data: observations.mark(data, ids))
        )

    async def keep_history(self, repository: str, name: str, history: History) -> None:
        await self._done(lambda: self._keep_history(repository, name, history))

    async def histories(self, repository: str) -> tuple[str, ...]:
        folder = self._folder(repository, "knowledge", "history")
        names = await self._done(folder.names)
        endings = histories.ENDING
        return tuple(n.removesuffix(endings) for n in names if n.endswith(endings))

    async def _done(self, work: Callable[[], T]) -> T:
        def alone() -> T:
            with self._one_at_a_time:
                return work()

        return await asyncio.to_thread(alone)

    def _folder(self, repository: str, *within: str) -> Folder:
        return Folder(repository, *within, umask=self._umask)

    def _add(self, repository: str, filed: Filed) -> str:
        folder = self._folder(repository, "intents")
        content = intents.new(filed)
        wanted = filed.intent.id if intents.is_id(filed.intent.id) else "intent"
        for number in range(1, MOST_INTENTS):
            id = wanted if number == 1 else f"{wanted}-{number}"
            if self._is_same(folder, id, filed) or folder.create(f"{id}{intents.ENDING}", content):
                return id
        raise Refused(f"{folder.name} holds too many intents named {wanted}", "Clear some away.")

    def _is_same(self, folder: Folder, id: str, filed: Filed) -> bool:
        """Whether it was added before: then it is not added again."""
        try:
            content = folder.read(f"{id}{intents.ENDING}", intents.LARGEST)
            there = intents.read(id, content) if content is not None else None
        except (PortError, BrokenError):
            return False
        if there is None:
            return False
        marks = ("session", "draft", "observations")
        return any(
            getattr(filed, one) and getattr(filed, one) == getattr(there, one) for one in marks
        )

    def _change(
        self, repository: str, id: str, edit: Edit, seen: IntentStatus | None, session: str | None
    ) -> Filed:
        folder, name = self._folder(repository, "intents"), f"{id}{intents.ENDING}"
        if not intents.is_id(id):
            raise Refused(f"{shown(id)} is no name of an intent")

        def edited_now(content: bytes) -> bytes:
            there = intents.read(id, content)
            if seen is not None and there.intent.status is not seen:
                raise Refused(f"{id} is {there.intent.status} by now", "Look at it again.")
            if session is not None and there.session != session:
                raise Refused(f"{id} is carried out in another session by now")
            return edited(content, lambda data: intents.change(data, edit))

        new = self._edit(folder, name, intents.LARGEST, edited_now)
        return intents.read(id, new)

    def _put_aside(self, repository: str, draft: Draft) -> None:
        """What was written into it since it was read becomes an intent of its own."""
        here = self._folder(repository, "intent-drafts")
        content = here.read(draft.name, drafts.LARGEST)
        if content is not None and drafts.digest(content) == draft.digest:
            here.move(draft.name, self._folder(repository, "intent-drafts", TAKEN))

    def _noticed(self, repository: str) -> Noticed:
        folder = self._folder(repository)
        try:
            content = folder.read(observations.NAME, observations.LARGEST)
            return Noticed(observations=tuple(observations.read(content or b"")))
        except PortError as problem:
            return Noticed(problem=sentence(problem))
        except BrokenError as broken:
            return Noticed(problem=sentence(refused(f"{folder.name}/{observations.NAME}", broken)))

    def _edit_list(self, repository: str, change: Callable[[CommentedSeq], None]) -> None:
        folder = self._folder(repository)
        if folder.read(observations.NAME, observations.LARGEST) is None:
            folder.create(observations.NAME, b"[]\n")
        self._edit(
            folder,
            observations.NAME,
            observations.LARGEST,
            lambda content: edited_list(_fresh(content), change),
        )

    def _keep_history(self, repository: str, name: str, history: History) -> None:
        folder, file = self._folder(repository, "knowledge", "history"), f"{name}{histories.ENDING}"
        there = folder.read(file, histories.LARGEST) is not None
        if not there and folder.create(file, histories.new(history)):
            return

        def changed(data: CommentedMap) -> None:
            histories.change(data, history)

        self._edit(folder, file, histories.LARGEST, lambda content: edited(content, changed))

    def _edit(
        self, folder: Folder, name: str, limit: int, change: Callable[[bytes], bytes]
    ) -> bytes:
        """What somebody else writes meanwhile is read, and changed in its place."""
        for _ in range(TRIES):
            content = folder.read(name, limit)
            if content is None:
                raise Refused(f"{folder.name}/{shown(name)} is not there any more")
            try:
                new = change(content)
                if len(new) > limit:
                    raise Refused(
                        f"{folder.name}/{shown(name)} has no room for more than {limit // 1024} KiB",
                        "Move what is done with into another file.",
                    )
                if new != content:
                    folder.replace(name, new, was=content, limit=limit)
            except BrokenError as broken:
                raise refused(f"{folder.name}/{shown(name)}", broken) from broken
            except ChangedError:
                continue
            return new
        raise Unavailable(f"{folder.name}/{shown(name)} is being written by somebody else")


def _fresh(content: bytes) -> bytes:
    """An empty list in brackets would stay in brackets."""
    return b"" if content.strip() == b"[]" else content
