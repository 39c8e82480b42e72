"""Reads what a request may be about, at one commit and from git objects only: names of definitions, history, contents.

Nothing is checked out, no link is followed, and nothing is fetched. What was read of a blob or a commit is cached by
its id in an index that all sessions share; without the index it is read again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from adapters.files import open_private
from adapters.git.commits import readable
from adapters.git.layout import GitCheckout
from adapters.git.run import Git
from adapters.git.scan import FileListing, list_files
from adapters.git.sources import defines_names, is_document, is_source, is_test_code
from bot.core.context.excerpts import OUTLINED, RequestContext, compose
from bot.core.context.outline import LONGEST_TEXT, names
from bot.core.context.ranking import WIDEST, PastChange, Ranked, SourceFile, rank
from bot.core.context.words import compounds, words
from bot.core.errors import PortError, Refused
from bot.core.looks import masked_lines

Place = GitCheckout | Path
"""A checkout, or the folder of a bare repository."""
Names = dict[str, tuple[str, str]]
"""By blob: the stems of the names it defines, and the exact forms of those that have several parts."""
INDEX_FILE = "context.sqlite3"
VERSION = 2
"""The version of the cached rows. Rows of another version are read anew."""
MOST_ROWS = 300_000
COMMITS = 2_000
TESTS = 10
CHUNK = 4 * 1024 * 1024
"""The number of bytes read from git at once."""
LARGEST = 400 * 1024
"""Files larger than this many bytes are generated or data, and are skipped."""
LONGEST_MESSAGE = 4_000
DOCUMENT_SHARE = 0.4
"""Documents and settings count less than code: they mention everything and are seldom what is changed first."""


async def find_context(
    git: Git,
    place: Place,
    commit: str,
    request: str,
    *,
    tokens: int,
    index: Path,
    mask: Callable[[str], str] = str,
) -> RequestContext:
    """What the request is about in the tree of that commit, in at most so many tokens.

    `mask`: a file is masked as a whole, before pieces of it are chosen.
    """
    begun = time.monotonic()
    (listing, blobs, known, left_out), history = await asyncio.gather(
        _read_files(git, place, commit, index), read_history(git, place, commit, index)
    )
    ranked, tests = await asyncio.to_thread(_ranked, request, blobs, known, history, listing.blobs)
    wanted = {one.path: blobs[one.path] for one in ranked[:OUTLINED] if one.path in blobs}
    texts = await read_texts(git, place, wanted) if known else {}
    texts = await asyncio.to_thread(_masked, texts, mask)
    found = await asyncio.to_thread(
        compose, request, commit, ranked, tests, texts, tokens=tokens, searched=len(blobs)
    )
    seconds = round(time.monotonic() - begun, 3)
    left_out += [found.left_out] if found.left_out else []
    return found.model_copy(update={"seconds": seconds, "left_out": "; ".join(left_out)})


async def _read_files(
    git: Git, place: Place, commit: str, index: Path
) -> tuple[FileListing, dict[str, str], Names, list[str]]:
    """Return all files, the source files among them, what these define, and why something is missing."""
    listing = await list_files(git, place, commit)
    left_out = ["the repository has more files than are listed"] if listing.cut else []
    blobs = await asyncio.to_thread(_source_files, listing.blobs)
    try:
        known = await _read_names(git, place, blobs, index)
    except Refused as refusal:
        # a partial clone: only names of files are known, and nothing is fetched
        known = Names()
        left_out.append(f"no contents could be read: {refusal.reason}")
    return listing, blobs, known, left_out


def _masked(texts: Mapping[str, str], mask: Callable[[str], str]) -> dict[str, str]:
    return {path: masked_lines(text, mask) for path, text in texts.items()}


def _source_files(blobs: Mapping[str, str]) -> dict[str, str]:
    return {path: blob for path, blob in blobs.items() if is_source(path)}


def _ranked(
    request: str,
    blobs: Mapping[str, str],
    known: Names,
    history: Sequence[PastChange],
    everything: Iterable[str],
) -> tuple[list[Ranked], list[str]]:
    files = [SourceFile(path, *known.get(blob, ("", ""))) for path, blob in blobs.items()]
    ranked = rank(request, files, history)
    for one in ranked:
        if is_document(one.path):
            one.score *= DOCUMENT_SHARE
    ranked.sort(key=lambda one: (-one.score, one.path))
    return ranked, partner_tests([one.path for one in ranked[:6]], everything, history)


async def files_about(
    git: Git, place: Place, words: str, blobs: Mapping[str, str], index: Path
) -> list[str]:
    """Return the source files that are about these words, best first."""
    sources = await asyncio.to_thread(_source_files, blobs)
    known = await _read_names(git, place, sources, index)
    ranked, _ = await asyncio.to_thread(_ranked, words, sources, known, (), ())
    return [one.path for one in ranked]


def partner_tests(
    first: Sequence[str], everything: Iterable[str], history: Sequence[PastChange]
) -> list[str]:
    """The tests that changed together with these files, the first counting most, and those named after them."""
    weights = {path: 1 / (1 + at) for at, path in enumerate(first)}
    known = {*everything}
    scores: defaultdict[str, float] = defaultdict(float)
    for change in history:
        if len(change.paths) <= WIDEST and (
            gain := sum(weights.get(path, 0.0) for path in change.paths)
        ):
            for path in change.paths:
                if path in known and is_test_code(path):
                    scores[path] += gain
    stems = {_stems_of(path.rpartition("/")[2]): weight for path, weight in weights.items()}
    for path in known:
        # few paths have such a name, so that this comes before they are tried for being tests
        if (weight := stems.get(_tested_by(path.rpartition("/")[2]))) and is_test_code(path):
            scores[path] += 2 * weight
    return [
        readable(path)
        for path, _ in sorted(scores.items(), key=lambda found: (-found[1], found[0]))[:TESTS]
    ]


def _stems_of(name: str) -> frozenset[str]:
    return frozenset(words(name.rpartition(".")[0] or name))


@lru_cache(maxsize=20_000)
def _tested_by(name: str) -> frozenset[str]:
    """The stems of what a test file of this name is about."""
    return _stems_of(name) - {"test", "spec"}


# Contents: sizes first, so that no large file is read, then in chunks.


async def _read_names(git: Git, place: Place, blobs: Mapping[str, str], index: Path) -> Names:
    wanted = {blob: path for path, blob in blobs.items() if defines_names(path)}
    known = await asyncio.to_thread(_kept_names, index, wanted)
    if missing := sorted(wanted.keys() - known.keys()):
        fresh = Names()
        async for contents in _in_chunks(git, place, missing):
            fresh |= await asyncio.to_thread(_extracted, contents, wanted)
        fresh |= {blob: ("", "") for blob in missing if blob not in fresh}
        await asyncio.to_thread(_keep_names, index, fresh)
        known |= fresh
    return known


async def _in_chunks(
    git: Git, place: Place, blobs: Sequence[str]
) -> AsyncIterator[dict[str, bytes]]:
    # reading the next chunk meanwhile gains nothing: while a thread computes, the loop hardly gets to read from git
    sizes = await _sizes(git, place, blobs)
    chunk: list[str] = []
    room = CHUNK
    for blob in (blob for blob in blobs if sizes.get(blob, LARGEST + 1) <= LARGEST):
        if chunk and sizes[blob] > room:
            yield await _contents(git, place, chunk)
            chunk, room = [], CHUNK
        chunk.append(blob)
        room -= sizes[blob]
    if chunk:
        yield await _contents(git, place, chunk)


async def _sizes(git: Git, place: Place, blobs: Sequence[str]) -> dict[str, int]:
    answer = await git.read(
        *("cat-file", "--batch-check", "--buffer"), at=place, stdin=_lines(blobs)
    )
    facts = (line.split() for line in answer.text.splitlines())
    return {one[0]: int(one[2]) for one in facts if len(one) == 3 and one[1] == "blob"}


async def _contents(git: Git, place: Place, blobs: Sequence[str]) -> dict[str, bytes]:
    answer = await git.read(
        *("cat-file", "--batch", "--buffer"), at=place, stdin=_lines(blobs), limit=4 * CHUNK
    )
    found: dict[str, bytes] = {}
    at = 0
    out = answer.out
    while (end := out.find(b"\n", at)) >= 0:
        facts = out[at:end].decode().split()
        at = end + 1
        if len(facts) == 3:
            size = int(facts[2])
            found[facts[0]] = out[at : at + size]
            at += size + 1
    return found


def _lines(blobs: Iterable[str]) -> bytes:
    return "".join(f"{blob}\n" for blob in blobs).encode()


async def read_texts(git: Git, place: Place, blobs: Mapping[str, str]) -> dict[str, str]:
    contents: dict[str, bytes] = {}
    async for chunk in _in_chunks(git, place, [*dict.fromkeys(blobs.values())]):
        contents |= chunk
    return {path: _text(contents[blob]) for path, blob in blobs.items() if blob in contents}


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\0", "\ufffd").replace("\r\n", "\n")


def _extracted(contents: Mapping[str, bytes], paths: Mapping[str, str]) -> Names:
    return {blob: _names_of(content, paths[blob]) for blob, content in contents.items()}


def _names_of(content: bytes, path: str) -> tuple[str, str]:
    if b"\0" in content[:8000]:
        return "", ""
    found = names(content[:LONGEST_TEXT].decode("utf-8", "replace"), path)
    forms = [_forms(name) for name in found]
    exact = sorted({exact for _, exact in forms if exact})
    return _padded(stems for stems, _ in forms if stems), _padded(exact)


@lru_cache(maxsize=30_000)
def _forms(name: str) -> tuple[str, str]:
    """The stems of a name, and its form for exact matches; half of all names stand in several files."""
    bare = name.rpartition(".")[2]
    return " ".join(words(name)), bare.lower() if len(bare) > 5 or compounds(bare) else ""


def _padded(parts: Iterable[str]) -> str:
    joined = " ".join(parts)
    return f" {joined} " if joined else ""


# The history: what the messages of the last commits say, and which files each changed.


async def read_history(git: Git, place: Place, commit: str, index: Path) -> list[PastChange]:
    """Return the last commits, newest first; empty if the history cannot be read, as in a clone without its trees."""
    try:
        told = await git.read("rev-list", "--no-merges", f"--max-count={COMMITS}", commit, at=place)
        ids = told.text.split()
        known = await asyncio.to_thread(_kept_changes, index, ids)
        if missing := [one for one in ids if one not in known]:
            answer = await git.read(
                *("log", "--no-walk=unsorted", "--stdin", "--no-renames", "--name-only", "-z"),
                *(
                    "--no-ext-diff",
                    "--no-textconv",
                    "--ignore-submodules",
                    "--format=%x01%H%x02%B%x02",
                ),
                at=place,
                stdin=_lines(missing),
            )
            fresh = await asyncio.to_thread(_changes, answer.out)
            await asyncio.to_thread(_keep_changes, index, fresh)
            known |= fresh
    except PortError:
        return []
    return [known[one] for one in ids if one in known]


def _changes(out: bytes) -> dict[str, PastChange]:
    found: dict[str, PastChange] = {}
    for entry in out.decode("utf-8", "replace").split("\x01")[1:]:
        parts = entry.split("\x02", 2)
        if len(parts) == 3:
            id_, message, files = parts
            paths = tuple(path for path in (name.strip("\n") for name in files.split("\0")) if path)
            kept = paths if len(paths) <= WIDEST else ()
            found[id_] = PastChange(tuple(words(message[:LONGEST_MESSAGE])), kept)
    return found


# The index is one SQLite file in the bot's home. If anything is wrong with it, it is created anew.


@contextlib.contextmanager
def _opened(index: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the index. Yields None if it cannot be used; then everything is read from git."""
    connection = None
    with contextlib.suppress(OSError, sqlite3.Error):
        try:
            connection = _connected(index)
        except sqlite3.DatabaseError:
            index.unlink(missing_ok=True)
            connection = _connected(index)
    try:
        yield connection
    finally:
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()


