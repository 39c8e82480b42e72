"""Parses settings: the lines of .env files, and lists of full ids.

A bad line affects only its own setting, not the start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Annotated

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from pydantic import BeforeValidator
from pydantic_settings import NoDecode

from bot.core.errors import SettingsError

# Lines of .env files, and which of them cannot be read.

LARGEST_ENV_FILE = 1 << 20
"""Bytes. A larger file is not really a .env."""
_NAME = re.compile(r"\W*(?:export\s+)?['\"]?([A-Za-z_][A-Za-z0-9_]*)")
_VALUE = re.compile(r"[^=]*=\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class BadLine:
    """An unreadable line. Its text is not kept, as it may contain a key."""

    file: Path
    number: int
    setting: str
    """The setting's name in capitals; empty if it cannot be told."""
    why: str

    def __str__(self) -> str:
        about = f" ({self.setting})" if self.setting else ""
        return f"{self.file}, line {self.number}{about}: {self.why}"


def read_env_files(
    files: Iterable[Path], settings: Collection[str]
) -> tuple[dict[str, str], tuple[BadLine, ...]]:
    """Return what the files set by lower-case name, later files over earlier ones, and the unreadable lines.

    `settings`: the known names, in lower case; others are skipped, as the file may serve other programs, too.
    """
    values: dict[str, str] = {}
    bad: list[BadLine] = []
    for file in dict.fromkeys(file.resolve() for file in files if file.is_file()):
        good: list[str] = []
        for line in _lines(file, settings):
            if isinstance(line, BadLine):
                bad.append(line)
            else:
                good.append(line)
        found = dotenv_values(stream=StringIO("".join(good)))
        values |= {name.lower(): value for name, value in found.items() if value is not None}
    return {name: value for name, value in values.items() if name in settings}, tuple(bad)


def _lines(file: Path, settings: Collection[str]) -> Iterator[str | BadLine]:
    """Yield one statement after the other, split like python-dotenv does; a statement may span several lines."""
    text, at, number = _text(file), 0, 1
    while at < len(text):
        for binding in parse_stream(StringIO(text[at:])):
            blank, statement = _without_blank_lines(binding.original.string)
            number += _breaks(blank)
            if swallowed := _spans_other_setting(statement, settings):
                # the quotation was closed by a mark of a later line: the lines in between would be lost silently
                statement = statement.splitlines(keepends=True)[0]
            if swallowed or binding.error or _lacks_value(binding.key, binding.value, statement):
                yield BadLine(
                    file,
                    number,
                    _setting(statement, settings),
                    _why_unreadable(statement, open=swallowed),
                )
            else:
                yield statement
            number += _breaks(statement)
            at += len(blank) + len(statement)
            if swallowed:
                break


def _without_blank_lines(statement: str) -> tuple[str, str]:
    rest = statement.lstrip()
    return statement[: len(statement) - len(rest)], rest


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST_ENV_FILE + 1)
        if len(content) > LARGEST_ENV_FILE:
            raise SettingsError(
                f"{file} is larger than {LARGEST_ENV_FILE >> 20} MB: it is no file of settings"
            )
        # with the byte order mark that some Windows editors write
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file} is no text: save it as UTF-8") from error
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from error


def _breaks(text: str) -> int:
    return len(re.findall(r"\r\n|\n|\r", text))


def _spans_other_setting(statement: str, settings: Collection[str]) -> bool:
    """Whether a quoted value spans a line that sets something itself."""
    later = statement.splitlines()[1:]
    return any(
        (found := _NAME.match(line)) and "=" in line and found[1].lower() in settings
        for line in later
    )


def _lacks_value(key: str | None, value: str | None, statement: str) -> bool:
    # A name without "=". `export NAME` is valid in a shell.
    return key is not None and value is None and not statement.startswith("export")


def _setting(statement: str, settings: Collection[str]) -> str:
    # Only known names are shown: any other word of the line could be a secret.
    found = _NAME.match(statement)
    return found[1].upper() if found and found[1].lower() in settings else ""


def _why_unreadable(statement: str, *, open: bool) -> str:
    value = _VALUE.match(statement.strip())
    if value is None:
        return "it has no =. Write NAME=value"
    quote = value[1][:1]
    if open or (quote in ("'", '"') and value[1].count(quote) == 1):
        return "its quotation mark is never closed. Close it in the same line, or leave it away"
    return "it cannot be read. Write NAME=value, with nothing behind a closing quotation mark"


# Lists of full ids, separated by commas. Names are never used for decisions, so a name in a list is reported as a
# mistake.


def _id_list(pattern: str, what: str, where: str) -> Callable[[object], object]:
    shape = re.compile(pattern, re.ASCII)

    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        ids = frozenset(part.strip() for part in value.split(",") if part.strip())
        if wrong := sorted(id for id in ids if not shape.fullmatch(id)):
            # somebody may have put a token into the wrong line
            from bot.core.masking import Masker

            named = Masker({}).mask(", ".join(wrong))
            raise ValueError(f"{named}: {what}. {where}".strip())
        return ids

    return read


SlackPeople = Annotated[
    frozenset[str],
    NoDecode,
    BeforeValidator(
        _id_list(
            r"T[A-Z0-9]+:[UW][A-Z0-9]+",
            "people are team:member, like T0123ABC:U0456DEF",
            "In Slack: the person's profile, ⋮, Copy member ID; the team is in the address of Slack in a browser",
        )
    ),
]
SlackPlaces = Annotated[
    frozenset[str],
    NoDecode,
    BeforeValidator(
        _id_list(
            r"T[A-Z0-9]+:([CG][A-Z0-9]+|dm)",
            "channels are team:channel, like T0123ABC:C0456DEF, or team:dm for direct messages",
            "In Slack: the channel's name, About, at its end",
        )
    ),
]
MatrixPeople = Annotated[
    frozenset[str],
    NoDecode,
    BeforeValidator(
        _id_list(r"@[^:\s,]+:[^\s,]+", "people are full ids, like @mika:example.org", "")
    ),
]
MatrixPlaces = Annotated[
    frozenset[str],
    NoDecode,
    BeforeValidator(
        _id_list(
            r"![^\s,]+|dm",
            "rooms are internal room ids, like !abc:example.org, or dm for direct messages",
            "In Element: Room settings, Advanced",
        )
    ),
]
