"""Periodic work: updates progress, and checks that the world is still as the sessions expect."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing

from bot.core.actor import Actor
from bot.core.errors import Away, Lost, PortError, Refused, Unavailable
from bot.core.events import CollisionsSeen, OrderFailed, Ticked, Woken
from bot.core.runs import Run
from bot.core.session import Session
from bot.core.states import Phase, Status, TaskState
from bot.core.task import Task
from bot.core.world import World
from bot.steps import repository_state

log = logging.getLogger("bot.program")
OBSERVE_SECONDS = 60.0
TAIL_LINES = 3
"""Lines of a pane that the live status shows."""
Round = Callable[[World, Iterable[Actor]], Awaitable[None]]


async def run_periodically(
    world: World, seconds: float, what: Round, actors: Callable[[], Iterable[Actor]]
) -> None:
    """Call `what` periodically, also after the clock was changed.

    A failure is logged, and it is called again the next time.
    """
    async with aclosing(world.clock.every(seconds, what.__name__)) as ticks:
        async for _ in ticks:
            try:
                await what(world, actors())
            except PortError as trouble:
                data = {"what": what.__name__, "why": str(trouble)}
                log.warning("round failed", extra={"data": data})
            except Exception:
                # it only looks around: a bug in it must not end the whole bot
                log.exception("round failed", extra={"data": {"what": what.__name__}})


async def tick(world: World, actors: Iterable[Actor]) -> None:
    """Update the live status of every session with agents or tests at work. No model is asked."""
    for actor in actors:
        session = actor.session
        tails = {
            run.id: await _tail(world, run)
            for task in session.tasks
            if (run := task.run) and run.alive
        }
        checked = session.status is Status.ACTIVE and session.in_state(TaskState.VERIFYING)
        if tails or checked:
            actor.tell(Ticked(**world.mark(), tails=tails, anew=world.rules.progress_posted))


async def _tail(world: World, run: Run) -> str:
    """Return the last lines of a pane.

    A pane that cannot be read must not keep the other sessions from their status.
    """
    try:
        return await world.panes.tail(run.name, TAIL_LINES)
    except PortError as trouble:
        log.warning("no tail", extra={"data": {"run": run.id, "why": str(trouble)}})
        return ""


async def observe(world: World, actors: Iterable[Actor]) -> None:
    """Report differences between states and world as events; whatever the states demand is ordered again."""
    for actor in actors:
        session = actor.session
        if session.status is not Status.ACTIVE:
            continue
        for task in session.in_state(TaskState.RUNNING):
            if lost := await _lost_workspace(world, session, task):
                actor.tell(lost)
        if new := await _collisions(world, session):
            actor.tell(new)
        actor.tell(
            Woken(
                **world.mark(),
            )
        )


async def take_up(world: World, actors: Iterable[Actor]) -> None:
    """Turn users' drafts into intents, even if nobody asks for a list. Starts nothing."""
    if world.registrar.registry is None:
        return
    for path in dict.fromkeys((world.rules.repository, *world.rules.repositories.values())):
        try:
            await world.registrar.take_up(await world.repository.top(path), world.clock)
        except PortError as trouble:
            log.info("no drafts", extra={"data": {"repository": path, "why": str(trouble)}})


async def _collisions(world: World, session: Session) -> CollisionsSeen | None:
    """Return branches that would conflict with each other when merged. Each pair is reported once."""
    at_work = session.in_state(
        TaskState.RUNNING,
        TaskState.VERIFYING,
        TaskState.NEEDS_CONTINUATION,
        TaskState.INTEGRATING,
        TaskState.COMPLETED,
    )
    live = [task for task in at_work if not (task.pull_request and task.pull_request.merged)]
    branches = tuple(dict.fromkeys(t.workspace.branch for t in live if t.workspace and t.commits))
    if session.phase is not Phase.EXECUTING or len(branches) < 2:
        return None
    try:
        found = await world.worktrees.collisions(session.repository.path, branches)
    except PortError:
        return None  # only a forecast: nothing depends on it
    told = {frozenset((one.one, one.other)) for one in session.execution.collisions}
    new = tuple(one for one in found if frozenset((one.one, one.other)) not in told)
    return CollisionsSeen(**world.mark(), collisions=new) if new else None


async def _lost_workspace(world: World, session: Session, task: Task) -> OrderFailed | None:
    """Return an event if the worktree was removed or broken by hand while its agent runs."""
    workspace = task.workspace
    if workspace is None or not workspace.ready:
        return None
    try:
        await world.worktrees.work(workspace.path, workspace.start)
    except Unavailable:
        return None  # it cannot be checked now, which does not mean that it is gone
    except Refused as refused:
        refusal = await repository_state.explain_if_moved(world, session, refused)
        return OrderFailed(
            **world.mark(),
            answers="observe",
            what="observe",
            task_id=task.id,
            reason=f"The worktree of {task.key} is gone or cannot be used: {refusal.reason}",
            remedy=refusal.remedy,
            lost=isinstance(refusal, Lost),
            away=isinstance(refusal, Away),
        )
    return None
