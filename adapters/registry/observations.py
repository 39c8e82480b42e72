"""`.forge/observations.yaml`: a list to which the bot appends, and in which it marks what reflection has read."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from adapters.registry.text import line, moment, sequence, stamp, words
from bot.domain.observations import (
    LONGEST,
    LONGEST_REF,
    MOST_EVIDENCE,
    EvidenceType,
    Ground,
    Observation,
    Observer,
)

NAME = "observations.yaml"
LARGEST = 128 * 1024
MOST = 500


def read(content: bytes) -> list[Observation]:
    """Those that say something. What else stands there is left alone."""
    found = (_read(entry) for entry in sequence(content)[:MOST])
    return [one for one in found if one is not None]


def append(data: CommentedSeq, new: Iterable[Observation]) -> None:
    """Each once."""
    there = {_id(entry) for entry in data if isinstance(entry, dict)}
    data.extend(_entry(one) for one in new if one.id not in there)


def mark(data: CommentedSeq, ids: Collection[str]) -> None:
    for entry in data:
        if isinstance(entry, dict) and _id(entry) in ids and entry.get("processed") is not True:
            entry["processed"] = True


def _entry(one: Observation) -> CommentedMap:
    evidence = [CommentedMap(type=each.type.value, ref=line(each.ref)) for each in one.evidence]
    return CommentedMap(
        id=one.id,
        content=DoubleQuotedScalarString(line(one.content)),
        evidence=CommentedSeq(evidence),
        source=one.source.value,
        intent_id=line(one.intent_id),
        processed=one.processed,
        created_at=stamp(one.created_at),
    )


def _read(entry: object) -> Observation | None:
    if not isinstance(entry, dict):
        return None
    content = line(words(entry.get("content"), LONGEST))
    if not content:
        return None
    source = words(entry.get("source"), 20)
    evidence = entry.get("evidence")
    return Observation(
        id=_id(entry),
        content=content,
        evidence=tuple(_grounds(evidence if isinstance(evidence, list) else [])),
        source=Observer(source) if source in set(Observer) else Observer.REFLECT,
        intent_id=line(words(entry.get("intent_id"), 100)),
        processed=entry.get("processed") is True,
        created_at=moment(entry.get("created_at")),
    )


def _grounds(entries: list[object]) -> Iterable[Ground]:
    for entry in entries[:MOST_EVIDENCE]:
        if not isinstance(entry, dict):
            continue
        type, ref = words(entry.get("type"), 20), line(words(entry.get("ref"), LONGEST_REF))
        if ref and type in set(EvidenceType):
            yield Ground(type=EvidenceType(type), ref=ref)


def _id(entry: Mapping[str, object]) -> str:
    """Its own; what people and other tools wrote is known by what it says."""
    own = line(words(entry.get("id"), 100))
    told = f"{words(entry.get('content'), LONGEST)}\n{words(entry.get('created_at'), 100)}"
    return own or hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]
