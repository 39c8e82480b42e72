"""Where the repository and its base branch are, and what the repository makes agents do."""

from __future__ import annotations

import logging
from pathlib import PurePath

from bot.core.actions import LookAtBase, Relink
from bot.core.approval import sha256
from bot.core.errors import Away, PortError, Refused
from bot.core.events import BaseSeen, Relinked, SettingsChanged
from bot.core.forge import Hosted
from bot.core.git import Base, Divergence, Upstream
from bot.core.runs import Run
from bot.core.session import Session
from bot.core.task import Task, Workspace
from bot.core.text import sentences
from bot.core.world import World, performs
from bot.ports import Forge

# The base branch is read on its host if there is one; otherwise in the checkout, with a look at its `origin`. Pull
# requests are merged into the host's branch, so work starts from it. Its commits are stored below `refs/gwt-bot/`;
# users' branches and files stay untouched. An unreachable host stops nothing: work goes on from the known commit, and
# users are told.

log = logging.getLogger("bot.perform")
HOST, ORIGIN = "GitHub", "origin"


async def read_base(world: World, base: Base, hosted: Hosted | None) -> Base:
    """Return the base of the checkout, updated from its host. Idempotent."""
    if hosted is None or world.forge is None:
        return base.model_copy(update={"upstream": await _origin_upstream(world, base)})
    try:
        there = await _fetched_base(world, world.forge, hosted.slug, base)
    except Away:
        raise
    except PortError as trouble:
        problem = sentences(trouble.reason, trouble.remedy)
        log.warning("base not fetched", extra={"data": {"why": problem}})
        there = Upstream(host=HOST, local=base.commit, problem=problem)
    return base.model_copy(update={"upstream": there, "commit": there.commit or base.commit})


async def _fetched_base(world: World, forge: Forge, slug: str, base: Base) -> Upstream:
    # If the base has no commit, the checkout no longer has such a branch.
    tip = await forge.tip(slug, base.branch)
    if not tip:
        return Upstream(host=HOST, local=base.commit, missing=True)
    if tip != base.commit:
        fetched = await forge.fetch(slug, base.branch, near=base.repository)
        await world.worktrees.import_commit(base.repository, fetched.path, fetched.commit)
        tip = fetched.commit
    apart = Divergence(ahead=0, behind=0)
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


async def _origin_upstream(world: World, base: Base) -> Upstream | None:
    # Nothing is fetched: without a host, people update their branches themselves.
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


@performs(LookAtBase)
async def look_at_base(world: World, session: Session, order: LookAtBase) -> BaseSeen:
    """Check the branch that the session started from, even if another one is checked out by now."""
    seen = await _checkout_base(world, session)
    if session.pulls.host is not None:
        seen = await read_base(world, seen, session.pulls.host)
        if seen.upstream is None or not seen.upstream.used:
            # the host's commit is unknown: keep the known one
            seen = seen.model_copy(update={"commit": session.repository.base_commit})
    agents = (session.agents.default, *session.agents.others)
    moved = seen.commit != session.repository.base_commit
    apart, scan = Divergence(ahead=0, behind=0), None
    if moved and session.pulls.host is not None:
        apart = await world.repository.apart(
            session.repository.path, session.repository.base_commit, seen.commit
        )
        scan = await world.repository.scan(session.repository.path, seen.commit)
    return BaseSeen(
        **world.mark(),
        answers=order.key,
        base=seen,
        brought=await repository_settings(world, session.repository.path, seen.commit, agents),
        commits=apart.ahead,
        files=apart.files,
        scan=scan,
    )


async def _checkout_base(world: World, session: Session) -> Base:
    # With a host, a detached head or a missing branch in the checkout is no obstacle.
    uncommitted = session.repository.uncommitted
    try:
        uncommitted = (await world.repository.base(session.repository.path)).uncommitted
        commit = await world.repository.tip(session.repository.path, session.repository.base_branch)
    except Away:
        raise
    except Refused:
        if session.pulls.host is None:
            raise
        commit = ""
    return Base(
        repository=session.repository.path,
        branch=session.repository.base_branch,
        commit=commit,
        uncommitted=uncommitted,
    )


# Files and git settings that make agents or git run something before anybody has reviewed them: shown when a session
# starts, and asked about when they change.


async def repository_settings(
    world: World, repository: str, commit: str, agents: tuple[str, ...]
) -> tuple[str, ...]:
    """Return a sentence for each such file of these agents, and for each program that git runs there."""
    told: dict[str, None] = {}
    for agent in agents:
        names = world.agents.settings(agent)
        files = await world.repository.read(repository, commit, names) if names else {}
        told |= dict.fromkeys(world.agents.brought(agent, files) if files else ())
    return (*told, *await world.repository.programs(repository))


async def settings_changed(
    world: World, session: Session, order_key: str, task: Task, run: Run, workspace: Workspace
) -> SettingsChanged | None:
    """Return an event if the settings in the worktree differ from the base and nobody has accepted them in this state."""
    names = world.agents.settings(run.agent)
    found = await world.worktrees.changed(workspace.path, session.repository.base_commit, names)
    mark = sha256("\n".join(f"{path}:{found[path]}" for path in sorted(found)))
    if not found or mark in task.accepted:
        return None
    return SettingsChanged(
        **world.mark(), answers=order_key, run_id=run.id, files=tuple(sorted(found)), mark=mark
    )


# A repository that is not where it was: how that is recognised, and how it is found again.


async def explain_if_moved(world: World, session: Session, refusal: Refused) -> Refused:
    """Return the moved repository as the reason if it explains the refusal.

    A session without a base commit has never seen a repository, so it cannot have lost it.
    """
    if not session.repository.base_commit:
        return Refused(refusal.reason, refusal.remedy) if isinstance(refusal, Away) else refusal
    try:
        await world.repository.require(session.repository.path, session.repository.base_commit)
    except Away as away:
        return away
    except PortError:
        return refusal
    return refusal


@performs(Relink)
async def relink(world: World, session: Session, deed: Relink) -> Relinked:
    """Move the session to the repository's new path. Idempotent: worktrees already updated are left alone."""
    try:
        path = await _same_repository_at(world, session, deed.path)
        await world.worktrees.relink(session.repository.path, path)
    except Refused as refusal:
        problem = sentences(refusal.reason, refusal.remedy)
        return Relinked(**world.mark(), by=deed.by, problem=problem)
    return Relinked(**world.mark(), by=deed.by, path=path)


async def _same_repository_at(world: World, session: Session, path: str) -> str:
    # It is the same repository if it contains the commit that the session started from, and has the same host.
    if not PurePath(path).is_absolute():
        raise Refused("That is no whole path", "Write relink and the path, from / on")
    top = await world.repository.top(path)
    await world.repository.require(top, session.repository.base_commit)
    hosted = await world.forge.find(top) if world.forge and session.pulls.host else None
    if session.pulls.host and (hosted is None or hosted.slug != session.pulls.host.slug):
        raise Refused(
            f"The repository at {top} is not hosted at {session.pulls.host.slug} any more",
            "Set its remote as it was, and write relink again",
        )
    return top
