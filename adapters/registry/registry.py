"""The registry port on the `.forge` folder of a main checkout. Everything read there is untrusted."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar, cast

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from adapters.registry import documents
from adapters.registry.folder import ChangedError, RegistryFolder
from adapters.registry.yaml_text import BrokenError, edit_mapping, edit_sequence, refused_file
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.projections.records import History
from bot.core.projections.registry import (
    FiledIntent,
    IntentDraft,
    IntentEdit,
    Observation,
    ObservationList,
    RegistryContents,
)
from bot.core.states import IntentStatus
from bot.core.text import sentences

MOST_INTENTS = 500
MAX_TRIES = 5
CONVERTED_FOLDER = "taken"
"""The folder for drafts that have become intents."""
T = TypeVar("T")


class ForgeRegistry:
    """Implements the registry port. `umask`: the operator's own."""

    def __init__(self, *, umask: int = 0o022) -> None:
        self._umask = umask
        self._one_at_a_time = threading.Lock()
        self._shelves = RegistryReader()

    async def shelf(self, repository: str) -> RegistryContents:
        found = self._folder(repository, "intents"), self._folder(repository, "intent-drafts")
        return await self._done(lambda: self._shelves.read(*found))

    async def add(self, repository: str, filed: FiledIntent) -> str:
        return await self._done(lambda: self._add(repository, filed))

    async def change(
        self,
        repository: str,
        id: str,
        edit: IntentEdit,
        *,
        seen: IntentStatus | None = None,
        session: str | None = None,
    ) -> FiledIntent:
        return await self._done(lambda: self._change(repository, id, edit, seen, session))

    async def put_aside(self, repository: str, draft: IntentDraft) -> None:
        await self._done(lambda: self._archive_draft(repository, draft))

    async def noticed(self, repository: str) -> ObservationList:
        return await self._done(lambda: self._noticed(repository))

    async def observe(self, repository: str, new: Iterable[Observation]) -> None:
        told = list(new)
        await self._done(
            lambda: self._edit_list(
                repository, lambda data: documents.append_observations(data, told)
            )
        )

    async def mark(self, repository: str, ids: Collection[str]) -> None:
        await self._done(
            lambda: self._edit_list(repository, lambda data: documents.mark_observations(data, ids))
        )

    async def keep_history(self, repository: str, name: str, history: History) -> None:
        await self._done(lambda: self._keep_history(repository, name, history))

    async def histories(self, repository: str) -> tuple[str, ...]:
        folder = self._folder(repository, "knowledge", "history")
        names = await self._done(folder.names)
        endings = documents.HISTORY_ENDING
        return tuple(n.removesuffix(endings) for n in names if n.endswith(endings))

    async def _done(self, work: Callable[[], T]) -> T:
        def alone() -> T:
            with self._one_at_a_time:
                return work()

        return await asyncio.to_thread(alone)

    def _folder(self, repository: str, *within: str) -> RegistryFolder:
        return RegistryFolder(repository, *within, umask=self._umask)

    def _add(self, repository: str, filed: FiledIntent) -> str:
        folder = self._folder(repository, "intents")
        content = documents.new_intent(filed)
        wanted = filed.intent.id if documents.is_intent_id(filed.intent.id) else "intent"
        for number in range(1, MOST_INTENTS):
            id = wanted if number == 1 else f"{wanted}-{number}"
            if self._was_added(folder, id, filed) or folder.create(
                f"{id}{documents.INTENT_ENDING}", content
            ):
                return id
        raise Refused(f"{folder.name} holds too many intents named {wanted}", "Clear some away.")

    def _was_added(self, folder: RegistryFolder, id: str, filed: FiledIntent) -> bool:
        """Whether this intent was already added, by its session, draft or observations."""
        try:
            content = folder.read(f"{id}{documents.INTENT_ENDING}", documents.MAX_INTENT_BYTES)
            there = documents.read_intent(id, content) if content is not None else None
        except (PortError, BrokenError):
            return False
        if there is None:
            return False
        marks = ("session", "draft", "observations")
        return any(
            getattr(filed, one) and getattr(filed, one) == getattr(there, one) for one in marks
        )

    def _change(
        self,
        repository: str,
        id: str,
        edit: IntentEdit,
        seen: IntentStatus | None,
        session: str | None,
    ) -> FiledIntent:
        folder, name = self._folder(repository, "intents"), f"{id}{documents.INTENT_ENDING}"
        if not documents.is_intent_id(id):
            raise Refused(f"{shown_name(id)} is no name of an intent")

        def edited_now(content: bytes) -> bytes:
            there = documents.read_intent(id, content)
            if seen is not None and there.intent.status is not seen:
                raise Refused(f"{id} is {there.intent.status} by now", "Look at it again.")
            if session is not None and there.session != session:
                raise Refused(f"{id} is carried out in another session by now")
            return edit_mapping(content, lambda data: documents.change_intent(data, edit))

        new = self._edit(folder, name, documents.MAX_INTENT_BYTES, edited_now)
        return documents.read_intent(id, new)

    def _archive_draft(self, repository: str, draft: IntentDraft) -> None:
        # A draft changed since it was read stays, and becomes an intent of its own.
        here = self._folder(repository, "intent-drafts")
        content = here.read(draft.name, documents.MAX_DRAFT_BYTES)
        if content is not None and documents.draft_digest(content) == draft.digest:
            here.move(draft.name, self._folder(repository, "intent-drafts", CONVERTED_FOLDER))

    def _noticed(self, repository: str) -> ObservationList:
        folder = self._folder(repository)
        try:
            content = folder.read(documents.OBSERVATIONS_FILE, documents.LARGEST_OBSERVATIONS)
            return ObservationList(observations=tuple(documents.read_observations(content or b"")))
        except PortError as problem:
            return ObservationList(problem=problem_sentence(problem))
        except BrokenError as broken:
            return ObservationList(
                problem=problem_sentence(
                    refused_file(f"{folder.name}/{documents.OBSERVATIONS_FILE}", broken)
                )
            )

    def _edit_list(self, repository: str, change: Callable[[CommentedSeq], None]) -> None:
        folder = self._folder(repository)
        if folder.read(documents.OBSERVATIONS_FILE, documents.LARGEST_OBSERVATIONS) is None:
            folder.create(documents.OBSERVATIONS_FILE, b"[]\n")
        self._edit(
            folder,
            documents.OBSERVATIONS_FILE,
            documents.LARGEST_OBSERVATIONS,
            lambda content: edit_sequence(_without_flow_list(content), change),
        )

    def _keep_history(self, repository: str, name: str, history: History) -> None:
        folder, file = (
            self._folder(repository, "knowledge", "history"),
            f"{name}{documents.HISTORY_ENDING}",
        )
        there = folder.read(file, documents.MAX_HISTORY_BYTES) is not None
        if not there and folder.create(file, documents.new_history(history)):
            return

        def changed(data: CommentedMap) -> None:
            documents.change_history(data, history)

        self._edit(
            folder,
            file,
            documents.MAX_HISTORY_BYTES,
            lambda content: edit_mapping(content, changed),
        )

    def _edit(
        self, folder: RegistryFolder, name: str, limit: int, change: Callable[[bytes], bytes]
    ) -> bytes:
        """Change a file; if somebody else writes it meanwhile, read it again and repeat the change."""
        for _ in range(MAX_TRIES):
            content = folder.read(name, limit)
            if content is None:
                raise Refused(f"{folder.name}/{shown_name(name)} is not there any more")
            try:
                new = change(content)
                if len(new) > limit:
                    raise Refused(
                        f"{folder.name}/{shown_name(name)} has no room for more than {limit // 1024} KiB",
                        "Move what is done with into another file.",
                    )
                if new != content:
                    folder.replace(name, new, was=content, limit=limit)
            except BrokenError as broken:
                raise refused_file(f"{folder.name}/{shown_name(name)}", broken) from broken
            except ChangedError:
                continue
            return new
        raise Unavailable(f"{folder.name}/{shown_name(name)} is being written by somebody else")


