"""What the model may say about words and events, and what is made of it: nothing beyond what was offered."""

from __future__ import annotations

import json
from typing import cast

import pytest

from bot.core.errors import Unavailable
from bot.core.naming import task_label
from bot.core.session import Message, Session, Speaker
from bot.core.states import Outcome, Phase, RunState, Status, TaskState
from bot.core.talk import Change, WordKind, Words
from bot.core.task import Acceptance, Option, Step
from bot.steps.asking import ask, prompt
from bot.steps.change.questions import NAMED, NOT_TOLD, ImpactPrompt
from bot.steps.execute.questions import NextStepPrompt
from bot.steps.talk import questions
from tests.fakes.llm import ScriptedLlm
from tests.steps.scenes import ANN, T0, awaiting_approval, check, executing, question, run, task


def words(text: str) -> Words:
    return Words(id="w1", by=ANN, at=T0, text=text)


def change(text: str) -> Change:
    return Change(id="c1", text=text, by=ANN, at=T0, revision=2)


def answer(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False)


def sent(llm: ScriptedLlm, call: int = 0) -> dict[str, object]:
    return llm.calls[call].fields()


def three(**changes: object) -> Session:
    return executing(task("T001"), task("T002", TaskState.RUNNING), task("T003"), **changes)


# words


@pytest.mark.parametrize("kind", WordKind)
async def test_words_are_talk_a_question_or_a_change(kind: WordKind) -> None:
    llm = ScriptedLlm([answer(kind=kind, reply="Two are done.", reason="It asks.")])
    found, usage = await ask(llm, questions.WordsPrompt(three(), words("how far are you?")))
    assert (found.kind, found.reply, found.reason) == (kind, "Two are done.", "It asks.")
    assert usage.calls == 1


async def test_the_model_sees_the_words_and_how_the_session_stands() -> None:
    session = three()
    session.intent = session.intent.model_copy(
        update={"clarifications": (question(1, answer="yes"), question(2))}
    )
    session.say(Speaker.USER, "earlier words", T0)
    llm = ScriptedLlm([answer(kind="talk")])
    await ask(llm, questions.WordsPrompt(session, words("thanks")))
    data = sent(llm)
    assert llm.calls[0].system == prompt("words")  # and nothing of what people said
    assert (data["said"], data["by"], data["phase"]) == ("thanks", "Ann", "executing")
    assert data["request"] == "Add discounts"
    assert data["decisions"] == [{"id": "D1", "question": "Question 1?", "answer": "yes"}]
    assert data["conversation"] == [{"role": "User", "content": "earlier words"}]
    assert "'state': 'Running'" in str(data["tasks"])


async def test_a_kind_that_is_none_is_asked_for_again() -> None:
    llm = ScriptedLlm([answer(kind="order"), answer(kind="change", reason="It wants more.")])
    found, usage = await ask(llm, questions.WordsPrompt(three(), words("add a basket")))
    assert found.kind is WordKind.CHANGE
    assert "kind" in str(sent(llm, 1)["correction"])
    assert usage.calls == 2


async def test_a_question_without_an_answer_is_asked_again() -> None:
    llm = ScriptedLlm([answer(kind="question"), answer(kind="question", reply="I do not know.")])
    found, _ = await ask(llm, questions.WordsPrompt(three(), words("why?")))
    assert found.reply == "I do not know."


async def test_words_that_nobody_understands_are_talk_without_a_reason() -> None:
    llm = ScriptedLlm(["hm", answer(kind="maybe"), "{}"])
    found, usage = await ask(llm, questions.WordsPrompt(three(), words("add a basket")))
    assert (found.kind, found.reply, found.reason) == (WordKind.TALK, "", "")
    assert usage.calls == 3


async def test_words_that_were_understood_always_have_a_reason() -> None:
    found, _ = await ask(
        ScriptedLlm([answer(kind="talk")]), questions.WordsPrompt(three(), words("thanks"))
    )
    assert found.reason


async def test_a_model_that_is_down_is_told_to_the_caller() -> None:
    with pytest.raises(Unavailable):
        await ask(
            ScriptedLlm([Unavailable("down")]), questions.WordsPrompt(three(), words("hello"))
        )


