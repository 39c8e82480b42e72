"""What agents notice is kept, becomes proposed intents when somebody asks, and is told when it is out of date."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core.cards import AnswerCard
from bot.core.choices import Word
from bot.core.intent import Intent, Risk, Source
from bot.core.layout import lay_out
from bot.core.projections.records import HistoryOutcome
from bot.core.projections.registry import EvidenceType, FiledIntent, Ground, Observation, Observer
from bot.core.sheets import markdown
from bot.core.states import IntentStatus
from tests.core.at_the_desk import CHANNEL
from tests.stories.stage import Stage

AT = datetime(2026, 1, 1, tzinfo=UTC)
LINE = {"content": "Two parsers do the same.", "evidence": [{"type": "file", "ref": "README.md"}]}


def seen(id: str, content: str = "", *grounds: Ground, **more: object) -> Observation:
    told: dict[str, object] = {"source": Observer.IMPLEMENT, "created_at": AT, **more}
    return Observation.model_validate(
        {"id": id, "content": content or f"Noticed {id}.", "evidence": grounds, **told}
    )


def ground(ref: str, type: EvidenceType = EvidenceType.FILE) -> Ground:
    return Ground(type=type, ref=ref)


class Reflecting(Stage):
    """Its model proposes what a test says."""

    proposals: tuple[dict[str, object], ...] = ()

    def answers(self, heading: str, told: dict[str, Any]) -> object:
        if heading == "reflect":
            self.told = told
            return {"proposals": list(self.proposals)}
        return super().answers(heading, told)


def proposal(*ids: str, **more: object) -> dict[str, object]:
    plain = {"title": "Merge the parsers", "body": "One is enough.", "risk": "low"}
    return {**plain, "type": "refactor", "observations": list(ids), **more}


async def asked(stage: Stage, word: Word) -> str:
    await stage.commands_(word, thread=CHANNEL)
    card = stage.chat.whispered[-1][2]
    assert isinstance(card, AnswerCard)
    return markdown(lay_out(card))


async def reflecting(*observations: Observation, **rules: object) -> Reflecting:
    stage = Reflecting()
    stage.rules = dataclasses.replace(stage.rules, **rules)  # type: ignore[arg-type]
    stage.registry.observations = {one.id: one for one in observations}
    await stage.open()
    return stage


@pytest.mark.covers("F-OBSERVE-1")
async def test_what_an_agent_wrote_down_is_appended_after_its_run() -> None:
    stage = Stage()
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    run = stage.panes.running()[0]
    assert stage.panes.notebook(run) in stage.panes.prompts[run]
    stage.panes.notebooks[run] = f"{json.dumps(LINE)}\nno JSON\n{json.dumps(LINE)}\n"
    await stage.agents_work()
    [one] = stage.registry.observations.values()
    session = stage.session()
    assert (one.content, one.evidence) == ("Two parsers do the same.", (ground("README.md"),))
    assert (one.source, one.intent_id, one.processed) == ("implement", session.intent.id, False)
    noted = [id for task in session.tasks for each in task.runs for id in each.noticed]
    assert noted == [one.id]
    await stage.commands_(Word.DISCARD, session.short)
    [history] = stage.registry.kept.values()
    assert (history.observations, history.outcome) == ((one.id,), HistoryOutcome.ESCALATED)
    await stage.close()


async def test_observations_that_cannot_be_kept_hold_nothing_up() -> None:
    stage = Stage()
    stage.registry.unreadable = ".forge/observations.yaml cannot be read"
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    run = stage.panes.running()[0]
    stage.panes.notebooks[run] = json.dumps(LINE)
    await stage.agents_work(rounds=2)
    assert all(task.runs[-1].noticed == () for task in stage.session().tasks)
    assert "cannot be read" in await asked(stage, Word.REFLECT)
    assert "cannot be read" in await asked(stage, Word.AUDIT)
    await stage.close()


@pytest.mark.covers("G-OUT-5", "F-REGISTRY-1", "F-REFLECT-1", "F-OBSERVE-5")
async def test_reflection_proposes_intents_that_wait_for_a_person() -> None:
    stage = await reflecting(seen("a"), seen("b"), seen("old", processed=True))
    stage.proposals = (proposal("a"),)
    assert "merge-the-parsers" in await asked(stage, Word.REFLECT)
    [filed] = stage.registry.filed.values()
    assert (filed.intent.source, filed.intent.status) == (
        Source.REFLECTION,
        IntentStatus.PROPOSED,
    )
    assert (filed.intent.type, filed.intent.risk) == ("refactor", Risk.LOW)
    assert filed.observations == ("a",)
    assert [one["id"] for one in stage.told["observations"]] == ["a", "b"]
    assert all(one.processed for one in stage.registry.observations.values())
    assert stage.store.sessions() == []
    assert "nobody has read yet" in await asked(stage, Word.REFLECT)
    assert "1 call, about" in await asked(stage, Word.USAGE)
    await stage.close()


@pytest.mark.covers("F-REFLECT-1")
async def test_what_was_proposed_before_a_kill_is_not_proposed_again() -> None:
    stage = await reflecting(seen("a"))
    intent = Intent(id="merge-the-parsers", title="Merge the parsers", body="One is enough.")
    stage.registry.filed[intent.id] = FiledIntent(intent=intent, observations=("a",))
    stage.proposals = (proposal("a"),)
    await asked(stage, Word.REFLECT)
    assert list(stage.registry.filed) == ["merge-the-parsers"]
    assert stage.registry.observations["a"].processed
    await stage.close()


async def test_an_id_nobody_knows_is_asked_again_and_then_done_without() -> None:
    stage = await reflecting(
        seen("a", "Fix: it crashes", ground("x.py")), seen("b", "Also.", ground("x.py")), seen("c")
    )
    stage.proposals = (proposal("z"),)
    await asked(stage, Word.REFLECT)
    found = [(f.intent.title, f.intent.type, f.intent.risk) for f in stage.registry.filed.values()]
    assert found == [("Fix: it crashes", "fix", Risk.MED), ("Noticed c.", "feature", Risk.MED)]
    await stage.close()


@pytest.mark.covers("F-REFLECT-1")
async def test_nothing_reflected_starts_alone_unless_the_operator_lets_it() -> None:
    for sources, started in (({Source.HUMAN}, 0), ({Source.REFLECTION}, 1)):
        stage = await reflecting(
            seen("a"), seen("b"), low_risk_alone=True, low_risk_sources=frozenset(sources)
        )
        stage.proposals = (proposal("a"), proposal("b", title="Rewrite all", risk="high"))
        await asked(stage, Word.REFLECT)
        assert len(stage.store.sessions()) == started
        assert len(stage.registry.filed) == 2
        await stage.close()


async def test_a_session_that_ends_is_reflected_on_only_where_the_operator_wants_it() -> None:
    for wanted in (False, True):
        stage = await reflecting(seen("a"), reflect_after=wanted)
        stage.proposals = (proposal("a"),)
        await stage.is_planned()
        await stage.commands_(Word.DISCARD, stage.session().short)
        assert stage.registry.observations["a"].processed is wanted
        assert ("merge-the-parsers" in stage.registry.filed) is wanted
        await stage.close()


@pytest.mark.covers("F-OBSERVE-4", "F-AUDIT-1")
async def test_an_audit_tells_what_is_out_of_date_and_notes_it_once() -> None:
    decision = ground("docs/decisions/1.md", EvidenceType.DECISION)
    stage = await reflecting(
        seen("gone", "A.", ground("src/gone.py")),
        seen("there", "B.", ground("README.md")),
        seen("decided", "C.", decision),
        seen("history", "D.", ground("1a2b3c4d", EvidenceType.HISTORY)),
        seen("skill", "E.", ground(".claude/skills/x/SKILL.md", EvidenceType.SKILL)),
    )
    stage.repository.commit("main", {"docs/decisions/1.md": "new"}, "decide anew")
    stage.repository.ages["docs/decisions/1.md"] = datetime(2026, 2, 1, tzinfo=UTC)
    orphan = Intent(id="part", title="Part", body="x", parent="whole")
    stage.registry.filed["part"] = FiledIntent(intent=orphan)
    text = await asked(stage, Word.AUDIT)
    assert "5 out of date, 5 of them new" in text
    for words in (
        "src/gone.py, which is not",
        "has changed since",
        "1a2b3c4d",
        "SKILL.md",
        "whole",
    ):
        assert words.replace("_", "\\_") in text
    noted = [o for o in stage.registry.observations.values() if o.source is Observer.AUDIT]
    assert [o.processed for o in noted] == [False] * 5
    assert "5 out of date, 0 of them new" in await asked(stage, Word.AUDIT)
    assert len(stage.registry.observations) == 10
    await stage.close()


@pytest.mark.covers("G-OUT-5")
async def test_nothing_noticed_or_remembered_reaches_a_session_by_itself() -> None:
    """No prompt of the model and no instruction of an agent says anything of it: it leads to proposals only."""

    async def told(stage: Stage) -> tuple[list[str], list[str]]:
        await stage.open()
        await stage.is_planned()
        await stage.approves()
        await stage.close()
        return [call.data for call in stage.llm.calls], list(stage.panes.prompts.values())

    plain = await told(Stage())
    stage = await reflecting(seen("a", "SECRET LORE"))
    await stage.close()
    intent = Intent(id="lore", title="SECRET LORE", body="SECRET LORE", status=IntentStatus.DONE)
    stage.registry.filed["lore"] = FiledIntent(intent=intent)
    assert await told(stage) == plain
