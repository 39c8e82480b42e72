"""Stories of a plan that is not approved yet."""

from __future__ import annotations

from adapters.demo.texts import english
from bot.core.states import Phase
from tests.stories.conversation.said import HISTORY, HOW_FAR, PLAN_ONLY, WIDER, Tongue
from tests.stories.conversation.scene import Scene, is_planned, is_so, session


async def answers_in_own_words(scene: Scene, tongue: Tongue) -> None:
    """What is not answered stays open and is seen to be; every answer is a decision with a name behind it."""
    person = scene.person
    await person.asks(tongue.request)
    await person.sees("A few questions", tongue.question)
    await person.says(tongue.one)
    await person.sees("2 questions are still open", f"→ {tongue.answer}")
    first, second, third = session(scene).intent.clarifications
    assert session(scene).phase is Phase.CLARIFYING
    assert (first.answer, second.answer, third.answer) == (tongue.answer, None, None)
    await person.says(tongue.last)
    await person.sees("Questions, answered", f"→ {tongue.last_answer}")
    await person.sees("revision 1?", tongue.title)
    first, second, third = session(scene).intent.clarifications
    assert (first.answer, second.answer) == (tongue.answer, second.default)
    assert third.answer == tongue.last_answer
    assert first.answered_by == second.answered_by == third.answered_by != ""


async def asks_for_changes_twice(scene: Scene) -> None:
    """Each new card says what is different from the one before: which sections, which tasks."""
    person = scene.person
    await is_planned(scene)
    await person.says(WIDER)
    await person.sees("revision 1?", "Changes requested")
    await person.sees(
        "revision 2?", "Changed since revision 1", "spec.md", "T002 Printable receipt"
    )
    await person.says(HISTORY)
    await person.sees("revision 3?", "Changed since revision 2", "spec.md", "T004 Order history")
    planned = session(scene)
    assert [task.key for task in planned.tasks] == ["T001", "T002", "T003", "T004"]
    assert planned.plan.parallelism == 3
    assert planned.phase is Phase.APPROVING
    assert scene.bot.runs() == 0


async def only_wants_the_plan(scene: Scene) -> None:
    """Nothing runs, whatever else is asked, until somebody says so in plain words."""
    person = scene.person
    await is_planned(scene, PLAN_ONLY)
    await person.sees("revision 1?", "You asked for the plan only")
    await person.says(HOW_FAR)
    await is_so(scene, lambda one: not one.talk.waiting)
    assert session(scene).phase is Phase.APPROVING
    assert session(scene).request.dry_run
    assert scene.bot.runs() == 0
    await person.says("run it")
    await person.sees("revision 1", "approved by")
    # until agents stand in tmux: a server that was only being started would outlive a killed bot
    await is_so(scene, lambda one: any(task.run and task.run.pid for task in one.tasks))


async def decides_anew(scene: Scene) -> None:
    """A decision can be looked up and taken anew; the plan follows."""
    person, answer = scene.person, english().questions[0].options[1]
    await is_planned(scene)
    await person.says("decisions")
    await person.sees("Decisions", english().questions[0].text, english().questions[0].options[0])
    await person.says(f"reopen D1 {answer}")
    await person.sees("D1 has a new answer")
    await person.sees("revision 2?", "Changed since revision 1")
    assert session(scene).intent.clarifications[0].answer == answer
    await person.says("decisions")
    await person.sees("Decisions", english().questions[0].text, answer)
    await person.says("reopen D2")
    await person.sees("1 question is still open")
    await person.says("D2: 2")
    await person.sees("revision 3?")
    assert session(scene).intent.clarifications[1].answer == english().questions[1].options[1]