async def test_an_answer_in_another_language_is_asked_for_again() -> None:
    session = three()
    session.intent = session.intent.model_copy(update={"body": "割引コードを追加してください"})
    japanese = "割引コードの作業はまだ終わっていません。"
    english = "The discount codes are still being worked on."
    llm = ScriptedLlm([answer(kind="question", reply=r) for r in (english, japanese)])
    found, _ = await ask(llm, questions.WordsPrompt(session, words("進捗は?")))
    assert found.reply == japanese
    assert sent(llm)["language"] == "Japanese"


async def test_long_documents_and_long_talk_leave_room_for_the_words() -> None:
    session = awaiting_approval(task("T001"))
    session.plan.documents = tuple(
        one.model_copy(update={"text": "本文" * 100_000}) for one in session.plan.documents
    )
    for _ in range(40):
        session.say(Speaker.USER, "話" * 10_000, T0)
    llm = ScriptedLlm([answer(kind="talk")])
    await ask(llm, questions.WordsPrompt(session, words("thanks")))
    assert len(llm.calls[0].data.encode()) < 36_000
    assert sent(llm)["said"] == "thanks"


# a change


@pytest.mark.covers("G-RULE-LIVE-1")
async def test_a_change_touches_the_tasks_the_model_names() -> None:
    llm = ScriptedLlm([answer(reason="Wider.", affected=[{"key": "T002", "why": "Its width."}])])
    found, _ = await ask(llm, ImpactPrompt(three(), change("make the receipt wider")))
    assert [(one.task_id, one.why) for one in found.affected] == [("id-T002", "Its width.")]
    assert found.reason == "Wider."


@pytest.mark.covers("G-RULE-LIVE-4")
async def test_the_model_sees_what_every_task_is_to_do() -> None:
    second = task(
        "T002",
        TaskState.RUNNING,
        description="Print it",
        acceptance=(Acceptance(id="T002-A1", text="It prints"),),
        files=("receipt.py",),
        dependencies=("id-T001",),
    )
    gone = task("T003", TaskState.REPLACED)
    llm = ScriptedLlm([answer(affected=[])])
    await ask(llm, ImpactPrompt(executing(task("T001"), second, gone), change("wider")))
    assert llm.calls[0].system == prompt("impact")
    data = sent(llm)
    assert data["change"] == "wider"
    first, other = cast("list[dict[str, object]]", data["tasks"])
    assert first["key"] == "T001"
    assert other == {
        "key": "T002",
        "name": "Task T002",
        "description": "Print it",
        "state": "Running",
        "acceptance": ["It prints"],
        "files": ["receipt.py"],
        "depends_on": ["T001"],
    }


async def test_wholly_new_work_touches_no_task() -> None:
    found, _ = await ask(
        ScriptedLlm([answer(affected=[])]), ImpactPrompt(three(), change("also add export"))
    )
    assert found.affected == ()


async def test_a_key_that_is_no_tasks_is_ignored() -> None:
    named = [{"key": "T099", "why": "?"}, {"key": "t001", "why": "Prices."}]
    found, usage = await ask(
        ScriptedLlm([answer(affected=named)]), ImpactPrompt(three(), change("cheaper"))
    )
    assert [one.task_id for one in found.affected] == ["id-T001"]
    assert usage.calls == 1


async def test_an_answer_with_unknown_keys_alone_is_asked_for_again() -> None:
    llm = ScriptedLlm([answer(affected=[{"key": key}]) for key in ("T099", "T003")])
    found, _ = await ask(llm, ImpactPrompt(three(), change("cheaper")))
    assert [one.task_id for one in found.affected] == ["id-T003"]
    assert "T099" in str(sent(llm, 1)["correction"])


@pytest.mark.parametrize(
    "text", ["T002 shall be blue", "make t002 blue", "T2: blue", "Ｔ００２を青く", "青く(T002)"]
)
async def test_a_task_that_is_named_is_touched_whatever_the_model_says(text: str) -> None:
    found, _ = await ask(ScriptedLlm([answer(affected=[])]), ImpactPrompt(three(), change(text)))
    assert [(one.task_id, one.why) for one in found.affected] == [("id-T002", NAMED)]


