"""Reactions are the buttons: the bot sets a chip for what can be chosen, and whoever clicks it chooses.

A reaction with the bare emoji counts as well, and so does the word that stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adapters.posting import Placed
from bot.domain.choices import Choice, Style, Verb
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
    Verb.CHECK_AGAIN: "🔎",
    Verb.USE_AGENT: "🤖",
    Verb.SHIP_AGAIN: "🔁",
    Verb.WATCH_AGAIN: "🔁",
    Verb.MERGE_PULL: "🔀",
    Verb.MERGE_PULLS: "✅",
    Verb.UNNEEDED: "🏁",
    Verb.MORE: "➕",
    Verb.SPLIT: "🧩",
    Verb.WHOLE: "📦",
    Verb.THERE: "↪",
    Verb.HERE: "📍",
}
"""Without U+FE0F: with it, clients would take the same chip for another."""
WORDS = {
    Verb.DEFAULTS: "defaults",
    Verb.APPROVE: "approve",
    Verb.DISCARD: "discard",
    Verb.STOP: "stop",
    Verb.RESUME: "resume",
}
MOST = 4
"""Chips on a message. Each is an event, and counts against the limits of the homeserver."""
LONGEST = 40
_NAMED = frozenset({Verb.DISCARD, Verb.STOP, Verb.RESUME})
_AGREED = frozenset({"👍", "✔", "☑"})
_STOP = frozenset({"🛑", "✋"})
_VARIANT = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""How an emoji is drawn, and the colour of its skin."""


def keys(choices: Sequence[Choice]) -> tuple[str, ...]:
    """The text of the chip of each choice. No two are alike."""
    found: list[str] = []
    for choice in choices:
        key = _cut(f"{EMOJI[choice.verb]} {_plain(choice.label)}", LONGEST)
        number = 2
        while key in found:
            key = f"{_cut(key, LONGEST - 4)} {number}"
            number += 1
        found.append(key)
    return tuple(found)


def seeds(choices: Sequence[Choice]) -> tuple[str, ...]:
    """The chips the bot sets itself."""
    return keys(choices)[:MOST]


def word(choice: Choice) -> str:
    """What can be written to the same effect; empty: nothing."""
    said = WORDS.get(choice.verb, "")
    return f"{said} {choice.about[:8]}" if choice.verb in _NAMED and choice.about else said


def choice_for(placed: Placed, key: str) -> Choice | None:
    """What a reaction on a card means. None: nothing, or more than one thing."""
    key = _plain(key)
    choices = placed.choices
    for choice, known in zip(choices, keys(choices), strict=True):
        if key == known:
            return choice
    if key in _STOP:
        return _stop(placed)
    if key in _AGREED:
        return _only([c for c in choices if c.style is Style.PRIMARY])
    return _only([c for c in choices if EMOJI[c.verb] == key])


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
