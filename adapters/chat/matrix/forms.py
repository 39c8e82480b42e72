"""What a choice wants before it counts: some words in the thread, or to be chosen once more.

Matrix has no forms. What is asked for is asked as a card, to the one who chose.
"""

from __future__ import annotations

from adapters.posting import Placed
from bot.domain.cards import AnswerCard
from bot.domain.choices import Choice, Verb
from bot.domain.sheets import Text, Tone

_PROMPTS = {Verb.CHANGE: "Write in this thread what should be different."}
_CONFIRM = "confirm:"


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
        body = () if prompt else (Text(text="Write it in this thread."),)
        return AnswerCard(key=f"ask:{mark}", title=prompt or choice.asks, body=body)
    return None


def confirmed(placed: Placed, choice: Choice) -> AnswerCard | None:
    """What a card that asked «are you sure?» says once that was answered. None: it is another card."""
    key = asked_as(placed)
    if not key.startswith(_CONFIRM):
        return None
    return AnswerCard(key=key, title=f"{choice.label}: confirmed")


def key_for(key: str, person: str) -> str:
    """The same card may stand in a thread and be shown to somebody: these are two."""
    return f"{key} to {person}"


def asked_as(placed: Placed) -> str:
    """The key of a card that was shown to somebody, as it was given."""
    return placed.key.partition(" to ")[0]
