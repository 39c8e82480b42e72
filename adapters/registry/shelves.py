"""Reads all intents and drafts of a repository. One that cannot be read is told, and the others are read all the same."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import TypeVar, cast

from adapters.registry import drafts, intents
from adapters.registry.folder import Folder
from adapters.registry.text import BrokenError, refused
from bot.domain.registry import Draft, Filed, Shelf
from bot.domain.sentences import sentences
from bot.errors import PortError, Refused

MOST_INTENTS = 500
MOST_DRAFTS = 50
SECONDS = 5.0
"""Files that nobody has seen before are read for so long. The rest waits until the next look."""
REMEMBERED = 2_000
T = TypeVar("T")
R = TypeVar("R", Filed, Draft)


class Shelves:
    def __init__(self) -> None:
        self._known: dict[tuple[str, str, bytes], Filed | Draft | BrokenError] = {}
        """By folder, name and content: what was read before is not read again."""

    def read(self, intents_in: Folder, drafts_in: Folder) -> Shelf:
        problems: list[str] = []
        found = self._read(intents_in, self._intent, MOST_INTENTS, problems)
        waiting = self._read(drafts_in, self._draft, MOST_DRAFTS, problems)
        return Shelf(intents=tuple(found), drafts=tuple(waiting), problems=tuple(problems))

    def _read(
        self,
        folder: Folder,
        read: Callable[[Folder, str], T | None],
        most: int,
        problems: list[str],
    ) -> list[T]:
        """One that cannot be read is told, and the others are read all the same."""
        found: list[T] = []
        try:
            names = [name for name in folder.names() if not name.startswith(".")]
        except PortError as problem:
            problems.append(sentence(problem))
            return found
        until = time.monotonic() + SECONDS
        for name in names:
            if len(found) >= most or time.monotonic() > until:
                problems.append(f"{folder.name} holds more than is read; clear some of it away.")
                break
            try:
                one = read(folder, name)
            except PortError as problem:
                problems.append(sentence(problem))
            except BrokenError as broken:
                problems.append(sentence(refused(f"{folder.name}/{shown(name)}", broken)))
            else:
                found += [one] if one is not None else []
        return found

    def _intent(self, folder: Folder, name: str) -> Filed | None:
        id = name.removesuffix(intents.ENDING)
        if not name.endswith(intents.ENDING):
            return None
        if not intents.is_id(id):
            raise Refused(f"{folder.name}/{shown(name)} has a name that no intent can have")
        content = folder.read(name, intents.LARGEST)
        return self._remembered(folder, id, content, intents.read)

    def _draft(self, folder: Folder, name: str) -> Draft | None:
        if not name.endswith(drafts.ENDING):
            return None
        content = folder.read(name, drafts.LARGEST)
        return self._remembered(folder, name, content, drafts.read)

    def _remembered(
        self, folder: Folder, name: str, content: bytes | None, read: Callable[[str, bytes], R]
    ) -> R | None:
        if content is None:
            return None
        key = (folder.name, name, hashlib.sha256(content).digest())
        if key not in self._known:
            while len(self._known) >= REMEMBERED:
                del self._known[next(iter(self._known))]
            try:
                self._known[key] = read(name, content)
            except BrokenError as broken:
                self._known[key] = broken
        known = self._known[key]
        if isinstance(known, BrokenError):
            raise known
        return cast("R", known)


def sentence(problem: PortError) -> str:
    return sentences(problem.reason, problem.remedy)


def shown(name: str) -> str:
    """A file's name may hold anything."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() else "?" for c in text)[:120]
