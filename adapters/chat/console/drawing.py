"""Draws a sheet for a terminal: pure, and nothing but documents is read as markup of any kind.

Only the title and the choices begin at the left edge, so no text on a card can pass for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.styled import Styled
from rich.table import Table as Grid
from rich.text import Text as Words

from adapters.chat.console.prose import Barred, document, on_one_line
from bot.domain.cards import Decided
from bot.domain.choices import Choice, Style, said_as
from bot.domain.masking import clean
from bot.domain.people import Person, Thread
from bot.domain.sheets import (
    Bullets,
    Code,
    Element,
    Entries,
    Entry,
    Fields,
    Pointer,
    Prose,
    Sheet,
    Table,
    Text,
    Tone,
)

TONES = {
    Tone.PLAIN: ("•", "bold"),
    Tone.PROGRESS: ("▸", "bold cyan"),
    Tone.NEEDS_YOU: ("?", "bold magenta"),
    Tone.SUCCESS: ("✓", "bold green"),
    Tone.FAILURE: ("✗", "bold red"),
}
MARK_STYLES = {
    "✓": "green",
    "✗": "red",
    "‖": "red",
    "▶": "cyan",
    "◔": "cyan",
    "◑": "cyan",
    "↻": "magenta",
}
"""Only the named colours every terminal theme chooses itself: they can be read on light and on dark."""

_NARROW = 18
"""Columns this wide or less are never wrapped: ids, states, times."""


Name = Callable[[Thread], str]
"""What the person can call the session of a thread."""


def drawn(
    sheet: Sheet, *, origin: str = "", private: bool = False, name: Name | None = None
) -> RenderableType:
    """The whole sheet. `origin` names another session than the current one: its choices have no numbers."""
    name = name or _by_root
    parts: list[RenderableType] = []
    if origin or private:
        parts.append(aside(origin, private))
    parts.append(heading(sheet.title, sheet.tone))
    if sheet.body:
        parts.append(_indented(_body(sheet.body, name)))
    if sheet.footer:
        footer = _indented(Words(on_one_line(sheet.footer), style="dim"))
        parts += [Words(""), footer] if sheet.body else [footer]
    if sheet.choices:
        parts += [Words(""), ChoiceLine(sheet.choices, numbered=not origin)]
    card = Group(*parts)
    return Styled(card, "dim") if private else card


def _by_root(thread: Thread) -> str:
    return thread.root[:8]


def _indented(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 2), expand=False)


def aside(origin: str, private: bool = False) -> Words:
    """Where a card belongs that is not part of the conversation at hand."""
    where = f"session {on_one_line(origin)}" if origin else ""
    return Words(
        " · ".join(part for part in (where, "only you see this" if private else "") if part),
        style="dim",
    )


def heading(text: str, tone: Tone) -> Grid:
    mark, style = TONES[tone]
    return _hung(Words(mark, style=style), Words(on_one_line(text), style="bold"))


def _hung(mark: Words, text: Words) -> Grid:
    """A mark, and a text whose further lines stand below the first."""
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row(mark, text)
    return grid


def _body(elements: Sequence[Element], name: Name) -> Group:
    parts: list[RenderableType] = []
    before: Element | None = None
    for element in elements:
        if before is not None and not _belongs_to(before, element):
            parts.append(Words(""))
        parts.append(_element(element, name))
        before = element
    return Group(*parts)


def _belongs_to(before: Element, element: Element) -> bool:
    """Whether no empty line stands between the two."""
    if isinstance(before, Pointer) and isinstance(element, Pointer):
        return True
    if not isinstance(before, Text):
        return False
    return before.strong or (
        isinstance(element, Text | Bullets) and not getattr(element, "strong", False)
    )


def _element(element: Element, name: Name) -> RenderableType:
    match element:
        case Text(text=text, strong=strong):
            return Words(clean(text), style="bold" if strong else "")
        case Fields(pairs=pairs):
            return _fields(pairs)
        case Bullets(items=items):
            return Group(*(_hung(Words("•", style="dim"), Words(clean(item))) for item in items))
        case Table():
            return _table(element)
        case Code(text=text):
            return Barred(clean(text))
        case Prose(markdown=markdown):
            return document(markdown)
        case Pointer():
            return _pointer(element, name)
        case Entries(items=items):
            return Group(*(_entry(item) for item in items))


def _entry(entry: Entry) -> Grid:
    """What can be done about it is said in words: there is nothing to click."""
    text = Words(on_one_line(entry.title))
    for fact in entry.facts:
        text.append(f" · {on_one_line(fact)}", style="dim")
    for choice in entry.choices:
        if said := said_as(choice):
            text.append(f"  {said}", style="cyan")
    return _hung(Words("•", style="dim"), text)


def _pointer(pointer: Pointer, name: Name) -> Grid:
    """Nothing to click in a terminal: the session's name, for those who want to go there."""
    text = Words(on_one_line(pointer.text))
    text.append(f"  session {on_one_line(name(pointer.thread))}", style="dim")
    return _hung(Words("→", style="dim"), text)


def _fields(pairs: Sequence[tuple[str, str]]) -> Grid:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(Words(on_one_line(name)), Words(clean(value)))
    return grid


def _table(table: Table) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for number, name in enumerate(table.head):
        cells = [name, *(row[number] for row in table.rows if number < len(row))]
        narrow = max(cell_len(on_one_line(cell)) for cell in cells) <= _NARROW
        grid.add_column(Words(on_one_line(name)), no_wrap=narrow, overflow="fold")
    for row in table.rows:
        grid.add_row(*(_cell(cell) for cell in row[: len(table.head)]))
    return grid


def _cell(text: str) -> Words:
    words = Words(on_one_line(text))
    if style := MARK_STYLES.get(text[:1]):
        words.stylize(style, 0, 1)
    return words


class ChoiceLine:
    """What can be pressed, numbered. A line breaks between choices only."""

    def __init__(self, choices: Sequence[Choice], *, numbered: bool = True) -> None:
        self._labels = [_label(n if numbered else 0, choice) for n, choice in enumerate(choices, 1)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Words("→ ", style="bold")
        for label in self._labels:
            if line.cell_len > 2 and line.cell_len + label.cell_len > options.max_width:
                yield line
                line = Words("  ")
            line.append_text(label)
            line.append("   ")
        line.rstrip()
        yield line


def _label(number: int, choice: Choice) -> Words:
    style = {Style.PRIMARY: "bold", Style.NORMAL: "", Style.DANGER: "red"}[choice.style]
    words = Words()
    if number:
        words.append(f"[{number}] ", style="bold magenta")
    words.append(on_one_line(choice.label), style=style)
    if choice.asks:
        words.append(" …")
    return words


def settled(title: str, decided: Decided, person: Person) -> Words:
    """What became of a card that stands further up."""
    by = "you" if decided.by in (str(person), person.id) else on_one_line(decided.by)
    what = f"{on_one_line(decided.what)} by {by}, {decided.at.astimezone():%H:%M}"
    return Words.assemble(("✓ ", "bold green"), what, (f"   {on_one_line(title)}", "dim"))


def reminder(sheet: Sheet) -> RenderableType:
    """A card that stands further up and still waits."""
    return Group(heading(sheet.title, sheet.tone), ChoiceLine(sheet.choices))
