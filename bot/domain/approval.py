"""What an approval is bound to: change one byte of it and the approval is worth nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from bot.domain.documents import Document
from bot.domain.events import Said
from bot.domain.session import Session
from bot.domain.states import Phase
from bot.domain.words import Change, ChangeStage

KEY = "approval"
"""With this the keys of all cards begin on which a plan or a change to it can be approved."""
VALID_FOR = timedelta(hours=24)


def digest(session: Session) -> str:
    """sha256 over the documents, the base commit, what runs the tests, and agent and flags of every task."""
    agents = [(task.key, task.agent) for task in session.tasks]
    return _digest(session, session.documents, agents)


def digest_of_change(session: Session, change: Change) -> str:
    """The same over the plan as a change would have it."""
    agents = [(draft.key, draft.agent) for draft in change.drafts]
    return _digest(session, change.documents, agents)


def _digest(
    session: Session, documents: Iterable[Document], agents: Iterable[tuple[str, str]]
) -> str:
    bound: dict[str, object] = {
        "documents": {document.kind.value: document.sha256 for document in documents},
        "base": session.base_commit,
        "agents": [[key, agent or session.agent, session.agent_flags] for key, agent in agents],
    }
    if session.test_command:
        bound["tests"] = session.test_command
    return sha256(json.dumps(bound, sort_keys=True, separators=(",", ":")))


def is_complete(session: Session) -> bool:
    """All who must approve have done so; it is only being looked at where the base stands now."""
    return session.recheck and len(session.approvals) >= session.approvers


def offer(session: Session) -> str:
    """What a button to approve is about: this plan, as it was shown last. Shown afresh, it is another offer."""
    return _shown(digest(session), session.documents_shown_at)


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
