"""Task lines as they are found in the wild: not one may be lost, and each says what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bot.core.spec_kit.drafts import dependency_graph, draft_problems
from bot.core.spec_kit.tasks_reader import ParsedTask, drafts_from, parse_tasks

CORPUS = Path(__file__).with_name("corpus")


class Case(NamedTuple):
    line: str
    expected: str


def cases() -> Iterator[Case]:
    line = ""
    for raw in (CORPUS / "lines.txt").read_text(encoding="utf-8").splitlines():
        if raw.startswith("=> "):
            yield Case(line.replace("\\t", "\t"), raw.removeprefix("=> "))
        line = raw


CASES = list(cases())


def told(task: ParsedTask, *, nameless: bool) -> str:
    """What was read, in the words of the corpus."""
    parts = ["-" if nameless else task.key]
    parts += ["x"] if task.done else []
    parts += ["P"] if task.parallel else []
    parts += task.stories
    parts += [f"#{tag.replace(' ', '_')}" for tag in task.tags]
    return " ".join([*parts, *(f"<{key}" for key in task.depends_on)])


def kept(text: str) -> str:
    """All tasks of a document and all steps below them, as one text."""
    tasks = parse_tasks(text).tasks
    return "\n".join("\n".join((task.text, *task.details)) for task in tasks)


def test_the_corpus_is_large_enough_to_prove_something() -> None:
    assert len(CASES) >= 200
    assert len({case.line for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[case.line.strip() for case in CASES])
def test_every_task_line_says_what_it_says(case: Case) -> None:
    parsed = parse_tasks(case.line)
    (task,) = parsed.tasks
    nameless = any("has no id" in warning for warning in parsed.warnings)
    assert told(task, nameless=nameless) == case.expected
    # What was not taken for box, id or tag is the text, to the last sign.
    assert case.line.strip().endswith(task.text)


def test_no_line_of_the_whole_corpus_is_lost_in_one_document() -> None:
    parsed = parse_tasks("\n\n".join(case.line.strip() for case in CASES))
    assert len(parsed.tasks) == len(CASES)
    assert len({task.key for task in parsed.tasks}) == len(CASES)


def test_no_line_of_the_whole_corpus_is_lost_below_each_other() -> None:
    parsed = parse_tasks("\n".join(case.line for case in CASES))
    steps = sum(len(task.details) for task in parsed.tasks)
    assert len(parsed.tasks) + steps == len(CASES)


@pytest.mark.parametrize("name", ["japanese.md", "english.md"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_box_of_a_document_is_a_task_or_a_step_of_one(name: str, end: str) -> None:
    text = (CORPUS / name).read_text(encoding="utf-8")
    boxes = re.findall(r"^\s*(?:[-*]|[0-9]\.) \[[ x]\] (.*)$", text, re.MULTILINE)
    examples = [box for box in boxes if re.search("T09[0-9]", box)]
    assert len(examples) == 1
    there = kept(text.replace("\n", end))
    for box in boxes:
        words = re.sub(r"^\**T[0-9]+\**\s*(?:\[[^\]]*\]\s*)*", "", box)
        assert (words in there) is (box not in examples), box


def test_a_document_in_gwts_manner_becomes_the_plan_it_means() -> None:
    parsed = parse_tasks((CORPUS / "japanese.md").read_text(encoding="utf-8"))
    needs = {task.key: " ".join(task.depends_on) for task in parsed.tasks}
    assert needs == {
        "T001": "",
        "T002": "T001",
        "T003": "T001 T002",
        "T004": "T003",
        "T005": "T003",
        "T006": "T004",
        "T007": "T005 T006",
        "T008": "T007",
        "T009": "T008",
        "T010": "T008",
        "T011": "T004 T005 T006 T007 T008 T009 T010",
        "T012": "",
        "T013": "",
        "T014": "",
    }
    assert [task.key for task in parsed.tasks if task.done] == ["T001", "T002", "T003"]
    assert parsed.tasks[1].details == ("- [x] 設定を読む", "- [ ] 時計を差し替える")
    assert {task.phase for task in parsed.tasks} == {
        "フェーズ1: 準備",
        "フェーズ2: 話1 予約する",
        "フェーズ3: 話2と話3",
        "フェーズ4: 仕上げ",
    }


def test_a_document_in_spec_kits_manner_becomes_the_plan_it_means() -> None:
    drafts = drafts_from((CORPUS / "english.md").read_text(encoding="utf-8"))
    assert draft_problems(drafts) == []
    assert dependency_graph(drafts)["T013"] == {"T010", "T011", "T012"}
    booking = next(draft for draft in drafts if draft.key == "T010")
    assert (booking.title, booking.story, booking.files) == (
        "Implement booking",
        "US1",
        ("src/booking.py",),
    )
    assert booking.description == "Refuse when full\nRemember the guest"
