"""The bot can be asked: while it waits for answers, about a task, at any time with `ask`; and planning may ask once more."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import pytest
import pytest_asyncio

from bot.core.cards import QuestionsCard
from bot.core.choices import Command, Verb, Word
from bot.core.errors import PortError, Unavailable
from bot.core.events import Commanded
from bot.core.layout import lay_out
from bot.core.people import Thread
from bot.core.session import Session
from bot.core.sheets import markdown
from bot.core.states import Phase
from tests.fakes.chat import THREAD
from tests.fakes.llm import Call
from tests.fakes.repository import FakeRepository
from tests.fakes.worktrees import FakeWorktrees
from tests.stories.stage import PLAN, CrashError, Fate, Stage, draft

CODE = {"shop/discounts.py": "def apply_discount(order):\n    return order\n"}
LOOK = '{"look": [{"tool": "read", "path": "shop/discounts.py"}]}'
OPEN = {"text": "Which codes?", "why": "Prices.", "options": ["all", "some"], "default": "all"}
CHOICE = {"text": "Gift cards too?", "why": "shop/discounts.py:1", "options": ["no", "yes"], "default": "no"}  # fmt: skip
ELSEWHERE = Thread(platform=THREAD.platform, workspace=THREAD.workspace, channel=THREAD.channel, root="99")  # fmt: skip


class Asked(Stage):
    """Its model answers a step with what the test has written down for it, in order, and else as always."""

    def __init__(self, fate: Fate | None = None) -> None:
        super().__init__(fate, drafts=[draft("T001", "Codes")])
        self.repository = FakeRepository(files=CODE)
        self.worktrees = FakeWorktrees(self.repository)
        self.lines: dict[str, list[str]] = {}
        self.away: PortError | None = None
        self.will_say("clarify", {"title": "Add discounts", "questions": []})

    def model(self, call: Call) -> str:
        heading = call.system.partition("\n")[0].removeprefix("# ")
        if self.away:
            raise self.away
        waiting = self.lines.get(heading)
        return waiting.pop(0) if waiting else super().model(call)

    def will_say(self, heading: str, *lines: str | dict[str, Any]) -> None:
        self.lines[heading] = [one if isinstance(one, str) else json.dumps(one) for one in lines]

    async def asks(self, question: str, thread: Thread = THREAD) -> None:
        command = Command(word=Word.ASK, text=question)
        await self.tell(Commanded(**self._mark(), command=command, mention=True), thread)

    def read(self, thread: Thread = THREAD) -> str:
        cards = self.chat.cards(thread)
        return "\n".join(markdown(lay_out(card)) for card in cards).replace("\\", "")

    def data(self, heading: str) -> dict[str, Any]:
        """What the model was last told for that question."""
        calls = [call for call in self.llm.calls if call.system.startswith(f"# {heading}\n")]
        return calls[-1].fields()


@pytest_asyncio.fixture
async def stage() -> AsyncIterator[Asked]:
    made = Asked()
    await made.open()
    yield made
    await made.close()


async def test_a_question_answered_with_a_question_is_answered_and_stays_open(stage: Asked) -> None:
    stage.will_say("clarify", {"title": "Add discounts", "questions": [OPEN]})
    await stage.says("Add discounts")
    reply = "`apply_discount` (shop/discounts.py:1) takes any order."
    stage.will_say("answers", LOOK, {"answers": [], "unclear": ["D1"], "reply": reply})
    await stage.says("what do discounts do today?")
    assert reply in stage.read()
    assert "apply_discount" in stage.data("answers")["code"]
    session = stage.session()
    assert session.phase is Phase.CLARIFYING
    assert [q.answer for q in session.intent.clarifications] == [None]
    assert [str(one.look) for one in session.repository.looks] == ["read shop/discounts.py"]
    assert not [card for _, _, card in stage.chat.whispered if "Which question" in str(card)]
    await stage.presses(Verb.DEFAULTS)
    assert stage.session().phase is Phase.APPROVING


async def test_an_answer_and_a_question_in_one_message_are_both_taken(stage: Asked) -> None:
    two = [OPEN, {**OPEN, "text": "Since when?", "options": [], "default": "now"}]
    stage.will_say("clarify", {"title": "Add discounts", "questions": two})
    await stage.says("Add discounts")
    given = {
        "answers": [{"id": "D1", "answer": "some"}],
        "unclear": ["D2"],
        "reply": "It is not said.",
    }
    stage.will_say("answers", given)
    await stage.says("some of them; since when are there orders?")
    assert [q.answer for q in stage.session().intent.clarifications] == ["some", None]
    assert "It is not said." in stage.read()


async def test_a_task_that_is_asked_about_comes_with_what_was_done(stage: Asked) -> None:
    await stage.is_planned()
    await stage.approves()
    folder = stage.panes.folders[stage.panes.running()[0]]
    stage.worktrees.agent_commits(folder, {"shop/codes.py": "CODES = 1\n"}, "feat: codes")
    stage.will_say("words", {"kind": "question", "reply": "It adds codes.", "reason": "Asked."})
    await stage.says("@bot why is t001 a task?")
    [named] = stage.data("words")["named_tasks"]
    assert (named["key"], named["name"]) == ("T001", "Codes")
    assert "CODES = 1" in named["diff"]
    assert "It adds codes." in stage.read()


async def test_what_a_reply_names_and_is_not_there_is_said_to_be_unproven(stage: Asked) -> None:
    await stage.is_planned()
    stage.will_say(
        "words", {"kind": "question", "reply": "See shop/prices.py:7.", "reason": "Asked."}
    )
    await stage.says("where is the price?")
    assert "(Not proven: there is no file shop/prices.py.)" in stage.read()


async def test_ask_is_answered_without_a_session(stage: Asked) -> None:
    stage.will_say("ask", LOOK, {"reply": "In `apply_discount` (shop/discounts.py:1)."})
    await stage.asks("where are discounts applied?", ELSEWHERE)
    assert "In `apply_discount` (shop/discounts.py:1)." in stage.read(ELSEWHERE)
    told = stage.data("ask")
    assert told["session"] == {}
    assert "apply_discount" in told["code"]
    assert not stage.store.sessions()
    assert stage.world.beside.usage.calls == 2


@pytest.mark.parametrize("over", [False, True])
async def test_ask_is_answered_in_every_phase(stage: Asked, *, over: bool) -> None:
    await stage.is_planned()
    if over:
        await stage.commands_(Word.DISCARD, stage.session().id)
    before = stage.session().model_dump_json(exclude={"updated_at"})
    stage.will_say("ask", {"reply": "T001 adds codes."})
    await stage.asks("what does T001 do?")
    assert "T001 adds codes." in stage.read()
    assert stage.data("ask")["session"]["tasks"][0]["key"] == "T001"
    assert stage.session().model_dump_json(exclude={"updated_at"}) == before


async def test_a_model_that_cannot_be_asked_is_told_to_whoever_asks(stage: Asked) -> None:
    stage.away = Unavailable("the model is away", "Look at its server.")
    await stage.asks("where?", ELSEWHERE)
    assert "I cannot answer that now: the model is away" in stage.read(ELSEWHERE)


async def test_planning_asks_what_only_a_person_can_decide_once(stage: Asked) -> None:
    stage.will_say("plan", LOOK, {"questions": [CHOICE]}, PLAN)
    await stage.says("Add discounts")
    session = stage.session()
    assert session.phase is Phase.CLARIFYING
    [card] = [one for one in stage.chat.cards() if isinstance(one, QuestionsCard)][-1:]
    assert "While planning I found what only you can decide" in markdown(lay_out(card))
    assert stage.data("plan")["may_ask"] is True
    await stage.says("D1: yes")
    assert stage.session().phase is Phase.APPROVING
    assert stage.data("plan")["may_ask"] is False
    assert {"id": "D1", "question": "Gift cards too?", "answer": "yes"} in stage.data("plan")[
        "decisions"
    ]
    assert stage.session().request.rounds_while_planning == 1


async def test_a_plan_that_may_not_ask_again_is_written(stage: Asked) -> None:
    asking = {"questions": [CHOICE]}
    stage.will_say("plan", asking, asking, asking, asking, asking)
    await stage.says("Add discounts")
    await stage.presses(Verb.DEFAULTS)
    assert stage.session().phase is Phase.APPROVING
    assert len(stage.session().intent.clarifications) == 1


async def test_the_bot_may_die_while_planning_asks(stage: Asked) -> None:
    stage.will_say("plan", {"questions": [CHOICE]}, PLAN)
    await stage.says("Add discounts")
    await stage.revive()
    assert stage.session().phase is Phase.CLARIFYING
    await stage.presses(Verb.DEFAULTS)
    assert stage.session().phase is Phase.APPROVING
    cards = [one for one in stage.chat.cards() if isinstance(one, QuestionsCard)]
    assert len(cards) == 1


class Curious(Asked):
    """Its model looks twice before it plans, whatever was said before: a bot that died asks from the beginning."""

    def model(self, call: Call) -> str:
        if call.system.startswith("# plan\n") and len(call.turns) < 2:
            return LOOK if not call.turns else LOOK.replace("read", "outline")
        if call.system.startswith("# clarify\n"):
            return '{"title": "Add discounts", "questions": []}'
        return super().model(call)


class Told(Fate):
    """A fate that tells the calls of the ports by their numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[int, str] = {}

    def strike(self, life: int, when: str, name: str) -> None:
        super().strike(life, when, name)
        self.names[self.calls] = name


