"""Questions of a single line, the last one: yes or no, a key to go on, words to be typed."""

from __future__ import annotations

import re

from adapters.tmux.dialogs.page import Page
from adapters.tmux.dialogs.wording import dialog
from bot.domain.dialogs import Dialog, DialogKind, DialogOption

CONTEXT = 6
"""Lines above that are shown with it."""
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


def line(page: Page) -> Dialog | None:
    number = page.last
    if number < page.begins or page.cursor not in (None, number):
        return None
    text = page.lines[number].text
    if len(text) > LONGEST_QUESTION:
        return None
    return (
        _goes_on(page, number, text)
        or _yes_or_no(page, number, text)
        or (_words(page, number, text) if page.cursor == number else None)
    )


def _goes_on(page: Page, number: int, text: str) -> Dialog | None:
    if not _ENTER.fullmatch(text):
        return None
    option = DialogOption(id="enter", label="Continue", keys=("Enter",))
    return dialog(DialogKind.MENU, text, [option], above=_context(page, number))


def _yes_or_no(page: Page, number: int, text: str) -> Dialog | None:
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
    return dialog(DialogKind.YES_NO, question, options, above=above)


def _words(page: Page, number: int, text: str) -> Dialog | None:
    if not (_MARKED.fullmatch(text) or _ASKS.fullmatch(text)):
        return None
    return dialog(DialogKind.WORDS, text.lstrip("? "), (), above=_context(page, number))


def _context(page: Page, number: int) -> list[str]:
    return [one.text for one in page.lines[:number] if one.text][-CONTEXT:]
