"""Questions of one line: yes or no, a key to go on, words; they count only where the cursor waits behind them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.tmux.dialogs import read_dialog
from adapters.tmux.screen_lines import ScreenContent, ScreenLine
from bot.core.runs import Dialog, DialogKind


def waiting(text: str) -> Dialog | None:
    """The cursor stands in the last line."""
    return read_dialog(ScreenContent(text, cursor=0))


@pytest.mark.parametrize(("text", "title", "options"), [
    ("Proceed? [Y/n] ", "Proceed?", ["y", "n"]),
    ("Overwrite cart.py? (y/N): ", "Overwrite cart.py?", ["y", "n"]),
    ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", "Are you sure you want to continue connecting", ["yes", "no"]),
    ("Stage this hunk [y,n,q,a,d,e,?]? ", "Stage this hunk", ["y", "n", "q", "a", "d", "e"]),
    ("? Use TypeScript? (Y/n) ", "Use TypeScript?", ["y", "n"]),
    ("Remove 3 packages?\n[y/N] ", "Remove 3 packages?", ["y", "n"]),
])  # fmt: skip
def test_yes_or_no_is_answered_by_the_word_and_enter(
    text: str, title: str, options: list[str]
) -> None:
    dialog = waiting(text)
    assert dialog is not None
    assert dialog.kind is DialogKind.YES_NO
    assert dialog.title == title
    assert [option.id for option in dialog.options] == options
    assert dialog.options[0].keys == (*options[0], "Enter")
    assert [option.label for option in dialog.options][:2] == ["Yes", "No"]


@pytest.mark.parametrize("text", [
    "Press Enter to continue…", "Login successful. Press Enter to continue",
    "[press any key to continue]", "Hit <Return> to start.",
])  # fmt: skip
def test_a_key_to_go_on_is_one_button(text: str) -> None:
    dialog = read_dialog(ScreenContent(f"some output\n{text}\n"))
    assert dialog is not None
    assert [option.keys for option in dialog.options] == [("Enter",)]


@pytest.mark.parametrize(("text", "title"), [
    ("? Project name: (my-app) ", "Project name: (my-app)"),
    ("Enter passphrase for key 'id': ", "Enter passphrase for key 'id':"),
    ("Username for 'https://shop.test': ", "Username for 'https://shop.test':"),
    ("What is your name? ", "What is your name?"),
    ("ada@shop.test's password: ", "ada@shop.test's password:"),
])  # fmt: skip
def test_a_question_without_a_choice_wants_words(text: str, title: str) -> None:
    dialog = waiting(f"before\n{text}")
    assert dialog is not None
    assert (dialog.kind, dialog.title, dialog.options) == (DialogKind.WORDS, title, ())
    assert dialog.text == "before"


NOT_ASKED = [
    "Enter the following commands:\n", "What is new?\n", "Continue? [Y/n] \ny\nGoing on\n",
    "diff --git a/x b/x\n+print('Overwrite? (y/n)')\n", "-Overwrite? (y/n)\n+Overwrite? [y/N]\n",
    "Press Enter to continue\nGoing on\n", "see section [yes/no tables]\n",
    "usage: tool [-n | -y] (a/b)\n", "You: ", "> ", "$ ", ">>> ",
    "The result is (yes/no): unknown\n", "Do you want more? Tell me.\n",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_ASKED)
def test_output_that_only_sounds_like_a_question_is_none(text: str) -> None:
    assert waiting(text) is None


def test_a_question_that_has_scrolled_by_is_none() -> None:
    assert waiting("Proceed? [Y/n] \n") is None


def test_an_id_is_that_of_the_question_not_of_what_was_printed_before() -> None:
    one, other = waiting("a\nProceed? [Y/n] "), waiting("b\nProceed? [Y/n] ")
    assert one is not None
    assert other is not None
    assert one.id == other.id


def test_a_topic_holds_for_other_files_and_numbers() -> None:
    one, other = (
        waiting("Delete /tmp/a and 3 more? [y/n] "),
        waiting("Delete /x/b and 12 more? [y/n] "),
    )
    assert one is not None
    assert other is not None
    assert one.topic == other.topic
    assert one.id != other.id


@given(st.text(alphabet=st.sampled_from("❯›>●12.) Yyn/[]():?│─╭╮\nEnter to confirm"), max_size=400))
def test_whatever_a_screen_shows_is_read_within_bounds(text: str) -> None:
    dialog = waiting(text)
    if dialog is not None:
        assert dialog.title
        assert len(dialog.title) <= 200
        assert len(dialog.text) <= 1_500
        assert all(len(option.label) <= 75 for option in dialog.options)
        assert len({option.id for option in dialog.options}) == len(dialog.options)


def test_borders_are_taken_off_both_sides() -> None:
    assert ScreenLine("  │ ❯ 1. Yes    │ ").text == "❯ 1. Yes"
    assert ScreenLine("│ ╭─────╮ │").rule
    assert not ScreenLine("│ ╭─────╮ │").begins_block(0)
    assert ScreenLine(" ╭──────────╮").begins_block(1)
    assert ScreenLine("──────").begins_block(None)
    assert not ScreenLine(" ──────").begins_block(None)


@pytest.mark.parametrize(("raw", "column"), [("x", 0), ("", 300_000), ("│", 300_001)])
def test_a_line_full_of_blanks_is_gone_through_once(raw: str, column: int) -> None:
    """Again and again it would take hours."""
    one = ScreenLine(f"{raw}{' ' * 300_000}y │")
    assert one.column == column
    assert one.text == "x" * (raw == "x")
