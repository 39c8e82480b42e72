"""Tables, plans and lists of entries as blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from adapters.slack.blocks.kit import (
    BLOCKS,
    MENU,
    MENU_VALUE,
    PLAN_TASKS,
    SECTION,
    TABLE_COLUMNS,
    TABLE_ROWS,
    VALUE,
    Block,
    ButtonValue,
    Site,
    bold,
    button,
    button_label,
    button_row,
    button_value,
    context_block,
    mrkdwn,
    plain_text,
    section,
    text_length,
)
from adapters.slack.blocks.text import escaped, on_one_line
from bot.core.cards import StatusCard, TaskLine
from bot.core.choices import Choice
from bot.core.sheets import Entry, Table
from bot.core.states import TaskState
from bot.core.text import cut, duration

# Tables: as lines that read well on every screen, or as a table block where the workspace supports it.

_CELL = 160
_NAME = 20
_COLUMNS = 12
_NOTE_ROOM = 40
_EMPTY_CELL = "–"
_WRAP_LENGTH = 24
"""Cells longer than this do not fit on one line on a phone."""
_FIGURE = re.compile(r"[\d.,]+|–?")
_UNNAMED_COLUMNS = ("note", "details", "state", "time")
"""Columns whose cells need no name before them."""
CellLinks = Mapping[str, str]
"""Link targets by the text of a cell."""
_NO_LINKS: CellLinks = {}


def table_as_lines(table: Table, room: int, links: CellLinks = _NO_LINKS) -> list[Block]:
    """Draw rows as `• *T001* Theme — Running · after T002`.

    Bare numbers, and columns filled in few rows, get their column name.
    """
    room -= _NOTE_ROOM
    lines: list[str] = []
    names = _column_names(table)
    for number, row in enumerate(table.rows):
        line = _line(row, names, links)
        room -= len(line) + 1
        if room < 0:
            lines.append(f"… and {len(table.rows) - number:,} more")
            break
        lines.append(line)
    return [section(mrkdwn(text)) for text in joined_lines(lines)]


def table_block(table: Table, room: int, links: CellLinks = _NO_LINKS) -> list[Block]:
    """Draw a table block; a message can hold only one."""
    room -= _NOTE_ROOM
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
    settings = [{"is_wrapped": wraps} for wraps in _wrapped_columns(rows)]
    shown = [[_linked_cell(cell, links) for cell in row] for row in rows]
    block: Block = {"type": "table", "rows": shown, "column_settings": settings}
    return [block, context_block(f"… and {missing:,} more")] if missing else [block]


def _column_names(table: Table) -> list[str]:
    """Return the names to show from the third column on; empty where the cells need no name."""
    names: list[str] = []
    for n, name in enumerate(map(on_one_line, table.head)):
        cells = [on_one_line(row[n]) for row in table.rows if n < len(row)]
        bare = any(_FIGURE.fullmatch(cell) for cell in cells)
        names.append(name.lower() if bare and name.lower() not in _UNNAMED_COLUMNS else "")
    return names[2:]


def _line(row: Sequence[str], names: Sequence[str], links: CellLinks) -> str:
    first, second, *rest = *(on_one_line(cell) for cell in row[:_COLUMNS]), "", ""
    bullet = "• " if first[:1].isalnum() else ""
    text = " ".join(part for part in (bold(first, _CELL), _cell(second, links)) if part)
    named = zip(rest, [*names, *([""] * len(rest))], strict=False)
    facts = " · ".join(_fact(name, cell) for cell, name in named if cell not in ("", _EMPTY_CELL))
    return bullet + " — ".join(part for part in (text, facts) if part)


def _cell(text: str, links: CellLinks) -> str:
    words = escaped(text, _CELL)
    return f"<{links[text]}|{words}>" if text in links else words


def _fact(name: str, cell: str) -> str:
    return " ".join(part for part in (escaped(name, _NAME), escaped(cell, _CELL)) if part)


def _wrapped_columns(rows: Sequence[Sequence[Block]]) -> Iterator[bool]:
    """Yield for each column whether it has long cells."""
    for column in zip(*rows, strict=True):
        yield any(len(cell["text"]) > _WRAP_LENGTH for cell in column)


def _linked_cell(cell: Block, links: CellLinks) -> Block:
    """Return the cell as a link if its text has a target."""
    if cell["text"] not in links:
        return cell
    link = {"type": "link", "url": links[cell["text"]], "text": cell["text"]}
    line = {"type": "rich_text_section", "elements": [link]}
    return {"type": "rich_text", "elements": [line]}


def joined_lines(lines: Iterable[str]) -> Iterator[str]:
    """Join lines into as few texts as possible."""
    text = ""
    for line in lines:
        if text and len(text) + 1 + len(line) > SECTION:
            yield text
            text = ""
        text = f"{text}\n{line}" if text else line
    if text.strip():
        yield text


def _cells(row: Sequence[str], longest: int, wide: int) -> list[Block]:
    # Every row must have the same number of cells.
    whole = [*row, *([""] * (wide - len(row)))][:TABLE_COLUMNS]
    cells = [cut(on_one_line(cell), longest) or _EMPTY_CELL for cell in whole]
    return [{"type": "raw_text", "text": cell} for cell in cells]


def _width(cells: Iterable[Block]) -> int:
    return sum(len(cell["text"]) for cell in cells)


# The tasks of a session as Slack's own plan block.

_PLAN_STATUS: dict[str, str] = {
    TaskState.RUNNING: "in_progress",
    TaskState.VERIFYING: "in_progress",
    TaskState.NEEDS_CONTINUATION: "in_progress",
    TaskState.INTEGRATING: "in_progress",
    TaskState.COMPLETED: "complete",
    TaskState.REPLACED: "complete",
    TaskState.FAILED: "error",
    TaskState.BLOCKED: "error",
    TaskState.CANCELLED: "error",
}
_OVER_STATES = (TaskState.COMPLETED, TaskState.REPLACED, TaskState.CANCELLED)
_TASK_TITLE = 150
_DETAILS_ROOM = 60
_REST_ROOM = 120
_TASK_ROOM = 60
"""The least number of characters in which a task says anything."""


def plan_blocks(card: StatusCard, room: int) -> list[Block]:
    """Draw as many tasks as a plan block holds, and a line that counts the rest; empty if there is no room."""
    most = min(PLAN_TASKS, room // _TASK_ROOM)
    if not card.tasks or most < 1:
        return []
    shown = _most_relevant(card.tasks, most)
    share = room // len(shown)
    tasks = [_task_card(number, task, share) for number, task in enumerate(shown)]
    blocks: list[Block] = [{"type": "plan", "title": _plan_title(card), "tasks": tasks}]
    rest = Counter(on_one_line(task.state) for task in card.tasks)
    rest -= Counter(on_one_line(task.state) for task in shown)
    if rest:
        counts = ", ".join(f"{number} {state}" for state, number in rest.items())
        blocks.append(context_block(cut(f"… and {rest.total():,} more: {counts}", _REST_ROOM)))
    return blocks


def _plan_title(card: StatusCard) -> str:
    """Return the progress and the agents' total working time."""
    wanted = [task for task in card.tasks if task.state != TaskState.REPLACED]
    done = sum(task.state == TaskState.COMPLETED for task in wanted)
    seconds = sum(task.seconds or 0 for task in card.tasks)
    head = f"{done} of {len(wanted)} done"
    return f"{head} · {duration(seconds)} of work" if seconds else head


