"""The state of all sessions as plain JSON values for programs. Only reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator

from pydantic import JsonValue, TypeAdapter

from bot.core import overview, snapshot
from bot.core.console import ThreadStanding
from bot.core.errors import PortError, Refused
from bot.core.projections.registry import FiledIntent
from bot.core.session import Session
from bot.core.states import Status
from bot.ports import IndexedSession, Registry, Store
from bot.steps.control import commands
from bot.steps.intents import rules as intents

_OVER = frozenset({Status.COMPLETED, Status.FAILED, Status.DISCARDED})
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
StatusRow = dict[str, JsonValue]
MAX_USAGE_SESSIONS = 200
"""Sessions whose usage is counted. Each is read from disk, which blocks the event loop."""


def status_of(store: Store, about: str, of: str) -> JsonValue:
    """Return the data for `about`:

    "status" (unfinished sessions and what each waits for), "sessions" (all), "usage" (the cost of the latest, finished
    or not), or one whole session by its id `of`.
    """
    match about:
        case "sessions":
            return [_line(one) for one in store.sessions()]
        case "usage":
            return [*_usage_rows(store)]
        case "status":
            return [*_at_work(store)]
        case _:
            return _whole_session(store, of)


async def inbox(
    store: Store,
    registry: Registry | None,
    top: Callable[[str], Awaitable[str]],
    repositories: Iterable[str],
) -> list[StatusRow]:
    """Return what waits for a person: sessions of all chats, and intents of these repositories that no session carries
    out.
    """
    sessions = [line for line in _at_work(store) if line["waits_for"]]
    found: list[StatusRow] = [{"kind": "session", **line} for line in sessions]
    if registry is None:
        return found
    for path in dict.fromkeys(repositories):
        try:
            repository = await top(path)
            shelf = await registry.shelf(repository)
        except PortError as problem:
            found.append(_unreadable_row(path, problem.reason))
            continue
        free = intents.waiting_intents(shelf.intents, lambda filed: _carried_out(store, filed))
        found += [_intent(filed, repository) for filed in free]
        found += [_unreadable_row(repository, problem) for problem in shelf.problems]
    return found


def _carried_out(store: Store, filed: FiledIntent) -> bool:
    record = store.find(filed.session) if filed.session else None
    session = record.session if record else None
    return session is not None and not session.over and intents.carries_out(session, filed)


def _intent(filed: FiledIntent, repository: str) -> StatusRow:
    intent = filed.intent
    return {
        "kind": "intent",
        "id": intent.id,
        "title": intent.title or intent.id,
        "status": intent.status,
        "repository": repository,
        "waits_for": [intents.waiting_reason(intent)],
    }


def _unreadable_row(repository: str, problem: str) -> StatusRow:
    # A file that cannot be read needs a person, too.
    what = {"kind": "problem", "id": "", "title": "Intents that cannot be read"}
    return {**what, "repository": repository, "waits_for": [problem]}


def thread_standing(session: Session) -> ThreadStanding:
    return ThreadStanding(
        session=session.id,
        title=session.title,
        status=session.status,
        phase=session.phase,
        overall=session.ending.result.overall_status if session.ending.result else None,
        waits_for=tuple(commands.waiting_titles(session)),
        trouble=session.control.trouble,
    )


def _whole_session(store: Store, id: str) -> JsonValue:
    record = store.find(id)
    if record is None:
        raise Refused(f"There is no session {id}.", "gwt-bot sessions lists them.")
    session = record.session
    whole = _JSON.validate_python(snapshot.export(session))
    return {**_facts(session), "session": whole}


def _line(one: IndexedSession) -> StatusRow:
    return {
        "id": one.id,
        "title": one.title,
        "status": one.status,
        "phase": one.phase,
        "repository": one.repository,
        "where": one.thread.platform,
        "updated_at": one.updated_at.isoformat(),
    }


def _at_work(store: Store) -> Iterator[StatusRow]:
    for one in store.sessions():
        record = store.find(one.id) if one.status not in _OVER else None
        if record:
            yield {**_line(one), **_facts(record.session)}


def _usage_rows(store: Store) -> Iterator[StatusRow]:
    for one in store.sessions()[:MAX_USAGE_SESSIONS]:
        record = store.find(one.id)
        if record and record.session.usage.calls:
            session = record.session
            yield {
                **_line(one),
                "model_calls": session.usage.calls,
                "model_tokens": session.usage.tokens,
                "agent_runs": sum(len(task.runs) for task in session.tasks),
                "agent_tokens": overview.agents_tokens(session),
            }


def _facts(session: Session) -> StatusRow:
    stands = thread_standing(session)
    counted = Counter(task.state.value for task in session.tasks)
    return {
        "title": session.title,
        "tasks": dict[str, JsonValue](counted),
        "queue_position": session.queue.position,
        "overall": stands.overall,
        "waits_for": [*stands.waits_for, *([stands.trouble] if stands.trouble else [])],
        "model_calls": session.usage.calls,
        "model_tokens": session.usage.tokens,
    }
