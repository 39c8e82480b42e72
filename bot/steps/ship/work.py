"""Opens, watches and merges pull requests on the forge, and merges the base into branches that go on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bot.core import pull_text
from bot.core.actions import MergePull, OpenPull, TakeInBase, WatchPulls
from bot.core.errors import Refused
from bot.core.events import BaseTakenIn, Event, PullMergeTried, PullOpened, PullsSeen
from bot.core.forge import WAITS_FOR, ChecksWanted, Obstacle, Pull, PullWanted
from bot.core.retry import with_retries
from bot.core.session import Session
from bot.core.task import Task
from bot.core.world import World, performs, performs_telling
from bot.ports import Forge
from bot.steps.pull_requests.cards import merged_dependency_pulls, tasks_with_pull
from bot.steps.ship.rules import open_dependency_pulls
from bot.steps.workspaces import keep_evidence, require_head, task_in


def _forge(world: World, session: Session) -> tuple[Forge, str]:
    if world.forge is None or session.pulls.host is None:
        raise Refused(
            "There is no access to GitHub any more.",
            "Give the bot its token again (GITHUB_TOKEN), then try again.",
        )
    return world.forge, session.pulls.host.slug


@performs(OpenPull)
async def open_pull(world: World, session: Session, order: OpenPull) -> PullOpened:
    """Publish the branch and open its pull request.

    Idempotent: an existing branch is kept, and an open pull request of it is updated.
    """
    forge, slug = _forge(world, session)
    task, workspace = task_in(session, order.task_id)
    await _require_verified(world, session, task, order.commit)
    await forge.publish(session.repository.path, slug, workspace.branch, order.commit)
    after = open_dependency_pulls(session, task)
    text = task.pull_text
    wanted = PullWanted(
        branch=workspace.branch,
        commit=order.commit,
        base=session.repository.base_branch,
        title=world.masker.mask(text.title if text else task.name),
        body=world.masker.mask(pull_text.pull_body(session, task, after)),
        draft=bool(after),
    )
    pull = await forge.open(slug, wanted)
    summary = f"{task.key}: pull request #{pull.number} of {workspace.branch} at {order.commit}"
    evidence = await keep_evidence(
        world, session, task, "pull_request", (order.commit,), summary, raw=wanted.body
    )
    return PullOpened(
        **world.mark(),
        answers=order.key,
        task_id=task.id,
        commit=order.commit,
        pull=pull,
        evidence=evidence,
    )


async def _require_verified(world: World, session: Session, task: Task, commit: str) -> None:
    # Only what was verified is published: clean, committed, and at that very commit.
    _, workspace = task_in(session, task.id)
    work = await require_head(world, task, workspace, commit)
    if work.uncommitted:
        raise Refused(
            f"The worktree of {task.key} has uncommitted changes: {', '.join(work.uncommitted[:5])}.",
            "Commit them or take them away, then try again.",
        )


@performs_telling(WatchPulls)
async def watch_pulls(
    world: World, session: Session, order: WatchPulls, tell: Callable[[Event], None]
) -> None:
    """Check the pull requests repeatedly until cancelled, and report only changes."""
    forge, slug = _forge(world, session)
    known = {
        task.pull_request.number: task.pull_request.seen
        for task in tasks_with_pull(session)
        if task.pull_request
    }
    while True:
        changed: list[Pull] = []
        for number in order.numbers:
            # retry within the order, which runs for days, so that the end of an outage is reported
            found = await with_retries(
                world, partial(forge.look, slug, number), tell, order=order.key, quiet=False
            )
            # compared with the saved version, which is masked
            pull = world.masker.mask_model(_trusted_notes_only(found))
            if pull != known.get(number):
                known[number] = pull
                changed.append(pull)
        if changed:
            tell(PullsSeen(**world.mark(), answers=order.key, pulls=tuple(changed)))
        await world.clock.sleep(world.rules.poll_seconds)


def _trusted_notes_only(pull: Pull) -> Pull:
    # Comments of people without write access are neither shown nor stored: there may be any number of them.
    return pull.model_copy(update={"notes": tuple(one for one in pull.notes if one.trusted)})


@performs_telling(MergePull)
async def merge_pull(
    world: World, session: Session, order: MergePull, tell: Callable[[Event], None]
) -> PullMergeTried:
    """Merge the pull request as soon as every temporary obstacle is gone. Idempotent."""
    forge, slug = _forge(world, session)
    task, _ = task_in(session, order.task_id)
    title = world.masker.mask(task.pull_text.title if task.pull_text else task.name)
    since = (task.pull_request and task.pull_request.checks_since) or world.clock.now()
    told = ""
    while True:
        tried = await forge.merge(
            slug,
            order.number,
            order.head,
            f"{title} (#{order.number})",
            _checks_wanted(session, task, order),
        )
        waited = (world.clock.now() - since).total_seconds() >= world.rules.checks_seconds
        overdue = tried.obstacle is Obstacle.CHECKS_MISSING and waited and not order.anyway
        event = PullMergeTried(
            **world.mark(),
            answers=order.key,
            task_id=task.id,
            tried=tried,
            overdue=overdue,
        )
        if overdue or tried.obstacle not in WAITS_FOR:
            return event
        if tried.reason != told:
            told = tried.reason
            tell(event)
        await world.clock.sleep(world.rules.poll_seconds)


def _checks_wanted(session: Session, task: Task, order: MergePull) -> ChecksWanted:
    pulls = [one.pull_request for one in session.tasks if one.pull_request]
    return ChecksWanted(
        names=task.pull_request.checks if task.pull_request else (),
        expected=any(pull.checks for pull in pulls),
        anyway=order.anyway,
    )


@performs(TakeInBase)
async def take_in_base(world: World, session: Session, order: TakeInBase) -> BaseTakenIn:
    """Merge the base into the task's branch. Idempotent. A conflict is left to the task's agent."""
    forge, slug = _forge(world, session)
    task, workspace = task_in(session, order.task_id)
    before = await world.worktrees.work(workspace.path, workspace.start)
    fetched = await forge.fetch(slug, session.repository.base_branch)
    await world.worktrees.import_commit(session.repository.path, fetched.path, fetched.commit)
    heads = await _merged_heads(world, session, task)
    base = await world.worktrees.with_squashed_history(
        session.repository.path, fetched.commit, heads
    )
    message = f"chore: merge {session.repository.base_branch}"
    plan = session.plan.spec.directory if session.plan.spec else ""
    merged = await world.worktrees.merge(workspace.path, base, message, plan=plan)
    # it is only the bot's own merge if it is based on the verified commit; a merge made before a crash is verified
    # again
    own = task.work is not None and before.head == task.work.head
    return BaseTakenIn(
        **world.mark(),
        answers=order.key,
        task_id=order.task_id,
        base=base,
        head=merged.commit if own else "",
        conflicts=merged.conflicts,
    )


async def _merged_heads(world: World, session: Session, task: Task) -> tuple[str, ...]:
    """Return the heads of the pull requests it builds on at the time they were merged, perhaps squashed, into the base."""
    forge, slug = _forge(world, session)
    found: list[str] = []
    for pull in merged_dependency_pulls(session, task):
        head = pull.seen.head if pull.seen else ""
        if head and not await world.repository.commit_exists(session.repository.path, head):
            # people pushed to it before it was merged
            try:
                fetched = await forge.fetch_head(slug, pull.number)
            except Refused:
                continue
            await world.worktrees.import_commit(
                session.repository.path, fetched.path, fetched.commit
            )
            head = fetched.commit
        if head:
            found.append(head)
    return tuple(found)
