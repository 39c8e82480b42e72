"""Claude Code: the events of `claude --print --output-format=stream-json`, and the usage of a run, summed up from its
transcript.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from adapters.agents.screen.events import (
    CliEvent,
    ReportFile,
    RunReport,
    count_of,
    first_line,
    nested,
    parse_event,
    parts,
    text,
    tool_line,
)

# The events.


class Claude:
    def __init__(self, report: RunReport) -> None:
        self._report = report

    def read(self, event: CliEvent) -> Iterator[str]:
        match event:
            case {"type": "system", "subtype": "init"}:
                yield f"conversation {event.get('session_id', '?')}, model {event.get('model', '?')}"
            case {"type": "assistant"}:
                for one in parts(nested(event, "message").get("content")):
                    yield from self._said(one)
            case {"type": "user"}:
                for one in parts(nested(event, "message").get("content")):
                    if one.get("is_error"):
                        yield f"  ✗ {first_line(one.get('content'))}"
            case {"type": "result"}:
                yield from self._result(event)
            case _:
                pass

    def finish(self) -> Iterator[str]:
        yield from ()

    def _said(self, one: CliEvent) -> Iterator[str]:
        match one:
            case {"type": "text", "text": str(words)}:
                self._report.message = words
                yield from words.splitlines()
            case {"type": "tool_use", "name": str(name)}:
                yield tool_line(name, one.get("input"))
            case _:
                pass

    def _result(self, event: CliEvent) -> Iterator[str]:
        failed = bool(event.get("is_error"))
        said = text(event.get("result"))
        cost = event.get("total_cost_usd")
        self._report.set_usage(*tokens(nested(event, "usage")), cost)
        facts = [f"{event['num_turns']} turns"] if event.get("num_turns") else []
        if isinstance(cost, int | float):
            facts.append(f"${cost:.2f}")
        yield f"{'failed' if failed else 'done'}: {', '.join(facts)}".rstrip(" :")
        if failed:
            self._report.fail(said or text(event.get("subtype")))
            yield first_line(event.get("result"))
        elif said:
            self._report.message = said


def tokens(usage: CliEvent) -> tuple[int, int]:
    """Return input tokens, cached or not, and output tokens."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(count_of(usage.get(name)) for name in names), count_of(usage.get("output_tokens"))


# The usage of a run, summed up from the transcript that a hook names. Only entries newer than the run's start count,
# and only a file below the CLI's own folder is read.

MAX_BYTES = 256 << 20
"""The most bytes read of all files together."""
END_BYTES = 1 << 20
"""The end of a turn is looked for in this many last bytes."""
TRIES, PAUSE = 40, 0.05
"""Number of tries and the seconds between them: two seconds in total."""


def write_usage_report(hook: Path, started: Path, report: Path) -> None:
    """Write the report of the run as of this hook."""
    told = parse_event(hook.read_text(encoding="utf-8", errors="replace").strip()) or {}
    since = datetime.fromtimestamp(started.stat().st_mtime, UTC)
    last = text(told.get("last_assistant_message"))
    given, made = _usage_since(told, since, last)
    known = RunReport(message=last)
    if given or made:
        known.set_usage(given, made)
    ReportFile(report).write_if_changed(known)


def _usage_since(told: CliEvent, since: datetime, last: str) -> tuple[int, int]:
    # The transcript is written asynchronously, so its end may be a moment late.
    files = transcripts(text(told.get("transcript_path")), os.environ)
    for _ in range(TRIES):
        if not files or not last or _has_said(files[0], last):
            break
        time.sleep(PAUSE)
    return usage_in(lines_of(files), since)


def _has_said(transcript: Path, last: str) -> bool:
    """Whether its end contains the last message of the turn."""
    with transcript.open("rb") as file:
        file.seek(max(0, transcript.stat().st_size - END_BYTES))
        ends = file.read(END_BYTES).decode("utf-8", "replace").splitlines()
    events = (parse_event(line) or {} for line in ends if '"usage"' in line)
    said = (one for event in events for one in parts(nested(event, "message").get("content")))
    return any(text(one.get("text")).strip() == last.strip() for one in said)


def transcripts(named: str, environ: Mapping[str, str]) -> list[Path]:
    """Return the transcript and those of its subagents; empty if it is not below the CLI's own folder."""
    folder = environ.get("CLAUDE_CONFIG_DIR") or str(Path(environ.get("HOME", "/")) / ".claude")
    top, path = Path(folder).resolve(), Path(named).resolve()
    if not named or not path.is_relative_to(top) or path.suffix != ".jsonl" or not path.is_file():
        return []
    return [path, *sorted((path.with_suffix("") / "subagents").glob("*.jsonl"))]


def lines_of(files: Iterable[Path]) -> Iterator[str]:
    left = MAX_BYTES
    for path in files:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                left -= len(line)
                if left < 0:
                    return
                yield line


def usage_in(lines: Iterable[str], since: datetime) -> tuple[int, int]:
    """Return the usage of all answers. An answer is on several lines; the last one has its total."""
    answers: dict[str, tuple[int, int]] = {}
    for line in lines:
        event = parse_event(line) if '"usage"' in line else None
        message = nested(event or {}, "message")
        if event and message.get("id") and _time_of(text(event.get("timestamp"))) >= since:
            answers[text(message["id"])] = tokens(nested(message, "usage"))
    return sum(given for given, _ in answers.values()), sum(made for _, made in answers.values())


def _time_of(said: str) -> datetime:
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
