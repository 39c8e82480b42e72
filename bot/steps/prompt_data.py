"""What the model is told of a session: the request, the repository, decisions, documents, tasks and messages.

It is cut to the model's context window, but never what users asked for and decided.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, cast

from pydantic import AfterValidator

from bot.core.diffs import shorten_patch
from bot.core.errors import Refused
from bot.core.evidence import Check
from bot.core.git import Scan
from bot.core.intent import Question
from bot.core.languages import language_of
from bot.core.llm import BYTES_PER_TOKEN, SHORTENED, context_tokens, estimate_tokens, token_budget
from bot.core.people import Thread
from bot.core.plan import Document, DocumentKind
from bot.core.session import KEPT_VERBATIM, Message, Session, Speaker
from bot.core.states import Phase, Status, TaskState
from bot.core.talk import Change, Words
from bot.core.task import Task, Workspace, drafts_of
from bot.core.text import cut
from bot.core.world import World
from bot.steps.asking import system_message

# The data of the large questions: planning, and reading what users wrote.

REPLY_TOKENS = 4_000
"""Tokens reserved for the reply, but at most a quarter of the window."""
_CUT_FIRST = (
    "source_overview",
    "directory_tree",
    "project_meta",
    "specs_summary",
    "context",
    "conventions",
)
_OVERVIEW = 4
"""How many of them describe the repository as a whole."""
_SETTLED = (TaskState.COMPLETED, TaskState.CANCELLED, TaskState.REPLACED)
_NEVER_DONE = (TaskState.CANCELLED, TaskState.REPLACED)


def question_data(
    session: Session, name: str, *, looks: bool = False, **more: object
) -> dict[str, object]:
    """Return the data of one question, cut to what fits beside the prompt of that name.

    `looks`: the overview of the repository makes room for what the model looks at by itself.
    """
    data = {**session_material(session), **more}
    room = data_token_budget(session, system_message(name, looks=looks))
    kept = context_tokens(session.llm.context_window) if looks else 0
    return fit_to_tokens(data, room, session.llm.token_scale, kept=kept)


def data_token_budget(session: Session, system: str) -> int:
    """Return how many tokens of data fit beside a system message."""
    most = token_budget(session.llm.context_window)
    return most - min(REPLY_TOKENS, most // 4) - estimate_tokens(system, session.llm.token_scale)


def session_material(session: Session) -> dict[str, object]:
    """Return the data that any question may need. While a change is drafted, its documents are the current ones."""
    documents = current_documents(session)
    return {
        "request": session.intent.body,
        "language": language_of(session.intent.body),
        "title": session.title,
        "spec_id": session.plan.spec.id if session.plan.spec else "",
        "base_branch": session.repository.base_branch,
        "repository": repository_data(session.repository.scan) if session.repository.scan else {},
        "decisions": decisions_data(session),
        "open_questions": open_questions(session),
        "change_request": change_request(session),
        "previous": former_documents(session),
        "spec": documents.get("spec", ""),
        "plan": documents.get("plan", ""),
        "conversation": [
            {"role": message.role.value, "content": message.content}
            for message in session.conversation
        ],
        # their authors may not ask for anything: it is context, not instructions
        "overheard": [
            {"by": str(words.by), "said": words.text} for words in session.talk.overheard
        ],
    }


def repository_data(scan: Scan) -> dict[str, object]:
    """Return what was read of the repository, with only the text of the context."""
    return {
        **scan.model_dump(mode="json", exclude={"context"}),
        "context": scan.context.text if scan.context else "",
    }


def open_questions(session: Session) -> list[dict[str, object]]:
    return [
        {"id": q.decision, "text": q.text, "options": list(q.options), "default": q.default}
        for q in session.intent.open_questions
    ]


def decisions(session: Session) -> tuple[Question, ...]:
    """Return the decisions; while a change is drafted, with the one that it changes."""
    change = pending_change(session)
    intent = session.intent
    if change and change.decision:
        intent = intent.with_question(change.decision)
    return intent.clarifications


def decisions_data(session: Session) -> list[dict[str, object]]:
    return [
        {"id": q.decision, "question": q.text, "answer": q.answer}
        for q in decisions(session)
        if q.answer is not None
    ]


def pending_change(session: Session) -> Change | None:
    """Return the change that is made while tasks run, if any."""
    return session.change if session.phase is Phase.EXECUTING else None


def change_request(session: Session) -> str:
    change = pending_change(session)
    return change.text if change else session.plan.change_request


def former_documents(session: Session) -> dict[str, str]:
    """Return the documents of the revision being replaced, by kind."""
    return _texts(
        session.plan.documents if pending_change(session) else session.plan.previous_documents
    )


def current_documents(session: Session) -> dict[str, str]:
    """Return the current documents by kind; while a change is drafted, its own."""
    change = pending_change(session)
    return _texts(change.documents if change else session.plan.documents)


def kept_tasks(session: Session) -> list[Task]:
    """Return the tasks that a new tasks.md must keep: all tasks of a running plan; otherwise those that have begun."""
    if pending_change(session):
        return list(session.tasks)
    return [task for task in session.tasks if task.runs or task.state in _SETTLED]


def affected_keys(session: Session) -> frozenset[str]:
    """Return the keys of the tasks that a pending change touches."""
    change = pending_change(session)
    ids = {affected.task_id for affected in change.affected} if change else set[str]()
    return frozenset(task.key for task in session.tasks if task.id in ids)


def tasks_now(session: Session) -> list[dict[str, object]]:
    """Return the kept tasks for the model, with their states."""
    kept, affected = kept_tasks(session), affected_keys(session)
    shown = {
        "key",
        "title",
        "description",
        "acceptance",
        "files",
        "read_first",
        "depends_on",
        "requirements",
    }
    return [
        {
            **draft.model_dump(mode="json", include=shown),
            "state": task.state.value,
            "affected": task.key in affected,
        }
        for task, draft in zip(kept, drafts_of(kept), strict=True)
    ]


def findings(session: Session) -> list[dict[str, object]]:
    """Return the analysis's findings about the last version, while they are repaired."""
    change = pending_change(session)
    analysis = (
        change.analysis if change else session.plan.analysis if session.plan.repairs else None
    )
    return [finding.model_dump(mode="json") for finding in analysis.findings] if analysis else []


