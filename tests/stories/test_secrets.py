"""A secret the bot knows goes nowhere, whoever says it: no card, no saved record, no prompt, no question to the model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from bot.core.choices import Verb
from bot.core.errors import Refused
from bot.core.projections.records import Record
from bot.core.runs import Executed
from bot.core.states import Phase
from tests.fakes.commands import PASSED
from tests.fakes.llm import Call, ScriptedLlm
from tests.fakes.store import MemoryStore
from tests.stories.stage import Stage, draft

SECRET = "correct-horse-battery-staple"  # noqa: S105 - nobody's, made up here
MASK = "[MASKED:"


class RememberingStore(MemoryStore):
    """It also keeps what was saved and soon overwritten."""

    def __init__(self) -> None:
        super().__init__()
        self.ever: list[str] = []

    def save(self, record: Record) -> None:
        super().save(record)
        self.ever.append(record.model_dump_json())


@pytest.fixture
def store() -> RememberingStore:
    return RememberingStore()


@pytest.fixture
async def stage(store: RememberingStore) -> AsyncIterator[Stage]:
    stage = Stage(
        drafts=[draft("T001", f"Discounts {SECRET}"), draft("T002", "Receipt", "T001")],
        secrets={"SHOP_TOKEN": SECRET},
    )
    stage.store = store
    await stage.open()
    yield stage
    await stage.close()


def everything_that_went_out(stage: Stage) -> Iterator[tuple[str, str]]:
    """Where it went, and what it was."""
    for _, card in stage.chat.shown:
        yield f"card {card.key}", card.model_dump_json()
    for _, _, card in stage.chat.whispered:
        yield f"whispered {card.key}", card.model_dump_json()
    for call in stage.llm.calls:
        yield "the model", call.system + call.data
    for run, prompt in stage.panes.prompts.items():
        yield f"prompt of {run}", prompt + stage.panes.launches[run].model_dump_json()
    assert isinstance(stage.store, RememberingStore)
    for evidence in stage.archive.kept.values():
        # what is kept is masked where it is kept; the bot hands nothing raw over but output and patches
        yield f"evidence {evidence.evidence_id}", evidence.model_dump_json()
    for text in stage.store.ever:
        yield f"disk: {around(SECRET, text)}", text
    for name, head in stage.repository.heads.items():
        files = stage.repository.commits[head].files
        yield f"branch {name}", "".join(files[n] for n in files if n.startswith("specs/"))


def around(secret: str, text: str) -> str:
    """The words before it: enough to find the leak."""
    return text.partition(secret)[0][-120:]


def leaks(stage: Stage) -> list[str]:
    return [where for where, what in everything_that_went_out(stage) if SECRET in what]


@pytest.mark.covers("G-SEC-3", "R-SECRET-RULE-5", "R-PROPERTY-24")
async def test_a_known_secret_goes_nowhere_whoever_says_it(stage: Stage) -> None:
    stage.repository.commit("main", {"CLAUDE.md": f"The token is {SECRET}."}, "docs: rules")
    stage.commands.answer(Executed(exit_code=1, seconds=0.1, output=f"refused: {SECRET}"), PASSED)
    await stage.says(f"Add discounts, the token is {SECRET}")
    await stage.says(f"D1: {SECRET}, D2: up")
    await stage.presses(Verb.CHANGE, stage.approval_card().offer, f"use {SECRET}")
    await stage.approves()
    for name in stage.panes.running():
        stage.panes.screens[name] = f"export TOKEN={SECRET}"
    await stage.ticks()
    for _ in range(4):
        for name in stage.panes.running():
            stage.worktrees.agent_commits(
                stage.panes.folders[name], {f"{name}.py": "x = 1\n"}, f"feat: use {SECRET}"
            )
            stage.panes.finish(name, message=f"Done with {SECRET}")
        await stage.settle()
    await stage.presses(Verb.MERGE)

    assert stage.session().phase is Phase.DONE
    assert leaks(stage) == []
    assert MASK in stage.session().intent.body
    assert any(MASK in prompt for prompt in stage.panes.prompts.values())
    assert any(MASK in call.data for call in stage.llm.calls)


@pytest.mark.covers("R-SECRET-RULE-5")
async def test_a_secret_that_the_model_says_is_masked_before_anybody_sees_it(stage: Stage) -> None:
    answer = stage.model

    def talkative(call: Call) -> str:
        return answer(call).replace("iscounts", f"iscounts {SECRET}")

    stage.llm = ScriptedLlm(talkative, mask=stage.masker.mask)
    await stage.revive()
    await stage.is_planned()
    assert stage.session().phase is Phase.APPROVING
    assert leaks(stage) == []


@pytest.mark.covers("R-SECRET-RULE-5")
async def test_a_secret_in_a_refusal_is_masked_too(stage: Stage) -> None:
    stage.repository.problem = Refused(f"the remote said {SECRET}", f"Change {SECRET}.")
    await stage.says("Add discounts")
    assert stage.chat.card("failure")
    assert leaks(stage) == []


async def test_a_name_that_git_needs_is_masked_where_people_see_it(stage: Stage) -> None:
    branch = f"feature-{SECRET}"
    stage.repository.commit(branch, dict(stage.repository.files), "first")
    stage.repository.branch = branch
    await stage.is_planned()
    assert stage.session().repository.base_branch == branch
    assert [where for where in leaks(stage) if where.startswith(("card", "whispered"))] == []
    assert "feature-[MASKED:" in str(stage.chat.card("received"))
