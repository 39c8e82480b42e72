"""Tables: lines that read well on every screen, or a table block where the workspace takes one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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


def as_lines(table: Table, room: int) -> list[Block]:
    """`• *T001* Theme — Running · 2 min`, below a line with the names of the columns."""
    room -= _NOTE
    lines = _caption(table.head, room)
    room -= sum(map(len, lines))
    for number, row in enumerate(table.rows):
        line = _line(row)
        room -= len(line) + 1
        if room < 0:
            lines.append(f"… and {len(table.rows) - number:,} more")
            break
        lines.append(line)
    return [section(mrkdwn(text)) for text in _joined(lines)]


def as_table(table: Table, room: int) -> list[Block]:
    """A message can hold one such block."""
    room -= _NOTE
    longest = min(_CELL, room // TABLE_COLUMNS)
    head = _cells(table.head, longest)
    rows: list[list[Block]] = [head] if head else []
    room -= _width(head)
    told = [row for row in table.rows if any(row)]
    for row in told[: TABLE_ROWS - 1]:
        cells = _cells(row, _CELL)
        room -= _width(cells)
        if room < 0:
            break
        rows.append(cells)
    missing = len(told) + bool(head) - len(rows)
    block: Block = {"type": "table", "rows": rows}
    return [block, aside(f"… and {missing:,} more")] if missing else [block]


def _caption(head: Sequence[str], room: int) -> list[str]:
    """The names of the columns; none at all rather than a line as long as the table."""
    names = " · ".join(escaped(on_one_line(name), _NAME) for name in head[:_COLUMNS])
    return [f"_{names}_"] if any(map(on_one_line, head)) and 2 * len(names) < room else []


def _line(row: Sequence[str]) -> str:
    first, second, *rest = *(on_one_line(cell) for cell in row[:_COLUMNS]), "", ""
    while rest and not rest[-1]:
        rest.pop()
    bullet = "• " if first[:1].isalnum() else ""
    text = " ".join(part for part in (bold(first, _CELL), escaped(second, _CELL)) if part)
    facts = " · ".join(escaped(cell, _CELL) or _NOTHING for cell in rest)
    return bullet + " — ".join(part for part in (text, facts) if part)


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Lines in as few texts as they fit into."""
    text = ""
    for line in lines:
        if text and len(text) + 1 + len(line) > SECTION:
            yield text
            text = ""
        text = f"{text}\n{line}" if text else line
    if text.strip():
        yield text


def _cells(row: Sequence[str], longest: int) -> list[Block]:
    cells = [cut(on_one_line(cell), longest) or _NOTHING for cell in row[:TABLE_COLUMNS]]
    return [{"type": "raw_text", "text": cell} for cell in cells]


def _width(cells: Iterable[Block]) -> int:
    return sum(len(cell["text"]) for cell in cells)
