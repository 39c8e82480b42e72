"""Stories of agents at work, with people who talk meanwhile."""

from __future__ import annotations

from bot.core.runs import Why
from bot.core.session import Session
from bot.core.states import TaskState
from bot.core.task import Task
from tests.stories.conversation.said import HISTORY, HOW_FAR, WIDER
from tests.stories.conversation.scene import (
    Scene,
    ends_complete,
    is_planned,
    is_so,
    session,
    task_of,
    told,
    until,
)
from tests.stories.serving import Pane

JUDGED = (TaskState.VERIFYING, TaskState.COMPLETED)
"""Where a tested task may stand when the model is back: it is asked for everything at once."""


async def changes_its_mind_while_three_work(scene: Scene) -> None:
    """Only what the change touches is stopped. It goes on in its conversation; the others never notice."""
    person, before = scene.person, await three_at_work(scene)
    conversation = conversations(task_of(session(scene), "T002"))
    await person.says(WIDER)
    await person.sees("Change of plan", "What stops", "T002", "What goes on", "T001", "T004")
    await person.sees("Change of plan", "Changed since revision 2", "T002 Printable receipt")
    await until(lambda: "T002" not in at_work(scene), lambda: told(scene))
    assert at_work(scene) == {key: before[key] for key in ("T001", "T004")}
    assert task_of(session(scene), "T002").state is TaskState.BLOCKED
    await person.presses("Confirm", on="Change of plan")
    await person.sees("Change of plan", "Change confirmed")
    await until(lambda: "T002" in at_work(scene), lambda: told(scene))
    after, again = at_work(scene), task_of(session(scene), "T002")
    assert (after["T001"], after["T004"]) == (before["T001"], before["T004"])
    assert after["T002"].pid != before["T002"].pid
    assert again.run
    assert (again.run.why, again.run.resumes) == (Why.CHANGED, True)
    scene.hold.release()
    ended = await ends_complete(scene)
    assert conversations(task_of(ended, "T002")) == conversation
    assert [len(task_of(ended, key).runs) for key in ("T001", "T004")] == [1, 1]
    assert "WIDTH = 40" in scene.bot.git("show", "main:basket/receipt.py")
    assert "PAPER = 40" in scene.bot.git("show", "main:tests/test_receipt.py")


async def works_through_an_outage(scene: Scene) -> None:
    """Agents go on without the model; its absence is told once, its return once, and nothing is said twice."""
    person, before = scene.person, await three_at_work(scene)
    scene.model.down = True
    await person.says(HOW_FAR)
    await person.sees("I keep trying")
    assert at_work(scene) == before
    scene.hold.release()
    await is_so(scene, lambda one: len(tested(one)) == 3)
    assert session(scene).control.trouble
    assert await person.count("I keep trying") == 1
    scene.model.down = False
    await person.sees("It works again.")
    await is_so(scene, lambda one: not one.talk.waiting)
    await person.sees("T001 Discount codes: ")
    await ends_complete(scene)
    assert await person.count("It works again.") == 1
    told_of_it = [await person.count(f"T001 Discount codes: {state}.") for state in JUDGED]
    assert sum(told_of_it) == 1
    assert [len(task_of(session(scene), key).runs) for key in ("T001", "T002", "T003", "T004")] == [
        1,
        2,
        1,
        1,
    ]


def tested(one: Session) -> list[Task]:
    """Built and tested without the model. Only whether they are done is for the judge to say."""
    return [t for t in one.in_state(TaskState.VERIFYING) if t.check and t.check.passed]


async def three_at_work(scene: Scene) -> dict[str, Pane]:
    """From the request to three agents side by side. Their panes, by the key of the task."""
    await is_planned(scene)
    await scene.person.says(HISTORY)
    await scene.person.presses("Approve", on="revision 2?")
    await is_so(scene, lambda one: len(one.in_state(TaskState.RUNNING)) == 3)
    await until(lambda: len(at_work(scene)) == 3, lambda: told(scene))
    assert sorted(at_work(scene)) == ["T001", "T002", "T004"]
    return at_work(scene)


def at_work(scene: Scene) -> dict[str, Pane]:
    """The panes in which agents are alive, by the key of the task."""
    runs = {task.run.name: task.key for task in session(scene).tasks if task.run}
    return {runs[pane.run]: pane for pane in scene.bot.panes() if pane.run in runs}


def conversations(task: Task) -> set[str]:
    """The conversations its agents had."""
    return {run.conversation for run in task.runs}
