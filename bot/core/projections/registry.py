"""What a repository keeps beside its code: intents, drafts and observations; and which of these are out of date, judged
by the files they refer to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from bot.core.facts import Fact
from bot.core.intent import Intent, Risk
from bot.core.naming import derived_id
from bot.core.states import IntentStatus

# What agents and the bot noticed in passing. Observations have no categories: whoever reads one judges it by its
# content.

MAX_OBSERVATIONS_PER_RUN = 20
LONGEST_OBSERVATION = 1_000
"""Characters of one observation."""
LONGEST_REF = 300
MOST_EVIDENCE = 10
MOST_LINES = 500


class EvidenceType(StrEnum):
    FILE = "file"
    SKILL = "skill"
    HISTORY = "history"
    DECISION = "decision"


class Observer(StrEnum):
    """Who made an observation."""

    IMPLEMENT = "implement"
    REFLECT = "reflect"
    AUDIT = "audit"


class Ground(Fact):
    """What an observation is based on. `ref` names it: a path, the name of a history …"""

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


class _WrittenObservation(BaseModel):
    """One line of an agent's observations; unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)
    content: str = Field(min_length=1, max_length=LONGEST_OBSERVATION)
    evidence: tuple[Ground, ...] = Field(default=(), max_length=MOST_EVIDENCE)


def parse_observations(
    text: str, run: str, intent: str, at: AwareDatetime
) -> tuple[Observation, ...]:
    """Parse the observations of a run, one JSON object per line.

    Invalid lines are skipped. The ids are derived from the run, so that reading the file twice adds nothing.
    """
    found = {told.content: told for told in _valid_lines(text)}
    return tuple(
        Observation(
            id=derived_id("observation", run, told.content),
            content=told.content,
            evidence=told.evidence,
            source=Observer.IMPLEMENT,
            intent_id=intent,
            created_at=at,
        )
        for told in list(found.values())[:MAX_OBSERVATIONS_PER_RUN]
    )


def _valid_lines(text: str) -> Iterator[_WrittenObservation]:
    for line in text.splitlines()[:MOST_LINES]:
        try:
            told = _WrittenObservation.model_validate_json(line)
        except ValidationError:
            continue
        evidence = tuple(ground for ground in told.evidence if is_valid_ref(ground.ref))
        if content := " ".join(told.content.split()):
            yield _WrittenObservation(content=content, evidence=evidence)


def is_valid_ref(ref: str) -> bool:
    return 0 < len(ref) <= LONGEST_REF and ref.isprintable()


# Intents as files: what a file says about an intent, and what may be changed in it.


class FiledIntent(Fact):
    """An intent, and what else its file says. The intent's id is the file's name without its extension."""

    intent: Intent
    session: str = ""
    """The session that carries it out."""
    draft: str = ""
    """A digest of the draft it was made from."""
    observations: tuple[str, ...] = ()
    """Ids of the observations it was made from."""


class IntentEdit(Fact):
    """What the bot writes into an intent's file. Everything else in the file belongs to its authors."""

    status: IntentStatus | None = None
    session: str | None = None
    type: str = ""
    """Written only if the file does not have one; so is the risk."""
    risk: Risk | None = None
    answers: Mapping[str, str | None] = Field(default_factory=dict[str, str | None])
    """By the text of the question. An existing answer is left unchanged."""


class IntentDraft(Fact):
    """A Markdown file that somebody wrote to be made an intent."""

    name: str
    """The name of its file."""
    digest: str
    title: str
    body: str
    type: str = ""
    risk: Risk | None = None
    created_at: AwareDatetime | None = None


class RegistryContents(Fact):
    """Everything in a repository's registry, and what could not be read, one sentence each."""

    intents: tuple[FiledIntent, ...] = ()
    drafts: tuple[IntentDraft, ...] = ()
    problems: tuple[str, ...] = ()

    def find(self, id: str) -> FiledIntent | None:
        """Return the intent by its name or a unique prefix of it."""
        exact = [filed for filed in self.intents if filed.intent.id == id]
        like = exact or [f for f in self.intents if id and f.intent.id.startswith(id)]
        return like[0] if len(like) == 1 else None


class ObservationList(Fact):
    """All observations of a repository, oldest first."""

    observations: tuple[Observation, ...] = ()
    problem: str = ""
    """Why they could not be read."""


# What is known of a repository and no longer true, judged by the files it refers to. No model is asked.

_PATH = re.compile(r"[^\s`'\"(),:;]*/?[^\s`'\"(),:;/]+\.[A-Za-z0-9]{1,8}")
FileAges = Mapping[str, datetime | None]
"""When each file was last changed; `None` if it does not exist."""


def files_to_check(observations: Sequence[Observation]) -> tuple[str, ...]:
    """Return the files whose ages `find_stale` needs."""
    found = (
        path for one in observations for ground in one.evidence if (path := ground_path(ground))
    )
    return tuple(dict.fromkeys(found))


def ground_path(ground: Ground) -> str:
    """Return the file that a ground names; empty if it names something else."""
    if ground.type in (EvidenceType.FILE, EvidenceType.SKILL):
        return ground.ref
    decision = ground.type is EvidenceType.DECISION
    return ground.ref if decision and _PATH.fullmatch(ground.ref) else ""


def find_stale(
    observations: Sequence[Observation],
    intents: Sequence[FiledIntent],
    histories: Collection[str],
    ages: FileAges,
    at: datetime,
) -> tuple[Observation, ...]:
    """Return what is out of date as observations.

    Their ids are derived from their content, so that each is reported once.
    """
    found = [*_stale_observations(observations, histories, ages), *_stale_intents(intents)]
    return tuple(
        Observation(
            id=derived_id("audit", content),
            content=content,
            evidence=evidence,
            source=Observer.AUDIT,
            intent_id=intent,
            created_at=at,
        )
        for content, evidence, intent in dict.fromkeys(found)
    )


StaleFinding = tuple[str, tuple[Ground, ...], str]


def _stale_observations(
    observations: Sequence[Observation], histories: Collection[str], ages: FileAges
) -> Iterator[StaleFinding]:
    for one in observations:
        if one.source is Observer.AUDIT:
            continue
        for ground in one.evidence:
            if why := _why_stale(one, ground, histories, ages):
                yield f"Out of date: “{one.content[:300]}” {why}.", (ground,), one.intent_id


def _why_stale(one: Observation, ground: Ground, histories: Collection[str], ages: FileAges) -> str:
    path = ground_path(ground)
    if path and path in ages:
        changed = ages[path]
        if changed is None:
            return f"rests on {path}, which is not there any more"
        if ground.type is EvidenceType.DECISION and one.created_at and changed > one.created_at:
            return f"rests on the decision {path}, which has changed since"
    if ground.type is EvidenceType.HISTORY and ground.ref not in histories:
        return f"rests on the history {ground.ref}, which is not there any more"
    return ""


def _stale_intents(intents: Sequence[FiledIntent]) -> Iterator[StaleFinding]:
    known = {filed.intent.id for filed in intents}
    for filed in intents:
        intent = filed.intent
        if intent.parent and intent.parent not in known and _is_open(intent.status):
            yield (
                f"The intent {intent.id} is part of {intent.parent}, which is not there any more.",
                (),
                intent.id,
            )
        if intent.status is IntentStatus.EXECUTING and not filed.session:
            yield (
                f"The intent {intent.id} is said to be executing, and no session carries it out.",
                (),
                intent.id,
            )


def _is_open(status: IntentStatus) -> bool:
    return status not in (IntentStatus.DONE, IntentStatus.REJECTED)
