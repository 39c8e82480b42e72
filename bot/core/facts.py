"""The two kinds of model: a `Fact` is frozen and is replaced, never changed; a `MutableModel` (Session, Task) changes
through its methods only.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Self, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict

EXACT = "exact"
Exact = Annotated[str, EXACT]
"""Marks a value by which git, tmux, a chat or the bot finds something again: an id, commit, branch, path or approved
command.

It is stored unchanged and masked only where people or a model see it.
"""


class Fact(BaseModel):
    """An immutable value. It is replaced, never changed, so it can be shared freely."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MutableModel(BaseModel):
    """A mutable object. It is copied before each decision, so that a failed decision leaves no trace."""

    model_config = ConfigDict(extra="forbid")

    def copied(self) -> Self:
        """Return a copy with its own lists and mutable parts; the facts in them are shared."""
        names = _changing_fields(type(self))
        return self.model_copy(update={name: _copied(getattr(self, name)) for name in names})


@cache
def _changing_fields(kind: type[MutableModel]) -> tuple[str, ...]:
    """Cached for each class: a session has hundreds of fields and is copied for every event."""
    fields = kind.model_fields.items()
    return tuple(name for name, field in fields if _changes(field.annotation))


def _changes(annotation: object) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, (MutableModel, list, dict)):
        return True
    return get_origin(annotation) in (list, dict) or any(map(_changes, get_args(annotation)))


def _copied(value: object) -> object:
    match value:
        case list():
            items = cast("list[object]", value)
            living = bool(items) and isinstance(
                items[0], MutableModel
            )  # a list holds only one kind of item
            return [_copied(item) for item in items] if living else [*items]
        case dict():
            return {**cast("dict[str, object]", value)}
        case MutableModel():
            return value.copied()
        case _:
            return value
