"""Writes docs/data-model.md from the models and from data_model.toml: `python -m tests.data_model`.

Names, types, files and values come from the models; what each field means, and where it comes from, from the other file.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel, JsonValue

from bot.core.actions import Action
from bot.core.events import Event
from bot.core.evidence import Evidence
from bot.core.projections.audit import AuditEntry
from bot.core.projections.records import History, Record, ReplState
from bot.core.projections.registry import FiledIntent, Observation
from bot.core.projections.task_logs import SessionLog, TaskLog, TaskLogIndex
from bot.core.session import Session

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "data-model.md"
MEANINGS = Path(__file__).with_name("data_model.toml")
ROOTS = (
    *(Session, Evidence, TaskLog, TaskLogIndex, SessionLog, AuditEntry, ReplState),
    *(FiledIntent, Observation, History),
)
"""What is saved by itself. Whatever these are made of is saved with them."""
NAMED: tuple[tuple[object, str], ...] = (
    *((AwareDatetime, "time with zone"), (Event, "Event"), (Action, "Action")),
    (JsonValue, "any value"),
)


def kinds_in(annotation: object) -> Iterator[type]:
    """Every class an annotation is made of: those inside lists, tuples, unions."""
    if isinstance(annotation, type):
        yield annotation
    for part in get_args(annotation):
        yield from kinds_in(part)


def reachable(*roots: type[BaseModel]) -> set[type]:
    """The models and enumerations that are saved whenever one of the roots is."""
    found: set[type] = set()
    waiting: list[type] = list(roots)
    while waiting:
        kind = waiting.pop()
        if kind in found or not issubclass(kind, (BaseModel, StrEnum)):
            continue
        found.add(kind)
        if issubclass(kind, BaseModel):
            for field in kind.model_fields.values():
                waiting += kinds_in(field.annotation)
    return found


def saved_models() -> list[type[BaseModel]]:
    saved = sorted(reachable(*ROOTS), key=lambda kind: kind.__name__)
    # of what waits in a record only the names are told
    return [Record, *(kind for kind in saved if issubclass(kind, BaseModel))]


def saved_enumerations() -> list[type[StrEnum]]:
    saved = sorted(reachable(*ROOTS), key=lambda kind: kind.__name__)
    return [kind for kind in saved if issubclass(kind, StrEnum)]


def meanings() -> dict[str, Any]:
    return tomllib.loads(MEANINGS.read_text(encoding="utf-8"))


def type_in_words(annotation: object) -> str:
    for kind, name in NAMED:
        if annotation == kind:
            return name
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (UnionType, Union):
        found = [type_in_words(one) for one in parts if one is not type(None)]
        return " or ".join([*found, *(["none"] if type(None) in parts else [])])
    if origin is Annotated:
        return type_in_words(parts[0])
    if origin is Literal:
        return type(parts[0]).__name__
    if origin in (list, tuple, set, frozenset):
        return f"list of {type_in_words(parts[0])}"
    if origin is dict:
        return "keys and values"
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def page() -> str:
    """The whole page. Raises KeyError where a model, a field or an enumeration has no meaning written down."""
    told = meanings()
    models = {model.__name__: model for model in saved_models()}
    kinds = {kind.__name__: kind for kind in saved_enumerations()}
    parts = [told["before"].strip()]
    parts += [
        _section(models[name], told["models"][name]) for name in _in_order(told, "models", models)
    ]
    parts.append(told["between"].strip())
    parts.append(
        _table(
            ("Name", "Values", "Origin"),
            [
                (name, ", ".join(kinds[name]), told["enumerations"][name])
                for name in _in_order(told, "enumerations", kinds)
            ],
        )
    )
    parts.append(told["after"].strip())
    return "\n\n".join(parts) + "\n"


def _in_order(told: dict[str, Any], what: str, there: dict[str, Any]) -> list[str]:
    """As they are written down; what is missing there comes last, and fails with its name."""
    return [*told[what], *(name for name in there if name not in told[what])]


def _section(model: type[BaseModel], told: dict[str, Any]) -> str:
    file = model.__module__.replace(".", "/") + ".py"
    rows = [
        (name, type_in_words(field.annotation), *told["fields"][name])
        for name, field in model.model_fields.items()
    ]
    head = f"### {model.__name__}\n\n{told['about']} ({file})"
    table = _table(("Field", "Type", "Meaning", "Origin"), rows)
    return "\n\n".join([head, table, *([told["note"]] if "note" in told else [])])


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    shown[1] = "|" + "---|" * len(head)
    return "\n".join(shown)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)} is written\n")
