"""Shows a patch whole, with the line numbers of the new version; in parts where it is too large for one prompt.

Nothing is left out silently: what stands in no part is named in `unseen`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bot.core.diffs import Patch, split_patch
from bot.core.text import counted

_RANGES = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_LINE_ROOM = 200
"""Bytes kept for the heads of a file and a hunk where one line is longer than a part."""


@dataclass(frozen=True)
class PatchPart:
    """What is shown at once, and which files it is about."""

    text: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class ChangedText:
    """What the patch shows of a file's new version."""

    kind: str
    """"new", "deleted", "changed" or "renamed"."""
    lines: dict[int, str] = field(default_factory=dict[int, str])


_BYTECODE = re.compile(r"(?:^|/)__pycache__/[^/]+\.py[co]$")
"""What Python writes beside a source file, which is judged itself. Agents commit it where nothing ignores it."""


@dataclass(frozen=True)
class DividedPatch:
    parts: tuple[PatchPart, ...] = ()
    files: tuple[str, ...] = ()
    """One line for each file: its path, and how much of it was changed."""
    unseen: tuple[str, ...] = ()
    """What no part shows, with the reason: binary files, and all that is beyond the bounds."""
    unread_locks: tuple[str, ...] = ()
    """Lock files, which are shown only where all of the patch fits."""


def divide_patch(
    patch: str, room: int, most: int, *, is_cut: bool = False, changed: Iterable[str] = ()
) -> DividedPatch:
    """Divide a patch into at most `most` parts of at most `room` bytes in JSON.

    A file is divided only if it is larger than a part: then between its hunks, or between lines of a hunk. `is_cut`:
    there was more of the patch than could be read; `changed` are all files that it should have named.
    """
    files = _files(patch)
    if not files:
        return DividedPatch()
    listed = tuple(one.named.rstrip("\n") for one in files)
    unseen = {
        one.path: "binary"
        for one in files
        if one.binary and one.kind != "deleted" and not _BYTECODE.search(one.path)
    }
    if is_cut:
        unseen[files[-1].path] = "too large to be read whole"
        known = {one.path for one in files}
        unseen |= dict.fromkeys((path for path in changed if path not in known), "not read")
    texts = [_shown(one) for one in files]
    whole = "".join(texts)
    if size_in_json(whole) <= room:
        parts = (PatchPart(whole, tuple(one.path for one in files)),)
        return DividedPatch(parts, listed, _named(unseen))
    locks = tuple(one.path for one in files if one.lock)
    packed = list(_packed([one for one in files if not one.lock], room, unseen))
    for part in packed[most:]:
        unseen |= dict.fromkeys(part.paths, "beyond what is shown at most")
    return DividedPatch(tuple(packed[:most]), listed, _named(unseen), locks)


def changed_texts(patch: str) -> dict[str, ChangedText]:
    """Return the lines of the new version that the patch shows, by path."""
    found: dict[str, ChangedText] = {}
    for one in _files(patch):
        known = found.setdefault(one.path, ChangedText(one.kind))
        for hunk in one.hunks:
            known.lines.update((n, line[1:]) for n, line in _numbered(hunk) if n)
    return found


def size_in_json(text: str) -> int:
    """Return the bytes that a text takes within JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) - 2


def listed_within(lines: Sequence[str], room: int, what: str = "file") -> list[str]:
    """Return as many lines as fit into so many bytes of JSON, and the number of the others."""
    fitting = fitting_lines(lines, room)
    more = len(lines) - fitting
    return [*lines[:fitting], *([f"… and {counted(more, f'more {what}')}"] if more else ())]


def fitting_lines(lines: Iterable[str], room: int) -> int:
    """Return how many lines fit into so many bytes of JSON."""
    count = 0
    for line in lines:
        room -= size_in_json(line) + 4
        if room < 0:
            break
        count += 1
    return count


def _files(patch: str) -> list[Patch]:
    files = split_patch(patch)
    if not files and patch.strip():
        return [Patch(path="the patch", head="", hunks=[patch])]
    # git calls a file binary that is only declared so; its text comes after all others
    texts = {one.path for one in files if one.hunks}
    return [one for one in files if not (one.binary and one.path in texts)]


def _named(unseen: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"{path} ({why})" for path, why in unseen.items())


def _head(patch: Patch) -> str:
    return f"=== {patch.named}"


def _shown(patch: Patch) -> str:
    return _head(patch) + "".join(map(_shown_hunk, patch.hunks))


def _shown_hunk(hunk: str) -> str:
    return "".join(map(_shown_line, _numbered(hunk)))


def _shown_line(line: tuple[int, str]) -> str:
    number, text = line
    return f"{number} {text}\n" if number else f"{text}\n"


def _numbered(hunk: str) -> Iterator[tuple[int, str]]:
    """Yield each line of a hunk with its number in the new version; 0 if it is not part of that."""
    found = _RANGES.match(hunk)
    number = int(found[1]) if found else 0
    for at, line in enumerate(hunk.removesuffix("\n").split("\n")):
        counts = bool(found) and at > 0 and line[:1] in ("+", " ", "")
        yield (number if counts else 0), line
        number += counts


def _packed(files: Iterable[Patch], room: int, unseen: dict[str, str]) -> Iterator[PatchPart]:
    text, paths = "", dict[str, None]()
    used = 0
    for one in files:
        for piece in _pieces(one, room, unseen):
            size = size_in_json(piece)
            if text and used + size > room:
                yield PatchPart(text, tuple(paths))
                text, paths, used = "", {}, 0
            text, used = text + piece, used + size
            paths[one.path] = None
    if text:
        yield PatchPart(text, tuple(paths))


def _pieces(patch: Patch, room: int, unseen: dict[str, str]) -> Iterator[str]:
    """Yield the file whole if it fits, otherwise its hunks, each with the file's head."""
    whole = _shown(patch)
    if size_in_json(whole) <= room:
        yield whole
        return
    head = _head(patch)
    left = room - size_in_json(head)
    text, used = "", 0
    for piece in _pieces_of_hunks(patch, left, unseen):
        size = size_in_json(piece)
        if text and used + size > left:
            yield head + text
            text, used = "", 0
        text, used = text + piece, used + size
    yield head + text


def _pieces_of_hunks(patch: Patch, room: int, unseen: dict[str, str]) -> Iterator[str]:
    """Yield the hunks; one that does not fit goes line by line."""
    for hunk in patch.hunks:
        whole = _shown_hunk(hunk)
        if size_in_json(whole) <= room:
            yield whole
            continue
        for line in map(_shown_line, _numbered(hunk)):
            if size_in_json(line) <= room:
                yield line
                continue
            unseen[patch.path] = "has lines that are too long to be shown"
            kept = line[: max(0, room - _LINE_ROOM) // 6]  # a character takes six bytes at most
            yield f"{kept}… (shortened)\n"
