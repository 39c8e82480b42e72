"""What the model is told: the request, the repository, the decisions, the documents, the talk. Data, never instructions.

It is cut to what the model can take; what people asked for and decided is never cut.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import cast

from bot.domain.documents import Document
from bot.domain.drafted import drafts_of
from bot.domain.intent import Question
from bot.domain.language import language_of
from bot.domain.session import Session, Speaker
from bot.domain.states import Phase, TaskState
from bot.domain.tasks import Task
from bot.domain.tokens import BYTES_PER_TOKEN, VERBATIM, budget, estimate
from bot.domain.words import Change
from bot.engine.brain.asking import prompt

REPLY = 4_000
"""Tokens that are kept free for the answer, of a small window a quarter."""
SHORTENED = "… (shortened)"
_CUT_FIRST = (
    "source_overview",
    "directory_tree",
    "project_meta",
    "specs_summary",
    "conventions",
)
_SETTLED = (TaskState.COMPLETED, TaskState.CANCELLED, TaskState.REPLACED)
_GONE = (TaskState.CANCELLED, TaskState.REPLACED)


def told(session: Session, name: str, **more: object) -> dict[str, object]:
    """The data of one question, cut to what the model can take beside the prompt of that name."""
    data = {**material(session), **more}
    return fitted(data, room(session, prompt(name)), session.token_scale)


def room(session: Session, system: str) -> int:
    """How many tokens of data go with a system message."""
    most = budget(session.context_window)
    return most - min(REPLY, most // 4) - estimate(system, session.token_scale)


def material(session: Session) -> dict[str, object]:
    """What every question may need. While a change is drafted, its documents are the current ones."""
    documents = written(session)
    return {
        "request": session.intent.body,
        "language": language_of(session.intent.body),
        "title": session.title,
        "spec_id": session.spec.id if session.spec else "",
        "base_branch": session.base_branch,
        "repository": session.scan.model_dump(mode="json") if session.scan else {},
        "decisions": decisions_told(session),
        "open_questions": open_questions(session),
        "change_request": wanted_change(session),
        "previous": former(session),
        "spec": documents.get("spec", ""),
        "plan": documents.get("plan", ""),
        "conversation": [
            {"role": message.role.value, "content": message.content}
            for message in session.conversation
        ],
        # they may not ask for anything: what they said is here to be known, not to be done
        "overheard": [{"by": str(words.by), "said": words.text} for words in session.overheard],
    }


def open_questions(session: Session) -> list[dict[str, object]]:
    return [
        {"id": q.decision, "text": q.text, "options": list(q.options), "default": q.default}
        for q in session.intent.open_questions
    ]


def decisions(session: Session) -> tuple[Question, ...]:
    """As they are; while a change is drafted, with the one that it takes anew."""
    change = live_change(session)
    intent = session.intent
    if change and change.decision:
        intent = intent.with_question(change.decision)
    return intent.clarifications


def decisions_told(session: Session) -> list[dict[str, object]]:
    return [
        {"id": q.decision, "question": q.text, "answer": q.answer}
        for q in decisions(session)
        if q.answer is not None
    ]


def live_change(session: Session) -> Change | None:
    """The change that is made while tasks run."""
    return session.change if session.phase is Phase.EXECUTING else None


def wanted_change(session: Session) -> str:
    change = live_change(session)
    return change.text if change else session.change_request


def former(session: Session) -> dict[str, str]:
    """The documents that are written anew, by their kind."""
    return _texts(session.documents if live_change(session) else session.previous)


def written(session: Session) -> dict[str, str]:
    """The documents so far, by their kind. While a change is drafted, its own."""
    change = live_change(session)
    return _texts(change.documents if change else session.documents)


def kept_tasks(session: Session) -> list[Task]:
    """The tasks that a new tasks.md is written around: all of a running plan; later on what was begun."""
    if live_change(session):
        return list(session.tasks)
    return [task for task in session.tasks if task.runs or task.state in _SETTLED]


def affected_keys(session: Session) -> frozenset[str]:
    """Of the tasks that a live change touches."""
    change = live_change(session)
    ids = {affected.task_id for affected in change.affected} if change else set[str]()
    return frozenset(task.key for task in session.tasks if task.id in ids)


def tasks_now(session: Session) -> list[dict[str, object]]:
    """The kept tasks as the model sees them, with how far they are."""
    kept, affected = kept_tasks(session), affected_keys(session)
    shown = {"key", "title", "description", "acceptance", "files", "depends_on", "requirements"}
    return [
        {
            **draft.model_dump(mode="json", include=shown),
            "state": task.state.value,
            "affected": task.key in affected,
        }
        for task, draft in zip(kept, drafts_of(kept), strict=True)
    ]


def findings(session: Session) -> list[dict[str, object]]:
    """What the analysis found in the last version, while that is mended."""
    change = live_change(session)
    analysis = change.analysis if change else session.analysis if session.repairs else None
    return [finding.model_dump(mode="json") for finding in analysis.findings] if analysis else []


def is_gone(task: Task) -> bool:
    """Nobody will do it any more."""
    return task.state in _GONE


def _texts(documents: Sequence[Document]) -> dict[str, str]:
    return {document.kind.value: document.text for document in documents}


def fitted(data: dict[str, object], tokens: int, scale: float = 1.0) -> dict[str, object]:
    """The same data in at most so many tokens, as far as that goes.

    Shortened are, in this order: what was read of the repository, old talk, the former documents. Never what people
    asked for, decided and said last, nor the tasks and documents as they are now.
    """
    most = int(tokens * BYTES_PER_TOKEN / scale)
    cuts = [partial(_shortened, "repository", field) for field in _CUT_FIRST]
    cuts += [_without_old_talk]
    cuts += [partial(_shortened, "previous", kind) for kind in ("tasks", "plan", "spec")]
    for cut in cuts:
        over = _size(data) - most
        if over <= 0:
            break
        data = cut(data, over)
    return data


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _shortened(name: str, field: str, data: dict[str, object], over: int) -> dict[str, object]:
    holder = cast("dict[str, object]", data.get(name, {}))
    if not holder.get(field):
        return data
    return {**data, name: {**holder, field: _cut(str(holder[field]), over)}}


def _cut(text: str, over: int) -> str:
    """`over` bytes less, if it has so many; never in the middle of a character."""
    raw = text.encode("utf-8", "replace")
    left = max(0, len(raw) - over - len(f"\\n{SHORTENED}".encode()))  # as JSON writes it
    start = raw[:left].decode("utf-8", "ignore").rstrip()
    return f"{start}\n{SHORTENED}" if start else SHORTENED


def _without_old_talk(data: dict[str, object], over: int) -> dict[str, object]:
    """The oldest messages go first. What a summary says of still older ones is the last to be shortened."""
    talk = cast("list[dict[str, str]]", data.get("conversation", []))
    kept: list[dict[str, str]] = []
    for message in talk[:-VERBATIM]:
        if over > 0 and message["role"] != Speaker.SYSTEM.value:
            over -= _size(message)
        else:
            kept.append(message)
    for at, message in enumerate(kept):
        if over > 0:
            short = {**message, "content": _cut(message["content"], over)}
            over -= _size(message) - _size(short)
            kept[at] = short
    return {**data, "conversation": [*kept, *talk[-VERBATIM:]]}
