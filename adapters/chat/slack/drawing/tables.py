"""Tables: lines that read well on every screen, or a table block where the workspace takes one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from adapters.chat.slack.drawing.limits import (
    SECTION,
    TABLE_COLUMNS,
    TABLE_ROWS,
    Block,
    aside,
    cut,
    mrkdwn,
    section,
)
from adapters.chat.slack.drawing.titles import bold
from adapters.chat.slack.words import escaped, on_one_line
from bot.domain.sheets import Table

_CELL = 160
_NAME = 20
_COLUMNS = 12
_NOTE = 40
_NOTHING = "–"
_WRAPS_FROM = 24
"""Characters of a cell that would not fit on a telephone in one line."""
_FIGURE = re.compile(r"[\d.,]+|–?")
_SPEAKS = ("note", "details", "state", "time")
"""Columns whose cells say by themselves what they are."""
Links = Mapping[str, str]
"""What a cell says → where it leads."""
_NO_LINKS: Links = {}


def as_lines(table: Table, room: int, links: Links = _NO_LINKS) -> list[Block]:
    """`• *T001* Theme — Running · after T002`: what would be a mere figure, or stands in few rows, is named."""
    room -= _NOTE
    lines: list[str] = []
    names = _named(table)
    for number, row in enumerate(table.rows):
        line = _line(row, names, links)
        room -= len(line) + 1
        if room < 0:
            lines.append(f"… and {len(table.rows) - number:,} more")
            break
        lines.append(line)
    return [section(mrkdwn(text)) for text in joined(lines)]


def as_table(table: Table, room: int, links: Links = _NO_LINKS) -> list[Block]:
    """A message can hold one such block."""
    room -= _NOTE
    longest = min(_CELL, room // TABLE_COLUMNS // 2)
    wide = max(map(len, (table.head, *table.rows)))
    head = _cells(table.head, longest, wide) if any(map(on_one_line, table.head)) else []
    rows: list[list[Block]] = [head] if head else []
    room -= _width(head)
    told = [row for row in table.rows if any(map(on_one_line, row))]
    for row in told[: TABLE_ROWS - 1]:
        cells = _cells(row, _CELL, wide)
        room -= _width(cells)
        if room < 0:
            break
        rows.append(cells)
    missing = len(told) + bool(head) - len(rows)
    settings = [{"is_wrapped": wraps} for wraps in _wrapping(rows)]
    shown = [[_led(cell, links) for cell in row] for row in rows]
    block: Block = {"type": "table", "rows": shown, "column_settings": settings}
    return [block, aside(f"… and {missing:,} more")] if missing else [block]


def _named(table: Table) -> list[str]:
    """The columns, from the third on, whose cells need a name; empty: they need none."""
    names: list[str] = []
    for n, name in enumerate(map(on_one_line, table.head)):
        cells = [on_one_line(row[n]) for row in table.rows if n < len(row)]
        bare = any(_FIGURE.fullmatch(cell) for cell in cells)
        names.append(name.lower() if bare and name.lower() not in _SPEAKS else "")
    return names[2:]


def _line(row: Sequence[str], names: Sequence[str], links: Links) -> str:
    first, second, *rest = *(on_one_line(cell) for cell in row[:_COLUMNS]), "", ""
    bullet = "• " if first[:1].isalnum() else ""
    text = " ".join(part for part in (bold(first, _CELL), _cell(second, links)) if part)
    named = zip(rest, [*names, *([""] * len(rest))], strict=False)
    facts = " · ".join(_fact(name, cell) for cell, name in named if cell not in ("", _NOTHING))
    return bullet + " — ".join(part for part in (text, facts) if part)


def _cell(text: str, links: Links) -> str:
    words = escaped(text, _CELL)
    return f"<{links[text]}|{words}>" if text in links else words


def _fact(name: str, cell: str) -> str:
    return " ".join(part for part in (escaped(name, _NAME), escaped(cell, _CELL)) if part)


def _wrapping(rows: Sequence[Sequence[Block]]) -> Iterator[bool]:
    """Column by column, whether anything long stands in it."""
    for column in zip(*rows, strict=True):
        yield any(len(cell["text"]) > _WRAPS_FROM for cell in column)


def _led(cell: Block, links: Links) -> Block:
    """A cell that leads somewhere."""
    if cell["text"] not in links:
        return cell
    link = {"type": "link", "url": links[cell["text"]], "text": cell["text"]}
    line = {"type": "rich_text_section", "elements": [link]}
    return {"type": "rich_text", "elements": [line]}


def joined(lines: Iterable[str]) -> Iterator[str]:
    """Lines in as few texts as they fit into."""
    text = ""
    for line in lines:
        if text and len(text) + 1 + len(line) > SECTION:
            yield text
            text = ""
        text = f"{text}\n{line}" if text else line
    if text.strip():
        yield text


def _cells(row: Sequence[str], longest: int, wide: int) -> list[Block]:
    """As many in every row."""
    whole = [*row, *([""] * (wide - len(row)))][:TABLE_COLUMNS]
    cells = [cut(on_one_line(cell), longest) or _NOTHING for cell in whole]
    return [{"type": "raw_text", "text": cell} for cell in cells]


def _width(cells: Iterable[Block]) -> int:
    return sum(len(cell["text"]) for cell in cells)
