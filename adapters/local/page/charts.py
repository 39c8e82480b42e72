"""Geometry of the charts. Templates draw them as SVG (small columns are drawn here): sizes in attributes, colours by class,
every text masked there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from markupsafe import Markup

from bot.core.text import cut, duration

# Which task needs which: columns by the longest way from the left, rows by the middle of what a task needs.

NODE_WIDTH, NODE_HEIGHT = 176, 46
_GAP_X, _GAP_Y, _EDGE = 42, 14, 8
_LETTER = 6.05
"""The mean width of a letter of the charts, in pixels."""


@dataclass(frozen=True)
class Item:
    """A task as charts show it."""

    id: str
    key: str
    name: str
    state: str
    """The class of its colour: done, work, need, fail, wait."""
    says: str
    """Its state in words."""
    needs: tuple[str, ...] = ()
    """Ids of other tasks."""
    time: str = ""
    """Since when it is so."""


@dataclass(frozen=True)
class Node:
    item: Item
    x: float
    y: float
    label: str


@dataclass(frozen=True)
class Edge:
    path: str
    done: bool


@dataclass(frozen=True)
class Graph:
    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph(items: Sequence[Item]) -> Graph:
    """Lay out the tasks, each right of all that it needs."""
    needs = _known_needs(items)
    places = _places(items, needs)
    columns = 1 + max((column for column, _ in places.values()), default=0)
    tall = max((abs(row) for _, row in places.values()), default=0)
    step_x, step_y = NODE_WIDTH + _GAP_X, NODE_HEIGHT + _GAP_Y
    middle = tall * step_y + NODE_HEIGHT / 2 + _EDGE
    corners = {
        id: (_EDGE + column * step_x, middle + row * step_y - NODE_HEIGHT / 2)
        for id, (column, row) in places.items()
    }
    states = {item.id: item.state for item in items}
    return Graph(
        width=2 * _EDGE + columns * step_x - _GAP_X,
        height=2 * middle,
        nodes=tuple(
            Node(item, *corners[item.id], cut(item.name, int((NODE_WIDTH - 24) / _LETTER)))
            for item in items
        ),
        edges=tuple(
            Edge(_curve(corners[need], corners[item.id]), done=states[need] == "done")
            for item in items
            for need in needs[item.id]
        ),
    )


def _known_needs(items: Sequence[Item]) -> dict[str, tuple[str, ...]]:
    """Return what each task needs among those that are shown, without circles."""
    known: dict[str, tuple[str, ...]] = {item.id: () for item in items}
    open_items = {item.id: {need for need in item.needs if need in known} for item in items}
    order: list[str] = []
    while open_items:
        ready = [id for id, needed in open_items.items() if needed.issubset(order)]
        for id in ready or [next(iter(open_items))]:
            known[id] = tuple(need for need in order if need in open_items[id])
            order.append(id)
            del open_items[id]
    return known


def _places(
    items: Sequence[Item], needs: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[int, float]]:
    column: dict[str, int] = {}
    left = [item.id for item in items]
    while left:
        for id in [one for one in left if all(need in column for need in needs[one])]:
            column[id] = 1 + max((column[need] for need in needs[id]), default=-1)
        left = [one for one in left if one not in column]
    places: dict[str, tuple[int, float]] = {}
    for number in range(max(column.values(), default=-1) + 1):
        here = [id for id in column if column[id] == number]
        first = {id: at for at, id in enumerate(here)}

        def height(id: str, first: Mapping[str, int] = first) -> float:
            rows = [places[need][1] for need in needs[id]]
            return sum(rows) / len(rows) if rows else first[id]

        for row, id in enumerate(sorted(here, key=height)):
            places[id] = (number, row - (len(here) - 1) / 2)
    return places


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1 = start[0] + NODE_WIDTH, start[1] + NODE_HEIGHT / 2
    x2, y2 = end[0], end[1] + NODE_HEIGHT / 2
    bend = (x2 - x1) * 0.6 if x2 - x1 <= _GAP_X else _GAP_X
    return f"M{x1:g} {y1:g}C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2:g} {y2:g}"


# When what was worked on. Times in which nothing happened are folded.

WIDTH, LABEL, ROW, TOP = 720, 214, 34, 30
_RIGHT = 18
_FOLD = 26.0
"""The width of a folded gap."""
_FOLD_FROM = timedelta(minutes=3)
_TICK_EVERY = 74.0
_STEPS = (5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400)


@dataclass(frozen=True)
class Stretch:
    """Something that lasted: an agent at work, tests, waiting for a person."""

    kind: str
    """The class of its colour: done, work, check, fail, need."""
    start: datetime
    end: datetime
    says: str
    more: str = ""
    """What follows those words: how long it took, which tests failed."""


@dataclass(frozen=True)
class Bar:
    kind: str
    x: float
    width: float
    says: str
    more: str
    room: int
    """How many letters can be read inside the bar."""


@dataclass(frozen=True)
class Line:
    item: Item
    y: float
    label: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Mark:
    x: float
    text: str
    width: float = 0


@dataclass(frozen=True)
class Timeline:
    width: float
    height: float
    lines: tuple[Line, ...]
    ticks: tuple[Mark, ...]
    folds: tuple[Mark, ...]
    now: float | None


def timeline(
    rows: Sequence[tuple[Item, Sequence[Stretch]]], now: datetime, *, over: bool
) -> Timeline:
    """Draw what happened to each task until now, or, if all is over, until its end."""
    stretches = [one for _, parts in rows for one in parts]
    scale = _Scale(stretches, None if over else now)
    lines = tuple(
        Line(item, TOP + number * ROW, cut(item.name, 24), tuple(map(scale.bar, parts)))
        for number, (item, parts) in enumerate(rows)
    )
    return Timeline(
        width=WIDTH,
        height=TOP + ROW * len(rows) + 8,
        lines=lines,
        ticks=tuple(scale.ticks()),
        folds=tuple(scale.folds),
        now=None if over or not stretches else scale.x(now),
    )


class _Scale:
    """Where on the timeline a time is."""

    def __init__(self, stretches: Sequence[Stretch], now: datetime | None) -> None:
        self._busy = _busy_times(stretches, now)
        total = sum(((end - start).total_seconds() for start, end in self._busy), 0.0)
        room = WIDTH - LABEL - _RIGHT - _FOLD * (len(self._busy) - 1)
        self._pixels = max(room, 100) / max(total, 1)
        """Pixels of a second."""
        self._from: list[tuple[datetime, datetime, float]] = []
        self.folds: list[Mark] = []
        at = float(LABEL)
        for number, (start, end) in enumerate(self._busy):
            if number:
                gap = int((start - self._busy[number - 1][1]).total_seconds())
                self.folds.append(Mark(at, duration(gap), _FOLD))
                at += _FOLD
            self._from.append((start, end, at))
            at += (end - start).total_seconds() * self._pixels

    def x(self, time: datetime) -> float:
        at = float(LABEL)
        for start, end, left in self._from:
            if time < start:
                return at
            at = left + (min(time, end) - start).total_seconds() * self._pixels
            if time <= end:
                return at
        return at

    def bar(self, stretch: Stretch) -> Bar:
        x = self.x(stretch.start)
        width = max(3.0, self.x(stretch.end) - x)
        return Bar(stretch.kind, x, width, stretch.says, stretch.more, int((width - 12) / 6.6))

    def ticks(self) -> Iterator[Mark]:
        if not self._from:
            return
        begin = self._from[0][0]
        step = next((one for one in _STEPS if one * self._pixels >= _TICK_EVERY), _STEPS[-1])
        last = float(LABEL) - _TICK_EVERY
        for start, end, _ in self._from:
            first = -(-int((start - begin).total_seconds()) // step) * step
            for seconds in range(first, int((end - begin).total_seconds()) + 1, step):
                x = self.x(begin + timedelta(seconds=seconds))
                if x - last >= _TICK_EVERY - 1:
                    yield Mark(x, f"+{duration(seconds)}" if seconds else "0")
                    last = x


def _busy_times(
    stretches: Iterable[Stretch], now: datetime | None
) -> list[tuple[datetime, datetime]]:
    """Return the times in which something was done, with short pauses between."""
    # Waiting for a person shows as far as something else goes on, and at its beginning and end.
    spans = [(one.start, max(one.start, one.end)) for one in stretches if one.kind != "need"]
    for one in stretches:
        if one.kind == "need":
            spans += [(one.start, one.start), (one.end, one.end)]
    if now and spans:
        spans.append((now, now))
    merged: list[tuple[datetime, datetime]] = []
    for start, end in sorted(spans):
        if merged and start - merged[-1][1] <= _FOLD_FROM:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


# Bars across, and columns.


@dataclass(frozen=True)
class Share:
    name: str
    text: str
    y: float
    width: float
    words_x: float


def across(
    rows: Sequence[tuple[str, float, str]], width: float = 304, row: int = 24
) -> list[Share]:
    """Lay out a bar for each row: its name, its value, and the value in words."""
    most = max((value for _, value, _ in rows), default=0) or 1
    room = width - 130
    return [
        Share(name, text, number * row, room * value / most, 56 + room * value / most)
        for number, (name, value, text) in enumerate(rows)
    ]


def without_overlap(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches of one task in order, each cut where the next one begins."""
    ordered = sorted(stretches, key=lambda one: one.start)
    cut_ones = [replace(one, end=min(one.end, after.start)) for one, after in pairwise(ordered)]
    return [*cut_ones, *ordered[-1:]]


def columns(values: Sequence[float], *, name: str, width: int = 170, height: int = 30) -> Markup:
    """Return a small chart of columns, the last one marked."""
    step, top = width / max(1, len(values)), max([*values, 0.0]) or 1.0
    bars = Markup("").join(
        Markup(
            '<rect class="b{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="1.5"/>'
        ).format(
            " last" if number == len(values) - 1 else "",
            number * step + 1,
            height - 2 - (height - 4) * value / top,
            step - 2.5,
            max(1.5, (height - 4) * value / top),
        )
        for number, value in enumerate(values)
    )
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>'
    ).format(width, height, width, height, name, bars)
