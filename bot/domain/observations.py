"""What was noticed while something else was done. Nobody sorts it: whoever reads it judges by what it says."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from bot.domain.facts import Fact
from bot.domain.naming import derived_id

MOST_OF_A_RUN = 20
LONGEST = 1_000
"""Characters of one."""
LONGEST_REF = 300
MOST_EVIDENCE = 10
MOST_LINES = 500


class EvidenceType(StrEnum):
    FILE = "file"
    SKILL = "skill"
    HISTORY = "history"
    DECISION = "decision"


class Observer(StrEnum):
    """Who noticed it."""

    IMPLEMENT = "implement"
    REFLECT = "reflect"
    AUDIT = "audit"


class Ground(Fact):
    """What an observation rests on. `ref` names it: a path, the name of a history …"""

    type: EvidenceType
    ref: str


class Observation(Fact):
    id: str
    content: str
    evidence: tuple[Ground, ...] = ()
    source: Observer
    intent_id: str = ""
    processed: bool = False
    """Whether reflection has read it."""
    created_at: AwareDatetime | None = None


class _Told(BaseModel):
    """A line of what an agent wrote. What else it says is not heard."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)
    content: str = Field(min_length=1, max_length=LONGEST)
    evidence: tuple[Ground, ...] = Field(default=(), max_length=MOST_EVIDENCE)


def noticed(text: str, run: str, intent: str, at: AwareDatetime) -> tuple[Observation, ...]:
    """What the agent of a run wrote down, one JSON object a line. What is none is passed over.

    Their ids follow from the run, so that writing them down twice writes them once.
    """
    found = {told.content: told for told in _told(text)}
    return tuple(
        Observation(
            id=derived_id("observation", run, told.content),
            content=told.content,
            evidence=told.evidence,
            source=Observer.IMPLEMENT,
            intent_id=intent,
            created_at=at,
        )
        for told in list(found.values())[:MOST_OF_A_RUN]
    )


def _told(text: str) -> Iterator[_Told]:
    for line in text.splitlines()[:MOST_LINES]:
        try:
            told = _Told.model_validate_json(line)
        except ValidationError:
            continue
        evidence = tuple(ground for ground in told.evidence if is_a_name(ground.ref))
        if content := " ".join(told.content.split()):
            yield _Told(content=content, evidence=evidence)


def is_a_name(ref: str) -> bool:
    return 0 < len(ref) <= LONGEST_REF and ref.isprintable()
