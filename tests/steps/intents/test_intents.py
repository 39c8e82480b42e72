"""Intents of a repository in a chat: listed, decided on, run; and kept in step with their sessions."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from bot.core.cards import AnswerCard, Card, RootCard
from bot.core.choices import Command, Verb, Word
from bot.core.errors import Refused, Unavailable
from bot.core.events import Commanded
from bot.core.intent import Intent, Question, Risk, Source
from bot.core.layout import lay_out
from bot.core.people import Person, Thread
from bot.core.projections.records import HistoryOutcome
from bot.core.projections.registry import FiledIntent, IntentDraft
from bot.core.projections.registry_writer import RegistryWriter
from bot.core.sheets import markdown
from bot.core.states import IntentStatus, Phase, TaskState
from bot.steps.finish import rules as finish
from bot.steps.intents import rules as intents
from bot.steps.intents.work import VERBS
from tests.core.at_the_desk import ANDY, AT, CHANNEL, DIRECT, GATE, NOBODY, STARTER, begun, take
from tests.fakes.chat import ANNA, MemoryChat
from tests.fakes.registry import MemoryRegistry
from tests.steps.scenes import commanded, executing, task
from tests.stories.stage import Stage

WISH = Intent(id="add-codes", title="Add codes", body="A code lowers the price.", type="fix")


def wish(**more: object) -> FiledIntent:
    return FiledIntent(intent=WISH.model_copy(update=more))


async def opened(*filed: FiledIntent) -> Stage:
    stage = Stage()
    stage.gate = GATE
    stage.registry.filed = {one.intent.id: one for one in filed}
    await stage.open()
    return stage


async def says(
    stage: Stage, what: str, name: str = "", by: Person = ANNA, place: Thread = CHANNEL
) -> str:
    """The answer to `intent what name`, as Markdown."""
    command = Command(word=Word.INTENT, argument=what, text=name)
    event = Commanded(id=stage.clock.new_id(), at=stage.clock.now(), by=by, command=command)
    await take(stage, event, place)
    await stage.settle()
    return markdown(lay_out(last(stage)))


def last(stage: Stage) -> AnswerCard:
    card = stage.chat.whispered[-1][2]
    assert isinstance(card, AnswerCard)
    return card


async def press(stage: Stage, verb: Verb, by: Person = ANNA) -> str:
    [choice] = [choice for choice in last(stage).choices if choice.verb is verb]
    await stage.presses(choice.verb, choice.about, thread=CHANNEL)
    return last(stage).title


def status(stage: Stage, id: str = "add-codes") -> IntentStatus:
    return stage.registry.filed[id].intent.status


@pytest.mark.covers("F-HISTORY-2")
async def test_an_intent_is_approved_run_and_done_in_a_session_of_its_own() -> None:
    stage = await opened(wish())
    assert "waits for approval" in await says(stage, "list")
    assert "no approval of a plan" in await says(stage, "show", "add-codes")
    assert await press(stage, Verb.INTENT_APPROVE) == "Intent add-codes is approved, by Anna"
    assert "runs" in await press(stage, Verb.INTENT_RUN)
    [listed] = stage.store.sessions()
    root = stage.chat.cards(listed.thread)[0]
    assert isinstance(root, RootCard)
    assert (root.title, root.request) == ("Add codes", "A code lowers the price.")
    session = stage.session(listed.thread)
    assert (session.intent.id, session.intent.type, session.title) == (
        "add-codes",
        "fix",
        "Add codes",
    )
    assert status(stage) is IntentStatus.APPROVED  # its plan is still to be approved
    await stage.presses(Verb.DEFAULTS, thread=listed.thread)
    await stage.approves(listed.thread)
    assert status(stage) is IntentStatus.EXECUTING
    await stage.agents_work(rounds=2)
    await stage.presses(Verb.MERGE, thread=listed.thread)
    assert status(stage) is IntentStatus.DONE
    filed = stage.registry.filed["add-codes"]
    assert [q.answer for q in filed.intent.clarifications] == ["no", "up"]
    [history] = stage.registry.kept.values()
    assert (history.intent_id, history.outcome) == ("add-codes", HistoryOutcome.SUCCESS)
    await stage.close()


@pytest.mark.covers("F-REGISTRY-1")
async def test_a_session_begun_in_chat_has_its_intent_in_the_registry() -> None:
    stage = await opened()
    await stage.is_planned()
    [filed] = stage.registry.filed.values()
    session = stage.session()
    assert (filed.intent.id, filed.session) == (session.short, session.id)
    assert (filed.intent.title, filed.intent.risk) == ("Add discounts", Risk.LOW)
    assert ".forge" in stage.repository.hidden
    await stage.commands_(Word.DISCARD, session.short)
    assert status(stage, session.short) is IntentStatus.REJECTED
    await stage.close()


@pytest.mark.covers(
    "F-MOVE-4",
    "F-MOVE-5",
    "F-MOVE-6",
    "F-INBOX-4",
    "F-STATUS-2",
    "F-STATUS-3",
    "F-HISTORY-2",
    "F-HISTORY-3",
    "F-HISTORY-4",
)
@pytest.mark.parametrize(
    ("failed", "became", "outcome"),
    [
        (1, IntentStatus.BLOCKED, HistoryOutcome.ESCALATED),
        (3, IntentStatus.ERROR, HistoryOutcome.FAILED),
    ],
)
async def test_what_some_or_all_tasks_failed_waits_for_a_person(
    failed: int, became: IntentStatus, outcome: HistoryOutcome
) -> None:
    """The commits of what succeeded are kept: nothing but the status is told here."""
    tasks = [
        task(f"T00{n}", TaskState.CANCELLED if n <= failed else TaskState.COMPLETED, blocked="no")
        for n in (1, 2, 3)
    ]
    before = executing(*tasks, phase=Phase.FINISHING, request__questions_asked=True)
    session = before.copied()
    session.intent = session.intent.model_copy(update={"id": session.short, "body": "Codes."})
    list(finish.end_session(session, commanded(Word.HELP)))
    registry = MemoryRegistry()
    registrar = RegistryWriter(registry)
    registrar.note(before, session)
    await registrar.written()
    [filed] = registry.filed.values()
    assert filed.intent.status is became
    assert intents.waiting_reason(filed.intent).startswith(became)
    assert {verb for verb in VERBS if not intents.why_not_possible(filed, verb, session)} == {
        Verb.INTENT_APPROVE,
        Verb.INTENT_REJECT,
    }
    [history] = registry.kept.values()
    assert (history.outcome, "T001: no" in history.failure_reason) == (outcome, True)
    assert [step.step[:4] for step in history.step_results if step.step != "plan"] == [
        "T001",
        "T002",
        "T003",
    ]


async def test_two_who_run_an_intent_at_once_begin_one_session() -> None:
    class SlowChat(MemoryChat):
        async def open(self, thread: Thread, card: Card) -> Thread:
            await asyncio.sleep(0.01)
            return await super().open(thread, card)

    stage = Stage()
    stage.gate, stage.chat = GATE, SlowChat()
    stage.registry.filed = {"add-codes": wish(status=IntentStatus.APPROVED)}
    await stage.open()
    command = Command(word=Word.INTENT, argument="run", text="add-codes")
    runs = [Commanded(id=by.id, at=AT, by=by, command=command) for by in (ANNA, ANDY)]
    await asyncio.gather(*(take(stage, run, CHANNEL) for run in runs))
    await stage.settle()
    assert len(stage.store.sessions()) == 1
    told = [markdown(lay_out(card)) for _, _, card in stage.chat.whispered]
    assert sum("is carried out in the session" in one for one in told) == 1
    await stage.close()


@pytest.mark.covers("F-MOVE-6")
async def test_a_blocked_intent_is_approved_and_run_again_in_another_session() -> None:
    stage = await opened(wish(status=IntentStatus.BLOCKED))
    assert "blocked" in await says(stage, "show", "add")
    await press(stage, Verb.INTENT_APPROVE)
    await press(stage, Verb.INTENT_RUN)
    first = stage.registry.filed["add-codes"].session
    [listed] = stage.store.sessions()
    assert listed.id == first
    await stage.commands_(Word.DISCARD, first[:8])
    assert status(stage) is IntentStatus.REJECTED
    assert "it cannot become approved" in await says(stage, "approve", "add-codes")
    await stage.close()


async def test_what_a_session_is_at_work_on_is_decided_there() -> None:
    stage = await opened(wish(status=IntentStatus.APPROVED))
    await says(stage, "run", "add-codes")
    for what in ("approve", "reject", "run"):
        assert "is carried out in the session" in await says(stage, what, "add-codes")
    assert len(stage.store.sessions()) == 1
    await stage.close()


@pytest.mark.covers("F-REGISTRY-2")
async def test_nothing_runs_that_nobody_has_approved() -> None:
    stage = await opened(wish(risk=Risk.LOW))
    stage.registry.filed["forged"] = wish(id="forged", status=IntentStatus.EXECUTING)
    for id in ("add-codes", "forged"):
        assert "Approve it first" in await says(stage, "run", id)
    assert stage.store.sessions() == []
    await stage.close()


@pytest.mark.parametrize(
    ("source", "risk", "runs"),
    [
        (Source.HUMAN, Risk.LOW, True),
        (Source.REFLECTION, Risk.LOW, False),
        (Source.HUMAN, Risk.MED, False),
        (Source.HUMAN, Risk.HIGH, False),
        (Source.HUMAN, None, False),
    ],
)
async def test_low_risk_of_chosen_sources_needs_no_approval_where_the_operator_lets_it(
    source: Source, risk: Risk | None, runs: bool
) -> None:
    stage = Stage()
    stage.rules = dataclasses.replace(stage.rules, low_risk_alone=True)
    stage.registry.filed["add-codes"] = wish(source=source, risk=risk)
    await stage.open()
    await says(stage, "run", "add-codes")
    assert bool(stage.store.sessions()) is runs
    await stage.close()


async def test_a_file_that_says_low_risk_is_no_judgement_of_it() -> None:
    """Anybody in the repository can write it; what counts for a plan is what was judged, or worse."""
    assert intents.as_session_intent(wish(risk=Risk.LOW)).risk is None
    assert intents.as_session_intent(wish(risk=Risk.HIGH)).risk is Risk.HIGH
    assert intents.higher_risk(None, Risk.LOW) is Risk.LOW
    assert intents.higher_risk(Risk.HIGH, Risk.LOW) is Risk.HIGH
    assert intents.higher_risk(None, None) is None


@pytest.mark.parametrize("what", ["list", "show", "approve", "reject", "run"])
async def test_everybody_may_do_with_intents_what_their_role_lets_them(what: str) -> None:
    stage = await opened(wish(status=IntentStatus.APPROVED))
    name = "" if what == "list" else "add-codes"
    before = dict(stage.registry.filed)
    for by in (NOBODY, *([STARTER] if what in ("approve", "reject") else [])):
        assert "may not do that" in await says(stage, what, name, by)
    assert (stage.registry.filed, stage.store.sessions()) == (before, [])
    if what not in ("approve", "reject"):
        assert "may not" not in await says(stage, what, name, STARTER)
    await stage.close()


async def test_a_button_counts_only_for_what_was_shown() -> None:
    stage = await opened(wish())
    await says(stage, "show", "add-codes")
    stage.registry.filed["add-codes"] = wish(body="Delete everything.")
    assert "has changed since" in await press(stage, Verb.INTENT_APPROVE)
    assert status(stage) is IntentStatus.PROPOSED
    await stage.close()


@pytest.mark.covers("F-DRAFT-2", "F-DRAFT-3")
async def test_a_draft_becomes_an_intent_whose_kind_and_risk_are_estimated() -> None:
    stage = await opened()
    draft = IntentDraft(name="Add codes.md", digest="d1", title="Add codes", body="A code.")
    stage.registry.drafts[draft.name] = draft
    assert "Add codes" in await says(stage, "list")
    await says(stage, "list")
    filed = stage.registry.filed["add-codes"]
    assert (filed.intent.type, filed.intent.risk) == ("feature", Risk.MED)
    assert (filed.intent.source, filed.intent.status) == (Source.HUMAN, IntentStatus.PROPOSED)
    assert stage.registry.taken == [draft]
    await stage.close()


async def test_a_file_that_takes_no_estimate_is_estimated_once() -> None:
    stage = await opened(wish(type=""))

    async def refused(*_: object, **__: object) -> FiledIntent:
        raise Refused("it cannot be edited without loss")

    stage.registry.change = refused  # type: ignore[method-assign]
    for _ in range(3):
        await says(stage, "list")
        await stage.settle()
    asked = [call for call in stage.llm.calls if call.system.startswith("# estimate")]
    assert len(asked) == 1
    await stage.close()


@pytest.mark.covers("F-DRAFT-3")
async def test_without_a_model_the_kind_is_read_from_the_words_and_the_risk_waits() -> None:
    stage = Stage()
    stage.answers = lambda heading, told: "I cannot say."  # type: ignore[method-assign]
    stage.registry.filed["add-codes"] = wish(type="", title="Fix the login", body="It crashes.")
    await stage.open()
    await says(stage, "list")
    await stage.settle()
    intent = stage.registry.filed["add-codes"].intent
    assert (intent.type, intent.risk) == ("fix", Risk.MED)
    await stage.close()


@pytest.mark.covers("F-INTENT-OPEN")
async def test_an_open_question_of_a_file_is_asked_in_the_session() -> None:
    asked = (
        Question(number=1, text="Which basket?"),
        Question(number=2, text="Now?", answer="yes"),
    )
    stage = await opened(wish(status=IntentStatus.APPROVED, clarifications=asked))
    assert "1 open question" in await says(stage, "list")
    await says(stage, "run", "add-codes")
    [listed] = stage.store.sessions()
    session = stage.session(listed.thread)
    assert [q.text for q in session.intent.open_questions][:1] == ["Which basket?"]
    assert session.phase is Phase.CLARIFYING
    await stage.close()


@pytest.mark.covers("F-INBOX-1", "F-INBOX-2", "F-INBOX-3", "F-INBOX-4")
async def test_the_inbox_shows_what_waits_besides_sessions() -> None:
    stage = await opened(
        wish(),
        wish(id="b", status=IntentStatus.BLOCKED),
        wish(id="e", status=IntentStatus.ERROR),
        wish(id="d", status=IntentStatus.DONE),
        wish(id="a", status=IntentStatus.APPROVED),
        wish(id="q", status=IntentStatus.APPROVED, clarifications=(Question(number=1, text="Q"),)),
    )
    stage.registry.problems = (".forge/intents/x.yaml cannot be read.",)
    await stage.commands_(Word.INBOX, thread=CHANNEL)
    text = markdown(lay_out(last(stage)))
    found = [line.split(" — ")[1] for line in text.splitlines() if " — " in line]
    assert [one.split(" ")[0] for one in found] == ["add-codes", "b", "e", "q"]
    assert "x.yaml cannot be read" in text
    await stage.close()


async def test_what_one_talks_of_with_the_bot_alone_is_listed_nowhere_else() -> None:
    stage = await opened()
    await begun(stage, DIRECT)
    assert "Add discounts" not in await says(stage, "list")
    assert "Add discounts" in await says(stage, "list", place=DIRECT)
    await stage.close()


async def test_what_cannot_be_used_is_told_and_the_work_goes_on() -> None:
    stage = await opened()
    stage.registry.trouble = Unavailable(".forge cannot be written", "Make room.")
    assert ".forge cannot be written" in await says(stage, "list")
    await stage.is_planned()
    assert stage.session().phase is Phase.APPROVING
    stage.registry.trouble = None
    await stage.commands_(Word.DISCARD, stage.session().short)
    assert status(stage, stage.session().short) is IntentStatus.REJECTED
    await stage.close()


@pytest.mark.covers("F-HISTORY-1")
async def test_what_was_lost_by_a_kill_is_made_good_at_the_next_start() -> None:
    stage = await opened()
    await stage.is_planned()
    await stage.commands_(Word.DISCARD, stage.session().short)
    await stage.close()
    stage.registry.filed.clear()
    stage.registry.kept.clear()
    await stage.open()
    await stage.settle()
    assert list(stage.registry.kept) == [stage.session().short]
    await stage.close()


async def test_without_a_registry_nothing_is_kept_and_that_is_said() -> None:
    stage = await opened()
    stage.keeps = False
    await stage.revive()
    await stage.is_planned()
    assert "No intents are kept here" in await says(stage, "list")
    assert (stage.registry.filed, stage.repository.hidden) == ({}, set())
    await stage.close()
