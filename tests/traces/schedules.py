"""A schedule of the simulation, line by line: what the world saw of it.

Every part of the world draws from a chance of its own, so that one call more or less changes little elsewhere. In schedules with
an even number it is by chance whose turn it is, as in `tests.simulation`: they change with the number of tasks that are awaited.
In those with an odd number turns are taken in order: they are the ones to compare where that number has changed.
"""

from __future__ import annotations

import gc
import inspect
import json
import re
from collections.abc import Callable, MutableSequence
from hashlib import sha256
from random import Random
from typing import Any

from bot.core.events import FromPeople
from bot.core.people import Thread
from bot.core.projections.records import Record
from tests.simulation.scene import Scene
from tests.traces.values import Json, Saved, plain

_ID = re.compile(r"\b[0-9a-f]{8}-0000-4000-8000-[0-9a-f]{12}\b")
LONG = 300
"""Characters. A text as long as that is written out once in a trace."""


class _InOrder(Random):
    def shuffle(self, x: MutableSequence[Any]) -> None:
        return


class Traced(Scene):
    def __init__(self, seed: int) -> None:
        self._streams: dict[str, Random] = {}
        self._saved: dict[str, Saved] = {}
        self._signatures: dict[str, inspect.Signature] = {}
        self._texts: set[str] = set()
        self._ids: dict[str, str] = {}
        self.lines: list[str] = []
        super().__init__(seed)
        self.saved, self.sent, self.befell = self._is_saved, self._is_sent, self._befalls
        self.called = self._is_called

    def stream(self, name: str) -> Random:
        known = self._streams.get(name)
        if known is None:
            known = self._streams[name] = Random(f"{self.seed} {name}")  # noqa: S311 - no secret
        return known

    def _build(self) -> None:
        super()._build()
        if self.seed % 2:
            self.loop.chance = _InOrder()

    def _tell(self, what: str, *values: Json) -> None:
        line = [round(self.loop.time(), 3), self.life.number, what, *map(self._short, values)]
        self.lines.append(_ID.sub(self._numbered, json.dumps(line, ensure_ascii=False)))

    def _numbered(self, found: re.Match[str]) -> str:
        """Ids are numbered as they appear: one that was made for nothing changes no other."""
        return self._ids.setdefault(found[0], f"id-{len(self._ids) + 1}")

    def _short(self, value: Json) -> Json:
        if isinstance(value, dict):
            return {name: self._short(inner) for name, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, list):
            return [self._short(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(value, str) or len(value) < LONG:
            return value
        if value in self._texts:
            return f"{value[:40]}… as before, {sha256(value.encode()).hexdigest()[:12]}"
        self._texts.add(value)
        return value

    def _is_saved(self, record: Record) -> None:
        self._tell("saved", self._saved.setdefault(record.session.id, Saved()).changed(record))

    def _is_sent(self, thread: Thread, event: FromPeople) -> None:
        self._tell("people", thread.root, plain(event))

    def _befalls(self, name: str) -> None:
        self._tell("befalls", name)

    def _is_called(
        self,
        port: str,
        call: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> None:
        name = f"{port}.{call.__name__}"
        if name not in self._signatures:
            self._signatures[name] = inspect.signature(call)
        given = self._signatures[name].bind(*args, **kwargs).arguments.values()
        self._tell(name, *map(plain, given))


def traced(seed: int) -> list[str]:
    scene = Traced(seed)
    outcome = scene.play()
    gc.collect()
    return [*scene.lines, json.dumps(["ended", *outcome.faults], ensure_ascii=False)]
