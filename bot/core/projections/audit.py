"""Entries of the audit log: who requested what and where, what the gate decided, and the outcome.

Read-only requests are left out. Of users' texts only the digest is recorded; the texts are in the session.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum

from pydantic import AwareDatetime

from bot.core import approval
from bot.core.choices import Command, Verb, Word
from bot.core.commands import COMMANDS
from bot.core.events import Commanded, Configured, Event, FromPerson, Opened, Pressed, Said, Visited
from bot.core.facts import Fact, MutableModel
from bot.core.people import Person, Thread
from bot.core.session import Session
from bot.core.session_parts import Approval

LONGEST_FIELD = 300
"""Characters of one field."""
_LOOKING_VERBS = frozenset({Verb.LOG, Verb.HELPFUL, Verb.UNHELPFUL, Verb.SHOW_BRANCH})
_VOLATILE_FIELDS = frozenset({"updated_at", "conversation", "talk.overheard", "talk.last_spoken"})
"""Fields of a session that change with every message."""


class Decision(StrEnum):
    ALLOWED = "allowed"
    """Allowed by the gate. The outcome is a separate entry."""
    REFUSED = "refused"
    DONE = "done"
    NOTHING = "nothing"
    """Allowed but without effect: an outdated plan, a second press."""


class AuditEntry(Fact):
    """A line of the audit log. The log itself fills in `number` and `before`."""

    number: int = 0
    at: AwareDatetime
    who: str
    """Platform and full id; names decide nothing."""
    where: str
    """The thread."""
    session: str = ""
    event: str = ""
    """The platform's id of the event. If it occurs twice, the bot was killed in between."""
    what: str
    about: str = ""
    """What the event refers to: the digest that was shown, a task, a question, an id."""
    digest: str = ""
    """SHA-256 of the text; for an approval, of what was approved."""
    decision: Decision
    why: str = ""
    before: str = ""
    """SHA-256 of the preceding line."""


def requested_action(event: FromPerson) -> str:
    """Return what the person wants done; empty if they only look."""
    match event:
        case Pressed(verb=verb):
            return "" if verb in _LOOKING_VERBS else f"press {verb}"
        case Commanded(command=command):
            return "" if _is_read_only(command) else f"command {command.word}"
        case Opened() | Visited():
            return ""
        case _:
            return _kind(event)


def _is_read_only(command: Command) -> bool:
    match command.word:
        case Word.REPO:
            return not command.argument
        case Word.INTENT:
            return command.argument in ("", "list", "show")
        case _:
            return COMMANDS[command.word].only_reads


def gate_entry(
    thread: Thread, event: FromPerson, at: datetime, decision: Decision, why: str, session: str
) -> AuditEntry:
    return AuditEntry(
        at=at,
        who=_person_id(event.by),
        where=thread.key[:LONGEST_FIELD],
        session=session,
        event=event.id[:LONGEST_FIELD],
        what=requested_action(event) or f"look {_kind(event)}",
        about=_about(event)[:LONGEST_FIELD],
        digest=_digest(event),
        decision=decision,
        why=why[:LONGEST_FIELD],
    )


def outcome_entry(before: Session, event: Event, after: Session) -> AuditEntry | None:
    """Return the entry for the decision on a person's request, and for every new approval, whoever gave it."""
    given = _new_approval(before, after)
    if given:
        by, what = given.by, _approved(before, after, given)
    elif isinstance(event, FromPerson) and requested_action(event):
        by, what = event.by, requested_action(event)
    else:
        return None
    changed = _changed_fields(before, after)
    return AuditEntry(
        at=event.at,
        who=_person_id(by),
        where=after.thread.key[:LONGEST_FIELD],
        session=after.id,
        event=event.id[:LONGEST_FIELD],
        what=what,
        about=f"revision {given.revision}" if given else "",
        digest=given.digest if given else "",
        decision=Decision.DONE if changed else Decision.NOTHING,
        why="; ".join(changed)[:LONGEST_FIELD],
    )


def branch_entry(thread: Thread, event: Pressed, at: datetime, why: str) -> AuditEntry:
    """Return the entry for the outcome of a press that no session handles."""
    return gate_entry(thread, event, at, Decision.DONE, why, "")


def _new_approval(before: Session, after: Session) -> Approval | None:
    """Return the approval that is new, if any."""
    if after.approval.granted != before.approval.granted:
        return after.approval.granted
    more = len(after.approval.given) > len(before.approval.given)
    return after.approval.given[-1] if more else None


def _approved(before: Session, after: Session, given: Approval) -> str:
    # While the base is still being checked, an approval is recorded when it is given, and again when it takes effect.
    if given in before.approval.given:
        return "begun as approved"
    enough = given == after.approval.granted or approval.is_complete(after)
    return "approved" if enough else "approved, one of several"


def _changed_fields(before: Session, after: Session) -> list[str]:
    """Return which parts of the session have changed; status and phase are spelled out."""
    moves = [
        f"{name} {old} → {new}"
        for name, old, new in (
            ("status", before.status, after.status),
            ("phase", before.phase, after.phase),
        )
        if old != new
    ]
    silent = _VOLATILE_FIELDS | {"status", "phase"}
    return moves + [name for name in _differing(before, after) if name not in silent]


def _differing(before: MutableModel, after: MutableModel, inside: str = "") -> Iterator[str]:
    """Return the names of fields that differ; nested ones with their part: `plan.documents`."""
    for name, value in vars(after).items():
        was = getattr(before, name)
        if isinstance(value, MutableModel):
            yield from _differing(was, value, f"{inside}{name}.")
        elif was != value:
            yield f"{inside}{name}"


def _kind(event: FromPerson) -> str:
    return type(event).__name__.lower()


def _person_id(by: Person) -> str:
    return f"{by.platform}:{by.id}"[:LONGEST_FIELD]


def _about(event: FromPerson) -> str:
    match event:
        case Pressed(about=about):
            return about
        case Commanded(command=command):
            own = command.word in (Word.TESTS, Word.SET_UP)
            return command.text if own else command.argument
        case Configured(base_url=base_url, model=model):
            return f"{model} at {base_url}"
        case _:
            return ""


def _digest(event: FromPerson) -> str:
    # Covers only the text and the files.
    match event:
        case Said(text=text, files=files):
            written: object = [text, [[file.name, file.text] for file in files]]
        case Pressed(text=text, answers=answers) if text or answers:
            written = [text, sorted(answers.items())]
        case Commanded(command=command) if command.text:
            written = command.text
        case _:
            return ""
    return hashlib.sha256(json.dumps(written).encode()).hexdigest()
