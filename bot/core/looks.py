"""What the model may look at in a repository before it answers.

It asks for up to six looks at once, in at most four rounds. Everything is read at one commit; the answers are short, are
masked, and count as material, never as instructions.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import cast

from pydantic import Field, ValidationError, field_validator

from bot.core.context.outline import Definition, outline
from bot.core.facts import Fact
from bot.core.llm import Tool
from bot.core.text import cut

ROUNDS = 4
AT_ONCE = 6
"""Looks in one round; more of them are not carried out."""
ANSWER_BYTES = 6_000
MOST_LINES = 200
MOST_HITS = 30
LONGEST_LINE = 240
MOST_KEPT = 200
"""Looks that a session remembers."""
LONGEST_TEXT = 200
"""Characters that are searched for."""


class LookTool(StrEnum):
    LIST = "list"
    SEARCH = "search"
    OUTLINE = "outline"
    READ = "read"
    HISTORY = "history"
    TESTS = "tests"


class Look(Fact):
    """One request of the model to see a part of the repository."""

    tool: LookTool
    path: str = Field(default="", max_length=1_000)
    text: str = Field(default="", max_length=LONGEST_TEXT)
    """What is searched for, in files or in the messages of commits."""
    definition: str = Field(default="", max_length=LONGEST_TEXT)
    first: int = Field(default=0, ge=0)
    last: int = Field(default=0, ge=0)

    @field_validator("path")
    @classmethod
    def _plain(cls, path: str) -> str:
        # it is only ever looked up in the list of files, never resolved
        return path.strip().removeprefix("./").strip("/").removesuffix("/.") if path != "." else ""

    def __str__(self) -> str:
        lines = f":{self.first}-{self.last}" if self.first else ""
        details = (f"{self.path}{lines}", self.definition, f"“{self.text}”" if self.text else "")
        return " ".join([self.tool.value, *(detail for detail in details if detail)])


class SeenLook(Fact):
    """A look that was carried out: what was asked, and the digest of the answer, which the commit determines."""

    look: Look
    commit: str
    tokens: int
    digest: str


def digest_of(answer: str) -> str:
    return hashlib.sha256(answer.encode("utf-8", "replace")).hexdigest()[:16]


def files_read(seen: Iterable[SeenLook]) -> tuple[str, ...]:
    """Return the files whose code was shown, in the order of the looks."""
    shown = (LookTool.READ, LookTool.OUTLINE)
    return tuple(dict.fromkeys(one.look.path for one in seen if one.look.tool in shown))


# The protocol: a reply is either {"look": [...]} or the answer.

_PATH = {"path": {"type": "string"}}
_TEXT = {"text": {"type": "string"}}
_LINES = {"first": {"type": "integer"}, "last": {"type": "integer"}}


def _tool(tool: LookTool, description: str, **parameters: object) -> Tool:
    schema: dict[str, object] = {"type": "object", "properties": parameters}
    return Tool(name=tool.value, description=description, parameters=schema)


TOOLS = (
    _tool(LookTool.LIST, "Files and folders in the folder `path`; empty: the top.", **_PATH),
    _tool(
        LookTool.SEARCH,
        "Lines that contain `text` exactly, anywhere or below the folder `path`; and files about its words.",
        **_TEXT,
        **_PATH,
    ),
    _tool(LookTool.OUTLINE, "The definitions in the file `path`, with their lines.", **_PATH),
    _tool(
        LookTool.READ,
        f"The file `path`: its `definition`, or the lines `first` to `last`; at most {MOST_LINES} lines.",
        **_PATH,
        definition={"type": "string"},
        **_LINES,
    ),
    _tool(
        LookTool.HISTORY,
        "Commits that changed `path`, or whose messages contain `text`, newest first.",
        **_PATH,
        **_TEXT,
    ),
    _tool(LookTool.TESTS, "The tests that change together with the file `path`.", **_PATH),
)


def looks_in(found: Mapping[str, object]) -> tuple[Look, ...]:
    """Return the looks that a reply asks for; none if it is an answer. A ValueError says what is wrong with them."""
    asked = found.get("look")
    if isinstance(asked, dict):
        return (_look(cast("object", asked)),)
    looks = cast("list[object]", asked) if isinstance(asked, list) else []
    return tuple(_look(one) for one in looks[:AT_ONCE])


_OTHER_NAMES = {
    "name": "tool", "folder": "path", "file": "path", "query": "text", "words": "text", "exact": "text",
    "pattern": "text", "symbol": "definition", "from": "first", "start": "first", "to": "last", "end": "last",
}  # fmt: skip


def _look(asked: object) -> Look:
    if not isinstance(asked, dict):
        raise ValueError(  # noqa: TRY004 - whoever reads replies expects ValueErrors
            'look: each is an object such as {"tool": "read", "path": "src/main.py"}'
        )
    given = {str(name): value for name, value in cast("dict[object, object]", asked).items()}
    fields = {_OTHER_NAMES.get(name, name): value for name, value in given.items()}
    if isinstance(lines := fields.pop("lines", None), (str, list)):
        text = lines if isinstance(lines, str) else " ".join(map(str, cast("list[object]", lines)))
        numbers = [int(one) for one in re.findall(r"\d{1,9}", text)[:2]]
        fields |= dict(zip(("first", "last"), numbers, strict=False))
    known = {name: value for name, value in fields.items() if name in Look.model_fields}
    try:
        return Look.model_validate({n: v for n, v in known.items() if v is not None})
    except ValidationError as wrong:
        names = ", ".join(tool.value for tool in LookTool)
        raise ValueError(f"look: the tools are {names}; {wrong.errors()[0]['msg']}") from wrong


# The texts of the answers. What was found is passed in; these functions read nothing.


def missing(path: str, paths: Iterable[str]) -> str:
    """Say that there is no such file, and which ones have a similar name."""
    name = path.rpartition("/")[2].lower()
    every = [*paths]
    alike = [one for one in every if name and one.rpartition("/")[2].lower() == name][:5]
    alike = alike or difflib.get_close_matches(path, every[:20_000], n=3, cutoff=0.8)
    hint = f" Files with such a name: {', '.join(alike)}" if alike else ""
    return f"There is no file {path} at this commit.{hint}"


def listed(folder: str, paths: Iterable[str]) -> str:
    """List what is in a folder: its folders with the number of their files, then its files."""
    start = f"{folder}/" if folder else ""
    inside = [path.removeprefix(start) for path in paths if path.startswith(start)]
    if not inside:
        return f"There is no folder {folder} at this commit."
    folders = Counter(path.partition("/")[0] for path in inside if "/" in path)
    lines = [f"{name}/ ({number} files)" for name, number in sorted(folders.items())]
    lines += sorted(path for path in inside if "/" not in path)
    more = [f"… and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *more])


def outlined(path: str, text: str) -> str:
    found = outline(text, path)
    heading = f"{path} ({_line_count(text)} lines)"
    if not found:
        return f"{heading}: no definitions were found; read its lines."
    return "\n".join([heading, *(_entry(one) for one in found[:MOST_LINES])])


def _entry(one: Definition) -> str:
    return f"{' ' * min(one.indent, 8)}{one.first}-{one.last} {cut(one.head, 120)}"


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def excerpt(look: Look, text: str) -> str:
    """Show lines of a file with their numbers: a definition, the lines asked for, or its beginning."""
    lines = text.removesuffix("\n").split("\n")
    if look.definition:
        found = _defined(look.definition, text, look.path)
        if not found:
            return f"{look.path} does not define {look.definition}.\n{outlined(look.path, text)}"
        ranges = [(one.first, one.last) for one in found[:3]]
    else:
        first = max(1, look.first)
        ranges = [(first, max(first, look.last) if look.last else first + MOST_LINES - 1)]
    shown: list[str] = [f"{look.path} ({len(lines)} lines)"]
    room = MOST_LINES
    for first, last in ranges:
        until = min(last, len(lines), first + room - 1)
        shown += numbered(lines, first, until)
        room -= max(0, until - first + 1)
        if until < min(last, len(lines)) and look.last + len(look.definition):
            shown.append(f"… (lines {until + 1}-{min(last, len(lines))} are not shown)")
    return "\n".join(shown)


def numbered(lines: Sequence[str], first: int, last: int) -> Iterator[str]:
    for number in range(first, min(last, len(lines)) + 1):
        yield f"{number}: {cut(lines[number - 1], LONGEST_LINE)}"


def _defined(name: str, text: str, path: str) -> list[Definition]:
    wanted = name.strip("`() ").replace("::", ".").lower()
    found = outline(text, path)
    exact = [one for one in found if one.name.replace("::", ".").lower() == wanted]
    last = wanted.rpartition(".")[2]
    return exact or [
        one for one in found if one.name.replace("::", ".").lower().rpartition(".")[2] == last
    ]


def hits_found(text: str, hits: Sequence[str], about: Sequence[str]) -> str:
    """Show the lines that contain a text, and the files that are about its words."""
    lines = [cut(hit, LONGEST_LINE) for hit in hits[:MOST_HITS]]
    if len(hits) > MOST_HITS:
        lines.append(f"… more than {MOST_HITS} lines contain it")
    heading = [f"Lines that contain “{text}”:"] if lines else [f"No line contains “{text}”."]
    related = ["Files about these words:", *about] if about else []
    return "\n".join([*heading, *lines, *related])


def in_bytes(text: str, most: int = ANSWER_BYTES) -> str:
    """Cut a text after a line, and say so."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= most:
        return raw.decode("utf-8")
    kept = raw[:most].decode("utf-8", "ignore")
    return f"{kept.rpartition(chr(10))[0] or kept}\n… (cut: ask for less at once)"


def masked_lines(text: str, mask: Callable[[str], str]) -> str:
    """Mask a whole file, and keep the numbers of its lines where a secret of many lines became one word."""
    masked = mask(text)
    if masked.count("\n") == text.count("\n"):
        return masked
    before, after = text.split("\n"), masked.split("\n")
    lines: list[str] = []
    for _, first, last, start, end in difflib.SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        lines += [*after[start:end], *[""] * (last - first)][: last - first]
    return "\n".join(lines)
