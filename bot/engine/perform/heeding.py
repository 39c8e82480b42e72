"""What a program in a pane asks while it runs is told; whatever goes wrong with reading its screen, the run goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing

from bot.domain.actions import AwaitRun, LookIn
from bot.domain.events import DialogClosed, DialogOpened, Event, LookedIn
from bot.domain.session import Session
from bot.domain.tasks import Run
from bot.engine.world import World
from bot.errors import PortError, Refused, Unavailable
from bot.flow.quiet import QUESTION

log = logging.getLogger("agent.sub")
SEEN_AGAIN = 8.0
"""Seconds in which a dialog that was told before a restart is found on the screen, if it still stands there."""
AGAIN = 2.0
"""Seconds until what could not be read, or not be written down, is tried again."""


async def heed_dialogs(
    world: World, order: AwaitRun, run: Run, tell: Callable[[Event], None]
) -> None:
    gone = asyncio.create_task(_gone_unless_seen(world, order, run, tell))
    try:
        while True:
            try:
                await _heeded(world, order, run, tell, gone)
            except PortError as trouble:
                data = {"run": run.id, "why": trouble.reason}
                log.warning("dialogs not read", extra={"data": data})
            await world.clock.sleep(AGAIN)
    finally:
        gone.cancel()
        await asyncio.wait({gone})


async def _heeded(
    world: World,
    order: AwaitRun,
    run: Run,
    tell: Callable[[Event], None],
    gone: asyncio.Task[None],
) -> None:
    async with aclosing(world.panes.dialogs(run.name)) as dialogs:
        async for dialog in dialogs:
            gone.cancel()
            mark = world.mark()
            if dialog is None:
                event = DialogClosed(**mark, answers=order.key, run_id=run.id)
            else:
                shown = world.masker.mask_model(dialog)
                event = DialogOpened(**mark, answers=order.key, run_id=run.id, dialog=shown)
            await _told(world, tell, event)


async def _gone_unless_seen(
    world: World, order: AwaitRun, run: Run, tell: Callable[[Event], None]
) -> None:
    """What was answered in the pane while nobody looked is never seen to go."""
    if run.dialog is None:
        return
    await world.clock.sleep(SEEN_AGAIN)
    await _told(world, tell, DialogClosed(**world.mark(), answers=order.key, run_id=run.id))


async def _told(world: World, tell: Callable[[Event], None], event: Event) -> None:
    """With a full disk once there is room again: it is not seen a second time."""
    while True:
        try:
            tell(event)
        except Unavailable:
            await world.clock.sleep(AGAIN)
        else:
            return


async def look_in(world: World, session: Session, order: LookIn) -> LookedIn:
    """What git says, and by its terminal, where it reads that, the question whether it is done."""
    task = session.task_of_run(order.run_id)
    if task is None or task.run is None or task.workspace is None:
        raise Refused("that run is no longer part of the plan")
    work = await world.worktrees.work(task.workspace.path, task.workspace.start)
    asked, why = False, ""
    if order.ask:
        try:
            await world.panes.paste(task.run.name, QUESTION)
            asked = True
        except Refused as refusal:
            why = world.masker.mask(refusal.reason)
    return LookedIn(
        **world.mark(),
        answers=order.key,
        run_id=order.run_id,
        asked=asked,
        why=why,
        commits=len(work.commits),
        uncommitted=len(work.uncommitted),
    )
