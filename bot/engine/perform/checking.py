"""What really came of a run: git is asked, then the tests are run. Each leaves a piece of evidence."""

from __future__ import annotations

import asyncio
import logging

from bot.domain.actions import LookAtWork, RunCheck
from bot.domain.events import CheckRan, WorkSeen
from bot.domain.evidence import Check, Evidence, EvidenceInventory, VerifiedFile
from bot.domain.naming import derived_id
from bot.domain.sentences import sentences
from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tampering import Flag, flags, unplanned
from bot.domain.tasks import Task, TaskType, Workspace
from bot.domain.world import Work
from bot.engine.perform.testing import check_of, check_restored, set_up
from bot.engine.repositories import Repositories
from bot.engine.world import World
from bot.errors import PortError, Refused
from bot.flow import testing, verify
from bot.flow.shared import pull_of

log = logging.getLogger("bot.perform")
LARGE_DIFF = 50_000
LONGEST_DIFF = 2_000_000
"""Characters of a diff in which signs of tampering are looked for."""
MOST_TOLD = 10_000
"""Files of a kind, and commits, that are told of one task: with more of them every save of its session would take seconds."""
LONGEST_SUBJECT = 200
OUR_FILES = (".claude/settings.local.json",)


def task_in(session: Session, task_id: str) -> tuple[Task, Workspace]:
    task = session.task(task_id)
    if task is None or task.workspace is None:
        raise Refused("that task is no longer part of the plan")
    return task, task.workspace


async def look_at_work(world: World, session: Session, order: LookAtWork) -> WorkSeen:
    task, workspace = task_in(session, order.task_id)
    if not workspace.ready:  # it was lost, and a person wants it made again
        start = session.spec.commit if session.spec else session.base_commit
        await world.worktrees.prepare(session.repository, workspace.branch, workspace.path, start)
        await set_up(world, session, workspace.path, task.key, f"the worktree of {task.key}")
    found = await world.worktrees.work(workspace.path, workspace.start, OUR_FILES)
    work = world.masker.mask_model(_bounded(found))
    now = world.clock.now()
    files = tuple(
        VerifiedFile(path=path, exists=path not in work.deleted_files, detected_at=now)
        for path in (*work.created_files, *work.changed_files, *work.deleted_files)
    )
    summary = f"{task.key}: {len(work.commits)} commits, {len(files)} files at {work.head}"
    executor = task.agent or session.agent
    diff = await world.worktrees.diff(workspace.path, workspace.start, LONGEST_DIFF, found.head)
    command, problem = await _tests_in(world, session, task, workspace, found)
    evidence = await keep(
        world, session, task, "commits", (order.run_id,), summary, executor=executor, raw=diff
    )
    signs = await _signs(session, diff, found)
    return WorkSeen(
        id=world.clock.new_id(),
        at=now,
        answers=order.key,
        task_id=task.id,
        work=work,
        unmerged=await _unmerged(world, session, task, found.head),
        flags=tuple(world.masker.mask_model(sign) for sign in signs),
        touched=await _touched(world, session, task),
        verified_files=files,
        evidence=evidence,
        tests_found=command,
        tests_problem=problem,
    )


async def _tests_in(
    world: World, session: Session, task: Task, workspace: Workspace, found: Work
) -> tuple[str, str]:
    """What runs the tests as the tree looks now, and why that will not work here. Nothing of the tree is started.

    A tree that cannot be looked through in time keeps the command of before: the work is not held up for that.
    """
    if not found.commits or not testing.looks(session, task):
        return "", ""
    try:
        scan = world.masker.mask_model(await world.repository.scan(session.repository, found.head))
    except PortError as trouble:
        log.warning("no tests looked for", extra={"data": {"why": trouble.reason}})
        return task.tests_found, task.tests_problem
    if not scan.test_command:
        return "", ""
    return scan.test_command, await world.commands.problem(workspace.path, scan.test_command)


async def _signs(session: Session, diff: str, found: Work) -> tuple[Flag, ...]:
    """A large patch takes seconds to read. What people have approved names files; what a plan was cut into later does not count."""
    large = len(diff) > LARGE_DIFF
    signs = await asyncio.to_thread(flags, diff, found) if large else flags(diff, found)
    approved = [
        one for one in session.tasks if not one.parent and one.type is not TaskType.INTEGRATION
    ]
    return (*signs, *unplanned(found, [path for one in approved for path in one.files]))


