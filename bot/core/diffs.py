"""Shortens patches to a size that fits a prompt, and reads them line by line.

Single pass; text that is not a patch is no error.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# Shorten a patch: whole if it fits, otherwise the names of all files and as many whole hunks as fit, smallest files
# first.

_FILE = "diff --git "
_HUNK = "@@ "
_LOCK = re.compile(
    r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.ya?ml|bun\.lockb|go\.sum|[^/]+\.lock)$"
)
_PLAIN_MODE = "100644"
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b'"': b'"', b"\\": b"\\"}


@dataclass
class Patch:
    """What a patch does to one file."""

    path: str
    head: str
    """The first line, as git wrote it."""
    kind: str = "changed"
    mode: str = ""
    """Its new mode, if that is not the one of a plain file: 100755 can be executed, 120000 is a link."""
    binary: bool = False
    hunks: list[str] = field(default_factory=list[str])
    added: int = 0
    removed: int = 0

    @property
    def lock(self) -> bool:
        return _LOCK.search(self.path) is not None

    @property
    def named(self) -> str:
        """Return its line in the summary."""
        kind = f"{self.kind}, mode {self.mode}" if self.mode else self.kind
        if self.binary:
            return f"{self.path} ({kind}, binary)\n"
        lock = ", lock file" if self.lock else ""
        return f"{self.path} +{self.added} −{self.removed} ({kind}{lock})\n"


def shorten_patch(diff: str, limit: int) -> str:
    """Return at most `limit` characters of a patch."""
    if len(diff) <= limit:
        return diff
    files = split_patch(diff)
    if not files:
        return _cut_text(diff, limit)
    summary = _summary(files, limit)
    hunks = "".join(_hunks(files, limit - len(summary)))
    return summary + hunks


def split_patch(diff: str) -> list[Patch]:
    r"""Split a patch into its files.

    Only \n ends a line: a form feed or a Unicode line separator is part of the text.
    """
    found: list[Patch] = []
    in_hunks = False
    for line in _lines(diff if diff.endswith("\n") else f"{diff}\n"):
        if line.startswith(_FILE):
            found.append(Patch(path=_path_in_head(line), head=line))
            in_hunks = False
        elif found and line.startswith(_HUNK):
            found[-1].hunks.append(line)
            in_hunks = True
        elif found and in_hunks:
            _take_line(found[-1], line)
        elif found:
            _read_head_line(found[-1], line)
    return found


def _lines(text: str) -> Iterator[str]:
    """Yield the lines with their line ends."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _take_line(patch: Patch, line: str) -> None:
    patch.hunks[-1] += line
    patch.added += line.startswith("+")
    patch.removed += line.startswith("-")


def _read_head_line(patch: Patch, line: str) -> None:
    """Read a line between the head and the hunks."""
    text = line.rstrip("\n")
    if text.startswith("new file mode "):
        patch.kind = "new"
        patch.mode = text.removeprefix("new file mode ").replace(_PLAIN_MODE, "")
    elif text.startswith("new mode "):
        patch.mode = text.removeprefix("new mode ")
    elif text.startswith("deleted file mode"):
        patch.kind = "deleted"
    elif text.startswith("rename to "):
        patch.kind, patch.path = "renamed", _unquoted(text.removeprefix("rename to "))
    elif text.startswith(("Binary files ", "GIT binary patch")):
        patch.binary = True
    elif text.startswith(("--- ", "+++ ")) and text[4:].rstrip("\t") != "/dev/null":
        # git appends a tab to a name that contains blanks
        patch.path = _unquoted(text[4:].rstrip("\t"))[2:] or patch.path


def _path_in_head(line: str) -> str:
    """Return the path in `diff --git a/x b/x`, assuming that both are the same. A later line may correct it."""
    names = line.removeprefix(_FILE).rstrip("\n")
    quoted = _QUOTED.search(names)
    if quoted and names.endswith('"'):
        return _unquoted(quoted[0])[2:]
    return names[2 : (len(names) - 1) // 2] or names


def _unquoted(name: str) -> str:
    """Return the plain name. git quotes unusual characters byte by byte."""
    quoted = _QUOTED.fullmatch(name)
    if quoted is None:
        return name
    plain = _ESCAPED.sub(_byte, quoted[1].encode("utf-8", "surrogatepass"))
    return _CONTROL.sub("\ufffd", plain.decode("utf-8", "replace"))


def _byte(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) & 255]) if len(code) == 3 else _ESCAPES.get(code, code)


def _summary(files: Sequence[Patch], limit: int) -> str:
    """Return the totals and the list of files, in at most half of the room. Lock files and binary files come last."""
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    counted = f"Files: {len(files)}, +{added} −{removed}\n"
    head = f"{counted}Too long to be shown whole. Of lock files and binary files only the name is told.\n"
    lines = [f.named for f in sorted(files, key=lambda f: f.binary or f.lock)]
    if len(head) + sum(map(len, lines)) <= limit // 2:
        return head + "".join(lines) + "\n"
    more = _more(len(files))
    room = limit // 2 - len(head) - len(more)
    shown: list[str] = []
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        shown.append(line)
    told = head + "".join(shown) + _more(len(files) - len(shown))
    return told if len(told) <= limit else _cut_text(counted, limit)


