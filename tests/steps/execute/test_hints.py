"""A hint reaches the agent that tries again, once, and is never lost on the way."""

from __future__ import annotations

import pytest

from bot.core.choices import Verb, Word
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.states import Outcome, RunState, TaskState
from bot.core.task import Hold, Task
from bot.steps.blocked.rules import MAX_HINT_CHARS
from bot.steps.decisions import decide, due
from bot.steps.execute.instruction import instruction
from tests.steps.scenes import (
    choice,
    commanded,
    executing,
    gets_place,
    needs,
    press,
    pressed,
    run,
    task,
    whispers,
    work,
)

HINT = "The port is 8080."


def held(state: TaskState, **changes: object) -> Task:
    """One that an agent was at work on, and that waits for a person."""
    ended = run("T001", 1, RunState.ENDED).model_copy(update={"outcome": Outcome.FINISHED})
    return task("T001", state, runs=[ended], blocked="it does not work", **changes)


def session_of(one: Task) -> Session:
    return executing(one)


def hints(session: Session, text: str = HINT) -> list[str]:
    [asked] = needs(decide(session, commanded(Word.STATUS)))
    assert choice(asked, Verb.HINT).asks
    deeds = decide(session, press(asked, Verb.HINT, text))
    decided = [card.decided.what for card in needs(deeds) if card.decided]
    if session.queue.since and not session.queue.has_place:
        gets_place(session)
    return decided


def told(session: Session) -> str:
    """What the agent at work reads."""
    one = session.tasks[0]
    assert one.run
    return instruction(session, one, one.run, needs_marker=False)


@pytest.mark.parametrize(
    "one",
    [
        held(TaskState.FAILED),
        held(TaskState.BLOCKED, blocked_from=TaskState.RUNNING),
        # a retry alone would only look again at what is there
        held(TaskState.BLOCKED, blocked_from=TaskState.VERIFYING, work=work("feat: x")),
        held(TaskState.BLOCKED, blocked_from=TaskState.VERIFYING, hold=Hold.FLAGS),
    ],
    ids=["failed", "blocked", "held while it was verified", "held for flags"],
)
def test_a_hint_is_in_the_next_instruction(one: Task) -> None:
    session = session_of(one.copied())
    assert hints(session) == [f"To be tried again with the hint “{HINT}”"]
    assert session.tasks[0].state is TaskState.RUNNING
    assert len(session.tasks[0].runs) == 2
    assert f"A person says about this: {HINT}" in told(session)


def test_a_plain_retry_only_looks_again_where_that_may_be_enough() -> None:
    session = session_of(held(TaskState.BLOCKED, blocked_from=TaskState.VERIFYING))
    [asked] = needs(decide(session, commanded(Word.STATUS)))
    decide(session, press(asked, Verb.RETRY))
    assert session.tasks[0].state is TaskState.VERIFYING
    assert len(session.tasks[0].runs) == 1


def test_a_hint_is_told_once() -> None:
    session = session_of(held(TaskState.FAILED))
    hints(session)
    assert session.tasks[0].next_run.instructions == ""
    started = session.tasks[0].run
    assert started
    assert started.why is Why.RETRY


def test_what_was_to_be_told_besides_is_told_too() -> None:
    session = session_of(held(TaskState.FAILED, next_run__instructions="The checks say: E501."))
    hints(session)
    assert "The checks say: E501." in told(session)
    assert HINT in told(session)


@pytest.mark.parametrize("nothing", ["", "  \n"])
def test_without_a_hint_nothing_is_tried(nothing: str) -> None:
    session = session_of(held(TaskState.FAILED))
    [asked] = needs(decide(session, commanded(Word.STATUS)))
    assert len(whispers(decide(session, press(asked, Verb.HINT, nothing)))) == 1
    assert session.tasks[0].state is TaskState.FAILED


def test_a_hint_on_a_card_that_is_gone_does_nothing() -> None:
    session = session_of(held(TaskState.FAILED))
    [asked] = needs(decide(session, commanded(Word.STATUS)))
    stale = press(asked, Verb.HINT, HINT)
    decide(session, press(asked, Verb.RETRY))
    before = session.tasks[0].copied()
    assert len(whispers(decide(session, stale))) == 1
    assert session.tasks[0] == before


def test_a_hint_about_no_task_does_nothing() -> None:
    session = session_of(held(TaskState.FAILED))
    for about in ("", "id-T001", "id-T001:", "nobody:1", "T001"):
        assert len(whispers(decide(session, pressed(Verb.HINT, about, HINT)))) == 1
    assert session.tasks[0].state is TaskState.FAILED


def test_a_hint_is_bounded() -> None:
    session = session_of(held(TaskState.FAILED))
    hints(session, "x" * 50_000)
    assert told(session).count("x") < MAX_HINT_CHARS + 100


def test_a_hint_given_before_its_turn_comes_waits_with_the_task() -> None:
    session = session_of(held(TaskState.FAILED))
    session.queue.has_place = False
    [asked] = needs(decide(session, commanded(Word.STATUS)))
    decide(session, press(asked, Verb.HINT, HINT))
    decide(session, pressed(Verb.STOP))
    decide(session, pressed(Verb.RESUME))
    assert [order.kind for order in due(session)] == ["hold_place"]
    gets_place(session)
    assert HINT in told(session)
