"""`gwt-bot export` and `gwt-bot replay`: pack one session into an archive for somebody else, and check that its events
still lead to the same states.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from adapters.files import create_file
from adapters.store.disk import JOURNAL, file_name
from adapters.store.session_archive import (
    HISTORY,
    history_lines,
    open_archive,
    pack_archive,
    read_history,
)
from bot.cli.process import secrets_in
from bot.cli.read_settings import read_settings
from bot.core.errors import BotError, BrokenStateError, Refused
from bot.core.events import Broke, Event
from bot.core.masking import Masker
from bot.core.naming import derived_id
from bot.core.projections import task_log_views, task_logs
from bot.core.projections.records import DecidedEvent, EventHistory, SessionStates, states_of
from bot.core.session import Session
from bot.core.snapshot import NewerSchemaError
from bot.core.snapshot import export as exported
from bot.core.text import clean, date_time
from bot.steps.decisions import decide, due

LARGEST_FILE = 20_000_000
"""Bytes. Logs and evidence that are larger are left out of the archive."""


async def export(session_id: str, to: Path | None) -> None:
    # No lock is taken: the bot may be working on this session.
    current = await read_settings()
    masker = Masker({**secrets_in(os.environ), **current.secrets})
    told = await asyncio.to_thread(write_archive, current.gwt_home, session_id, to, masker)
    sys.stdout.write(told)


async def replay(archive: Path) -> None:
    """Replay an archive. Raises BotError (exit code 1) at the first difference."""
    manifest, history = await asyncio.to_thread(open_archive, archive)
    found = replay_history(history)
    # the archive is somebody else's: its title must not send control characters to this terminal
    what = clean(f"{manifest.title or manifest.session}, exported by {manifest.program}")
    sys.stdout.write(f"{' '.join(what.split())}\n")
    if found.difference:
        raise BotError(f"{found.difference} What came before is as it was.")
    sys.stdout.write(
        f"{found.steps} events, and the same states and orders come of them.\n{_journal_start_note(history)}"
    )


def write_archive(home: Path, session_id: str, to: Path | None, masker: Masker) -> str:
    """Write the archive; return a text that says where it is and whether it can be replayed."""
    journal = _find_journal(home, session_id)
    try:
        history, session = read_history(journal)
    except (BrokenStateError, NewerSchemaError) as error:
        raise Refused(f"Session {session_id} cannot be read: {error}") from error
    history = masker.mask_model(history, personal=True)
    session = masker.mask_model(session, personal=True)
    files = {
        HISTORY: history_lines(history),
        **dict(_session_files(home, session, history, masker)),
    }
    content = pack_archive(f"gwt-bot {version('gwt-bot')}", session.id, session.title, files)
    path = to or Path(f"gwt-session-{session.short}.tar.gz")
    _write_new_file(path, content)
    found = replay_history(history)
    again = found.difference or f"{found.steps} events; replayed, the same comes of them."
    return f"{path}: {len(files) + 1} files, {len(content)} bytes\n{again}\n{_journal_start_note(history)}"


def _find_journal(home: Path, session_id: str) -> Path:
    """Return the journal of a session, found by its id or a unique prefix of it.

    Raises Refused if there is not exactly one.
    """
    name = file_name(session_id) if session_id else ""
    folders = [home / "sessions" / one for one in ("unfinished", "finished")]
    found = [path for one in folders if one.is_dir() for path in sorted(one.glob(f"*{JOURNAL}"))]
    meant = [path for path in found if name and path.name.startswith(name)]
    if len(meant) != 1:
        told = f"{len(meant)} sessions begin so" if meant else "there is no such session"
        raise Refused(f"{session_id}: {told}.", "sessions lists them, each with its id.")
    return meant[0]


def _session_files(
    home: Path, session: Session, history: EventHistory, masker: Masker
) -> Iterator[tuple[str, bytes]]:
    """Yield the files that belong to a session but are not in its journal.

    Transcripts of agents are left out: nobody could read through them all.
    """
    turned = [
        turn.model_dump(mode="json")
        for turn in task_log_views.session_turns(session.id, history.steps)
    ]
    about = task_log_views.session_log(session).model_dump(mode="json")
    about |= {"current_phase": task_logs.phase_of(session), "turns": turned}
    yield "metadata.json", _json(about)
    yield "session.json", _json(exported(session))
    logs = home / "logs" / "sessions" / file_name(session.id)
    for path in sorted(logs.rglob("*.json")):
        yield from _masked_file(path, f"logs/{path.relative_to(logs)}", masker)
    for evidence_id in sorted({one for task in session.tasks for one in task.evidence_refs}):
        path = home / "evidence" / f"{file_name(evidence_id)}.json"
        yield from _masked_file(path, f"evidence/{path.name}", masker)


def _masked_file(path: Path, name: str, masker: Masker) -> Iterator[tuple[str, bytes]]:
    # Masked again: a value may have become known as a secret since the file was written. Links and unreadable files are
    # left out, as the archive is for somebody else.
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_FILE:
        return
    try:
        content: object = json.loads(path.read_bytes())
    except ValueError:
        return
    yield name, _json(masker.mask_model(content, personal=True))


def _json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _write_new_file(path: Path, content: bytes) -> None:
    """Write a new file, readable by its owner only. Never overwrites, and leaves no partial file behind."""
    try:
        created = create_file(path)
    except FileExistsError as error:
        raise Refused(f"{path} is there already.", "Name another file with --to.") from error
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.") from error
    try:
        with created:
            created.write(content)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise Refused(f"{path} cannot be written: {error.strerror}.") from error


def _journal_start_note(history: EventHistory) -> str:
    start = history.start.session
    if start.created_at == start.updated_at:
        return ""
    return f"Events before {date_time(start.updated_at)} are not in its journal any more.\n"


# Replay: applies a session's recorded events again and compares states and orders. No action is carried out.


@dataclass(frozen=True)
class ReplayResult:
    steps: int
    difference: str = ""
    """The first difference, as a sentence. Empty if there is none."""


def replay_history(history: EventHistory) -> ReplayResult:
    session = history.start.session.copied()
    for number, step in enumerate(history.steps, 1):
        session = _decide_like_actor(session, step.event)
        if difference := _difference(session, step):
            return ReplayResult(number, f"Step {number} ({step.event.kind}): {difference}.")
    return ReplayResult(len(history.steps))


def _decide_like_actor(session: Session, event: Event) -> Session:
    # As in the actor: if deciding raises, its changes are thrown away and the session fails.
    there = session.copied()
    try:
        decide(there, event)
    except Exception:  # noqa: BLE001 - a bug is part of the story; what came of it is compared
        there = session.copied()
        broke = Broke(id=derived_id(event.id, "broke"), at=event.at, reason="deciding failed")
        decide(there, broke)
    return there


def _difference(session: Session, step: DecidedEvent) -> str:
    if told := _state_difference(states_of(session), step.stand):
        return told
    now = {order.key for order in due(session)} - set(step.answered)
    more, less = sorted(now - set(step.orders)), sorted(set(step.orders) - now)
    if more or less:
        lacks = f"; it does not order {', '.join(less)}" if less else ""
        return f"it orders {', '.join(more) or 'nothing more'}{lacks}"
    return ""


def _state_difference(now: SessionStates, then: SessionStates) -> str:
    if (now.status, now.phase) != (then.status, then.phase):
        return f"the session was {then.status} {then.phase}, and is {now.status} {now.phase}"
    for what, ours, theirs in (("task", now.tasks, then.tasks), ("run", now.runs, then.runs)):
        for key in sorted({*ours, *theirs}):
            if ours.get(key) != theirs.get(key):
                was, is_now = theirs.get(key, "not there"), ours.get(key, "not there")
                return f"{what} {key} was {was}, and is {is_now}"
    return ""
