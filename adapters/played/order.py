"""What the played agent reads in its prompt: which piece of work is meant, and what is wanted of it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adapters.played.script.brief import LANGUAGES
from adapters.played.script.pieces import BASIC, WIDTH, Piece, piece_in, widths

FEEDBACK = "## What came of the last try"
ACCEPTANCE = "## It is done when"
FILES = "## Files it is about"
_NOTEBOOK = re.compile(r"^(/\S.*/observations\.jsonl)$", re.MULTILINE)
_TASK = re.compile(r"# Task (T\d+)\b")
_HELD = re.compile(
    "|".join(
        re.escape(texts.documents.held).replace(re.escape("{wish}"), "(.+)") for texts in LANGUAGES
    )
)


@dataclass(frozen=True)
class Order:
    """What the prompt says."""

    heading: str
    piece: Piece | None
    feedback: str
    width: int = WIDTH
    """How wide the receipt is wanted."""
    notebook: str = ""
    """The file in which it may write down what it notices."""
    wishes: tuple[str, ...] = ()
    """What was wanted different and is no width: nobody here can carry it out, but it can be noted."""

    @classmethod
    def read(cls, prompt: str) -> Order:
        heading = prompt.lstrip().partition("\n")[0].strip()
        listed = [line[2:] for line in _section(prompt, FILES).splitlines() if line[:2] == "- "]
        feedback = _section(prompt, FEEDBACK)
        accepted = _section(prompt, ACCEPTANCE)
        task = prompt.partition("\n## ")[0]
        return cls(
            heading=heading.lstrip("# "),
            piece=piece_in(listed) or _piece_of(heading),
            feedback=feedback,
            width=_width(accepted, f"{task}\n{feedback}"),
            notebook=found[1] if (found := _NOTEBOOK.search(prompt)) else "",
            wishes=tuple(w for w in dict.fromkeys(_held(accepted)) if not widths(w)),
        )

    @property
    def tells_of_failure(self) -> bool:
        return "FAIL" in self.feedback or "Error" in self.feedback


def _section(prompt: str, title: str) -> str:
    return prompt.partition(f"{title}\n")[2].partition("\n## ")[0]


def _piece_of(heading: str) -> Piece | None:
    """By the key alone, where no files are named: the first tasks are those of the story."""
    found = _TASK.match(heading)
    keys = {f"T{number:03}": piece for number, piece in enumerate(BASIC, 1)}
    return keys.get(found[1]) if found else None


def _width(accepted: str, elsewhere: str) -> int:
    """What has to be so counts before what is merely told; the last word counts."""
    told = widths(accepted)
    if set(told) <= {WIDTH}:
        told += widths(elsewhere)
    return told[-1] if told else WIDTH


def _held(accepted: str) -> list[str]:
    """The wishes the work is held against."""
    found = (_HELD.fullmatch(line[2:].strip()) for line in accepted.splitlines())
    return [next(filter(None, held.groups())) for held in found if held]
