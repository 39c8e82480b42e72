"""Several things of a kind, a section each: its title leads to it, and beside it stands what can be done about it."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.chat.slack.drawing.buttons import Press, button, label, pressed_by, row
from adapters.chat.slack.drawing.limits import (
    BLOCKS,
    MENU,
    MENU_VALUE,
    VALUE,
    Block,
    aside,
    letters,
    mrkdwn,
    plain_text,
    section,
)
from adapters.chat.slack.drawing.site import Site
from adapters.chat.slack.drawing.titles import bold
from adapters.chat.slack.words import escaped, on_one_line
from bot.domain.choices import Choice
from bot.domain.sheets import Entry

MOST = 20
"""Of more only the number is told: nobody reads them."""
_TITLE = 150
_FACTS = 400
_NOTE = 40
Pair = tuple[Choice, Press]


def entries(
    items: Sequence[Entry], room: int, *, places: int = BLOCKS, site: Site | None = None
) -> list[Block]:
    """At most `room` characters in at most `places` blocks."""
    blocks: list[Block] = []
    room -= _NOTE
    shown = 0
    for entry in items[:MOST]:
        drawn = _entry(entry, site)
        room -= letters(drawn)
        if room < 0 or len(blocks) + len(drawn) >= places:
            break
        blocks += drawn
        shown += 1
    if shown < len(items):
        blocks.append(aside(f"… and {len(items) - shown:,} more"))
    return blocks


def _entry(entry: Entry, site: Site | None) -> list[Block]:
    block = section(mrkdwn(_text(entry, site)))
    pairs = [(one, pressed_by(one, "")) for one in entry.choices]
    # Slack takes no menu in which the same stands twice
    once = {press.value: (choice, press) for choice, press in pairs}
    beside, below = _beside_and_below([*once.values()])
    if len(beside) > 1:
        block["accessory"] = _menu(beside)
    elif beside:
        block["accessory"] = button(0, *beside[0])
    return [block, *row(below)]


def _text(entry: Entry, site: Site | None) -> str:
    title = bold(entry.title, _TITLE)
    link = site.link(entry.thread) if site and entry.thread else ""
    if link:
        title = f"*<{link}|{title.strip('*') or 'there'}>*"
    facts = [fact for fact in map(on_one_line, entry.facts) if fact]
    lines = [title, escaped(" · ".join(facts), _FACTS)]
    return "\n".join(line for line in lines if line) or "–"


def _beside_and_below(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """A menu asks nobody whether they are sure: what must be confirmed is a button of its own."""
    if len(pairs) == 1 and len(pairs[0][1].value) <= VALUE:
        return list(pairs), []
    # Slack refuses a menu in which two options have one value
    fitting = [pair for pair in pairs if _fits_a_menu(*pair)]
    sure = {press.short_value: (choice, press) for choice, press in fitting}
    if len(pairs) == 2 and len(sure) < 2:
        return [], list(pairs)
    beside = list(sure.values())[:MENU]
    return beside, [pair for pair in pairs if pair not in beside]


def _fits_a_menu(choice: Choice, press: Press) -> bool:
    return not choice.confirm.strip() and len(press.short_value) <= MENU_VALUE


def _menu(pairs: Sequence[Pair]) -> Block:
    options = [
        {"text": plain_text(label(choice)), "value": press.short_value} for choice, press in pairs
    ]
    return {"type": "overflow", "action_id": "menu", "options": options}
