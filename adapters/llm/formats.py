"""The ways to ask for JSON, best first, and which of them each endpoint and model has shown not to take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

Key = tuple[str, str]
"""An endpoint, and the name of a model there."""

_PATIENCE = 2
"""Answers of no use in a row until the next way is tried."""


class Formats:
    """Learnt while the program runs. With fewer formats an endpoint still serves: the prompt says what is wanted."""

    def __init__(self) -> None:
        self._turned_down: dict[Key, int] = {}
        """How many of the formats are of no use there."""
        self._useless: dict[Key, int] = {}
        """How many answers in a row were of no use."""

    def level(self, key: Key, schema: dict[str, object] | None) -> int:
        """Which of the ways for this schema is to be used now."""
        return min(self._turned_down.get(key, 0), len(ways(schema)) - 1)

    def turn_down(self, key: Key, level: int) -> None:
        """This way is not taken there. Said twice, by two questions asked at once, it is the same news."""
        self._turned_down[key] = max(self._turned_down.get(key, 0), level + 1)
        self._useless.pop(key, None)

    def learn(self, key: Key, level: int, *, useful: bool) -> None:
        """What came of asking in this way: an endpoint may take a format, and then answer with nothing of use."""
        if useful:
            self._useless.pop(key, None)
            return
        self._useless[key] = self._useless.get(key, 0) + 1
        if self._useless[key] >= _PATIENCE:
            self.turn_down(key, level)


def ways(schema: dict[str, object] | None) -> list[dict[str, object]]:
    """What is added to a request; the last is to say it in the prompt only."""
    if schema is None:
        return [{}]
    named = {"name": "reply", "schema": schema, "strict": False}
    return [
        {"response_format": {"type": "json_schema", "json_schema": named}},
        {"response_format": {"type": "json_object"}},
        {},
    ]


def is_useful(text: str, schema: Mapping[str, object]) -> bool:
    """Whether there is an object in an answer that is not the schema itself, handed back."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, dict):
        return False
    told = cast("dict[str, object]", found)
    echoed = "properties" in schema and told.get("properties") == schema["properties"]
    return not echoed
