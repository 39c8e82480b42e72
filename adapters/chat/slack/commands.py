"""What people command behind a slash, in a channel or alone with the bot. Pure: Slack knows no such command in a thread."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from adapters.chat.slack import forms
from adapters.chat.slack.delivery import (
    Body,
    Delivery,
    Meaning,
    Nothing,
    Opening,
    Order,
    is_direct,
    word,
)
from adapters.chat.slack.drawing.limits import cut
from adapters.chat.slack.known import Known
from adapters.chat.slack.people import PLATFORM
from adapters.chat.slack.preflight import Identity
from adapters.chat.slack.said import thread
from adapters.chat.slack.words import on_one_line
from bot.domain.choices import Command, Verb, Word, command_in


class Slash(StrEnum):
    """The commands that Slack offers; the manifest names them."""

    ANYTHING = "/gwt"
    """What else is said behind the bot's name."""
    INTERRUPT = "/interrupt"
    SESSIONS = "/sessions"


NEW = frozenset({"new", "start"})
"""Behind `/gwt`: the form in which a feature is asked for."""
_SHOWN = 60


def slash(body: Body, us: Identity, now: datetime, known: Known) -> Meaning:
    channel, trigger = word(body, "channel_id"), word(body, "trigger_id")
    user = word(body, "user_id")
    if not (channel and user and trigger):
        return Nothing("not a whole command")
    where = thread(us, channel, "", direct=is_direct(channel))
    text = word(body, "text")
    if verb := _wants_form(word(body, "command"), text):
        purpose = forms.Purpose(thread=where, verb=verb)
        draw = forms.spec if verb is Verb.SPEC else forms.beginning
        form = draw(purpose, known.channel_for(channel), several=known.several_repositories)
        what = Opening(verb, trigger, form)
    else:
        said = _said(word(body, "command"), text)
        unknown = Command(word=Word.HELP, text=cut(on_one_line(said), _SHOWN))
        what = Order(command_in(said) or unknown)
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{trigger}",
        at=now,
        thread=where,
        user=user,
        what=what,
        home=word(body, "team_id"),
    )


def _wants_form(slash: str, text: str) -> Verb | None:
    said = text.strip().lower()
    if slash in (Slash.INTERRUPT, Slash.SESSIONS):
        return None
    return Verb.BEGIN if said in NEW else Verb.SPEC if said == Word.SPEC else None


def _said(slash: str, text: str) -> str:
    """An app may have been given another name for `/gwt`: it means the same."""
    match slash:
        case Slash.INTERRUPT:
            return f"{Word.STOP} {text}"
        case Slash.SESSIONS:
            return Word.SESSIONS.value if text.strip().lower() in {"", "list"} else text
        case _:
            return text
