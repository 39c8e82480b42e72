"""Everything that reads what others wrote: how it is called, what is good input, and what it may raise.

Whoever adds a parser adds a line to `PARSERS`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, cast
from zlib import crc32

from pydantic import ValidationError

from adapters.agents.limits import (
    CLAUDE_LIMITS,
    CODEX_LIMITS,
    GEMINI_LIMITS,
    OPENCODE_LIMITS,
    find_limit,
)
from adapters.agents.screen.claude import Claude
from adapters.agents.screen.events import EventReader, RunReport, parse_event
from adapters.agents.screen.other_clis import Codex, Gemini, OpenCode
from adapters.files import Disk
from adapters.github import client
from adapters.github.api import ApiAnswer
from adapters.github.client import parse_answer as told
from adapters.llm.answers import read_answer
from adapters.llm.clis import read_claude, read_codex
from adapters.llm.streams import StreamedAnswer
from adapters.matrix import events as matrix_events
from adapters.matrix.events import BotIdentity, interpret_event
from adapters.registry import documents
from adapters.registry.yaml_text import BrokenError, edit_mapping
from adapters.slack.access import Identity
from adapters.slack.blocks.forms import FormPurpose
from adapters.slack.blocks.kit import ButtonValue
from adapters.slack.incoming import interpret_payload
from adapters.slack.payloads import PayloadContext
from adapters.store.records import SavedRecord
from adapters.tmux.dialogs import read_dialog as dialog_on
from adapters.tmux.screen_lines import ScreenContent
from adapters.tmux.spool import Spool, recorded_end
from bot import settings
from bot.core.diffs import read_patch as read_diff
from bot.core.errors import BrokenStateError, PortError, SettingsError
from bot.core.projections.registry import IntentEdit
from bot.core.runs import CompletionSource
from bot.core.snapshot import NewerSchemaError, export, restore
from bot.core.spec_kit.spec import check_plan, check_spec, requirement_ids, story_titles
from bot.core.spec_kit.tasks_reader import parse_tasks
from bot.core.states import IntentStatus
from bot.steps import asking
from tests.adapters.store.samples import record
from tests.faults import samples
from tests.prompts import REPLIES

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
_US = Identity("T1", "UBOT", "BBOT", "gwt")
_SHAPES = (
    *(client.PullData, client.RepositoryData, client.PullComment, client.CheckRun),
    *(client.CommitStatuses, client.MergeData, client.User),
)


@dataclass(frozen=True)
class Parser:
    name: str
    read: Callable[[bytes], object]
    samples: tuple[bytes, ...]
    expected: tuple[type[Exception], ...] = ()
    """What it raises where it can make nothing of it; whoever calls it knows."""
    effort: int = 1
    """How many others are read in the time it takes."""


class _Memory(Disk):
    """One file."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, path: Path) -> bytes:
        return self._data


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _journal(data: bytes) -> object:
    # any path that is there: what it holds comes from memory
    return SavedRecord.read(Path(__file__), _Memory(data))


def _checked_journal(data: bytes) -> object:
    """As if somebody had changed it who can count."""
    lines = (b"%08x %b" % (crc32(line), line) for line in data.split(b"\n") if line)
    return _journal(b"\n".join(lines) + b"\n")


@cache
def _spool() -> Spool:
    folder = Path(tempfile.mkdtemp(prefix="gwt-spool-"))
    (folder / "run-1").mkdir()
    return Spool(folder, "run-1")


def _spooled(name: str, data: bytes) -> object:
    spool = _spool()
    (spool.path / name).write_bytes(data)
    found = recorded_end(spool, process_gone=True, source=CompletionSource.PROCESS_EXIT)
    (spool.path / name).unlink()
    return found


def _streamed(data: bytes) -> None:
    read = StreamedAnswer(1000)
    for piece in (data[:7], data[7:]):
        read.feed(piece)
    read_answer(read.whole(), question="x", model="m", tools=True)


def _reply(data: bytes) -> None:
    """Of the model, to each question that it may be asked."""
    for model in REPLIES.values():
        try:
            asking.json_parser(model, _text(data))
        except (ValueError, RecursionError):  # it is asked again
            continue


def _events(data: bytes) -> None:
    report = RunReport()
    readers: tuple[EventReader, ...] = (
        Claude(report),
        Codex(report, {}),
        Gemini(report),
        OpenCode(report),
    )
    for reader in readers:
        for line in _text(data).splitlines():
            if event := parse_event(line):
                list(reader.read(event))
        list(reader.finish())
    report.text().encode(errors="replace")


def _limits(data: bytes) -> None:
    for ways in (CLAUDE_LIMITS, CODEX_LIMITS, GEMINI_LIMITS, OPENCODE_LIMITS):
        find_limit(_text(data), ways, NOON, UTC)


