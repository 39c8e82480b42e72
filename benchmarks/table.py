"""The one table: our figure, the floor measured in the same run, their ratio, the goal, and whether it is met.

A benchmark hands in its rows. `make bench` runs all of them and prints the rows of all in one table at its end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass
from enum import StrEnum
from pathlib import Path

FILE = "GWT_BOT_BENCH_ROWS"
"""The variable that names the file in which rows are gathered."""
HEAD = ("#", "what", "ours", "floor", "ratio", "goal", "met")
YES, NO = "yes", "**no**"


class Unit(StrEnum):
    SECONDS = "s"
    PERCENT = "%"
    MEGABYTES = "MB"
    COUNT = ""


@dataclass(frozen=True)
class Row:
    number: str
    """Of the goal, as docs/benchmarks.md numbers them."""
    what: str
    ours: str = "–"
    floor: str = "–"
    ratio: str = "–"
    goal: str = "–"
    met: str = "–"
    because: str = ""
    """Why the goal is missed, or why nothing was measured."""


def beside(
    number: str,
    what: str,
    ours: float,
    floor: float,
    *,
    of: str,
    most: float,
    unit: Unit = Unit.SECONDS,
    because: str = "",
) -> Row:
    """The goal is a ratio: ours may be so many times the floor `of` something."""
    ratio = ours / floor if floor else float("inf")
    return Row(
        number,
        what,
        told(ours, unit),
        f"{told(floor, unit)} {of}",
        times(ratio),
        f"≤ {times(most)}",
        YES if ratio <= most else NO,
        "" if ratio <= most else because,
    )


def at_most(
    number: str,
    what: str,
    ours: float,
    bound: float,
    *,
    floor: float | None = None,
    of: str = "",
    unit: Unit = Unit.SECONDS,
    because: str = "",
) -> Row:
    """The goal is a figure of its own; a floor, where there is one, is for the reader."""
    return Row(
        number,
        what,
        told(ours, unit),
        "–" if floor is None else f"{told(floor, unit)} {of}",
        times(ours / floor) if floor else "–",
        f"≤ {told(bound, unit)}",
        YES if ours <= bound else NO,
        "" if ours <= bound else because,
    )


def all_of(number: str, what: str, right: int, wanted: int) -> Row:
    """The goal is that not one is wrong."""
    goal = f"{wanted} of {wanted}"
    return Row(number, what, f"{right} of {wanted}", goal=goal, met=YES if right == wanted else NO)


def lacking(number: str, what: str, because: str) -> Row:
    """It could not be measured here: that is said, not passed over."""
    return Row(number, what, met="not measured", because=because)


def told(figure: float, unit: Unit) -> str:
    match unit:
        case Unit.SECONDS if figure >= 1:
            return f"{figure:.2f} s"
        case Unit.SECONDS if figure >= 0.001:
            return f"{1e3 * figure:.{0 if figure >= 0.1 else 2}f} ms"
        case Unit.SECONDS:
            return f"{1e6 * figure:.0f} µs"
        case Unit.PERCENT:
            return f"{figure:.{1 if figure >= 1 else 3}f} %"
        case Unit.MEGABYTES:
            return f"{figure:.1f} MB"
        case Unit.COUNT:
            return f"{figure:.0f}"


def times(ratio: float) -> str:
    """1.3×, 1/50×."""
    if 0 < ratio < 0.2:
        return f"1/{1 / ratio:.0f}×"
    return f"{ratio:.{1 if ratio >= 10 or ratio == int(ratio) else 2}f}×".replace(".0×", "×")


def hand_in(*rows: Row) -> None:
    """Show them, and add them to the one table where there is to be one."""
    print(drawn(rows))
    if path := os.environ.get(FILE):
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(row)) + "\n" for row in rows)


def handed_in(path: Path) -> list[Row]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return sorted((Row(**json.loads(line)) for line in lines), key=_place)


def _place(row: Row) -> tuple[bool, int]:
    """By number; what has none comes after, in the order in which it came."""
    return (not row.number, int(row.number or 0))


def drawn(rows: Iterable[Row]) -> str:
    """As Markdown, so that it can be read here and put into a page; what is to be said of a row stands below."""
    rows = [*rows]
    cells = [HEAD, *(astuple(row)[: len(HEAD)] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    lines = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    notes = dict.fromkeys(f"- {row.what}: {row.because}" for row in rows if row.because)
    return "\n".join([*lines, *([""] if notes else []), *notes])
