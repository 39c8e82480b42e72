"""Answers to commands about one session."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show, ShowLogs
from bot.domain.choices import Word
from bot.domain.events import Commanded
from bot.domain.evidence import CommandSource
from bot.domain.layout import duration, stands, used
from bot.domain.session import Session
from bot.domain.sheets import Element, Fields, Table, Text
from bot.domain.states import Phase, TaskState
from bot.domain.tasks import Task
from bot.flow import caught_up, decisions, let_pass, listeners, standing, telling, testing


def answer(session: Session, event: Commanded) -> Iterator[Deed]:
    match event.command.word:
        case Word.STATUS:
            yield Show(card=standing.status_card(session, event.at, {}, key=f"answer:{event.id}"))
        case Word.TASKS:
            yield telling.answer(event, "Tasks", *_tasks(session, event))
        case Word.USAGE:
            yield telling.answer(event, "Usage", _usage(session))
        case Word.INFO:
            yield telling.answer(event, session.title, _info(session))
        case Word.DECISIONS:
            yield telling.answer(event, "Decisions", *decisions.listed(session))
        case Word.CATCH_UP:
            yield from caught_up.digest(session, event)
        case Word.VERBOSITY:
            yield from listeners.set_verbosity(session, event)
        case Word.TESTS:
            yield from _tests(session, event)
        case Word.LOGS:
            command = event.command
            yield ShowLogs(about=event.id, task=command.argument, level=command.text)
        case _:
            yield telling.privately(event, "I cannot do that here. help lists the commands.")


def _tests(session: Session, event: Commanded) -> Iterator[Deed]:
    """Which command runs the tests; or, from somebody who may approve, which one shall from now on."""
    said = event.command.text
    if not said:
        how = "tests: <command> sets another one for this and later sessions, tests: none runs none in this one."
        yield telling.answer(event, "Tests", testing.told(session), Text(text=how))
    elif session.over:
        yield telling.privately(event, "This session is over: nothing of it is tested any more.")
    else:
        operators = session.tests_from is CommandSource.SETTINGS
        testing.set_by_person(session, said)
        yield from _tested_so(session, event, operators=operators)


def _tested_so(session: Session, event: Commanded, *, operators: bool) -> Iterator[Deed]:
    """`operators`: GWT_TEST_COMMAND was set, which counts again in the next session."""
    command = session.test_command
    what = f"The tests of this session run with `{command}`" if command else "No tests are run"
    done = bool(session.in_state(TaskState.COMPLETED))
    said = ["What is done already is not tested again."] if done else []
    if command and not operators:
        said.append(
            "Later sessions of this repository begin with it; their approval card names it."
        )
    yield telling.answer(event, f"{what} from now on.", *(Text(text=one) for one in said))
    if session.phase is Phase.APPROVING:  # whoever approves must have seen it
        session.documents_shown_at, session.approvals = event.at, ()
        yield telling.approval_wanted(session)
    yield from let_pass.check_again(session, telling.decided(what, event))


def _tasks(session: Session, event: Commanded) -> Iterator[Element]:
    if not session.tasks:
        yield Text(text="There is no plan yet.")
        return
    rows = tuple(_task_row(session, task, event) for task in session.tasks)
    yield Table(head=("Task", "What", "State", "After", "Time", "Branch"), rows=rows)


def _task_row(session: Session, task: Task, event: Commanded) -> tuple[str, ...]:
    after = ", ".join(p.key for p in map(session.task, task.dependencies) if p)
    branch = task.workspace.branch if task.workspace else ""
    time = duration(standing.seconds_of(task, event.at))
    return (task.key, task.name, task.state, after, time, branch)


def _usage(session: Session) -> Fields:
    usage, runs = session.usage, sum(len(task.runs) for task in session.tasks)
    return Fields(
        pairs=(
            ("Model calls", str(usage.calls)),
            ("Tokens", f"about {usage.prompt_tokens:,} in, {usage.reply_tokens:,} out"),
            ("Agent runs", str(runs)),
            (
                "Agents' own use",
                ", ".join(used(standing.agents_usage(session))) or "they do not say",
            ),
        )
    )


def _info(session: Session) -> Fields:
    spec = f"{session.spec.id}, revision {session.spec.revision}" if session.spec else "none yet"
    pairs = [
        ("Session", session.id),
        ("Status", stands(session.status, session.phase)),
        ("Repository", session.repository),
        ("Base", telling.base_of(session)),
        ("Spec", spec),
        ("Asked by", str(session.owner)),
        ("Since", f"{session.created_at:%Y-%m-%d %H:%M} UTC"),
    ]
    if session.failure:
        pairs.append(("Problem", session.failure))
    return Fields(pairs=tuple(pairs))
