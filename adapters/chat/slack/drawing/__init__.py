"""Cards as Slack messages: pure, within every limit of Slack for any content, and nothing in a card can forge markup."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.chat.slack.drawing import documents, questions
from adapters.chat.slack.drawing.addresses import is_address
from adapters.chat.slack.drawing.alerts import level
from adapters.chat.slack.drawing.buttons import Press, buttons, words_of
from adapters.chat.slack.drawing.elements import body
from adapters.chat.slack.drawing.feedback import feedback
from adapters.chat.slack.drawing.limits import BLOCKS, MESSAGE, Block, aside, letters
from adapters.chat.slack.drawing.message import Message, marked, message
from adapters.chat.slack.drawing.picking import PICK, Values, picked
from adapters.chat.slack.drawing.plan import plan
from adapters.chat.slack.drawing.site import Site
from adapters.chat.slack.drawing.titles import title
from adapters.chat.slack.drawing.ways import EVERY_KIND, Kind, Ways
from adapters.chat.slack.words import on_one_line
from bot.domain.cards import Card, DocumentCard, PullsCard, QuestionsCard, StatusCard
from bot.domain.layout import sheet
from bot.domain.sheets import Element, Table, Text

__all__ = [
    "EVERY_KIND",
    "PICK",
    "Kind",
    "Message",
    "Press",
    "Site",
    "Values",
    "drawn",
    "picked",
    "words_of",
]

_SPARE = 100


def drawn(
    card: Card, site: Site | None = None, rich: frozenset[Kind] = EVERY_KIND
) -> tuple[Message, ...]:
    """One message, or several for a document: as many whatever is in `rich`, which blocks the workspace takes of those
    that not every one does. `site`: where links lead; without one they are mere words."""
    ways = Ways(site, rich, _links(card))
    match card:
        case DocumentCard():
            return documents.drawn(card, ways)
        case QuestionsCard(decided=None):
            return (questions.drawn(card),)
        case _:
            return (_on_a_sheet(card, ways),)


def _on_a_sheet(card: Card, ways: Ways) -> Message:
    laid = sheet(card)
    head = title(laid, level(card, laid, ways))
    tail = [*buttons(laid.choices, card.key), *feedback(card, ways)]
    if on_one_line(laid.footer):
        tail.append(aside(on_one_line(laid.footer)))
    room = MESSAGE - _SPARE - letters([head, tail])
    tasks = _tasks(card, room // 2, ways)
    elements = [one for one in laid.body if not (tasks and isinstance(one, Table))]
    places = BLOCKS - len(head) - len(tasks) - len(tail)
    shown = body(elements, room - letters(tasks), places, ways)
    said = (marked(laid.title, laid.tone), *_words(laid.body))
    return message(said, [*head, *tasks, *shown, *tail])


def _links(card: Card) -> dict[str, str]:
    """The pull requests of a card, by what they are called on it."""
    pulls = card.pulls if isinstance(card, PullsCard) else ()
    return {f"#{pull.number}": pull.url for pull in pulls if is_address(pull.url)}


def _tasks(card: Card, room: int, ways: Ways) -> list[Block]:
    if isinstance(card, StatusCard) and Kind.PLAN in ways.kinds:
        return plan(card, room)
    return []


def _words(elements: Sequence[Element]) -> list[str]:
    return [one.text for one in elements if isinstance(one, Text) and not one.strong]
