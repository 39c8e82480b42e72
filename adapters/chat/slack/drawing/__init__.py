"""Cards as Slack messages: pure, within every limit of Slack for any content, and nothing in a card can forge markup."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.chat.slack.drawing import documents, questions
from adapters.chat.slack.drawing.buttons import Press, buttons
from adapters.chat.slack.drawing.elements import Ways, body
from adapters.chat.slack.drawing.limits import BLOCKS, MESSAGE, aside, letters
from adapters.chat.slack.drawing.message import Message, marked, message
from adapters.chat.slack.drawing.picking import PICK, Values, picked
from adapters.chat.slack.drawing.plan import plan
from adapters.chat.slack.drawing.site import Site
from adapters.chat.slack.drawing.titles import title
from adapters.chat.slack.words import on_one_line
from bot.domain.cards import Card, DocumentCard, QuestionsCard, StatusCard
from bot.domain.layout import sheet
from bot.domain.sheets import Element, Table, Text

__all__ = ["PICK", "Message", "Press", "Site", "Values", "drawn", "picked"]

_SPARE = 100


def drawn(card: Card, site: Site | None = None, *, rich: bool = False) -> tuple[Message, ...]:
    """One message, or several for a document. `site`: where links lead; without one they are mere words. `rich`: with
    blocks not every workspace takes (plan, table)."""
    match card:
        case DocumentCard():
            return documents.drawn(card)
        case QuestionsCard(decided=None):
            return (questions.drawn(card),)
        case _:
            return (_on_a_sheet(card, Ways(site, rich)),)


def _on_a_sheet(card: Card, ways: Ways) -> Message:
    laid = sheet(card)
    head = title(laid)
    tail = buttons(laid.choices, card.key)
    if on_one_line(laid.footer):
        tail.append(aside(on_one_line(laid.footer)))
    room = MESSAGE - _SPARE - letters([head, tail])
    tasks = plan(card, room // 2) if ways.rich and isinstance(card, StatusCard) else []
    elements = [one for one in laid.body if not (tasks and isinstance(one, Table))]
    places = BLOCKS - len(head) - len(tasks) - len(tail)
    shown = body(elements, room - letters(tasks), places, ways)
    said = (marked(laid.title, laid.tone), *_words(laid.body))
    return message(said, [*head, *tasks, *shown, *tail])


def _words(elements: Sequence[Element]) -> list[str]:
    return [one.text for one in elements if isinstance(one, Text) and not one.strong]
