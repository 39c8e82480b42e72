"""From the first word to a surveyed repository: is everything there that the work needs?"""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import naming
from bot.domain.actions import Deed
from bot.domain.events import Event, OrderFailed, Pressed, Said, Surveyed
from bot.domain.intent import Intent
from bot.domain.session import Session, Speaker, Spec
from bot.domain.states import Phase
from bot.domain.tasks import Workspace
from bot.flow import mishaps, replies, telling


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case Said(text=text) if not session.intent.body:
            session.intent = Intent(id=session.short, body=text, created_at=event.at)
            session.say(Speaker.USER, text, event.at)
            yield telling.received(session)
        case Said(text=text):
            yield from replies.noted(session, event, text)
        case Surveyed():
            _begin(session, event)
            yield telling.received(session)
        case OrderFailed():
            yield from mishaps.give_way(session, event)
        case Pressed():
            yield telling.stale(session, event)
        case _:
            pass


def _begin(session: Session, event: Surveyed) -> None:
    """Fix where the work starts from. The names are chosen here, before anything of them exists."""
    base = event.base
    session.repository = base.repository
    session.base_branch, session.base_commit = base.branch, base.commit
    session.base_uncommitted = base.uncommitted
    session.agent, session.agent_flags = event.agent.agent, event.agent_flags
    if session.spec is None:
        spec_id = naming.spec_id_from(naming.derived_id(session.id, "spec"))
        branch = f"agent/{spec_id.lower()}"
        workspace = Workspace(
            branch=branch,
            path=naming.worktree_path(session.repository, branch),
            created_at=event.at,
        )
        session.spec = Spec(id=spec_id, workspace=workspace)
    session.enter(Phase.CLARIFYING)
