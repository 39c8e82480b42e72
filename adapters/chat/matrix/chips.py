"""Reactions are the buttons: the bot sets a chip for what can be chosen, and whoever clicks it chooses.

A reaction with the bare emoji counts as well, and so does the word that stands beside it. What would have the emoji of
another choice has a number instead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.posting import Placed
from bot.domain.choices import Choice, Style, Verb, said_as
from bot.domain.masking import clean

EMOJI = {
    Verb.DEFAULTS: "✅",
    Verb.ANSWER: "✏",
    Verb.APPROVE: "✅",
    Verb.CHANGE: "✏",
    Verb.DISCARD: "❌",
    Verb.STOP: "🛑",
    Verb.RESUME: "▶",
    Verb.RETRY: "🔁",
    Verb.REASSIGN: "🌿",
    Verb.SKIP: "⏭",
    Verb.GIVE_UP: "🚫",
    Verb.MERGE: "✅",
    Verb.KEEP: "📌",
    Verb.TRY_AGAIN: "🔁",
    Verb.DROP: "🗑",
    Verb.REPLY: "💬",
    Verb.ALWAYS: "♾",
    Verb.ACCEPT: "✅",
    Verb.SEND_BACK: "✏",
    Verb.TESTS: "🧪",
    Verb.UNTESTED: "⛔",
    Verb.CHECK_AGAIN: "🔎",
    Verb.USE_AGENT: "🤖",
    Verb.NUDGE: "👋",
    Verb.TAKE_AS_DONE: "👌",
    Verb.STOP_TASK: "✋",
    Verb.TELL: "🔎",
    Verb.SHIP_AGAIN: "🔁",
    Verb.WATCH_AGAIN: "🔁",
    Verb.MERGE_PULL: "🔀",
    Verb.MERGE_PULLS: "✅",
    Verb.MERGE_UNCHECKED: "🔀",
    Verb.WAIT_LONGER: "⏳",
    Verb.UNNEEDED: "🏁",
    Verb.SHOW_BRANCH: "🔎",
    Verb.MERGE_BRANCH: "🔀",
    Verb.DELETE_BRANCH: "🗑",
    Verb.MORE: "➕",
    Verb.HINT: "💡",
    Verb.LOG: "📜",
    Verb.HELPFUL: "👍",
    Verb.UNHELPFUL: "👎",
    Verb.SETTINGS: "🔧",
    Verb.BEGIN: "🌱",
    Verb.SPEC: "📝",
    Verb.SPLIT: "🧩",
    Verb.WHOLE: "📦",
    Verb.THERE: "↪",
    Verb.HERE: "📍",
    Verb.INTENT_APPROVE: "✅",
    Verb.INTENT_REJECT: "❌",
    Verb.INTENT_RUN: "🚀",
}
"""Without U+FE0F: with it, clients would take the same chip for another."""
MOST = 4
"""Chips on a message. Each is an event, and counts against the limits of the homeserver."""
LONGEST = 40
NUMBERS = (*(f"{digit}\ufe0f\u20e3" for digit in range(1, 10)), "🔟")
"""With U+FE0F: a digit without it is drawn as text, and these are clicked where they stand."""
_UNSEEDED = frozenset({Verb.LOG})
"""What only one person wants to read needs no chip: it is said."""
_THUMBS = {
    "👍": Choice(label="Helpful", verb=Verb.HELPFUL),
    "👎": Choice(label="Not helpful", verb=Verb.UNHELPFUL),
}
JUDGED = "summary"
"""The kind of card that thumbs are about. They have no chips: whoever has nothing to say is not asked."""
_AGREED = frozenset({"👍", "✔", "☑"})
_STOP = frozenset({"🛑", "✋"})
_VARIANT = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""How an emoji is drawn, and the colour of its skin."""


@dataclass(frozen=True)
class Chip:
    choice: Choice
    emoji: str
    """That of its verb, or its number; empty: neither would say which choice is meant."""
    key: str
    """The text of the chip. No two are alike."""
    seeded: bool
    """The bot sets it itself."""


def chips(choices: Sequence[Choice], by_words: frozenset[Verb] = frozenset()) -> tuple[Chip, ...]:
    """One for each choice, in order. `by_words`: what no reaction does there."""
    found: list[Chip] = []
    free = MOST
    taken: set[str] = set()
    for choice, emoji in zip(choices, _emojis(choices), strict=True):
        key = _unlike(taken, f"{emoji or EMOJI[choice.verb]} {_plain(choice.label)}")
        seeded = free > 0 and choice.verb not in _UNSEEDED and choice.verb not in by_words
        free -= seeded
        taken.add(key)
        found.append(Chip(choice, emoji, key, seeded))
    return tuple(found)


def keys(choices: Sequence[Choice]) -> tuple[str, ...]:
    return tuple(chip.key for chip in chips(choices))


def seeds(choices: Sequence[Choice], by_words: frozenset[Verb] = frozenset()) -> tuple[str, ...]:
    """The chips the bot sets itself."""
    return tuple(chip.key for chip in chips(choices, by_words) if chip.seeded)


def choice_for(placed: Placed, key: str) -> Choice | None:
    """What a reaction on a card means. None: nothing, or more than one thing."""
    key = _plain(key)
    if placed.kind == JUDGED and key in _THUMBS:
        return _THUMBS[key]
    offered = chips(placed.choices)
    for chip in offered:
        if key == _plain(chip.key):
            return chip.choice
    if key in _STOP:
        return _stop(placed)
    if key in _AGREED:
        return _only([c for c in placed.choices if c.style is Style.PRIMARY])
    return _only([chip.choice for chip in offered if key and key == _plain(chip.emoji)])


def late_choice(placed: Placed, key: str) -> Choice | None:
    """A chip that was there until the card was decided. What would count without having been asked twice does not."""
    key = _plain(key)
    found = (chip.choice for chip in chips(placed.former) if _plain(chip.key) == key)
    return next((choice for choice in found if not choice.confirm), None)


def _emojis(choices: Sequence[Choice]) -> Iterator[str]:
    """Of several that are alike and have no word of their own, each has its number."""
    times = Counter(EMOJI[choice.verb] for choice in choices)
    numbers = iter(NUMBERS)
    for choice in choices:
        if times[EMOJI[choice.verb]] == 1:
            yield EMOJI[choice.verb]
        else:
            yield "" if said_as(choice) else next(numbers, "")


def _unlike(taken: set[str], text: str) -> str:
    key = _cut(text, LONGEST)
    number = 2
    while key in taken:
        key = f"{_cut(key, LONGEST - 4)} {number}"
        number += 1
    return key


def _stop(placed: Placed) -> Choice | None:
    """On any card of a session: stopping loses nothing."""
    offered = [c for c in placed.choices if c.verb is Verb.STOP]
    if offered or not placed.thread.root:
        return _only(offered)
    return Choice(label="Stop", verb=Verb.STOP, style=Style.DANGER)


def _only(choices: Sequence[Choice]) -> Choice | None:
    return choices[0] if len(choices) == 1 else None


def _plain(text: str) -> str:
    return " ".join(clean(_VARIANT.sub("", text)).split())


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
