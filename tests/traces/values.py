"""Values as plain JSON, without anything that a renamed class, function or module would change.

Fields that have their default are left out: a field that comes, goes or moves is noticed where it says something.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import PurePath
from typing import Any, cast

from pydantic import BaseModel

from bot.core.cards import CardBase
from bot.core.layout import lay_out
from bot.core.projections.records import Record
from bot.core.session import Session

Json = Any
_FIELDS: dict[type, tuple[tuple[str, object], ...]] = {}


def plain(value: object) -> Json:  # noqa: C901 - one case per kind of value
    """A card becomes what people read on it, and a session its id: `Saved` tells what is in it."""
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case datetime() | PurePath():
            return str(value)
        case CardBase():
            return {"key": value.key, **plain(lay_out(cast("Any", value)))}
        case Session():
            return {"session": value.id}
        case Record():
            return {"session": value.session.id}
        case BaseModel():
            return {name: plain(inner) for name, inner in _fields(value)}
        case Mapping():
            items = cast("Mapping[object, object]", value).items()
            return {str(plain(key)): plain(inner) for key, inner in sorted(items, key=str)}
        case set() | frozenset():
            return sorted(map(plain, cast("Iterable[object]", value)), key=str)
        case list() | tuple():
            return [plain(inner) for inner in cast("Iterable[object]", value)]
        case BaseException():
            return str(value)
        case _ if dataclasses.is_dataclass(value):
            return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
        case _:
            raise TypeError(f"{type(value)} has no plain form yet")


class Leaves:
    """What is said somewhere inside, each with the name of its own field only: however deep it lies."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[BaseModel, list[str]]] = {}
        """Of what never changes, and so is the same from save to save. It is kept, so that its id is its own."""

    def of(self, value: object, name: str = "") -> list[str]:
        match value:
            case BaseModel():
                return self._of_model(value)
            case Mapping():
                items = cast("Mapping[object, object]", value).items()
                return [
                    one for key, inner in items for one in self.of(inner, f"{name}.{plain(key)}")
                ]
            case list() | tuple():
                return [
                    one for inner in cast("Iterable[object]", value) for one in self.of(inner, name)
                ]
            case _:
                return [f"{name}={plain(value)}"]

    def _of_model(self, model: BaseModel) -> list[str]:
        known = self._known.get(id(model))
        if known is not None:
            return known[1]
        found = [one for name, inner in _fields(model) for one in self.of(inner, name)]
        if model.model_config.get("frozen"):
            self._known[id(model)] = (model, found)
        return found


def _fields(model: BaseModel) -> Iterator[tuple[str, object]]:
    """Those that say something. A kind always does."""
    known = _FIELDS.get(type(model))
    if known is None:
        fields = type(model).model_fields.items()
        known = tuple((name, one.get_default(call_default_factory=True)) for name, one in fields)
        _FIELDS[type(model)] = known
    for name, default in known:
        value = getattr(model, name)
        if name == "kind" or value != default:
            yield name, value


class Saved:
    """A record as it was saved last, to tell what the next save changes."""

    def __init__(self) -> None:
        self._leaves = Leaves()
        self._plain: dict[int, tuple[object, Json]] = {}
        self._state: Counter[str] = Counter()
        self._lists: dict[str, list[tuple[str, Json]]] = {}

    def changed(self, record: Record) -> Json:
        session = record.session
        told: dict[str, Json] = {"session": session.id}
        told |= {"status": session.status.value, "phase": session.phase.value}
        told |= self._listed("heard", [(one, one) for one in record.heard])
        inbox = [(f"{event.kind} {event.id}", event) for event in record.inbox]
        told |= self._listed("inbox", inbox)
        outbox = [(f"{action.kind} {action.key}", action) for action in record.outbox]
        told |= self._listed("outbox", outbox)
        state = Counter(self._leaves.of(session))
        told["state +"] = sorted((state - self._state).elements())
        told["state -"] = sorted((self._state - state).elements())
        self._state = state
        return {name: value for name, value in told.items() if value}

    def _listed(self, name: str, items: Sequence[tuple[str, object]]) -> dict[str, Json]:
        """What came, whole, and the names of what went."""
        before = self._lists.get(name, [])
        now = self._lists[name] = [(key, self._once(one)) for key, one in items]
        came = [one for one in now if one not in before]
        return {
            f"{name} +": [value for _, value in came],
            f"{name} -": [one[0] for one in before if one not in now],
        }

    def _once(self, one: object) -> Json:
        known = self._plain.get(id(one))
        if known is None:
            known = self._plain[id(one)] = (one, plain(one))
        return known[1]
