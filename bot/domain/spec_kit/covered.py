"""Which tasks serve which requirement: told by the ids the tasks name, one by one or in ranges."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from bot.domain.planned import Covered
from bot.domain.spec_kit.specified import requirement_ids

_ID = re.compile(r"FR[ _-]?([0-9]{1,4})([a-z]?)(?![0-9a-z])", re.IGNORECASE)
_TO = re.compile(r"\s?(?:[-–—〜~]|\.{2,3}|to|through|から)\s?", re.IGNORECASE)
_REST_OF_RANGE = re.compile(r"(?<=[0-9])\s?(?:[-–—〜~]|\.{2,3})\s?(?=[0-9])")


class Serving(Protocol):
    """Anything that serves requirements: a draft, a task, what is left of one for comparing."""

    @property
    def key(self) -> str: ...
    @property
    def requirements(self) -> tuple[str, ...]: ...


class _Span(NamedTuple):
    """A range of ids; a single one reaches from itself to itself."""

    first: tuple[int, str]
    last: tuple[int, str]


def coverage(spec_markdown: str, tasks: Sequence[Serving]) -> tuple[Covered, ...]:
    """Every requirement of the spec, in its order, and the tasks that serve it, in theirs."""
    stated = requirement_ids(spec_markdown)
    serving = [(task.key, served(task.requirements, stated)) for task in tasks]
    return tuple(
        Covered(
            requirement=requirement,
            tasks=tuple(dict.fromkeys(key for key, serves in serving if requirement in serves)),
        )
        for requirement in stated
    )


def served(named: Iterable[str], stated: Sequence[str]) -> frozenset[str]:
    """Those of the stated requirements that somebody names: as FR-001, fr-1 or in FR-001–FR-003."""
    spans = [span for text in named for span in _spans(text)]
    numbers = {requirement: _number(requirement) for requirement in stated}
    return frozenset(
        requirement
        for requirement, number in numbers.items()
        if number and any(span.first <= number <= span.last for span in spans)
    )


def _spans(text: str) -> list[_Span]:
    plain = _REST_OF_RANGE.sub("–FR-", unicodedata.normalize("NFKC", text))
    found = list(_ID.finditer(plain))
    spans = [_Span(_id(one), _id(one)) for one in found]
    spans += [
        _Span(_id(one), _id(other))
        for one, other in pairwise(found)
        if _TO.fullmatch(plain, one.end(), other.start())
    ]
    return spans


def _number(requirement: str) -> tuple[int, str] | None:
    found = _ID.fullmatch(requirement)
    return _id(found) if found else None


def _id(found: re.Match[str]) -> tuple[int, str]:
    return int(found[1]), found[2].lower()
