"""Puts the pieces of a streamed answer together, so that it reads like one that came in one piece. No I/O.

Only the text, the calls of tools and the usage are kept. Reasoning is not: it can be many times longer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from bot.core.errors import Unavailable

_AGAIN = "The bot asks again by itself."


class StreamedAnswer:
    """One answer, fed with the bytes of its server-sent events as they arrive."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = b""
        """The beginning of a line that is not complete yet."""
        self._event, self._data = "", list[str]()
        self._size = 0
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[object, dict[str, str]] = {}
        self._older_call: dict[str, str] = {}
        self._found: dict[str, object] = {}
        """The last model, usage, finish_reason and error."""
        self.ended = False
        """Whether the server has said that nothing follows."""

    @property
    def exceeds_limit(self) -> bool:
        return self._size + len(self._rest) > self._limit

    def feed(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            if self.ended or self.exceeds_limit:
                return
            self._read_line(line.rstrip(b"\r").decode("utf-8", "replace"))

    def whole(self) -> bytes:
        """Return the answer as the body of one that was not streamed."""
        if self._rest:
            self.feed(b"\n")
        self._read_line("")
        if error := self._found.get("error"):
            return json.dumps({"error": error}).encode()
        if not self._found and not self._text:
            raise Unavailable("the LLM endpoint sent an answer without a message", _AGAIN)
        message: dict[str, object] = {"content": "".join(self._text)}
        if self._refusal:
            message["refusal"] = "".join(self._refusal)
        if self._calls:
            message["tool_calls"] = [{"function": call} for call in self._calls.values()]
        if self._older_call:
            message["function_call"] = self._older_call
        choice = {"message": message, "finish_reason": self._found.get("finish_reason")}
        about = {name: self._found[name] for name in ("model", "usage") if name in self._found}
        return json.dumps({"choices": [choice], **about}).encode()

    def _read_line(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "" and self._data:
            data, event = "\n".join(self._data), self._event
            self._data, self._event = [], ""
            self._read_event(event, data)
        elif name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value

    def _read_event(self, event: str, data: str) -> None:
        if data.strip() == "[DONE]":
            self.ended = True
            return
        try:
            found: object = json.loads(data)
        except (ValueError, RecursionError) as broken:
            raise Unavailable(
                "the LLM endpoint sent an answer that cannot be read", _AGAIN
            ) from broken
        told = _object(found)
        if event == "error" and not told.get("error"):
            told = {"error": found}
        for name in ("model", "usage", "error"):
            if told.get(name):
                self._found[name] = told[name]
        choices = told.get("choices")
        if isinstance(choices, list) and choices:
            self._read_choice(_object(cast("list[object]", choices)[0]))

    def _read_choice(self, choice: Mapping[str, object]) -> None:
        if choice.get("index") not in (0, None):
            return  # nobody asked for a second answer
        if choice.get("finish_reason"):
            self._found["finish_reason"] = choice["finish_reason"]
        delta = _object(choice.get("delta")) or _object(choice.get("message"))
        for part in _texts(delta.get("content")):
            self._keep(self._text, part)
        for part in _texts(delta.get("refusal")):
            self._keep(self._refusal, part)
        calls = delta.get("tool_calls")
        for one in cast("list[object]", calls) if isinstance(calls, list) else []:
            call = _object(one)
            # servers that do not number them send each call whole
            number = call.get("index", len(self._calls))
            if isinstance(number, int):
                self._add_call(self._calls.setdefault(number, {}), call.get("function"))
        if delta.get("function_call"):
            self._add_call(self._older_call, delta["function_call"])

    def _add_call(self, call: dict[str, str], function: object) -> None:
        told = _object(function)
        for name in ("name", "arguments"):
            value = told.get(name)
            if isinstance(value, dict):
                value = json.dumps(value)
            if isinstance(value, str):
                self._size += len(value)
                call[name] = call.get(name, "") + value

    def _keep(self, parts: list[str], text: str) -> None:
        self._size += len(text.encode("utf-8", "replace"))
        parts.append(text)


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _texts(content: object) -> list[str]:
    """Return the texts of a delta: a string, or a list of parts, some of which are reasoning."""
    if isinstance(content, str):
        return [content]
    parts = cast("list[object]", content) if isinstance(content, list) else []
    return [
        str(part.get("text") or "") for part in map(_object, parts) if part.get("type") == "text"
    ]
