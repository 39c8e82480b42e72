"""What people write into the registry while nobody asks for it: drafts are taken up, and answers are told where they count."""

from __future__ import annotations

from bot.core.errors import Unavailable
from bot.core.projections.registry import IntentDraft, IntentEdit
from bot.core.states import IntentStatus
from tests.steps.intents.test_intents import opened, says, status
from tests.stories.stage import Stage

DRAFT = IntentDraft(name="Add codes.md", digest="d1", title="Add codes", body="A code.")


async def looked_around(stage: Stage, *, times: int = 1) -> set[str]:
    """The intents there are then."""
    for _ in range(times):
        await stage.takes_up()
    return {*stage.registry.filed}


async def test_a_draft_is_taken_up_though_nobody_looks() -> None:
    stage = await opened()
    stage.registry.drafts[DRAFT.name] = DRAFT
    assert await looked_around(stage, times=2) == {"add-codes"}
    assert (status(stage), stage.registry.taken) == (IntentStatus.PROPOSED, [DRAFT])
    assert await looked_around(stage, times=2) == {"add-codes"}
    assert stage.store.sessions() == []  # a file starts nothing
    await stage.close()


async def test_a_draft_somebody_still_writes_at_is_left_alone() -> None:
    stage = await opened()
    for number in range(4):
        stage.registry.drafts[DRAFT.name] = DRAFT.model_copy(update={"digest": f"d{number}"})
        assert await looked_around(stage) == set()
    assert await looked_around(stage) == {"add-codes"}
    await stage.close()


async def test_a_registry_that_cannot_be_read_ends_no_look_around() -> None:
    stage = await opened()
    stage.registry.drafts[DRAFT.name] = DRAFT
    stage.registry.trouble = Unavailable("the disk is away")
    assert await looked_around(stage, times=2) == set()
    stage.registry.trouble = None
    assert await looked_around(stage, times=2) == {"add-codes"}
    await stage.close()


async def test_an_answer_in_the_file_of_a_running_session_answers_nothing_and_that_is_told() -> (
    None
):
    stage = await opened()
    await stage.says("Add discounts")
    await stage.settle()
    [filed] = stage.registry.filed.values()
    asked = filed.intent.clarifications[0].text
    edit = IntentEdit(answers={asked: "typed by hand"})
    await stage.registry.change(stage.rules.repository, filed.intent.id, edit)
    told = await says(stage, "show", filed.intent.id)
    assert "D1 is answered in the file only" in told
    assert "D2 is answered" not in told
    assert all(question.answer is None for question in stage.session().intent.clarifications)
    await stage.close()
