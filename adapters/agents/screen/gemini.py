"""The events of `gemini -o stream-json`."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.agents.screen.events import Event, first_line, part, text, tool, unwrapped
from adapters.agents.screen.report import Report


class Gemini:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._line = ""
        """What it has said of a line that is not over: its words come in pieces."""
        self._saying = False

    def read(self, event: Event) -> Iterator[str]:
        if event.get("type") != "message":
            yield from self.over()
        match event:
            case {"type": "init"}:
                yield f"conversation {event.get('session_id', '?')}, model {event.get('model', '?')}"
            case {"type": "message", "role": "assistant", "content": str(words)}:
                yield from self._said(words)
            case {"type": "tool_use", "tool_name": str(name)}:
                yield tool(name, event.get("parameters"))
            case {"type": "tool_result", "status": "error"}:
                said = text(part(event, "error").get("message")) or text(event.get("output"))
                yield f"  ✗ {first_line(said)}"
            case {"type": "error"}:
                yield f"  ✗ {first_line(unwrapped(text(event.get('message'))))}"
            case {"type": "result"}:
                yield from self._result(event)
            case _:
                pass

    def over(self) -> Iterator[str]:
        if self._line:
            yield self._line
        self._line, self._saying = "", False

    def _said(self, words: str) -> Iterator[str]:
        self._report.message = self._report.message + words if self._saying else words
        self._saying = True
        *whole, self._line = (self._line + words).split("\n")
        yield from whole

    def _result(self, event: Event) -> Iterator[str]:
        stats = part(event, "stats")
        if stats.get("total_tokens"):
            self._report.use(stats.get("input_tokens"), stats.get("output_tokens"))
        if event.get("status") == "error":
            self._report.fail(unwrapped(text(part(event, "error").get("message"))))
            yield f"failed: {first_line(self._report.error)}"
        else:
            yield "done"
