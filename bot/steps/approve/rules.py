"""One approval, bound to exactly what was shown; or a change request, which leads to a new revision.

Only these exact words and this button approve; the model's interpretation of a message never does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bot.core import approval
from bot.core.actions import Deed
from bot.core.cards import CardDecision
from bot.core.choices import Verb
from bot.core.events import (
    BaseSeen,
    CleanedUp,
    Event,
    EventBase,
    FromPerson,
    OrderFailed,
    Pressed,
    Said,
    WordsJudged,
)
from bot.core.intent import Risk
from bot.core.people import Person
from bot.core.session import Session, Speaker
from bot.core.session_parts import Approval
from bot.core.sheets import Tone
from bot.core.states import IntentStatus, Phase, Status
from bot.core.talk import WordKind
from bot.steps import messages, plan
from bot.steps.approve import moved_base
from bot.steps.blocked import troubles
from bot.steps.finish import rules as finish
from bot.steps.talk import rules as talk

_YES = frozenset(
    {"approve", "approved", "yes", "y", "ok", "lgtm", "go", "承認", "はい", "実行して"}
    | {"run it", "run", "do it", "go ahead", "confirm", "実行", "進めて"}
)
_RUN = frozenset({"run it", "approve", "approved", "実行して", "実行"})
"""Words that count even if no approval is pending, where a mere «ok» must not start anything."""
_NO = frozenset({"no", "n", "reject", "却下", "いいえ"})
OPERATOR = Person(platform="bot", id="rule:low-risk", name="the operator's rule for low risk")
TOO_EARLY = "You said that before the plan was shown; please read it."
OWN_REQUEST = "You asked for this yourself, and its risk is high: somebody else must approve it."
WHAT_ELSE = "What should be different? Write it here, and I will plan again."


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case Pressed(verb=Verb.APPROVE, about=about) if about == approval.offer(session):
            yield from _approve(session, event)
        case Pressed(verb=Verb.CHANGE, about=about, text=text) if about == approval.offer(session):
            yield from _asked_for_changes(session, event, text)
        case Said(text=text):
            yield from _said(session, event, text)
        case WordsJudged():
            yield from _judged(session, event)
        case BaseSeen():
            yield from _decide_base_check(session, event)
        case OrderFailed(what="judge_words"):
            yield from talk.words_not_judged(session, event)
        case OrderFailed():
            yield from troubles.fail_on_refusal(session, event)
        case Pressed():
            yield messages.stale_press(session, event)
        case _:
            pass


def is_yes(text: str) -> bool:
    """Whether these words approve a plan that is shown."""
    return _word(text) in _YES


def is_run(text: str) -> bool:
    """Whether these words start a plan for which no approval is pending."""
    return _word(text) in _RUN


def is_no(text: str) -> bool:
    return _word(text) in _NO


def is_answer(text: str) -> bool:
    """Whether the text is only an answer, without a meaning of its own."""
    return is_yes(text) or is_no(text)


def approve_low_risk(session: Session, event: EventBase) -> Iterator[Deed]:
    """Start a low-risk plan without approval if the operator allows it and nothing speaks against it."""
    low = session.approval.automatic and session.intent.risk is Risk.LOW
    if low and not session.request.dry_run and _is_risk_judgement_valid(session):
        yield from _accept(session, OPERATOR, event)


def _is_risk_judgement_valid(session: Session) -> bool:
    # The risk was judged from the request alone, so free-text answers and changes given later void that judgement.
    analysis, intent = session.plan.analysis, session.intent
    chosen = all(q.answer in (q.default, *q.options) for q in intent.clarifications)
    first = messages.revision(session) == 1 and not session.plan.change_request and chosen
    return first and intent.parent is None and analysis is not None and not analysis.critical


def _word(text: str) -> str:
    return " ".join(text.strip().lower().rstrip(".!。").split())


def _said(session: Session, event: Said, text: str) -> Iterator[Deed]:
    if is_yes(text) and approval.is_before_offer(event, approval.offer(session)):
        yield messages.private_reply(event, TOO_EARLY)
    elif is_yes(text):
        yield from _approve(session, event)
    elif is_no(text):
        yield messages.private_reply(event, WHAT_ELSE)
    else:
        yield from talk.message_heard(session, event, text)


def _approve(session: Session, event: FromPerson) -> Iterator[Deed]:
    if approval.is_complete(session):
        given = session.approval.given[-1]
        yield messages.private_reply(
            event, f"Already approved by {given.by}; it starts in a moment."
        )
    elif session.plan.analysis and session.plan.analysis.critical:
        yield messages.private_reply(
            event,
            "This plan has critical findings and cannot be approved. Say what should be different.",
        )
    elif expired(session, event):
        yield messages.private_reply(
            event,
            "The plan is older than 24 hours. I am checking whether the base has moved since then.",
        )
        session.approval.checking_base = True
    elif is_own_approval_excluded(session, event):
        yield messages.private_reply(event, OWN_REQUEST)
    elif needs_more_approvals(session, event):
        given = _approval_of(session, event.by, event)
        yield from add_approval(session, event, given, messages.approval_wanted)
    else:
        yield from _accept(session, event.by, event)


def is_own_approval_excluded(session: Session, event: FromPerson) -> bool:
    """Whether this person's approval does not count because the request is their own and the operator requires others."""
    return session.approval.others_only and _same(event.by, session.owner)


