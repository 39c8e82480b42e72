"""The events of `claude --print --output-format=stream-json`."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.agents.screen.events import Event, first_line, part, parts, text, tool
from adapters.agents.screen.report import Report, number


class Claude:
    def __init__(self, report: Report) -> None:
        self._report = report

    def read(self, event: Event) -> Iterator[str]:
        match event:
            case {"type": "system", "subtype": "init"}:
                yield f"conversation {event.get('session_id', '?')}, model {event.get('model', '?')}"
            case {"type": "assistant"}:
                for one in parts(part(event, "message").get("content")):
                    yield from self._said(one)
            case {"type": "user"}:
                for one in parts(part(event, "message").get("content")):
                    if one.get("is_error"):
                        yield f"  ✗ {first_line(one.get('content'))}"
            case {"type": "result"}:
                yield from self._result(event)
            case _:
                pass

    def over(self) -> Iterator[str]:
        yield from ()

    def _said(self, one: Event) -> Iterator[str]:
        match one:
            case {"type": "text", "text": str(words)}:
                self._report.message = words
                yield from words.splitlines()
            case {"type": "tool_use", "name": str(name)}:
                yield tool(name, one.get("input"))
            case _:
                pass

    def _result(self, event: Event) -> Iterator[str]:
        failed = bool(event.get("is_error"))
        said = text(event.get("result"))
        cost = event.get("total_cost_usd")
        self._report.use(*tokens(part(event, "usage")), cost)
        facts = [f"{event['num_turns']} turns"] if event.get("num_turns") else []
        if isinstance(cost, int | float):
            facts.append(f"${cost:.2f}")
        yield f"{'failed' if failed else 'done'}: {', '.join(facts)}".rstrip(" :")
        if failed:
            self._report.fail(said or text(event.get("subtype")))
            yield first_line(event.get("result"))
        elif said:
            self._report.message = said


def tokens(usage: Event) -> tuple[int, int]:
    """What went in, from the cache or not, and what came out."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(number(usage.get(name)) for name in names), number(usage.get("output_tokens"))
