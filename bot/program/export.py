"""`gwt-bot export` and `gwt-bot replay`: one session as an archive for somebody else, and whether it would go the same way again."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from adapters.store.bundle import HISTORY, lines, opened, packed
from adapters.store.folder import JOURNAL, file_name
from adapters.store.history import read
from bot.domain import tasklog
from bot.domain.exported import History
from bot.domain.masking import Masker, clean
from bot.domain.session import Session
from bot.domain.snapshot import NewerSchemaError
from bot.domain.snapshot import export as exported
from bot.engine.replay import replayed
from bot.errors import BotError, BrokenStateError, Refused
from bot.program.dotenv import read_settings
from bot.program.secrets import secrets_in

LARGEST_FILE = 20_000_000
"""Logs and evidence beyond that are left out, and named."""


async def export(session_id: str, to: Path | None) -> None:
    """Nothing is locked: the bot may be at work on it."""
    current = await read_settings()
    masker = Masker({**secrets_in(os.environ), **current.secrets})
    told = await asyncio.to_thread(write, current.gwt_home, session_id, to, masker)
    sys.stdout.write(told)


async def replay(archive: Path) -> None:
    """Exit code 1 (by a BotError) where something comes out otherwise."""
    manifest, history = await asyncio.to_thread(opened, archive)
    found = replayed(history)
    # whoever made the archive must not speak to this terminal
    what = clean(f"{manifest.title or manifest.session}, exported by {manifest.program}")
    sys.stdout.write(f"{' '.join(what.split())}\n")
    if found.difference:
        raise BotError(f"{found.difference} What came before is as it was.")
    sys.stdout.write(
        f"{found.steps} events, and the same states and orders come of them.\n{_since(history)}"
    )


def write(home: Path, session_id: str, to: Path | None, masker: Masker) -> str:
    """Where it is, and whether it can be replayed."""
    journal = _journal(home, session_id)
    try:
        history, session = read(journal)
    except (BrokenStateError, NewerSchemaError) as error:
        raise Refused(f"Session {session_id} cannot be read: {error}") from error
    history = masker.mask_model(history, personal=True)
    session = masker.mask_model(session, personal=True)
    files = {HISTORY: lines(history), **dict(_beside(home, session, history, masker))}
    content = packed(f"gwt-bot {version('gwt-bot')}", session.id, session.title, files)
    path = to or Path(f"gwt-session-{session.short}.tar.gz")
    _keep(path, content)
    found = replayed(history)
    again = found.difference or f"{found.steps} events; replayed, the same comes of them."
    return f"{path}: {len(files) + 1} files, {len(content)} bytes\n{again}\n{_since(history)}"


def _journal(home: Path, session_id: str) -> Path:
    """By the id or a unique beginning of it."""
    name = file_name(session_id) if session_id else ""
    folders = [home / "sessions" / one for one in ("unfinished", "finished")]
    found = [path for one in folders if one.is_dir() for path in sorted(one.glob(f"*{JOURNAL}"))]
    meant = [path for path in found if name and path.name.startswith(name)]
    if len(meant) != 1:
        told = f"{len(meant)} sessions begin so" if meant else "there is no such session"
        raise Refused(f"{session_id}: {told}.", "sessions lists them, each with its id.")
    return meant[0]


def _beside(
    home: Path, session: Session, history: History, masker: Masker
) -> Iterator[tuple[str, bytes]]:
    """What was kept of it outside of its record. Transcripts of agents are not: nobody could look through them all."""
    turned = [turn.model_dump(mode="json") for turn in tasklog.turns(session.id, history.steps)]
    about = tasklog.session_log(session).model_dump(mode="json")
    about |= {"current_phase": tasklog.phase_of(session), "turns": turned}
    yield "metadata.json", _json(about)
    yield "session.json", _json(exported(session))
    logs = home / "logs" / "sessions" / file_name(session.id)
    for path in sorted(logs.rglob("*.json")):
        yield from _masked(path, f"logs/{path.relative_to(logs)}", masker)
    for evidence_id in sorted({one for task in session.tasks for one in task.evidence_refs}):
        path = home / "evidence" / f"{file_name(evidence_id)}.json"
        yield from _masked(path, f"evidence/{path.name}", masker)


def _masked(path: Path, name: str, masker: Masker) -> Iterator[tuple[str, bytes]]:
    """Masked once more: what is secret may have become known since. What cannot be read is left out, and what is a link:
    somebody else gets this."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_FILE:
        return
    try:
        content: object = json.loads(path.read_bytes())
    except ValueError:
        return
    yield name, _json(masker.mask_model(content, personal=True))


def _json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _keep(path: Path, content: bytes) -> None:
    """For the owner only, over nothing that is there, and whole or not at all."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise Refused(f"{path} is there already.", "Name another file with --to.") from error
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise Refused(f"{path} cannot be written: {error.strerror}.") from error


def _since(history: History) -> str:
    start = history.start.session
    if start.created_at == start.updated_at:
        return ""
    return f"Events before {start.updated_at:%Y-%m-%d %H:%M} UTC are not in its journal any more.\n"
