"""Renders sheets and documents for a terminal, and writes them. Only documents are interpreted as markup."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.styled import Styled
from rich.table import Table as Grid
from rich.text import Text as Words
from rich.theme import Theme

from bot.core.choices import Choice, Style, typed_equivalent
from bot.core.errors import Refused
from bot.core.people import Person, Thread
from bot.core.sheets import (
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
from bot.core.text import clean

if TYPE_CHECKING:
    from bot.core.cards import CardDecision

# Rendering of sheets. Only the title and the choices start at the left edge, so that no text on a card can imitate
# them.

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
"""Only named colours, which each terminal theme defines itself, so that they are readable on light and dark
backgrounds.
"""

_NARROW = 18
"""Columns up to this width are never wrapped: ids, states, times."""


SessionName = Callable[[Thread], str]
"""Returns the name by which the person can refer to a thread's session."""


def render_sheet(
    sheet: Sheet, *, origin: str = "", private: bool = False, name: SessionName | None = None
) -> RenderableType:
    """Render the sheet. `origin`: the name of a session other than the current one; its choices have no numbers."""
    name = name or _by_root
    parts: list[RenderableType] = []
    if origin or private:
        parts.append(origin_line(origin, private))
    parts.append(title_line(sheet.title, sheet.tone))
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


def origin_line(origin: str, private: bool = False) -> Words:
    """Return the line that says which session a card from elsewhere belongs to."""
    where = f"session {on_one_line(origin)}" if origin else ""
    return Words(
        " · ".join(part for part in (where, "only you see this" if private else "") if part),
        style="dim",
    )


def title_line(text: str, tone: Tone) -> Grid:
    mark, style = TONES[tone]
    return _hanging_indent(Words(mark, style=style), Words(on_one_line(text), style="bold"))


def _hanging_indent(mark: Words, text: Words) -> Grid:
    """Return a mark and a text whose further lines are indented below the first."""
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row(mark, text)
    return grid


def _body(elements: Sequence[Element], name: SessionName) -> Group:
    parts: list[RenderableType] = []
    before: Element | None = None
    for element in elements:
        if before is not None and not _belongs_to(before, element):
            parts.append(Words(""))
        parts.append(_element(element, name))
        before = element
    return Group(*parts)


def _belongs_to(before: Element, element: Element) -> bool:
    """Whether no empty line separates the two."""
    if isinstance(before, Pointer) and isinstance(element, Pointer):
        return True
    if not isinstance(before, Text):
        return False
    return before.strong or (
        isinstance(element, Text | Bullets) and not getattr(element, "strong", False)
    )


def _element(element: Element, name: SessionName) -> RenderableType:
    match element:
        case Text(text=text, strong=strong):
            return Words(clean(text), style="bold" if strong else "")
        case Fields(pairs=pairs):
            return _fields(pairs)
        case Bullets(items=items):
            return Group(
                *(_hanging_indent(Words("•", style="dim"), Words(clean(item))) for item in items)
            )
        case Table():
            return _table(element)
        case Code(text=text):
            return QuotedText(clean(text))
        case Prose(markdown=markdown):
            # importing rich.markdown and its parser takes longer than showing a list
            from adapters.console.documents import render_document

            return render_document(markdown)
        case Pointer():
            return _pointer(element, name)
        case Entries(items=items):
            return Group(*(_entry(item) for item in items))


def _entry(entry: Entry) -> Grid:
    # Actions are shown as commands, because nothing in a terminal can be clicked.
    text = Words(on_one_line(entry.title))
    for fact in entry.facts:
        text.append(f" · {on_one_line(fact)}", style="dim")
    for choice in entry.choices:
        if said := typed_equivalent(choice):
            text.append(f"  {said}", style="cyan")
    return _hanging_indent(Words("•", style="dim"), text)


def _pointer(pointer: Pointer, name: SessionName) -> Grid:
    # The session's name is shown, because nothing in a terminal can be clicked.
    text = Words(on_one_line(pointer.text))
    text.append(f"  session {on_one_line(name(pointer.thread))}", style="dim")
    return _hanging_indent(Words("→", style="dim"), text)


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
    """The choices, numbered. Lines break only between choices."""

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


def render_decision(title: str, decided: CardDecision, person: Person) -> Words:
    """Render the decision on a card that was shown earlier."""
    by = "you" if decided.by in (str(person), person.id) else on_one_line(decided.by)
    what = f"{on_one_line(decided.what)} by {by}, {decided.at.astimezone():%H:%M}"
    return Words.assemble(("✓ ", "bold green"), what, (f"   {on_one_line(title)}", "dim"))


def render_reminder(sheet: Sheet) -> RenderableType:
    """Render a reminder of a card that was shown earlier and still waits."""
    return Group(title_line(sheet.title, sheet.tone), ChoiceLine(sheet.choices))


def on_one_line(text: str) -> str:
    return " ".join(clean(text).split())


class QuotedText:
    """A literal text with a bar on its left that marks it as a quotation."""

    def __init__(self, text: str) -> None:
        self._text = Words(text.rstrip("\n"), overflow="fold")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bar = Segment("│ ", console.get_style("dim"))
        room = options.update(width=max(1, options.max_width - 2), height=None)
        for line in console.render_lines(self._text, room, pad=False):
            yield bar
            yield from line
            yield Segment.line()


# Where the console writes: with the terminal's width and colours, or as plain text into a pipe.

PIPE_WIDTH = 100
MAX_WIDTH = 120
"""Longer lines are hard to read, however wide the window is."""

_THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold cyan",
        "markdown.h3": "bold",
        "markdown.h4": "bold dim",
        "markdown.code": "cyan",
        "markdown.block_quote": "dim",
        "markdown.item.number": "dim",
        "markdown.item.bullet": "dim",
        "markdown.link": "none",
        "markdown.link_url": "underline dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "dim",
    }
)
_TRAILING = re.compile(r"(?<! )[ ]+((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


class ConsoleScreen:
    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out
        self.terminal = (out or sys.stdout).isatty()

    @property
    def width(self) -> int:
        return min(Console().size.width, MAX_WIDTH) if self.terminal else PIPE_WIDTH

    def rendered(self, *parts: RenderableType) -> str:
        """Return what would be written, as text."""
        buffer = StringIO()
        console = Console(
            file=buffer,
            force_terminal=self.terminal,
            width=self.width,
            theme=_THEME,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )
        for part in parts:
            console.print(part)
        return _TRAILING.sub(r"\1", buffer.getvalue())

    def write(self, text: str) -> None:
        """Write and flush the text; raise Refused if the output is closed."""
        # looked up on each call: while a line is being typed, sys.stdout writes above it
        out = self._out or sys.stdout
        encoding = out.encoding or "utf-8"
        try:
            out.write(text.encode(encoding, "replace").decode(encoding))
            out.flush()
        except OSError as error:
            raise Refused(
                f"The console cannot be written to: {error.strerror}.", "Is its reader gone?"
            ) from error
