"""An intent as a file: F's keys, the bot's own behind them, and whatever people add."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from adapters.registry.text import BrokenError, block, line, mapping, moment, stamp, words, written
from bot.domain.intent import Intent, Question, Risk, Source
from bot.domain.registry import Edit, Filed
from bot.domain.states import IntentStatus

LARGEST = 64 * 1024
MOST_QUESTIONS = 50
ENDING = ".yaml"
_TITLE, _BODY, _SHORT = 200, 20_000, 2_000
S = TypeVar("S", Source, IntentStatus)
_ID = re.compile(r"[^\W_][\w.-]{0,99}")


def is_id(name: str) -> bool:
    return bool(_ID.fullmatch(name)) and not name.endswith((".", ENDING))


def read(id: str, content: bytes) -> Filed:
    """BrokenError: it is no intent, and why."""
    data = mapping(content)
    intent = Intent(
        id=id,
        title=line(words(data.get("title"), _TITLE)),
        body=words(data.get("body"), _BODY),
        type=line(words(data.get("type"), 40)),
        source=_one_of(Source, data, "source", Source.HUMAN),
        risk=risk_of(data),
        status=_one_of(IntentStatus, data, "status", IntentStatus.PROPOSED),
        parent=line(words(data.get("parent"), 100)) or None,
        clarifications=tuple(_questions(data.get("clarifications"))),
        created_at=moment(data.get("created_at")),
    )
    if not (intent.title or intent.body.strip()):
        raise BrokenError("it has neither a title nor a body")
    return Filed(
        intent=intent,
        session=line(words(data.get("session"), 100)),
        draft=line(words(data.get("draft"), 100)),
        observations=tuple(line(words(one, 100)) for one in _list(data.get("observations"))[:100]),
    )


def new(filed: Filed) -> bytes:
    intent = filed.intent
    data = CommentedMap(
        title=line(intent.title),
        body=block(intent.body),
        type=intent.type or None,
        source=intent.source.value,
        risk=intent.risk.value if intent.risk else None,
        status=intent.status.value,
        parent=intent.parent,
        created_at=stamp(intent.created_at),
        clarifications=CommentedSeq(_asked(one.text, one.answer) for one in intent.clarifications),
    )
    if filed.session:
        data["session"] = filed.session
    if filed.draft:
        data["draft"] = filed.draft
    if filed.observations:
        data["observations"] = CommentedSeq(filed.observations)
    return written(data)


def change(data: CommentedMap, edit: Edit) -> None:
    """Only what the bot has to say; words of people stay."""
    if edit.status is not None:
        _set(data, "status", edit.status.value)
    if edit.session is not None:
        _set(data, "session", edit.session or None)
    if edit.type and not data.get("type"):
        _set(data, "type", line(edit.type))
    if edit.risk and not data.get("risk"):
        _set(data, "risk", edit.risk.value)
    if edit.answers:
        _answer(data, edit.answers)


def risk_of(data: Mapping[str, object]) -> Risk | None:
    told = words(data.get("risk"), 20).strip().lower()
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
    there = {line(words(e.get("question"), _SHORT)): e for e in asked if isinstance(e, dict)}
    for question, answer in answers.items():
        entry = there.get(line(question))
        if entry is None:
            asked.append(_asked(question, answer))
        elif entry.get("answer") is None and answer is not None:
            entry["answer"] = block(answer)


def _asked(question: str, answer: str | None) -> CommentedMap:
    return CommentedMap(question=line(question), answer=None if answer is None else block(answer))


def _questions(asked: object) -> list[Question]:
    if asked is not None and not isinstance(asked, list):
        raise BrokenError("clarifications is no list of question and answer")
    found: list[Question] = []
    for entry in _list(asked)[:MOST_QUESTIONS]:
        text = line(words(entry.get("question"), _SHORT)) if isinstance(entry, dict) else ""
        if not isinstance(entry, dict) or not text:
            raise BrokenError("clarifications: each needs a question and an answer")
        answer = entry.get("answer")
        said = None if answer is None else words(answer, _SHORT).strip()
        found.append(Question(number=len(found) + 1, text=text, answer=said))
    return found


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _one_of(kind: type[S], data: Mapping[str, object], key: str, default: S) -> S:
    told = words(data.get(key), 40).strip().lower()
    try:
        return kind(told) if told else default
    except ValueError as error:
        raise BrokenError(f"{key} is {told!r}; it can be {', '.join(kind)}") from error
