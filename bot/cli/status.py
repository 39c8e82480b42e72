"""The commands that only read: status, sessions, info, logs, inbox, usage."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from adapters.console.rendering import ConsoleScreen, render_sheet
from adapters.local.handshake import ask_bot
from adapters.store import InstanceLock
from bot import settings
from bot.cli.process import secrets_in
from bot.cli.read_settings import read_settings
from bot.core.errors import Refused
from bot.core.sheets import Bullets, Element, Fields, Sheet, Table, Text
from bot.settings import pane_environment

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.store import JournalStore

# Scripts call these commands often: the models of sessions are imported only if a session must be read from disk.

TableRow = Mapping[str, JsonValue]
MAX_PRINTED_LINES = 50
"""The most lines of a list for a person. `--json` prints all of them."""
_HEX = frozenset("0123456789abcdef-")


async def status(*, as_json: bool) -> None:
    lines, pid = await _rows("status")
    if as_json:
        told = {"bot": {"running": pid is not None, "pid": pid}, "sessions": [*lines]}
        _print_json(told)
        return
    running = f"A bot is at work (process {pid})." if pid else "No bot is at work on this home."
    body: list[Element] = [Text(text=running)]
    body.append(_table(lines, waits=True) if lines else Text(text="Nothing is under way."))
    _print_sheet(Sheet(title="Status", body=tuple(body)))


async def unfinished_sessions() -> list[TableRow]:
    """Return the sessions that are not finished."""
    return (await _rows("status"))[0]


async def sessions(*, as_json: bool) -> None:
    lines, _ = await _rows("sessions")
    if as_json:
        _print_json([*lines])
        return
    none = Text(text="There are none yet. gwt-bot run says what you would like to have built.")
    body: tuple[Element, ...] = (_table(lines[:MAX_PRINTED_LINES]) if lines else none,)
    if len(lines) > MAX_PRINTED_LINES:
        body = (
            *body,
            Text(text=f"… and {len(lines) - MAX_PRINTED_LINES} older ones; --json lists them all."),
        )
    _print_sheet(Sheet(title="Sessions", body=body))


async def inbox(*, as_json: bool) -> None:
    """Print everything that waits for a person."""
    lines, _ = await _rows("inbox")
    if as_json:
        _print_json([*lines])
        return
    if not lines:
        _print_sheet(Sheet(title="Inbox", body=(Text(text="Nothing waits for you."),)))
        return
    items = tuple(f"{_name(one)}{_text(one, 'title')}: {_waits_for_text(one)}" for one in lines)
    body: list[Element] = [Bullets(items=items)]
    if any(line["kind"] == "intent" for line in lines):
        body.append(Text(text="gwt-bot intent show <name> tells more of an intent."))
    _print_sheet(Sheet(title="Inbox", body=tuple(body)))


def _name(line: TableRow) -> str:
    match line["kind"]:
        case "session":
            return f"{short(line)}  "
        case "intent":
            return f"intent {_text(line, 'id')}  "
        case _:
            return ""


async def usage(*, as_json: bool) -> None:
    """Print what the master model has cost, in finished and unfinished sessions."""
    lines, _ = await _rows("usage")
    keys = ("id", "title", "status", "model_calls", "model_tokens", "agent_runs", "agent_tokens")
    if as_json:
        _print_json([{key: line[key] for key in keys} for line in lines])
        return
    if not lines:
        _print_sheet(Sheet(title="Usage", body=(Text(text="No model has been asked yet."),)))
        return
    calls, tokens = (sum(int(_text(one, key)) for one in lines) for key in keys[3:5])
    total = Fields(pairs=(("Model calls", f"{calls:,}"), ("Model tokens", f"about {tokens:,}")))
    rows = tuple((short(one), *(_text(one, key) for key in keys[1:])) for one in lines)
    head = ("Id", "What", "State", "Calls", "Tokens", "Agent runs", "Agents' tokens")
    _print_sheet(
        Sheet(title="Usage", body=(total, Table(head=head, rows=rows[:MAX_PRINTED_LINES])))
    )


async def info(session: str, *, as_json: bool) -> None:
    told = cast("dict[str, JsonValue]", (await _fetch_data("session", session))[0])
    if as_json:
        _print_json(told)
        return
    whole = cast("dict[str, JsonValue]", told["session"])
    _print_sheet(Sheet(title=_text(told, "title"), body=tuple(_info(told, whole))))


async def logs(session: str, task: str, *, full: bool, as_json: bool) -> None:
    """Print the logs of the named session, or of the latest one. They are read from disk, without the bot."""
    from adapters.store import TaskLogFiles
    from bot.core.masking import Masker
    from bot.core.projections.task_log_views import find_log
    from bot.core.projections.task_log_views import log_blocks as shown
    from bot.core.projections.task_logs import Visibility

    if session and not _HEX.issuperset(session.lower()):
        # not a session id: the argument names a task
        session, task, full = "", session, full or task == Visibility.FULL
    session = session or await _latest_session_id()
    told = cast("dict[str, JsonValue]", (await _fetch_data("session", session))[0])
    id = _text(cast("TableRow", told["session"]), "id")
    current = settings.load()
    masker = Masker({**secrets_in(os.environ), **current.secrets})
    found = await TaskLogFiles(current.gwt_home, masker).read(id)
    one = find_log(found, task) if task else None
    if task and one is None:
        known = ", ".join(log.key for log in found) or "none yet"
        raise Refused(f"There is no log of {task}.", f"There are: {known}.")
    if as_json:
        _print_json([log.model_dump(mode="json") for log in ((one,) if one else found)])
        return
    title = f"Logs of {_text(told, 'title')} ({id[:8]})"
    _print_sheet(Sheet(title=title, body=shown(found, task, "full" if full else "")))


async def _latest_session_id() -> str:
    """Return the id of the most recently updated session."""
    lines, _ = await _rows("sessions")
    if not lines:
        raise Refused("There are no sessions yet.", "gwt-bot run says what you would like to have.")
    return _text(max(lines, key=lambda line: _text(line, "updated_at")), "id")


def _info(told: TableRow, whole: TableRow) -> Iterable[Element]:
    from bot.core.layout.phrases import state_in_words

    commit = _text(cast("TableRow", whole["repository"]), "base_commit")[:10]
    pairs = (
        ("Session", _text(whole, "id")),
        ("Status", state_in_words(_text(whole, "state"), _text(whole, "phase"))),
        ("Result", _text(told, "overall")),
        ("Repository", _text(whole, "repository_path")),
        ("Base", f"{_text(whole, 'base_branch')} at {commit}" if commit else ""),
        ("Spec", _text(whole, "spec_id")),
        ("Since", _text(whole, "created_at")[:16].replace("T", " ")),
        ("Waits for", _waits_for_text(told)),
    )
    yield Fields(pairs=tuple(pair for pair in pairs if pair[1]))
    tasks = cast("list[TableRow]", whole["tasks"])
    if tasks:
        yield Table(head=("Task", "What", "State", "Branch"), rows=tuple(map(_task, tasks)))


def _task(task: TableRow) -> tuple[str, ...]:
    worktree = cast("TableRow", task.get("assigned_worktree") or {})
    branch = _text(worktree, "branch_name")
    return (_text(task, "key"), _text(task, "name"), _text(task, "state"), branch)


def _table(lines: Iterable[TableRow], *, waits: bool = False) -> Table:
    from bot.core.layout.phrases import state_in_words

    rows = tuple(
        (
            short(one),
            _text(one, "title"),
            state_in_words(_text(one, "status"), _text(one, "phase")),
            _text(one, "where"),
            _waits_for_text(one) if waits else _ago(_text(one, "updated_at")),
        )
        for one in lines
    )
    return Table(head=("Id", "What", "State", "Where", "Waits for" if waits else "Last"), rows=rows)


def _waits_for_text(line: TableRow) -> str:
    return "; ".join(str(one) for one in cast("list[JsonValue]", line.get("waits_for") or []))


def _ago(at: str) -> str:
    from bot.core.text import ago

    return ago(datetime.fromisoformat(at), datetime.now(UTC))


def short(line: TableRow) -> str:
    return _text(line, "id").replace("-", "")[:8]


def _text(line: TableRow, key: str) -> str:
    value = line.get(key)
    return "" if value is None else str(value)


async def _rows(about: str) -> tuple[list[TableRow], int | None]:
    told, pid = await _fetch_data(about)
    return cast("list[TableRow]", told), pid


async def _fetch_data(about: str, of: str = "") -> tuple[JsonValue, int | None]:
    """Return the data and the process id of the running bot.

    Without one, read it from disk, under the instance lock.
    """
    home = (await read_settings()).gwt_home
    if told := await ask_bot(home, about, of):
        return told
    with InstanceLock(home):
        if about in ("status", "sessions", "usage") and not _has_sessions(home):
            return [], None
        from adapters.store import JournalStore
        from bot.core import status_data

        store = JournalStore(home)
        try:
            if about == "inbox":
                return await _inbox(store), None
            return status_data.status_of(store, about, of), None
        finally:
            store.close()


def _has_sessions(home: Path) -> bool:
    """Whether there are any session files, readable or not."""
    return any(not found.is_dir() for found in (home / "sessions").rglob("*"))


async def _inbox(store: JournalStore) -> JsonValue:
    from adapters.git import GitRepository
    from adapters.registry import ForgeRegistry
    from bot.core import status_data
    from bot.core.masking import Masker

    current = await read_settings()
    masker = Masker({**secrets_in(os.environ), **current.secrets})
    registry = ForgeRegistry() if current.gwt_intents else None
    git = GitRepository(current.gwt_home, pane_environment())
    paths = (str(current.gwt_repository), *current.repositories.values())
    return [
        masker.mask_model(line) for line in await status_data.inbox(store, registry, git.top, paths)
    ]


def _print_sheet(sheet: Sheet) -> None:
    screen = ConsoleScreen()
    screen.write(screen.rendered(render_sheet(sheet)))


def _print_json(data: object) -> None:
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()
