"""A run has ended: nothing it says is believed. Git is asked what is there, then the bot runs the tests itself."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.events import CheckRan, RunEnded, WorkSeen
from bot.domain.session import Session
from bot.domain.sheets import Tone
from bot.domain.states import Outcome, TaskState
from bot.domain.tasks import Task, TaskResult, TaskType, Why
from bot.flow import blocked, steps, telling

MAX_FAILED_CHECKS = 3
MAX_FAILED_RUNS = 3
MAX_EVIDENCE_ASKS = 2
"""How much of a failed check's output people see; the agent gets more."""


def ended(session: Session, event: RunEnded) -> Iterator[Deed]:
    """A late word about an earlier run changes nothing."""
    task = session.task_of_run(event.run_id)
    if task is None or task.run is None or not task.run.alive:
        return
    end = event.end
    task.update_run(
        task.run.end(
            end.outcome,
            event.at,
            exit_code=end.exit_code,
            ended_by=end.source,
            message=end.message,
            log_path=event.log_path,
        )
    )
    if task.state is not TaskState.RUNNING:
        return
    if end.outcome is Outcome.FINISHED:
        task.become(TaskState.VERIFYING)
    else:
        yield from _run_failed(session, task, event)


def _run_failed(session: Session, task: Task, event: RunEnded) -> Iterator[Deed]:
    failed = task.count("failed_runs")
    how = _how(event)
    if failed >= MAX_FAILED_RUNS:
        yield from blocked.fail(session, task, f"its agent {how}, {failed} times now", event)
        return
    task.go_on(
        f"Your last run {how}. Look at what is there already (git status, git log) and go on from it.",
    )
    happened = f"the agent {how} ({failed} of {MAX_FAILED_RUNS})"
    options = (steps.AGAIN, steps.FRESH, steps.ASK)
    yield from steps.offer(session, task, event, "run_failed", happened, *options)


def _how(event: RunEnded) -> str:
    end = event.end
    if end.outcome is Outcome.VANISHED:
        return "vanished with its pane"
    if end.exit_code is not None:
        return f"ended with exit code {end.exit_code}"
    return f"ended early ({end.outcome.value.replace('_', ' ')})"


def decide(session: Session, event: WorkSeen | CheckRan) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or task.state is not TaskState.VERIFYING:
        return
    if event.evidence:
        task.evidence_refs = (*task.evidence_refs, event.evidence)
    match event:
        case WorkSeen():
            yield from _seen(session, task, event)
        case CheckRan():
            yield from _checked(session, task, event)


def _seen(session: Session, task: Task, event: WorkSeen) -> Iterator[Deed]:
    task.work, task.work_of = event.work, task.run.id if task.run else ""
    task.verified_files = event.verified_files
    missing = _missing(task, event)
    if missing:
        yield from _ask_for_evidence(session, task, event, missing)
    elif not session.test_command:
        yield from complete(session, task, event, "no test command is known, so nothing was tested")


def _missing(task: Task, event: WorkSeen) -> str:
    """What speaks against believing it: no commits, or work that is not committed."""
    if event.work.uncommitted:
        files = ", ".join(event.work.uncommitted[:8])
        return f"These changes are not committed: {files}."
    if event.unmerged:
        return f"This is not merged into your branch: {', '.join(event.unmerged)}."
    if not event.work.commits and task.type is not TaskType.INVESTIGATION:
        return "There are no commits on the branch."
    return ""


def _ask_for_evidence(
    session: Session, task: Task, event: WorkSeen, missing: str
) -> Iterator[Deed]:
    asked = task.count("evidence_asks")
    if asked > MAX_EVIDENCE_ASKS:
        yield from blocked.block(session, task, f"NO_EVIDENCE: {missing}", event)
        return
    task.next_why = Why.NO_EVIDENCE
    task.next_feedback = (
        f"You reported the end, but: {missing} Finish the task and commit all of it."
    )
    happened = f"the agent says it is done, but {missing}"
    options = (steps.AGAIN, steps.ASK)
    yield from steps.offer(session, task, event, "no_evidence", happened, *options)


def _checked(session: Session, task: Task, event: CheckRan) -> Iterator[Deed]:
    check = event.check
    task.checks.append(check)
    if check.passed:
        yield from complete(
            session, task, event, f"`{check.command}` passed in {check.seconds:.0f} s"
        )
        return
    failed = task.count("failed_checks")
    what = f"exit code {check.exit_code}" if check.exit_code is not None else "time limit reached"
    if failed >= MAX_FAILED_CHECKS:
        yield from blocked.fail(session, task, f"the tests failed {failed} times", event)
        return
    task.next_why = Why.CHECK_FAILED
    task.next_feedback = (
        f"The tests were run on your commit {check.commit[:10]} with `{check.command}`: {what}. "
        f"The end of the output:\n\n{check.output}\n\nMend the cause, not the test, and commit."
    )
    happened = f"the tests fail ({what}, {failed} of {MAX_FAILED_CHECKS})"
    options = (steps.AGAIN, steps.FRESH, steps.ASK)
    yield from steps.offer(session, task, event, "check_failed", happened, *options)


def complete(session: Session, task: Task, event: WorkSeen | CheckRan, why: str) -> Iterator[Deed]:
    """Without GitHub a task is complete when its branch is ready."""
    task.become(TaskState.INTEGRATING)
    task.become(TaskState.COMPLETED)
    task.completed_at = event.at
    commits = len(task.commits)
    summary = f"{commits} commit{'s' if commits != 1 else ''} on {_branch(task)}; {why}"
    task.result = TaskResult(success=True, summary=summary)
    yield telling.news(
        f"completed:{task.key}:{len(task.runs)}",
        f"{task.key} is done: {task.name}",
        summary,
        tone=Tone.SUCCESS,
    )


def _branch(task: Task) -> str:
    return task.workspace.branch if task.workspace else "no branch"
