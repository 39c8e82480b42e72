"""The JSON object in an answer, whatever stands around it. What is broken is never mended: it might mean anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

_OPENING = re.compile(r'\{(?=\s*["}])')
"""What can begin an object; a brace in prose hardly does."""


def object_in(text: str) -> dict[str, object]:
    """The outermost object, of several the largest. What looks like one and cannot be read is a ValueError."""
    found = max(_objects(text), key=lambda one: one[0], default=None)
    if found is None:
        raise ValueError("the answer holds no JSON object")
    return found[1]


def _objects(text: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Each object that is in no other, with its length.

    The search never looks inside one that is broken: a part of an answer that breaks off is not the answer.
    """
    decoder = json.JSONDecoder()
    at = _OPENING.search(text)
    while at:
        try:
            found, end = decoder.raw_decode(text, at.start())
        except json.JSONDecodeError as broken:
            where = f"line {broken.lineno} column {broken.colno}"
            raise ValueError(f"the JSON is broken at {where}: {broken.msg}") from broken
        yield end - at.start(), cast("dict[str, object]", found)
        at = _OPENING.search(text, end)