def needs_more_approvals(session: Session, event: FromPerson) -> bool:
    """Whether the operator requires more approvals than this person's."""
    others = [given for given in session.approval.given if not _same(given.by, event.by)]
    return len(others) + 1 < session.approval.required


def add_approval(
    session: Session, event: FromPerson, given: Approval, card: Callable[[Session], Deed]
) -> Iterator[Deed]:
    if any(_same(given.by, event.by) for given in session.approval.given):
        told = "You have approved this already; somebody else must approve it too."
        yield messages.private_reply(event, told)
        return
    session.approval.given = (*session.approval.given, given)
    yield card(session)


def _same(one: Person, other: Person) -> bool:
    return (one.platform, one.id) == (other.platform, other.id)


def _approval_of(session: Session, by: Person, event: EventBase) -> Approval:
    return Approval(
        by=by, at=event.at, digest=approval.digest(session), revision=messages.revision(session)
    )


def _accept(session: Session, by: Person, event: EventBase) -> Iterator[Deed]:
    # With a host, the base may have moved there since the plan was made: it is checked first.
    given = _approval_of(session, by, event)
    session.approval.given = (*session.approval.given, given)
    if session.pulls.host is None:
        yield from _start(session, given, event)
    else:
        session.approval.checking_base = True
        yield messages.approval_wanted(session, _approved(session, given))


def _approved(session: Session, given: Approval) -> CardDecision:
    return messages.decided_by(f"Revision {given.revision} approved", given.by, given.at)


def _start(session: Session, given: Approval, event: EventBase) -> Iterator[Deed]:
    session.approval.granted = given
    if session.intent.status is IntentStatus.PROPOSED:
        session.set_intent_status(IntentStatus.APPROVED)
    if (
        session.intent.status is not IntentStatus.EXECUTING
    ):  # already executing: more was asked for before the merge
        session.set_intent_status(IntentStatus.EXECUTING)
    session.request.dry_run = False
    session.say(Speaker.USER, f"Approved revision {given.revision}", event.at)
    session.enter(Phase.EXECUTING)
    yield messages.approval_wanted(session, _approved(session, given))
    if plan.all_settled(session):  # everything that is wanted is done already
        session.enter(Phase.FINISHING)
        yield from finish.begin(session, event)
    else:
        yield messages.status(session, event.at)


def expired(session: Session, event: FromPerson) -> bool:
    shown = session.plan.shown_at
    return bool(shown and event.at - shown > approval.VALID_FOR)


def _decide_base_check(session: Session, event: BaseSeen) -> Iterator[Deed]:
    """Decide on the base check: start an accepted plan unless the base has moved in what it touches; show an expired
    plan again if the base has not moved; otherwise make a new plan.
    """
    accepted, session.approval.checking_base = approval.is_complete(session), False
    session.repository.upstream = event.base.upstream or session.repository.upstream
    moved = moved_base.base_move_text(session, event)
    if accepted and not (moved and moved_base.concerns_plan(session, event)):
        yield from _started_from(session, event, moved)
    elif not moved:
        session.plan.shown_at, session.approval.given = event.at, ()
        yield messages.approval_wanted(session)
        yield messages.news(
            f"as-it-was:{messages.revision(session)}:{int(event.at.timestamp())}",
            "The base has not moved: the plan stands as it was shown. Approve it once more.",
            tone=Tone.NEEDS_YOU,
        )
    else:
        yield from _plan_again(session, event, moved)


