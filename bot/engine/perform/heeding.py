"""What a program in a pane asks while it runs is told; whatever goes wrong with reading its screen, the run goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing

from bot.domain.actions import AwaitRun
from bot.domain.events import DialogClosed, DialogOpened, Event
from bot.domain.tasks import Run
from bot.engine.world import World
from bot.errors import PortError, Unavailable

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
