"""A change of the request while tasks run: only the tasks that it touches stop, are planned again and go on.

The phase stays the same. Nothing takes effect until a person confirms the difference that is shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.core import approval
from bot.core.actions import AnalysePlan, Deed, JudgeImpact, Order, WriteDocument
from bot.core.choices import Verb
from bot.core.events import (
    DocumentWritten,
    Event,
    FromPerson,
    ImpactJudged,
    OrderFailed,
    PlanAnalysed,
    Pressed,
    Said,
)
from bot.core.intent import Question
from bot.core.plan import DocumentKind
from bot.core.session import Session, Speaker
from bot.core.session_parts import Approval
from bot.core.sheets import Tone
from bot.core.spec_kit.drafts import draft_problems, merge_breakdown
from bot.core.talk import Change, ChangeStage, Words
from bot.core.task import drafts_of
from bot.core.text import sentences
from bot.steps import messages, plan
from bot.steps.approve import rules as approve
from bot.steps.change import effects as change_effects
from bot.steps.talk import rules as talk
from bot.steps.verify import test_command

ORDERS = frozenset({"judge_impact", "write_document", "analyse_plan"})


def concerns(session: Session, event: Event) -> bool:
    """Whether an event belongs to the pending change."""
    change = session.change
    if change is None:
        return False
    match event:
        case ImpactJudged() | DocumentWritten() | PlanAnalysed():
            return True
        case OrderFailed(what=what):
            return what in ORDERS
        case Pressed(verb=Verb.APPROVE | Verb.CHANGE | Verb.DROP):
            return True
        case Said(text=text):
            return change.stage is ChangeStage.AWAITING and (
                approve.is_yes(text) or approve.is_no(text)
            )
        case _:
            return False


def decide(session: Session, change: Change, event: Event) -> Iterator[Deed]:
    match event:
        case ImpactJudged() if event.change_id == change.id:
            yield from _judged(session, change, event)
        case DocumentWritten() if event.document.revision == change.revision:
            yield from _document_written(session, change, event)
        case PlanAnalysed(revision=revision) if revision == change.revision:
            yield from _analysed(session, change, event)
        case OrderFailed(reason=reason, remedy=remedy):
            yield from _give_up(session, sentences(f"I could not plan it: {reason}", remedy))
        case Pressed():
            yield from _pressed(session, change, event)
        case Said(text=text) if approve.is_yes(text) and _is_early(session, change, event):
            yield messages.private_reply(event, approve.TOO_EARLY)
        case Said(text=text) if approve.is_yes(text):
            yield from _confirm(session, change, event)
        case Said():
            yield messages.private_reply(
                event, "Say what should be different, or press Forget the change."
            )
        case _:
            pass


def begin(session: Session, words: Words, decision: Question | None = None) -> Iterator[Deed]:
    """Start a change. Only one is pending at a time: further messages are added to it."""
    session.plan.changes += 1
    if session.change is None:
        session.change = Change(
            id=words.id,
            text=words.text,
            by=words.by,
            at=words.at,
            may_stop=words.may_stop,
            revision=messages.revision(session) + 1,
            decision=decision,
        )
    else:
        yield from _extend_change(session, session.change, words)
    yield messages.news(
        f"change:{session.plan.changes}",
        "A change of plan: I am looking at what it affects.",
        words.text,
    )


def _extend_change(session: Session, change: Change, words: Words) -> Iterator[Deed]:
    if change.stage is ChangeStage.AWAITING:
        yield change_effects.approval_card(
            session, change, messages.decided_by("Said differently", change.by, change.at)
        )
    session.change = change.model_copy(
        update={
            "text": f"{change.text}\n\n{words.text}",
            "may_stop": words.may_stop,
            "stage": ChangeStage.JUDGING,
            "revision": change.revision + 1,
            "documents": (),
            "drafts": (),
            "analysis": None,
            "repairs": 0,
            "shown_at": None,
        }
    )


def _judged(session: Session, change: Change, event: ImpactJudged) -> Iterator[Deed]:
    """Hold the affected tasks at once: an agent must not go on with what nobody wants any more."""
    touched = {affected.task_id for affected in event.affected}
    change_effects.release(session, [id for id in change.held if id not in touched])
    change = change.model_copy(
        update={
            "stage": ChangeStage.DRAFTING,
            "affected": event.affected,
            "reason": event.reason,
            "held": tuple(id for id in change.held if id in touched),
        }
    )
    session.change = change
    if change.may_stop:
        yield from change_effects.hold_affected(session, change, event.at)
    stops, goes_on = change_effects.stops(session), change_effects.goes_on(session)
    when = "" if change.may_stop else " when it is confirmed"
    lines = (
        f"Stops{when}: {'; '.join(stops) or 'nothing'}",
        f"Goes on: {', '.join(goes_on) or 'nothing'}",
        *((event.reason,) if event.reason else ()),
    )
    title = "A change of plan: I am planning again what it affects."
    yield messages.news(f"change:{session.plan.changes}", title, *lines)


def _document_written(session: Session, change: Change, event: DocumentWritten) -> Iterator[Deed]:
    update: dict[str, object] = {"documents": (*change.documents, event.document)}
    if event.document.kind is DocumentKind.TASKS:
        if change_effects.is_outdated(session, event.drafts):
            return  # it is written again
        drafts = merge_breakdown(
            drafts_of(session.tasks), event.drafts, change_effects.touched_keys(session)
        )
        if problems := draft_problems(drafts):
            yield from _give_up(session, f"No plan came out of it: {'; '.join(problems[:3])}.")
            return
        update |= {
            "drafts": drafts,
            "score": event.score,
            "parallelism": min(event.parallelism, session.agents.most_at_once),
            "stage": ChangeStage.ANALYSING,
        }
    session.change = change.model_copy(update=update)


def _analysed(session: Session, change: Change, event: PlanAnalysed) -> Iterator[Deed]:
    """Have critical findings repaired before anybody sees the change, as for any plan; then ask for approval, never by
    fewer people than before.
    """
    session.approval.required = max(session.approval.required, event.policy.approvers)
    session.approval.others_only = session.approval.others_only or event.policy.others
    if event.analysis.critical and change.repairs < plan.MAX_REPAIRS:
        again = {"stage": ChangeStage.DRAFTING, "documents": (), "drafts": ()}
        repairs = {"analysis": event.analysis, "repairs": change.repairs + 1}
        session.change = change.model_copy(update={**again, **repairs})
        return
    awaiting = {"stage": ChangeStage.AWAITING, "shown_at": event.at}
    analysis = event.analysis.model_copy(update={"score": change.score})
    change = change.model_copy(update={**awaiting, "analysis": analysis})
    session.change, session.approval.given = change, ()
    yield change_effects.approval_card(session, change)


def _is_early(session: Session, change: Change, event: Said) -> bool:
    """Whether the message was written before its author could have read the card."""
    shown = change.stage is ChangeStage.AWAITING
    return shown and approval.is_before_offer(event, approval.offer_of_change(session, change))


def _pressed(session: Session, change: Change, event: Pressed) -> Iterator[Deed]:
    current = change.stage is ChangeStage.AWAITING and event.about == approval.offer_of_change(
        session, change
    )
    if not current:
        yield messages.stale_press(session, event)
    elif event.verb is Verb.APPROVE:
        yield from _confirm(session, change, event)
    elif event.verb is Verb.DROP:
        yield change_effects.approval_card(session, change, messages.decided("Forgotten", event))
        session.say(Speaker.USER, "Forgot the change", event.at)
        _drop_change(session, change)
    elif event.text.strip():
        session.say(Speaker.USER, event.text, event.at)
        yield from begin(session, talk.words_of(event, event.text))
    else:
        yield messages.private_reply(event, approve.WHAT_ELSE)


def _confirm(session: Session, change: Change, event: FromPerson) -> Iterator[Deed]:
    if change.analysis and change.analysis.critical:
        yield messages.private_reply(
            event, "This has critical findings and cannot be confirmed. Say it differently."
        )
        return
    if change.shown_at and event.at - change.shown_at > approval.VALID_FOR:
        session.change = change = change.model_copy(update={"shown_at": event.at})
        session.approval.given = ()
        yield messages.private_reply(event, "That is older than 24 hours; here it is afresh.")
        yield change_effects.approval_card(session, change)
        return
    if not change_effects.edits_only(session, change) and approve.is_own_approval_excluded(
        session, event
    ):
        yield messages.private_reply(event, approve.OWN_REQUEST)
        return
    if not change_effects.edits_only(session, change) and approve.needs_more_approvals(
        session, event
    ):
        given = _change_approval(session, change, event)
        yield from approve.add_approval(
            session, event, given, lambda one: change_effects.approval_card(one, change)
        )
        return
    decided = messages.decided("Change confirmed", event)
    yield change_effects.approval_card(session, change, decided)
    yield from change_effects.close_affected_cards(session, change, decided)
    yield from change_effects.hold_affected(session, change, event.at)
    _take_over(session, session.change or change, event)
    session.say(Speaker.USER, f"Confirmed the change: {change.text}", event.at)
    yield messages.status(session, event.at)


def _take_over(session: Session, change: Change, event: FromPerson) -> None:
    """Make the changed plan the session's plan."""
    session.approval.granted = _change_approval(session, change, event)
    change_effects.apply_change(session, change, event.at)
    session.plan.documents, session.plan.parallelism = change.documents, change.parallelism
    session.plan.analysis = change.analysis
    if change.decision:
        session.intent = session.intent.with_question(change.decision)
        test_command.take_answer(session)
    if session.plan.spec:
        session.plan.spec = session.plan.spec.model_copy(
            update={"revision": change.revision, "commit": ""}
        )
    session.change = None


def _change_approval(session: Session, change: Change, event: FromPerson) -> Approval:
    digest = approval.digest_of_change(session, change)
    return Approval(by=event.by, at=event.at, digest=digest, revision=change.revision)


def _give_up(session: Session, why: str) -> Iterator[Deed]:
    """Drop the change; nothing is altered, and held tasks go on."""
    key, title = f"change:{session.plan.changes}", "The change was not made."
    yield messages.news(key, title, why, tone=Tone.FAILURE)
    if session.change:
        _drop_change(session, session.change)


def _drop_change(session: Session, change: Change) -> None:
    change_effects.release(session, change.held)
    session.change = None


# Orders that a pending change demands.


def due(change: Change) -> Iterator[Order]:
    match change.stage:
        case ChangeStage.JUDGING:
            yield JudgeImpact(change_id=change.id, revision=change.revision)
        case ChangeStage.DRAFTING:
            written = {document.kind for document in change.documents}
            missing = next((kind for kind in DocumentKind if kind not in written), None)
            if missing:
                yield WriteDocument(document=missing, revision=change.revision)
        case ChangeStage.ANALYSING:
            yield AnalysePlan(revision=change.revision)
        case ChangeStage.AWAITING:
            return
