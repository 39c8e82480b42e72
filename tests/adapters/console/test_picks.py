"""What the arrow keys choose from, what a stroke completes, and what a line means on the side of the branches. Pure."""

from __future__ import annotations

import pytest

from adapters.console import typed
from adapters.console.chat import BranchPrompt
from adapters.console.input import PROMPT, complete_line
from adapters.console.typed import picked_answers, picks_on
from bot.core.choices import Command, Word
from tests.fakes import cards

WORDS = (
    ("resume [id]", "go on"),
    ("logs [task]", "what happened to a task"),
    ("catch up", "what happened since you spoke last"),
)


def test_choices_come_first_then_every_option_of_an_open_question() -> None:
    found = picks_on(cards.QUESTIONS)
    assert found[0].line == "1"
    assert {one.line.partition(":")[0] for one in found[1:]} <= {"D1", "D2", "D3"}
    assert len(found) > 2
    assert picks_on(None) == ()


def test_an_option_word_for_word_is_an_answer_and_anything_else_is_not() -> None:
    [number] = {q.number for q in cards.QUESTIONS.questions if q.number == 1}
    option = cards.QUESTIONS.questions[0].options[0]
    assert picked_answers(f"D1: {option}", cards.QUESTIONS) == {number: option}
    assert picked_answers("D1: something else", cards.QUESTIONS) == {}
    assert picked_answers(f"D1: {option}", cards.APPROVAL) == {}


def test_a_stroke_lists_the_commands_with_what_they_do() -> None:
    assert [one.text for one in complete_line("/", WORDS, (), ())] == [
        "/resume ",
        "/logs ",
        "/catchup",
    ]
    assert [one.told for one in complete_line("/lo", WORDS, (), ())] == ["what happened to a task"]
    assert complete_line("a sentence / with one", WORDS, (), ()) == ()


def test_behind_a_command_stands_what_it_is_about() -> None:
    assert [one.text for one in complete_line("/resume 1", WORDS, ("T001",), ("1a2b", "9z"))] == [
        "1a2b"
    ]
    assert [one.text for one in complete_line("/logs ", WORDS, ("T001",), ("1a2b",))] == ["T001"]


@pytest.mark.covers("G-US1.2")
def test_tab_leads_to_the_branches_and_back() -> None:
    mode = BranchPrompt()
    assert mode.switch() == Command(word=Word.BRANCHES)
    assert (mode.on, mode.prompt) == (True, f"branches {PROMPT}")
    assert mode.switch() is None
    assert (mode.on, mode.prompt) == (False, PROMPT)


def test_among_the_branches_a_word_is_a_branch_and_commands_stay_what_they_are() -> None:
    mode = BranchPrompt()
    assert mode.interpret("agent/dark-mode", None) == typed.FreeText("agent/dark-mode")
    mode.switch()
    one = Command(word=Word.BRANCH, argument="agent/dark-mode")
    assert mode.interpret("agent/dark-mode", None) == one
    assert mode.interpret("stop", None) == Command(word=Word.STOP)
    assert isinstance(mode.interpret("please add a dark mode", None), typed.NoMeaning)