def _slack(data: bytes) -> None:
    body = _object(data)
    interpret_payload(body, _US, NOON, PayloadContext())


def _matrix_sync(data: bytes) -> None:
    told = _object(data)
    news = matrix_events.read_sync(told)
    matrix_events.without_secrets(told)
    for room, timeline in news.timelines.items():
        for event in timeline.events:
            interpret_event(room, event, BotIdentity("@gwt:here", "gwt"))


def _object(data: bytes) -> dict[str, Any]:
    """The libraries have read the JSON by then, and know that it is an object."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _github(data: bytes) -> None:
    for shape in _SHAPES:
        try:
            told(ApiAnswer(200, {}, _text(data)), shape)
        except PortError:
            continue


def _spec(data: bytes) -> None:
    text = _text(data)
    check_spec(text)
    requirement_ids(text)
    story_titles(text)


def _intent(data: bytes) -> None:
    documents.read_intent("a", data)
    edit_mapping(
        data, lambda kept: documents.change_intent(kept, IntentEdit(status=IntentStatus.DONE))
    )


def _history(data: bytes) -> object:
    """It is never read for what it says, but edited where its session has ended again."""
    told = samples.HISTORY.model_copy(update={"title": "B"})
    return edit_mapping(data, lambda kept: documents.change_history(kept, told))


def _screen(data: bytes) -> object:
    return dialog_on(ScreenContent(_text(data), cursor=3))


@cache
def _dotenv() -> Path:
    handle, name = tempfile.mkstemp(prefix="gwt-env-")
    os.close(handle)
    return Path(name)


def _settings(data: bytes) -> object:
    _dotenv().write_bytes(data)
    return settings.load(_dotenv())


_STATE = json.dumps(export(record("one", messages=1).session)).encode()
_RECORD = b"\n".join(samples.journal_lines())

PARSERS = (
    Parser("a journal", _journal, samples.journals(), (BrokenStateError, NewerSchemaError)),
    Parser(
        "a journal somebody has edited",
        _checked_journal,
        (_RECORD,),
        (BrokenStateError, NewerSchemaError),
    ),
    Parser("a session file", restore, (_STATE,), (ValidationError, NewerSchemaError)),
    Parser(
        "an answer of the model's server",
        partial(read_answer, question="x", model="m", tools=True),
        samples.LLM_ANSWERS,
        (PortError,),
    ),
    Parser("a streamed answer of it", _streamed, samples.LLM_STREAMS, (PortError,)),
    Parser("a reply of the model", _reply, samples.REPLIES),
    Parser("what `claude -p` says", lambda d: read_claude(_text(d)), samples.CLAUDE, (PortError,)),
    Parser("what `codex exec` says", lambda d: read_codex(_text(d)), samples.CODEX, (PortError,)),
    Parser("a hook's file", partial(_spooled, "1-Stop.json"), samples.HOOKS),
    Parser("the report of a run", partial(_spooled, "report"), samples.REPORTS),
    Parser("an exit code", partial(_spooled, "exit"), (b"0\n", b"137\n")),
    Parser("events of agents", _events, samples.EVENTS),
    Parser("an error that may tell of a limit", _limits, samples.LIMITS),
    Parser("what Slack sends", _slack, samples.SLACK),
    Parser("the value of a button", lambda data: ButtonValue.parse(_text(data)), samples.BUTTONS),
    Parser("the purpose of a form", lambda data: FormPurpose.parse(_text(data)), samples.PURPOSES),
    Parser("what a homeserver sends", _matrix_sync, samples.MATRIX, (PortError,)),
    Parser("what GitHub answers", _github, samples.GITHUB),
    Parser("spec.md", _spec, samples.document("spec"), effort=2),
    Parser("plan.md", lambda data: check_plan(_text(data)), samples.document("plan")),
    Parser("tasks.md", lambda data: parse_tasks(_text(data)), samples.TASKS),
    Parser("a diff", lambda data: read_diff(_text(data)), samples.DIFFS),
    Parser("a screen", _screen, samples.SCREENS),
    Parser("settings", _settings, samples.SETTINGS, (SettingsError,), effort=20),
    Parser("an intent", _intent, samples.INTENTS, (BrokenError,), effort=40),
    Parser(
        "a draft", partial(documents.read_draft, "a.md"), samples.DRAFTS, (BrokenError,), effort=10
    ),
    Parser(
        "observations", documents.read_observations, samples.OBSERVATIONS, (BrokenError,), effort=20
    ),
    Parser("a history", _history, samples.HISTORIES, (BrokenError,), effort=40),
)
