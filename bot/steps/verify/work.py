"""What a run really achieved: git is asked, the tests are run, and a model judges the changes. Each leaves evidence."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Collection, Sequence

from bot.core.actions import CheckBase, LookAtWork, RunCheck
from bot.core.checks import compare, tests_not_run
from bot.core.errors import PortError, Refused
from bot.core.events import BaseChecked, CheckRan, WorkSeen
from bot.core.evidence import Check, VerifiedFile
from bot.core.git import Work
from bot.core.naming import worktree_path
from bot.core.runs import Executed
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.tampering.signs import Flag, explained_tests, find_flags, unplanned_flags
from bot.core.task import Task, Workspace
from bot.core.text import sentences
from bot.core.world import World, performs
from bot.steps.plan import pull_request_of
from bot.steps.verify import rules as verify
from bot.steps.verify import test_command
from bot.steps.workspaces import (
    SetUpFailed,
    dependencies_changed,
    keep_evidence,
    require_head,
    set_up,
    set_up_commands,
    task_in,
    verified_commit,
)

log = logging.getLogger("bot.perform")
LARGE_DIFF = 50_000
LONGEST_DIFF = 2_000_000
"""Characters of a diff that are searched for signs of tampering."""
MAX_RECORDED = 10_000
"""Commits, and files of each kind, that are recorded of a task: with more, every save of the session would take
seconds.
"""
LONGEST_SUBJECT = 200
OUR_FILES = (".claude/settings.local.json",)


@performs(LookAtWork)
async def look_at_work(world: World, session: Session, order: LookAtWork) -> WorkSeen:
    task, workspace = task_in(session, order.task_id)
    if not workspace.ready:  # it was lost, and a person wants it created again
        start = session.plan.spec.commit if session.plan.spec else session.repository.base_commit
        await world.worktrees.prepare(
            session.repository.path, workspace.branch, workspace.path, start
        )
        await set_up(world, session, workspace.path, task.key, f"the worktree of {task.key}")
    found = await world.worktrees.work(workspace.path, workspace.start, OUR_FILES)
    work = _bounded_work(found)
    now = world.clock.now()
    files = tuple(
        VerifiedFile(path=path, exists=path not in work.deleted_files, detected_at=now)
        for path in (*work.created_files, *work.changed_files, *work.deleted_files)
    )
    summary = f"{task.key}: {len(work.commits)} commits, {len(files)} files at {work.head}"
    executor = task.agent or session.agents.default
    diff = await world.worktrees.diff(workspace.path, workspace.start, LONGEST_DIFF, found.head)
    command, problem = await _find_test_command(world, session, task, workspace, found)
    evidence = await keep_evidence(
        world, session, task, "commits", (order.run_id,), summary, executor=executor, raw=diff
    )
    signs = await _find_signs(session, diff, found)
    return WorkSeen(
        id=world.clock.new_id(),
        at=now,
        answers=order.key,
        task_id=task.id,
        work=work,
        unmerged=await _unmerged(world, session, task, found.head),
        flags=signs,
        touched=await _touched(world, session, task),
        verified_files=files,
        evidence=evidence,
        tests_found=command,
        tests_problem=problem,
    )


async def _find_test_command(
    world: World, session: Session, task: Task, workspace: Workspace, found: Work
) -> tuple[str, str]:
    """Return the test command that the tree suggests and why it will not work here.

    Starts nothing. If the tree cannot be searched in time, the former command is kept, so that the work is not delayed.
    """
    if not found.commits or not test_command.searches_tree(session, task):
        return "", ""
    try:
        scan = await world.repository.scan(session.repository.path, found.head)
    except PortError as trouble:
        log.warning("no tests looked for", extra={"data": {"why": trouble.reason}})
        return task.found_command, task.found_problem
    if not scan.test_command:
        return "", ""
    return scan.test_command, await world.commands.problem(workspace.path, scan.test_command)


async def _find_signs(session: Session, diff: str, found: Work) -> tuple[Flag, ...]:
    # A large patch takes seconds, so it is read in a thread. Approved files are those of the original tasks; what a
    # task was split into later does not count.
    large = len(diff) > LARGE_DIFF
    signs = await asyncio.to_thread(find_flags, diff, found) if large else find_flags(diff, found)
    approved = [
        one for one in session.tasks if not one.parent and one.type is not TaskType.INTEGRATION
    ]
    return (*signs, *unplanned_flags(found, [path for one in approved for path in one.files]))


def _bounded_work(work: Work) -> Work:
    # Limited, because an agent can commit any number of files, with subjects of any length.
    lists = ("changed_files", "created_files", "deleted_files", "uncommitted")
    kept: dict[str, object] = {name: getattr(work, name)[:MAX_RECORDED] for name in lists}
    commits = tuple(
        one.model_copy(update={"subject": one.subject[:LONGEST_SUBJECT]})
        for one in work.commits[:MAX_RECORDED]
    )
    return work.model_copy(update={**kept, "commits": commits})


async def _touched(world: World, session: Session, task: Task) -> tuple[str, ...]:
    """Return files of the main checkout that have changed since the run began."""
    before = task.run.before if task.run else None
    if before is None:
        return ()
    # the earlier state was masked when it was saved
    now = world.masker.mask_model(await world.repository.checkout(session.repository.path))
    return now.touched_since(before)


async def _unmerged(world: World, session: Session, task: Task, head: str) -> tuple[str, ...]:
    """Return branches and commits that its agent should have merged and did not."""
    branches: list[str] = []
    start = task.workspace.start if task.workspace else ""
    if start and await world.worktrees.log(session.repository.path, head, start):
        branches.append(start[:10])
    for merged in task.workspace.merged if task.workspace else ():
        other = session.task(merged)
        if other is None or other.workspace is None or _is_in_base(session, task, other):
            continue
        if other.state is TaskState.COMPLETED:
            branch = other.workspace.branch
            if await world.worktrees.log(session.repository.path, head, verified_commit(other)):
                branches.append(branch)
    return tuple(branches)


def _is_in_base(session: Session, task: Task, other: Task) -> bool:
    # After a squash merge the base has none of the branch's commits, but the merge commit of its pull request.
    own, pull = pull_request_of(session, task), pull_request_of(session, other)
    if own is None or pull is None or pull.seen is None:
        return False
    return pull.merged and pull.seen.merge_commit in own.taken_in


@performs(RunCheck)
async def run_check(world: World, session: Session, order: RunCheck) -> CheckRan:
    """Run the tests of a task's commit. Idempotent: a test run changes nothing that counts, and has a number."""
    task, workspace = task_in(session, order.task_id)
    log = f"{world.home}/runs/check-{session.short}-{task.key}-{order.number}.log"
    await require_head(world, task, workspace, order.commit)
    command, accepted = test_command.for_task(session, task), verify.accepted_flags(session, task)
    if order.restored:
        since = workspace.start
        check = await run_tests_restored(
            *(world, session, command, order.commit, order.number, log, since, order.restored),
            accepted=accepted,
        )
    else:
        check = await _run_in_worktree(
            world, session, task, workspace, command, order.commit, order.number, log, accepted
        )
    # if the branch moved meanwhile, something else was tested
    await require_head(world, task, workspace, order.commit)
    summary = f"{task.key}: `{check.command}` {check.result} on {check.commit}"
    evidence = await keep_evidence(
        world, session, task, "check", (str(order.number),), summary, source=check.output_path
    )
    return CheckRan(
        id=world.clock.new_id(),
        at=check.at,
        answers=order.key,
        task_id=task.id,
        check=check,
        evidence=evidence,
        problem=await _not_run(world, session, workspace, check),
    )


