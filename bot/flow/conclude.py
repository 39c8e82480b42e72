"""A session ends: its result from what is known to have happened, told with its evidence."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show
from bot.domain.cards import CheckLine, Decided, SummaryCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.events import Happening
from bot.domain.hosting import CiState
from bot.domain.results import execution_result, speculative, status_of
from bot.domain.session import Session, Speaker
from bot.domain.states import IntentStatus, OverallStatus, Phase, Status, TaskState
from bot.domain.tasks import Task
from bot.flow import place, standing, telling

WARN_FROM = 3
"""Rounds after which one should ask oneself whether it was the right wish."""


def end(session: Session, event: Happening) -> Iterator[Deed]:
    reckon(session)
    session.intend(_intent_status(session))
    session.enter(Phase.DONE)
    session.become(Status.COMPLETED)
    overall = session.result.overall_status if session.result else "INCOMPLETE"
    session.say(Speaker.ASSISTANT, f"Ended: {overall}", event.at)
    yield standing.status(session, event.at)
    yield summary(session, event)


def reckon(session: Session) -> None:
    """The result from what is known now. What the model says of it at last is a claim, too."""
    asked = {
        "selected_provider": session.usage.provider or None,
        "selected_model": session.usage.model or None,
    }
    result = execution_result(session, session.inventory)
    session.result = result.model_copy(update=asked)


def _intent_status(session: Session) -> IntentStatus:
    wanted = [task for task in session.tasks if task.state is not TaskState.REPLACED]
    done = [
        task
        for task in session.in_state(TaskState.COMPLETED)
        if status_of(session, task) is not OverallStatus.INCOMPLETE
    ]
    if len(done) == len(wanted):
        return IntentStatus.DONE
    return IntentStatus.BLOCKED if done else IntentStatus.ERROR


def summary(session: Session, event: Happening, decided: Decided | None = None) -> Show:
    return Show(
        card=SummaryCard(
            key=telling.key_of_plan(session, "summary"),
            title=session.title,
            result=session.result or execution_result(session, session.inventory),
            tasks=tuple(standing.task_line(task, event.at, {}) for task in session.tasks),
            checks=tuple(_check_line(task) for task in session.tasks if task.check),
            evidence=tuple(_evidence_line(task) for task in session.tasks if task.work),
            violations=tuple(line for task in session.tasks for line in _violation_lines(task)),
            guesses=tuple(line for task in session.tasks for line in _guess_line(task)),
            merged=_merged(session),
            kept=tuple(f"{r.branch}: {r.reason}" for r in session.leftovers if r.reason),
            usage=session.usage,
            agent_runs=sum(len(task.runs) for task in session.tasks),
            agent_usage=standing.agents_usage(session),
            seconds=int((event.at - session.created_at).total_seconds()),
            pulls=tuple(line for task in session.tasks for line in _pull_line(task)),
            verdict=session.final_verdict,
            proposed=tuple(f"{one.name}: {one.description}"[:300] for one in session.proposed),
            choices=() if decided else tuple(_choices(session)),
            decided=decided,
        )
    )


def _merged(session: Session) -> str:
    if session.merged_commit:
        return f"merged into {session.base_branch} at {session.merged_commit[:10]}"
    pulls = [task.pull_request for task in session.tasks if task.pull_request]
    merged = sum(pull.merged for pull in pulls)
    return f"{merged} of {len(pulls)} pull requests merged" if pulls else ""


_BY_PEOPLE = {
    CiState.FAILED: " though a check had failed",
    CiState.PENDING: " before its checks had ended",
}
"""The bot merges nothing like that; people may."""


def _pull_line(task: Task) -> Iterator[str]:
    if pull := task.pull_request:
        became = "merged" if pull.merged else "left open" if pull.open else "closed"
        if pull.merged and pull.seen:
            became += _BY_PEOPLE.get(pull.seen.ci, "")
        yield f"{task.key}: #{pull.number} {became} {pull.url}".strip()


def _choices(session: Session) -> Iterator[Choice]:
    """What is missing can be done in a further round, as often as that is allowed."""
    if session.proposed and session.continues < place.MOST_CONTINUES:
        rounds = session.continues + 1
        warning = f" This would be round {rounds}." if rounds >= WARN_FROM else ""
        yield Choice(
            label="Continue with what is missing",
            verb=Verb.MORE,
            about=session.id,
            style=Style.PRIMARY,
            confirm=f"Plan {len(session.proposed)} more tasks in this session?{warning}",
        )


def _check_line(task: Task) -> CheckLine:
    check = task.checks[-1]
    return CheckLine(
        task=task.key,
        command=check.command,
        commit=check.commit,
        result=check.result,
        tries=len(task.checks),
    )


def _violation_lines(task: Task) -> Iterator[str]:
    for one in task.violations:
        what = one.limit_type.removeprefix("max_")
        yield f"{task.key}: {one.actual_value:g} {what}, {one.limit_value:g} were allowed"


def _guess_line(task: Task) -> Iterator[str]:
    """Words that guess where a report should know. They are shown; what counts is the evidence."""
    if task.run and (words := speculative(task.run.message)):
        yield f"{task.key}: {', '.join(words)}"


def _evidence_line(task: Task) -> str:
    commits = ", ".join(f"{c.sha[:10]} {c.subject}" for c in task.commits)
    files = len([file for file in task.verified_files if file.exists])
    seen = "1 file" if files == 1 else f"{files} files"
    return f"{task.key}: {seen} seen on disk; {commits}"
