"""The cards whose choices can still be pressed. The newest one is meant when somebody types a number."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.cards import AnswerCard, Card, QuestionsCard, StatusCard, StoppedCard, SummaryCard
from bot.domain.choices import Choice, Style
from bot.domain.layout import sheet
from bot.domain.people import Thread
from bot.domain.states import Status


def ends_thread(card: Card) -> bool:
    """Whether a card says that its session is over: what is asked for next is a new one."""
    match card:
        case SummaryCard() | AnswerCard(key="discarded" | "elsewhere"):
            return True
        case StatusCard(status=status):
            return status == Status.DISCARDED
        case _:
            return False


def primary(card: Card) -> Choice | None:
    """What Enter presses: the choice that is offered first, unless it does harm."""
    choices = sheet(card).choices
    chosen = next((choice for choice in choices if choice.style is Style.PRIMARY), None)
    if chosen is None and choices and choices[0].style is not Style.DANGER:
        return choices[0]
    return chosen


def waits(card: Card) -> bool:
    """Whether something on it can be pressed, or a question on it be answered in words."""
    if isinstance(card, QuestionsCard) and card.decided is None:
        return any(question.answer is None for question in card.questions)
    return bool(sheet(card).choices)


class OpenCards:
    def __init__(self) -> None:
        self._cards: dict[tuple[str, str], Card] = {}

    def take(self, thread: Thread, card: Card) -> None:
        """A card was shown. The last one shown is the newest, also where nothing on it has changed."""
        self._cards.pop((thread.key, card.key), None)
        if ends_thread(card):
            self._close(thread, lambda _: True)
        elif isinstance(card, StatusCard):
            # never open itself: it only tells how things stand, and Stop has a key of its own
            if card.status != Status.PAUSED:
                self._close(thread, lambda open_card: isinstance(open_card, StoppedCard))
        elif waits(card):
            self._cards[thread.key, card.key] = card

    def newest(self, thread: Thread) -> Card | None:
        return next(
            (card for (key, _), card in reversed(self._cards.items()) if key == thread.key), None
        )

    def _close(self, thread: Thread, settled: Callable[[Card], bool]) -> None:
        gone = [p for p, card in self._cards.items() if p[0] == thread.key and settled(card)]
        for place in gone:
            del self._cards[place]
