"""How the played model judges: words, changes, next steps, plans, finished work; and what it writes about them."""

from __future__ import annotations

import re

import pytest

from adapters.demo.conversation import CONTRADICTION, HOPELESS
from bot.core.pull_text import title_problem
from tests.adapters.played.conftest import replied, written

TASKS = [
    {
        "key": "T001",
        "name": "Discount codes",
        "state": "Completed",
        "description": "Codes.",
        "files": ["basket/discount.py"],
        "acceptance": ["x"],
    },
    {
        "key": "T002",
        "name": "Printable receipt",
        "state": "Running",
        "description": "A receipt.",
        "files": ["basket/receipt.py"],
        "acceptance": ["x"],
    },
    {
        "key": "T003",
        "name": "Checkout with discounts",
        "state": "Pending",
        "description": "With a discount code.",
        "files": [],
        "acceptance": ["x"],
    },
]
QUESTIONS = ["What is going on?", "how far are you", "進んでいますか。", "終わった？", "When?"]
TALK = ["Thanks!", "ok nice", "ありがとう", "了解です", "Great work, everyone"]
CHANGES = [
    "Receipts of 40 columns",
    "ok, make it 40 columns",
    "ありがとう、40桁にして",
    "レシートを40桁に",
]
KINDS = [
    *((said, "question") for said in QUESTIONS),
    *((said, "talk") for said in TALK),
    *((said, "change") for said in CHANGES),
]


@pytest.mark.parametrize(("said", "kind"), KINDS)
def test_words_are_a_question_talk_or_a_change(said: str, kind: str) -> None:
    reply = replied("words", said=said, by="Mika", phase="executing", tasks=TASKS)
    assert reply["kind"] == kind
    assert reply["reason"]
    assert bool(reply["reply"]) is (kind == "question")


def test_a_question_is_answered_by_how_the_tasks_stand() -> None:
    reply = replied("words", said="What is going on?", tasks=TASKS)["reply"]
    assert "T002 Printable receipt: Running." in reply
    assert "T001 Discount codes: Completed." in reply
    assert "Played" in reply
    assert "no tasks yet" in replied("words", said="Why?", tasks=[])["reply"]


def test_people_are_answered_in_their_language_unless_another_is_wanted() -> None:
    assert "演じられた" in replied("words", said="進んでいますか？", tasks=TASKS)["reply"]
    wanted = replied("words", said="進んでいますか？", tasks=TASKS, language="English")
    assert "Played" in wanted["reply"]


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ("The receipt has 40 columns", ["T002"]),
        ("レシートは40桁に", ["T002"]),
        ("割引は最大2つまで", ["T001"]),
        ("会計のあとに領収書", ["T002", "T003"]),
        ("The checkout greets people", ["T003"]),
        ("T003, and t001 as well", ["T001", "T003"]),
        ("T0011 is another story", []),
        ("Everything in blue", []),
    ],
)
def test_a_change_touches_the_tasks_that_write_what_it_names(change: str, keys: list[str]) -> None:
    reply = replied("impact", change=change, tasks=TASKS)
    assert [task["key"] for task in reply["affected"]] == keys
    assert all(task["why"] for task in reply["affected"])
    assert reply["reason"]


def test_a_cancelled_task_is_touched_by_nothing() -> None:
    gone = [{**task, "state": "Cancelled"} for task in TASKS]
    assert replied("impact", change="receipt T001", tasks=gone)["affected"] == []


def test_a_task_it_has_never_heard_of_is_known_by_the_words_of_its_name() -> None:
    task = {"key": "T009", "name": "Opening hours", "state": "Running"}
    assert replied("impact", change="Hours in UTC", tasks=[task])["affected"][0]["key"] == "T009"


def test_the_next_step_is_the_usual_one() -> None:
    options = [{"id": "again", "says": "Again."}, {"id": "ask", "says": "Ask."}]
    for usual, chosen in (("ask", "ask"), ("fly", "again"), ("", "again")):
        reply = replied("next_step", options=options, default=usual, happened="x")
        assert (reply["choice"], bool(reply["reason"])) == (chosen, True)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("Now also export the basket as CSV", "continue"),
        ("注文履歴も追加して", "continue"),
        ("Now a completely different shop", "new"),
        ("This is for another project", "new"),
        ("全く別の店を作って", "new"),
        ("Thanks", "talk"),
        ("ありがとう", "talk"),
        ("What was built?", "talk"),
    ],
)
def test_after_the_end_words_go_on_begin_anew_or_are_talk(said: str, verdict: str) -> None:
    session = {"title": "Codes", "tasks": TASKS}
    reply = replied("continue", said=said, session=session)
    assert reply["verdict"] == verdict
    assert reply["reason"]
    assert bool(reply["reply"]) is (verdict == "talk")


