"""What a task's log says of a decided event: what differs in the task before and after it, and what people and the model said.

Every entry has an id made from what happened, so that it can be found out twice and written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from pydantic import JsonValue

from bot.domain.events import Event, FromPerson, Pressed, Result, Said, StepChosen, WorkJudged
from bot.domain.naming import derived_nonce
from bot.domain.results import status_of, why_not
from bot.domain.session import Session
from bot.domain.states import OverallStatus, TaskState
from bot.domain.tasklog import happened
from bot.domain.tasklog.bounds import OPENING
from bot.domain.tasklog.form import LogEntry, LogEventType, TaskLog, TaskLogStatus
from bot.domain.tasklog.happened import detail, headline
from bot.domain.tasklog.statuses import OVER, is_logged, status_of_log
from bot.domain.tasks import Task

_MOST = 200


def entries(before: Session, event: Event, after: Session) -> dict[str, list[LogEntry]]:
    """By task id; a task whose log only has to be brought up to date is there with nothing."""
    old = {task.id: task for task in before.tasks if is_logged(before, task)}
    found: dict[str, list[LogEntry]] = {}
    for task in after.tasks:
        if not is_logged(after, task):
            continue
        was = old.get(task.id)
        new = [*_said(before, event, was, task), *_differing(after, was, task, event.at)]
        if was is None:
            new = [*opening(after, task), *new]
        if new or was is None or status_of_log(before, was) is not status_of_log(after, task):
            found[task.id] = new
    return found


def whole(session: Session, task: Task) -> list[LogEntry]:
    """Everything the session itself still knows of a task: what a log must hold at least."""
    known = [*opening(session, task), *_differing(session, None, task, session.updated_at)]
    return in_order(known)


def missing(
    session: Session, task: Task, log: TaskLog | None, new: Iterable[LogEntry]
) -> list[LogEntry]:
    """What a log does not hold yet: of `new`, and of all that the session knows itself."""
    held = {entry.id for entry in log.events} if log else set[str]()
    fresh = {entry.id: entry for entry in new if entry.id not in held}
    since = log.events[-1].timestamp if log and log.events and log.dropped else None
    known = [
        fresh.pop(entry.id, entry)
        for entry in whole(session, task)
        if entry.id in fresh or not (since and entry.timestamp < since)
    ]
    return [entry for entry in (*known, *fresh.values()) if entry.id not in held]


def in_order(entries: Iterable[LogEntry]) -> list[LogEntry]:
    """By time, the request before all others."""
    return sorted(entries, key=lambda entry: (entry.id != OPENING, entry.timestamp))


def opening(session: Session, task: Task) -> Iterator[LogEntry]:
    """The request, and what was asked and answered about it."""
    intent, began = session.intent, session.created_at
    asked: dict[str, JsonValue] = {"text": intent.body or intent.title, "by": str(session.owner)}
    asked["task"] = f"{task.key} {task.name}"
    yield headline(OPENING, LogEventType.USER_INPUT, began, asked)
    for question in intent.clarifications:
        at = question.answered_at or began
        what: dict[str, JsonValue] = {"question": question.text, "options": [*question.options]}
        id = f"question:{question.number}"
        yield headline(id, LogEventType.RUNNER_CLARIFICATION, at, what)
        if question.answer is not None:
            answer: dict[str, JsonValue] = {"response": question.answer}
            if question.answer in question.options:
                answer["selected_option"] = question.answer
            id = f"answer:{question.number}"
            yield headline(id, LogEventType.USER_RESPONSE, at, answer)


def _differing(session: Session, was: Task | None, task: Task, at: datetime) -> Iterator[LogEntry]:
    yield from happened.runs(was, task, at)
    yield from happened.work(was, task, at)
    for check in task.checks[len(was.checks) if was else 0 :]:
        yield happened.tested(check)
    if was and task.counters.evidence_asks > was.counters.evidence_asks:
        number = task.counters.evidence_asks
        told: dict[str, JsonValue] = {"error_message": task.next_feedback or task.blocked}
        yield headline(f"evidence:{number}", LogEventType.EVIDENCE_MISSING, at, told)
    ended = task.state in (*OVER, TaskState.BLOCKED)
    if ended and (was is None or was.state is not task.state or was.blocked != task.blocked):
        yield _end(session, task, at)


def _end(session: Session, task: Task, at: datetime) -> LogEntry:
    """It is over, or can go no further without a person."""
    status, log_status = status_of(session, task), status_of_log(session, task)
    content: dict[str, JsonValue] = {"status": status.value, "state": task.state.value}
    there = [file.path for file in task.verified_files if file.exists]
    content["files_modified"] = [*there[:_MOST]]
    if task.evidence_refs:
        content["evidence_ref"] = task.evidence_refs[-1]
    if status is not OverallStatus.COMPLETE:
        content["error_message"] = why_not(session, task)
    elif task.result and task.result.summary:
        content["summary"] = task.result.summary
    done = task.state in (TaskState.COMPLETED, TaskState.FAILED) and task.completed_at
    id = derived_nonce(task.state, str(len(task.runs)), str(len(task.checks)), task.blocked)
    return headline(f"end:{id}", _END_TYPES[log_status], done or at, content)


_END_TYPES = {
    TaskLogStatus.COMPLETE: LogEventType.TASK_COMPLETED,
    TaskLogStatus.ERROR: LogEventType.TASK_ERROR,
    TaskLogStatus.INCOMPLETE: LogEventType.TASK_INCOMPLETE,
}


def _said(before: Session, event: Event, was: Task | None, task: Task) -> Iterator[LogEntry]:
    if isinstance(event, FromPerson):
        if _is_about(event, was, task):
            yield _response(event)
    elif isinstance(event, Result) and event.usage.calls and _concerns(before, event, task):
        mark = derived_nonce(event.id)
        asked = _model(event) | {"prompt_summary": type(event).__name__}
        asked["tokens_input"] = event.usage.prompt_tokens
        yield detail(f"asked:{mark}", LogEventType.LLM_MEDIATION_REQUEST, event.at, asked)
        answer = _model(event) | {"response_type": _answer(event)}
        answer["tokens_output"] = event.usage.reply_tokens
        answer["latency_ms"] = event.usage.milliseconds
        if isinstance(event, WorkJudged):
            answer["reasons"] = [*event.verdict.reasons, *event.verdict.missing]
        yield detail(f"replied:{mark}", LogEventType.LLM_MEDIATION_RESPONSE, event.at, answer)


def _model(event: Result) -> dict[str, JsonValue]:
    """Which one was asked."""
    return {"provider": event.usage.provider, "model": event.usage.model}


def _is_about(event: FromPerson, was: Task | None, task: Task) -> bool:
    """Pressed on its card, or something that changed it."""
    if isinstance(event, Pressed) and event.about.partition(":")[0] == task.id:
        return True
    if was is None:
        return False
    alive = was.run.alive if was.run else False
    return was.state is not task.state or alive != (task.run.alive if task.run else False)


def _response(event: FromPerson) -> LogEntry:
    content: dict[str, JsonValue] = {"by": str(event.by)}
    if isinstance(event, Pressed):
        content |= {"response": event.text or event.verb.value, "selected_option": event.verb.value}
    elif isinstance(event, Said):
        content["response"] = event.text
    else:
        content["response"] = getattr(event, "text", "") or type(event).__name__
    return headline(
        f"said:{derived_nonce(event.id)}", LogEventType.USER_RESPONSE, event.at, content
    )


def _concerns(before: Session, event: Result, task: Task) -> bool:
    """Whether what the model answered was asked about this task."""
    if isinstance(event, StepChosen):
        was = before.task(task.id)
        return bool(was and was.step and was.step.id == event.step_id)
    return getattr(event, "task_id", "") == task.id


def _answer(event: Result) -> str:
    if isinstance(event, StepChosen):
        return event.option
    return event.verdict.outcome.value if isinstance(event, WorkJudged) else "text"
