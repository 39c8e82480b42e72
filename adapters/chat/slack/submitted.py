"""Forms that were sent: what each says it was opened for, and what was put in. What is no form of ours means nothing. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from adapters.chat.slack import forms
from adapters.chat.slack.delivery import (
    Body,
    Delivery,
    Incomplete,
    Meaning,
    Nothing,
    Press,
    Settings,
    Wish,
    part,
    word,
)
from adapters.chat.slack.drawing.picking import Values, picks
from adapters.chat.slack.known import Known
from adapters.chat.slack.people import PLATFORM
from adapters.chat.slack.preflight import Identity
from adapters.chat.slack.said import thread
from bot.domain.choices import Verb
from bot.domain.intent import Question
from bot.domain.people import Thread

FORGOTTEN = (
    "I no longer have these questions. "
    "Please answer in the thread, for instance: D1: yes, D2: the second one."
)
_CHANNEL = re.compile(r"[CG][A-Z0-9]{1,40}")
_FITTING = {forms.BEGINNING: Verb.BEGIN, forms.SPEC: Verb.SPEC, forms.SETTINGS: Verb.SETTINGS}
"""The one thing such a form is opened for."""


def submission(body: Body, us: Identity, now: datetime, known: Known) -> Meaning:
    view, user = part(body, "view"), part(body, "user")
    purpose = forms.Purpose.read(word(view, "private_metadata"))
    if purpose is None or not is_here(purpose.thread, us):
        return Nothing("no form of ours")
    if not (word(view, "id") and word(user, "id")):
        return Nothing("not a whole form")
    if _FITTING.get(word(view, "callback_id"), purpose.verb) is not purpose.verb:
        return Nothing("a form for something else")
    what = _filled_in(view, purpose, known)
    if isinstance(what, Incomplete | Nothing):
        return what
    return Delivery(
        id=_once(view, us, what),
        at=now,
        thread=_where(view, us, purpose, what),
        user=word(user, "id"),
        what=what,
        home=word(user, "team_id"),
    )


def is_here(thread: Thread, us: Identity) -> bool:
    return (thread.platform, thread.workspace) == (PLATFORM, us.team)


def values_of(state: Body) -> dict[str, dict[str, dict[str, Any]]]:
    """Only what has the shape of `state.values`."""
    return {
        block: {
            name: dict(element) for name, element in fields.items() if isinstance(element, dict)
        }
        for block, fields in part(state, "values").items()
        if isinstance(fields, dict)
    }


def _filled_in(
    view: Body, purpose: forms.Purpose, known: Known
) -> Press | Settings | Wish | Incomplete | Nothing:
    values = values_of(part(view, "state"))
    match word(view, "callback_id"):
        case forms.QUESTIONS:
            return _answered(values, purpose, known.questions(purpose.thread, purpose.key))
        case forms.BEGINNING | forms.SPEC as kind:
            return _wished(word(view, "id"), values, spec=kind == forms.SPEC)
        case forms.SETTINGS:
            errors = forms.unfit(values)
            return Incomplete(errors) if errors else Settings(*forms.configured(values))
        case _:
            errors = forms.missing(values)
            text = forms.said(values)
            return Incomplete(errors) if errors else Press(purpose.verb, purpose.about, text)


def _answered(
    values: Values, purpose: forms.Purpose, questions: Sequence[Question]
) -> Press | Incomplete:
    answers = forms.answers(values, questions)
    if not answers and picks(values, questions) is None:
        return Incomplete(dict.fromkeys(list(values)[:1], FORGOTTEN))
    return Press(purpose.verb, purpose.about, answers=answers)


def _wished(view: str, values: Values, *, spec: bool) -> Wish | Incomplete | Nothing:
    if errors := forms.wrong(values):
        return Incomplete(errors)
    asked = forms.asked(values)
    if not _CHANNEL.fullmatch(asked.channel):
        return Incomplete({forms.CHANNEL: "Please choose a channel."})
    return Wish(form=view, text=asked.text, spec=spec)


def _where(view: Body, us: Identity, purpose: forms.Purpose, what: object) -> Thread:
    if not isinstance(what, Wish):
        return purpose.thread
    chosen = forms.asked(values_of(part(view, "state"))).channel
    return thread(us, chosen, "", direct=False)


def _once(view: Body, us: Identity, what: object) -> str:
    """A form that is given back may be sent again with something else in it; what it begins, it begins once."""
    own = f"{PLATFORM}:{us.team}:{word(view, 'id')}"
    return own if isinstance(what, Wish) else f"{own}:{word(view, 'hash')}"