def _bounded(work: Work) -> Work:
    """What is kept of it: an agent can commit any number of files, with a book for a subject."""
    lists = ("changed_files", "created_files", "deleted_files", "uncommitted")
    kept: dict[str, object] = {name: getattr(work, name)[:MOST_TOLD] for name in lists}
    commits = tuple(
        one.model_copy(update={"subject": one.subject[:LONGEST_SUBJECT]})
        for one in work.commits[:MOST_TOLD]
    )
    return work.model_copy(update={**kept, "commits": commits})


async def _touched(world: World, session: Session, task: Task) -> tuple[str, ...]:
    """Files of the main checkout that look otherwise than when the run began."""
    before = task.run.before if task.run else None
    if before is None:
        return ()
    now = world.masker.mask_model(await world.repository.checkout(session.repository))
    return now.touched_since(before)


async def _unmerged(world: World, session: Session, task: Task, head: str) -> tuple[str, ...]:
    """What has commits that are not in it: an agent was told to merge it, and did not."""
    branches: list[str] = []
    start = task.workspace.start if task.workspace else ""
    if start and await world.worktrees.log(session.repository, head, start):
        branches.append(start[:10])
    for merged in task.workspace.merged if task.workspace else ():
        other = session.task(merged)
        if other is None or other.workspace is None or _came_with_the_base(session, task, other):
            continue
        if other.state is TaskState.COMPLETED:
            branch = other.workspace.branch
            if await world.worktrees.log(session.repository, head, finished(other)):
                branches.append(branch)
    return tuple(branches)


def _came_with_the_base(session: Session, task: Task, other: Task) -> bool:
    """Squashed, perhaps, and then nothing of its branch is in the base: the merge of its pull request is."""
    own, pull = pull_of(session, task), pull_of(session, other)
    if own is None or pull is None or pull.seen is None:
        return False
    return pull.merged and pull.seen.merge_commit in own.taken_in


async def run_check(world: World, session: Session, order: RunCheck) -> CheckRan:
    """Safe to do twice: a test run changes nothing that counts, and it is numbered."""
    task, workspace = task_in(session, order.task_id)
    log = f"{world.home}/runs/check-{session.short}-{task.key}-{order.number}.log"
    await require_head(world, task, workspace, order.commit)
    command, accepted = testing.command_for(session, task), verify.accepted(session, task)
    if order.restored:
        since = workspace.start
        check = await check_restored(
            *(world, session, command, order.commit, order.number, log, since, order.restored),
            accepted=accepted,
        )
    else:
        check = await check_of(
            world, session, command, workspace.path, order.commit, order.number, log, accepted
        )
    # whoever moved it meanwhile had something else tested
    await require_head(world, task, workspace, order.commit)
    summary = f"{task.key}: `{check.command}` {check.result} on {check.commit}"
    evidence = await keep(
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


async def _not_run(world: World, session: Session, workspace: Workspace, check: Check) -> str:
    """Why the tests could not even begin, and what helps; empty: they were run, as far as can be told."""
    if not check.exit_code:
        return ""
    why = await world.commands.problem(workspace.path, check.command)
    why = why or testing.unable(check.exit_code, check.output)
    set_up = session.scan.set_up if session.scan else ""
    wanted = set_up and not Repositories(world).set_up_for(session.repository)
    return sentences(why, f"Perhaps GWT_SET_UP={set_up} helps." if why and wanted else "")


def finished(task: Task) -> str:
    """What it is done with: the commit that was looked at, wherever its branch has been moved since."""
    branch = task.workspace.branch if task.workspace else ""
    return task.work.head if task.work else branch


async def require_head(world: World, task: Task, workspace: Workspace, commit: str) -> Work:
    """What is tested and published is what was looked at."""
    work = await world.worktrees.work(workspace.path, workspace.start)
    if work.head != commit:
        raise Refused(
            f"The branch of {task.key} has moved since it was looked at: {work.head[:10]} is not {commit[:10]}.",
            "Try again with the button below: it is looked at and tested anew.",
        )
    return work


async def keep(
    world: World,
    session: Session,
    task: Task,
    kind: str,
    parts: tuple[str, ...],
    summary: str,
    *,
    executor: str = "gwt-bot",
    raw: str = "",
    source: str = "",
) -> str:
    """Write down that something happened, under a name that follows from what it was: twice is once."""
    evidence = Evidence(
        evidence_id=derived_id(session.id, task.id, kind, *parts),
        timestamp=world.clock.now(),
        operation_type=kind,
        executor_id=executor or None,
        summary=summary,
    )
    kept = await world.archive.keep(
        evidence, session_id=session.id, task_id=task.id, raw=raw, source=source
    )
    return kept.evidence_id


async def found(world: World, session: Session) -> EvidenceInventory:
    """What is there of the evidence of all tasks."""
    return await world.archive.inventory(
        ref for task in session.tasks for ref in task.evidence_refs
    )
