"""What an approval is bound to: change one byte of it and the approval is worth nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from bot.domain.documents import Document
from bot.domain.session import Session
from bot.domain.words import Change

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


def _shown(digest: str, since: datetime | None) -> str:
    return f"{digest}:{int(since.timestamp()) if since else 0}"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
