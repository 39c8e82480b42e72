"""Records to store: small ones, long ones, one that is nearly empty, and one with something in every field."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.core.actions import Show, Survey
from bot.core.cards import NewsCard
from bot.core.events import Said
from bot.core.evidence import Check
from bot.core.people import Person, Thread
from bot.core.projections.records import Record
from bot.core.runs import Run
from bot.core.session import SCHEMA, Session, Speaker
from bot.core.session_parts import SessionRepository
from bot.core.states import Outcome, Status, TaskState
from bot.core.task import Task, Workspace
from tests.adapters.store.anything import Filled

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
ALICE = Person(platform="slack", id="T1:U1", name="alice")


def record(
    name: str = "one", *, status: Status = Status.ACTIVE, messages: int = 0, size: int = 400
) -> Record:
    session = Session(
        id=name,
        created_at=NOON,
        updated_at=NOON,
        status=status,
        thread=Thread(platform="slack", workspace="T1", channel="C1", root=name),
        owner=ALICE,
        repository=SessionRepository(path="/srv/shop"),
    )
    for number in range(messages):
        session.say(Speaker.USER, f"{number} ".ljust(size, "x"), NOON)
    return Record(session=session)


def busy(name: str = "one") -> Record:
    """One in the middle of its work, with something in every list."""
    busy = record(name, messages=3)
    task = Task(id="t-1", key="T001", name="Greet", state=TaskState.RUNNING, created_at=NOON)
    task.workspace = Workspace(
        branch="agent/greet", path="/srv/shop/.worktrees/agent-greet", created_at=NOON
    )
    ended = run("r-1").end(Outcome.FINISHED, NOON + timedelta(minutes=3), exit_code=0)
    task.runs = [ended, run("r-2")]
    task.checks = [check(1)]
    busy.session.tasks = [task, Task(id="t-2", key="T002", name="Part", created_at=NOON)]
    busy.inbox = [said("e-1"), said("e-2")]
    busy.outbox = [Survey(), show("a"), show("b")]
    busy.heard = ["e-1", "e-2"]
    return busy


def everything(name: str = "one") -> Record:
    """One with something in every field: a change of mind, words that wait, parts, steps, a forecast …"""
    filled = Filled()
    return filled.one(Record, session=filled.one(Session, id=name, schema_version=SCHEMA))


def run(name: str) -> Run:
    return Run(id=name, number=1, agent="claude", conversation=f"c-{name}", started_at=NOON)


def check(number: int) -> Check:
    return Check(
        number=number, command="pytest", commit="c0ffee", exit_code=1, seconds=1.5, at=NOON
    )


def said(name: str, text: str = "please") -> Said:
    return Said(id=name, at=NOON, by=ALICE, text=text)


def show(key: str, title: str = "news") -> Show:
    return Show(card=NewsCard(key=key, title=title))


def copied(record: Record) -> Record:
    """As it is copied before a decision: lists are copied, facts are shared."""
    return Record(
        session=record.session.copied(),
        inbox=[*record.inbox],
        outbox=[*record.outbox],
        heard=[*record.heard],
    )
