"""What may be done with an intent that nobody carries out yet, and how it is shown.

An intent in a file starts nothing: somebody with the right role runs it, and its plan is approved in its own thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from bot.core.cards import AnswerCard
from bot.core.choices import Choice, Style, Verb
from bot.core.intent import Intent, Risk, Source
from bot.core.projections.registry import FiledIntent, RegistryContents
from bot.core.session import Session
from bot.core.sheets import Bullets, Element, Entries, Entry, Fields, Prose, Text, Tone
from bot.core.states import INTENTS, IntentStatus
from bot.core.text import counted

UNFINISHED_STATUSES = frozenset({IntentStatus.BLOCKED, IntentStatus.ERROR})
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


def with_session_status(filed: FiledIntent, session: Session | None) -> FiledIntent:
    """Return the intent with the status of the session that carries it out.

    Once the session is over, the file's status counts, as people may have decided anew.
    """
    if session is None or session.over:
        return filed
    intent = filed.intent.model_copy(update={"status": session.intent.status})
    return filed.model_copy(update={"intent": intent})


def answered_in_file_only(filed: FiledIntent, session: Session) -> tuple[str, ...]:
    """Return open questions of a session that were only answered in the file, one sentence each.

    Such answers do not count, as a file does not show who gave them.
    """
    said = {_plain(one.text) for one in filed.intent.clarifications if one.answer}
    return tuple(
        f"{question.decision} is answered in the file only. Say it in the session's thread: {question.decision}: …"
        for question in session.intent.clarifications
        if question.answer is None and _plain(question.text) in said
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def carries_out(session: Session, filed: FiledIntent) -> bool:
    """Whether this session carries out the intent. The file's claim alone is not trusted."""
    return session.id == filed.session and session.intent.id == filed.intent.id


def why_not_possible(
    filed: FiledIntent, verb: Verb, session: Session | None, *, alone: bool = False
) -> str:
    """Return why the action is not possible now, in a sentence; empty if it is. `alone`: it needs no approval first."""
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


def status_wanted(verb: Verb) -> IntentStatus:
    return _WANTED[verb]


def may_start_unapproved(intent: Intent, allowed: Collection[Source]) -> bool:
    """Whether it may start without approval: low risk, and from a source that the operator trusts."""
    return intent.risk is Risk.LOW and intent.source in allowed and not intent.open_questions


def waiting_reason(intent: Intent) -> str:
    """Return what a person has to do about it, in a few words; empty if nothing."""
    if intent.status in UNFINISHED_STATUSES:
        return f"{intent.status}: run it again, add to it, or reject it"
    if intent.status in (IntentStatus.PROPOSED, IntentStatus.APPROVED) and intent.open_questions:
        return counted(len(intent.open_questions), "open question")
    return "waits for approval" if intent.status is IntentStatus.PROPOSED else ""


def waiting_intents(
    found: Iterable[FiledIntent], live: Callable[[FiledIntent], bool]
) -> list[FiledIntent]:
    """Return those that wait for a person, without the ones of live sessions, which are listed with their session."""
    return [filed for filed in found if waiting_reason(filed.intent) and not live(filed)]


def intent_choices(
    filed: FiledIntent, session: Session | None, *, alone: bool = False
) -> Iterator[Choice]:
    for choice in _OFFERED:
        if not why_not_possible(filed, choice.verb, session, alone=alone):
            yield choice.model_copy(update={"about": button_about(filed)})


def button_about(filed: FiledIntent) -> str:
    """Return what a button refers to: the intent, its status and a digest of its text."""
    intent = filed.intent
    told = f"{intent.title}\n{intent.body}\n{intent.type}\n{intent.risk}"
    digest = sha256(told.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{intent.id}@{intent.status}@{digest}"


def as_session_intent(filed: FiledIntent) -> Intent:
    """Return the intent as its session starts with it.

    A low risk stated in a file is dropped: anybody can write it there.
    """
    risk = None if filed.intent.risk is Risk.LOW else filed.intent.risk
    return filed.intent.model_copy(update={"risk": risk})


def higher_risk(told: Risk | None, judged: Risk | None) -> Risk | None:
    """Return the higher of the file's risk and the judged one."""
    order = list(Risk)
    return max(filter(None, (told, judged)), key=order.index, default=None)


def _is_new(intent: Intent) -> bool:
    return intent.status is IntentStatus.PROPOSED


# How intents are shown: in a list, or one by itself with its actions.

MOST_LISTED = 20
"""Intents in one list."""
LONGEST_BODY = 6_000
"""Characters of a body."""
NO_PLAN = (
    "This is no approval of a plan: that comes in the thread of its own session, once it runs."
)


@dataclass(frozen=True)
class IntentContext:
    """What an intent's file does not contain: the session that carries it out, and whether it may start without
    approval.
    """

    session: Session | None = None
    alone: bool = False


def intent_list(
    shelf: RegistryContents, context_of: Callable[[FiledIntent], IntentContext]
) -> tuple[Element, ...]:
    """Return the list, starting with those that wait for a person."""
    found: list[Element] = []
    open_first = sorted(shelf.intents, key=lambda one: (not waiting_reason(one.intent),))
    if shelf.intents:
        found.append(
            Entries(
                items=tuple(intent_entry(one, context_of(one)) for one in open_first[:MOST_LISTED])
            )
        )
    else:
        found.append(
            Text(text="There are none. Write one into .forge/intent-drafts, or ask for work.")
        )
    if len(shelf.intents) > MOST_LISTED:
        found.append(Text(text=f"… and {len(shelf.intents) - MOST_LISTED} more."))
    return (*found, *problem_list(shelf.problems))


def intent_entry(filed: FiledIntent, context: IntentContext) -> Entry:
    intent, session = filed.intent, context.session
    about = (intent.id, intent.type, f"{intent.risk} risk" if intent.risk else "")
    state = waiting_reason(intent) or intent.status
    return Entry(
        title=intent.title or intent.id,
        facts=tuple(fact for fact in (*about, state) if fact),
        thread=session.thread if session else None,
        choices=tuple(intent_choices(filed, session, alone=context.alone)),
    )


def intent_card(
    key: str, filed: FiledIntent, context: IntentContext, title: str = "", tone: Tone = Tone.PLAIN
) -> AnswerCard:
    intent = filed.intent
    pairs = (
        ("Intent", intent.id),
        ("Status", intent.status),
        ("Type", intent.type or "not known yet"),
        ("Risk", intent.risk or "not known yet"),
        ("Source", intent.source),
        ("Part of", intent.parent or ""),
        ("Now", waiting_reason(intent)),
        ("Session", filed.session[:8]),
    )
    body: list[Element] = [Fields(pairs=tuple(pair for pair in pairs if pair[1]))]
    if intent.body.strip():
        body.append(Prose(name=intent.id, markdown=intent.body[:LONGEST_BODY]))
    if intent.clarifications:
        asked = (f"{q.decision} {q.text} → {q.answer or 'open'}" for q in intent.clarifications)
        body.append(Bullets(items=tuple(asked)))
    if context.session and (unheard := answered_in_file_only(filed, context.session)):
        body.append(Bullets(items=unheard))
    choices = tuple(intent_choices(filed, context.session, alone=context.alone))
    if choices:
        body.append(Text(text=NO_PLAN))
    title = title or intent.title or intent.id
    return AnswerCard(key=key, title=title, tone=tone, body=tuple(body), choices=choices)


def problem_list(found: tuple[str, ...]) -> tuple[Element, ...]:
    if not found:
        return ()
    return (
        Text(text="Not read, and left as it is", strong=True),
        Bullets(items=found[:MOST_LISTED]),
    )
