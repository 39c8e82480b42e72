"""What a change does to the tasks: how it is shown, and what happens to each task when it is confirmed or dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pydantic import AwareDatetime

from bot.core import approval, naming
from bot.core.actions import Deed, Show
from bot.core.cards import ApprovalCard, CardDecision, PlannedTask
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.spec_kit import comparison
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.states import TaskState
from bot.core.talk import Change, ChangeStage
from bot.core.task import Counters, Task, TaskResult, apply_draft, drafts_of, task_from
from bot.steps import messages, plan
from bot.steps.blocked import limits, troubles
from bot.steps.blocked import rules as blocked
from bot.steps.ship import rules as ship

CONTINUE_NOTE = (
    "You were stopped for a change that was then forgotten. Look at what is there and go on."
)


def touched_keys(session: Session) -> frozenset[str]:
    """Return the keys of the tasks that the change touches."""
    affected = session.change.affected if session.change else ()
    return frozenset(task.key for task in map(session.task, (a.task_id for a in affected)) if task)


def stops(session: Session) -> tuple[str, ...]:
    affected = session.change.affected if session.change else ()
    found = ((session.task(a.task_id), a.why) for a in affected)
    return tuple(f"{task.key} {task.name} ({why})" for task, why in found if task)


def goes_on(session: Session) -> tuple[str, ...]:
    touched = touched_keys(session)
    return tuple(
        f"{task.key} {task.name}"
        for task in session.tasks
        if task.key not in touched and task.state not in plan.SETTLED
    )


def edits_only(session: Session, change: Change) -> bool:
    """Whether the change adds no task and uses no other agent, so that it only rephrases what was approved."""
    now = {task.key: task.agent for task in session.tasks}
    return all(draft.key in now and draft.agent == now[draft.key] for draft in change.drafts)


def is_outdated(session: Session, drafts: Iterable[TaskDraft]) -> bool:
    """Whether a task was split while the drafts were written: its parts may have the keys of new drafts."""
    cut = {task.key for task in session.in_state(TaskState.REPLACED)}
    return any(draft.key in cut for draft in drafts)


def _are_all_held(change: Change) -> bool:
    """Whether every task the change touches is already held, by somebody with that right."""
    return bool(change.held) and {one.task_id for one in change.affected} <= {*change.held}


def approval_card(session: Session, change: Change, decided: CardDecision | None = None) -> Show:
    return Show(
        card=ApprovalCard(
            # a dropped change had the same revision, and its card is far up in the thread
            key=f"{approval.APPROVAL_KEY}:{change.revision}:{naming.short(change.id)}",
            spec_id=session.plan.spec.id if session.plan.spec else "",
            revision=change.revision,
            digest=approval.digest_of_change(session, change),
            offer=approval.offer_of_change(session, change),
            base=messages.base_of(session),
            tasks=_planned_tasks(session, change),
            parallelism=change.parallelism,
            agent_flags=session.agents.flags,
            test_command=session.tests.command,
            set_up=session.repository.set_up,
            test_source=messages.test_command_source(session),
            usage=session.usage,
            analysis=change.analysis,
            difference=comparison.difference(
                session.plan.documents,
                change.documents,
                drafts_of(session.tasks),
                change.drafts,
                messages.revision(session),
            ),
            approvers=session.approval.required if not edits_only(session, change) else 1,
            asker=messages.excluded_approver(session) if not edits_only(session, change) else "",
            approved_by=tuple(str(given.by) for given in session.approval.given),
            change=change.text,
            stops=stops(session),
            held=change.may_stop or _are_all_held(change),
            goes_on=goes_on(session),
            edits_only=edits_only(session, change),
            expires=change.shown_at and change.shown_at + approval.VALID_FOR,
            decided=decided,
        )
    )


def _planned_tasks(session: Session, change: Change) -> tuple[PlannedTask, ...]:
    gone = _gone_keys(session)
    return tuple(_planned(session, draft) for draft in change.drafts if draft.key not in gone)


def _gone_keys(session: Session) -> frozenset[str]:
    """Return the keys of tasks that are no longer carried out."""
    return frozenset(task.key for task in session.tasks if task.state in plan.GONE)


def _planned(session: Session, draft: TaskDraft) -> PlannedTask:
    done = any(t.key == draft.key and t.state is TaskState.COMPLETED for t in session.tasks)
    return PlannedTask(
        key=draft.key,
        name=draft.title,
        after=draft.depends_on,
        agent=draft.agent or session.agents.default,
        done=done and draft.key not in touched_keys(session),
    )


def hold_affected(session: Session, change: Change, at: AwareDatetime) -> Iterator[Deed]:
    """Hold the affected tasks, including those that have been restarted since the change was judged."""
    held = [*change.held]
    for affected in change.affected:
        task = session.task(affected.task_id)
        if task is None or task.state not in plan.HOLDABLE:
            continue
        if not task.taken_by or change.stage is ChangeStage.AWAITING:
            # a pane that a person works in is only closed once the change is confirmed
            yield from troubles.end_run(task, at)
            task.become(
                TaskState.BLOCKED, f"{blocked.WAITS_FOR_PREFIX} the change {change.by} asked for"
            )
            held.append(task.id)
    session.change = change.model_copy(update={"held": tuple(dict.fromkeys(held))})


def close_affected_cards(session: Session, change: Change, decided: CardDecision) -> Iterator[Deed]:
    """Close the cards of tasks that the change alters, as their questions are settled by it."""
    drafts = {draft.key: draft for draft in change.drafts}
    old = {draft.key: draft for draft in drafts_of(session.tasks)}
    for task in (session.task(affected.task_id) for affected in change.affected):
        if task is None or task.state in plan.GONE or drafts.get(task.key) == old[task.key]:
            continue
        yield from blocked.close_card(session, task, decided)
        if task.pull_problem:
            yield ship.not_shipped_card(task, decided)
        if task.key not in drafts:
            yield from limits.close_limit_card(session, task, decided)


def release(session: Session, held: Iterable[str]) -> None:
    for task in map(session.task, held):
        if task and task.state is TaskState.BLOCKED:
            continue_task(task)


def continue_task(task: Task) -> None:
    """Continue a task where it was held, because the change was dropped."""
    match task.blocked_from:
        case TaskState.RUNNING:
            task.become(TaskState.NEEDS_CONTINUATION)
            task.go_on(CONTINUE_NOTE)
        case TaskState.NEEDS_CONTINUATION:
            # its feedback for the next run is still undelivered
            task.become(TaskState.NEEDS_CONTINUATION)
        case TaskState.VERIFYING:
            task.become(TaskState.VERIFYING)
            task.invalidate_verification()
        case TaskState.INTEGRATING:
            task.become(TaskState.INTEGRATING)
        case _:
            task.become(TaskState.PENDING)


def apply_change(session: Session, change: Change, at: AwareDatetime) -> None:
    """Apply a confirmed change to the tasks. Tasks that it does not touch stay as they are."""
    touched = touched_keys(session)
    drafts = {draft.key: draft for draft in change.drafts}
    old = {draft.key: draft for draft in drafts_of(session.tasks)}
    removed = [t for t in session.tasks if t.key in touched and t.key not in drafts]
    _remove(session, removed)
    ids = {task.key: task.id for task in session.tasks}
    for task in session.tasks:
        draft = drafts.get(task.key)
        if task.key not in touched or draft is None:
            continue
        if draft == old[task.key]:
            if task.id in change.held and task.state is TaskState.BLOCKED:
                continue_task(task)
        else:
            apply_draft(draft, task, _dependencies(session, draft, ids))
            _redo_task(session, task, change)
    _add(session, change, drafts.values(), ids, at)


def _remove(session: Session, tasks: Iterable[Task]) -> None:
    gone = frozenset(task.id for task in tasks)
    for task in tasks:
        if task.state not in (TaskState.CANCELLED, TaskState.REPLACED):
            task.become(TaskState.CANCELLED)
            task.result = TaskResult(success=False, error="no longer wanted")
            ship.release_branch_of(session, task)
    for other in session.tasks:
        other.dependencies = tuple(id for id in other.dependencies if id not in gone)


def _dependencies(session: Session, draft: TaskDraft, ids: Mapping[str, str]) -> tuple[str, ...]:
    """Return the draft's dependencies, without tasks left out meanwhile, and with split tasks replaced by their parts."""
    found = (
        id for key in draft.depends_on if key in ids for id in _replacements(session, ids[key])
    )
    return tuple(dict.fromkeys(found))