async def planned_under(fate: Fate) -> Session:
    stage = Curious(fate)
    await stage.open()
    try:
        await stage.says("Add discounts")
        return stage.session()
    finally:
        await stage.close()


async def test_a_bot_that_dies_in_any_round_of_looking_plans_the_same() -> None:
    told = Told()
    wanted = await planned_under(told)
    moments = [number for number, name in told.names.items() if name in ("look", "complete")]
    assert [*told.names.values()].count("look") == 2
    for moment, when in product(moments, ("before", "after")):
        session = await planned_under(Fate((moment, when)))
        assert session.phase is Phase.APPROVING
        assert session.plan.documents == wanted.plan.documents
        assert session.repository.looks == wanted.repository.looks


QUESTION = "where are discounts applied?"
REPLY = "In shop/discounts.py:1."


async def asked_under(fate: Fate) -> Asked:
    stage = Asked(fate)
    stage.will_say("ask", *[LOOK, {"reply": REPLY}] * 3)
    await stage.open()
    await stage.asks(QUESTION, ELSEWHERE)
    await stage.close()
    return stage


async def test_a_question_under_way_is_answered_once_wherever_the_bot_dies() -> None:
    told = Told()
    await asked_under(told)
    assert {"save", "look", "complete", "show"} <= {*told.names.values()}
    for moment, when in product(told.names, ("before", "after")):
        stage = await asked_under(Fate((moment, when)))
        assert len(stage.chat.cards(ELSEWHERE)) == 1
        assert REPLY in stage.read(ELSEWHERE)
        assert not stage.questions.load().open


