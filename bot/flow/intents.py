"""What may be done with an intent that nobody carries out yet, or that was left undone. Its plan is approved elsewhere.

An intent in a file starts nothing: somebody who may ask for work runs it, and the plan that comes of it is approved in
its own thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from hashlib import sha256

from bot.domain.choices import Choice, Style, Verb
from bot.domain.intent import Intent, Risk, Source
from bot.domain.layout import counted
from bot.domain.registry import Filed
from bot.domain.session import Session
from bot.domain.states import INTENTS, IntentStatus

UNDONE = frozenset({IntentStatus.BLOCKED, IntentStatus.ERROR})
_WANTED = {
    Verb.INTENT_APPROVE: IntentStatus.APPROVED,
    Verb.INTENT_REJECT: IntentStatus.REJECTED,
}
_OFFERED = (
    Choice(label="Approve", verb=Verb.INTENT_APPROVE, style=Style.PRIMARY),
    Choice(label="Run", verb=Verb.INTENT_RUN, style=Style.PRIMARY),
    Choice(
        label="Reject",
        verb=Verb.INTENT_REJECT,
        style=Style.DANGER,
        confirm="Reject this intent? Its file stays.",
    ),
)


def standing(filed: Filed, session: Session | None) -> Filed:
    """How it stands: while a session carries it out, as that one says. Once it is over, people may have decided anew."""
    if session is None or session.over:
        return filed
    intent = filed.intent.model_copy(update={"status": session.intent.status})
    return filed.model_copy(update={"intent": intent})


def unheard(filed: Filed, session: Session) -> tuple[str, ...]:
    """Open questions of a session that somebody has answered in the file, a sentence each: a file says nothing for anybody."""
    said = {_plain(one.text) for one in filed.intent.clarifications if one.answer}
    return tuple(
        f"{question.decision} is answered in the file only. Say it in the session's thread: {question.decision}: …"
        for question in session.intent.clarifications
        if question.answer is None and _plain(question.text) in said
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def carries_out(session: Session, filed: Filed) -> bool:
    """Whether it is this session's; what a file says of its session is not believed without it."""
    return session.id == filed.session and session.intent.id == filed.intent.id


def why_not(filed: Filed, verb: Verb, session: Session | None, *, alone: bool = False) -> str:
    """Why that cannot be done with it now, in a sentence; empty: it can. `alone`: it needs no approval first."""
    intent = filed.intent
    if session is not None and not session.over:
        return f"{intent.id} is carried out in the session {session.short}: say it there."
    if verb is Verb.INTENT_RUN:
        if intent.status is IntentStatus.APPROVED or (alone and _is_new(intent)):
            return ""
        return f"{intent.id} is {intent.status}. Approve it first: intent approve {intent.id}"
    if verb is Verb.INTENT_APPROVE and intent.status is IntentStatus.DONE:
        return f"{intent.id} is done. Say in its session what more you want."
    if _WANTED[verb] not in INTENTS[intent.status]:
        return f"{intent.id} is {intent.status}; it cannot become {_WANTED[verb]}."
    return ""


def wanted(verb: Verb) -> IntentStatus:
    return _WANTED[verb]


def may_start_alone(intent: Intent, allowed: Collection[Source]) -> bool:
    """Low risk only, and only from sources the operator trusts with it."""
    return intent.risk is Risk.LOW and intent.source in allowed and not intent.open_questions


def waits(intent: Intent) -> str:
    """What it waits for a person for, in a few words; empty: nothing."""
    if intent.status in UNDONE:
        return f"{intent.status}: run it again, add to it, or reject it"
    if intent.status in (IntentStatus.PROPOSED, IntentStatus.APPROVED) and intent.open_questions:
        return counted(len(intent.open_questions), "open question")
    return "waits for approval" if intent.status is IntentStatus.PROPOSED else ""


def unattended(found: Iterable[Filed], live: Callable[[Filed], bool]) -> list[Filed]:
    """Those that wait for a person, without the ones a live session carries out: they are told with the session."""
    return [filed for filed in found if waits(filed.intent) and not live(filed)]


def choices(filed: Filed, session: Session | None, *, alone: bool = False) -> Iterator[Choice]:
    for choice in _OFFERED:
        if not why_not(filed, choice.verb, session, alone=alone):
            yield choice.model_copy(update={"about": about(filed)})


def about(filed: Filed) -> str:
    """Binds a button to what was shown: the intent, its status and its words."""
    intent = filed.intent
    told = f"{intent.title}\n{intent.body}\n{intent.type}\n{intent.risk}"
    digest = sha256(told.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{intent.id}@{intent.status}@{digest}"


def as_begun(filed: Filed) -> Intent:
    """What its session begins with. A file's word for a low risk is no judgement: anybody can write it."""
    risk = None if filed.intent.risk is Risk.LOW else filed.intent.risk
    return filed.intent.model_copy(update={"risk": risk})


def worse(told: Risk | None, judged: Risk | None) -> Risk | None:
    """Of what a file tells and what was judged."""
    order = list(Risk)
    return max(filter(None, (told, judged)), key=order.index, default=None)


def _is_new(intent: Intent) -> bool:
    return intent.status is IntentStatus.PROPOSED
