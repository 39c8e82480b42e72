"""What is asked on a screen, and which keys answer it; and what only looks like a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.tmux.dialogs import latest_hint, read_dialog
from adapters.tmux.screen_lines import ScreenContent, ScreenLine
from bot.core.runs import Dialog, DialogKind
from tests.adapters.tmux import asked

RULE = asked.RULE


def menu(text: str) -> Dialog:
    dialog = read_dialog(ScreenContent(text))
    assert dialog is not None
    assert dialog.kind is DialogKind.MENU
    return dialog


@pytest.mark.parametrize(
    ("screen", "title", "options"),
    [
        (
            asked.TRUST,
            "Quick safety check: Is this a project you created or one you trust?",
            {"No, exit": ("Enter",), "Yes, I trust this folder": ("Down", "Enter")},
        ),
        (
            asked.BYPASS,
            "WARNING: Claude Code running in Bypass Permissions mode",
            {"No, exit": ("Enter",), "Yes, I accept": ("Down", "Enter")},
        ),
        (
            asked.API_KEY,
            "Do you want to use this API key?",
            {"Yes": ("Up", "Enter"), "No (recommended)": ("Enter",)},
        ),
        (
            asked.EDIT,
            "Do you want to make this edit to cart.py?",
            {
                "Yes": ("1",),
                "Yes, allow all edits during this session": ("2",),
                "No, and tell Claude what to do differently": ("3",),
            },
        ),
        (
            asked.QUESTION,
            "Which colour should the button have?",
            {
                "Red It warns.": ("1",),
                "Blue It calms.": ("2",),
                "Type something.": ("3",),
                "Chat about this": ("4",),
            },
        ),
        (
            asked.LIMIT,
            "What do you want to do?",
            {"Stop and wait for limit to reset": ("1",), "Upgrade your plan": ("2",)},
        ),
        (
            asked.CODEX_TRUST,
            "Trust this folder?",
            {"Trust and continue": ("1",), "Back to Agent Command Center": ("2",)},
        ),
        (
            asked.CODEX,
            "Would you like to run the following command?",
            {
                "Yes, proceed": ("y",),
                "Yes, and don't ask again for commands that start with `curl`": ("p",),
                "No, and tell Codex what to do differently": ("Escape",),
            },
        ),
        (
            asked.GEMINI,
            "Allow execution of [Shell]?",
            {"Allow once": ("1",), "Allow for this session": ("2",), "No, suggest changes": ("3",)},
        ),
        (
            asked.GEMINI_TRUST,
            "Do you trust the files in this folder?",
            {
                "Trust folder (shop)": ("1",),
                "Trust parent folder (ada)": ("2",),
                "Don't trust": ("3",),
            },
        ),
        (
            asked.OPENCODE,
            "Permission required: Shell command",
            {"Allow once": ("Enter",), "Allow always": ("Right", "Enter"), "Reject": ("Escape",)},
        ),
        (
            asked.INQUIRER,
            "Which flavour do you want?",
            {"Vanilla": ("Up", "Enter"), "Chocolate": ("Enter",), "Strawberry": ("Down", "Enter")},
        ),
        (
            asked.NUMBERED_LINES,
            "Where should it go?",
            {"Europe": ("1", "Enter"), "Asia": ("2", "Enter"), "Nowhere": ("3", "Enter")},
        ),
        (asked.SELECT, "Pick a fruit", {"apple": ("1", "Enter"), "pear": ("2", "Enter")}),
    ],
)
def test_a_menu_is_read_with_the_keys_of_its_options(
    screen: str, title: str, options: dict[str, tuple[str, ...]]
) -> None:
    dialog = menu(screen)
    assert dialog.title == title
    assert {option.label: option.keys for option in dialog.options} == options
    assert [option.id for option in dialog.options] == [str(n + 1) for n in range(len(options))]


def test_a_long_option_goes_on_in_the_next_line_and_is_shortened() -> None:
    second = menu(asked.BASH).options[1]
    assert second.label.startswith("Yes, and don't ask again for touch x1.txt and curl")
    assert len(second.label) <= 75
    assert second.label.endswith("…")


def test_beyond_nine_a_number_has_two_digits_so_the_pointer_is_moved() -> None:
    dialog = menu(asked.TEN)
    assert len(dialog.options) == 10
    assert dialog.options[9].keys == (*("Down",) * 9, "Enter")
    assert dialog.options[0].keys == ("Enter",)


def test_what_is_asked_for_is_shown_with_the_question() -> None:
    assert "touch x1.txt && curl -s http://shop.test/a | head -5" in menu(asked.BASH).text
    assert "$ curl -s http://shop.test/weather" in menu(asked.CODEX).text
    assert "─" not in menu(asked.EDIT).text


@pytest.mark.parametrize("hides", [f" {'─' * 120}", " ╭────╮", "\n\n\n", " △ Permission required"])
def test_no_line_inside_a_question_hides_what_stands_above_it(hides: str) -> None:
    dialog = menu(
        asked.BASH.replace(" touch x1.txt &&", f" rm -rf shop\n{hides}\n touch x1.txt &&", 2)
    )
    assert "rm -rf shop" in dialog.text
    assert dialog.id != menu(asked.BASH).id


def test_the_same_question_about_another_command_is_another_dialog() -> None:
    one = menu(asked.BASH)
    other = menu(asked.BASH.replace("head -5", "sh"))
    assert one.id != other.id
    assert one.topic == other.topic == "Bash command: Do you want to proceed?"


def test_the_same_dialog_has_the_same_id_wherever_its_pointer_stands() -> None:
    moved = asked.TRUST.replace(" ❯ No", "   No").replace("   Yes, I", " ❯ Yes, I")
    assert menu(moved).id == menu(asked.TRUST).id
    assert menu(moved).options[0].keys == ("Up", "Enter")


def test_a_clock_that_runs_does_not_make_it_another_dialog() -> None:
    ticking = asked.LIMIT.replace("resets 3pm", "going on in {} s")
    assert menu(ticking.format(12)).id == menu(ticking.format(11)).id


def test_the_topic_is_without_what_differs_each_time() -> None:
    one = menu(asked.EDIT)
    other = menu(asked.EDIT.replace("cart.py", "till_2.py"))
    assert one.topic == other.topic == "Edit file: Do you want to make this edit to …?"


COMPOSER = f"""\
● Two ways lead there:
  1. Rewrite the parser
  2. Patch the lexer

  Which one do you want?