class DyingWhileItAsks(Fate):
    """So many lives end as the model is asked."""

    def __init__(self, lives: int) -> None:
        super().__init__()
        self.lives = lives

    def strike(self, life: int, when: str, name: str) -> None:
        super().strike(life, when, name)
        if name == "complete" and life <= self.lives:
            self.dead = True
            raise CrashError


@pytest.mark.parametrize(("lives", "again"), [(1, False), (2, True), (5, True)])
async def test_after_a_second_death_they_are_told_to_ask_again(lives: int, *, again: bool) -> None:
    stage = await asked_under(DyingWhileItAsks(lives))
    assert len(stage.chat.cards(ELSEWHERE)) == 1
    assert ("Please ask me again" in stage.read(ELSEWHERE)) is again
    assert (REPLY in stage.read(ELSEWHERE)) is not again
    assert not stage.questions.load().open


async def test_a_question_that_is_delivered_again_after_a_restart_is_not_asked_twice(
    stage: Asked,
) -> None:
    stage.will_say("ask", {"reply": REPLY}, {"reply": "Nowhere."})
    await stage.asks(QUESTION, ELSEWHERE)
    await stage.revive()
    stage.heard -= 1
    await stage.asks(QUESTION, ELSEWHERE)
    assert "Nowhere." not in stage.read(ELSEWHERE)
    assert stage.llm.count == 1


async def test_a_bot_that_wakes_some_sessions_only_leaves_open_questions_for_later(
    stage: Asked,
) -> None:
    stage.llm.hold()
    await stage.asks(QUESTION, ELSEWHERE)
    await stage.close()
    stage.llm.release()
    stage.will_say("ask", {"reply": "T001 adds codes."}, {"reply": REPLY})
    await stage.open(frozenset())
    await stage.asks("what is planned?")
    assert "T001 adds codes." in stage.read()
    assert [one.event.command.text for one in stage.questions.load().open.values()] == [QUESTION]
    await stage.revive()
    await stage.settle()
    assert REPLY in stage.read(ELSEWHERE)
