"""Who would change the same files waits for the other; branches that collide all the same are told of early, and once."""

from __future__ import annotations

import pytest

from bot.core.choices import Verb
from bot.core.events import CollisionsSeen
from bot.core.git import Collision
from bot.core.states import Outcome, RunState, TaskState
from bot.steps.decisions import decide
from bot.steps.execute import next_step
from tests.steps.scenes import (
    cards,
    delivering,
    ended,
    executing,
    is_verified,
    later,
    needs,
    press,
    run,
    running,
    task,
    tick,
    titles,
    work,
)


@pytest.mark.covers("R-ENTITY-FileLock")
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a.py", "a.py", True),
        ("./a.py", "a.py", True),
        ("src/", "src/a.py", True),
        ("src/*", "src/deep/a.py", True),
        ("src/**", "src/a.py", True),
        ("*.py", "src/a.py", True),
        ("src/a.py", "src/ab.py", False),
        ("src", "src2/a.py", False),
        ("src/a.py", "tests/a.py", False),
        ("", "a.py", False),
        ("docs/*.md", "docs/a.py", False),
    ],
)
def test_the_same_file_is_meant_by_name_by_folder_or_by_pattern_both_ways(
    one: str, other: str, same: bool
) -> None:
    first, second = task("T001", files=(one,)), task("T002", files=("x.txt", other))
    assert next_step.overlaps(first, second) is same
    assert next_step.overlaps(second, first) is same


@pytest.mark.covers("G-EDGE-2", "R-ENTITY-FileLock")
def test_who_declares_the_same_file_waits_and_the_others_start_beside() -> None:
    session = executing(
        task("T001", files=("a.py",)),
        task("T002", files=("a.py",)),
        task("T003", files=("b.py",)),
    )
    decide(session, tick())
    assert [one.key for one in session.in_state(TaskState.RUNNING)] == ["T001", "T003"]
    assert session.execution.choice is None, "there is nothing to choose between"


def test_who_declares_nothing_is_in_nobodys_way() -> None:
    session = executing(task("T001", files=("a.py",)), task("T002"))
    decide(session, tick())
    assert len(session.in_state(TaskState.RUNNING)) == 2


@pytest.mark.covers("R-RULE-LOCK-1")
def test_it_starts_once_the_other_is_through() -> None:
    session = executing(running("T001", files=("a.py",)), task("T002", files=("a.py",)))
    decide(session, ended("T001-r1"))
    assert session.tasks[1].state is TaskState.READY, "it is being tested"
    is_verified(session, work("feat: x"))
    assert session.tasks[1].state is TaskState.RUNNING


def test_who_has_changed_the_file_already_goes_on() -> None:
    session = executing(
        running("T001", files=("a.py",)),
        task(
            "T002",
            TaskState.NEEDS_CONTINUATION,
            files=("a.py",),
            runs=[run("T002", 1, RunState.ENDED)],
        ),
    )
    decide(session, tick())
    assert session.tasks[1].state is TaskState.RUNNING


@pytest.mark.covers("R-RULE-LOCK-1")
def test_what_a_person_gives_up_makes_way() -> None:
    session = executing(running("T001", files=("a.py",)), task("T002", files=("a.py",)))
    session.tasks[0].counters = session.tasks[0].counters.model_copy(update={"failed_runs": 2})
    [card] = needs(decide(session, ended("T001-r1", Outcome.FAILED)))
    assert session.tasks[1].state is TaskState.RUNNING
    decide(session, press(card, Verb.GIVE_UP))
    assert session.tasks[0].state is TaskState.CANCELLED


PAIR = Collision(one="agent/t001", other="agent/t002", files=("a.py", "b.py"))


def collide(*pairs: Collision) -> CollisionsSeen:
    return CollisionsSeen(id="c", at=later(), collisions=pairs)


@pytest.mark.covers("G-EDGE-2")
def test_a_coming_conflict_is_announced_by_tasks_and_files() -> None:
    session = delivering(running("T001"), running("T002"))
    shown = cards(decide(session, collide(PAIR)))
    assert "T001 and T002: a.py, b.py" in shown[0].model_dump_json()


def test_each_pair_is_announced_once_whichever_is_named_first() -> None:
    session = delivering(running("T001"), running("T002"))
    decide(session, collide(PAIR))
    turned = Collision(one="agent/t002", other="agent/t001", files=("c.py",))
    assert "Work in progress would conflict when it is merged" not in titles(
        decide(session, collide(turned))
    )
    other = PAIR.model_copy(update={"other": "agent/t003"})
    assert "Work in progress would conflict when it is merged" in titles(
        decide(session, collide(PAIR, other))
    )
    assert len(session.execution.collisions) == 2


def test_it_stops_nobody() -> None:
    session = delivering(running("T001"), running("T002"))
    decide(session, collide(PAIR))
    assert len(session.in_state(TaskState.RUNNING)) == 2
