"""Answers: to commands, to questions in words, and what only one person is told."""

from __future__ import annotations

from pydantic import JsonValue

from bot.core import overview, session_commands
from bot.core.cards import AnswerCard
from bot.core.choices import Command, Verb, Word
from bot.core.commands import HELP
from bot.core.events import Commanded, Pressed
from bot.core.llm import Usage
from bot.core.projections.task_log_views import log_blocks
from bot.core.projections.task_logs import (
    LogEntry,
    LogEventType,
    TaskLog,
    TaskLogStatus,
    Visibility,
)
from bot.core.session_parts import Approval
from bot.core.sheets import Element, Pointer, Table, Text, Tone
from bot.core.states import Phase
from bot.steps import messages
from bot.steps.control import commands
from bot.steps.dialogs import rules as dialogs
from tests.looks.catalogue import lookout
from tests.looks.catalogue.beginning import PLACE, START
from tests.looks.catalogue.entry import Entry, entry
from tests.looks.catalogue.sample import (
    AKI,
    MIKA,
    NAMES,
    NOW,
    THREAD,
    at,
    at_work,
    delivered,
    done,
    planned,
    running,
    task,
)

IN_SHORT = (
    "People can now switch the shop to a dark appearance on the settings page, and it stays so after a reload. "
    "Twelve tests guard it. The user guide tells how; printed pages stay light."
)


def entries() -> tuple[Entry, ...]:
    return (*_commands(), *_fronts(), *_logs(), *_told(), *_private())


def _commands() -> tuple[Entry, ...]:
    session = at_work(delivered("T001", 41), running("T002"), running("T003", 2), task("T004"))
    answered = PLACE.model_copy(update={"answer": PLACE.default, "answered_by": "Mika"})
    session.intent = session.intent.model_copy(update={"clarifications": (answered, START)})
    words = (Word.STATUS, Word.TASKS, Word.USAGE, Word.INFO, Word.DECISIONS)
    return tuple(entry(f"answer/{word}", commands.answer(session, _said(word))) for word in words)


def _said(word: Word, argument: str = "") -> Commanded:
    return Commanded(id="c", at=NOW, by=MIKA, command=Command(word=word, argument=argument))


def _fronts() -> tuple[Entry, ...]:
    """What belongs to no session is whispered."""
    working = at_work(running("T002"), task("T004"))
    waits = planned(id="5e6f7a8b-0000-4000-8000-000000000000")
    parts = {
        "usage of all": overview.usage(
            [working, waits], Usage(calls=3, prompt_tokens=5_210, reply_tokens=640)
        ),
        "inbox": overview.inbox([working, waits], THREAD, MIKA, at(8)),
        "inbox, empty": overview.inbox([], THREAD, MIKA, at(8)),
        "sessions": overview.sessions(lookout.LISTED, THREAD, at(8)),
        "help": (Table(head=("Command", "What it does"), rows=HELP),),
        "unfinished at start": overview.unfinished([working, waits]),
    }
    caught_up = commands.answer(working, _said(Word.CATCH_UP))
    return (
        *(
            Entry(f"answer/{name}", _answer(name, body), private=True)
            for name, body in parts.items()
        ),
        entry("answer/catch up", caught_up),
        Entry(
            "answer/which session to stop",
            session_commands.session_picker(Word.STOP, [working, waits], "p"),
            private=True,
        ),
    )


def _answer(name: str, body: tuple[Element, ...]) -> AnswerCard:
    return AnswerCard(key=f"answer:{name}", title=name.capitalize(), body=body)


def _logs() -> tuple[Entry, ...]:
    logs = [_log(key) for key in ("T001", "T002")]
    everything, one = log_blocks(logs), log_blocks(logs, "T002", "full")
    return (
        Entry("answer/logs", AnswerCard(key="l", title="Logs", body=everything)),
        Entry("answer/logs of a task", AnswerCard(key="l", title="Logs", body=one)),
    )


def _log(key: str) -> TaskLog:
    happened: tuple[tuple[LogEventType, dict[str, JsonValue]], ...] = (
        (LogEventType.TASK_STARTED, {"branch": "agent/theme-module"}),
        (LogEventType.EXECUTOR_DISPATCH, {"agent": "claude", "run": 1}),
        (LogEventType.TEST_EXECUTION, {"command": "npm test", "exit_code": 1, "seconds": 14.2}),
        (LogEventType.FILE_OPERATION, {"changed": ["src/theme.ts", "src/theme.test.ts"]}),
        (LogEventType.TASK_COMPLETED, {"commits": 2}),
    )
    events = tuple(
        LogEntry(
            id=f"{key}-{n}",
            event_type=kind,
            timestamp=at(n),
            visibility_level=Visibility.SUMMARY,
            content=content,
        )
        for n, (kind, content) in enumerate(happened)
    )
    return TaskLog(
        task_id=f"id-{key}",
        session_id="1a2b3c4d",
        key=key,
        name=NAMES[key],
        status=TaskLogStatus.COMPLETE,
        created_at=NOW,
        ended_at=at(4),
        events=events,
    )


def _told() -> tuple[Entry, ...]:
    mine = at_work(running("T002"))
    reply = messages.answer_card(
        "r", "To Aki", Text(text="Not yet: T003 has to remember the choice first.")
    )
    pointer = Pointer(text="Take payments", thread=THREAD)
    opened = messages.answer_card("o", "That is a session of its own now", pointer)
    over = Text(text="3 sessions carry this out; each asks and reports in its own thread.")
    elsewhere = messages.answer_card("e", "Over to other sessions", over, tone=Tone.SUCCESS)
    return (
        entry("answer/takeover", dialogs.decide_takeover(mine, _said(Word.TAKEOVER, "T002"))),
        entry("answer/reply in words", reply),
        entry("answer/a session of its own", opened),
        entry("answer/over to other sessions", elsewhere),
        entry("answer/in short", messages.answer_card("s", "In short", Text(text=IN_SHORT))),
    )


def _private() -> tuple[Entry, ...]:
    session = planned(phase=Phase.EXECUTING)
    session.approval.granted = Approval(by=AKI, at=NOW, digest="", revision=1)
    press = Pressed(id="p", at=at(2), by=MIKA, verb=Verb.APPROVE)
    not_allowed = AnswerCard(key="n", title=session_commands.NOT_ALLOWED)
    return (
        entry("answer/approved already", messages.stale_press(session, press)),
        Entry("answer/not allowed", not_allowed, private=True),
        entry("answer/not current any more", messages.stale_press(at_work(done("T001")), _kept())),
    )


def _kept() -> Pressed:
    return Pressed(id="k", at=at(2), by=MIKA, verb=Verb.KEEP)
