"""A new revision of the plan: what led to it, and what people compare it with."""

from __future__ import annotations

from bot.domain.drafted import drafts_of
from bot.domain.session import Session

MAX_REPAIRS = 2
"""So often a plan with critical findings is mended before people see it."""


def anew(session: Session, wish: str) -> None:
    """A new revision. What is half written is forgotten; what people have not seen, they need not compare with."""
    if session.spec is None:
        return
    unread = session.change_request if not session.documents_shown_at else ""
    session.change_request = "\n\n".join(part for part in (unread, wish) if part)
    if session.documents_shown_at:
        session.seen, session.seen_tasks = session.documents, drafts_of(session.tasks)
        session.previous = session.documents
    session.documents, session.documents_shown_at = (), None
    session.analysis, session.analysed, session.repairs = None, False, 0
    session.approvals = ()
    session.recheck = session.recheck or session.hosted is not None
    session.spec = session.spec.model_copy(
        update={"revision": session.spec.revision + 1, "commit": ""}
    )
