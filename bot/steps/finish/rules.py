"""All tasks are settled: offers the merge, cleans up what is proven safe, and reports how the session ended."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import CleanUp, Deed, JudgeWhole, MergeLocally, Order, Show
from bot.core.cards import CardDecision, CheckLine, SummaryCard
from bot.core.choices import Choice, Style, Verb
from bot.core.events import (
    CleanedUp,
    Event,
    EventBase,
    MergedLocally,
    OrderFailed,
    Pressed,
    PullMergeTried,
    PullsSeen,
    Result,
    Said,
    WholeJudged,
    WordsJudged,
    WorkDescribed,
)
from bot.core.evidence import Judgement, Verdict
from bot.core.forge import CiState
from bot.core.results import execution_result, guessing_words, status_of
from bot.core.session import Session, Speaker
from bot.core.session_parts import Ending
from bot.core.sheets import Tone
from bot.core.states import IntentStatus, OverallStatus, Phase, Status, TaskState
from bot.core.talk import WordKind
from bot.core.task import Task
from bot.core.text import sentences
from bot.steps import messages, plan
from bot.steps.execute import new_tasks
from bot.steps.pull_requests import cards as pull_cards
from bot.steps.pull_requests import feedback as pull_feedback
from bot.steps.pull_requests import rules as pull_requests
from bot.steps.ship.rules import due_pull_texts, take_pull_text, tasks_without_pull_text
from bot.steps.talk import rules as talk


def begin(session: Session, event: EventBase) -> Iterator[Deed]:
    """Begin the end of the session. If no task was completed, there is nothing to merge, only to clean up."""
    yield messages.status(session, event.at)
    if not session.in_state(TaskState.COMPLETED):
        session.ending.choice = Ending.KEEP
    elif pull_cards.tasks_with_pull(session):
        yield from _pulls_settled(session, event)
        yield from pull_cards.merge_reminder(session)
    elif session.pulls.host:
        # there was nothing to make a pull request of, or users did not want any
        session.ending.choice = Ending.KEEP
    elif not tasks_without_pull_text(session):
        yield messages.merge_offer(session)


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case Pressed():
            yield from _pressed(session, event)
        case PullsSeen() | PullMergeTried() | OrderFailed(what="merge_pull" | "watch_pulls"):
            yield from _decide_pulls(session, event)
        case Said(text=text):
            yield from talk.message_heard(session, event, text)
        case Result():
            yield from _result(session, event)
        case _:
            pass


def _result(session: Session, event: Result) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case MergedLocally():
            yield from _merged_locally(session, event)
        case WholeJudged(verdict=verdict, proposed=proposed):
            session.ending.verdict, session.ending.proposed = verdict, proposed
        case OrderFailed(what="judge_whole", reason=reason):
            session.ending.verdict = Verdict(
                outcome=Judgement.BLOCKED,
                reasons=(f"Nobody could judge it: {reason}",),
                at=event.at,
            )
        case CleanedUp(removals=removals):
            session.ending.leftovers, session.ending.cleaned = removals, True
            session.ending.evidence, session.ending.missing_logs = event.evidence, event.unlogged
            if event.unlogged:
                title = "I cannot keep the logs of its tasks"
                yield messages.problem("logs", title, event.unlogged_because, event.unlogged_remedy)
            yield from end_session(session, event)
        case OrderFailed(what="merge_locally", reason=reason, remedy=remedy):
            yield from _not_merged(session, sentences(reason, remedy))
        case OrderFailed(what="clean_up"):
            session.ending.cleaned = True
            yield from end_session(session, event)
        case WordsJudged():
            yield from _judged(session, event)
        case WorkDescribed() | OrderFailed(what="describe_work"):
            take_pull_text(session, event)
            if not tasks_without_pull_text(session) and not pull_cards.tasks_with_pull(session):
                yield messages.merge_offer(session)
        case OrderFailed(what="judge_words"):
            yield from talk.words_not_judged(session, event)
        case _:
            pass


def _pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    match event.verb:
        case Verb.MERGE if _may_choose(session, event):
            yield from _choose(session, event, Ending.MERGE, "Merge chosen")
        case Verb.KEEP if _may_choose(session, event):
            yield from _choose(session, event, Ending.KEEP, "Kept on the branches")
        case verb if verb in pull_requests.VERBS and session.ending.choice is None:
            yield from pull_requests.pressed(session, event)
            yield from _pulls_settled(session, event)
        case _:
            yield messages.stale_press(session, event)


def _may_choose(session: Session, event: Pressed) -> bool:
    # A button about a single task does not decide for the session.
    return (
        session.ending.choice is None
        and not pull_cards.tasks_with_pull(session)
        and not event.about
    )


def _decide_pulls(
    session: Session, event: PullsSeen | PullMergeTried | OrderFailed
) -> Iterator[Deed]:
    """Pull requests may need more work: then the session executes again."""
    yield from pull_requests.decide(session, event)
    yield from pull_feedback.handle_feedback(session, event)
    if plan.all_settled(session):
        yield from _pulls_settled(session, event)
    else:
        session.enter(Phase.EXECUTING)
        yield from pull_cards.pulls_card(session)
        yield messages.status(session, event.at)


def _pulls_settled(session: Session, event: EventBase) -> Iterator[Deed]:
    """End the session once every pull request is merged, closed or declared unneeded."""
    yield from pull_cards.pulls_card(session)
    if not pull_cards.tasks_with_open_pull(session) and session.ending.choice is None:
        session.ending.choice = Ending.PULLS


def needs_final_verdict(session: Session) -> bool:
    """Whether the verdict on the whole session is still needed. It is made once, before anything is cleaned up."""
    return session.ending.verdict is None and bool(session.in_state(TaskState.COMPLETED))


def _judged(session: Session, event: WordsJudged) -> Iterator[Deed]:
    """Before anything is merged, users may ask for more: it is planned on top of the existing work."""
    words = talk.take_words(session, event.words_id)
    if words is None:
        return
    if event.what is not WordKind.CHANGE:
        yield from talk.answer_words(session, event, words)
        return
    more = messages.decided_by("More is wanted first", words.by, event.at)
    if pull_cards.tasks_with_pull(session):
        yield from pull_cards.pulls_card(session, more)
    else:
        yield messages.merge_offer(session, more)
    plan.revise(session, words.text)
    session.enter(Phase.SPECIFYING)
    yield messages.planning_again(session, "I am planning what you want in addition.", words.text)


def _choose(session: Session, event: Pressed, ending: Ending, what: str) -> Iterator[Deed]:
    session.ending.choice, session.ending.chosen_by, session.ending.problem = ending, event.by, ""
    session.say(Speaker.USER, what, event.at)
    yield messages.merge_offer(session, messages.decided(what, event))


def _merged_locally(session: Session, event: MergedLocally) -> Iterator[Deed]:
    if event.conflicts and new_tasks.may_add_integration(session):
        session.ending.choice, session.ending.chosen_by = None, None
        yield from new_tasks.add_integration_task(session, event)
        session.enter(Phase.EXECUTING)
        return
    if event.problem:
        yield from _not_merged(session, event.problem)
        return
    session.ending.merged_commit = event.commit
    yield messages.news(
        messages.revision_key(session, "merged"),
        f"Merged into {session.repository.base_branch} at {event.commit[:10]}",
        _tested(event),
        tone=Tone.SUCCESS,
    )


def _tested(event: MergedLocally) -> str:
    if event.check is None:
        return "No test command is known, so the merged whole was not tested."
    check = event.check
    return f"`{check.command}` {check.result} on the merged whole in {check.seconds:.0f} s."


def _not_merged(session: Session, problem: str) -> Iterator[Deed]:
    session.ending.choice, session.ending.chosen_by, session.ending.problem = None, None, problem
    yield messages.merge_offer(session)


# The end of a session: its result follows from what is known to have happened, and is shown with its evidence.

WARN_FROM_ROUND = 3
"""From this many rounds on, users are reminded of the count: perhaps it was the wrong request."""


def end_session(session: Session, event: EventBase) -> Iterator[Deed]:
    update_result(session)
    session.set_intent_status(_intent_status(session))
    session.enter(Phase.DONE)
    session.become(Status.COMPLETED)
    overall = session.ending.result.overall_status if session.ending.result else "INCOMPLETE"
    session.say(Speaker.ASSISTANT, f"Ended: {overall}", event.at)
    yield messages.status(session, event.at)
    yield summary(session, event)


def update_result(session: Session) -> None:
    """Set the result from what is known now, including the model's final words, which count as a claim."""
    asked = {
        "selected_provider": session.usage.provider or None,
        "selected_model": session.usage.model or None,
    }
    result = execution_result(session, session.ending.evidence)
    session.ending.result = result.model_copy(update=asked)


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


