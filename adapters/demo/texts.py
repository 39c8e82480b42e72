"""What the played model says: the request the demo proposes, and the texts of each language, from `files/<language>.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from adapters.demo import files

REQUEST = "Add discount codes and a printable receipt to the basket"


@dataclass(frozen=True)
class PlayedQuestion:
    text: str
    why: str
    options: tuple[str, ...]
    """The first one is the default, and what the simulated agent builds."""
    cues: tuple[tuple[str, ...], ...]
    """The words for each option, in any language."""
    piece: str
    """It is asked only if this module is built."""

    def as_reply(self) -> dict[str, object]:
        return {
            "text": self.text,
            "why": self.why,
            "options": list(self.options),
            "default": self.options[0],
        }


@dataclass(frozen=True)
class PieceText:
    """Texts about one module. `{width}` and the decisions are filled in."""

    title: str
    """Contains English words, because branches are named after it."""
    description: str
    module: str
    """What its module does; follows the module's name."""
    acceptance: tuple[str, ...]
    story: str
    why: str
    trial: str
    scenarios: tuple[str, ...]
    requirements: tuple[str, ...]
    edges: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True)
class PartText:
    """A part of a request that is too large for one plan."""

    title: str
    body: str
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class DocumentPhrases:
    """Sentences in documents and tasks. `{wish}` is a person's change request."""

    wish: str
    """Beginning of a line of the assumptions that keeps a change request for the next revision."""
    held: str
    scenario: str
    revised: str
    follow_up: str
    defaults_built: str
    conventions: str
    settled: str
    """A line of the assumptions of a specification whose findings were repaired."""


@dataclass(frozen=True)
class ReplyPhrases:
    """Sentences in other replies."""

    risk: str
    continues: str
    finding: str
    advice: str
    contradiction: str
    contradiction_advice: str
    no_acceptance: str
    played: str
    nobody_at_work: str
    states: str
    welcome: str
    change: str
    question: str
    talk: str
    touched: str
    """Why a task is affected."""
    named: str
    untouched: str
    next_step: str
    goes_on: str
    starts_new: str
    judged: str
    failed: str
    unmet: str
    doubtful: str
    oversized: str
    suspicious: str
    take_back: str
    reportless: str
    report_wanted: str
    part: str
    """The name of a part of a task that was too large."""
    whole: str
    unserved: str
    unplanned: str
    told: str
    """Beginning of a summary of earlier conversation."""
    finished: str
    pull: str
    sums: str
    branch: str


@dataclass(frozen=True)
class Texts:
    language: str
    title: str
    notice: str
    questions: tuple[PlayedQuestion, ...]
    pieces: Mapping[str, PieceText]
    parts: tuple[PartText, ...]
    documents: DocumentPhrases
    replies: ReplyPhrases


@cache
def english() -> Texts:
    return _read("english")


@cache
def japanese() -> Texts:
    return _read("japanese")


def languages() -> tuple[Texts, Texts]:
    return english(), japanese()


def _read(name: str) -> Texts:
    return TypeAdapter(Texts).validate_python(tomllib.loads(files.text(f"{name}.toml")))