def _without_flow_list(content: bytes) -> bytes:
    # An empty list in brackets would remain in flow style.
    return b"" if content.strip() == b"[]" else content


# Reads all intents and drafts of a repository. An unreadable one is reported; the others are read anyway.

MAX_DRAFTS = 50
READ_SECONDS = 5.0
"""Time limit for reading new files. The rest is read the next time."""
MOST_REMEMBERED = 2_000
R = TypeVar("R", FiledIntent, IntentDraft)


class RegistryReader:
    def __init__(self) -> None:
        self._known: dict[tuple[str, str, bytes], FiledIntent | IntentDraft | BrokenError] = {}
        """Parsed files by folder, name and content."""

    def read(self, intents_in: RegistryFolder, drafts_in: RegistryFolder) -> RegistryContents:
        problems: list[str] = []
        found = self._read(intents_in, self._intent, MOST_INTENTS, problems)
        waiting = self._read(drafts_in, self._draft, MAX_DRAFTS, problems)
        return RegistryContents(
            intents=tuple(found), drafts=tuple(waiting), problems=tuple(problems)
        )

    def _read(
        self,
        folder: RegistryFolder,
        read: Callable[[RegistryFolder, str], T | None],
        most: int,
        problems: list[str],
    ) -> list[T]:
        """Read the files of a folder; unreadable ones are added to `problems`."""
        found: list[T] = []
        try:
            names = [name for name in folder.names() if not name.startswith(".")]
        except PortError as problem:
            problems.append(problem_sentence(problem))
            return found
        until = time.monotonic() + READ_SECONDS
        for name in names:
            if len(found) >= most or time.monotonic() > until:
                problems.append(f"{folder.name} holds more than is read; clear some of it away.")
                break
            try:
                one = read(folder, name)
            except PortError as problem:
                problems.append(problem_sentence(problem))
            except BrokenError as broken:
                problems.append(
                    problem_sentence(refused_file(f"{folder.name}/{shown_name(name)}", broken))
                )
            else:
                found += [one] if one is not None else []
        return found

    def _intent(self, folder: RegistryFolder, name: str) -> FiledIntent | None:
        id = name.removesuffix(documents.INTENT_ENDING)
        if not name.endswith(documents.INTENT_ENDING):
            return None
        if not documents.is_intent_id(id):
            raise Refused(f"{folder.name}/{shown_name(name)} has a name that no intent can have")
        content = folder.read(name, documents.MAX_INTENT_BYTES)
        return self._remembered(folder, id, content, documents.read_intent)

    def _draft(self, folder: RegistryFolder, name: str) -> IntentDraft | None:
        if not name.endswith(documents.DRAFT_ENDING):
            return None
        content = folder.read(name, documents.MAX_DRAFT_BYTES)
        return self._remembered(folder, name, content, documents.read_draft)

    def _remembered(
        self,
        folder: RegistryFolder,
        name: str,
        content: bytes | None,
        read: Callable[[str, bytes], R],
    ) -> R | None:
        if content is None:
            return None
        key = (folder.name, name, hashlib.sha256(content).digest())
        if key not in self._known:
            while len(self._known) >= MOST_REMEMBERED:
                del self._known[next(iter(self._known))]
            try:
                self._known[key] = read(name, content)
            except BrokenError as broken:
                self._known[key] = broken
        known = self._known[key]
        if isinstance(known, BrokenError):
            raise known
        return cast("R", known)


def problem_sentence(problem: PortError) -> str:
    return sentences(problem.reason, problem.remedy)


def shown_name(name: str) -> str:
    """Return a printable form of a file name, which may contain any character."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() else "?" for c in text)[:120]
