"""What is done every so often: say how the panes look, and look whether the world is still as it should be."""

from __future__ import annotations

from collections.abc import Iterable

from bot.domain.events import OrderFailed, Ticked, Woken
from bot.domain.session import Session
from bot.domain.states import Status, TaskState
from bot.domain.tasks import Task
from bot.engine.actor import Actor
from bot.engine.world import World
from bot.errors import Refused, Unavailable

TAIL = 3
"""Lines of a pane that the live status shows."""


async def tick(world: World, actors: Iterable[Actor]) -> None:
    """The live status of every session with agents or tests at work. No model is asked."""
    for actor in actors:
        tails = {
            run.id: await world.panes.tail(run.name, TAIL)
            for task in actor.session.tasks
            if (run := task.run) and run.alive
        }
        session = actor.session
        checked = session.status is Status.ACTIVE and session.in_state(TaskState.VERIFYING)
        if tails or checked:
            masked = world.masker.mask_model(tails)
            actor.tell(Ticked(**world.mark(), tails=masked))


async def observe(world: World, actors: Iterable[Actor]) -> None:
    """Differences between the states and the world become events; whatever the states demand is ordered anew."""
    for actor in actors:
        session = actor.session
        if session.status is not Status.ACTIVE:
            continue
        for task in session.in_state(TaskState.RUNNING):
            if lost := await _lost(world, session, task):
                actor.tell(lost)
        actor.tell(
            Woken(
                **world.mark(),
            )
        )


async def _lost(world: World, session: Session, task: Task) -> OrderFailed | None:
    """A worktree that was removed or spoilt by hand while its agent runs."""
    workspace = task.workspace
    if workspace is None or not workspace.ready:
        return None
    try:
        await world.worktrees.work(workspace.path, workspace.start)
    except Unavailable:
        return None  # it cannot be seen now, which does not mean that it is gone
    except Refused as refusal:
        return OrderFailed(
            **world.mark(),
            answers="observe",
            what="observe",
            task_id=task.id,
            reason=f"The worktree of {task.key} is gone or cannot be used: {refusal.reason}",
            remedy="Retry makes it again from its branch.",
        )
    return None
