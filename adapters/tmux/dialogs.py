"""Recognises the question on a screen: menus, single lines, hints of hooks. No I/O, no tmux."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.tmux.screen_lines import (
    LONGEST_TITLE,
    ScreenContent,
    ScreenLine,
    ScreenPage,
    button_label,
    make_dialog,
    title_and_heading,
    words_digest,
)
from bot.core.runs import Dialog, DialogKind, DialogOption
from bot.core.text import cut

# Only the end of the screen counts, whatever has scrolled by.


def read_dialog(shown: ScreenContent) -> Dialog | None:
    """Return the dialog on the screen, or None."""
    page = ScreenPage(shown)
    return read_menu(page) or read_line_question(page)


def dialog_from_hint(hint: Hint) -> Dialog:
    """Return a dialog with a hook's text, for a screen on which no question is recognised."""
    return Dialog(
        id=words_digest("hook", hint.name),
        kind=DialogKind.WORDS,
        title=cut(hint.says or "The agent waits for a person.", LONGEST_TITLE),
        topic=f"Allow {hint.tool}" if hint.tool else "",
    )


# Hints: hooks of an agent report at once that it waits for a person, while a screen is read only from time to time.

MAX_HINT_LENGTH = 400
_ASKING = {
    "permission_prompt",
    "agent_needs_input",
    "elicitation_dialog",
    "ToolPermission",
}
_CONTINUING_EVENTS = {
    "Stop",
    "StopFailure",
    "SessionEnd",
    "UserPromptSubmit",
    "PostToolUse",
    "AfterTool",
    "AfterAgent",
    "permission.replied",
}


@dataclass(frozen=True)
class Hint:
    """A question reported by a hook. Names of hook files are in chronological order."""

    name: str
    says: str = ""
    tool: str = ""


def latest_hint(hooks: Iterable[tuple[str, Mapping[str, object]]], handled: str) -> Hint | None:
    """Return the last hook that asks, unless it was handled or the agent has gone on since."""
    hint: Hint | None = None
    for name, hook in hooks:
        event = _word(hook, "event", "hook_event_name", "type")
        if event in _CONTINUING_EVENTS:
            hint = None
        elif name > handled and _is_question(event, hook):
            hint = Hint(name, _hint_text(hook), _word(hook, "tool_name"))
    return hint


def _is_question(event: str, hook: Mapping[str, object]) -> bool:
    if event == "Notification":
        return _word(hook, "notification_type") in _ASKING
    return event in {"PermissionRequest", "permission.asked"}


def _hint_text(hook: Mapping[str, object]) -> str:
    """Return the hook's message, or the tool call it asks about."""
    if message := _word(hook, "message", "title"):
        return cut(message, MAX_HINT_LENGTH)
    tool, wanted = _word(hook, "tool_name"), hook.get("tool_input")
    if not tool:
        return ""
    return cut(f"{tool}: {json.dumps(wanted, ensure_ascii=False)}", MAX_HINT_LENGTH)


def _word(hook: Mapping[str, object], *fields: str) -> str:
    return next((text for field in fields if isinstance(text := hook.get(field), str) and text), "")


# Questions on the last line: yes or no, a key to continue, text to be typed.

CONTEXT_LINES = 6
"""Lines above that are shown with the question."""
LONGEST_QUESTION = 300

