"""The events of `opencode run --format json`."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.agents.screen.events import Event, first_line, part, text, tool
from adapters.agents.screen.report import Report, number


class OpenCode:
    def __init__(self, report: Report) -> None:
        self._report = report

    def read(self, event: Event) -> Iterator[str]:
        session = text(event.get("sessionID"))
        if session and not self._report.conversation:
            self._report.conversation = session
            yield f"conversation {session}"
        one = part(event, "part")
        match event.get("type"):
            case "text":
                words = text(one.get("text"))
                self._report.message = words or self._report.message
                yield from words.splitlines()
            case "tool_use":
                yield from self._tool(one)
            case "step_finish":
                self._used(one)
            case "error":
                self._report.fail(_words(part(event, "error")))
                yield f"failed: {first_line(self._report.error)}"
            case _:
                pass

    def over(self) -> Iterator[str]:
        yield from ()

    def _tool(self, one: Event) -> Iterator[str]:
        state = part(one, "state")
        yield tool(text(one.get("tool")) or "tool", state.get("input"))
        if state.get("status") == "error":
            yield f"  ✗ {first_line(state.get('error'))}"

    def _used(self, one: Event) -> None:
        tokens = part(one, "tokens")
        cache = part(tokens, "cache")
        given = sum(map(number, (tokens.get("input"), cache.get("read"), cache.get("write"))))
        self._report.error = ""  # it has gone on
        made = number(tokens.get("output")) + number(tokens.get("reasoning"))
        # it knows no price for a model of somebody's own, and says 0
        self._report.use(given, made, one.get("cost") or None, more=True)


def _words(error: Event) -> str:
    """What the error says, with what only the answer's head tells: the status, and when to come again."""
    data = part(error, "data")
    said = text(data.get("message")) or text(error.get("name"))
    status, wait = data.get("statusCode"), part(data, "responseHeaders").get("retry-after")
    head = f"HTTP {status}: " if isinstance(status, int) else ""
    return f"{head}{said}" + (f" (retry after {wait} s)" if text(wait).isdigit() else "")
