"""Approvals, bound to a plan by a digest: changing one byte of the plan voids them.

Also the forecast that is shown with a plan.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from bot.core.events import Said
from bot.core.plan import Document, Forecast, Spread
from bot.core.session import Session
from bot.core.states import Phase, Status, TaskState
from bot.core.talk import Change, ChangeStage

APPROVAL_KEY = "approval"
"""Prefix of the keys of all cards on which a plan or a change of it can be approved."""
VALID_FOR = timedelta(hours=24)


def digest(session: Session) -> str:
    """Return the sha256 over the documents, the base commit, the set-up and test commands, and each task's agent and
    flags.
    """
    agents = [(task.key, task.agent) for task in session.tasks]
    return _digest(session, session.plan.documents, agents)


def digest_of_change(session: Session, change: Change) -> str:
    """Return the same digest for the plan as the change would make it."""
    agents = [(draft.key, draft.agent) for draft in change.drafts]
    return _digest(session, change.documents, agents)


def _digest(
    session: Session, documents: Iterable[Document], agents: Iterable[tuple[str, str]]
) -> str:
    bound: dict[str, object] = {
        "documents": {document.kind.value: document.sha256 for document in documents},
        "base": session.repository.base_commit,
        "agents": [
            [key, agent or session.agents.default, session.agents.flags] for key, agent in agents
        ],
    }
    if session.tests.command:
        bound["tests"] = session.tests.command
    if session.repository.set_up:
        bound["set_up"] = session.repository.set_up
    return sha256(json.dumps(bound, sort_keys=True, separators=(",", ":")))


def is_complete(session: Session) -> bool:
    """Whether all required approvals are given; only the base is still being checked."""
    return (
        session.approval.checking_base and len(session.approval.given) >= session.approval.required
    )


def offer(session: Session) -> str:
    """Return what an approve button refers to: this plan as last shown. Showing it again makes a new offer."""
    return _offer_id(digest(session), session.plan.shown_at)


def offer_of_change(session: Session, change: Change) -> str:
    return _offer_id(digest_of_change(session, change), change.shown_at)


def open_offer(session: Session) -> str:
    """Return the offer that can be approved now, or an empty string."""
    change = session.change
    if session.phase is Phase.EXECUTING:
        awaits = change is not None and change.stage is ChangeStage.AWAITING
        return offer_of_change(session, change) if change and awaits else ""
    return offer(session) if session.phase is Phase.APPROVING else ""


def is_before_offer(event: Said, offered: str) -> bool:
    """Whether a message was written before its author could have read the offer: it was heard earlier, or stands above
    the card.
    """
    before_card = any(key.startswith(f"{APPROVAL_KEY}:") for key in event.unseen)
    return before_card or event.offered not in (None, offered)


def _offer_id(digest: str, since: datetime | None) -> str:
    return f"{digest}:{int(since.timestamp()) if since else 0}"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# A forecast from the recorded figures of finished sessions, not a guess of the model.

ENOUGH_SESSIONS = 5
"""With at least this many sessions, the lowest and the highest tenth are left out."""


def forecast(sessions: Sequence[Session]) -> Forecast:
    """Return a forecast from those of these sessions that completed a task.

    The caller chooses which sessions are comparable.
    """
    done = [
        session
        for session in sessions
        if session.status is Status.COMPLETED and session.in_state(TaskState.COMPLETED)
    ]
    return Forecast(
        sessions=len(done),
        tasks=_spread(done, lambda one: float(len(one.in_state(TaskState.COMPLETED)))),
        parallelism=_spread(done, lambda one: float(one.plan.parallelism)),
        minutes=_spread(done, _minutes),
        tokens=_spread(done, lambda one: float(one.usage.tokens) or None),
    )


def _minutes(session: Session) -> float | None:
    # From the approval to the end of the last task. Without an approval, from the first start.
    completed = session.in_state(TaskState.COMPLETED)
    starts = [task.started_at for task in session.tasks if task.started_at]
    start = session.approval.granted.at if session.approval.granted else min(starts, default=None)
    end = max((task.completed_at for task in completed if task.completed_at), default=None)
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds() / 60


def _spread(
    sessions: Iterable[Session], figure: Callable[[Session], float | None]
) -> Spread | None:
    """Return median and range, or `None` if no session has the figure."""
    values = sorted(found for one in sessions if (found := figure(one)) is not None)
    if not values:
        return None
    edge = 0.1 if len(values) >= ENOUGH_SESSIONS else 0.0
    return Spread(
        median=_quantile(values, 0.5), low=_quantile(values, edge), high=_quantile(values, 1 - edge)
    )


def _quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile, interpolated linearly."""
    place = share * (len(values) - 1)
    below = int(place)
    if below + 1 == len(values):
        return values[below]
    return values[below] + (values[below + 1] - values[below]) * (place - below)
