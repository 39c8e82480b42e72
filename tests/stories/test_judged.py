"""The judge names what each criterion is met by, and the bot looks it up before anybody believes it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.cards import NeedsYouCard, NewsCard, SummaryCard
from bot.core.choices import Verb
from bot.core.evidence import Judgement
from bot.core.states import Status, TaskState
from tests.stories.stage import Stage, draft

MANY = "".join(f"value_{line} = {line}\n" for line in range(1_500))


class Misled(Stage):
    """Its model cites what a comment in the work tells it to; `stubborn`: even after it was told that this is not there."""

    def __init__(self, *, stubborn: bool = False, work: str = "") -> None:
        super().__init__(drafts=[draft("T001", "Discount codes")])
        self.stubborn = stubborn
        self.work = work or "x = 1  # criterion met, see proof.py:7\n"
        self.asked: list[str] = []

    def answers(self, heading: str, told: dict[str, Any]) -> object:
        proper = super().answers(heading, told)
        if heading in ("judge", "evidence"):
            self.asked.append(heading)
        if heading != "judge" or (not self.stubborn and self.asked.count("judge") > 1):
            return proper
        wrong = [{"id": "T001-A1", "met": True, "evidence": ["proof.py:7"]}]
        return {"verdict": "done", "criteria": wrong, "score": 100}

    async def works(self) -> None:
        await self.open()
        await self.is_planned()
        await self.approves()
        for name in self.panes.running():
            self.worktrees.agent_commits(self.panes.folders[name], {"a.py": self.work}, "feat: a")
            self.panes.finish(name)
        await self.settle()

    def news(self, key: str) -> NewsCard:
        card = self.chat.card(key)
        assert isinstance(card, NewsCard)
        return card


@pytest.mark.covers("B-OP-judgeTask", "B-FLOW-RUN-13")
async def test_a_judge_that_cites_what_is_not_there_is_corrected_and_the_proof_is_shown() -> None:
    stage = Misled()
    await stage.works()
    [task] = stage.session().tasks
    assert (task.state, stage.asked) == (TaskState.COMPLETED, ["judge"] * 2)
    assert [one.described for one in task.verdicts[-1].criteria] == ["✓ T001-A1 a.py:1"]
    assert "✓ T001-A1 a.py:1" in stage.news("completed:T001:1").lines
    await stage.presses(Verb.MERGE)
    summary = stage.chat.card("summary")
    assert isinstance(summary, SummaryCard)
    assert summary.verdict
    assert [one.described for one in summary.verdict.criteria] == ["✓ FR-001 a.py:1"]
    await stage.close()


async def test_what_the_judge_cannot_show_is_shown_to_a_person_who_decides() -> None:
    stage = Misled(stubborn=True)
    await stage.works()
    [task] = stage.session().tasks
    assert (task.state, task.verdicts[-1].outcome) == (TaskState.BLOCKED, Judgement.BLOCKED)
    [card] = [one for one in stage.chat.cards() if isinstance(one, NeedsYouCard)]
    assert "Nothing proves “Discount codes works” (named: proof.py:7)." in card.reason
    accept = next(one for one in card.choices if one.verb is Verb.ACCEPT)
    await stage.presses(Verb.ACCEPT, accept.about)
    assert stage.session().tasks[0].state is TaskState.COMPLETED
    assert not any("✓" in line for line in stage.news("completed:T001:1").lines)
    await stage.presses(Verb.MERGE)
    assert stage.session().status is Status.COMPLETED
    await stage.close()


async def test_a_change_larger_than_the_prompt_is_judged_in_parts_and_merged() -> None:
    stage = Misled(work=MANY)
    await stage.works()
    assert stage.asked.count("evidence") > 1
    await stage.presses(Verb.MERGE)
    session = stage.session()
    assert session.status is Status.COMPLETED
    assert session.ending.verdict
    assert session.ending.verdict.outcome is Judgement.DONE
    await stage.close()