def _started_from(session: Session, event: BaseSeen, moved: str) -> Iterator[Deed]:
    given = session.approval.given[-1]
    if why := moved_base.why_base_unknown(event):
        yield moved_base.base_unknown_news(session, why, event.at)
    if moved:
        yield moved_base.base_moved_news(session, event, moved)
        moved_base.accept_new_base(session, event)
    yield from _start(session, given, event)


def _plan_again(session: Session, event: BaseSeen, moved: str) -> Iterator[Deed]:
    yield messages.approval_wanted(session, messages.decided_by(moved, OPERATOR, event.at))
    session.repository.base_commit, session.repository.agent_settings = (
        event.base.commit,
        event.brought,
    )
    plan.revise(session, f"{moved}: hold the plan against the repository as it is now.")
    session.approval.checking_base = False  # the base was checked just now
    session.enter(Phase.SPECIFYING)
    yield messages.news(
        f"revising:{messages.revision(session)}", f"{moved}, so I am checking the plan again."
    )


def _judged(session: Session, event: WordsJudged) -> Iterator[Deed]:
    words = talk.take_words(session, event.words_id)
    if words is None:
        return
    if event.what is WordKind.CHANGE:
        decided = messages.decided_by("Changes requested", words.by, event.at)
        yield from _change(session, words.text, messages.approval_wanted(session, decided))
    else:
        yield from talk.answer_words(session, event, words)


def _asked_for_changes(session: Session, event: Pressed, text: str) -> Iterator[Deed]:
    if not text.strip() or session.plan.spec is None:
        yield messages.private_reply(event, WHAT_ELSE)
        return
    session.say(Speaker.USER, text, event.at)
    card = messages.approval_wanted(session, messages.decided("Changes requested", event))
    yield from _change(session, text, card)


def _change(session: Session, text: str, card: Deed) -> Iterator[Deed]:
    yield card
    plan.revise(session, text)
    session.enter(Phase.SPECIFYING)
    yield messages.planning_again(session, "I am planning again with your changes.", text)


# Only a spec (`spec`): the session ends as soon as its documents are written, and waits for nobody. A change in its
# thread makes a new revision; *Run it* carries it out.


def spec_written(session: Session, event: EventBase) -> Iterator[Deed]:
    """Complete a session that only had to write its documents."""
    session.become(Status.COMPLETED)
    session.ending.cleaned = False
    yield messages.status(session, event.at)


def spec_is_over(session: Session) -> bool:
    return session.request.spec_only and session.over and session.phase is Phase.APPROVING


def concerns_spec(session: Session, event: Event) -> bool:
    """Whether an event after the end of a spec-only session is decided here."""
    if not spec_is_over(session) or session.status is not Status.COMPLETED:
        return False
    match event:
        case Pressed(verb=Verb.APPROVE | Verb.CHANGE):
            return True
        case Said(text=text):
            return is_run(text)
        case _:
            return isinstance(event, CleanedUp) or (
                isinstance(event, OrderFailed) and event.what == "clean_up"
            )


def decide_spec(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case CleanedUp(removals=removals):
            session.ending.cleaned, session.ending.leftovers = True, removals
        case OrderFailed():
            session.ending.cleaned = True
        case Pressed(about=about) if about != approval.offer(session):
            yield messages.stale_press(session, event)
        case Pressed(verb=Verb.CHANGE, text=text):
            if text.strip():  # reopen only when asked to run: it must stay over, or else a mere «ok» would start it
                reopen_spec(session)
            yield from decide(session, event)
        case Pressed() | Said():
            yield from _run_spec(session, event)
        case _:
            pass


def _run_spec(session: Session, event: Pressed | Said) -> Iterator[Deed]:
    """Start carrying out the spec; from here on the session is an ordinary one."""
    if session.plan.analysis and session.plan.analysis.critical:
        told = "This plan has critical findings and cannot be carried out. Say what should be different."
        yield messages.private_reply(event, told)
        return
    reopen_spec(session)
    session.request.spec_only = False
    yield from decide(session, event)


def reopen_spec(session: Session) -> None:
    """Reopen the session, so that what its end cleaned up is created and later cleaned up again."""
    session.become(Status.ACTIVE)
    session.ending.cleaned, session.ending.leftovers = False, ()