async def _run_in_worktree(
    world: World,
    session: Session,
    task: Task,
    workspace: Workspace,
    command: str,
    commit: str,
    number: int,
    log_path: str,
    accepted: Sequence[Flag],
) -> Check:
    # Set up again if the task has changed its dependencies. A failure of that is for its agent to fix.
    if dependencies_changed(task.work):
        name = f"{task.key}-{number}"
        try:
            await set_up(world, session, workspace.path, name, f"the worktree of {task.key}")
        except SetUpFailed as failed:
            return Check(
                number=number,
                command=command,
                commit=commit,
                exit_code=failed.done.exit_code,
                seconds=failed.done.seconds,
                output=failed.reason,
                output_path=failed.done.output_path,
                at=world.clock.now(),
            )
    return await run_tests(
        world, session, command, workspace.path, commit, number, log_path, accepted
    )


async def _not_run(world: World, session: Session, workspace: Workspace, check: Check) -> str:
    """Return why the tests could not even start, and the remedy; empty if they ran, as far as can be told."""
    if not check.exit_code:
        return ""
    why = await world.commands.problem(workspace.path, check.command)
    why = why or test_command.why_not_run(check.exit_code, check.output)
    found = session.repository.scan.set_up if session.repository.scan else ""
    wanted = found and not set_up_commands(world, session)
    return sentences(why, f"Perhaps `setup: {found}` helps." if why and wanted else "")