def summary(session: Session, event: EventBase, decided: CardDecision | None = None) -> Show:
    return Show(
        card=SummaryCard(
            key=messages.revision_key(session, "summary"),
            title=session.title,
            result=session.ending.result or execution_result(session, session.ending.evidence),
            tasks=tuple(messages.task_line(task, event.at, {}) for task in session.tasks),
            checks=tuple(_check_line(task) for task in session.tasks if task.check),
            evidence=tuple(_evidence_line(task) for task in session.tasks if task.work),
            violations=tuple(line for task in session.tasks for line in _violation_lines(task)),
            guesses=tuple(line for task in session.tasks for line in _guess_lines(task)),
            merged=_merged(session),
            kept=tuple(f"{r.branch}: {r.reason}" for r in session.ending.leftovers if r.reason),
            usage=session.usage,
            agent_runs=sum(len(task.runs) for task in session.tasks),
            agent_usage=messages.agents_usage(session),
            seconds=int((event.at - session.created_at).total_seconds()),
            pulls=tuple(line for task in session.tasks for line in _pull_line(task)),
            verdict=session.ending.verdict,
            proposed=tuple(
                f"{one.name}: {one.description}"[:300] for one in session.ending.proposed
            ),
            choices=() if decided else tuple(_choices(session)),
            decided=decided,
        )
    )


