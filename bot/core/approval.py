"""What an approval is bound to, by digest: change one byte of it and the approval is worth nothing.

Beside it, the forecast that is shown with a plan.
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

KEY = "approval"
"""With this the keys of all cards begin on which a plan or a change to it can be approved."""
VALID_FOR = timedelta(hours=24)


def digest(session: Session) -> str:
    """sha256 over the documents, the base commit, what sets worktrees up and runs the tests, and agent and flags of every task."""
    agents = [(task.key, task.agent) for task in session.tasks]
    return _digest(session, session.plan.documents, agents)


def digest_of_change(session: Session, change: Change) -> str:
    """The same over the plan as a change would have it."""
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
    """All who must approve have done so; it is only being looked at where the base stands now."""
    return (
        session.approval.checking_base and len(session.approval.given) >= session.approval.required
    )


def offer(session: Session) -> str:
    """What a button to approve is about: this plan, as it was shown last. Shown afresh, it is another offer."""
    return _shown(digest(session), session.plan.shown_at)


def offer_of_change(session: Session, change: Change) -> str:
    return _shown(digest_of_change(session, change), change.shown_at)


def open_offer(session: Session) -> str:
    """What could be approved just now; empty: nothing."""
    change = session.change
    if session.phase is Phase.EXECUTING:
        awaits = change is not None and change.stage is ChangeStage.AWAITING
        return offer_of_change(session, change) if change and awaits else ""
    return offer(session) if session.phase is Phase.APPROVING else ""


def is_early(event: Said, offered: str) -> bool:
    """Whether it was said before people could read what is offered: it was heard before that was open, or stands before the card."""
    before_card = any(key.startswith(f"{KEY}:") for key in event.unseen)
    return before_card or event.offered not in (None, offered)


def _shown(digest: str, since: datetime | None) -> str:
    return f"{digest}:{int(since.timestamp()) if since else 0}"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# What a plan may take, by what finished sessions took: recorded figures, not a guess of the
# model.

ENOUGH_SESSIONS = 5
"""From so many sessions on, the outermost tenth at either end is left out; before, there is nothing to leave out."""


def forecast(sessions: Sequence[Session]) -> Forecast:
    """The completed sessions among these that completed a task; which sessions may be compared is the caller's choice."""
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
    """From the approval to the end of the last task; where nobody had to approve, from the first start."""
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
    """None where no session has the figure."""
    values = sorted(found for one in sessions if (found := figure(one)) is not None)
    if not values:
        return None
    edge = 0.1 if len(values) >= ENOUGH_SESSIONS else 0.0
    return Spread(
        median=_quantile(values, 0.5), low=_quantile(values, edge), high=_quantile(values, 1 - edge)
    )


def _quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies; between two of them, in proportion."""
    place = share * (len(values) - 1)
    below = int(place)
    if below + 1 == len(values):
        return values[below]
    return values[below] + (values[below + 1] - values[below]) * (place - below)
