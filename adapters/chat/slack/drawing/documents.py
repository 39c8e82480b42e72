"""A document in full: as many messages as it takes, each with as much Markdown as Slack shows in one."""

from __future__ import annotations

from adapters.chat.slack.drawing.limits import MESSAGE, aside, letters
from adapters.chat.slack.drawing.message import Message, marked, message
from adapters.chat.slack.drawing.pages import page
from adapters.chat.slack.drawing.parts import parts
from adapters.chat.slack.drawing.titles import title
from adapters.chat.slack.drawing.ways import Ways
from adapters.chat.slack.words import harmless_markdown, on_one_line
from bot.domain.cards import DocumentCard
from bot.domain.layout import sheet
from bot.domain.sheets import Prose, Sheet

_NOTE = 80


def drawn(card: DocumentCard, ways: Ways) -> tuple[Message, ...]:
    """As many, and cut at the same places, whatever it is drawn with."""
    laid = sheet(card)
    texts = [element for element in laid.body if isinstance(element, Prose)]
    name = on_one_line(texts[0].name)
    room = MESSAGE - _NOTE - letters([title(laid), aside(name)])
    cut = [part for text in texts for part in parts(harmless_markdown(text.markdown), room)]
    return tuple(_part(laid, name, text, n, len(cut), ways) for n, text in enumerate(cut, 1))


def _part(laid: Sheet, name: str, text: str, number: int, count: int, ways: Ways) -> Message:
    place = f" · part {number} of {count}" if count > 1 else ""
    head = title(laid) if number == 1 else []
    where = aside(f"{name}{place}" if number == 1 else f"{on_one_line(laid.title)}{place}")
    said = (f"{marked(laid.title, laid.tone)}{place}", name)
    return message(said, [*head, where, *page(text, ways)], f"{number}/{count}")