def is_never_done(task: Task) -> bool:
    return task.state in _NEVER_DONE


def _texts(documents: Sequence[Document]) -> dict[str, str]:
    return {document.kind.value: document.text for document in documents}


def fit_to_tokens(
    data: dict[str, object], tokens: int, scale: float = 1.0, kept: int = 0
) -> dict[str, object]:
    """Return the data shortened to at most that many tokens, if possible.

    `kept`: so many of them stay free if shortening the overview of the repository is enough for that.

    Shortened in this order: what was read of the repository, old messages, former documents. Never shortened: what
    users asked for, decided and wrote last, and the current tasks and documents.
    """
    most = int(tokens * BYTES_PER_TOKEN / scale)
    for field in _CUT_FIRST[:_OVERVIEW]:
        if (over := _size(data) - most + int(kept * BYTES_PER_TOKEN / scale)) > 0:
            data = _shortened("repository", field, data, over)
    cuts = [partial(_shortened, "repository", field) for field in _CUT_FIRST[_OVERVIEW:]]
    cuts += [_without_old_talk]
    cuts += [partial(_shortened, "previous", kind) for kind in ("tasks", "plan", "spec")]
    for shorten in cuts:
        over = _size(data) - most
        if over <= 0:
            break
        data = shorten(data, over)
    return data


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _shortened(name: str, field: str, data: dict[str, object], over: int) -> dict[str, object]:
    holder = cast("dict[str, object]", data.get(name, {}))
    if not holder.get(field):
        return data
    return {**data, name: {**holder, field: _cut(str(holder[field]), over)}}