def _more(count: int) -> str:
    return f"… and {count} more files\n"


def _hunks(files: Iterable[Patch], room: int) -> Iterator[str]:
    """Yield hunks of the smallest files first, so that as many files as possible are shown. Omissions are marked."""
    worth = [f for f in files if f.hunks and not (f.binary or f.lock)]
    worth.sort(key=lambda f: sum(map(len, f.hunks)))
    for patch in worth:
        piece = _fitting_hunks(patch, room)
        room -= len(piece)
        yield piece


def _fitting_hunks(patch: Patch, room: int) -> str:
    """Return the hunks of a file that fit.

    If the first hunk alone is too long, as in a new file, return its beginning.
    """
    left = room - len(patch.head) - len(_left_out(patch, len(patch.hunks)))
    shown: list[str] = []
    for hunk in patch.hunks:
        if len(hunk) <= left:
            shown.append(hunk)
            left -= len(hunk)
    missing = len(patch.hunks) - len(shown)
    if shown:
        body = "".join(shown)
        return patch.head + body + (_left_out(patch, missing) if missing else "")
    return _first_hunk_beginning(patch, room)


def _left_out(patch: Patch, hunks: int) -> str:
    return f"[left out of {patch.path}: {hunks} of {len(patch.hunks)} hunks]\n"


def _first_hunk_beginning(patch: Patch, room: int) -> str:
    """Return the first lines of the first hunk, or an empty string if fewer than two fit."""
    mark = f"[the rest of {patch.path} is left out]\n"
    left = room - len(patch.head) - len(mark)
    shown: list[str] = []
    for line in _lines(patch.hunks[0]):
        left -= len(line)
        if left < 0:
            break
        shown.append(line)
    return patch.head + "".join(shown) + mark if len(shown) > 1 else ""


def _cut_text(text: str, limit: int) -> str:
    """Cut text that is not a patch: at a line end, or within the first line without splitting a visible character."""
    kept = text[: max(limit, 0)]
    if "\n" in kept:
        return kept[: kept.rindex("\n") + 1]
    end = len(kept)
    while 0 < end < len(text) and _joins_previous(text[end - 1], text[end]):
        end -= 1
    return kept[:end]


def _joins_previous(before: str, char: str) -> bool:
    """Whether `char` belongs to the character before it: a combining mark or a joined emoji."""
    return unicodedata.category(char) in {"Mn", "Me", "Mc"} or "\u200d" in (before, char)


# A patch line by line: what each file loses, gains and keeps.

LONGEST_LINE = 600
"""Characters of a line that are looked at. Longer lines were not written by hand."""
_RENAMED = "rename from "


class DiffLine(NamedTuple):
    mark: str
    """git's prefix: `-`, `+` or a blank."""
    text: str
    run: int
    """Adjacent changed lines share a number: there is no unchanged line between them."""


@dataclass
class Hunk:
    header: str
    """What git wrote after the line numbers, often the enclosing function."""
    lines: list[DiffLine] = field(default_factory=list[DiffLine])

    def side(self, mark: str) -> Iterator[DiffLine]:
        """Yield the lines of the old (`-`) or the new (`+`) version."""
        return (line for line in self.lines if line.mark in (" ", mark))


@dataclass
class FileChange:
    """What a patch does to one file."""

    path: str
    kind: str
    """"new", "deleted", "changed" or "renamed"."""
    before: str
    """Its path before the patch."""
    binary: bool = False
    """git shows no text for it, so what changed is not visible."""
    hunks: list[Hunk] = field(default_factory=list[Hunk])

    @property
    def touched(self) -> Iterator[DiffLine]:
        return (line for hunk in self.hunks for line in hunk.lines if line.mark != " ")


def read_patch(diff: str) -> list[FileChange]:
    """Return the files of a patch. Text before the first file is ignored."""
    found: list[FileChange] = []
    head: list[str] = []
    run = 0
    for line in diff.split("\n"):
        if line.startswith(_FILE):
            _add_file_from_head(found, head)
            head = [line]
        elif line.startswith("@@ ") and (head or found):
            _add_file_from_head(found, head)
            found[-1].hunks.append(Hunk(line[3:].partition(" @@")[2].strip()[:LONGEST_LINE]))
        elif head:
            head.append(line)
        elif found and found[-1].hunks and line[:1] in ("+", "-", " "):
            run += line[0] == " "
            text = line[1 : LONGEST_LINE + 1].rstrip("\r")
            found[-1].hunks[-1].lines.append(DiffLine(line[0], text, run))
    _add_file_from_head(found, head)
    return found


def _add_file_from_head(found: list[FileChange], head: list[str]) -> None:
    """Add the file that these head lines describe, if any, and clear the lines."""
    for patch in split_patch("\n".join(head)) if head else []:
        renamed = [line for line in head if line.startswith(_RENAMED)]
        before = renamed[0].removeprefix(_RENAMED) if renamed else patch.path
        found.append(FileChange(patch.path, patch.kind, before, patch.binary))
    head.clear()
