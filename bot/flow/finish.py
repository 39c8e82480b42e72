"""All tasks are settled: offer the merge, clean up on proof, and say how it ended."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.choices import Verb
from bot.domain.events import (
    CleanedUp,
    Event,
    Happening,
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
from bot.domain.evidence import Judgement, Verdict
from bot.domain.sentences import sentences
from bot.domain.session import Ending, Session, Speaker
from bot.domain.sheets import Tone
from bot.domain.states import Phase, TaskState
from bot.domain.tasks import PullText, Task
from bot.domain.words import WordKind
from bot.flow import conclude, integrate, place, pulls, replies, revise, shared, standing, telling


def begin(session: Session, event: Happening) -> Iterator[Deed]:
    """Where nothing was completed there is nothing to merge, only to clean up."""
    yield standing.status(session, event.at)
    if not session.in_state(TaskState.COMPLETED):
        session.ending = Ending.KEEP
    elif pulls.with_pull(session):
        yield from _pulls_settled(session, event)
        yield from pulls.waiting(session)
    elif session.hosted:
        # there was nothing to be made a pull request of, or people wanted none
        session.ending = Ending.KEEP
    elif not undescribed(session):
        yield telling.offer(session)


def undescribed(session: Session) -> list[Task]:
    """Those whose pull request has no words yet: it is not made, or offered to be merged, before it has."""
    done = session.in_state(TaskState.COMPLETED, TaskState.INTEGRATING)
    return [
        task
        for task in done
        if task.pull_text is None and task.run and task.commits and shared.is_last(session, task)
    ]


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case Pressed():
            yield from _pressed(session, event)
        case PullsSeen() | PullMergeTried() | OrderFailed(what="merge_pull" | "watch_pulls"):
            yield from _about_pulls(session, event)
        case Said(text=text):
            yield from replies.heard(session, event, text)
        case Result():
            yield from _came_back(session, event)
        case _:
            pass


def _came_back(session: Session, event: Result) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case MergedLocally():
            yield from _merged(session, event)
        case WholeJudged(verdict=verdict, proposed=proposed):
            session.final_verdict, session.proposed = verdict, proposed
        case OrderFailed(what="judge_whole", reason=reason):
            session.final_verdict = Verdict(
                outcome=Judgement.BLOCKED,
                reasons=(f"Nobody could judge it: {reason}",),
                at=event.at,
            )
        case CleanedUp(removals=removals):
            session.leftovers, session.cleaned = removals, True
            session.inventory, session.unlogged = event.evidence, event.unlogged
            if event.unlogged:
                title = "I cannot keep the logs of its tasks"
                yield telling.trouble("logs", title, event.unlogged_because, event.unlogged_remedy)
            yield from conclude.end(session, event)
        case OrderFailed(what="merge_locally", reason=reason, remedy=remedy):
            yield from _not_merged(session, sentences(reason, remedy))
        case OrderFailed(what="clean_up"):
            session.cleaned = True
            yield from conclude.end(session, event)
        case WordsJudged():
            yield from _judged(session, event)
        case WorkDescribed() | OrderFailed(what="describe_work"):
            described(session, event)
            if not undescribed(session) and not pulls.with_pull(session):
                yield telling.offer(session)
        case OrderFailed(what="judge_words"):
            yield from replies.not_judged(session, event)
        case _:
            pass


def _pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    match event.verb:
        case Verb.MERGE if _may_choose(session, event):
            yield from _choose(session, event, Ending.MERGE, "Merge chosen")
        case Verb.KEEP if _may_choose(session, event):
            yield from _choose(session, event, Ending.KEEP, "Kept on the branches")
        case verb if verb in pulls.VERBS and session.ending is None:
            yield from pulls.pressed(session, event)
            yield from _pulls_settled(session, event)
        case _:
            yield telling.stale(session, event)


def _may_choose(session: Session, event: Pressed) -> bool:
    """Not with a button that was about one task."""
    return session.ending is None and not pulls.with_pull(session) and not event.about


def _about_pulls(
    session: Session, event: PullsSeen | PullMergeTried | OrderFailed
) -> Iterator[Deed]:
    """They may bring work back: then the session executes again."""
    yield from pulls.decide(session, event)
    yield from pulls.attend(session, event)
    if place.all_settled(session):
        yield from _pulls_settled(session, event)
    else:
        session.enter(Phase.EXECUTING)
        yield from pulls.card(session)
        yield standing.status(session, event.at)


def _pulls_settled(session: Session, event: Happening) -> Iterator[Deed]:
    """All merged, closed, or declared unneeded: nobody is waited for any more."""
    yield from pulls.card(session)
    if not pulls.still_open(session) and session.ending is None:
        session.ending = Ending.PULLS


def wants_verdict(session: Session) -> bool:
    """On the whole, once, before anything is cleaned up."""
    return session.final_verdict is None and bool(session.in_state(TaskState.COMPLETED))


def _judged(session: Session, event: WordsJudged) -> Iterator[Deed]:
    """Before anything is merged, more can be asked for: it is planned, and built upon what is there."""
    words = replies.judged(session, event.words_id)
    if words is None:
        return
    if event.what is not WordKind.CHANGE:
        yield from replies.answered(session, event, words)
        return
    more = telling.decided_by("More is wanted first", words.by, event.at)
    if pulls.with_pull(session):
        yield from pulls.card(session, more)
    else:
        yield telling.offer(session, more)
    revise.anew(session, words.text)
    session.enter(Phase.SPECIFYING)
    yield telling.planning_again(session, "I am planning what you want in addition.", words.text)


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
    if event.conflicts and integrate.may_be_settled(session):
        session.ending, session.ending_by = None, None
        yield from integrate.begin(session, event)
        session.enter(Phase.EXECUTING)
        return
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
    check = event.check
    return f"`{check.command}` {check.result} on the merged whole in {check.seconds:.0f} s."


def _not_merged(session: Session, problem: str) -> Iterator[Deed]:
    session.ending, session.ending_by, session.ending_problem = None, None, problem
    yield telling.offer(session)