def _replacements(session: Session, id: str) -> Iterator[str]:
    """Yield the tasks that replace this one by now, or itself if it is still wanted."""
    task = session.task(id)
    if task and task.state is TaskState.REPLACED:
        for part in task.replaced_by:
            yield from _replacements(session, part)
    elif task is None or task.state is not TaskState.CANCELLED:
        yield id


def _redo_task(session: Session, task: Task, change: Change) -> None:
    """Have a changed task done again. The agent's existing work is kept and continued."""
    if task.state in (TaskState.CANCELLED, TaskState.REPLACED):
        return
    task.counters, task.past_choices, task.result, task.completed_at = Counters(), (), None, None
    task.pull_text = None
    if task.pull_request:
        # whoever wanted the merge has not seen the new version
        task.pull_request = task.pull_request.model_copy(update={"wanted_by": None})
    if task.runs:
        untold = f"\n\n{task.next_run.feedback}" if task.next_run.feedback else ""
        task.become(TaskState.NEEDS_CONTINUATION)
        task.next_run.why = Why.CHANGED
        task.next_run.feedback = (
            f"The task has changed since you began: {change.text}\n\nAbove it stands as it is now. "
            f"Look at what is there already, and change what no longer fits.{untold}"
        )
    elif task.state is TaskState.PENDING or not plan.dependencies_done(session, task):
        if task.state is not TaskState.PENDING:
            task.become(TaskState.PENDING)
    else:
        task.become(TaskState.READY)


def _add(
    session: Session,
    change: Change,
    drafts: Iterable[TaskDraft],
    ids: dict[str, str],
    at: AwareDatetime,
) -> None:
    fresh = [draft for draft in drafts if draft.key not in ids]
    for draft in fresh:
        ids[draft.key] = naming.derived_id(session.id, "task", draft.key, str(change.revision))
    for number, draft in enumerate(fresh, len(session.tasks) + 1):
        session.tasks.append(
            task_from(
                draft,
                id=ids[draft.key],
                number=number,
                dependencies=_dependencies(session, draft, ids),
                at=at,
            )
        )
