"""Surveys the repository, tmux and the agent before anything starts, and opens sessions for parts of a request."""

from __future__ import annotations

import logging

from bot.core.actions import OpenSession, PassOn, ScanRepository, Survey
from bot.core.cards import RootCard
from bot.core.context.excerpts import RequestContext
from bot.core.errors import PortError, Refused
from bot.core.events import Begun, Continued, PassedOn, Scanned, SessionOpened, Surveyed
from bot.core.evidence import CommandSource
from bot.core.forge import Hosted
from bot.core.llm import ModelRole, context_tokens
from bot.core.naming import derived_id
from bot.core.people import Part
from bot.core.repositories import Repositories
from bot.core.runs import AgentReady
from bot.core.session import Session, Speaker
from bot.core.text import sentences
from bot.core.world import World, performs
from bot.steps.chat import chat_of
from bot.steps.repository_state import read_base, repository_settings

log = logging.getLogger("bot.perform")


@performs(Survey)
async def survey(world: World, session: Session, order: Survey) -> Surveyed:
    """Check everything that is needed before anything is started. Only reads, so it is idempotent."""
    if not session.request.spec_only:
        await world.panes.require()
    base = await world.repository.base(session.repository.path)
    answered = not (session.request.unattended or world.rules.unattended)
    agent = await world.agents.ready(
        session.agents.default or world.rules.agent, base.repository, answered=answered
    )
    if not agent.ok:
        agent = _with_warning(session, agent)
    others = await _other_agents(world, agent.agent, base.repository)
    hosted = await _find_host(world, base.repository)
    base = await read_base(world, base, hosted)
    agents = (agent.agent, *others)
    return Surveyed(
        **world.mark(),
        answers=order.key,
        base=base,
        brought=await repository_settings(world, base.repository, base.commit, agents),
        agent=agent,
        agent_flags=world.agents.flags(agent.agent),
        context_window=await world.rules.context_window(ModelRole.MAIN),
        most_at_once=world.rules.most_at_once,
        limits=world.rules.limits,
        unattended=world.rules.unattended,
        sandboxed=world.rules.sandboxed,
        user=world.rules.user,
        hosted=hosted,
        other_agents=others,
    )


def _with_warning(session: Session, agent: AgentReady) -> AgentReady:
    # A spec is written without agents, so a missing one is only a warning to whoever has it carried out.
    if not session.request.spec_only:
        raise Refused(agent.problem, agent.remedy)
    why = sentences(agent.problem, agent.remedy)
    return agent.model_copy(update={"warnings": (*agent.warnings, why)})


async def _find_host(world: World, repository: str) -> Hosted | None:
    # Nothing waits for the forge at the start: whether it works shows when it is needed.
    if world.forge is None:
        return None
    try:
        return await world.forge.find(repository)
    except Refused as refusal:
        log.warning("no forge", extra={"data": {"why": refusal.reason}})
        return None


async def _other_agents(world: World, agent: str, repository: str) -> dict[str, str]:
    found = [
        await world.agents.ready(name, repository)
        for name in world.rules.other_agents
        if name != agent
    ]
    return {other.agent: world.agents.flags(other.agent) for other in found if other.ok}


@performs(ScanRepository)
async def scan(world: World, session: Session, order: ScanRepository) -> Scanned:
    found = await world.repository.scan(session.repository.path, session.repository.base_commit)
    if session.tests.command and session.tests.source is not CommandSource.FOUND:
        found = found.model_copy(update={"test_command": session.tests.command})
    if Repositories(world).is_set_up_configured(session.repository.path):
        found = found.model_copy(update={"set_up": ""})
    found = found.model_copy(update={"context": await _context(world, session)})
    return Scanned(**world.mark(), answers=order.key, scan=found)


async def _context(world: World, session: Session) -> RequestContext | None:
    """Return the code that the request is about, or None: then planning goes on without it."""
    tokens = context_tokens(session.llm.context_window)
    try:
        return await world.repository.find_context(
            session.repository.path, session.repository.base_commit, session.intent.body, tokens
        )
    except PortError as error:
        log.warning("no context", extra={"data": {"why": str(error)}})
        return None


# Sessions that a session opens: a root message of their own in the channel, and the first message in its thread.


@performs(OpenSession)
async def open_session(world: World, session: Session, order: OpenSession) -> SessionOpened:
    """Open the session of a part. Idempotent: the root message is recognised by its key, the session by its id."""
    part = next((part for part in session.request.parts if part.session == order.session), None)
    if part is None:
        raise Refused("that session is no longer wanted")
    # parts of a large request were counted once, with the request
    if not part.child and (why_not := world.nursery.one_more(part.by, part.session)):
        raise Refused(why_not)
    chat = chat_of(world, session.thread.platform)
    thread = await chat.open(session.thread, _root(session, part))
    world.nursery.begin(thread, part.session, _first_event(world, session, part))
    return SessionOpened(**world.mark(), answers=order.key, session=part.session, thread=thread)


def _root(session: Session, part: Part) -> RootCard:
    return RootCard(
        key=f"root:{part.session}",
        session=part.session.replace("-", "")[:8],
        title=part.title,
        request=part.body,
        by=str(part.by),
        origin=session.thread,
        origin_title=session.title,
    )


def _first_event(world: World, session: Session, part: Part) -> Begun:
    return Begun(
        id=derived_id(part.session, "begun"),
        at=world.clock.now(),
        by=part.by,
        text=_with_additions(part.body, _later_messages(session)) if part.child else part.body,
        title=part.title if part.child else "",
        parent=session.intent.id if part.child else None,
        origin=session.thread,
        origin_title=session.title,
    )


def _later_messages(session: Session) -> list[str]:
    """Return what users wrote after the request until its destination was settled; they were told that it counts."""
    body = session.intent.body
    said = [one.content for one in session.conversation if one.role is Speaker.USER]
    asked = max((at for at, text in enumerate(said) if body.startswith(text)), default=-1)
    return [text for text in said[asked + 1 :] if text.strip() not in body]


def _with_additions(body: str, besides: list[str]) -> str:
    return "\n\n".join([body, *besides])


@performs(PassOn)
async def pass_on(world: World, session: Session, order: PassOn) -> PassedOn:
    """Hand the request over to an earlier session. Idempotent: the event's id is derived, so it is heard once."""
    record = world.store.find(order.session)
    if record is None:
        raise Refused(f"the session {order.session[:8]} is no longer there")
    event = Continued(
        id=derived_id(session.id, "passed on"),
        at=world.clock.now(),
        by=session.owner,
        text=_with_additions(session.intent.body, _later_messages(session)),
    )
    if why_not := world.nursery.pass_on(record.session.thread, event):
        raise Refused(why_not, "Ask there, or have it planned here.")
    return PassedOn(**world.mark(), answers=order.key, session=order.session)
