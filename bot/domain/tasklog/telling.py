"""Logs as a card shows them: all of a session in a table, or one of a task, in its summary or in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from bot.domain.layout.phrases import counted
from bot.domain.sheets import Element, Fields, Table, Text
from bot.domain.tasklog.form import LogEntry, TaskLog, Visibility

_ROWS = {Visibility.SUMMARY: 40, Visibility.FULL: 80}
_LINE = {Visibility.SUMMARY: 160, Visibility.FULL: 400}
_NOT_SAID = frozenset({"run_id", "number", "verification_root", "status", "state", "task"})


def told(logs: Sequence[TaskLog], task: str = "", level: str = "") -> tuple[Element, ...]:
    """`task` is a key, an id or the log's own number; an unknown level is the summary."""
    if not logs:
        return (Text(text="There is nothing to show yet."),)
    if not task:
        return tuple(_all(logs))
    log = named(logs, task)
    if log is None:
        known = ", ".join(one.key for one in logs[:40])
        return (Text(text=f"There is no log of {task}. There are: {known}."),)
    full = level.strip().lower() == Visibility.FULL
    return tuple(_one(log, Visibility.FULL if full else Visibility.SUMMARY))


def named(logs: Sequence[TaskLog], name: str) -> TaskLog | None:
    """By key or id of the task, or by the number of the log."""
    wanted = name.strip().lower()
    for number, log in enumerate(logs, 1):
        if wanted in (log.key.lower(), log.task_id.lower(), f"task-{number:03d}"):
            return log
    begun = [log for log in logs if len(wanted) >= 4 and log.task_id.lower().startswith(wanted)]
    return begun[0] if len(begun) == 1 else None


def _all(logs: Sequence[TaskLog]) -> Iterator[Element]:
    rows = tuple(
        (log.key, log.name, log.status, str(log.summary.total_events), _when(log))
        for log in logs[:100]
    )
    yield Table(head=("Task", "What", "Status", "Events", "Ended"), rows=rows)
    yield Text(text="logs T001 shows one of them, logs T001 full all of it.")


def _when(log: TaskLog) -> str:
    return f"{log.ended_at:%Y-%m-%d %H:%M}" if log.ended_at else "–"


def _one(log: TaskLog, level: Visibility) -> Iterator[Element]:
    yield Fields(pairs=tuple(_head(log)))
    shown = [
        entry
        for entry in log.events
        if level is Visibility.FULL or entry.visibility_level is Visibility.SUMMARY
    ]
    last = shown[-_ROWS[level] :]
    if left := len(shown) - len(last) + log.dropped:
        yield Text(text=f"{counted(left, 'earlier event')} not shown.")
    rows = tuple(_row(entry, _LINE[level]) for entry in last)
    yield Table(head=("Time", "Event", "Details"), rows=rows)


def _head(log: TaskLog) -> Iterator[tuple[str, str]]:
    yield ("Task", f"{log.key} {log.name}")
    yield ("Status", log.status.value)
    if log.error_reason:
        yield ("Because", log.error_reason[: _LINE[Visibility.FULL]])
    if log.evidence_summary:
        yield ("Evidence", log.evidence_summary.verification_reason)
    if log.verification_root:
        yield ("Worktree", log.verification_root)


def _row(entry: LogEntry, longest: int) -> tuple[str, ...]:
    parts = [
        f"{key.replace('_', ' ')}: {text}"
        for key, value in entry.content.items()
        if key not in _NOT_SAID and (text := _plain(value))
    ]
    line = " · ".join(parts)
    if len(line) > longest:
        line = line[: longest - 1] + "…"
    return (f"{entry.timestamp:%m-%d %H:%M:%S}", entry.event_type.value, line)


def _plain(value: JsonValue) -> str:
    """On one line, and not longer than any line is."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_plain, value[:20])))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items())
    return "" if value is None else " ".join(str(value)[: _LINE[Visibility.FULL]].split())
