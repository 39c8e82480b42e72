"""The program's log: one JSON object per line, one file per day, everything masked.

Logging never stops the program: lines that cannot be written are counted, and the next line reports the number.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import cast

from adapters.files import make_private, open_private

MAX_LINE_BYTES = 1_000_000
"""Bytes of one line."""
TRUNCATED = "[TRUNCATED]"
KEEP = timedelta(days=30)
MAX_DAY_BYTES = 200_000_000
"""Bytes of one day's file. Further records are only counted."""

_TEXT_LIMITS = (900_000, 120_000, 15_000)
"""Characters of text per line, tried in this order, because escaping as JSON may make a text longer."""
_DROPPED_AT_CUT = 8192
"""Characters dropped at a cut, because half a secret there would not be recognised."""
_DEPTH = 12
_NAME = 128
_FILE = re.compile(r"gwt\.jsonl\.([0-9]{4}-[0-9]{2}-[0-9]{2})", re.ASCII)
_VERBOSE_LOGGERS = (
    "aiohttp",
    "apscheduler",
    "asyncio",
    "github",
    "httpcore2",
    "httpx2",
    "libtmux",
    "nio",
    "openai",
    "slack_bolt",
    "slack_sdk",
    "urllib3",
)

_QUOTING_LOGGERS = ("nio.events", "nio.responses")
"""These loggers quote whole events, possibly private messages, so only the position in the code is kept."""

Mask = Callable[[str], str]


