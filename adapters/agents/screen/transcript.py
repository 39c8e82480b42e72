"""Adds up what a run of Claude Code has used, from the transcript that a hook names.

Only what is newer than the run's start counts, and only a file below the CLI's own folder is read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from adapters.agents.screen.claude import tokens
from adapters.agents.screen.events import Event, event_in, part, parts, text
from adapters.agents.screen.report import Kept, Report

MOST = 256 << 20
"""Bytes read of all files together."""
END = 1 << 20
"""Bytes in which the end of a turn is looked for."""
LOOKS, BETWEEN = 40, 0.05
"""So often, with so many seconds between: two seconds together."""


def keep_used(hook: Path, started: Path, report: Path) -> None:
    """Write the report of the run as it stands with this hook."""
    told = event_in(hook.read_text(encoding="utf-8", errors="replace").strip()) or {}
    since = datetime.fromtimestamp(started.stat().st_mtime, UTC)
    last = text(told.get("last_assistant_message"))
    given, made = _used_in(told, since, last)
    known = Report(message=last)
    if given or made:
        known.use(given, made)
    Kept(report).keep(known)


def _used_in(told: Event, since: datetime, last: str) -> tuple[int, int]:
    """The transcript is written behind the hooks' back: its end may be a moment late."""
    files = transcripts(text(told.get("transcript_path")), os.environ)
    for _ in range(LOOKS):
        if not files or not last or _has_said(files[0], last):
            break
        time.sleep(BETWEEN)
    return used(lines_of(files), since)


def _has_said(transcript: Path, last: str) -> bool:
    """Whether its end holds the words with which the turn ended."""
    with transcript.open("rb") as file:
        file.seek(max(0, transcript.stat().st_size - END))
        ends = file.read(END).decode("utf-8", "replace").splitlines()
    events = (event_in(line) or {} for line in ends if '"usage"' in line)
    said = (one for event in events for one in parts(part(event, "message").get("content")))
    return any(text(one.get("text")).strip() == last.strip() for one in said)


def transcripts(named: str, environ: Mapping[str, str]) -> list[Path]:
    """The file, and those of the agents it has sent out."""
    folder = environ.get("CLAUDE_CONFIG_DIR") or str(Path(environ.get("HOME", "/")) / ".claude")
    top, path = Path(folder).resolve(), Path(named).resolve()
    if not named or not path.is_relative_to(top) or path.suffix != ".jsonl" or not path.is_file():
        return []
    return [path, *sorted((path.with_suffix("") / "subagents").glob("*.jsonl"))]


def lines_of(files: Iterable[Path]) -> Iterator[str]:
    left = MOST
    for path in files:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                left -= len(line)
                if left < 0:
                    return
                yield line


def used(lines: Iterable[str], since: datetime) -> tuple[int, int]:
    """What all answers took. One answer stands in several lines; the last one has its sum."""
    answers: dict[str, tuple[int, int]] = {}
    for line in lines:
        event = event_in(line) if '"usage"' in line else None
        message = part(event or {}, "message")
        if event and message.get("id") and _moment(text(event.get("timestamp"))) >= since:
            answers[text(message["id"])] = tokens(part(message, "usage"))
    return sum(given for given, _ in answers.values()), sum(made for _, made in answers.values())


def _moment(said: str) -> datetime:
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
