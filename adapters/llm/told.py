"""Reads what a CLI prints as JSON: its answer, or why there is none. Nothing is believed to be there. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from adapters.llm.problem import read_problem

_Said = Mapping[str, object]
_NOTHING: _Said = {}


@dataclass(frozen=True)
class Told:
    """All that matters of one run."""

    text: str = ""
    failure: str = ""
    """In the CLI's own words; empty: it did not fail."""
    status: int = 0
    """The HTTP status its own endpoint gave it; 0: not told."""
    stopped: str = ""
    """Why the model stopped, where it is told."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    model: str = ""


def told_by_claude(output: str) -> Told:
    """`--output-format=json` prints one object; with some settings it is the last of a list."""
    found = [said for said in _objects(output) if said.get("type") == "result"]
    if not found:
        return Told()
    said = found[-1]
    usage = _part(said, "usage")
    prompt = sum(
        _number(usage, name)
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    return Told(
        text="" if said.get("is_error") else _text(said, "result"),
        failure=_failure_of_claude(said) if said.get("is_error") else "",
        status=_number(said, "api_error_status"),
        stopped=_text(said, "stop_reason"),
        prompt_tokens=prompt,
        reply_tokens=_number(usage, "output_tokens"),
        model=next(iter(_part(said, "modelUsage")), ""),
    )


def _failure_of_claude(said: _Said) -> str:
    errors = said.get("errors")
    listed = "; ".join(map(str, cast("list[object]", errors))) if isinstance(errors, list) else ""
    return _text(said, "result") or listed or _text(said, "subtype") or "no reason was given"


def told_by_codex(output: str) -> Told:
    """`exec --json` prints an event a line; the last message is the answer."""
    text = failure = ""
    ended, usage = False, _NOTHING
    for said in _objects(output):
        match said.get("type"):
            case "item.completed" if _part(said, "item").get("type") == "agent_message":
                text = _text(_part(said, "item"), "text")
            case "turn.completed":
                ended, usage, failure = True, _part(said, "usage"), ""
            case "turn.failed":
                failure = _unwrapped(_text(_part(said, "error"), "message"))
            case "error":
                # Also told of each try that is made again; only the end of the turn decides.
                failure = _unwrapped(_text(said, "message"))
            case _:
                pass
    if text and not ended:
        failure = failure or "its turn did not come to an end"
    return Told(
        text="" if failure else text,
        failure=failure,
        prompt_tokens=_number(usage, "input_tokens"),
        reply_tokens=_number(usage, "output_tokens"),
    )


def _unwrapped(message: str) -> str:
    """Some messages are the endpoint's own error object, as text."""
    inner = next(_objects(message), None)
    return read_problem(0, inner, {}).message if inner else message or "no reason was given"


def _objects(output: str) -> Iterator[_Said]:
    """Every JSON object that stands on a line of its own, or in a list on one. Other lines are somebody's remarks."""
    for line in output.splitlines():
        if not line.lstrip().startswith(("{", "[")):
            continue
        try:
            found: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        listed = cast("list[object]", found) if isinstance(found, list) else [found]
        yield from (cast("_Said", one) for one in listed if isinstance(one, dict))


def _part(said: _Said, name: str) -> _Said:
    found = said.get(name)
    return cast("_Said", found) if isinstance(found, dict) else {}


def _text(said: _Said, name: str) -> str:
    found = said.get(name)
    return found if isinstance(found, str) else ""


def _number(said: _Said, name: str) -> int:
    found = said.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0
