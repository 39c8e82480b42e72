"""Reactions as buttons: the bot adds a reaction for each choice, and whoever clicks it chooses.

A reaction with the emoji alone counts as well, and so does the typed command. Choices with the same emoji get numbers
instead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.matrix.crypto.encrypted_rooms import ONLY_WORDS
from adapters.posting import PlacedCard, PostingLedger
from bot.core.cards import AnswerCard
from bot.core.choices import Choice, Style, Verb, typed_equivalent
from bot.core.people import Thread
from bot.core.sheets import Pointer, Text, Tone
from bot.core.text import clean, cut

# The reactions that stand for choices, and what a reaction means.

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
"""Without U+FE0F: with it, clients would treat it as another reaction."""
MAX_BUTTONS = 4
"""The most reactions set by the bot per message. Each is an event and counts against the homeserver's rate limits."""
MAX_KEY_LENGTH = 40
NUMBERS = (*(f"{digit}\ufe0f\u20e3" for digit in range(1, 10)), "🔟")
"""With U+FE0F: a digit without it is drawn as text, and these are the reactions people click on."""
_UNSEEDED = frozenset({Verb.LOG})
"""Choices that only one person needs get no button; they can be typed."""
_THUMBS = {
    "👍": Choice(label="Helpful", verb=Verb.HELPFUL),
    "👎": Choice(label="Not helpful", verb=Verb.UNHELPFUL),
}
RATED_KIND = "summary"
"""The kind of card that thumbs rate. It gets no buttons, so that nobody is pressed for a rating."""
_AGREED = frozenset({"👍", "✔", "☑"})
_STOP = frozenset({"🛑", "✋"})
_VARIANT = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""Variation selectors and skin tones."""


@dataclass(frozen=True)
class ReactionButton:
    choice: Choice
    emoji: str
    """The emoji of its verb, or a number; empty if neither would be unambiguous."""
    key: str
    """The text of the button, unique on its card."""
    seeded: bool
    """The bot adds it itself."""


def reaction_buttons(
    choices: Sequence[Choice], typed_verbs: frozenset[Verb] = frozenset()
) -> tuple[ReactionButton, ...]:
    """Return a button for each choice, in order. `typed_verbs`: verbs that must be typed here."""
    found: list[ReactionButton] = []
    free = MAX_BUTTONS
    taken: set[str] = set()
    for choice, emoji in zip(choices, _emoji_or_number(choices), strict=True):
        key = _distinct_key(taken, f"{emoji or EMOJI[choice.verb]} {_normalized_key(choice.label)}")
        seeded = free > 0 and choice.verb not in _UNSEEDED and choice.verb not in typed_verbs
        free -= seeded
        taken.add(key)
        found.append(ReactionButton(choice, emoji, key, seeded))
    return tuple(found)


def button_keys(choices: Sequence[Choice]) -> tuple[str, ...]:
    return tuple(button.key for button in reaction_buttons(choices))


def seeded_keys(
    choices: Sequence[Choice], typed_verbs: frozenset[Verb] = frozenset()
) -> tuple[str, ...]:
    """Return the buttons the bot sets itself."""
    return tuple(button.key for button in reaction_buttons(choices, typed_verbs) if button.seeded)


def choice_for(placed: PlacedCard, key: str) -> Choice | None:
    """Return the choice a reaction on a card means, or None if there is none or more than one."""
    key = _normalized_key(key)
    if placed.kind == RATED_KIND and key in _THUMBS:
        return _THUMBS[key]
    offered = reaction_buttons(placed.choices)
    for button in offered:
        if key == _normalized_key(button.key):
            return button.choice
    if key in _STOP:
        return _stop_choice(placed)
    if key in _AGREED:
        return _only([c for c in placed.choices if c.style is Style.PRIMARY])
    return _only(
        [button.choice for button in offered if key and key == _normalized_key(button.emoji)]
    )


def late_choice(placed: PlacedCard, key: str) -> Choice | None:
    """Return a choice that had a button until the card was decided.

    Choices that need a confirmation are not returned.
    """
    key = _normalized_key(key)
    found = (
        button.choice
        for button in reaction_buttons(placed.former)
        if _normalized_key(button.key) == key
    )
    return next((choice for choice in found if not choice.confirm), None)


def _emoji_or_number(choices: Sequence[Choice]) -> Iterator[str]:
    # Choices that share an emoji and have no typed command get a number.
    times = Counter(EMOJI[choice.verb] for choice in choices)
    numbers = iter(NUMBERS)
    for choice in choices:
        if times[EMOJI[choice.verb]] == 1:
            yield EMOJI[choice.verb]
        else:
            yield "" if typed_equivalent(choice) else next(numbers, "")


def _distinct_key(taken: set[str], text: str) -> str:
    key = cut(text, MAX_KEY_LENGTH)
    number = 2
    while key in taken:
        key = f"{cut(key, MAX_KEY_LENGTH - 4)} {number}"
        number += 1
    return key


def _stop_choice(placed: PlacedCard) -> Choice | None:
    # Stopping is offered on any card of a session, because it loses nothing.
    offered = [c for c in placed.choices if c.verb is Verb.STOP]
    if offered or not placed.thread.root:
        return _only(offered)
    return Choice(label="Stop", verb=Verb.STOP, style=Style.DANGER)


def _only(choices: Sequence[Choice]) -> Choice | None:
    return choices[0] if len(choices) == 1 else None


def _normalized_key(text: str) -> str:
    return " ".join(clean(_VARIANT.sub("", text)).split())


# Typed choices for rooms in which reactions do not count: the exact words of a choice are compared, not interpreted.
# Reactions are never encrypted, so a homeserver could forge one; an operator may require typed choices in encrypted
# rooms.

CHOICE_WORDS = frozenset(typed_equivalent(Choice(label="", verb=verb)) for verb in Verb) - {""}
"""Commands of all choices that can be typed as one word."""
_END_MARKS = "….!。"
"""Characters allowed after the words."""


@dataclass(frozen=True)
class TypedChoice:
    """A choice on a card that somebody typed."""

    placed: PlacedCard
    choice: Choice


def typed_words(button: ReactionButton) -> str:
    """Return what to type for this choice."""
    if said := typed_equivalent(button.choice):
        return said
    if button.emoji in NUMBERS:
        return str(NUMBERS.index(button.emoji) + 1)
    return _label(button).rstrip(_END_MARKS)


def find_typed_choice(
    cards: Sequence[PlacedCard], text: str, verbs: frozenset[Verb]
) -> TypedChoice | None:
    """Return the choice that the text names, on the newest card that offers it.

    Commands and approvals are handled elsewhere.
    """
    for placed in reversed(cards):
        offered = (
            button for button in reaction_buttons(placed.choices) if button.choice.verb in verbs
        )
        found = [
            button.choice
            for button in offered
            if _normalized_words(text) in _accepted_words(button)
        ]
        if len(found) == 1:
            return TypedChoice(placed, found[0])
    return None


def find_offered_choice(ledger: PostingLedger, room: str, text: str) -> TypedChoice | None:
    """Return the choice that the text names on a card of any thread in the room.

    Most messages are ruled out by their first word.
    """
    words = _normalized_words(text)
    if not words or words.partition(" ")[0] not in CHOICE_WORDS:
        return None
    for thread in reversed(ledger.threads()):
        for placed in (
            ledger.cards_with_choices(thread) if thread.channel == room and thread.root else ()
        ):
            for choice in placed.choices:
                if typed_equivalent(choice) == words:
                    return TypedChoice(placed, choice)
    return None


def _accepted_words(button: ReactionButton) -> frozenset[str]:
    if typed_equivalent(button.choice):
        return frozenset()
    return frozenset(
        map(_normalized_words, (typed_words(button), _label(button), button.choice.label))
    )


def _label(button: ReactionButton) -> str:
    """Return the label of a choice; duplicates get a number."""
    return button.key.partition(" ")[2]


def _normalized_words(text: str) -> str:
    return " ".join(text.split()).rstrip(_END_MARKS).casefold()


# What a choice needs before it counts: a text in the thread, or a confirmation. Matrix has no forms, so the person who
# chose is asked by a card, which later says what became of it.

_PROMPTS = {Verb.CHANGE: "Write in this thread what should be different."}
_CONFIRM = "confirm:"
_ASK = "ask:"
_NEXT = (
    "Write it in this thread: your next message here within half an hour is the answer. If you do not want that any"
    " more, take your reaction back."
)


def follow_up_card(choice: Choice, reaction_id: str) -> AnswerCard | None:
    """Return the card to show first, or None if the choice counts at once.

    `reaction_id`: the id of the reaction, so that a reaction delivered twice asks only once.
    """
    if choice.confirm:
        sure = choice.model_copy(update={"confirm": ""})
        return AnswerCard(
            key=f"{_CONFIRM}{reaction_id}",
            title=choice.confirm,
            tone=Tone.NEEDS_YOU,
            choices=(sure,),
        )
    if choice.asks:
        prompt = _PROMPTS.get(choice.verb)
        body = () if prompt else (Text(text=_NEXT),)
        tone = Tone.PLAIN if prompt else Tone.NEEDS_YOU
        return AnswerCard(
            key=f"{_ASK}{reaction_id}", title=prompt or choice.asks, body=body, tone=tone
        )
    return None


def confirmed_card(placed: PlacedCard, choice: Choice) -> AnswerCard | None:
    """Return what the card «are you sure?» says after the answer; None if it is another card."""
    if not is_confirmation(placed):
        return None
    return AnswerCard(key=original_key(placed), title=f"{choice.label}: confirmed")


def is_confirmation(placed: PlacedCard) -> bool:
    return original_key(placed).startswith(_CONFIRM)


def reaction_of(placed: PlacedCard) -> str:
    """Return the id of the reaction that made the bot ask; empty if there is none."""
    key = original_key(placed)
    return next((key.removeprefix(kind) for kind in (_CONFIRM, _ASK) if key.startswith(kind)), "")


def answered_card(choice: Choice, reaction_id: str) -> AnswerCard:
    """Return what the card that asked for a text says after the answer."""
    return AnswerCard(
        key=f"{_ASK}{reaction_id}", title=f"{choice.label.rstrip('….')}: I have your answer"
    )


def taken_back_card(choice: Choice, reaction_id: str) -> AnswerCard:
    """Return what the card that asked says after the choice was taken back."""
    kind = _CONFIRM if choice.confirm else _ASK
    title = f"{choice.label.rstrip('….')}: taken back, nothing happens"
    return AnswerCard(key=f"{kind}{reaction_id}", title=title)


def already_counted_card(choice: Choice) -> AnswerCard:
    """Return the reply to removing a reaction that has counted.

    Its key makes it appear once per choice, however often it is clicked.
    """
    title = f"«{choice.label.rstrip('….')}» has counted already: taking the reaction back changes nothing."
    body = (Text(text="Say in this thread what you would like instead; stop ends all work."),)
    return AnswerCard(key=f"counted:{choice.verb}:{choice.about}", title=title, body=body)


def wrong_thread_card(choice: Choice, thread: Thread) -> AnswerCard:
    """Return the reply to a command typed in the room instead of its thread, shown once per thread and verb."""
    title = f"«{typed_equivalent(choice)}» counts in the thread that it is about. In the room itself I do not hear it."
    steps = Text(text="Write it there, or as a reply to my message; or click its chip.")
    there = Pointer(text="The thread", thread=thread)
    return AnswerCard(
        key=f"elsewhere:{thread.root}:{choice.verb}", title=title, body=(steps, there)
    )


def must_type_card(placed: PlacedCard, choice: Choice) -> AnswerCard:
    """Return the reply to a reaction where only typed choices count, shown once per choice."""
    words = next(
        typed_words(button)
        for button in reaction_buttons(placed.choices)
        if button.choice == choice
    )
    steps = Text(text=f"Write in this thread: {words}")
    return AnswerCard(
        key=f"words:{placed.key}:{choice.verb}:{choice.about}", title=ONLY_WORDS, body=(steps,)
    )


def key_for_person(key: str, person: str) -> str:
    """Return a separate key for the person, because the same card may also be in the thread."""
    return f"{key} to {person}"


def original_key(placed: PlacedCard) -> str:
    """Return the key without the person it was shown to."""
    return placed.key.partition(" to ")[0]