def _merged(session: Session) -> str:
    if session.ending.merged_commit:
        return (
            f"merged into {session.repository.base_branch} at {session.ending.merged_commit[:10]}"
        )
    pulls = [task.pull_request for task in session.tasks if task.pull_request]
    merged = sum(pull.merged for pull in pulls)
    return f"{merged} of {len(pulls)} pull requests merged" if pulls else ""


_BY_PEOPLE = {
    CiState.FAILED: " though a check had failed",
    CiState.PENDING: " before its checks had ended",
}
"""Results that the bot does not merge by itself, but people may."""


def _pull_line(task: Task) -> Iterator[str]:
    if pull := task.pull_request:
        became = "merged" if pull.merged else "left open" if pull.open else "closed"
        if pull.merged and pull.seen:
            became += _BY_PEOPLE.get(pull.seen.ci, "")
        yield f"{task.key}: #{pull.number} {became} {pull.url}".strip()


def _choices(session: Session) -> Iterator[Choice]:
    """Yield the button for another round with what is missing, as long as the limit allows."""
    if session.ending.proposed and session.ending.rounds < plan.MAX_ROUNDS:
        rounds = session.ending.rounds + 1
        warning = f" This would be round {rounds}." if rounds >= WARN_FROM_ROUND else ""
        yield Choice(
            label="Continue with what is missing",
            verb=Verb.MORE,
            about=session.id,
            style=Style.PRIMARY,
            confirm=f"Plan {len(session.ending.proposed)} more tasks in this session?{warning}",
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


def _guess_lines(task: Task) -> Iterator[str]:
    # Guessing words are only shown; what counts is the evidence.
    if task.run and (words := guessing_words(task.run.message)):
        yield f"{task.key}: {', '.join(words)}"


def _evidence_line(task: Task) -> str:
    commits = ", ".join(f"{c.sha[:10]} {c.subject}" for c in task.commits)
    files = len([file for file in task.verified_files if file.exists])
    seen = "1 file" if files == 1 else f"{files} files"
    return f"{task.key}: {seen} seen on disk; {commits}"


# Orders at the end of the session.


def due(session: Session) -> Iterator[Order]:
    if session.ending.choice is None:
        yield from due_pull_texts(session)
        yield from pull_requests.due(session)
    if session.ending.choice is Ending.MERGE and not session.ending.merged_commit:
        yield MergeLocally()
    elif session.ending.choice and needs_final_verdict(session):
        yield JudgeWhole(number=session.ending.rounds + 1)
    elif session.ending.choice and not session.ending.cleaned:
        yield CleanUp()
