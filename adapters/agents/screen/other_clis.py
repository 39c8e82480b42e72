"""The events of Codex, Gemini CLI and OpenCode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from adapters.agents.screen.events import (
    CliEvent,
    RunReport,
    count_of,
    error_text,
    first_line,
    nested,
    parse_event,
    parts,
    text,
    tool_line,
)

# The events of `codex exec --json`.

MAX_BYTES = 64 << 20
"""The most bytes read of the record of a conversation."""


class Codex:
    def __init__(self, report: RunReport, environ: Mapping[str, str]) -> None:
        self._report = report
        self._environ = environ
        self._earlier_usage = (0, 0)
        """Tokens of earlier runs of the conversation, because its counts continue."""

    def read(self, event: CliEvent) -> Iterator[str]:
        match event:
            case {"type": "thread.started", "thread_id": str(thread)}:
                self._report.conversation = thread
                self._earlier_usage = tokens_used(conversation_file(thread, self._environ))
                yield f"conversation {thread}"
            case {"type": "item.started" | "item.completed"}:
                yield from self._item(event, nested(event, "item"))
            case {"type": "turn.completed"}:
                yield from self._completed(nested(event, "usage"))
            case {"type": "turn.failed"}:
                self._report.fail(error_text(text(nested(event, "error").get("message"))))
                yield f"failed: {first_line(self._report.error)}"
            case {"type": "error", "message": str(words)}:
                # it may still retry: the end of the turn counts
                yield f"  ✗ {first_line(error_text(words))}"
            case _:
                pass

    def finish(self) -> Iterator[str]:
        yield from ()

    def _completed(self, usage: CliEvent) -> Iterator[str]:
        given, made = count_of(usage.get("input_tokens")), count_of(usage.get("output_tokens"))
        self._report.set_usage(
            max(0, given - self._earlier_usage[0]), max(0, made - self._earlier_usage[1])
        )
        yield "done"

    def _item(self, event: CliEvent, item: CliEvent) -> Iterator[str]:
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


def conversation_file(thread: str, environ: Mapping[str, str]) -> Path | None:
    """Return the CLI's record of the conversation, or None."""
    home = environ.get("CODEX_HOME") or str(Path(environ.get("HOME", "/")) / ".codex")
    if not thread.replace("-", "").isalnum():
        return None
    try:
        return next(Path(home).glob(f"sessions/*/*/*/rollout-*{thread}.jsonl"), None)
    except OSError:
        return None


def tokens_used(record: Path | None) -> tuple[int, int]:
    """Return the tokens of a conversation as last reported."""
    found = (0, 0)
    try:
        if record is None or record.stat().st_size > MAX_BYTES:
            return found
        with record.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if "total_token_usage" in line:
                    total = nested(parse_event(line) or {}, "payload", "info", "total_token_usage")
                    told = count_of(total.get("input_tokens")), count_of(total.get("output_tokens"))
                    found = told if any(told) else found
    except OSError:
        return found
    return found


# The events of `gemini -o stream-json`.


class Gemini:
    def __init__(self, report: RunReport) -> None:
        self._report = report
        self._line = ""
        """The unfinished line, because its text arrives in pieces."""
        self._mid_sentence = False

    def read(self, event: CliEvent) -> Iterator[str]:
        if event.get("type") != "message":
            yield from self.finish()
        match event:
            case {"type": "init"}:
                yield f"conversation {event.get('session_id', '?')}, model {event.get('model', '?')}"
            case {"type": "message", "role": "assistant", "content": str(words)}:
                yield from self._said(words)
            case {"type": "tool_use", "tool_name": str(name)}:
                yield tool_line(name, event.get("parameters"))
            case {"type": "tool_result", "status": "error"}:
                said = text(nested(event, "error").get("message")) or text(event.get("output"))
                yield f"  ✗ {first_line(said)}"
            case {"type": "error"}:
                yield f"  ✗ {first_line(error_text(text(event.get('message'))))}"
            case {"type": "result"}:
                yield from self._result(event)
            case _:
                pass

    def finish(self) -> Iterator[str]:
        if self._line:
            yield self._line
        self._line, self._mid_sentence = "", False

    def _said(self, words: str) -> Iterator[str]:
        self._report.message = self._report.message + words if self._mid_sentence else words
        self._mid_sentence = True
        *whole, self._line = (self._line + words).split("\n")
        yield from whole

    def _result(self, event: CliEvent) -> Iterator[str]:
        stats = nested(event, "stats")
        if stats.get("total_tokens"):
            self._report.set_usage(stats.get("input_tokens"), stats.get("output_tokens"))
        if event.get("status") == "error":
            self._report.fail(error_text(text(nested(event, "error").get("message"))))
            yield f"failed: {first_line(self._report.error)}"
        else:
            yield "done"


# The events of `opencode run --format json`.


class OpenCode:
    def __init__(self, report: RunReport) -> None:
        self._report = report

    def read(self, event: CliEvent) -> Iterator[str]:
        session = text(event.get("sessionID"))
        if session and not self._report.conversation:
            self._report.conversation = session
            yield f"conversation {session}"
        one = nested(event, "part")
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
                self._report.fail(_error_message(nested(event, "error")))
                yield f"failed: {first_line(self._report.error)}"
            case _:
                pass

    def finish(self) -> Iterator[str]:
        yield from ()

    def _tool(self, one: CliEvent) -> Iterator[str]:
        state = nested(one, "state")
        yield tool_line(text(one.get("tool")) or "tool", state.get("input"))
        if state.get("status") == "error":
            yield f"  ✗ {first_line(state.get('error'))}"

    def _used(self, one: CliEvent) -> None:
        tokens = nested(one, "tokens")
        cache = nested(tokens, "cache")
        given = sum(map(count_of, (tokens.get("input"), cache.get("read"), cache.get("write"))))
        self._report.error = ""  # the run has continued after an earlier error
        made = count_of(tokens.get("output")) + count_of(tokens.get("reasoning"))
        # it has no price for custom models, and reports 0
        self._report.set_usage(given, made, one.get("cost") or None, add=True)


def _error_message(error: CliEvent) -> str:
    """Return the error message with the status and the retry time from the response headers."""
    data = nested(error, "data")
    said = text(data.get("message")) or text(error.get("name"))
    status, wait = data.get("statusCode"), nested(data, "responseHeaders").get("retry-after")
    head = f"HTTP {status}: " if isinstance(status, int) else ""
    return f"{head}{said}" + (f" (retry after {wait} s)" if text(wait).isdigit() else "")