def _connected(index: Path) -> sqlite3.Connection:
    if not index.exists():
        # SQLite would make it readable for all
        os.close(open_private(index, os.O_CREAT | os.O_WRONLY))
    connection = sqlite3.connect(index, timeout=2.0)
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            connection.executescript(
                "DROP TABLE IF EXISTS blobs; DROP TABLE IF EXISTS commits;"
                "CREATE TABLE blobs (id TEXT PRIMARY KEY, stems TEXT, exact TEXT);"
                "CREATE TABLE commits (id TEXT PRIMARY KEY, words TEXT, paths TEXT);"
                f"PRAGMA user_version = {VERSION};"
            )
    except BaseException:
        connection.close()
        raise
    return connection


@dataclass(frozen=True)
class _Statements:
    find: str
    keep: str
    forget: str
    """Deletes the oldest rows above a number of them."""


_BLOBS = _Statements(
    "SELECT blobs.* FROM json_each(?) AS wanted JOIN blobs ON blobs.id = wanted.value",
    "INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)",
    "DELETE FROM blobs WHERE rowid <= (SELECT MAX(rowid) FROM blobs) - ?",
)
_COMMITS = _Statements(
    "SELECT commits.* FROM json_each(?) AS wanted JOIN commits ON commits.id = wanted.value",
    "INSERT OR REPLACE INTO commits VALUES (?, ?, ?)",
    "DELETE FROM commits WHERE rowid <= (SELECT MAX(rowid) FROM commits) - ?",
)


