"""What an endpoint can do: the ways to request JSON and to offer tools, and which of them each endpoint has refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from adapters.llm.errors import Problem
from bot.core.llm import Tool

EndpointModel = tuple[str, str]
"""Base URL and model name."""

_STREAMS: tuple[dict[str, object], ...] = (
    {"stream": True, "stream_options": {"include_usage": True}},
    {"stream": True},
    {},
)
"""The ways to have an answer streamed, best first: some endpoints refuse to count its tokens, some to stream."""
_OUTPUT_FIELD, _NEWER_FIELD = "max_tokens", "max_completion_tokens"
OUTPUT_IF_UNKNOWN = 8_192
"""Tokens, where an endpoint wants to be told how long an answer may be, and nothing else is known."""
_MAX_USELESS_ANSWERS = 2
"""Consecutive useless answers after which the next way is tried."""


@dataclass(frozen=True)
class Request:
    """One way to ask a question: what is added to it for its schema and its tools."""

    key: EndpointModel
    schema: dict[str, object] | None
    """The schema that the answer must fit; None if it may be any text."""
    level: int
    """Index of the format that asks for it."""
    tools: tuple[Tool, ...]
    native: bool
    """Whether the endpoint is given the tools as such; otherwise its prompt alone tells of them."""
    stream: int
    """Index of the way to stream."""
    output: int
    """Tokens that the answer may have; 0 if that is left to the endpoint."""
    output_field: str

    @property
    def fields(self) -> dict[str, object]:
        return {
            **json_formats(self.schema)[self.level],
            **(tool_fields(self.tools) if self.native else {}),
            **_STREAMS[self.stream],
            **({self.output_field: self.output} if self.output else {}),
        }


class Capabilities:
    """What each endpoint has refused, kept while the program runs.

    An endpoint works without any format, too, because the prompt describes the JSON.
    """

    def __init__(self) -> None:
        self._turned_down: dict[EndpointModel, int] = {}
        """Number of formats, best first, that were ruled out."""
        self._useless: dict[EndpointModel, int] = {}
        """Number of consecutive useless answers."""
        self._without_tools: set[EndpointModel] = set()
        self._streams: dict[EndpointModel, int] = {}
        """Number of ways to stream, best first, that were ruled out."""
        self._output_fields: dict[EndpointModel, str] = {}
        """The name of the field that limits the answer; empty where there is none."""
        self._needs_output: set[EndpointModel] = set()

    def request(
        self,
        key: EndpointModel,
        schema: dict[str, object] | None,
        tools: Sequence[Tool],
        output: int,
    ) -> Request:
        """Return the best way to ask that the endpoint has not refused. `output`: tokens; 0 if not known."""
        native = bool(tools) and key not in self._without_tools
        # Servers that enforce a schema leave the model no way to call a tool, and some refuse to have both.
        fitting = None if native else schema
        level = min(self._turned_down.get(key, 0), len(json_formats(fitting)) - 1)
        if tools and fitting:
            level = max(1, level)
        field = self._output_fields.get(key, _OUTPUT_FIELD)
        wanted = output or (OUTPUT_IF_UNKNOWN if key in self._needs_output else 0)
        return Request(
            key,
            fitting,
            level,
            tuple(tools),
            native,
            stream=self._streams.get(key, 0),
            output=wanted if field else 0,
            output_field=field,
        )

    def record_refusal(self, request: Request, problem: Problem) -> bool:
        """Remember what the endpoint refuses. Return whether there is another way to ask."""
        if request.native and problem.dislikes_tools:
            self._without_tools.add(request.key)
            return True
        if problem.dislikes_streams and request.stream < len(_STREAMS) - 1:
            step = 1 if problem.dislikes_stream_usage else 2
            now = self._streams.get(request.key, 0)
            self._streams[request.key] = min(max(now, request.stream + step), len(_STREAMS) - 1)
            return True
        if problem.is_about_output and not problem.is_too_long:
            return self._record_output(request, problem)
        last = request.level == len(json_formats(request.schema)) - 1
        if last or not problem.dislikes_the_format:
            return False
        self._rule_out(request)
        return True

    def _record_output(self, request: Request, problem: Problem) -> bool:
        if not request.output:
            missing = request.key not in self._needs_output and "requir" in problem.whole.lower()
            if missing:
                self._needs_output.add(request.key)
            return missing
        if not 0 < problem.output_limit < request.output:
            # else it is asked again with that limit
            renamed = request.output_field == _OUTPUT_FIELD and _NEWER_FIELD in problem.whole
            self._output_fields[request.key] = _NEWER_FIELD if renamed else ""
        return True

    def record_answer(self, request: Request, text: str) -> None:
        """Record the result of a format: an endpoint may accept a format and then answer with nothing useful."""
        if request.schema is None:
            return
        if is_useful(text, request.schema):
            self._useless.pop(request.key, None)
            return
        self._useless[request.key] = self._useless.get(request.key, 0) + 1
        if self._useless[request.key] >= _MAX_USELESS_ANSWERS:
            self._rule_out(request)

    def _rule_out(self, request: Request) -> None:
        # Two concurrent questions may report the same format.
        now = self._turned_down.get(request.key, 0)
        self._turned_down[request.key] = max(now, request.level + 1)
        self._useless.pop(request.key, None)


def json_formats(schema: dict[str, object] | None) -> list[dict[str, object]]:
    """Return the fields to add to a request, best format first; the last adds none and relies on the prompt."""
    if schema is None:
        return [{}]
    named = {"name": "reply", "schema": schema, "strict": False}
    return [
        {"response_format": {"type": "json_schema", "json_schema": named}},
        {"response_format": {"type": "json_object"}},
        {},
    ]


def is_useful(text: str, schema: Mapping[str, object]) -> bool:
    """Whether the answer contains an object other than the schema itself."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, dict):
        return False
    told = cast("dict[str, object]", found)
    echoed = "properties" in schema and told.get("properties") == schema["properties"]
    return not echoed


# Tools: as the endpoint's own where it has them, otherwise as a text, in which the model asks for them in JSON.


def tool_fields(tools: Sequence[Tool]) -> dict[str, object]:
    """Return the field of a request that offers the tools."""
    return {"tools": [{"type": "function", "function": one.model_dump()} for one in tools]}


def look_in(calls: Sequence[object]) -> str:
    """Return the tool calls of a message as the text that a model without tools would have answered; empty if none.

    Arguments that are no JSON object are passed on as text under `arguments`: the caller says what is wrong with them.
    """
    looks = [look for call in calls if (look := _look(call))]
    return json.dumps({"look": looks}, ensure_ascii=False) if looks else ""


def _look(call: object) -> dict[str, object]:
    whole = cast("dict[str, object]", call) if isinstance(call, dict) else {}
    inner = whole.get("function", whole)
    function = cast("dict[str, object]", inner) if isinstance(inner, dict) else {}
    name, told = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not name:
        return {}
    try:
        found: object = json.loads(told) if isinstance(told, str) and told.strip() else told or {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return {"tool": name, "arguments": str(told)}
    return {**cast("dict[str, object]", found), "tool": name}
