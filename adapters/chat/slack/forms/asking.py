"""The form that asks for one text, the one that asks for changes to a plan, and the one that only says something."""

from __future__ import annotations

from adapters.chat.slack.drawing.limits import cut, cut_saying, plain_text, section
from adapters.chat.slack.drawing.picking import Values
from adapters.chat.slack.forms.fields import (
    LABEL,
    View,
    boxes,
    field,
    form,
    heading,
    ticked,
    writing,
    written,
)
from adapters.chat.slack.forms.purpose import Purpose
from adapters.chat.slack.words import on_one_line
from bot.domain.choices import Verb
from bot.domain.masking import clean

ASKING = "asking"
SAYING = "saying"
DOCUMENTS: tuple[str, ...] = ("spec.md", "plan.md", "tasks.md")
"""What changes to a plan may be about."""

_SAID = "said"
_ABOUT = "about"
_SAYING = 2_900


def asking(title: str, question: str, purpose: Purpose) -> View:
    """One text is wanted; where it is about a plan, also which of its documents it is about."""
    label = cut(on_one_line(question), LABEL) or "What shall I know?"
    blocks = [field(_SAID, label, writing(_SAID, long=True), optional=False)]
    if purpose.verb is Verb.CHANGE:
        named = dict(zip(DOCUMENTS, DOCUMENTS, strict=True))
        hint = "Nothing ticked: I find out myself what it touches."
        blocks.append(field(_ABOUT, "It is about", boxes(_ABOUT, named), hint=hint))
    return form(ASKING, title, blocks, purpose)


def saying(text: str, title: str = "One moment") -> View:
    """Nothing is wanted; somebody is told something."""
    told = cut_saying(clean(text).strip(), _SAYING) or "…"
    return {
        "type": "modal",
        "callback_id": SAYING,
        "title": heading(title),
        "close": plain_text("Close"),
        "blocks": [section(plain_text(told))],
    }


def said(values: Values) -> str:
    """The text that was wanted, and before it what it is about. Empty: there is none."""
    text = written(values, _SAID)
    about = [name for name in DOCUMENTS if name in ticked(values, _ABOUT)]
    return f"About {', '.join(about)}: {text}" if text and about else text


def missing(values: Values) -> dict[str, str]:
    """What a form with one text must be told before it is taken, by block. Empty: all is there."""
    return {} if said(values) else {_SAID: "Please write something, or cancel."}