def _most_relevant(tasks: tuple[TaskLine, ...], most: int) -> list[TaskLine]:
    """Choose the tasks to show; finished ones are left out first."""
    ranked = sorted(range(len(tasks)), key=lambda n: (tasks[n].state in _OVER_STATES, n))
    return [tasks[n] for n in sorted(ranked[:most])]


def _task_card(number: int, task: TaskLine, room: int) -> Block:
    details = " · ".join(fact for fact in (on_one_line(task.state), duration(task.seconds)) if fact)
    details = cut(details, min(_DETAILS_ROOM, room // 3))
    output = cut(on_one_line(task.note), min(_REST_ROOM, room // 3))
    left = room - len(details) - len(output)
    name = cut(on_one_line(f"{task.key} {task.name}"), min(_TASK_TITLE, left))
    card: Block = {
        "type": "task_card",
        "task_id": f"task-{number}",
        "title": name or "–",
        "status": _PLAN_STATUS.get(task.state, "pending"),
    }
    if details:
        card["details"] = _rich_text(details)
    if output:
        card["output"] = _rich_text(output)
    return card


def _rich_text(text: str) -> Block:
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}],
    }


# A list of entries, one section each: its title links to the thread, and its actions are beside it.

MAX_ENTRIES = 20
"""Further entries are only counted: nobody reads them."""
_ENTRY_TITLE = 150
_ENTRY_FACTS = 400
_MORE_ROOM = 40
ButtonPair = tuple[Choice, ButtonValue]


def entry_sections(
    items: Sequence[Entry], room: int, *, max_blocks: int = BLOCKS, site: Site | None = None
) -> list[Block]:
    """Draw entries in at most `room` characters and at most `places` blocks."""
    blocks: list[Block] = []
    room -= _MORE_ROOM
    shown = 0
    for entry in items[:MAX_ENTRIES]:
        drawn = _entry(entry, site)
        room -= text_length(drawn)
        if room < 0 or len(blocks) + len(drawn) >= max_blocks:
            break
        blocks += drawn
        shown += 1
    if shown < len(items):
        blocks.append(context_block(f"… and {len(items) - shown:,} more"))
    return blocks


def _entry(entry: Entry, site: Site | None) -> list[Block]:
    block = section(mrkdwn(_entry_text(entry, site)))
    pairs = [(one, button_value(one, "")) for one in entry.choices]
    # Slack refuses a menu with two equal options
    once = {press.value: (choice, press) for choice, press in pairs}
    beside, below = _split_choices([*once.values()])
    if len(beside) > 1:
        block["accessory"] = _menu(beside)
    elif beside:
        block["accessory"] = button(0, *beside[0])
    return [block, *button_row(below)]


def _entry_text(entry: Entry, site: Site | None) -> str:
    title = bold(entry.title, _ENTRY_TITLE)
    link = site.link(entry.thread) if site and entry.thread else ""
    if link:
        title = f"*<{link}|{title.strip('*') or 'there'}>*"
    facts = [fact for fact in map(on_one_line, entry.facts) if fact]
    lines = [title, escaped(" · ".join(facts), _ENTRY_FACTS)]
    return "\n".join(line for line in lines if line) or "–"


def _split_choices(pairs: Sequence[ButtonPair]) -> tuple[list[ButtonPair], list[ButtonPair]]:
    """Split the choices into those beside an entry and those below.

    A menu cannot ask for confirmation, so a choice to be confirmed gets its own button.
    """
    if len(pairs) == 1 and len(pairs[0][1].value) <= VALUE:
        return list(pairs), []
    # Slack refuses a menu in which two options have the same value
    fitting = [pair for pair in pairs if _fits_a_menu(*pair)]
    sure = {press.short_value: (choice, press) for choice, press in fitting}
    if len(pairs) == 2 and len(sure) < 2:
        return [], list(pairs)
    beside = list(sure.values())[:MENU]
    return beside, [pair for pair in pairs if pair not in beside]


def _fits_a_menu(choice: Choice, press: ButtonValue) -> bool:
    return not choice.confirm.strip() and len(press.short_value) <= MENU_VALUE


def _menu(pairs: Sequence[ButtonPair]) -> Block:
    options = [
        {"text": plain_text(button_label(choice)), "value": press.short_value}
        for choice, press in pairs
    ]
    return {"type": "overflow", "action_id": "menu", "options": options}
