"""The screens that list: inbox, intents, branches, history and cost, doctor."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import PurePath

from adapters.local.chat import PLATFORM
from adapters.local.page import charts
from adapters.local.page.board import needs_you
from adapters.local.page.frame import Context, PageParts, counted_tasks
from bot.core.choices import Word
from bot.core.errors import PortError
from bot.core.people import Thread
from bot.core.session import Session
from bot.core.sheets import Entries
from bot.core.states import Status
from bot.core.text import sentences

PAGE = Thread(platform=PLATFORM, channel="page", root="")
"""Where commands about no session are given."""
BRANCHES = Thread(platform=PLATFORM, channel="page", root="branches")
"""Where the branches that were looked at are shown."""
MAX_ROWS = 100
MAX_BRANCH_CARDS = 3
WEEKS = 12


async def inbox(parts: PageParts) -> Context:
    entries, problems = await parts.data.waiting_intents(PAGE)
    body = (Entries(items=entries),) if entries else ()
    return {
        "need": needs_you(parts),
        "intents": parts.elements(PAGE, "inbox", body),
        "problems": problems,
    }


async def intents(parts: PageParts) -> Context:
    return await _listed(parts, Word.INTENT, PAGE, "intents")


async def branches(parts: PageParts) -> Context:
    looked_at = parts.chat.cards(BRANCHES)[-MAX_BRANCH_CARDS:]
    listed = await _listed(parts, Word.BRANCHES, BRANCHES, "branches")
    return {**listed, "cards": [parts.card(BRANCHES, card) for card in reversed(looked_at)]}


async def _listed(parts: PageParts, what: Word, thread: Thread, key: str) -> Context:
    try:
        body = await parts.data.listed(what, thread)
    except PortError as problem:
        return {"body": [], "problem": sentences(problem.reason, problem.remedy)}
    return {"body": parts.elements(thread, key, body), "problem": ""}


async def history(parts: PageParts, query: dict[str, str]) -> Context:
    """What it took and cost, by week, person, repository and agent; what was forecast beside what it took."""
    sessions = await parts.data.finished()
    now = parts.data.now()
    spent = spend(sessions, now)
    chosen = [one for one in sessions if _matches(one, query.get("find", ""))]
    return {
        "rows": [_row(one) for one in chosen[:MAX_ROWS]],
        "more": max(0, len(chosen) - MAX_ROWS),
        "find": query.get("find", ""),
        "spend": spent,
        "total": {"sessions": len(sessions), "cost": sum(map(_cost, sessions))},
        "groups": [
            ("By person", _grouped(sessions, lambda one: [str(one.owner)])),
            ("By repository", _grouped(sessions, lambda one: [PurePath(one.repository.path).name])),
            ("By agent", _grouped(sessions, _agents)),
        ],
    }


def doctor(parts: PageParts, query: dict[str, str]) -> Context:
    checks, looking = parts.data.checks(again="again" in query)
    return {"checks": checks, "looking": looking}


# What sessions took and cost.


def spend(sessions: Sequence[Session], now: datetime) -> Context:
    """Return what the last week has cost, and a chart of the weeks before."""
    backwards = range(WEEKS - 1, -1, -1)
    costs = [sum(map(_cost, _in_week(sessions, now, back))) for back in backwards]
    tokens = [sum(one.usage.tokens for one in _in_week(sessions, now, back)) for back in backwards]
    values = costs if any(costs) else [float(one) for one in tokens]
    return {
        "chart": charts.columns(values, name=f"{WEEKS} weeks"),
        "cost": costs[-1],
        "tokens": tokens[-1],
    }


def _matches(session: Session, wanted: str) -> bool:
    words = f"{session.title} {session.owner} {session.repository.path} {session.short}".casefold()
    return all(word in words for word in wanted.casefold().split())


def _in_week(sessions: Iterable[Session], now: datetime, back: int) -> list[Session]:
    """Return the sessions begun in the week that ended so many weeks ago."""
    end = now - timedelta(weeks=back)
    return [one for one in sessions if end - timedelta(weeks=1) < one.created_at <= end]


def _cost(session: Session) -> float:
    return sum(task.usage.cost or 0.0 for task in session.tasks)


def _minutes(session: Session) -> float | None:
    """Return how long a finished session took."""
    if not session.over:
        return None
    return (session.updated_at - session.created_at).total_seconds() / 60


def _agents(session: Session) -> Sequence[str]:
    return sorted({run.agent for task in session.tasks for run in task.runs})


def _row(session: Session) -> Context:
    forecast = session.plan.forecast
    return {
        "id": session.id,
        "title": session.title,
        "at": session.created_at,
        "who": str(session.owner),
        "where": session.thread.platform,
        "repository": PurePath(session.repository.path).name,
        "status": session.status,
        "tone": {Status.COMPLETED: "done", Status.FAILED: "fail"}.get(session.status, ""),
        "tasks": len(counted_tasks(session)),
        "minutes": _minutes(session),
        "forecast": forecast.minutes if forecast else None,
        "cost": _cost(session),
        "tokens": session.usage.tokens,
    }


def _grouped(
    sessions: Iterable[Session], keys: Callable[[Session], Sequence[str]]
) -> list[tuple[str, int, float, int]]:
    """Return each key with its sessions, their cost and tokens, the most expensive first."""
    count, cost, tokens = Counter[str](), defaultdict[str, float](float), Counter[str]()
    for session in sessions:
        for key in keys(session):
            count[key] += 1
            cost[key] += _cost(session)
            tokens[key] += session.usage.tokens
    rows = [(key, count[key], cost[key], tokens[key]) for key in count]
    return sorted(rows, key=lambda row: (-row[2], -row[3]))[:10]
