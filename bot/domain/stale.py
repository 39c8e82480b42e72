"""What is known of a repository and true no longer: seen from the files it rests on. Nobody is asked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from bot.domain.naming import derived_id
from bot.domain.observations import EvidenceType, Ground, Observation, Observer
from bot.domain.registry import Filed
from bot.domain.states import IntentStatus

_PATH = re.compile(r"[^\s`'\"(),:;]*/?[^\s`'\"(),:;/]+\.[A-Za-z0-9]{1,8}")
Ages = Mapping[str, datetime | None]
"""When each file was changed last; None: it is not there."""


def files_named(observations: Sequence[Observation]) -> tuple[str, ...]:
    """What must be looked at to tell."""
    found = (path for one in observations for ground in one.evidence if (path := path_of(ground)))
    return tuple(dict.fromkeys(found))


def path_of(ground: Ground) -> str:
    """The file that a ground names; empty: it names something else."""
    if ground.type in (EvidenceType.FILE, EvidenceType.SKILL):
        return ground.ref
    decision = ground.type is EvidenceType.DECISION
    return ground.ref if decision and _PATH.fullmatch(ground.ref) else ""


def stale(
    observations: Sequence[Observation],
    intents: Sequence[Filed],
    histories: Collection[str],
    ages: Ages,
    at: datetime,
) -> tuple[Observation, ...]:
    """As observations of their own. Their ids follow from what they say, so that the same is told once."""
    found = [*_of_observations(observations, histories, ages), *_of_intents(intents)]
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


Found = tuple[str, tuple[Ground, ...], str]


def _of_observations(
    observations: Sequence[Observation], histories: Collection[str], ages: Ages
) -> Iterator[Found]:
    for one in observations:
        if one.source is Observer.AUDIT:
            continue
        for ground in one.evidence:
            if why := _why(one, ground, histories, ages):
                yield f"Out of date: “{one.content[:300]}” {why}.", (ground,), one.intent_id


def _why(one: Observation, ground: Ground, histories: Collection[str], ages: Ages) -> str:
    path = path_of(ground)
    if path and path in ages:
        changed = ages[path]
        if changed is None:
            return f"rests on {path}, which is not there any more"
        if ground.type is EvidenceType.DECISION and one.created_at and changed > one.created_at:
            return f"rests on the decision {path}, which has changed since"
    if ground.type is EvidenceType.HISTORY and ground.ref not in histories:
        return f"rests on the history {ground.ref}, which is not there any more"
    return ""


def _of_intents(intents: Sequence[Filed]) -> Iterator[Found]:
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
