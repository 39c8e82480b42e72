"""What people press: buttons in messages, on their home and in windows, and shortcuts. A value that is none of ours means nothing. Pure."""

from __future__ import annotations

from datetime import datetime

from adapters.chat.slack import drawing, forms
from adapters.chat.slack.delivery import (
    Body,
    Delivery,
    Leafed,
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
from adapters.chat.slack.drawing.window import page_in
from adapters.chat.slack.known import Known
from adapters.chat.slack.people import PLATFORM
from adapters.chat.slack.preflight import Identity
from adapters.chat.slack.said import thread
from adapters.chat.slack.submitted import FORGOTTEN, is_here, values_of
from bot.domain.choices import Command, Verb, Word
from bot.domain.people import Thread

SHORTCUTS = {"session_interrupt": Word.STOP, "session_status": Word.STATUS}
"""In the menu of every message; the manifest names them."""
BEGIN = "session_new"
"""The shortcut that is there everywhere."""


def button(body: Body, us: Identity, now: datetime, known: Known) -> Meaning:
    """A press, or a choice from a menu of things to do. Choosing in a select is none yet: what was chosen comes with a
    press."""
    action = _first(body.get("actions"))
    if (page := page_in(action)) is not None:
        return Leafed(word(part(body, "view"), "id"), page)
    pressed = drawing.Press.of(action)
    if pressed is None:
        return Nothing("no button of ours")
    where, place = _where(body, us)
    user, stamp = part(body, "user"), word(action, "action_ts")
    if where is None or not (place and stamp and word(user, "id")):
        return Nothing("not a whole press")
    return Delivery(
        id=f"{PLATFORM}:{where.place}:{place}:{stamp}:{word(user, 'id')}",
        at=moment(stamp, now),
        thread=where,
        user=word(user, "id"),
        what=_meant(body, pressed, where, known),
        home=word(user, "team_id"),
    )


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


def global_shortcut(body: Body, us: Identity, now: datetime, known: Known) -> Meaning:
    """From anywhere: it tells of no channel."""
    user, trigger = part(body, "user"), word(body, "trigger_id")
    if word(body, "callback_id") != BEGIN or not (trigger and word(user, "id")):
        return Nothing("no shortcut of ours")
    home = thread(us, "", "", direct=False)
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{trigger}",
        at=now,
        thread=home,
        user=word(user, "id"),
        what=_begins(home, trigger, known),
        home=word(user, "team_id"),
    )


def _meant(body: Body, pressed: drawing.Press, where: Thread, known: Known) -> Press | Opening:
    verb, about = pressed.verb, pressed.about
    trigger = word(body, "trigger_id")
    if verb in (Verb.BEGIN, Verb.SPEC):
        return _begins(where, trigger, known, verb)
    purpose = forms.Purpose(thread=where, verb=verb, about=about, key=pressed.key)
    if verb is Verb.SETTINGS:
        facts = known.settings(word(part(body, "user"), "id"))
        return Opening(verb, trigger, forms.settings(purpose, facts))
    if pressed.form:
        asked = known.questions(where, pressed.key)
        form = forms.questions_form(asked, purpose) if asked else forms.saying(FORGOTTEN)
        return Opening(verb, trigger, form)
    if pressed.asks:
        label = drawing.words_of(_first(body.get("actions")))
        return Opening(verb, trigger, forms.asking(label, pressed.question, purpose))
    if verb is Verb.ANSWER:
        answers = picks(values_of(part(body, "state")), known.questions(where, pressed.key))
        if answers is None:
            return Opening(verb, trigger, forms.saying(FORGOTTEN))
        return Press(verb, about, answers=answers)
    return Press(verb, about, trigger=trigger if verb is Verb.LOG else "")


def _begins(where: Thread, trigger: str, known: Known, verb: Verb = Verb.BEGIN) -> Opening:
    purpose = forms.Purpose(thread=where, verb=verb)
    draw = forms.spec if verb is Verb.SPEC else forms.beginning
    form = draw(purpose, known.channel_for(where.channel), several=known.several_repositories)
    return Opening(verb, trigger, form)


def _where(body: Body, us: Identity) -> tuple[Thread | None, str]:
    """The thread a press is about, and a name of what was pressed on. A message that only one person sees may stand in
    the channel itself; a home stands nowhere; a window knows where it was opened."""
    message, container = part(body, "message"), part(body, "container")
    if word(container, "type") == "view":
        return _of_view(part(body, "view"), us)
    channel = word(part(body, "channel"), "id") or word(container, "channel_id")
    if not channel:
        return None, ""
    root = word(message, "thread_ts") or word(container, "thread_ts") or word(message, "ts")
    ts = word(container, "message_ts")
    return thread(us, channel, root, direct=is_direct(channel)), ts


def _of_view(view: Body, us: Identity) -> tuple[Thread | None, str]:
    if word(view, "type") == "home":
        return thread(us, "", "", direct=False), "home"
    purpose = forms.Purpose.read(word(view, "private_metadata"))
    if purpose is None or not is_here(purpose.thread, us):
        return None, ""
    return purpose.thread, word(view, "id")


def _first(actions: object) -> Body:
    first: object = actions[0] if isinstance(actions, list) and actions else None
    return first if isinstance(first, dict) else {}
