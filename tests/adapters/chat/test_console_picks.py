"""What the arrow keys choose from, what a stroke completes, and what a line means on the side of the branches. Pure."""

from __future__ import annotations

from adapters.chat.console import typed
from adapters.chat.console.branch_mode import BranchMode
from adapters.chat.console.completing import completed
from adapters.chat.console.lines import PROMPT
from adapters.chat.console.picks import answered, picks
from bot.domain.choices import Command, Word
from tests.fakes import cards

WORDS = (
    ("resume [id]", "go on"),
    ("logs [task]", "what happened to a task"),
    ("catch up", "what happened since you spoke last"),
)


def test_choices_come_first_then_every_option_of_an_open_question() -> None:
    found = picks(cards.QUESTIONS)
    assert found[0].line == "1"
    assert {one.line.partition(":")[0] for one in found[1:]} <= {"D1", "D2", "D3"}
    assert len(found) > 2
    assert picks(None) == ()


def test_an_option_word_for_word_is_an_answer_and_anything_else_is_not() -> None:
    [number] = {q.number for q in cards.QUESTIONS.questions if q.number == 1}
    option = cards.QUESTIONS.questions[0].options[0]
    assert answered(f"D1: {option}", cards.QUESTIONS) == {number: option}
    assert answered("D1: something else", cards.QUESTIONS) == {}
    assert answered(f"D1: {option}", cards.APPROVAL) == {}


def test_a_stroke_lists_the_commands_with_what_they_do() -> None:
    assert [one.text for one in completed("/", WORDS, (), ())] == ["/resume ", "/logs ", "/catchup"]
    assert [one.told for one in completed("/lo", WORDS, (), ())] == ["what happened to a task"]
    assert completed("a sentence / with one", WORDS, (), ()) == ()


def test_behind_a_command_stands_what_it_is_about() -> None:
    assert [one.text for one in completed("/resume 1", WORDS, ("T001",), ("1a2b", "9z"))] == [
        "1a2b"
    ]
    assert [one.text for one in completed("/logs ", WORDS, ("T001",), ("1a2b",))] == ["T001"]


def test_tab_leads_to_the_branches_and_back() -> None:
    mode = BranchMode()
    assert mode.switch() == Command(word=Word.BRANCHES)
    assert (mode.on, mode.prompt) == (True, f"branches {PROMPT}")
    assert mode.switch() is None
    assert (mode.on, mode.prompt) == (False, PROMPT)


def test_among_the_branches_a_word_is_a_branch_and_commands_stay_what_they_are() -> None:
    mode = BranchMode()
    assert mode.meaning("agent/dark-mode", None) == typed.Talk("agent/dark-mode")
    mode.switch()
    one = Command(word=Word.BRANCH, argument="agent/dark-mode")
    assert mode.meaning("agent/dark-mode", None) == one
    assert mode.meaning("stop", None) == Command(word=Word.STOP)
    assert isinstance(mode.meaning("please add a dark mode", None), typed.Nothing)
