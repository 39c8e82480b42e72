"""Reads YAML written by people within limits, and writes it back with everything else unchanged.

Comments, order of keys, quotes and unknown keys survive an edit; an edit for which that cannot be proved is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO

from ruamel.yaml import YAML, YAMLError
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.events import AliasEvent, DocumentStartEvent, Event, NodeEvent
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.scalarstring import LiteralScalarString

from bot.core.errors import Refused

MAX_EVENTS = 4_000
MAX_LIST_EVENTS = 12_000
"""The most parser events of a list. The library takes a millisecond for three of them."""
MAX_DEPTH = 20
MAX_OPEN_BRACKETS = 300
_YAML_ERRORS = (
    YAMLError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    NotImplementedError,
    RecursionError,
)
"""Exceptions the library raises for text that is no YAML."""
_FLAT = re.compile(r"^[^\s#-][^\n]*:[ \t]*\n- ", re.MULTILINE)
"""Matches a list that is not indented below its key."""
_COMMENT = re.compile(r"(?:^|[ \t])(#[^\n]*)", re.MULTILINE)
_BRACKET = re.compile(r"[\[\]{}]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")


class BrokenError(Exception):
    """The file cannot be read, or not be edited without loss; the message says why."""


def read_mapping(content: bytes) -> CommentedMap:
    """Parse a file that contains one mapping; raise BrokenError otherwise."""
    data = _loaded(decode_text(content))
    if not isinstance(data, CommentedMap):
        raise BrokenError("it holds no mapping (key: value)")
    return data


def read_sequence(content: bytes) -> CommentedSeq:
    """Parse a file that contains one list; an empty file is an empty list. Raises BrokenError otherwise."""
    text = decode_text(content)
    data = _loaded(text, MAX_LIST_EVENTS)
    if data is None:
        return CommentedSeq()
    if not isinstance(data, CommentedSeq):
        raise BrokenError("it holds no list")
    return data


def edit_mapping(content: bytes, change: Callable[[CommentedMap], None]) -> bytes:
    """Return the file with a change applied to its mapping."""
    data = read_mapping(content)
    change(data)
    return _dump_verified(content, data)


def edit_sequence(content: bytes, change: Callable[[CommentedSeq], None]) -> bytes:
    data = read_sequence(content)
    change(data)
    return _dump_verified(content, data)


def new_document(data: CommentedMap | CommentedSeq) -> bytes:
    """Return the content of a new file."""
    return _dumped(data, flat=isinstance(data, CommentedSeq)).encode()


def decode_text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BrokenError("it is no UTF-8 text") from error


def text_block(text: str) -> str:
    """Return a text that is written as a literal block if it has several lines."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
    return LiteralScalarString(f"{text}\n") if "\n" in text else text


def one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def scalar_text(value: object, max_length: int) -> str:
    """Return the text of a scalar; empty for other values."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | datetime):
        return ""
    text = (
        value
        if isinstance(value, str)
        else value.isoformat()
        if isinstance(value, datetime)
        else str(value)
    )
    return _CONTROL.sub("", text)[:max_length]


def read_time(value: object) -> datetime | None:
    """Return a time with its zone, or UTC if it has none; None for other values."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    plain = datetime.fromisoformat(value.isoformat())
    return plain.replace(tzinfo=UTC) if plain.tzinfo is None else plain


class _Null(RoundTripRepresenter):
    """Writes empty values instead of `null`."""

    def represent_none(self, data: None) -> ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:null", "null")


_Null.add_representer(type(None), _Null.represent_none)


def time_text(at: datetime | None) -> object:
    """Return a time in the form `2025-02-22T10:00:00Z`."""
    if at is None:
        return None
    return _yaml().load(f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}")


def _yaml(*, flat: bool = False) -> YAML:
    yaml = YAML(typ="rt", pure=True)
    yaml.Representer = _Null
    yaml.preserve_quotes = True
    yaml.width = 1 << 20
    yaml.indent(mapping=2, sequence=2 if flat else 4, offset=0 if flat else 2)
    return yaml


def _loaded(text: str, most: int = MAX_EVENTS) -> object:
    try:
        _check_limits(text, most)
        return _yaml().load(text)
    except _YAML_ERRORS as error:
        raise BrokenError(_why(error)) from error


def _check_limits(text: str, most: int) -> None:
    """Check size and depth before anything is built; raise ValueError."""
    if (
        _max_open_brackets(text) > MAX_OPEN_BRACKETS
    ):  # the library takes time quadratic in their number
        raise ValueError("it is too deep")
    depth = documents = 0
    for number, event in enumerate(_yaml().parse(StringIO(text))):
        depth += _step(event)
        documents += isinstance(event, DocumentStartEvent)
        if isinstance(event, AliasEvent) or (isinstance(event, NodeEvent) and event.anchor):
            raise ValueError("anchors and aliases (&, *) are not read here")
        if number > most or depth > MAX_DEPTH or documents > 1:
            raise ValueError("it is too deep or too much, or more than one document")


def _max_open_brackets(text: str) -> int:
    """Return how many brackets are open at once, whether they have a meaning or not."""
    most = now = 0
    for bracket in _BRACKET.findall(text):
        now = now + 1 if bracket in "[{" else max(0, now - 1)
        most = max(most, now)
    return most


def _step(event: Event) -> int:
    name = type(event).__name__
    deeper = name in ("MappingStartEvent", "SequenceStartEvent")
    return 1 if deeper else -1 if name in ("MappingEndEvent", "SequenceEndEvent") else 0


def _why(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    mark = getattr(error, "problem_mark", None)
    where = f" in line {mark.line + 1}" if mark is not None else ""
    return f"{' '.join(str(problem).split())[:200]}{where}"


def _dump_verified(content: bytes, data: CommentedMap | CommentedSeq) -> bytes:
    """Return the new file after checking that it still has every comment and reads back as intended."""
    text = decode_text(content)
    if _loaded(text, MAX_LIST_EVENTS) == data:
        return content
    flat = isinstance(data, CommentedSeq) or bool(_FLAT.search(text))
    try:
        new = _dumped(data, flat=flat)
        again = _yaml().load(new)
    except _YAML_ERRORS as error:
        raise BrokenError(f"it cannot be written back: {_why(error)}") from error
    lost = [one for one in _COMMENT.findall(text) if one.rstrip() not in new]
    if lost or again != data:
        raise BrokenError("it cannot be edited without loss")
    if b"\r\n" in content:
        new = new.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b"") + new.encode()


def _dumped(data: object, *, flat: bool) -> str:
    out = StringIO()
    _yaml(flat=flat).dump(data, out)
    return out.getvalue()


def refused_file(name: str, broken: BrokenError) -> Refused:
    return Refused(
        f"{name} cannot be read: {broken}. It was left as it is", "Mend it with an editor."
    )
