"""Looking before anything is done: the repository, tmux, the agent CLI, and whose turn it is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from bot.domain.actions import HoldPlace, ListBranches, ScanRepository, Survey
from bot.domain.events import (
    BranchesListed,
    Event,
    PlaceAwaited,
    PlaceGranted,
    Scanned,
    Surveyed,
)
from bot.domain.evidence import CommandSource
from bot.domain.hosting import Hosted
from bot.domain.sentences import sentences
from bot.domain.session import Session
from bot.domain.states import Status
from bot.domain.world import AgentReady
from bot.engine.patience import patiently
from bot.engine.perform.brought import brought
from bot.engine.perform.upstream import base_of
from bot.engine.world import World
from bot.errors import Refused, Unavailable

log = logging.getLogger("bot.perform")


async def survey(world: World, session: Session, order: Survey) -> Surveyed:
    """Safe to do twice: it only looks. Everything is asked for before anything is begun."""
    if not session.spec_only:
        await world.panes.require()
    base = await world.repository.base(session.repository)
    answered = not (session.unattended or world.rules.unattended)
    agent = await world.agents.ready(
        session.agent or world.rules.agent, base.repository, answered=answered
    )
    if not agent.ok:
        agent = _not_needed_yet(session, agent)
    others = await _other_agents(world, agent.agent, base.repository)
    hosted = await _hosted(world, base.repository)
    base = await base_of(world, base, hosted)
    agents = (agent.agent, *others)
    return Surveyed(
        **world.mark(),
        answers=order.key,
        base=base,
        brought=await brought(world, base.repository, base.commit, agents),
        agent=agent,
        agent_flags=world.agents.flags(agent.agent),
        context_window=world.rules.context_window(),
        most_at_once=world.rules.most_at_once,
        limits=world.rules.limits,
        unattended=world.rules.unattended,
        sandboxed=world.rules.sandboxed,
        user=world.rules.user,
        hosted=hosted,
        other_agents=others,
    )


def _not_needed_yet(session: Session, agent: AgentReady) -> AgentReady:
    """A spec is written without agents; whoever has it carried out must know."""
    if not session.spec_only:
        raise Refused(agent.problem, agent.remedy)
    why = sentences(agent.problem, agent.remedy)
    return agent.model_copy(update={"warnings": (*agent.warnings, why)})


async def _hosted(world: World, repository: str) -> Hosted | None:
    """Nothing waits for the forge at the beginning: whether it works shows itself when it is needed."""
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


async def scan(world: World, session: Session, order: ScanRepository) -> Scanned:
    found = await world.repository.scan(session.repository, session.base_commit)
    if session.test_command and session.tests_from is not CommandSource.FOUND:
        found = found.model_copy(update={"test_command": session.test_command})
    found = world.masker.mask_model(found)
    return Scanned(**world.mark(), answers=order.key, scan=found)


async def hold_place(
    world: World, session: Session, order: HoldPlace, tell: Callable[[Event], None]
) -> None:
    """Wait for the place and keep it until called off. The line is kept in memory: everybody stands up anew at a start."""

    async def tell_granted() -> None:
        tell(PlaceGranted(**world.mark(), answers=order.key))

    async def granted() -> None:
        """However full the disk is: a place that is let go over that is another session's at once."""
        await patiently(world, tell_granted, tell, order=order.key, quiet=True)

    def moved(position: int, waiting: int) -> None:
        try:
            tell(
                PlaceAwaited(**world.mark(), answers=order.key, position=position, waiting=waiting)
            )
        except Unavailable:
            # called while another session lets go: a full disk here must not keep it from that
            log.warning("position not told", extra={"data": {"id": session.id}})

    await world.places.hold(
        session.repository,
        session.id,
        order.since,
        granted,
        moved,
        held=session.has_place,
        rework=order.rework,
    )


async def list_branches(world: World, session: Session, order: ListBranches) -> BranchesListed:
    names = await world.repository.branches(session.repository)
    names = (*names, *_promised(world, session))
    return BranchesListed(**world.mark(), answers=order.key, names=names)


def _promised(world: World, session: Session) -> Iterator[str]:
    """Names that other sessions have chosen and not made yet: a stop may lie between the two."""
    for listed in world.store.sessions():
        ended = listed.status in (Status.COMPLETED, Status.DISCARDED)
        if ended or listed.id == session.id or listed.repository != session.repository:
            continue
        record = world.store.find(listed.id)
        for workspace in record.session.workspaces if record else ():
            yield workspace.branch