def _cut(text: str, over: int) -> str:
    """Cut `over` bytes off a text, never within a character."""
    raw = text.encode("utf-8", "replace")
    left = max(0, len(raw) - over - len(f"\\n{SHORTENED}".encode()))  # counted as escaped in JSON
    start = raw[:left].decode("utf-8", "ignore").rstrip()
    return f"{start}\n{SHORTENED}" if start else SHORTENED


def _without_old_talk(data: dict[str, object], over: int) -> dict[str, object]:
    """Drop the oldest messages first. The summary of even older ones is shortened last."""
    talk = cast("list[dict[str, str]]", data.get("conversation", []))
    kept: list[dict[str, str]] = []
    dropped = 0
    for message in talk[:-KEPT_VERBATIM]:
        if over > 0 and message["role"] != Speaker.SYSTEM.value:
            # the first one also makes room for saying so
            over -= _size(message) - (0 if dropped else len('"conversation_left_out": 1000, '))
            dropped += 1
        else:
            kept.append(message)
    for at, message in enumerate(kept):
        if over > 0:
            short = {**message, "content": _cut(message["content"], over)}
            over -= _size(message) - _size(short)
            kept[at] = short
    told = {"conversation_left_out": dropped} if dropped else {}
    return {**data, **told, "conversation": [*kept, *talk[-KEPT_VERBATIM:]]}


# The data of the small questions: a session's state in brief. Long texts are shortened, but never what was asked for
# and decided.

MOST_TOKENS = 24_000
"""Tokens of such a question."""
LAST_MESSAGES = 12
"""The last messages, which show what a new one refers to."""
LONGEST_REPLY = 3000
"""Characters. Nobody reads a longer reply in a chat, and some chats refuse one."""
LONGEST_SENTENCE = 600
LONGEST_LINE = 200
LONGEST_DIFF = 100_000
"""Characters of a patch that are read; the model is shown much less."""


def common_data(session: Session, said: str = "") -> dict[str, object]:
    """Return the data that every question begins with. `said` determines the language if the request does not."""
    return {
        "request": session.intent.body,
        "title": session.title,
        "language": language_of(session.intent.body) or language_of(said),
        "decisions": decisions_data(session),
    }


def waiting_words(session: Session, words_id: str) -> Words:
    """Return the message with this id. Raises Refused if it no longer waits to be judged."""
    found = next((words for words in session.talk.waiting if words.id == words_id), None)
    if found is None:
        raise Refused("what was said no longer waits to be judged")
    return found


def task_states(tasks: Iterable[Task]) -> list[dict[str, object]]:
    """Return each task in brief with its progress."""
    return [_state(task) for task in tasks]


def _state(task: Task) -> dict[str, object]:
    known: dict[str, object] = {
        "blocked_because": task.blocked,
        "branch": task.workspace.branch if task.workspace and task.workspace.ready else "",
        "commits": len(task.commits),
        "runs": len(task.runs),
        "last_check": check_data(task.check) if task.check else None,
    }
    told = {name: value for name, value in known.items() if value}
    return {"key": task.key, "name": task.name, "state": task.state.value, **told}


def task_plans(session: Session, tasks: Iterable[Task], tokens: int) -> list[dict[str, object]]:
    """Return each task with its description; all share this many tokens."""
    chosen = list(tasks)
    keys = {task.id: task.key for task in session.tasks}
    share = tokens // max(1, len(chosen))
    return [
        {
            "key": task.key,
            "name": task.name,
            "description": shortened(task.description, share),
            "state": task.state.value,
            "acceptance": [acceptance.text for acceptance in task.acceptance],
            "files": list(task.files),
            "depends_on": [keys[id] for id in task.dependencies if id in keys],
        }
        for task in chosen
    ]


