"""A decision works on a copy: whatever it does to a session, the session it began with stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from bot.core.facts import MutableModel
from bot.core.session import Session
from tests.adapters.store.samples import everything

Changing = MutableModel | list[object] | dict[object, object]


def changing(value: object, path: str = "session") -> Iterator[tuple[str, Changing]]:
    """Everything inside that can be changed in place, however deep it is. Facts are frozen, and tuples hold facts only."""
    match value:
        case MutableModel():
            yield path, value
            for name, inner in vars(value).items():
                yield from changing(inner, f"{path}.{name}")
        case list():
            items = cast("list[object]", value)
            yield path, items
            for number, item in enumerate(items):
                yield from changing(item, f"{path}.{number}")
        case dict():
            yield path, cast("dict[object, object]", value)
        case _:
            return


PATHS = [path for path, _ in changing(everything().session)]


def spoil(there: Changing) -> None:
    if isinstance(there, MutableModel):
        for name in type(there).model_fields:
            setattr(there, name, None)
    else:
        there.clear()


def test_every_part_of_a_session_is_among_what_can_change() -> None:
    parts = {
        name
        for name, value in vars(everything().session).items()
        if isinstance(value, MutableModel)
    }
    assert len(parts) > 10
    assert {f"session.{name}" for name in parts} <= {*PATHS}
    assert {*PATHS} > {"session.tasks.0.next_run", "session.tasks.0.runs", "session.agents.others"}


@pytest.mark.parametrize("path", PATHS)
def test_what_is_done_to_any_part_of_a_copy_leaves_the_original_as_it_was(path: str) -> None:
    original = everything().session
    copy = original.copied()
    assert copy == original
    spoil(dict(changing(copy))[path])
    assert copy != original
    assert original == everything().session


def test_facts_are_not_copied() -> None:
    original: Session = everything().session
    assert original.copied().intent is original.intent
