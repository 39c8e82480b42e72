"""How the played model behaves badly when a test wants it to, while it is running."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from adapters.played import require_stage

FOR_EVER = -1
WRONG = (
    '{"title": 7, "questions": "none", "parts": "none", "answers": "none", "parallelism": "many", '
    '"tasks": "none", "score": "high", "issues": "none", "findings": "none", "kind": 7, '
    '"affected": "none", "choice": 7, "verdict": 7, "reasons": "none", "summary": 7, "body": 7, '
    '"text": 7, "complete": "perhaps", "missing": 7, '
    '"proposals": "none", "type": 7, "risk": 7}'
)
"""Every word of every reply is there, and every one is of the wrong type; no document is in it either."""


class Kind(Enum):
    OUTAGE = auto()
    TOO_MANY = auto()
    NO_QUOTA = auto()
    SLOW = auto()
    HALF = auto()
    WRONG_SCHEMA = auto()
    WRONG_LANGUAGE = auto()


@dataclass
class Fault:
    kind: Kind
    left: int = FOR_EVER
    """How many answers it still spoils."""
    question: str = ""
    """The only question it spoils; empty: every one."""
    seconds: float = 0
    """How long it takes, or after how long one may ask again."""


class Faults:
    """`model.faults.outage()` … `model.faults.end()`. The one that was added last comes first."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        require_stage(environ)
        self._faults: list[Fault] = []

    def outage(self) -> None:
        """Every connection is cut at once."""
        self._add(Fault(Kind.OUTAGE))

    def too_many_requests(self, times: int = FOR_EVER, *, retry_after: float = 1) -> None:
        self._add(Fault(Kind.TOO_MANY, times, seconds=retry_after))

    def no_quota(self) -> None:
        self._add(Fault(Kind.NO_QUOTA))

    def slow(self, seconds: float, question: str = "") -> None:
        self._add(Fault(Kind.SLOW, question=question, seconds=seconds))

    def half_answers(self, times: int = 1, question: str = "") -> None:
        """The connection is cut in the middle of the body."""
        self._add(Fault(Kind.HALF, times, question))

    def wrong_schema(self, times: int = 1, question: str = "") -> None:
        self._add(Fault(Kind.WRONG_SCHEMA, times, question))

    def wrong_language(self, times: int = 1, question: str = "") -> None:
        self._add(Fault(Kind.WRONG_LANGUAGE, times, question))

    def end(self) -> None:
        """It behaves again."""
        self._faults.clear()

    def next(self, question: str) -> Fault | None:
        """What spoils the answer to this question. It counts as having done so."""
        for fault in reversed(self._faults):
            if fault.left != 0 and fault.question in ("", question):
                if fault.left > 0:
                    fault.left -= 1
                return fault
        return None

    def _add(self, fault: Fault) -> None:
        self._faults.append(fault)