# Runs the tests on the base, once and kept, and on a task's commit, compared with the base.


@performs(CheckBase)
async def check_base(world: World, session: Session, order: CheckBase) -> BaseChecked:
    """Run the tests on the base. Idempotent: a kept result is reused. A failure to run them stops nothing."""
    executed, problem = Executed(exit_code=None, seconds=0, output=""), ""
    try:
        executed = await _tests_at_base(world, session)
    except Refused as refusal:
        problem = refusal.reason
    check = Check(
        number=0,
        command=order.command,
        commit=order.commit,
        exit_code=executed.exit_code,
        seconds=executed.seconds,
        output=executed.output,
        output_path=executed.output_path,
        at=world.clock.now(),
        tests=compare(executed.report, None),
    )
    return BaseChecked(**world.mark(), answers=order.key, check=check, problem=problem)


async def _tests_at_base(world: World, session: Session) -> Executed:
    """Return the kept result for this commit and command, or run the tests in a worktree of their own."""
    commit, command = session.repository.base_commit, test_command.for_base(session)
    # a result from before another set-up command does not count
    about = "\0".join((session.repository.path, command, *set_up_commands(world, session)))
    name = hashlib.sha256(about.encode()).hexdigest()[:12]
    kept = f"{world.home}/runs/base-{commit[:16]}-{name}.log"
    scratch = worktree_path(session.repository.path, f"agent/base-{session.short}")
    if found := await world.commands.kept_result(kept):
        # left behind if the bot was killed after the result was kept
        await world.worktrees.remove_scratch(session.repository.path, scratch)
        return found
    try:
        await world.worktrees.scratch(session.repository.path, scratch, commit)
        await set_up(world, session, scratch, "base", "the worktree of the base")
        return await world.commands.test(
            scratch, command, seconds=world.rules.check_seconds, log=kept
        )
    finally:
        await world.worktrees.remove_scratch(session.repository.path, scratch)


async def run_tests(
    world: World,
    session: Session,
    command: str,
    path: str,
    commit: str,
    number: int,
    log_path: str,
    accepted: Sequence[Flag] = (),
    accepted_missing: Collection[str] = (),
) -> Check:
    """Run the tests in a worktree and compare them with the base's, if the base has results of that command.

    `accepted`: accepted signs; tests that do not run because of them are not reported as missing, nor are those in
    `accepted_missing`.
    """
    executed = await world.commands.test(
        path, command, seconds=world.rules.check_seconds, log=log_path
    )
    base = None
    try:
        if command == test_command.for_base(session):
            base = await _tests_at_base(world, session)
    except Refused as refusal:
        log.warning("no tests of the base", extra={"data": {"why": refusal.reason}})
    now, before = executed.report, base.report if base else None
    seen = frozenset(accepted_missing)
    if now and before:
        seen |= explained_tests(accepted, tests_not_run(now, before))
    return Check(
        number=number,
        command=command,
        commit=commit,
        exit_code=executed.exit_code,
        seconds=executed.seconds,
        output=executed.output,
        output_path=executed.output_path,
        at=world.clock.now(),
        tests=compare(now, before, seen),
    )


async def run_tests_restored(
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
    """Run a commit's tests in a throwaway worktree, with the files that decide how they are run restored to `since`."""
    scratch = worktree_path(session.repository.path, f"agent/restored-{session.short}")
    try:
        await world.worktrees.scratch(
            session.repository.path, scratch, commit, restored=restored, since=since
        )
        await set_up(world, session, scratch, "restored", "a worktree made for the tests")
        check = await run_tests(
            world, session, command, scratch, commit, number, log_path, accepted
        )
    finally:
        await world.worktrees.remove_scratch(session.repository.path, scratch)
    return check.model_copy(update={"restored": restored})
