"""The form in which a feature is asked for from anywhere: where, what, in which repository, and how far to go."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.chat.slack.drawing.limits import Block
from adapters.chat.slack.drawing.picking import Values
from adapters.chat.slack.forms.fields import (
    View,
    boxes,
    conversation,
    field,
    form,
    ticked,
    writing,
    written,
)
from adapters.chat.slack.forms.purpose import Purpose

BEGINNING, SPEC = "beginning", "spec"
CHANNEL, WHAT = "channel", "what"

_REPOSITORY = "repository"
_PLAN = "plan"
_ONLY = "only"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Asked:
    channel: str
    text: str
    """As somebody would have written it in a message."""


def beginning(purpose: Purpose, channel: str = "", *, several: bool = True) -> View:
    """`channel`: the one that is chosen already; empty: the one somebody looks at. `several`: repositories to choose from."""
    what = writing(WHAT, "What should be possible, and for whom", long=True)
    blocks = [
        *_in(channel, what, "What shall be built?"),
        *([_repository()] if several else []),
        field(_PLAN, "How far?", boxes(_PLAN, {_ONLY: "Only show me the plan"})),
    ]
    return form(BEGINNING, "Start a feature", blocks, purpose, send="Start")


def spec(purpose: Purpose, channel: str = "", *, several: bool = True) -> View:
    """The same for a spec alone: nothing is built."""
    what = writing(WHAT, "What should be possible, and for whom", long=True)
    blocks = _in(channel, what, "What is it about?") + ([_repository()] if several else [])
    return form(SPEC, "Write a spec", blocks, purpose, send="Write")


def asked(values: Values) -> Asked:
    """What was put in; look for `wrong` first."""
    lines = [written(values, WHAT)]
    if repository := written(values, _REPOSITORY):
        lines.append(f"repo:{repository}")
    if _ONLY in ticked(values, _PLAN):
        lines.append("Only show the plan.")
    return Asked(conversation(values, CHANNEL), "\n".join(lines))


def wrong(values: Values) -> Mapping[str, str]:
    """What must be mended before it is taken, by block."""
    found: dict[str, str] = {}
    if not conversation(values, CHANNEL):
        found[CHANNEL] = "Please choose a channel."
    if not written(values, WHAT):
        found[WHAT] = "Please say what it is about."
    repository = written(values, _REPOSITORY)
    if repository and not _NAME.fullmatch(repository):
        found[_REPOSITORY] = "Only its name, please: letters, digits, dots and dashes."
    return found


def _in(channel: str, what: Block, question: str) -> list[Block]:
    where = field(
        CHANNEL,
        "In which channel?",
        _channel(channel),
        hint="A thread begins there: everybody in the channel sees it.",
        optional=False,
    )
    return [where, field(WHAT, question, what, optional=False)]


def _repository() -> Block:
    hint = "Its name; empty: the one of the channel."
    return field(_REPOSITORY, "In which repository?", writing(_REPOSITORY), hint=hint)


def _channel(channel: str) -> Block:
    element: Block = {
        "type": "conversations_select",
        "action_id": CHANNEL,
        "default_to_current_conversation": True,
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }
    return {**element, "initial_conversation": channel} if channel else element
