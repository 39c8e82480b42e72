"""What happened in a session since somebody spoke last: from the session alone, no model is asked."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import AwareDatetime

from bot.domain.actions import Deed, Show, Whisper
from bot.domain.cards import AnswerCard
from bot.domain.events import Commanded
from bot.domain.layout import ago, counted, sheet, stands, used
from bot.domain.listeners import Spoken
from bot.domain.session import Session
from bot.domain.sheets import Bullets, Element, Fields, Text, Tone
from bot.domain.states import Status, TaskState
from bot.domain.tasks import Task
from bot.flow import pending, standing

MOST = 15
"""Lines under one heading."""


def digest(session: Session, event: Commanded) -> Iterator[Deed]:
    """For the one who asks, and nobody else: the others were there."""
    last = session.spoken.get(event.by.id)
    since = last.at if last else session.created_at
    title = f"Since {'you spoke last' if last else 'this began'}, {ago(since, event.at)}"
    body = tuple(_body(session, since, last, event.at))
    card = AnswerCard(key=f"answer:{event.id}", title=title, body=body)
    yield Whisper(to=event.by, card=card)


def _body(
    session: Session, since: AwareDatetime, last: Spoken | None, at: AwareDatetime
) -> Iterator[Element]:
    sections = (
        ("Waits for somebody", tuple(waiting(session))),
        ("Decided", tuple(_decided(session, since))),
        ("Finished", tuple(_finished(session, since))),
        ("Failed", tuple(_failed(session, since))),
        ("Pull requests", tuple(_pulls(session))),
    )
    news = [(title, lines) for title, lines in sections if lines]
    if not any(title != "Pull requests" for title, _ in news):
        yield Text(text="Nothing was decided, finished or lost, and nothing waits for anybody.")
    for title, lines in news:
        more = (f"… and {len(lines) - MOST} more",) if len(lines) > MOST else ()
        yield from (Text(text=title, strong=True), Bullets(items=(*lines[:MOST], *more)))
    yield Fields(pairs=tuple(_figures(session, last)))


def waiting(session: Session) -> Iterator[str]:
    """The title of each card that waits for a person."""
    if session.status is Status.FAILED:
        yield f"It failed: {session.failure}"
    for deed in pending.card(session):
        if isinstance(deed, Show) and (laid := sheet(deed.card)).tone is Tone.NEEDS_YOU:
            yield laid.title


def _decided(session: Session, since: AwareDatetime) -> Iterator[str]:
    for question in session.intent.clarifications:
        if question.answer is not None and question.answered_at and question.answered_at > since:
            by = f" ({question.answered_by})" if question.answered_by else ""
            yield f"{question.decision} {question.text} → {question.answer}{by}"
    given = session.approval
    if given and given.at > since:
        yield f"The plan, revision {given.revision}, was approved by {given.by}"


def _finished(session: Session, since: AwareDatetime) -> Iterator[str]:
    for task in session.in_state(TaskState.COMPLETED):
        if task.completed_at and task.completed_at > since:
            tests = " · tests pass" if task.checks and task.checks[-1].passed else ""
            yield f"{task.key} {task.name}{tests}"


def _failed(session: Session, since: AwareDatetime) -> Iterator[str]:
    for task in session.tasks:
        if task.state in (TaskState.FAILED, TaskState.BLOCKED):
            yield f"{task.key} {task.name}: {task.blocked}"
        elif failures := _failed_checks(task, since):
            yield f"{task.key} {task.name}: {counted(failures, 'failed check')}, being mended"


def _failed_checks(task: Task, since: AwareDatetime) -> int:
    if task.state is TaskState.COMPLETED:
        return 0
    return sum(not check.passed and check.at > since for check in task.checks)


def _pulls(session: Session) -> Iterator[str]:
    for task in session.tasks:
        if pull := task.pull_request:
            yield f"#{pull.number} {task.key} {task.name}{': merged' if pull.merged else ''}"


def _figures(session: Session, last: Spoken | None) -> Iterator[tuple[str, str]]:
    done = len(session.in_state(TaskState.COMPLETED))
    yield "Now", stands(session.status, session.phase)
    if session.tasks:
        yield "Tasks", f"{done} of {len(session.tasks)} done"
    before = last or Spoken(at=session.created_at)
    calls = session.usage.calls - before.usage.calls
    tokens = session.usage.tokens - before.usage.tokens
    yield "Model", f"{counted(calls, 'call')}, about {tokens:,} tokens since"
    if agents := used(standing.agents_usage(session)):
        yield "Agents so far", ", ".join(agents)
