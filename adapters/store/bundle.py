"""An archive of one session for somebody else: a tar.gz whose manifest names every file with its hash.

It is read in memory and never unpacked: what somebody hands in must neither fill the disk nor choose where files go.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from bot.domain.exported import FORMAT, FileMark, History, Manifest, Step
from bot.domain.record import Record
from bot.errors import Refused

MANIFEST, HISTORY = "manifest.json", "history.jsonl"
LARGEST = 500_000_000
"""Bytes in all, unpacked."""
MOST = 10_000
"""Files."""
_BROKEN = (
    *(tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile),
    # what tarfile makes of headers that nobody has written by accident
    *(ValueError, RecursionError),
)
_MEND = "Export the session again; an archive must not be changed."


def packed(program: str, session_id: str, title: str, files: Mapping[str, bytes]) -> bytes:
    """The same files make the same archive."""
    marks = tuple(
        FileMark(name=name, bytes=len(content), sha256=sha256(content).hexdigest())
        for name, content in sorted(files.items())
    )
    manifest = Manifest(program=program, session=session_id, title=title, files=marks)
    out = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        _add(tar, MANIFEST, manifest.model_dump_json(indent=1).encode())
        for name, content in sorted(files.items()):
            _add(tar, name, content)
    return out.getvalue()


def lines(history: History) -> bytes:
    """How it began, then a step a line."""
    texts = [history.start.model_dump_json(), *(step.model_dump_json() for step in history.steps)]
    return "".join(f"{text}\n" for text in texts).encode("utf-8", "replace")


def opened(path: Path, largest: int = LARGEST) -> tuple[Manifest, History]:
    """Refused with what is wrong: no archive, not a whole one, too large, or changed since it was made."""
    files = _files(path, largest)
    manifest = _manifest(path, files)
    for mark in manifest.files:
        content = files.get(mark.name)
        if content is None:
            raise Refused(f"{path} lacks {mark.name}.", _MEND)
        if sha256(content).hexdigest() != mark.sha256:
            raise Refused(f"{mark.name} in {path} is not what was exported.", _MEND)
    if strangers := files.keys() - {mark.name for mark in manifest.files} - {MANIFEST}:
        raise Refused(f"{path} holds {min(strangers)}, which its manifest does not name.", _MEND)
    return manifest, _history(path, files.get(HISTORY, b""))


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    about = tarfile.TarInfo(name)
    about.size, about.mode = len(content), 0o600
    tar.addfile(about, io.BytesIO(content))


class _Unpacked(io.BufferedIOBase):
    """What comes out of the archive, headers too, which are read whole before anybody is asked: so much and no more."""

    def __init__(self, file: gzip.GzipFile, path: Path, room: int) -> None:
        self._file, self._path, self._room = file, path, room

    def read(self, size: int | None = -1, /) -> bytes:
        data = self._file.read(size)
        self._room -= len(data)
        if self._room < 0:
            raise _too_large(self._path)
        return data


def _too_large(path: Path) -> Refused:
    return Refused(f"{path} is too large for an archive of a session.")


def _files(path: Path, largest: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    try:
        with (
            gzip.open(path) as zipped,
            tarfile.open(fileobj=_Unpacked(zipped, path, largest), mode="r|") as tar,
        ):
            for about in tar:
                if about.size > largest or len(found) >= MOST:
                    raise _too_large(path)
                # a sparse file is all the zeros it says, and none of them stands in the archive
                plain = about.isreg() and not about.issparse()
                file = tar.extractfile(about) if plain else None
                if file is None:
                    raise Refused(f"{path} holds {about.name}, which is no file.", _MEND)
                found[about.name] = file.read()
    except FileNotFoundError as error:
        raise Refused(f"There is no file {path}.") from error
    except _BROKEN as error:
        raise Refused(f"{path} is no whole archive of a session (tar.gz).", _MEND) from error
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}.") from error
    return found


def _manifest(path: Path, files: Mapping[str, bytes]) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(files.get(MANIFEST, b""))
    except ValidationError as error:
        raise Refused(f"{path} has no manifest that I understand.", _MEND) from error
    if manifest.format > FORMAT:
        raise Refused(f"{path} was made by a newer gwt-bot.", "Update gwt-bot to replay it.")
    return manifest


def _history(path: Path, content: bytes) -> History:
    first, *rest = content.splitlines() or [b""]
    try:
        return History(start=Record.model_validate_json(first), steps=tuple(_read(rest)))
    except ValidationError as error:
        raise Refused(
            f"I do not understand the history in {path}.",
            "Replay it with the gwt-bot that its manifest names.",
        ) from error


def _read(rows: Iterable[bytes]) -> Iterable[Step]:
    return (Step.model_validate_json(row) for row in rows)