def start_logging(home: Path, cwd: Path, mask: Mask) -> LogFile:
    """Log everything from INFO on to the log of this working directory, and delete old files. Safe to call again."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one, LogFile)]:
        root.removeHandler(handler)
    log = LogFile(log_directory(home, cwd), mask)
    log.prepare()
    root.addHandler(log)
    root.setLevel(logging.INFO)
    for name in _VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    _remove_old(home / "logs", datetime.now(UTC).date() - KEEP)
    return log


def log_directory(home: Path, cwd: Path) -> Path:
    """Return the log folder of a working directory: its path as one name, with a hash if the name would be ambiguous."""
    path = str(cwd)
    name = re.sub(r"[^A-Za-z0-9._]+", "-", path).strip("-.")
    # `sessions` is reserved for the logs of sessions
    clear = "/" + name.replace("-", "/") == path and 0 < len(name) <= _NAME
    if clear and name != "sessions":
        return home / "logs" / name
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    return home / "logs" / f"{name[-_NAME:]}-{digest}".strip("-.")


class LogFile(logging.Handler):
    """Writes records.

    The file is opened for each one, because the day may change and the file may be deleted meanwhile.
    """

    def __init__(self, directory: Path, mask: Mask, *, largest: int = MAX_DAY_BYTES) -> None:
        super().__init__()
        self._largest = largest
        self.directory = directory
        self.lost = 0
        """Number of records that could not be written since the last one that could."""
        self._mask = mask

    def prepare(self) -> None:
        """Create the private folders. Errors are ignored, because each record tries again."""
        with suppress(OSError):
            _make_private(self.directory)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            day = datetime.fromtimestamp(record.created, UTC).date()
            self._write(self.directory / f"gwt.jsonl.{day}", self._lines(record))
            self.lost = 0
        except Exception:  # noqa: BLE001 - a full disk, an object that cannot be shown; logging's own report of it would print the arguments unmasked
            self.lost += 1

    def _lines(self, record: logging.LogRecord) -> bytes:
        line = self._line(record)
        if not self.lost:
            return line
        told = logging.LogRecord(__name__, logging.WARNING, "", 0, "records were lost", None, None)
        told.data = {"count": self.lost}
        return self._line(told) + line

    def _line(self, record: logging.LogRecord) -> bytes:
        """Return the record as one line within the limit."""
        for room in _TEXT_LIMITS:
            line = _dump(_fields(record, _JsonMasker(self._mask, room)))
            if len(line) <= MAX_LINE_BYTES:
                return line
        raise ValueError("no record is that long")

    def _write(self, path: Path, lines: bytes) -> None:
        file = _open(path)
        try:
            size = os.fstat(file).st_size
            if size + len(lines) > self._largest:
                raise OSError(errno.EFBIG, "the day's log is full")
            if size and os.pread(file, 1, size - 1) != b"\n":
                os.write(file, b"\n")  # the last line was cut off by a crash
            _write_all(file, lines)
        finally:
            os.close(file)


class _JsonMasker:
    """Converts any value to masked JSON values, until the room is used up."""

    def __init__(self, mask: Mask, room: int) -> None:
        self._mask = mask
        self._room = room

    def show(self, value: object, depth: int = 0) -> object:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return value if isinstance(value, int) or abs(value) < float("inf") else str(value)
        if depth > _DEPTH:
            return TRUNCATED
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[object, object]", value), depth)
        if isinstance(value, list | tuple | set | frozenset):
            return self._sequence(cast("Iterable[object]", value), depth)
        return self.text(value if isinstance(value, str) else str(value))

    def text(self, text: str) -> str:
        if self._room <= 0:
            return TRUNCATED
        shown = self._mask(text[: self._room])
        if len(text) > self._room:
            shown = shown[:-_DROPPED_AT_CUT] + TRUNCATED
        self._room -= len(shown)
        return shown

    def _mapping(self, values: Mapping[object, object], depth: int) -> dict[str, object]:
        shown: dict[str, object] = {}
        for key, value in values.items():
            if self._spent():
                shown[TRUNCATED] = True
                break
            shown[self.text(str(key))] = self.show(value, depth + 1)
        return shown

    def _sequence(self, values: Iterable[object], depth: int) -> list[object]:
        shown: list[object] = []
        for value in values:
            if self._spent():
                shown.append(TRUNCATED)
                break
            shown.append(self.show(value, depth + 1))
        return shown

    def _spent(self) -> bool:
        # Each element costs some room, however small it is.
        self._room -= 8
        return self._room <= 0


def _fields(record: logging.LogRecord, shower: _JsonMasker) -> dict[str, object]:
    fields: dict[str, object] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "category": shower.text(str(record.name)),
        "event": shower.text(_event(record)),
        "data": shower.show(getattr(record, "data", None) or {}),
    }
    if record.exc_info and record.exc_info[1] is not None:
        fields["error"] = shower.text("".join(traceback.format_exception(record.exc_info[1])))
    if record.stack_info:
        fields["stack"] = shower.text(record.stack_info)
    return fields


def _event(record: logging.LogRecord) -> str:
    # A wrong format string must not lose the event, so the arguments are appended.
    if str(record.name).startswith(_QUOTING_LOGGERS):
        return f"{record.funcName} in line {record.lineno} complains"
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        return f"{record.msg} {record.args}"


def _dump(fields: dict[str, object]) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _open(path: Path) -> int:
    # Always private, whatever the umask or earlier mode; never through a link.
    try:
        file = open_private(path, os.O_RDWR | os.O_APPEND)
    except FileNotFoundError:
        _make_private(path.parent)
        file = open_private(path, os.O_RDWR | os.O_APPEND)
    os.fchmod(file, 0o600)
    return file


def _make_private(directory: Path) -> None:
    """Make the folder, `logs` and the home private."""
    for one in (directory.parents[1], directory.parent, directory):
        make_private(one)


def _write_all(file: int, lines: bytes) -> None:
    # All or nothing: a full disk accepts part of the data before it reports an error.
    before, written = os.fstat(file).st_size, 0
    try:
        while written < len(lines):
            written += os.write(file, lines[written:])
    except OSError:
        if os.fstat(file).st_size == before + written:  # nobody has appended since
            os.ftruncate(file, before)
        raise


def _remove_old(logs: Path, oldest: date) -> None:
    for path in logs.glob("*/gwt.jsonl.*"):
        match = _FILE.fullmatch(path.name)
        with suppress(OSError, ValueError):
            if match and date.fromisoformat(match[1]) < oldest:
                path.unlink()
