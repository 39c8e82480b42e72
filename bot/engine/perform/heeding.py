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
from bot.errors import PortError

log = logging.getLogger("agent.sub")
SEEN_AGAIN = 8.0
"""Seconds in which a dialog that was told before a restart is found on the screen, if it still stands there."""


async def heed_dialogs(
    world: World, order: AwaitRun, run: Run, tell: Callable[[Event], None]
) -> None:
    gone = asyncio.create_task(_gone_unless_seen(world, order, run, tell))
    try:
        async with aclosing(world.panes.dialogs(run.name)) as dialogs:
            async for dialog in dialogs:
                gone.cancel()
                mark = world.mark()
                if dialog is None:
                    tell(DialogClosed(**mark, answers=order.key, run_id=run.id))
                else:
                    shown = world.masker.mask_model(dialog)
                    tell(DialogOpened(**mark, answers=order.key, run_id=run.id, dialog=shown))
    except PortError as trouble:
        log.warning("dialogs not read", extra={"data": {"run": run.id, "why": trouble.reason}})
    finally:
        gone.cancel()
        await asyncio.wait({gone})


async def _gone_unless_seen(
    world: World, order: AwaitRun, run: Run, tell: Callable[[Event], None]
) -> None:
    """What was answered in the pane while nobody looked is never seen to go."""
    if run.dialog is not None:
        await world.clock.sleep(SEEN_AGAIN)
        tell(DialogClosed(**world.mark(), answers=order.key, run_id=run.id))