def test_what_may_not_be_continued_begins_anew() -> None:
    reply = replied("continue", said="Also export it", session={}, may_continue=False)
    assert reply["verdict"] == "new"


def test_a_question_after_the_end_is_answered_by_the_tasks_of_the_session() -> None:
    for tasks in (TASKS, ["Discount codes"]):
        reply = replied("continue", said="What was built?", session={"tasks": tasks})
        assert "Discount codes" in reply["reply"]


def test_a_breakdown_is_good_unless_a_task_does_not_say_when_it_is_done() -> None:
    assert replied("breakdown", tasks=TASKS) == {"score": 90, "issues": []}
    bad = replied("breakdown", tasks=[TASKS[0], {**TASKS[1], "acceptance": []}])
    assert bad["score"] == 40
    assert [issue[:4] for issue in bad["issues"]] == ["T002"]


def test_the_analysis_finds_one_small_thing() -> None:
    (finding,) = replied("analyze", spec=written("specify"))["findings"]
    assert finding["severity"] == "LOW"
    assert all(finding[name] for name in ("category", "where", "summary", "recommendation"))


@pytest.mark.parametrize("word", CONTRADICTION)
def test_a_contradiction_is_critical_until_the_spec_is_written_with_the_findings(word: str) -> None:
    request = f"Add codes. {word}"
    spec = written("specify", request=request)
    findings = replied("analyze", request=request, spec=spec)["findings"]
    assert [f["severity"] for f in findings] == ["CRITICAL", "LOW"]
    repaired = written("specify", request=request, findings=findings)
    assert repaired != spec
    left = replied("analyze", request=request, spec=repaired)["findings"]
    assert [f["severity"] for f in left] == ["LOW"]


@pytest.mark.parametrize("words", HOPELESS)
def test_a_hopeless_one_stays(words: str) -> None:
    spec = written("specify", request=words, findings=[{"id": "I1"}])
    findings = replied("analyze", request=words, spec=spec)["findings"]
    assert findings[0]["severity"] == "CRITICAL"


def test_finished_work_is_judged_done_without_pretending_to_have_read_it() -> None:
    told = {"task": TASKS[0], "diff": "+x", "acceptance": ["x"]}
    reply = replied("judge", checks=[{"result": "passed"}], **told)
    assert (reply["verdict"], reply["missing"]) == ("done", [])
    assert "not read" in reply["reasons"][0]
    assert "Played" in reply["reasons"][0]
    failed = replied("judge", checks=[{"result": "failed with 1"}], **told)
    assert (failed["verdict"], failed["missing"]) == ("continue", [])


@pytest.mark.parametrize(
    ("task", "title"),
    [
        (TASKS[1], "feat(receipt): Printable receipt"),
        ({"title": "Describe it.", "type": "documentation"}, "docs: describe it"),
        ({"name": "CSV export of orders"}, "feat: CSV export of orders"),
        ({"name": "割引コード", "files": ["basket/discount.py"]}, "feat(discount): 割引コード"),
        ({"name": "Many words\n" * 20}, None),
        ({}, "feat: the work of a task"),
    ],
)
def test_a_pull_request_has_a_title_in_conventional_form(
    task: dict[str, object], title: str | None
) -> None:
    reply = replied(
        "pull_request", task=task, checks=[{"command": "make test", "result": "passed"}]
    )
    assert re.fullmatch(r"[a-z]+(\([a-z]+\))?: .*[^.\s]", reply["title"])
    assert len(reply["title"]) <= 72
    assert title in (None, reply["title"])
    assert [line for line in reply["body"].splitlines() if line[:2] == "##"] == [
        "## What",
        "## Impact",
        "## Tests",
    ]
    assert "`make test`: passed" in reply["body"]
    assert title_problem(reply["title"]) == ""
    assert "Played" in reply["body"]


def test_old_talk_is_summed_up_by_who_spoke_and_how_they_began() -> None:
    messages = [
        {"role": "User", "content": "one two\n" * 20},
        {"role": "Assistant", "content": "Yes."},
    ]
    summary = replied("compress", messages=messages, finished_tasks=TASKS[:1])["summary"]
    lines = summary.splitlines()
    assert lines[1].startswith("User: one two one two")
    assert lines[1].endswith("…")
    assert lines[2] == "Assistant: Yes."
    assert "T001 Discount codes" in lines[3]


def test_the_end_is_told_in_three_sentences_with_numbers() -> None:
    text = replied("summary", tasks=TASKS, decisions=[{"id": "D1"}], checks=TASKS[:2])["text"]
    assert "1 of 3 tasks" in text
    assert "1 decisions were taken, and 2 checks" in text
    assert text.count(".") == 3
