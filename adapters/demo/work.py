"""What the simulated agent does for each module, and how it reads that from its prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from adapters.demo import files
from adapters.demo.brief import BASIC, PIECES, WIDTH, DemoPiece, find_widths, piece_in
from adapters.demo.texts import languages

# The work on each module: tests first, then code. The receipt has a deliberate bug, and its repair.


@dataclass(frozen=True)
class WorkStep:
    """One file, written and committed."""

    path: str
    commit: str

    @property
    def content(self) -> str:
        return files.text(f"work/{self.path.rpartition('/')[2]}")


@dataclass(frozen=True)
class Repair:
    """The correction made after a failed check was reported."""

    path: str
    wrong: str
    right: str
    cause: str
    commit: str


@dataclass(frozen=True)
class PieceWork:
    thought: str
    steps: tuple[WorkStep, ...]
    needs: str = ""
    """A file that an earlier task creates."""
    repair: Repair | None = None
    noticed: str = ""
    """An observation that is not part of the task."""


def _work(
    name: str,
    thought: str,
    tested: str,
    done: str,
    repair: Repair | None = None,
    noticed: str = "",
) -> PieceWork:
    piece = PIECES[name]
    module, tests = piece.files
    steps = WorkStep(tests, f"test({name}): {tested}"), WorkStep(module, f"feat({name}): {done}")
    needs = PIECES[piece.needs].module if piece.needs else ""
    return PieceWork(thought, steps, needs, repair, noticed)


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
        # a real bug, which the test above finds: 205 cents are printed as "2.5"
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


def adapted_file(
    piece: DemoPiece, step: WorkStep, text: str, width: int, wishes: Iterable[str]
) -> str:
    """Return a file with the requested width, and with change requests noted in the module. Safe to do twice."""
    if piece.name == "receipt":
        text = _with_width(text, width)
    if step.path == piece.module:
        text = _with_notes(text, wishes)
    return text


def commit_message(piece: DemoPiece, step: WorkStep, before: str, width: int) -> str:
    """Return the message of a commit that changes an existing file."""
    tests = step.path != piece.module
    if piece.name == "receipt" and _with_width(before, width) != before:
        told = f"expect lines of {width} columns" if tests else f"print lines of {width} columns"
        return f"{'test' if tests else 'feat'}({piece.name}): {told}"
    return f"docs({piece.name}): note what else is wanted"


_WIDTHS = re.compile(r"^((?:WIDTH|PAPER) = )[0-9]+$|(?<= )[0-9]+(?= columns wide)", re.MULTILINE)


def _with_width(text: str, width: int) -> str:
    return _WIDTHS.sub(lambda found: f"{found[1] or ''}{width}", text)


def _with_notes(text: str, wishes: Iterable[str]) -> str:
    """Append a comment per change request. The simulated agent cannot do more, and says so."""
    notes = [f"# Wanted, and only noted, because this work is played: {wish}" for wish in wishes]
    fresh = [note for note in notes if note not in text.splitlines()]
    if not fresh:
        return text
    former = text.rstrip()
    gap = "\n" if former.splitlines()[-1].startswith("#") else "\n\n\n"
    return former + gap + "\n".join(fresh) + "\n"


# Parsing the prompt: which module is meant, and what is wanted of it. No I/O.

FEEDBACK = "## What came of the last try"
ACCEPTANCE = "## It is done when"
FILES = "## Files it is about"
_NOTEBOOK = re.compile(r"^(/\S.*/observations\.jsonl)$", re.MULTILINE)
_TASK = re.compile(r"# Task (T\d+)\b")


@dataclass(frozen=True)
class TaskOrder:
    """What the prompt asks for."""

    heading: str
    piece: DemoPiece | None
    feedback: str
    width: int = WIDTH
    """The requested width of the receipt."""
    notebook: str = ""
    """The file for its observations."""
    wishes: tuple[str, ...] = ()
    """Change requests other than a width, which the simulated agent cannot carry out but can note."""

    @classmethod
    def read(cls, prompt: str) -> TaskOrder:
        heading = prompt.lstrip().partition("\n")[0].strip()
        listed = [line[2:] for line in _section(prompt, FILES).splitlines() if line[:2] == "- "]
        feedback = _section(prompt, FEEDBACK)
        accepted = _section(prompt, ACCEPTANCE)
        task = prompt.partition("\n## ")[0]
        return cls(
            heading=heading.lstrip("# "),
            piece=piece_in(listed) or _piece_by_key(heading),
            feedback=feedback,
            width=_width(accepted, f"{task}\n{feedback}"),
            notebook=found[1] if (found := _NOTEBOOK.search(prompt)) else "",
            wishes=tuple(
                w for w in dict.fromkeys(_change_requests_in(accepted)) if not find_widths(w)
            ),
        )

    @property
    def tells_of_failure(self) -> bool:
        return "FAIL" in self.feedback or "Error" in self.feedback


def _section(prompt: str, title: str) -> str:
    return prompt.partition(f"{title}\n")[2].partition("\n## ")[0]


def _piece_by_key(heading: str) -> DemoPiece | None:
    # By the key alone if no files are named: the first tasks are those of the basic modules.
    found = _TASK.match(heading)
    keys = {f"T{number:03}": piece for number, piece in enumerate(BASIC, 1)}
    return keys.get(found[1]) if found else None


def _width(accepted: str, elsewhere: str) -> int:
    # Acceptance criteria take precedence over other text; the last number counts.
    told = find_widths(accepted)
    if set(told) <= {WIDTH}:
        told += find_widths(elsewhere)
    return told[-1] if told else WIDTH


def _change_requests_in(accepted: str) -> list[str]:
    """Return the change requests in the acceptance criteria."""
    patterns = [
        re.escape(texts.documents.held).replace(re.escape("{wish}"), "(.+)")
        for texts in languages()
    ]
    written = re.compile("|".join(patterns))
    found = (written.fullmatch(line[2:].strip()) for line in accepted.splitlines())
    return [next(filter(None, held.groups())) for held in found if held]