{RULE}
❯{{}}
{RULE}
  ⏵⏵ bypass permissions on (shift+tab to cycle) · ← for agents
"""

NO_MENUS = {
    "a list and an idle prompt": COMPOSER.format(" "),
    "a list typed into the prompt": COMPOSER.format(" 1. Rewrite it\n  2. Test it"),
    "lines typed into the prompt": COMPOSER.format(" Rewrite it\n  Test it"),
    "a numbered list": "What I did?\n 1. wrote it\n 2. tested it\n 3. committed it\n",
    "a quoted list": "He asked?\n> 1. one\n> 2. two\n",
    "a checklist": "- [ ] 1. one\n- [x] 2. two\n\n  [ ] three\n",
    "steps with the present one pointed at, then more": "Progress:\n  1. fetch\n> 2. build\n  3. test\nbuilding cart.o\nbuilding till.o\n",
    "a menu that was answered": asked.BASH + "\n● Bash(touch x1.txt)\n  ⎿  (No output)\n",
    "a menu above an idle prompt": asked.LIMIT + f"\n{RULE}\n❯ \n{RULE}\n  ? for shortcuts\n",
    "a menu above work": asked.LIMIT + "\n✻ Thinking… (12s · esc to interrupt)\n",
    "a menu far up": asked.CODEX + "\n".join(f"line {n}" for n in range(40)),
    "words in a codex composer": "• Which file should I edit?\n\n› a.txt\n  b.txt\n\n  ⏎ send   ⌃C quit\n",
    "a list typed into a codex composer": "• Done.\n\n\n› 1. one\n  2. two\n\n  ? for shortcuts\n",
    "what was said in codex": "› 1. one\n  2. two\n\n• Working\n\n› Explain this\n\n  ? for shortcuts\n",
    "a diff": "@@ -1,2 +1,2 @@\n-> 1. Yes\n+> 2. No\n   3. Maybe\n",
    "branches": "* main\n  agent/one\n  agent/two\n",
    "a test report": "1) cart adds\n2) cart removes\n\n  2 passing (3s)\n  select tests with --grep\n",
    "a number without a list": "❯ 1. only one\n",
    "a list that begins in the middle": "Which?\n❯ 2. two\n  3. three\n",
    "a shell": "$ ls\na  b\n$ \n",
    "nothing": "\n\n\n",
}  # fmt: skip


@pytest.mark.parametrize("name", NO_MENUS)
def test_what_only_looks_like_a_menu_is_none(name: str) -> None:
    assert read_dialog(ScreenContent(NO_MENUS[name])) is None


def test_a_row_of_buttons_is_no_longer_than_a_screen_is_wide() -> None:
    """An agent may print as long a line as it likes, and to look for buttons there would hold everybody up."""
    far = asked.OPENCODE.replace("ctrl+f", f"{' ' * 10_000}ctrl+f")
    assert read_dialog(ScreenContent(asked.OPENCODE)) is not None
    assert read_dialog(ScreenContent(far)) is None


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


PERMISSION: dict[str, object] = {
    "hook_event_name": "PermissionRequest",
    "tool_name": "Bash",
    "tool_input": {"command": "touch x"},
}

NEEDS: dict[str, object] = {
    "event": "Notification",
    "notification_type": "agent_needs_input",
    "message": "Claude needs your input",
}


@pytest.mark.parametrize(("hook", "says"), [
    (PERMISSION, 'Bash: {"command": "touch x"}'),
    (NEEDS, "Claude needs your input"),
    ({"hook_event_name": "Notification", "notification_type": "ToolPermission"}, ""),
    ({"type": "permission.asked", "title": "Shell command"}, "Shell command"),
])  # fmt: skip
def test_a_hook_says_that_something_is_asked(hook: dict[str, object], says: str) -> None:
    hint = latest_hint([("1.json", hook)], handled="")
    assert hint is not None
    assert hint.says == says


@pytest.mark.parametrize("hook", [
    {"hook_event_name": "Notification", "notification_type": "idle_prompt"},
    {"hook_event_name": "Notification"},
    {"hook_event_name": "SessionStart"},
    {"hook_event_name": ["PermissionRequest"]},
    {},
])  # fmt: skip
def test_other_hooks_ask_nothing(hook: dict[str, object]) -> None:
    assert latest_hint([("1.json", hook)], handled="") is None


@pytest.mark.parametrize("event", ["Stop", "StopFailure", "UserPromptSubmit", "SessionEnd"])
def test_an_agent_that_has_gone_on_asks_no_more(event: str) -> None:
    hooks = [("1.json", PERMISSION), ("2.json", {"hook_event_name": event})]
    assert latest_hint(hooks, handled="") is None
    assert latest_hint([*hooks, ("3.json", NEEDS)], handled="") is not None


def test_what_was_heeded_is_not_heard_again() -> None:
    hooks = [("1.json", PERMISSION), ("2.json", NEEDS)]
    hint = latest_hint(hooks, handled="1.json")
    assert hint is not None
    assert hint.name == "2.json"
    assert latest_hint(hooks, handled="2.json") is None
