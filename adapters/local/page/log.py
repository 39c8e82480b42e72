"""The screen of a session's log: what was said, and what happened to its tasks, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from adapters.local.page.frame import Context, PageParts
from bot.core.errors import PortError
from bot.core.projections.task_log_views import entry_details
from bot.core.projections.task_logs import LogEventType, TaskLog, Visibility
from bot.core.session import Session, Speaker
from bot.core.text import cut

PAGE_LINES = 200
MAX_PAGES = 50
_LONGEST = {Visibility.SUMMARY: 300, Visibility.FULL: 4_000}
_FAILED = (LogEventType.TASK_ERROR, LogEventType.TASK_INCOMPLETE, LogEventType.EVIDENCE_MISSING)
_SPEAKERS = {Speaker.USER: "you", Speaker.ASSISTANT: "gwt-bot", Speaker.SYSTEM: "system"}


class LogLine(NamedTuple):
    at: datetime
    task: str
    """Its key; empty for what was said."""
    what: str
    says: str
    failed: bool = False


async def log(parts: PageParts, session: Session, query: dict[str, str]) -> Context:
    level = Visibility.FULL if query.get("level") == Visibility.FULL else Visibility.SUMMARY
    wanted = query.get("task", "")
    try:
        logs, problem = await parts.data.logs(session.id), ""
    except PortError as error:
        logs, problem = (), error.reason
    lines = [*(_said(session, level) if wanted in ("", "thread") else ()), *_logged(logs, level)]
    lines = [one for one in lines if wanted in ("", one.task or "thread")]
    lines.sort(key=lambda one: one.at, reverse=True)
    more = query.get("more", "")
    pages = min(MAX_PAGES, max(1, int(more))) if more.isdecimal() and len(more) < 4 else 1
    shown = lines[: pages * PAGE_LINES]
    return {
        "lines": shown,
        "older": len(lines) - len(shown),
        "next": pages + 1 if pages < MAX_PAGES else 0,
        "dropped": sum(one.dropped for one in logs if wanted in ("", one.key)),
        "level": str(level),
        "task": wanted,
        "keys": [(one.key, one.name) for one in logs],
        "problem": problem,
    }


def _said(session: Session, level: Visibility) -> Iterator[LogLine]:
    for one in session.conversation:
        if one.role is not Speaker.SYSTEM or level is Visibility.FULL:
            text = one.content if level is Visibility.FULL else " ".join(one.content.split())
            yield LogLine(one.timestamp, "", _SPEAKERS[one.role], cut(text, _LONGEST[level]))


def _logged(logs: Sequence[TaskLog], level: Visibility) -> Iterator[LogLine]:
    for one in logs:
        for entry in one.events:
            if level is Visibility.FULL or entry.visibility_level is Visibility.SUMMARY:
                what = entry.event_type.replace("_", " ").lower()
                says = entry_details(entry, _LONGEST[level])
                failed = entry.event_type in _FAILED
                yield LogLine(entry.timestamp, one.key, what, says, failed)