@pytest.mark.parametrize("text", ["use a t2.micro", "AT002", "T0020", "T002x1", "fort002", "MT-T2"])
async def test_what_only_looks_like_a_key_names_no_task(text: str) -> None:
    found, _ = await ask(ScriptedLlm([answer(affected=[])]), ImpactPrompt(three(), change(text)))
    assert found.affected == ()


async def test_a_task_is_known_by_its_label_too() -> None:
    session = executing(task("T001", number=1), task("T002", number=2))
    text = f"{task_label(session.id, 2).upper()} shall be blue"
    found, _ = await ask(ScriptedLlm([answer(affected=[])]), ImpactPrompt(session, change(text)))
    assert [one.task_id for one in found.affected] == ["id-T002"]


async def test_of_a_replaced_task_the_replacements_are_touched() -> None:
    old = task("T001", TaskState.REPLACED, replaced_by=("id-T004", "id-T005"))
    newer = task("T004", TaskState.REPLACED, replaced_by=("id-T006",))
    session = executing(old, newer, task("T005"), task("T006"))
    found, _ = await ask(
        ScriptedLlm([answer(affected=[])]), ImpactPrompt(session, change("T001: blue"))
    )
    assert [one.task_id for one in found.affected] == ["id-T005", "id-T006"]


async def test_what_people_gave_up_is_touched_only_if_they_name_it() -> None:
    session = executing(task("T001", TaskState.CANCELLED), task("T002"))
    everything = answer(affected=[{"key": "T001", "why": "a"}, {"key": "T002", "why": "b"}])
    found, _ = await ask(ScriptedLlm([everything]), ImpactPrompt(session, change("blue")))
    assert [one.task_id for one in found.affected] == ["id-T002"]
    found, _ = await ask(ScriptedLlm([everything]), ImpactPrompt(session, change("T001 after all")))
    assert [one.task_id for one in found.affected] == ["id-T001", "id-T002"]


async def test_nothing_usable_holds_only_what_people_named() -> None:
    llm = ScriptedLlm(["no", answer(reason="no list"), answer(affected="all")])
    found, usage = await ask(llm, ImpactPrompt(three(), change("T003 in blue, the rest too")))
    assert [one.task_id for one in found.affected] == ["id-T003"]
    assert found.reason == NOT_TOLD
    assert usage.calls == 3


async def test_very_long_tasks_share_the_room() -> None:
    many = [task(f"T{n:03d}", description=f"{n} is " + "long " * 2000) for n in range(1, 51)]
    llm = ScriptedLlm([answer(affected=[])])
    await ask(llm, ImpactPrompt(executing(*many), change("blue")))
    assert len(llm.calls[0].data.encode()) < 36_000
    assert all(f"{n} is long" in llm.calls[0].data for n in range(1, 51))


# after the end


@pytest.mark.covers("G-RULE-CONTINUE-1", "G-RULE-CONTINUE-2", "G-FR-021")
@pytest.mark.parametrize("verdict", ["continue", "new", "talk"])
async def test_words_after_the_end_continue_begin_anew_or_are_talk(verdict: str) -> None:
    llm = ScriptedLlm([answer(verdict=verdict, reason="So it is.", reply="Hi.")])
    session = three(phase=Phase.DONE, status=Status.COMPLETED)
    found, _ = await ask(llm, questions.ContinuePrompt(session, words("export as well")))
    assert (found.verdict, found.reason, found.reply) == (verdict, "So it is.", "Hi.")
    data = sent(llm)
    assert data["may_continue"] is True
    assert data["session"] == {
        "title": "Add discounts",
        "spec": "# spec",
        "tasks": [
            {"key": one.key, "name": one.name, "state": one.state.value, "branch": f"agent/t00{n}"}
            for n, one in enumerate(session.tasks, 1)
        ],
        "branches": ["agent/t001", "agent/t002", "agent/t003"],
        "ended": {"status": "Completed", "work": "", "merged_commit": ""},
    }


async def test_a_discarded_session_is_never_continued() -> None:
    llm = ScriptedLlm([answer(verdict="continue", reason="More of it.")])
    found, usage = await ask(
        llm, questions.ContinuePrompt(three(status=Status.DISCARDED), words("export as well"))
    )
    assert (found.verdict, found.reason) == ("new", "More of it.")
    assert sent(llm)["may_continue"] is False
    assert usage.calls == 1


