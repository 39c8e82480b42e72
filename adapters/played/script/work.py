"""What the played agent does for each piece: tests first, then code. The receipt has a slip in it, and its repair."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from adapters.played import files
from adapters.played.script.pieces import PIECES, Piece


@dataclass(frozen=True)
class Step:
    """One file, written and committed."""

    path: str
    commit: str

    @property
    def content(self) -> str:
        return files.text(f"work/{self.path.rpartition('/')[2]}")


@dataclass(frozen=True)
class Repair:
    """What is put right once a failed check was told."""

    path: str
    wrong: str
    right: str
    cause: str
    commit: str


@dataclass(frozen=True)
class Work:
    thought: str
    steps: tuple[Step, ...]
    needs: str = ""
    """A file that an earlier task makes."""
    repair: Repair | None = None
    noticed: str = ""
    """What it sees on the way that is no part of the task."""


def _work(
    name: str,
    thought: str,
    tested: str,
    done: str,
    repair: Repair | None = None,
    noticed: str = "",
) -> Work:
    piece = PIECES[name]
    module, tests = piece.files
    steps = Step(tests, f"test({name}): {tested}"), Step(module, f"feat({name}): {done}")
    needs = PIECES[piece.needs].module if piece.needs else ""
    return Work(thought, steps, needs, repair, noticed)


WORK = {
    "discount": _work(
        "discount",
        "Codes are a table, the reduction a function: easy to test, easy to extend.",
        "say what a discount code does",
        "take discount codes off a total",
    ),
    "receipt": _work(
        "receipt",
        "A receipt is text of a fixed width: columns for name, quantity, price, amount.",
        "say how a receipt looks",
        "print a basket as a receipt",
        # The slip is a real one, and the test above finds it: 205 cents come out as "2.5".
        Repair(
            path="basket/receipt.py",
            wrong="{cents % 100}",
            right="{cents % 100:02d}",
            cause="cents below ten lose their leading zero: 205 is printed as 2.5",
            commit="fix(receipt): print cents with two digits",
        ),
    ),
    "checkout": _work(
        "checkout",
        "The bill asks basket.discount for the reduction, and only adds up.",
        "say what a customer has to pay",
        "take a discount code at the checkout",
        noticed="Prices are turned into text in more than one place; one function would do.",
    ),
    "export": _work(
        "export",
        "The csv module knows how to quote; the rows are the items as they are.",
        "say how a basket looks as CSV",
        "write a basket as CSV",
    ),
    "history": _work(
        "history",
        "A history is a list that only grows.",
        "say what is remembered of an order",
        "remember orders",
    ),
}


def shaped(piece: Piece, step: Step, text: str, width: int, wishes: Iterable[str]) -> str:
    """A file as it is wanted: of the width, with the wishes noted in the module. Doing it twice changes nothing."""
    if piece.name == "receipt":
        text = _of_width(text, width)
    if step.path == piece.module:
        text = _with_notes(text, wishes)
    return text


def change(piece: Piece, step: Step, before: str, width: int) -> str:
    """What a commit is called that changes a file which is there already."""
    tests = step.path != piece.module
    if piece.name == "receipt" and _of_width(before, width) != before:
        told = f"expect lines of {width} columns" if tests else f"print lines of {width} columns"
        return f"{'test' if tests else 'feat'}({piece.name}): {told}"
    return f"docs({piece.name}): note what else is wanted"


_WIDTHS = re.compile(r"^((?:WIDTH|PAPER) = )[0-9]+$|(?<= )[0-9]+(?= columns wide)", re.MULTILINE)


def _of_width(text: str, width: int) -> str:
    return _WIDTHS.sub(lambda found: f"{found[1] or ''}{width}", text)


def _with_notes(text: str, wishes: Iterable[str]) -> str:
    """A comment a wish, at the end. The played agent cannot do more, and says so."""
    notes = [f"# Wanted, and only noted, because this work is played: {wish}" for wish in wishes]
    fresh = [note for note in notes if note not in text.splitlines()]
    if not fresh:
        return text
    former = text.rstrip()
    gap = "\n" if former.splitlines()[-1].startswith("#") else "\n\n\n"
    return former + gap + "\n".join(fresh) + "\n"