def check_data(check: Check) -> dict[str, object]:
    """Return a check's data.

    `result` is exactly "passed" if it passed, because it is compared; what the check proves is in `proof`.
    """
    told = {"command": check.command, "commit": check.commit[:12]}
    if not check.passed:
        return {**told, "result": check.result}
    proof = {"proof": check.result} if check.result != "passed" else {}
    return {**told, "result": "passed", **proof}


def document_excerpts(session: Session, tokens: int) -> dict[str, str]:
    """Return spec and plan, each cut to this many tokens."""
    written = {kind: session.plan.document(kind) for kind in (DocumentKind.SPEC, DocumentKind.PLAN)}
    return {kind.value: shortened(one.text, tokens) for kind, one in written.items() if one}


def document_text(session: Session, kind: DocumentKind) -> str:
    document = session.plan.document(kind)
    return document.text if document else ""


def finished_sessions(
    world: World, session: Session, wanted: Callable[[Thread], bool] = lambda thread: True
) -> Iterator[Session]:
    """Yield completed sessions of the same repository, newest first. Each is read from disk only when needed."""
    for listed in world.store.sessions():
        if listed.id == session.id or listed.repository != session.repository.path:
            continue
        if listed.status != Status.COMPLETED or not wanted(listed.thread):
            continue
        record = world.store.find(listed.id)
        if record:
            yield record.session


def message_data(messages: Iterable[Message], tokens: int) -> list[dict[str, object]]:
    """Return messages that share this many tokens."""
    chosen = list(messages)
    share = tokens // max(1, len(chosen))
    return [
        {"role": message.role.value, "content": shortened(message.content, share)}
        for message in chosen
    ]


def token_share(session: Session, part: int) -> int:
    """Return one `part`-th of the tokens that a small question may use, whatever the model's window."""
    return int(
        min(MOST_TOKENS, token_budget(session.llm.context_window)) / part / session.llm.token_scale
    )


def shortened(text: str, tokens: int) -> str:
    """Return the beginning of a text within this many tokens, never cutting a character."""
    whole = text.encode("utf-8", "replace")
    most = max(0, tokens) * BYTES_PER_TOKEN
    if len(whole) <= most:
        return text
    return whole[:most].decode("utf-8", "ignore") + SHORTENED


def _short_reply(text: str) -> str:
    return cut(text, LONGEST_REPLY)


def _short_sentence(text: str) -> str:
    return cut(text, LONGEST_SENTENCE)


def _short_line(text: str) -> str:
    return cut(" ".join(text.split()), LONGEST_LINE)


ReplyText = Annotated[str, AfterValidator(_short_reply)]
"""A longer text for people."""
Sentence = Annotated[str, AfterValidator(_short_sentence)]
"""A sentence or two; longer replies are cut."""
ShortLine = Annotated[str, AfterValidator(_short_line)]
"""A name or a choice, for buttons, lists and titles."""


# The data of one task and of what it changed.


def task_data(session: Session, task: Task) -> dict[str, object]:
    told = task_plans(session, [task], token_share(session, 6))[0]
    return told | {"type": task.type.value, "requirements": list(task.requirements)}


async def masked_diff(world: World, workspace: Workspace, *until: str) -> str:
    """Return the diff of a worktree up to a commit or to the current state.

    Secrets are masked before it is cut, because half a key would not be recognised.
    """
    diff = await world.worktrees.diff(workspace.path, workspace.start, LONGEST_DIFF, *until)
    return world.masker.mask(diff)


def diff_excerpt(session: Session, diff: str) -> str:
    """Return the patch shortened to a third of the question's tokens, counted in bytes."""
    most = token_share(session, 3) * BYTES_PER_TOKEN
    size = len(diff.encode("utf-8", "replace"))
    if size <= most:
        return diff
    return shorten_patch(diff, most * len(diff) // size - len(SHORTENED)) + SHORTENED