async def test_nothing_usable_after_the_end_begins_nothing() -> None:
    llm = ScriptedLlm(["?", answer(verdict="perhaps"), answer()])
    found, _ = await ask(llm, questions.ContinuePrompt(three(), words("export as well")))
    assert (found.verdict, found.reason, found.reply) == ("talk", "", "")


# the next step

STEP = Step(
    id="s1",
    happened="The tests failed.",
    options=(Option(id="again", says="Go on"), Option(id="ask", says="Ask")),
    default="again",
)


async def test_the_model_chooses_one_of_the_options() -> None:
    failing = task("T001", past_choices=("check_failed>again",), checks=[check(1, 1, "3 != 4")])
    failing.runs.append(run("T001", 1, RunState.ENDED).model_copy(update={"message": "I tried"}))
    failing.update_run(failing.runs[-1].model_copy(update={"outcome": Outcome.FINISHED}))
    llm = ScriptedLlm([answer(choice="ask", reason="Twice the same.")])
    found, _ = await ask(llm, NextStepPrompt(executing(failing), STEP, failing))
    assert (found.choice, found.reason) == ("ask", "Twice the same.")
    data = sent(llm)
    assert data["options"] == [{"id": "again", "says": "Go on"}, {"id": "ask", "says": "Ask"}]
    assert (data["happened"], data["default"]) == ("The tests failed.", "again")
    assert data["history"] == ["check_failed>again"]
    assert "3 != 4" in str(data["task"])
    assert "I tried" in str(data["task"])


async def test_a_step_that_was_not_offered_does_not_count() -> None:
    llm = ScriptedLlm([answer(choice="merge"), answer(choice="ask")])
    found, _ = await ask(llm, NextStepPrompt(three(), STEP, None))
    assert found.choice == "ask"
    assert "again, ask" in str(sent(llm, 1)["correction"])


async def test_no_usable_choice_is_none() -> None:
    llm = ScriptedLlm([answer(choice="merge"), answer(choice=1), "ask"])
    found, _ = await ask(llm, NextStepPrompt(three(), STEP, None))
    assert found.choice == ""


async def test_where_there_is_nothing_to_choose_nobody_is_asked() -> None:
    only = STEP.model_copy(update={"options": STEP.options[:1]})
    found, usage = await ask(ScriptedLlm(), NextStepPrompt(three(), only, None))
    assert (found.choice, usage.calls) == ("again", 0)


# old talk


def messages(count: int) -> list[Message]:
    return [
        Message(role=Speaker.USER, content=f"I want {n} colours. " * 20, timestamp=T0)
        for n in range(count)
    ]


@pytest.mark.covers("G-US8.1", "G-RULE-CONTEXT-1")
async def test_old_talk_becomes_one_summary() -> None:
    session = executing(task("T001", TaskState.COMPLETED), task("T002"))
    llm = ScriptedLlm([answer(summary="They want colours.")])
    summary, _ = await ask(llm, questions.CompressPrompt(session, messages(3)))
    assert summary == "They want colours."
    data = sent(llm)
    assert len(cast("list[object]", data["messages"])) == 3
    assert "T001" in str(data["finished_tasks"])
    assert "T002" not in str(data["finished_tasks"])


async def test_very_much_old_talk_still_fits() -> None:
    llm = ScriptedLlm([answer(summary="Colours.")])
    await ask(llm, questions.CompressPrompt(three(), messages(400)))
    assert len(llm.calls[0].data.encode()) < 60_000


async def test_without_the_model_the_former_summary_and_the_last_messages_stay() -> None:
    former = Message(role=Speaker.SYSTEM, content="They want " + "blue " * 100, timestamp=T0)
    llm = ScriptedLlm(["no", answer(summary=""), answer()])
    summary, _ = await ask(llm, questions.CompressPrompt(three(), [former, *messages(30)]))
    assert summary.startswith(former.content)
    assert "- 10 earlier messages are left out." in summary
    assert all(f"- User: I want {n} colours." in summary for n in range(10, 30))
    assert len(summary) <= questions.LONGEST_SUMMARY
