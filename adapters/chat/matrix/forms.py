"""What a choice wants before it counts: some words in the thread, or to be chosen once more.

Matrix has no forms. What is asked for is asked as a card, to the one who chose; and that card says what became of it.
"""

from __future__ import annotations

from adapters.chat.matrix.chips import chips
from adapters.chat.matrix.crypto.reasons import ONLY_WORDS
from adapters.chat.matrix.wording import words_of
from adapters.posting import Placed
from bot.domain.cards import AnswerCard
from bot.domain.choices import Choice, Verb, said_as
from bot.domain.people import Thread
from bot.domain.sheets import Pointer, Text, Tone

_PROMPTS = {Verb.CHANGE: "Write in this thread what should be different."}
_CONFIRM = "confirm:"
_ASK = "ask:"
_NEXT = (
    "Write it in this thread: your next message here within half an hour is the answer. If you do not want that any"
    " more, take your reaction back."
)


def wanted_next(choice: Choice, mark: str) -> AnswerCard | None:
    """The card to show first. None: the choice counts as it is. `mark` is the id of the reaction, so that the same
    reaction, heard twice, asks once."""
    if choice.confirm:
        sure = choice.model_copy(update={"confirm": ""})
        return AnswerCard(
            key=f"{_CONFIRM}{mark}", title=choice.confirm, tone=Tone.NEEDS_YOU, choices=(sure,)
        )
    if choice.asks:
        prompt = _PROMPTS.get(choice.verb)
        body = () if prompt else (Text(text=_NEXT),)
        tone = Tone.PLAIN if prompt else Tone.NEEDS_YOU
        return AnswerCard(key=f"{_ASK}{mark}", title=prompt or choice.asks, body=body, tone=tone)
    return None


def confirmed(placed: Placed, choice: Choice) -> AnswerCard | None:
    """What a card that asked «are you sure?» says once that was answered. None: it is another card."""
    if not asks_twice(placed):
        return None
    return AnswerCard(key=asked_as(placed), title=f"{choice.label}: confirmed")


def asks_twice(placed: Placed) -> bool:
    return asked_as(placed).startswith(_CONFIRM)


def mark_of(placed: Placed) -> str:
    """The id of the reaction after which a card asked; empty: after none."""
    key = asked_as(placed)
    return next((key.removeprefix(kind) for kind in (_CONFIRM, _ASK) if key.startswith(kind)), "")


def answered(choice: Choice, mark: str) -> AnswerCard:
    """What a card that asked for words says once they are there."""
    return AnswerCard(key=f"{_ASK}{mark}", title=f"{choice.label.rstrip('….')}: I have your answer")


def taken_back(choice: Choice, mark: str) -> AnswerCard:
    """What a card that asked says once nobody wants that any more."""
    kind = _CONFIRM if choice.confirm else _ASK
    title = f"{choice.label.rstrip('….')}: taken back, nothing happens"
    return AnswerCard(key=f"{kind}{mark}", title=title)


def counted_already(choice: Choice) -> AnswerCard:
    """To whoever takes a reaction back that has counted: once for each choice, however often it is clicked."""
    title = f"«{choice.label.rstrip('….')}» has counted already: taking the reaction back changes nothing."
    body = (Text(text="Say in this thread what you would like instead; stop ends all work."),)
    return AnswerCard(key=f"counted:{choice.verb}:{choice.about}", title=title, body=body)


def elsewhere(choice: Choice, thread: Thread) -> AnswerCard:
    """To whoever writes in the room what belongs into a thread: once for each of them."""
    title = f"«{said_as(choice)}» counts in the thread that it is about. In the room itself I do not hear it."
    steps = Text(text="Write it there, or as a reply to my message; or click its chip.")
    there = Pointer(text="The thread", thread=thread)
    return AnswerCard(
        key=f"elsewhere:{thread.root}:{choice.verb}", title=title, body=(steps, there)
    )


def in_words(placed: Placed, choice: Choice) -> AnswerCard:
    """To whoever reacts where only words do that: once for each choice."""
    words = next(words_of(chip) for chip in chips(placed.choices) if chip.choice == choice)
    steps = Text(text=f"Write in this thread: {words}")
    return AnswerCard(
        key=f"words:{placed.key}:{choice.verb}:{choice.about}", title=ONLY_WORDS, body=(steps,)
    )


def key_for(key: str, person: str) -> str:
    """The same card may stand in a thread and be shown to somebody: these are two."""
    return f"{key} to {person}"


def asked_as(placed: Placed) -> str:
    """The key of a card that was shown to somebody, as it was given."""
    return placed.key.partition(" to ")[0]
