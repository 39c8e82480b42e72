"""The title of a card: large where a person is asked, bold elsewhere, with a mark for its tone."""

from __future__ import annotations

from adapters.chat.slack.drawing.limits import HEADER, Block, mrkdwn, plain_text, section
from adapters.chat.slack.drawing.message import TONES, marked
from adapters.chat.slack.words import UNSEEN, cut_escaped, escaped, on_one_line
from bot.domain.sheets import Sheet, Tone

_LONGEST = 600


def title(sheet: Sheet, box: str = "") -> list[Block]:
    """`box`: the colour of the box it stands in; empty: it stands in none."""
    text = on_one_line(sheet.title)
    large = marked(text, sheet.tone)
    if not text:
        return []
    if box:
        # the box has a mark of its own
        return [{"type": "alert", "level": box, "text": mrkdwn(bold(text, _LONGEST))}]
    if sheet.tone is Tone.NEEDS_YOU and len(large) <= HEADER:
        return [{"type": "header", "text": plain_text(large)}]
    return [section(mrkdwn(f"{TONES[sheet.tone]} {bold(text, _LONGEST)}".strip()))]


def bold(text: str, limit: int) -> str:
    """One line of bold mrkdwn, `limit` characters at most. No star in it ends it early."""
    line = escaped(on_one_line(text)).replace("*", f"{UNSEEN}*{UNSEEN}")
    return f"*{cut_escaped(line, limit - 2)}*" if line else ""
