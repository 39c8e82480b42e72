"""All tasks are settled: offer the merge, clean up on proof, and say how it ended."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show
from bot.domain.cards import CheckLine, SummaryCard
from bot.domain.choices import Verb
from bot.domain.events import (
    CleanedUp,
    Event,
    Happening,
    MergedLocally,
    OrderFailed,
    Pressed,
    Said,
    WordsJudged,
    WorkDescribed,
)
from bot.domain.evidence import EvidenceInventory, ExecutionResult
from bot.domain.session import Ending, Session, Speaker
from bot.domain.sheets import Tone
from bot.domain.states import IntentStatus, OverallStatus, Phase, Status, TaskState
from bot.domain.tasks import PullText, Task, TaskType
from bot.domain.words import WordKind
from bot.flow import replies, revise, standing, telling


def begin(session: Session, event: Happening) -> Iterator[Deed]:
    """Nothing was completed: there is nothing to merge, only to clean up."""
    yield standing.status(session, event.at)
    if not session.in_state(TaskState.COMPLETED):
        session.ending = Ending.KEEP
    elif not undescribed(session):
        yield telling.offer(session)


def undescribed(session: Session) -> list[Task]:
    """Those whose pull request has no words yet: the offer shows them, and waits that long."""
    done = session.in_state(TaskState.COMPLETED)
    return [task for task in done if task.pull_text is None and task.run and task.commits]


def decide(session: Session, event: Event) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case Pressed(verb=Verb.MERGE) if session.ending is None:
            yield from _choose(session, event, Ending.MERGE, "Merge chosen")
        case Pressed(verb=Verb.KEEP) if session.ending is None:
            yield from _choose(session, event, Ending.KEEP, "Kept on the branches")
        case MergedLocally():
            yield from _merged(session, event)
        case CleanedUp(removals=removals):
            session.leftovers, session.cleaned = removals, True
            yield from end(session, event)
        case OrderFailed(what="merge_locally", reason=reason, remedy=remedy):
            yield from _not_merged(session, f"{reason} {remedy}".strip())
        case OrderFailed(what="clean_up"):
            session.cleaned = True
            yield from end(session, event)
        case WordsJudged():
            yield from _judged(session, event)
        case WorkDescribed() | OrderFailed(what="describe_work"):
            described(session, event)
            if not undescribed(session):
                yield telling.offer(session)
        case OrderFailed(what="judge_words"):
            yield from replies.not_judged(session, event)
        case Pressed():
            yield telling.stale(session, event)
        case Said(text=text):
            yield from replies.heard(session, event, text)
        case _:
            pass


def _judged(session: Session, event: WordsJudged) -> Iterator[Deed]:
    """Before anything is merged, more can be asked for: it is planned, and built upon what is there."""
    words = replies.judged(session, event.words_id)
    if words is None:
        return
    if event.what is not WordKind.CHANGE:
        yield from replies.answered(session, event, words)
        return
    yield telling.offer(session, telling.decided_by("More is wanted first", words.by, event.at))
    revise.anew(session, words.text)
    session.enter(Phase.SPECIFYING)
    yield telling.news(f"revising:{telling.revision(session)}", "Planning what is wanted besides.")


def described(session: Session, event: WorkDescribed | OrderFailed) -> None:
    """What its pull request says; what the task itself says, where nobody could tell more."""
    if task := session.task(event.task_id):
        plain = PullText(title=task.name, body=task.description)
        task.pull_text = event.text if isinstance(event, WorkDescribed) else plain


def _choose(session: Session, event: Pressed, ending: Ending, what: str) -> Iterator[Deed]:
    session.ending, session.ending_by, session.ending_problem = ending, event.by, ""
    session.say(Speaker.USER, what, event.at)
    yield telling.offer(session, telling.decided(what, event))


def _merged(session: Session, event: MergedLocally) -> Iterator[Deed]:
    if event.problem:
        yield from _not_merged(session, event.problem)
        return
    session.merged_commit = event.commit
    yield telling.news(
        telling.key_of_plan(session, "merged"),
        f"Merged into {session.base_branch} at {event.commit[:10]}",
        _tested(event),
        tone=Tone.SUCCESS,
    )


def _tested(event: MergedLocally) -> str:
    if event.check is None:
        return "No test command is known, so the merged whole was not tested."
    return f"`{event.check.command}` passed on the merged whole in {event.check.seconds:.0f} s."


def _not_merged(session: Session, problem: str) -> Iterator[Deed]:
    session.ending, session.ending_by, session.ending_problem = None, None, problem
    yield telling.offer(session)


def end(session: Session, event: Happening) -> Iterator[Deed]:
    session.result = result_of(session)
    session.intend(_intent_status(session))
    session.enter(Phase.DONE)
    session.become(Status.COMPLETED)
    session.say(Speaker.ASSISTANT, f"Ended: {session.result.overall_status}", event.at)
    yield standing.status(session, event.at)
    yield summary(session, event)


def _intent_status(session: Session) -> IntentStatus:
    done = session.in_state(TaskState.COMPLETED)
    if len(done) == len(session.tasks):
        return IntentStatus.DONE
    return IntentStatus.BLOCKED if done else IntentStatus.ERROR


def result_of(session: Session) -> ExecutionResult:
    evidence = tuple(ref for task in session.tasks for ref in task.evidence_refs)
    return ExecutionResult(
        overall_status=OverallStatus.worst([overall(session, task) for task in session.tasks]),
        session_id=session.id,
        tasks=tuple(task.id for task in session.tasks),
        evidence_summary=f"{len(evidence)} pieces of evidence",
        next_action=True,
        incomplete_task_reasons=tuple(
            f"{task.key} {task.name}: {_why_not(session, task)}"
            for task in session.tasks
            if overall(session, task) is not OverallStatus.COMPLETE
        ),
        evidence_inventory=EvidenceInventory(
            total_evidence_items=len(evidence),
            missing_evidence_operations=tuple(t.key for t in session.tasks if not t.evidence_refs),
            raw_evidence_files=evidence,
        ),
        selected_model=None,
    )


def overall(session: Session, task: Task) -> OverallStatus:
    """A task that a person left out is INCOMPLETE; one nobody could test has NO_EVIDENCE."""
    if task.state is TaskState.FAILED:
        return OverallStatus.ERROR
    if task.state is not TaskState.COMPLETED:
        return OverallStatus.INCOMPLETE
    tested = bool(task.check and task.check.passed) or task.type is TaskType.INVESTIGATION
    return OverallStatus.COMPLETE if tested else OverallStatus.NO_EVIDENCE


def _why_not(session: Session, task: Task) -> str:
    if task.state is TaskState.COMPLETED:
        return "built, but never tested"
    return task.blocked or (task.result.error if task.result and task.result.error else task.state)


def summary(session: Session, event: Happening) -> Show:
    result = session.result or result_of(session)
    merged = (
        f"merged into {session.base_branch} at {session.merged_commit[:10]}"
        if session.merged_commit
        else ""
    )
    return Show(
        card=SummaryCard(
            key=telling.key_of_plan(session, "summary"),
            title=session.title,
            result=result,
            tasks=tuple(standing.task_line(task, event.at, {}) for task in session.tasks),
            checks=tuple(_check_line(task) for task in session.tasks if task.check),
            evidence=tuple(_evidence_line(task) for task in session.tasks if task.work),
            merged=merged,
            kept=tuple(f"{r.branch}: {r.reason}" for r in session.leftovers if r.reason),
            usage=session.usage,
            agent_runs=sum(len(task.runs) for task in session.tasks),
            seconds=int((event.at - session.created_at).total_seconds()),
        )
    )


def _check_line(task: Task) -> CheckLine:
    check = task.checks[-1]
    result = "passed" if check.passed else f"failed ({check.exit_code})"
    return CheckLine(
        task=task.key,
        command=check.command,
        commit=check.commit,
        result=result,
        tries=len(task.checks),
    )


def _evidence_line(task: Task) -> str:
    commits = ", ".join(f"{c.sha[:10]} {c.subject}" for c in task.commits)
    files = len([file for file in task.verified_files if file.exists])
    seen = "1 file" if files == 1 else f"{files} files"
    return f"{task.key}: {seen} seen on disk; {commits}"
