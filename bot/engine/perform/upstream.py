"""Where the base branch stands: on its host where there is one, else in the checkout, with a look at its `origin`.

The host's branch is what pull requests are merged into, so work begins from it. Its commits come into the repository
below `refs/gwt-bot/`; branches and files of people stay as they are. A host that cannot be reached keeps nobody waiting:
the work goes on from the commit that is known, and people are told.
"""

from __future__ import annotations

import logging

from bot.domain.actions import LookAtBase
from bot.domain.events import BaseSeen
from bot.domain.hosting import Hosted
from bot.domain.sentences import sentences
from bot.domain.session import Session
from bot.domain.world import Apart, Base, Upstream
from bot.engine.perform.brought import brought
from bot.engine.world import World
from bot.errors import Away, PortError, Refused
from bot.ports import Forge

log = logging.getLogger("bot.perform")
HOST, ORIGIN = "GitHub", "origin"


async def base_of(world: World, base: Base, hosted: Hosted | None) -> Base:
    """The base as it is in the checkout, and what its host makes of it. Safe to do twice."""
    if hosted is None or world.forge is None:
        return base.model_copy(update={"upstream": await _origin(world, base)})
    try:
        there = await _fetched(world, world.forge, hosted.slug, base)
    except Away:
        raise
    except PortError as trouble:
        problem = sentences(trouble.reason, trouble.remedy)
        log.warning("base not fetched", extra={"data": {"why": problem}})
        there = Upstream(host=HOST, local=base.commit, problem=problem)
    there = world.masker.mask_model(there)
    return base.model_copy(update={"upstream": there, "commit": there.commit or base.commit})


async def _fetched(world: World, forge: Forge, slug: str, base: Base) -> Upstream:
    """An empty commit of the base: the checkout has no such branch any more."""
    tip = await forge.tip(slug, base.branch)
    if not tip:
        return Upstream(host=HOST, local=base.commit, missing=True)
    if tip != base.commit:
        fetched = await forge.fetch(slug, base.branch, near=base.repository)
        await world.worktrees.take_in(base.repository, fetched.path, fetched.commit)
        tip = fetched.commit
    apart = Apart(ahead=0, behind=0)
    if base.commit:
        apart = await world.repository.apart(base.repository, base.commit, tip)
    return Upstream(
        host=HOST,
        commit=tip,
        local=base.commit,
        ahead=apart.ahead,
        unpushed=apart.behind,
        used=True,
    )


async def _origin(world: World, base: Base) -> Upstream | None:
    """Nothing is fetched: without a host people bring their branches up to date themselves."""
    try:
        tip = await world.repository.origin_tip(base.repository, base.branch)
        if not tip or tip == base.commit:
            return None
        ahead = None
        if await world.repository.commit_exists(base.repository, tip):
            ahead = (await world.repository.apart(base.repository, base.commit, tip)).ahead
    except Refused as refusal:
        log.warning("origin not asked", extra={"data": {"why": refusal.reason}})
        return None
    if ahead == 0:
        return None
    return Upstream(host=ORIGIN, commit=tip, local=base.commit, ahead=ahead)


async def look_at_base(world: World, session: Session, order: LookAtBase) -> BaseSeen:
    """Of the branch the session began on, also where somebody has checked out another one since."""
    seen = await _of_checkout(world, session)
    if session.hosted is not None:
        seen = await base_of(world, seen, session.hosted)
        if seen.upstream is None or not seen.upstream.used:
            # it cannot be seen where it stands there: what was known stays
            seen = seen.model_copy(update={"commit": session.base_commit})
    agents = (session.agent, *session.other_agents)
    moved = seen.commit != session.base_commit
    apart, scan = Apart(ahead=0, behind=0), None
    if moved and session.hosted is not None:
        apart = await world.repository.apart(session.repository, session.base_commit, seen.commit)
        scan = await world.repository.scan(session.repository, seen.commit)
    return BaseSeen(
        **world.mark(),
        answers=order.key,
        base=seen,
        brought=await brought(world, session.repository, seen.commit, agents),
        commits=apart.ahead,
        files=apart.files,
        scan=world.masker.mask_model(scan) if scan else None,
    )


async def _of_checkout(world: World, session: Session) -> Base:
    """Where there is a host, a checkout that is on no branch just now, or has another one, is no obstacle."""
    uncommitted = session.base_uncommitted
    try:
        uncommitted = (await world.repository.base(session.repository)).uncommitted
        commit = await world.repository.tip(session.repository, session.base_branch)
    except Away:
        raise
    except Refused:
        if session.hosted is None:
            raise
        commit = ""
    return Base(
        repository=session.repository,
        branch=session.base_branch,
        commit=commit,
        uncommitted=uncommitted,
    )
