"""A repository that is not where it was: how that is told from other trouble, and how it is found again."""

from __future__ import annotations

from pathlib import PurePath

from bot.domain.actions import Relink
from bot.domain.events import Relinked
from bot.domain.sentences import sentences
from bot.domain.session import Session
from bot.engine.world import World
from bot.errors import Away, PortError, Refused


async def told_apart(world: World, session: Session, refusal: Refused) -> Refused:
    """Whatever was refused: where the repository is gone, that is why. Who never saw one cannot lose it."""
    if not session.base_commit:
        return Refused(refusal.reason, refusal.remedy) if isinstance(refusal, Away) else refusal
    try:
        await world.repository.require(session.repository, session.base_commit)
    except Away as away:
        return away
    except PortError:
        return refusal
    return refusal


async def relink(world: World, session: Session, deed: Relink) -> Relinked:
    """Safe to do twice: what has followed the repository stays where it is."""
    try:
        path = await _found(world, session, deed.path)
        await world.worktrees.relink(session.repository, path)
    except Refused as refusal:
        problem = world.masker.mask(sentences(refusal.reason, refusal.remedy))
        return Relinked(**world.mark(), by=deed.by, problem=problem)
    return Relinked(**world.mark(), by=deed.by, path=path)


async def _found(world: World, session: Session, path: str) -> str:
    """It is the same if it has the commit that the session began from, with all that came before; and is hosted there."""
    if not PurePath(path).is_absolute():
        raise Refused("That is no whole path", "Write relink and the path, from / on")
    top = await world.repository.top(path)
    await world.repository.require(top, session.base_commit)
    hosted = await world.forge.find(top) if world.forge and session.hosted else None
    if session.hosted and (hosted is None or hosted.slug != session.hosted.slug):
        raise Refused(
            f"The repository at {top} is not hosted at {session.hosted.slug} any more",
            "Set its remote as it was, and write relink again",
        )
    return top
