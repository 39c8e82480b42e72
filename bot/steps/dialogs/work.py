"""Reads dialogs of a program in a pane, and types the answer. If the screen cannot be read, the run goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing

from bot.core.actions import AnswerDialog, AwaitRun, LookIn
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.events import DialogAnswered, DialogClosed, DialogOpened, Event, LookedIn
from bot.core.runs import Run
from bot.core.session import Session
from bot.core.world import World, performs
from bot.steps.dialogs.rules import QUESTION
from bot.steps.workspaces import task_and_run

log = logging.getLogger("agent.sub")
SEEN_AGAIN_WITHIN = 8.0
"""Seconds after a restart in which a dialog known before shows up on the screen, if it is still open."""
RETRY_AFTER = 2.0
"""Seconds until reading or saving is retried."""


async def watch_dialogs(
    world: World, order: AwaitRun, run: Run, tell: Callable[[Event], None]
) -> None:
    gone = asyncio.create_task(_close_unless_seen(world, order, run, tell))
    try:
        while True:
            try:
                await _watch_once(world, order, run, tell, gone)
            except PortError as trouble:
                data = {"run": run.id, "why": trouble.reason}
                log.warning("dialogs not read", extra={"data": data})
            await world.clock.sleep(RETRY_AFTER)
    finally:
        gone.cancel()
        await asyncio.wait({gone})


async def _watch_once(
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
                event = DialogOpened(**mark, answers=order.key, run_id=run.id, dialog=dialog)
            await _tell_until_saved(world, tell, event)


async def _close_unless_seen(
    world: World, order: AwaitRun, run: Run, tell: Callable[[Event], None]
) -> None:
    # A dialog that was answered in the pane while the bot was down is never seen to disappear.
    if run.dialog is None:
        return
    await world.clock.sleep(SEEN_AGAIN_WITHIN)
    await _tell_until_saved(
        world, tell, DialogClosed(**world.mark(), answers=order.key, run_id=run.id)
    )


async def _tell_until_saved(world: World, tell: Callable[[Event], None], event: Event) -> None:
    # With a full disk the event is saved once there is room again: the dialog is not reported a second time.
    while True:
        try:
            tell(event)
        except Unavailable:
            await world.clock.sleep(RETRY_AFTER)
        else:
            return


@performs(LookIn)
async def look_in(world: World, session: Session, order: LookIn) -> LookedIn:
    """Check what git shows of the run and, if wanted, type the question whether it is done."""
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
            why = refusal.reason
    return LookedIn(
        **world.mark(),
        answers=order.key,
        run_id=order.run_id,
        asked=asked,
        why=why,
        commits=len(work.commits),
        uncommitted=len(work.uncommitted),
    )


# Types an answer.


@performs(AnswerDialog)
async def answer_dialog(world: World, session: Session, order: AnswerDialog) -> DialogAnswered:
    # Not idempotent, so it is never repeated: after a restart no order demands it any more.
    _, run, _ = task_and_run(session, order.run_id)
    if run.dialog is None:
        raise Refused("it is not asked any more")
    moved = await world.panes.answer(run.name, run.dialog, run.reply)
    log.info("answered", extra={"data": {"session": session.id, "run": run.id, "moved": moved}})
    return DialogAnswered(
        **world.mark(), answers=order.key, run_id=run.id, dialog_id=run.dialog.id, moved=moved
    )
