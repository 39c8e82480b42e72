"""Lines to choose from: numbered ones, others with a pointer before one of them, buttons in a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from adapters.tmux.dialogs.page import Line, Page
from adapters.tmux.dialogs.wording import dialog, labelled, titled
from bot.domain.dialogs import Dialog, DialogKind, DialogOption

MOST = 12
"""Options. More than that is a list."""
LONGEST_LINE = 160
HINTS = 5
"""Lines below a menu at most, and all of them must look like hints."""

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
_LONGEST_ROW = 400
"""Characters of a row of buttons. To look for one takes time by the square of them."""
_BUTTONS = re.compile(
    r"(?P<labels>\S+(?: \S+)*(?:\s{2,4}\S+(?: \S+)*){1,4})\s{5,}.*\benter confirm\b.*"
)


@dataclass
class _Option:
    number: str
    label: str
    marked: bool
    column: int
    """Where its label begins."""
    begins: int
    """Where its number begins."""
    more: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return " ".join([self.label, *self.more])


def menu(page: Page) -> Dialog | None:
    return _numbered(page) or _pointed(page) or _buttons(page)


def _numbered(page: Page) -> Dialog | None:
    for start in range(len(page.lines) - 1, -1, -1):
        first = _NUMBERED.fullmatch(page.lines[start].text)
        if first is None or first["number"] != "1":
            continue
        options, after = _options(page, start)
        if len(options) < 2 or after <= page.begins:
            return None
        keys = _keys(page, options, page.lines[after:])
        return _made(page, start, options, keys) if keys else None
    return None


def _options(page: Page, start: int) -> tuple[list[_Option], int]:
    """The options from this line on, and the number of the line after the last."""
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


def _option(line: Line, found: re.Match[str]) -> _Option:
    return _Option(
        number=found["number"],
        label=found["label"],
        marked=bool(found["mark"]),
        column=line.column + found.start("label"),
        begins=line.column + found.start("number"),
    )


def _aligned(options: Sequence[_Option], option: _Option) -> bool:
    return not options or abs(options[0].begins - option.begins) <= len(option.number) - 1


def _keys(page: Page, options: Sequence[_Option], below: Sequence[Line]) -> list[tuple[str, ...]]:
    """What is pressed for each; nothing: this is a list, not a menu."""
    marked = [index for index, option in enumerate(options) if option.marked]
    if len(options) > MOST:
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
    """Their numbers; the letters written behind them, where they have such."""
    own = [_KEY.search(option.text) for option in options]
    lettered = any(key and key[1] != "esc" for key in own)
    return [
        (("Escape",) if key[1] == "esc" else (key[1],)) if lettered and key else (option.number,)
        for option, key in zip(options, own, strict=True)
    ]


def _pointed(page: Page) -> Dialog | None:
    """Without numbers only what is below, or a question mark before the question, tells a menu from typed words."""
    for number in range(len(page.lines) - 1, page.begins - 1, -1):
        line = page.lines[number]
        found = _POINTED.fullmatch(line.text)
        if found is None:
            continue
        column = line.column + found.start("label")
        first, after = _around(page, number, column)
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
        if not 2 <= len(options) <= MOST or not _chosen_from(page, first, page.lines[after:]):
            return None
        keys = [_moves(number - first, index) for index in range(len(options))]
        return _made(page, first, options, keys)
    return None


def _around(page: Page, number: int, column: int) -> tuple[int, int]:
    """From which line to before which the labels begin in the same column."""

    def belongs(line: Line) -> bool:
        return line.column == column and 0 < len(line.text) <= LONGEST_LINE

    first, after = number, number + 1
    while first > 0 and belongs(page.lines[first - 1]):
        first -= 1
    while after < len(page.lines) and belongs(page.lines[after]):
        after += 1
    return first, after


def _chosen_from(page: Page, first: int, below: Sequence[Line]) -> bool:
    if not _hints_only(below):
        return False
    above = page.lines[first - 1].text if first else ""
    return any(_CHOOSES.search(line.beside) for line in below) or above.startswith("? ")


def _hints_only(below: Sequence[Line]) -> bool:
    """Nothing has been printed since, and no line to type in stands there."""
    lines = [line for line in below if line.beside and not line.rule]
    if len(lines) > HINTS:
        return False
    return all(
        _HINT.search(line.beside)
        and not _COMPOSER.match(line.beside)
        and not _AT_WORK.search(line.beside)
        for line in lines
    )


def _moves(start: int, to: int) -> tuple[str, ...]:
    return (*(("Down",) if to > start else ("Up",)) * abs(to - start), "Enter")


def _buttons(page: Page) -> Dialog | None:
    """The first is chosen to begin with; Escape is no to all of them."""
    for number in range(len(page.lines) - 1, page.begins - 1, -1):
        line = page.lines[number].beside
        found = _BUTTONS.fullmatch(line) if len(line) <= _LONGEST_ROW else None
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
        return _made(page, number, options, keys, buttons=True)
    return None


def _made(
    page: Page,
    start: int,
    options: Sequence[_Option],
    keys: Sequence[tuple[str, ...]],
    *,
    buttons: bool = False,
) -> Dialog | None:
    """A menu without a word above it is a line to type in."""
    block = [line.text for line in page.above(start)]
    if buttons:  # nothing but a sign tells it from what was said before; the first of several, so that nothing is hidden
        signs = (index for index, text in enumerate(block) if text.startswith(_SIGN))
        block = block[next(signs, 0) :]
    title, heading = titled(block)
    if not title:
        return None
    return dialog(
        DialogKind.MENU,
        title,
        [
            DialogOption(id=option.number, label=labelled(option.text), keys=pressed)
            for option, pressed in zip(options, keys, strict=True)
        ],
        heading=heading,
        above=block,
        specific=True,
    )
