"""The bot's own page as one person sees it: what was just answered, what to do, and how everything stands. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from adapters.chat.slack.drawing.buttons import buttons
from adapters.chat.slack.drawing.elements import body
from adapters.chat.slack.drawing.limits import HEADER, Block, aside, cut, letters, mrkdwn, section
from adapters.chat.slack.drawing.limits import plain_text as plain
from adapters.chat.slack.drawing.message import TONES, marked
from adapters.chat.slack.drawing.site import Site
from adapters.chat.slack.drawing.titles import bold
from adapters.chat.slack.drawing.ways import Ways
from adapters.chat.slack.words import on_one_line
from bot.domain.cards import HomeCard
from bot.domain.layout import sheet
from bot.domain.sheets import Element, Entries, Sheet, Text, Tone

MOST = (12, 5, 1, 0)
"""Entries under one heading: as many as there is room for, then fewer and fewer."""
Facts = Sequence[tuple[str, str]]

_BLOCKS = 100
_ROOM = 30_000
_NOTICE, _NOTICE_BLOCKS = 2_500, 12
_TITLE = 600
_BARRED = (
    "You are not on this bot's lists, so it shows and does nothing for you here. "
    "Whoever runs it in this workspace can add you."
)


def home(
    card: HomeCard, *, site: Site | None = None, notice: Sheet | None = None, most: int = MOST[0]
) -> Block:
    """`notice`: what was answered here last. `most`: entries under one heading."""
    laid = sheet(card)
    ways = Ways(site)
    top = [*_notice(notice, ways), *_heading(laid.title), *buttons(laid.choices, card.key)]
    foot = [aside(f"As of {card.at:%Y-%m-%d %H:%M} UTC")]
    places = _BLOCKS - len(top) - len(foot)
    shown = _under_headings(list(_fewer(laid.body, most)), places, ways)
    return _view([*top, *shown, *foot])


def barred() -> Block:
    """For somebody who may do nothing."""
    return _view([section(plain(_BARRED))])


def only(notice: Sheet) -> Block:
    """Where nothing is known of how everything stands."""
    return _view(_notice(notice, Ways()))


def _notice(notice: Sheet | None, ways: Ways) -> list[Block]:
    if notice is None:
        return []
    mark = TONES[notice.tone] if notice.tone is not Tone.PLAIN else "💬"
    said = bold(marked(f"{mark} {on_one_line(notice.title)}", Tone.PLAIN), _TITLE)
    blocks = [section(mrkdwn(said)), *body(notice.body, _NOTICE, _NOTICE_BLOCKS, ways)]
    return [*blocks, *buttons(notice.choices, "notice"), {"type": "divider"}]


def _fewer(elements: Sequence[Element], most: int) -> Iterator[Element]:
    for element in elements:
        if not isinstance(element, Entries) or len(element.items) <= most:
            yield element
            continue
        if most:
            yield Entries(items=element.items[:most])
        left = len(element.items) - most
        yield Text(text=f"… and {left} more: /sessions lists all." if most else f"{left} of them.")


def _under_headings(elements: Sequence[Element], places: int, ways: Ways) -> list[Block]:
    """On a page there is room for headings of their own: names of facts are bold, too."""
    blocks: list[Block] = []
    held: list[Element] = []
    for element in [*elements, Text(text="", strong=True)]:
        if not (isinstance(element, Text) and element.strong):
            held.append(element)
            continue
        if held:
            blocks += body(held, _ROOM - letters(blocks), places - len(blocks), ways)
        blocks += _heading(element.text)
        held = []
    return blocks


def _heading(text: str) -> list[Block]:
    words = cut(on_one_line(text), HEADER)
    return [{"type": "header", "text": plain(words)}] if words else []


def _view(blocks: list[Block]) -> Block:
    """Each block has a name that is new whenever the page says something else."""
    digest = hashlib.sha256(json.dumps(blocks, sort_keys=True).encode()).hexdigest()[:16]
    stamped = [{**block, "block_id": f"{digest}-{n}"} for n, block in enumerate(blocks)]
    return {"type": "home", "blocks": stamped}
