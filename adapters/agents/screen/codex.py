"""The events of `codex exec --json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from adapters.agents.screen.events import Event, event_in, first_line, part, parts, text, unwrapped
from adapters.agents.screen.report import Report, number

MOST = 64 << 20
"""Bytes read of the record of a conversation."""


class Codex:
    def __init__(self, report: Report, environ: Mapping[str, str]) -> None:
        self._report = report
        self._environ = environ
        self._before = (0, 0)
        """Tokens of earlier runs of the conversation: it counts on."""

    def read(self, event: Event) -> Iterator[str]:
        match event:
            case {"type": "thread.started", "thread_id": str(thread)}:
                self._report.conversation = thread
                self._before = counted(record_of(thread, self._environ))
                yield f"conversation {thread}"
            case {"type": "item.started" | "item.completed"}:
                yield from self._item(event, part(event, "item"))
            case {"type": "turn.completed"}:
                yield from self._completed(part(event, "usage"))
            case {"type": "turn.failed"}:
                self._report.fail(unwrapped(text(part(event, "error").get("message"))))
                yield f"failed: {first_line(self._report.error)}"
            case {"type": "error", "message": str(words)}:
                # it may still try again: what counts is how the turn ends
                yield f"  ✗ {first_line(unwrapped(words))}"
            case _:
                pass

    def over(self) -> Iterator[str]:
        yield from ()

    def _completed(self, usage: Event) -> Iterator[str]:
        given, made = number(usage.get("input_tokens")), number(usage.get("output_tokens"))
        self._report.use(max(0, given - self._before[0]), max(0, made - self._before[1]))
        yield "done"

    def _item(self, event: Event, item: Event) -> Iterator[str]:
        completed = event.get("type") == "item.completed"
        match item:
            case {"type": "agent_message", "text": str(words)} if completed:
                self._report.message = words
                yield from words.splitlines()
            case {"type": "command_execution", "command": str(command)} if not completed:
                yield f"● {first_line(command)}"
            case {"type": "command_execution", "status": "failed"}:
                yield f"  ✗ exit code {item.get('exit_code')}"
            case {"type": "file_change"} if completed:
                for change in parts(item.get("changes")):
                    yield f"● {text(change.get('kind')) or 'change'} {text(change.get('path'))}"
            case {"type": "mcp_tool_call", "tool": str(name)} if not completed:
                yield f"● {text(item.get('server'))} {name}"
            case {"type": "web_search", "query": str(query)} if completed:
                yield f"● search {first_line(query)}"
            case {"type": "error", "message": str(words)}:
                yield f"  ! {first_line(words)}"
            case _:
                pass


def record_of(thread: str, environ: Mapping[str, str]) -> Path | None:
    """Where the CLI keeps the conversation."""
    home = environ.get("CODEX_HOME") or str(Path(environ.get("HOME", "/")) / ".codex")
    if not thread.replace("-", "").isalnum():
        return None
    try:
        return next(Path(home).glob(f"sessions/*/*/*/rollout-*{thread}.jsonl"), None)
    except OSError:
        return None


def counted(record: Path | None) -> tuple[int, int]:
    """The tokens a conversation had used when it was last told."""
    found = (0, 0)
    try:
        if record is None or record.stat().st_size > MOST:
            return found
        with record.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if "total_token_usage" in line:
                    total = part(event_in(line) or {}, "payload", "info", "total_token_usage")
                    told = number(total.get("input_tokens")), number(total.get("output_tokens"))
                    found = told if any(told) else found
    except OSError:
        return found
    return found
