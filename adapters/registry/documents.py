"""Reads and writes the documents of the registry: intents, drafts, observations, histories.

Keys and comments added by people are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from adapters.registry.yaml_text import (
    BrokenError,
    decode_text,
    new_document,
    one_line,
    read_mapping,
    read_sequence,
    read_time,
    scalar_text,
    text_block,
    time_text,
)
from bot.core.intent import Intent, Question, Risk, Source
from bot.core.projections.records import History, StepResult
from bot.core.projections.registry import (
    LONGEST_OBSERVATION,
    LONGEST_REF,
    MOST_EVIDENCE,
    EvidenceType,
    FiledIntent,
    Ground,
    IntentDraft,
    IntentEdit,
    Observation,
    Observer,
)
from bot.core.states import IntentStatus

# An intent: the keys of F's format, then the bot's own, and whatever people add.

MAX_INTENT_BYTES = 64 * 1024
MOST_QUESTIONS = 50
INTENT_ENDING = ".yaml"
_TITLE, _BODY, _SHORT = 200, 20_000, 2_000
S = TypeVar("S", Source, IntentStatus)
_ID = re.compile(r"[^\W_][\w.-]{0,99}")


def is_intent_id(name: str) -> bool:
    return bool(_ID.fullmatch(name)) and not name.endswith((".", INTENT_ENDING))


def read_intent(id: str, content: bytes) -> FiledIntent:
    """Parse an intent; raise BrokenError with the reason if it is not one."""
    data = read_mapping(content)
    intent = Intent(
        id=id,
        title=one_line(scalar_text(data.get("title"), _TITLE)),
        body=scalar_text(data.get("body"), _BODY),
        type=one_line(scalar_text(data.get("type"), 40)),
        source=_one_of(Source, data, "source", Source.HUMAN),
        risk=risk_of(data),
        status=_one_of(IntentStatus, data, "status", IntentStatus.PROPOSED),
        parent=one_line(scalar_text(data.get("parent"), 100)) or None,
        clarifications=tuple(_questions(data.get("clarifications"))),
        created_at=read_time(data.get("created_at")),
    )
    if not (intent.title or intent.body.strip()):
        raise BrokenError("it has neither a title nor a body")
    return FiledIntent(
        intent=intent,
        session=one_line(scalar_text(data.get("session"), 100)),
        draft=one_line(scalar_text(data.get("draft"), 100)),
        observations=tuple(
            one_line(scalar_text(one, 100)) for one in _list(data.get("observations"))[:100]
        ),
    )


def new_intent(filed: FiledIntent) -> bytes:
    intent = filed.intent
    data = CommentedMap(
        title=one_line(intent.title),
        body=text_block(intent.body),
        type=intent.type or None,
        source=intent.source.value,
        risk=intent.risk.value if intent.risk else None,
        status=intent.status.value,
        parent=intent.parent,
        created_at=time_text(intent.created_at),
        clarifications=CommentedSeq(_asked(one.text, one.answer) for one in intent.clarifications),
    )
    if filed.session:
        data["session"] = filed.session
    if filed.draft:
        data["draft"] = filed.draft
    if filed.observations:
        data["observations"] = CommentedSeq(filed.observations)
    return new_document(data)


def change_intent(data: CommentedMap, edit: IntentEdit) -> None:
    # Only the bot's own fields are changed; text of people stays.
    if edit.status is not None:
        _set(data, "status", edit.status.value)
    if edit.session is not None:
        _set(data, "session", edit.session or None)
    if edit.type and not data.get("type"):
        _set(data, "type", one_line(edit.type))
    if edit.risk and not data.get("risk"):
        _set(data, "risk", edit.risk.value)
    if edit.answers:
        _answer(data, edit.answers)


def risk_of(data: Mapping[str, object]) -> Risk | None:
    told = scalar_text(data.get("risk"), 20).strip().lower()
    if not told:
        return None
    try:
        return Risk("med" if told == "medium" else told)
    except ValueError as error:
        raise BrokenError(f"risk is {told!r}; it can be low, med or high") from error


def _set(data: CommentedMap, key: str, value: object) -> None:
    if data.get(key) != value:
        data[key] = value


def _answer(data: CommentedMap, answers: Mapping[str, str | None]) -> None:
    asked = data.get("clarifications")
    if not isinstance(asked, list):
        asked = data["clarifications"] = CommentedSeq()
    there = {
        one_line(scalar_text(e.get("question"), _SHORT)): e for e in asked if isinstance(e, dict)
    }
    for question, answer in answers.items():
        entry = there.get(one_line(question))
        if entry is None:
            asked.append(_asked(question, answer))
        elif entry.get("answer") is None and answer is not None:
            entry["answer"] = text_block(answer)


def _asked(question: str, answer: str | None) -> CommentedMap:
    return CommentedMap(
        question=one_line(question), answer=None if answer is None else text_block(answer)
    )


def _questions(asked: object) -> list[Question]:
    if asked is not None and not isinstance(asked, list):
        raise BrokenError("clarifications is no list of question and answer")
    found: list[Question] = []
    for entry in _list(asked)[:MOST_QUESTIONS]:
        text = (
            one_line(scalar_text(entry.get("question"), _SHORT)) if isinstance(entry, dict) else ""
        )
        if not isinstance(entry, dict) or not text:
            raise BrokenError("clarifications: each needs a question and an answer")
        answer = entry.get("answer")
        said = None if answer is None else scalar_text(answer, _SHORT).strip()
        found.append(Question(number=len(found) + 1, text=text, answer=said))
    return found


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _one_of(kind: type[S], data: Mapping[str, object], key: str, default: S) -> S:
    told = scalar_text(data.get(key), 40).strip().lower()
    try:
        return kind(told) if told else default
    except ValueError as error:
        raise BrokenError(f"{key} is {told!r}; it can be {', '.join(kind)}") from error


# A draft: Markdown somebody wrote, optionally with YAML front matter between two lines of dashes.

MAX_DRAFT_BYTES = 64 * 1024
DRAFT_ENDING = ".md"
MAX_TITLE_LENGTH = 120
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^[#>*\-\s]+")


def read_draft(name: str, content: bytes) -> IntentDraft:
    """Parse a draft; raise BrokenError with the reason if it cannot become an intent."""
    text = decode_text(content)
    front = _FRONT.match(text)
    told = read_mapping(front[1].encode()) if front and front[1].strip() else {}
    body = (text[front.end() :] if front else text).strip()
    title = one_line(scalar_text(told.get("title"), MAX_TITLE_LENGTH)) or _first_line(body)
    if not title:
        raise BrokenError("it says nothing")
    return IntentDraft(
        name=name,
        digest=draft_digest(content),
        title=title,
        body=body or title,
        type=one_line(scalar_text(told.get("type"), 40)),
        risk=risk_of(told),
        created_at=read_time(told.get("created_at")),
    )


def draft_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _first_line(body: str) -> str:
    for one in body.splitlines():
        if text := one_line(_MARK.sub("", one)):
            return text[:MAX_TITLE_LENGTH].rstrip()
    return ""


# `.forge/observations.yaml`: a list to which the bot appends, and in which it marks what a reflection has read.

OBSERVATIONS_FILE = "observations.yaml"
LARGEST_OBSERVATIONS = 128 * 1024
MAX_OBSERVATIONS = 500


def read_observations(content: bytes) -> list[Observation]:
    """Return the entries with a text. Other entries are ignored."""
    found = (_read_observation(entry) for entry in read_sequence(content)[:MAX_OBSERVATIONS])
    return [one for one in found if one is not None]


def append_observations(data: CommentedSeq, new: Iterable[Observation]) -> None:
    """Append the new observations; one that is already there is not added again."""
    there = {_observation_id(entry) for entry in data if isinstance(entry, dict)}
    data.extend(_observation_entry(one) for one in new if one.id not in there)


def mark_observations(data: CommentedSeq, ids: Collection[str]) -> None:
    for entry in data:
        if (
            isinstance(entry, dict)
            and _observation_id(entry) in ids
            and entry.get("processed") is not True
        ):
            entry["processed"] = True


def _observation_entry(one: Observation) -> CommentedMap:
    evidence = [CommentedMap(type=each.type.value, ref=one_line(each.ref)) for each in one.evidence]
    return CommentedMap(
        id=one.id,
        content=DoubleQuotedScalarString(one_line(one.content)),
        evidence=CommentedSeq(evidence),
        source=one.source.value,
        intent_id=one_line(one.intent_id),
        processed=one.processed,
        created_at=time_text(one.created_at),
    )


def _read_observation(entry: object) -> Observation | None:
    if not isinstance(entry, dict):
        return None
    content = one_line(scalar_text(entry.get("content"), LONGEST_OBSERVATION))
    if not content:
        return None
    source = scalar_text(entry.get("source"), 20)
    evidence = entry.get("evidence")
    return Observation(
        id=_observation_id(entry),
        content=content,
        evidence=tuple(_grounds(evidence if isinstance(evidence, list) else [])),
        source=Observer(source) if source in set(Observer) else Observer.REFLECT,
        intent_id=one_line(scalar_text(entry.get("intent_id"), 100)),
        processed=entry.get("processed") is True,
        created_at=read_time(entry.get("created_at")),
    )


def _grounds(entries: list[object]) -> Iterable[Ground]:
    for entry in entries[:MOST_EVIDENCE]:
        if not isinstance(entry, dict):
            continue
        type, ref = (
            scalar_text(entry.get("type"), 20),
            one_line(scalar_text(entry.get("ref"), LONGEST_REF)),
        )
        if ref and type in set(EvidenceType):
            yield Ground(type=EvidenceType(type), ref=ref)


def _observation_id(entry: Mapping[str, object]) -> str:
    # Entries of people and other tools may have no id, so a digest of their content is used.
    own = one_line(scalar_text(entry.get("id"), 100))
    told = f"{scalar_text(entry.get('content'), LONGEST_OBSERVATION)}\n{scalar_text(entry.get('created_at'), 100)}"
    return own or hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


# Histories: one file per ended session, below `.forge/knowledge/history`.

MAX_HISTORY_BYTES = 256 * 1024
MOST_HISTORIES = 5_000
HISTORY_ENDING = ".yaml"


def new_history(history: History) -> bytes:
    return new_document(_history_entry(history))


def change_history(data: CommentedMap, history: History) -> None:
    """Update the history of a session that has continued and ended again; what people added stays."""
    for key, value in _history_entry(history).items():
        if data.get(key) != value:
            data[key] = value


def _history_entry(history: History) -> CommentedMap:
    return CommentedMap(
        intent_id=history.intent_id,
        intent_type=one_line(history.intent_type),
        intent_risk=history.intent_risk or None,
        title=one_line(history.title),
        flow=CommentedSeq(one_line(step) for step in history.flow),
        step_results=CommentedSeq(_step_entry(step) for step in history.step_results),
        outcome=history.outcome.value,
        failure_reason=text_block(history.failure_reason) or None,
        observations=CommentedSeq(history.observations),
        created_at=time_text(history.created_at),
    )


def _step_entry(step: StepResult) -> CommentedMap:
    return CommentedMap(
        step=one_line(step.step),
        result=one_line(step.result),
        started_at=time_text(step.started_at),
        seconds=step.seconds,
    )
