"""Finished branches that collide: a task of its own brings them together, once."""

from __future__ import annotations

import pytest

from bot.core.choices import Verb
from bot.core.events import MergedLocally
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import Phase, TaskState
from bot.core.task import PullText, Task
from bot.steps.decisions import decide, due
from tests.steps.scenes import cards, check, executing, later, pressed, task, work


def built(key: str) -> Task:
    text = PullText(title="feat: x", body="What: x")
    done = task(key, TaskState.COMPLETED, checks=[check(1, 0)], work=work("feat: x"))
    done.pull_text, done.requirements = text, (f"FR-{key}",)
    return done


def colliding() -> Session:
    session = executing(built("T001"), built("T002"), phase=Phase.FINISHING, queue__has_place=False)
    session.queue.since = None
    decide(session, pressed(Verb.MERGE))
    return session


def collision() -> MergedLocally:
    files = ("basket/totals.py",)
    problem = "the branches collide in basket/totals.py."
    return MergedLocally(id="m", at=later(), answers="merge", problem=problem, conflicts=files)


@pytest.mark.covers(
    "B-TYPE-integration",
    "B-FLOW-RUN-15",
    "B-OP-createConflictResolutionTask",
    "B-SPECIAL-1",
    "B-SPECIAL-3",
)
def test_a_conflict_that_no_task_is_left_for_gets_a_task_of_its_own() -> None:
    session = colliding()
    shown = cards(decide(session, collision()))
    made = session.tasks[-1]
    assert (made.key, made.type, session.phase) == ("T003", TaskType.INTEGRATION, Phase.EXECUTING)
    assert made.dependencies == ("id-T001", "id-T002")
    assert made.files == ("basket/totals.py",)
    assert made.requirements == ("FR-T001", "FR-T002")
    assert any("collide" in card.model_dump_json() for card in shown)
    assert session.ending.choice is None
    assert session.queue.since


@pytest.mark.covers("B-SPECIAL-2")
def test_its_name_is_the_label_of_a_conflict_of_that_session() -> None:
    session = colliding()
    decide(session, collision())
    label, _, unique = session.tasks[-1].name.rpartition("-")
    assert label == f"task-{session.short}-conflict-resolution"
    assert len(unique) == 8


@pytest.mark.covers("B-OP-createConflictResolutionTask")
def test_it_is_made_once_and_then_a_person_looks() -> None:
    session = colliding()
    decide(session, collision())
    session.tasks[-1].state = TaskState.COMPLETED
    session.phase, session.queue.since, session.queue.has_place = Phase.FINISHING, None, False
    session.tasks[-1].pull_text = session.tasks[0].pull_text
    decide(session, pressed(Verb.MERGE))
    assert [order.kind for order in due(session)] == ["merge_locally"]
    decide(session, collision())
    assert len(session.tasks) == 3
    assert "collide" in session.ending.problem


def test_a_merge_that_fails_for_another_reason_makes_no_task() -> None:
    session = colliding()
    plain = collision().model_copy(update={"conflicts": (), "problem": "the tests fail"})
    decide(session, plain)
    assert len(session.tasks) == 2
    assert session.ending.problem == "the tests fail"
