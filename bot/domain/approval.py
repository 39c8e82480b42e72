"""What an approval is bound to: change one byte of it and the approval is worth nothing."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

from bot.domain.session import Session

VALID_FOR = timedelta(hours=24)


def digest(session: Session) -> str:
    """sha256 over the documents, the base commit, and agent and flags of every task."""
    bound = {
        "documents": {document.kind.value: document.sha256 for document in session.documents},
        "base": session.base_commit,
        "agents": [
            [task.key, task.agent or session.agent, session.agent_flags] for task in session.tasks
        ],
    }
    return sha256(json.dumps(bound, sort_keys=True, separators=(",", ":")))


def offer(session: Session) -> str:
    """What a button to approve is about: this plan, as it was shown last. Shown afresh, it is another offer."""
    since = session.documents_shown_at
    return f"{digest(session)}:{int(since.timestamp()) if since else 0}"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
