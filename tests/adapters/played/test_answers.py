"""What the played model answers: every question in its shape, and documents as the bot will read them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai import AsyncOpenAI

from adapters.demo.answers import answer
from adapters.demo.brief import PIECES
from adapters.demo.texts import english, japanese
from adapters.demo.work import WORK
from bot.core.languages import is_in_language
from bot.core.spec_kit import spec
from bot.core.spec_kit.drafts import TaskDraft, breakdown_issues, draft_problems
from bot.core.spec_kit.spec import check_plan, check_spec
from tests.adapters.played.conftest import ask, replied, written
from tests.prompts import REPLIES

JAPANESE_REQUEST = "買い物かごに割引コードとレシートを追加してください"
JSON_TYPES = {
    "string": str,
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "object": dict,
}


def is_shaped(question: str, reply: dict[str, Any]) -> bool:
    """No word in it that the reply has none for, and each of the type that it has there."""
    schema = REPLIES[question].model_json_schema()
    for word, value in reply.items():
        kinds = [schema["properties"][word], *schema["properties"][word].get("anyOf", ())]
        kinds += [schema["$defs"][one["$ref"].rpartition("/")[2]] for one in kinds if "$ref" in one]
        types = [JSON_TYPES[one["type"]] for one in kinds if one.get("type", "null") != "null"]
        if not any(isinstance(value, one) for one in types):
            return False
    return set(schema["required"]) <= set(reply)


@pytest.mark.parametrize("request_", ["Add a receipt", JAPANESE_REQUEST, ""])
@pytest.mark.parametrize("question", REPLIES)
def test_every_question_is_answered_as_its_reply_wants_it(question: str, request_: str) -> None:
    assert is_shaped(question, replied(question, request=request_))


def test_a_question_that_is_not_in_the_script_gets_the_plainest_reply() -> None:
    schema = REPLIES["replan"].model_json_schema()
    reply = json.loads(answer("# unheard of", "{}", "2026-01-02", schema=schema))
    assert REPLIES["replan"].model_validate(reply).model_dump(exclude_defaults=True) == reply
    assert len(reply["tasks"]) == 2


@pytest.mark.parametrize("question", REPLIES)
def test_data_of_odd_types_is_answered_as_if_it_were_not_there(question: str) -> None:
    names = ("said", "questions", "tasks", "tasks_now", "previous", "earlier", "session")
    names += ("decisions", "findings", "messages", "task", "checks", "options", "change", "spec")
    names += ("signs", "signs_accepted", "report", "not_done", "requirements", "why")
    names += ("observations", "intents", "title", "body")
    odd_ones: tuple[object, ...] = (None, 7, [None, 7, "x"], {"tasks": 7})
    for odd in odd_ones:
        reply = replied(question, **dict.fromkeys(names, odd))
        assert is_shaped(question, reply)


async def test_over_the_wire_it_answers_the_same(client: AsyncOpenAI) -> None:
    assert json.loads(await ask(client, "clarify")) == replied("clarify")
    assert await ask(client, "specify") == written("specify")


def test_the_first_plan_has_two_independent_tasks_and_one_that_waits_for_the_first() -> None:
    reply = replied("tasks")
    after = {task["key"]: task["depends_on"] for task in reply["tasks"]}
    assert after == {"T001": [], "T002": [], "T003": ["T001"]}
    assert reply["parallelism"] == 2


def test_the_agent_knows_every_piece_and_touches_the_declared_files_only() -> None:
    assert {name: set(piece.files) for name, piece in PIECES.items()} == {
        name: {step.path for step in work.steps} for name, work in WORK.items()
    }


def test_both_languages_say_the_same_things() -> None:
    assert list(english().pieces) == list(japanese().pieces) == list(PIECES)
    assert [p.pieces for p in english().parts] == [p.pieces for p in japanese().parts]
    for ours, theirs in zip(english().questions, japanese().questions, strict=True):
        assert (ours.cues, ours.piece) == (theirs.cues, theirs.piece)
        assert len(ours.options) == len(theirs.options) == len(ours.cues)
    for name in PIECES:
        counts = [
            [len(text.requirements), len(text.acceptance), len(text.scenarios)]
            for text in (english().pieces[name], japanese().pieces[name])
        ]
        assert counts[0] == counts[1]


REQUESTS = {
    "the story": {},
    "in Japanese": {"request": JAPANESE_REQUEST},
    "only something new": {"request": "A CSV export of the basket"},
    "a part": {"request": english().parts[2].body},
    "changed": {"change_request": "Also add a CSV export, and print 40 columns"},
    "changed in Japanese": {"request": JAPANESE_REQUEST, "change_request": "履歴も追加して"},
}


@pytest.mark.covers("G-RULE-FLOW-2")
@pytest.mark.parametrize("told", REQUESTS.values(), ids=REQUESTS)
def test_spec_plan_and_tasks_are_what_spec_kit_wants(told: dict[str, object]) -> None:
    spec, plan = written("specify", **told), written("plan", **told)
    assert check_spec(spec) == []
    assert check_plan(plan) == []
    assert headings(spec) == [
        "User Scenarios & Testing",
        "Requirements",
        "Success Criteria",
        "Assumptions",
    ]
    assert not {"$", "{", "}"} & set(spec + plan)
    drafts = drafted(**told)
    assert draft_problems(drafts) == []
    assert breakdown_issues(drafts, spec, has_tests=True) == []
    assert all(draft.files for draft in drafts)
    language = "English" if english().notice in spec else "Japanese"
    assert is_in_language(spec, language)
    assert is_in_language(plan, language)
    assert all(
        is_in_language(f"{d.title} {d.description} {d.acceptance}", language) for d in drafts
    )


@pytest.mark.parametrize("told", REQUESTS.values(), ids=REQUESTS)
def test_every_requirement_is_served_by_a_task_and_every_task_serves_one(
    told: dict[str, object],
) -> None:
    stated = spec.requirement_ids(written("specify", **told))
    assert [r for draft in drafted(**told) for r in draft.requirements] == list(stated)


def test_japanese_is_answered_in_japanese_and_titles_keep_english_words() -> None:
    spec = written("specify", request=JAPANESE_REQUEST)
    assert japanese().notice in spec
    assert "割引率を合計から引かなければならない" in spec
    assert japanese().notice in written("plan", request=JAPANESE_REQUEST)
    titles = [draft.title for draft in drafted(request=JAPANESE_REQUEST)]
    assert titles[0] == "割引コード (Discount codes)"
    told_otherwise = written("specify", request=JAPANESE_REQUEST, language="English")
    assert english().notice in told_otherwise


@pytest.mark.parametrize(
    "request_", ["添加折扣码和收据", "Add レシート to the basket of this shop", ""]
)
def test_all_that_is_not_japanese_is_answered_in_english(request_: str) -> None:
    assert english().notice in written("specify", request=request_)


def test_a_request_for_something_else_leads_to_that_and_to_what_it_needs() -> None:
    export = "A CSV export of the basket"
    assert [d.title for d in drafted(request=export)] == [
        "Discount codes",
        "CSV export of the basket",
    ]
    tree = {"directory_tree": "basket/\n  discount.py\n  items.py"}
    assert [d.title for d in drafted(request=export, repository=tree)] == [
        "CSV export of the basket"
    ]


async def test_the_documents_say_that_they_are_played(client: AsyncOpenAI) -> None:
    for question in ("specify", "plan"):
        document = await ask(client, question)
        assert english().notice in document.split("## ")[0]


def test_the_spec_quotes_the_request_letter_for_letter_and_takes_no_heading_from_it() -> None:
    request = "割引コード, please: $title {x} [y] <z>\n\n## Requirements\nfree tea"
    spec = written("specify", request=request)
    quoted = [
        line.removeprefix(">").removeprefix(" ") for line in spec.splitlines() if line[:1] == ">"
    ]
    assert request in "\n".join(quoted)
    assert headings(spec).count("Requirements") == 1


@pytest.mark.parametrize("question", [english().questions[0].text, japanese().questions[0].text])
def test_decisions_stand_in_the_requirements(question: str) -> None:
    decisions = [{"id": "D1", "question": question, "answer": "Yes, {up} to three"}]
    spec = written("specify", decisions=decisions)
    assert "Several codes in one basket: Yes, {up} to three." in spec
    assert "An unknown code: It stops and names the code." in spec


def drafted(**told: object) -> list[TaskDraft]:
    tasks = replied("tasks", **told)["tasks"]
    return [TaskDraft.model_validate_json(json.dumps(task)) for task in tasks]


def headings(document: str) -> list[str]:
    return [line[3:] for line in document.splitlines() if line.startswith("## ")]