def _rows(index: Path, table: _Statements, ids: Iterable[str]) -> Names:
    found: dict[str, tuple[str, str]] = {}
    with _opened(index) as connection, contextlib.suppress(sqlite3.Error):
        if connection is not None:
            for id_, one, other in connection.execute(table.find, (json.dumps([*ids]),)):
                found[id_] = (one, other)
    return found


def _keep(index: Path, table: _Statements, rows: Iterable[tuple[str, str, str]]) -> None:
    with _opened(index) as connection, contextlib.suppress(sqlite3.Error):
        if connection is not None:
            with connection:
                connection.executemany(table.keep, rows)
                connection.execute(table.forget, (MOST_ROWS,))


def _kept_names(index: Path, blobs: Iterable[str]) -> Names:
    return _rows(index, _BLOBS, blobs)


def _keep_names(index: Path, fresh: Mapping[str, tuple[str, str]]) -> None:
    _keep(index, _BLOBS, [(blob, *names) for blob, names in fresh.items()])


def _kept_changes(index: Path, ids: Iterable[str]) -> dict[str, PastChange]:
    rows = _rows(index, _COMMITS, ids)
    return {
        id_: PastChange(tuple(told.split()), tuple(paths.split("\0")) if paths else ())
        for id_, (told, paths) in rows.items()
    }


def _keep_changes(index: Path, fresh: Mapping[str, PastChange]) -> None:
    _keep(
        index,
        _COMMITS,
        [(id_, " ".join(one.words), "\0".join(one.paths)) for id_, one in fresh.items()],
    )
