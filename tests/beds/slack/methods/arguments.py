"""The arguments of a call, wherever in the request they stood."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from tests.beds.slack.names import Json, Refusal

_STRUCTURED = ("blocks", "view", "metadata", "attachments", "files", "prompts")
_FALSE = (None, "", "0", "false", "False", 0, False)


class Arguments:
    def __init__(self, given: Json) -> None:
        self.given = given

    def __contains__(self, name: str) -> bool:
        return self.given.get(name) is not None

    def needed(self, name: str) -> str:
        if not (value := self.text(name)):
            problem = f"[ERROR] missing required field: {name}"
            raise Refusal("invalid_arguments", response_metadata={"messages": [problem]})
        return value

    def text(self, name: str) -> str:
        value: Any = self.given.get(name)
        return "" if value is None else str(value)

    def number(self, name: str, default: int) -> int:
        value = self.text(name) or str(default)
        if not value.isdecimal():
            raise Refusal("invalid_arguments")
        return int(value)

    def flag(self, name: str) -> bool:
        return self.given.get(name) not in _FALSE

    def object(self, name: str) -> Any:
        return self.given.get(name)


async def arguments_of(request: web.Request) -> Arguments:
    """Query, form and JSON together; what is structured may come as JSON in a form."""
    given: Json = dict(request.query)
    if request.content_type == "application/json":
        given |= await request.json()
    else:
        given |= dict(await request.post())
    return Arguments({name: _read(name, value) for name, value in given.items()})


def _read(name: str, value: Any) -> Any:
    if name not in _STRUCTURED or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
