"""Runs the repository's tests: at the base, once and kept, and at a commit of a task, held against the base."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence

from bot.domain.actions import CheckBase
from bot.domain.checks import compared, not_run
from bot.domain.events import BaseChecked
from bot.domain.evidence import Check
from bot.domain.naming import worktree_path
from bot.domain.session import Session
from bot.domain.tampering import Flag, explained
from bot.domain.world import Executed
from bot.engine.repositories import Repositories
from bot.engine.world import World
from bot.errors import Refused
from bot.flow import testing

log = logging.getLogger("bot.perform")
SHOWN = 1_500
"""Characters of a set-up command's output that people see."""


async def set_up(world: World, session: Session, path: str, name: str, whose: str) -> None:
    """What the operator wants done in a new worktree before anybody works in it. It may be done twice."""
    await world.worktrees.copy_ignored(session.repository, path, world.rules.copied_files)
    for number, command in enumerate(Repositories(world).set_up_for(session.repository), 1):
        log_path = f"{world.home}/runs/setup-{session.short}-{name}-{number}.log"
        done = await world.commands.run(
            path, command, seconds=world.rules.check_seconds, log=log_path
        )
        if done.exit_code != 0:
            how = "took too long" if done.exit_code is None else f"ended with {done.exit_code}"
            output = world.masker.mask(done.output)[-SHOWN:]
            raise Refused(
                f"The set-up command `{command}` {how} in {whose}: {output}",
                f"Mend it (GWT_SET_UP), then press Retry. All of its output: {done.output_path}",
            )


async def check_base(world: World, session: Session, order: CheckBase) -> BaseChecked:
    """Safe to do twice: what was kept is not run again. What cannot be tried stops nobody."""
    executed, problem = Executed(exit_code=None, seconds=0, output=""), ""
    try:
        executed = await _at_base(world, session)
    except Refused as refusal:
        problem = world.masker.mask(refusal.reason)
    check = Check(
        number=0,
        command=order.command,
        commit=order.commit,
        exit_code=executed.exit_code,
        seconds=executed.seconds,
        output=world.masker.mask(executed.output),
        output_path=executed.output_path,
        at=world.clock.now(),
        tests=world.masker.mask_model(compared(executed.report, None)),
    )
    return BaseChecked(**world.mark(), answers=order.key, check=check, problem=problem)


async def _at_base(world: World, session: Session) -> Executed:
    """As it was kept for this commit and command; else it is run in a worktree of its own."""
    commit, command = session.base_commit, testing.command_at_base(session)
    name = hashlib.sha256(f"{session.repository}\0{command}".encode()).hexdigest()[:12]
    kept = f"{world.home}/runs/base-{commit[:16]}-{name}.log"
    scratch = worktree_path(session.repository, f"agent/base-{session.short}")
    if found := await world.commands.tested(kept):
        # a bot that was killed after it had kept them has left it
        await world.worktrees.remove_scratch(session.repository, scratch)
        return found
    try:
        await world.worktrees.scratch(session.repository, scratch, commit)
        await set_up(world, session, scratch, "base", "the worktree of the base")
        return await world.commands.test(
            scratch, command, seconds=world.rules.check_seconds, log=kept
        )
    finally:
        await world.worktrees.remove_scratch(session.repository, scratch)


async def check_of(
    world: World,
    session: Session,
    command: str,
    path: str,
    commit: str,
    number: int,
    log_path: str,
    accepted: Sequence[Flag] = (),
) -> Check:
    """The tests in a worktree, held against those of the base, where that has any of that command.

    `accepted`: signs that a person has let pass; tests that do not run because of them are not missed.
    """
    executed = await world.commands.test(
        path, command, seconds=world.rules.check_seconds, log=log_path
    )
    base = None
    try:
        if command == testing.command_at_base(session):
            base = await _at_base(world, session)
    except Refused as refusal:
        log.warning("no tests of the base", extra={"data": {"why": refusal.reason}})
    now, before = executed.report, base.report if base else None
    seen = explained(accepted, not_run(now, before)) if now and before else ()
    found = compared(now, before, seen)
    return Check(
        number=number,
        command=command,
        commit=commit,
        exit_code=executed.exit_code,
        seconds=executed.seconds,
        output=world.masker.mask(executed.output),
        output_path=executed.output_path,
        at=world.clock.now(),
        tests=world.masker.mask_model(found),
    )


async def check_restored(
    world: World,
    session: Session,
    command: str,
    commit: str,
    number: int,
    log_path: str,
    since: str,
    restored: tuple[str, ...],
    accepted: Sequence[Flag] = (),
) -> Check:
    """The tests of a commit in a throwaway worktree, with files that decide how they are run as they were at `since`."""
    scratch = worktree_path(session.repository, f"agent/restored-{session.short}")
    try:
        await world.worktrees.scratch(
            session.repository, scratch, commit, restored=restored, since=since
        )
        await set_up(world, session, scratch, "restored", "a worktree made for the tests")
        check = await check_of(world, session, command, scratch, commit, number, log_path, accepted)
    finally:
        await world.worktrees.remove_scratch(session.repository, scratch)
    return check.model_copy(update={"restored": restored})
