"""What people press and fill in: buttons, forms, shortcuts. A value that is none of ours means nothing. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from adapters.chat.slack import drawing, forms
from adapters.chat.slack.delivery import (
    Body,
    Delivery,
    Incomplete,
    Meaning,
    Nothing,
    Opening,
    Order,
    Press,
    is_direct,
    moment,
    part,
    word,
)
from adapters.chat.slack.drawing.picking import picks
from adapters.chat.slack.people import PLATFORM
from adapters.chat.slack.preflight import Identity
from adapters.chat.slack.said import thread
from bot.domain.choices import Command, Verb, Word
from bot.domain.intent import Question
from bot.domain.people import Thread

QuestionsOf = Callable[[Thread, str], Sequence[Question]]
"""The questions on a card, by its thread and key: a select tells but the number of an option."""

_FORGOTTEN = (
    "I do not know these questions any more. "
    "Please answer in the thread, for instance: D1: yes, D2: the second one."
)
SHORTCUTS = {"session_interrupt": Word.STOP, "session_status": Word.STATUS}
"""In the menu of every message; the manifest names them."""


def button(body: Body, us: Identity, now: datetime, questions: QuestionsOf) -> Meaning:
    """A press in a message. Choosing in a select is none yet: what was chosen comes with a press."""
    action = _first(body.get("actions"))
    pressed = drawing.Press.read(word(action, "value"))
    if word(action, "type") != "button" or pressed is None:
        return Nothing("no button of ours")
    where, ts = _where(body, us), word(part(body, "container"), "message_ts")
    user, stamp = part(body, "user"), word(action, "action_ts")
    if where is None or not (ts and stamp and word(user, "id")):
        return Nothing("not a whole press")
    return Delivery(
        id=f"{PLATFORM}:{where.place}:{ts}:{stamp}:{word(user, 'id')}",
        at=moment(stamp, now),
        thread=where,
        user=word(user, "id"),
        what=_meant(body, pressed, where, questions),
        home=word(user, "team_id"),
    )


def _meant(
    body: Body, pressed: drawing.Press, where: Thread, questions: QuestionsOf
) -> Press | Opening:
    verb, about = pressed.verb, pressed.about
    purpose = forms.Purpose(thread=where, verb=verb, about=about, key=pressed.key)
    trigger = word(body, "trigger_id")
    if pressed.form:
        asked = questions(where, pressed.key)
        form = forms.questions_form(asked, purpose) if asked else forms.saying(_FORGOTTEN)
        return Opening(verb, trigger, form)
    if pressed.asks:
        label = word(part(_first(body.get("actions")), "text"), "text")
        return Opening(verb, trigger, forms.asking(label, pressed.question, purpose))
    if verb is Verb.ANSWER:
        answers = picks(_values(part(body, "state")), questions(where, pressed.key))
        if answers is None:
            return Opening(verb, trigger, forms.saying(_FORGOTTEN))
        return Press(verb, about, answers=answers)
    return Press(verb, about)


def submission(body: Body, us: Identity, now: datetime, questions: QuestionsOf) -> Meaning:
    """A form that was sent. It says itself what it was opened for."""
    view, user = part(body, "view"), part(body, "user")
    purpose = forms.Purpose.read(word(view, "private_metadata"))
    if purpose is None or not _is_here(purpose.thread, us):
        return Nothing("no form of ours")
    if not (word(view, "id") and word(user, "id")):
        return Nothing("not a whole form")
    what = _filled_in(view, purpose, questions(purpose.thread, purpose.key))
    if isinstance(what, Incomplete):
        return what
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{word(view, 'id')}:{word(view, 'hash')}",
        at=now,
        thread=purpose.thread,
        user=word(user, "id"),
        what=what,
        home=word(user, "team_id"),
    )


def _filled_in(
    view: Body, purpose: forms.Purpose, questions: Sequence[Question]
) -> Press | Incomplete:
    values = _values(part(view, "state"))
    if word(view, "callback_id") == forms.QUESTIONS:
        answers = forms.answers(values, questions)
        if not answers and picks(values, questions) is None:
            return Incomplete(dict.fromkeys(list(values)[:1], _FORGOTTEN))
        return Press(purpose.verb, purpose.about, answers=answers)
    if errors := forms.missing(values):
        return Incomplete(errors)
    return Press(purpose.verb, purpose.about, text=forms.said(values))


def _is_here(thread: Thread, us: Identity) -> bool:
    return (thread.platform, thread.workspace) == (PLATFORM, us.team)


def shortcut(body: Body, us: Identity, now: datetime) -> Meaning:
    """Chosen in the menu of any message: it is about the thread of that message."""
    means = SHORTCUTS.get(word(body, "callback_id"))
    message, user = part(body, "message"), part(body, "user")
    channel = word(part(body, "channel"), "id")
    root = word(message, "thread_ts") or word(message, "ts")
    if means is None or not (channel and root and word(user, "id")):
        return Nothing("no shortcut of ours")
    once = word(body, "trigger_id") or word(body, "action_ts")
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{channel}:{root}:{once}",
        at=now,
        thread=thread(us, channel, root, direct=is_direct(channel)),
        user=word(user, "id"),
        what=Order(Command(word=means)),
        home=word(user, "team_id"),
    )


def _where(body: Body, us: Identity) -> Thread | None:
    """The thread a message with buttons stands in. One that only one person sees may stand in the channel itself."""
    message, container = part(body, "message"), part(body, "container")
    channel = word(part(body, "channel"), "id") or word(container, "channel_id")
    if not channel:
        return None
    root = word(message, "thread_ts") or word(container, "thread_ts") or word(message, "ts")
    return thread(us, channel, root, direct=is_direct(channel))


def _first(actions: object) -> Body:
    first: object = actions[0] if isinstance(actions, list) and actions else None
    return first if isinstance(first, dict) else {}


def _values(state: Body) -> dict[str, dict[str, dict[str, Any]]]:
    """Only what has the shape of `state.values`."""
    return {
        block: {
            name: dict(element) for name, element in fields.items() if isinstance(element, dict)
        }
        for block, fields in part(state, "values").items()
        if isinstance(fields, dict)
    }