_CHOICES = re.compile(
    r"(?P<question>.*?)\s*(?:\((?P<round>[^()]{3,40})\)|\[(?P<square>[^\[\]]{3,40})\])\s*[:?>]?"
)
_WORD = re.compile(r"[A-Za-z]{1,8}")
_YES, _NO = {"y", "yes"}, {"n", "no"}
_NAMES = {"y": "Yes", "yes": "Yes", "n": "No", "no": "No", "a": "All", "q": "Quit", "d": "Done"}
_ENTER = re.compile(
    r"(?:.*[.!…:]\s+)?[^\w]*(?:please\s+)?(?:press|hit)\s+(?:the\s+)?[\[<]?(?:enter|return|any key)[\]>]?(?:\s+key)?"
    r"\s+to\s+(?:continue|proceed|start|begin|go on|close|exit|retry|dismiss)\b[^\w]*",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:please\s+)?(?:enter|type|provide|input|paste|specify|what|which|username|password|passphrase|token|"
    r"verification code|one-time code|api key)\b.*[:?]|.*'s password:",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\?\s+\S.*(?:[:?›»]|\([^()]*\))")


def read_line_question(page: ScreenPage) -> Dialog | None:
    number = page.last
    if number < page.begins or page.cursor not in (None, number):
        return None
    text = page.lines[number].text
    if len(text) > LONGEST_QUESTION:
        return None
    return (
        _continue_question(page, number, text)
        or _yes_or_no(page, number, text)
        or (_typed_words(page, number, text) if page.cursor == number else None)
    )


def _continue_question(page: ScreenPage, number: int, text: str) -> Dialog | None:
    if not _ENTER.fullmatch(text):
        return None
    option = DialogOption(id="enter", label="Continue", keys=("Enter",))
    return make_dialog(DialogKind.MENU, text, [option], above=_context(page, number))


def _yes_or_no(page: ScreenPage, number: int, text: str) -> Dialog | None:
    found = _CHOICES.fullmatch(text)
    if found is None:
        return None
    choices = [one.strip() for one in re.split(r"[/|,]", found["round"] or found["square"])]
    words = list(dict.fromkeys(one.lower() for one in choices if _WORD.fullmatch(one)))
    if not _YES.intersection(words) or not _NO.intersection(words) or len(words) > 8:
        return None
    above = _context(page, number)
    question = found["question"].lstrip("? ") or (above[-1] if above else "")
    if not re.search(r"\w", question):
        return None
    options = [
        DialogOption(id=word, label=_NAMES.get(word, word), keys=(*word, "Enter")) for word in words
    ]
    return make_dialog(DialogKind.YES_NO, question, options, above=above)


def _typed_words(page: ScreenPage, number: int, text: str) -> Dialog | None:
    if not (_MARKED.fullmatch(text) or _ASKS.fullmatch(text)):
        return None
    return make_dialog(DialogKind.WORDS, text.lstrip("? "), (), above=_context(page, number))


def _context(page: ScreenPage, number: int) -> list[str]:
    return [one.text for one in page.lines[:number] if one.text][-CONTEXT_LINES:]


# Menus: numbered lines, lines with a pointer before one of them, buttons in a row.

MAX_OPTIONS = 12
"""With more options it counts as a list, not a menu."""
LONGEST_OPTION = 160
MAX_HINT_LINES = 5
"""The most lines below a menu, all of which must look like hints."""

_NUMBERED = re.compile(
    r"(?P<mark>[❯›▶►→●◉>]\s*)?(?:[○◯]\s*)?(?P<number>\d{1,2})[.)]\s+(?P<label>\S.*)"
)
_POINTED = re.compile(r"(?P<mark>[❯›▶►●◉>]\s*)(?P<label>[^\s❯›▶►●◉○◯☐☑☒\[(].*)")
_COMPOSER = re.compile(r"[❯›>](?:\s|$)")
_AT_WORK = re.compile(r"(?:esc|ctrl\+c) to interrupt", re.IGNORECASE)
_HINT = re.compile(
    r"\b(?:esc|enter|return|tab|ctrl|shift|space|arrows?|cancel|confirm|select|press|navigate)\b|[↑↓⏎↵⇆]"
    r"|^(?:~|/)|\S\s{3,}\S|^Waiting for (?:user|your)",
    re.IGNORECASE,
)
_CHOOSES = re.compile(
    r"\b(?:enter|return|⏎|↵)\b.{0,6}\s(?:confirm|select|choose|continue|submit|accept)\b|[↑↓]|\barrow",
    re.IGNORECASE,
)
_PICKS = re.compile(
    r"#\?|.*\b(?:choice|choose|select|selection|option|number|pick)\b.*[:?>]", re.IGNORECASE
)
_KEY = re.compile(r"\((\w|esc)\)$")
_SIGN = "△ "
_MAX_ROW_LENGTH = 400
"""Characters of a row of buttons. Matching takes time quadratic in this length."""
_BUTTONS = re.compile(
    r"(?P<labels>\S+(?: \S+)*(?:\s{2,4}\S+(?: \S+)*){1,4})\s{5,}.*\benter confirm\b.*"
)


@dataclass
class _Option:
    number: str
    label: str
    marked: bool
    column: int
    """Column where its label begins."""
    begins: int
    """Column where its number begins."""
    more: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return " ".join([self.label, *self.more])


def read_menu(page: ScreenPage) -> Dialog | None:
    return _numbered_menu(page) or _pointer_menu(page) or _button_row(page)


def _numbered_menu(page: ScreenPage) -> Dialog | None:
    for start in range(len(page.lines) - 1, -1, -1):
        first = _NUMBERED.fullmatch(page.lines[start].text)
        if first is None or first["number"] != "1":
            continue
        options, after = _options(page, start)
        if len(options) < 2 or after <= page.begins:
            return None
        keys = _option_keys(page, options, page.lines[after:])
        return _menu_dialog(page, start, options, keys) if keys else None
    return None


def _options(page: ScreenPage, start: int) -> tuple[list[_Option], int]:
    """Return the options from this line on, and the index of the line after the last."""
    options: list[_Option] = []
    end, empty = start, 0
    for number, line in enumerate(page.lines[start:], start):
        found = _NUMBERED.fullmatch(line.text)
        option = _option(line, found) if found else None
        if option and int(option.number) == len(options) + 1 and _aligned(options, option):
            options.append(option)
        elif line.text and not empty and line.column >= options[-1].column:
            options[-1].more.append(line.text)
        elif line.text or empty:
            break
        empty = 0 if line.text or line.rule else empty + 1
        end = number + 1 if line.text else end
    return options, end


def _option(line: ScreenLine, found: re.Match[str]) -> _Option:
    return _Option(
        number=found["number"],
        label=found["label"],
        marked=bool(found["mark"]),
        column=line.column + found.start("label"),
        begins=line.column + found.start("number"),
    )


def _aligned(options: Sequence[_Option], option: _Option) -> bool:
    return not options or abs(options[0].begins - option.begins) <= len(option.number) - 1


def _option_keys(
    page: ScreenPage, options: Sequence[_Option], below: Sequence[ScreenLine]
) -> list[tuple[str, ...]]:
    """Return the keys for each option; empty if this is a list, not a menu."""
    marked = [index for index, option in enumerate(options) if option.marked]
    if len(options) > MAX_OPTIONS:
        return []
    if len(marked) == 1 and _hints_only(below):
        if len(options) > 9:
            return [_moves(marked[0], index) for index in range(len(options))]
        return _own_keys(options)
    asked = [number for number, line in enumerate(page.lines) if line.text][-1:]
    text = page.lines[asked[0]].text if asked else ""
    below = [line for line in below if line.text]
    if not marked and len(below) == 1 and _PICKS.fullmatch(text) and page.cursor in (None, *asked):
        return [(*option.number, "Enter") for option in options]
    return []


def _own_keys(options: Sequence[_Option]) -> list[tuple[str, ...]]:
    """Return their numbers, or the letters written after them if there are any."""
    own = [_KEY.search(option.text) for option in options]
    lettered = any(key and key[1] != "esc" for key in own)
    return [
        (("Escape",) if key[1] == "esc" else (key[1],)) if lettered and key else (option.number,)
        for option, key in zip(options, own, strict=True)
    ]


def _pointer_menu(page: ScreenPage) -> Dialog | None:
    # Without numbers, only the hints below, or a question mark before the question, distinguish a menu from a text
    # prompt.
    for number in range(len(page.lines) - 1, page.begins - 1, -1):
        line = page.lines[number]
        found = _POINTED.fullmatch(line.text)
        if found is None:
            continue
        column = line.column + found.start("label")
        first, after = _option_range(page, number, column)
        options = [
            _Option(
                number=str(index + 1),
                label=found["label"] if at == number else page.lines[at].text,
                marked=at == number,
                column=column,
                begins=column,
            )
            for index, at in enumerate(range(first, after))
        ]
        if not 2 <= len(options) <= MAX_OPTIONS or not _chosen_from(
            page, first, page.lines[after:]
        ):
            return None
        keys = [_moves(number - first, index) for index in range(len(options))]
        return _menu_dialog(page, first, options, keys)
    return None


def _option_range(page: ScreenPage, number: int, column: int) -> tuple[int, int]:
    """Return the range of lines whose labels begin in the same column (end exclusive)."""

    def belongs(line: ScreenLine) -> bool:
        return line.column == column and 0 < len(line.text) <= LONGEST_OPTION

    first, after = number, number + 1
    while first > 0 and belongs(page.lines[first - 1]):
        first -= 1
    while after < len(page.lines) and belongs(page.lines[after]):
        after += 1
    return first, after


def _chosen_from(page: ScreenPage, first: int, below: Sequence[ScreenLine]) -> bool:
    if not _hints_only(below):
        return False
    above = page.lines[first - 1].text if first else ""
    return any(_CHOOSES.search(line.full_text) for line in below) or above.startswith("? ")


def _hints_only(below: Sequence[ScreenLine]) -> bool:
    """Whether the lines below are only hints: nothing was printed since, and there is no input line."""
    lines = [line for line in below if line.full_text and not line.rule]
    if len(lines) > MAX_HINT_LINES:
        return False
    return all(
        _HINT.search(line.full_text)
        and not _COMPOSER.match(line.full_text)
        and not _AT_WORK.search(line.full_text)
        for line in lines
    )


def _moves(start: int, to: int) -> tuple[str, ...]:
    return (*(("Down",) if to > start else ("Up",)) * abs(to - start), "Enter")


def _button_row(page: ScreenPage) -> Dialog | None:
    # The first button is selected initially; Escape rejects.
    for number in range(len(page.lines) - 1, page.begins - 1, -1):
        line = page.lines[number].full_text
        found = _BUTTONS.fullmatch(line) if len(line) <= _MAX_ROW_LENGTH else None
        if found is None:
            continue
        labels = re.split(r"\s{2,}", found["labels"])
        if any(line.text for line in page.lines[number + 1 :]):
            return None
        options = [
            _Option(number=str(index), label=label, marked=False, column=0, begins=0)
            for index, label in enumerate(labels, 1)
        ]
        keys = [
            ("Escape",) if label in {"Reject", "Cancel", "Deny"} else (*("Right",) * index, "Enter")
            for index, label in enumerate(labels)
        ]
        return _menu_dialog(page, number, options, keys, buttons=True)
    return None


def _menu_dialog(
    page: ScreenPage,
    start: int,
    options: Sequence[_Option],
    keys: Sequence[tuple[str, ...]],
    *,
    buttons: bool = False,
) -> Dialog | None:
    # Without text above it, a menu is taken for an input line.
    block = [line.text for line in page.above(start)]
    if buttons:  # only a sign separates it from earlier output; the first of several is used, so that nothing is hidden
        signs = (index for index, text in enumerate(block) if text.startswith(_SIGN))
        block = block[next(signs, 0) :]
    title, heading = title_and_heading(block)
    if not title:
        return None
    return make_dialog(
        DialogKind.MENU,
        title,
        [
            DialogOption(id=option.number, label=button_label(option.text), keys=pressed)
            for option, pressed in zip(options, keys, strict=True)
        ],
        heading=heading,
        above=block,
        specific=True,
    )
