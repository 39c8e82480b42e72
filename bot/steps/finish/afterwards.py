"""A finished session: messages in its thread, whether it is continued, and events that still arrive."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import CleanUp, Deed, JudgeContinuation, Order, Show, SumUp
from bot.core.cards import AnswerCard
from bot.core.choices import Verb
from bot.core.events import (
    Broke,
    CleanedUp,
    Commanded,
    ContinuationJudged,
    Continued,
    Event,
    OrderFailed,
    Pressed,
    RunEnded,
    Said,
    SessionOpened,
    SummedUp,
)
from bot.core.session import Session, Speaker
from bot.core.sheets import Bullets, Text, Tone
from bot.core.states import IntentStatus, Phase, Status
from bot.core.talk import Words
from bot.steps import messages, plan
from bot.steps.approve import rules as approve
from bot.steps.blocked import troubles
from bot.steps.finish import rules as finish
from bot.steps.intake import rules as intake
from bot.steps.intake.rules import sessions_to_open
from bot.steps.talk import rules as talk

CAREFUL_FROM = 3
GIVEN_UP = "This session was discarded before I came to that. Say it again, and a new one begins."


def decide(session: Session, event: Event) -> Iterator[Deed]:  # noqa: C901 - one case per event
    if approve.concerns_spec(session, event):
        yield from approve.decide_spec(session, event)
        return
    match event:
        case CleanedUp() | OrderFailed(what="clean_up") if session.status is Status.DISCARDED:
            yield _discarded(session, event)
        case RunEnded(run_id=run_id):
            task = session.task_of_run(run_id)
            if task and task.run and task.run.alive:
                task.update_run(task.run.end(event.end.outcome, event.at))
        case Said(text=text) if session.status is Status.FAILED:
            yield from _said_after_a_failure(session, event, text)
        case Said(waited=True) if session.status is Status.DISCARDED:
            yield messages.private_reply(event, GIVEN_UP)
        case Said(text=text):
            yield from talk.message_heard(session, event, text)
        case ContinuationJudged():
            yield from _judged(session, event)
        case Continued(text=text):
            session.say(Speaker.USER, text, event.at)
            yield from _continue_or_new(
                session, talk.words_of(event, text), f"{event.by} asked for it elsewhere."
            )
        case SessionOpened():
            yield from intake.part_opened(session, event)
        case OrderFailed(what="sum_up"):
            session.ending.summary = ""
        case SummedUp():
            yield from _summed_up(session, event)
        case OrderFailed(what="judge_continuation"):
            yield from talk.words_not_judged(session, event)
        case OrderFailed(what="open_session"):
            yield _not_opened(session, event)
        case Pressed(verb=Verb.MORE):
            yield from continue_with_missing(session, event)
        case Pressed():
            yield messages.stale_press(session, event)
        case _:
            pass


def _not_opened(session: Session, event: OrderFailed) -> Show:
    intake.part_not_opened(session, event)
    return messages.news(
        f"not-opened:{event.id}",
        "I could not open a session for that.",
        event.reason,
        event.remedy,
        tone=Tone.FAILURE,
    )


def _summed_up(session: Session, event: SummedUp) -> Iterator[Deed]:
    session.ending.summary = event.text
    finish.update_result(session)
    if event.text:
        key = messages.revision_key(session, "in-short")
        yield messages.answer_card(key, "In short", Text(text=event.text))


def continue_with_missing(session: Session, event: Pressed | Commanded) -> Iterator[Deed]:
    """Continue this session with what the final verdict found missing."""
    if session.status is not Status.COMPLETED:
        yield messages.private_reply(
            event, f"This session is not finished: {_what_instead(session)}"
        )
    elif not session.ending.proposed:
        yield messages.private_reply(
            event, "Nothing was found missing. Say in the thread what you want besides."
        )
    elif not _may_continue(session):
        yield messages.private_reply(event, _why_not(session) or "It cannot be continued.")
    else:
        yield finish.summary(session, event, messages.decided("Continued", event))
        words = talk.words_of(event, _missing_request(session))
        yield from _continue(session, words, f"{event.by} wants what was found missing.")


def _what_instead(session: Session) -> str:
    match session.status:
        case Status.PAUSED:
            return "it is paused. Write resume."
        case Status.FAILED:
            return "it has failed. Write resume to have it tried again."
        case Status.DISCARDED:
            return "it was discarded. Say in the thread what you would like, and a new one begins."
        case _:
            return "it goes on by itself."


def _missing_request(session: Session) -> str:
    """Return what is missing in words, as a user would ask for it."""
    return "\n".join(
        [
            "The final judgement found that something is missing. Add tasks for it, and keep what is done:",
            *(f"- {one.name}: {one.description}" for one in session.ending.proposed),
        ]
    )


def record_bug(session: Session, event: Broke) -> Iterator[Deed]:
    # Clears everything pending: what a bug has ended once must not be started again and again.
    session.talk.waiting, session.request.parts = (
        (),
        tuple(part for part in session.request.parts if part.thread),
    )
    session.ending.summary, session.ending.cleaned = session.ending.summary or "", True
    yield messages.news(f"broke:{event.id}", troubles.BUG, event.reason, tone=Tone.FAILURE)


def _discarded(session: Session, event: CleanedUp | OrderFailed) -> Show:
    session.ending.cleaned = True
    if isinstance(event, OrderFailed):
        body = (Text(text=f"Not everything could be cleaned up: {event.reason}"),)
        return Show(card=AnswerCard(key="discarded", title="Discarded", body=body))
    session.ending.leftovers = event.removals
    lines = tuple(
        f"{r.branch}: {r.reason or 'kept'}"
        for r in event.removals
        if not (r.branch_gone and r.worktree_gone)
    )
    stay = (Text(text="These branches stay:"), Bullets(items=lines)) if lines else ()
    pulls = tuple(
        f"{t.key}: #{t.pull_request.number} {t.pull_request.url}".strip()
        for t in session.tasks
        if t.pull_request and t.pull_request.open
    )
    still = (Text(text="These pull requests stay open:"), Bullets(items=pulls)) if pulls else ()
    return Show(card=AnswerCard(key="discarded", title="Discarded", body=(*stay, *still)))


def _said_after_a_failure(session: Session, event: Said, text: str) -> Iterator[Deed]:
    """Before any work was begun, a message simply replaces the request. Later the failure must be settled first."""
    if session.phase is not Phase.INTAKE or session.request.questions_asked:
        yield messages.private_reply(
            event,
            "This session has failed. Write resume to have it tried again, or discard; then ask anew.",
        )
        return
    session.intent = session.intent.model_copy(update={"body": text})
    session.say(Speaker.USER, text, event.at)
    yield from troubles.try_again(session, event)
    yield from messages.request_cards(session)


def _judged(session: Session, event: ContinuationJudged) -> Iterator[Deed]:
    words = talk.take_words(session, event.words_id)
    if words is None:
        return
    match event.what:
        case "continue":
            yield from _continue_or_new(session, words, event.reason)
        case "talk":
            if not event.reason:
                yield messages.whisper_to(words.by, words.id, talk.NOT_UNDERSTOOD)
            elif event.reply:
                yield messages.answer_card(
                    f"reply:{words.id}", f"To {words.by}", Text(text=event.reply)
                )
        case _:
            yield from _new_session(session, words, event.reason)


def _continue_or_new(session: Session, words: Words, reason: str) -> Iterator[Deed]:
    """Continue the session, or start a new one if that is not possible."""
    if _may_continue(session):
        yield from _continue(session, words, reason)
    else:
        yield from _new_session(session, words, _why_not(session) or reason)


def _new_session(session: Session, words: Words, why: str) -> Iterator[Deed]:
    session.request.parts = (*session.request.parts, intake.new_request(session, words))
    yield messages.news(f"new:{words.id}", "A new session: this one is finished.", why)


def _may_continue(session: Session) -> bool:
    return (
        session.status is Status.COMPLETED
        and bool(session.tasks)
        and (session.ending.rounds < plan.MAX_ROUNDS)
    )


def _why_not(session: Session) -> str:
    if session.ending.rounds >= plan.MAX_ROUNDS:
        return f"It was continued {plan.MAX_ROUNDS} times already."
    return ""


def _continue(session: Session, words: Words, reason: str) -> Iterator[Deed]:
    """Extend the spec and add tasks; finished work stays. The base is read again."""
    session.ending.rounds += 1
    _forget_removed_workspaces(session)
    session.become(Status.ACTIVE)
    if not session.request.spec_only:
        session.set_intent_status(IntentStatus.APPROVED)
    session.ending.choice, session.ending.chosen_by, session.ending.problem = None, None, ""
    session.ending.merged_commit, session.ending.cleaned, session.ending.leftovers = "", False, ()
    session.ending.result, session.ending.summary, session.ending.verdict = None, None, None
    session.ending.proposed, session.pulls.problem = (), ""
    session.approval.checking_base = True
    plan.revise(session, words.text)
    session.enter(Phase.SPECIFYING)
    rounds = (
        f"Round {session.ending.rounds} of at most {plan.MAX_ROUNDS}."
        if session.ending.rounds >= CAREFUL_FROM
        else ""
    )
    yield messages.news(
        f"continue:{session.ending.rounds}",
        "More of the same: I extend the plan of this session.",
        *(line for line in (reason, rounds) if line),
    )


def _forget_removed_workspaces(session: Session) -> None:
    """Update workspaces after the clean-up: a removed branch was merged, and a removed worktree can be created again."""
    removals = {removal.branch: removal for removal in session.ending.leftovers}
    for task in session.tasks:
        removal = removals.get(task.workspace.branch) if task.workspace else None
        if task.workspace and removal:
            kept = task.workspace.model_copy(update={"ready": not removal.worktree_gone})
            task.workspace = None if removal.branch_gone else kept


# Orders for the thread of a finished session.


def due(session: Session) -> Iterator[Order]:
    """Yield the orders of a finished session: clean-up, summary, and judging messages in its thread."""
    left = session.status is Status.DISCARDED or approve.spec_is_over(session)
    if left and not session.ending.cleaned:
        yield CleanUp()
    if (
        session.status is Status.COMPLETED
        and session.ending.result
        and session.ending.summary is None
    ):
        yield SumUp(number=session.ending.rounds + 1)
    if session.status is Status.FAILED:
        return
    if words := talk.next_words(session):
        yield JudgeContinuation(words_id=words.id)
    yield from sessions_to_open(session)
