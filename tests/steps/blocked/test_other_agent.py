"""Another agent for a task: offered after two failures and wherever a task waits for a person, and on `use codex for T002`."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed, StopRun
from bot.core.cards import ProblemCard
from bot.core.choices import Command, Verb, Word, parse_command
from bot.core.events import Commanded
from bot.core.gate import role_for
from bot.core.people import Role
from bot.core.session import Session
from bot.core.states import RunState, Status, TaskState
from bot.core.task import Counters, Hold, Task
from bot.steps.decisions import decide
from tests.steps.execute.test_steps import chosen, failed_once
from tests.steps.scenes import (
    ANN,
    cards,
    choice,
    executing,
    later,
    press,
    pressed,
    run,
    running,
    task,
    verbs,
    whispers,
)

OTHERS = {"codex": "--yolo"}


def use(session: Session, said: str) -> list[Deed]:
    command = parse_command(said)
    assert command
    assert command.word is Word.USE
    return decide(session, Commanded(id=said, at=later(), by=ANN, command=command))


def session_with(*tasks: Task) -> Session:
    return executing(*tasks, agents__others=OTHERS)


@pytest.mark.parametrize(
    ("said", "agent", "about"),
    [
        ("use codex for T002", "codex", "T002"),
        ("Use Codex for t002.", "Codex", "t002"),
        ("/use claude-print on task-1a2b-3", "claude-print", "task-1a2b-3"),
        ("use codex", "codex", ""),
    ],
)
def test_the_words_are_understood(said: str, agent: str, about: str) -> None:
    assert parse_command(said) == Command(word=Word.USE, argument=about, text=agent)


@pytest.mark.parametrize(
    "said",
    [
        "use codex for the parser",
        "use a cache for T002's query",
        "use codex for T002 please",
    ],
)
def test_talk_that_begins_like_it_is_talk(said: str) -> None:
    assert parse_command(said) is None


def test_only_who_may_approve_lets_another_agent_work() -> None:
    command = Command(word=Word.USE, argument="T001", text="codex")
    assert role_for(Commanded(id="c", at=later(), by=ANN, command=command)) is Role.APPROVE


def test_a_task_at_work_goes_to_the_other_agent_on_the_same_branch() -> None:
    session = session_with(running("T001"), task("T002"))
    deeds = use(session, "use codex for T001")
    assert StopRun(run_id="T001-r1") in deeds
    [first, _] = session.tasks
    assert [one.agent for one in first.runs] == ["played", "codex"]
    assert first.run
    assert (first.run.resumes, first.run.auto_flag) == (False, "--yolo")
    assert "Another agent worked on this" in first.run.feedback
    assert session.agents.allowed == ("codex",)


def test_a_task_that_has_not_begun_is_begun_by_the_other_agent() -> None:
    session = session_with(running("T001"), task("T002"))
    session.plan.parallelism = 1
    use(session, "use codex for T002")
    assert session.tasks[1].agent == "codex"
    assert session.tasks[1].runs == []


def test_a_blocked_task_offers_it_and_goes_on_with_what_it_was_told() -> None:
    blocked = task("T001", TaskState.BLOCKED, runs=[run("T001", 1, RunState.ENDED)])
    blocked.blocked, blocked.hold = "the judge says no", Hold.VERDICT
    session = session_with(blocked)
    use(session, "use codex")
    assert session.tasks[0].run
    assert session.tasks[0].run.agent == "codex"


def test_after_two_failures_it_is_offered_while_its_own_agent_tries_again() -> None:
    session = failed_once()
    session.agents.others = OTHERS
    session.tasks[0].counters = Counters(failed_runs=2)
    [offer] = [
        card
        for card in cards(decide(session, chosen(session, "again")))
        if isinstance(card, ProblemCard) and card.key.startswith("other-agent")
    ]
    assert Verb.USE_AGENT in verbs(offer)
    assert "--yolo" in choice(offer, Verb.USE_AGENT).label
    decide(session, press(offer, Verb.USE_AGENT))
    assert session.tasks[0].run
    assert session.tasks[0].run.agent == "codex"
    runs = len(session.tasks[0].runs)
    assert whispers(decide(session, press(offer, Verb.USE_AGENT)))
    assert len(session.tasks[0].runs) == runs


@pytest.mark.parametrize(
    ("runs", "taken"),
    [("3", True), ("2", True), ("1", False), ("4", False), ("", False), ("²", False)],
)
def test_a_button_counts_until_the_task_has_gone_on_to_something_else(
    runs: str, taken: bool
) -> None:
    ended = [run("T001", n, RunState.ENDED) for n in (1, 2, 3)]
    session = session_with(task("T001", TaskState.BLOCKED, blocked="why", runs=ended))
    decide(session, pressed(Verb.USE_AGENT, f"id-T001:{runs}:codex"))
    assert session.tasks[0].agent == ("codex" if taken else "")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("use gemini for T001", "GWT_OTHER_AGENTS"),
        ("use played for T001", "already"),
        ("use codex for T009", "For which task"),
        ("use codex for T003", "For which task"),
        ("use codex", "For which task"),
    ],
)
def test_what_cannot_be_is_told_with_the_reason(said: str, why: str) -> None:
    done = task("T003", TaskState.COMPLETED)
    session = session_with(running("T001"), running("T002"), done)
    [told] = whispers(use(session, said))
    assert why in told
    assert session.agents.allowed == ()


def test_a_paused_session_says_so() -> None:
    session = session_with(running("T001"))
    session.status = Status.PAUSED
    assert "paused" in whispers(use(session, "use codex for T001"))[0]
