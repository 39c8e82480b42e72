"""What came from Slack, as data. Who the person is has not been looked up yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, assert_never, cast

from bot.core.choices import Command, Verb
from bot.core.events import (
    Commanded,
    Configured,
    Edited,
    FromPeople,
    Opened,
    Pressed,
    Said,
    Visited,
)
from bot.core.people import Person, Thread

# Files that stand beside a message, and which of them can be read as text, by what Slack says of
# them alone.

MOST_FILES = 5
MOST_NAMED = 10
MOST_BYTES = 100_000
TOO_LARGE = f"It is larger than {MOST_BYTES // 1_000} kB."
NO_TEXT = "It is not a text in UTF-8."
_LONGEST_NAME = 120
_UNREADABLE_MODES = {
    "external": "It is kept outside of Slack: paste what matters.",
    "tombstone": "It was deleted.",
    "hidden_by_limit": "Slack does not show it any more.",
    "canvas": "I cannot read a canvas: paste what matters.",
    "quip": "I cannot read a canvas: paste what matters.",
    "list": "I cannot read a list: paste what matters.",
    "space": "I cannot read a post: paste what matters.",
    "docs": "I cannot read a post: paste what matters.",
    "email": "I cannot read an e-mail: paste what matters.",
}
_READABLE_MODES = frozenset({"hosted", "snippet"})
_TEXT_APPLICATION_TYPES = frozenset(
    {
        "ecmascript", "graphql", "javascript", "json", "ld+json", "sql", "toml", "typescript",
        "x-httpd-php", "x-javascript", "x-ndjson", "x-perl", "x-php", "x-python", "x-ruby", "x-sh",
        "x-shellscript", "x-sql", "x-tex", "x-toml", "x-typescript", "x-yaml", "xml", "yaml",
    }
)  # fmt: skip
"""Of the types called applications, those that are text."""
_UNKNOWN_TYPES = ("", "application/octet-stream")
_SLACK_TEXT_TYPES = frozenset(
    {
        "c", "cpp", "csharp", "css", "csv", "diff", "dockerfile", "go", "html", "java", "javascript",
        "json", "kotlin", "latex", "markdown", "perl", "php", "plain", "powershell", "puppet",
        "python", "r", "ruby", "rust", "scala", "shell", "sql", "swift", "text", "toml", "tsv",
        "typescript", "vb", "xml", "yaml",
    }
)  # fmt: skip
"""Slack's own names of types, for where it knows no other."""
_NOT_TEXT_TYPES = frozenset({"text/rtf", "text/richtext"})
"""Text, but full of marks of a word processor."""


@dataclass(frozen=True)
class OfferedFile:
    name: str
    url: str = ""
    kind: str = ""
    """Its type, by its MIME name."""
    problem: str = ""
    """Why it is not even asked for."""


def files_in(event: Mapping[str, Any], team: str) -> tuple[OfferedFile, ...]:
    """Those of a message, the first few of them to be read."""
    told = event.get("files")
    files = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    found: list[OfferedFile] = []
    for file in files[:MOST_NAMED]:
        wanted = sum(not one.problem for one in found)
        found.append(_offered_file(file, team, room=wanted < MOST_FILES))
    if len(files) > MOST_NAMED:
        rest = f"{len(files) - MOST_NAMED} more files"
        found.append(OfferedFile(rest, problem=f"I read {MOST_FILES} files of a message at most."))
    return tuple(found)


def decoded_text(content: bytes) -> str | None:
    """None: it is none, or not in UTF-8."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _offered_file(file: Mapping[str, Any], team: str, *, room: bool) -> OfferedFile:
    name = " ".join(str(file.get("name") or file.get("title") or "a file").split())[:_LONGEST_NAME]
    kind = str(file.get("mimetype") or "").partition(";")[0].strip().lower()
    problem = _problem_with(file, kind, team)
    if not problem and not room:
        problem = f"I read {MOST_FILES} files of a message at most."
    url = file.get("url_private_download") or file.get("url_private")
    return OfferedFile(name, "" if problem else str(url or ""), kind, problem)


def _problem_with(file: Mapping[str, Any], kind: str, team: str) -> str:
    mode = str(file.get("mode") or "hosted")
    if file.get("is_external"):
        mode = "external"
    if mode not in _READABLE_MODES:
        return _UNREADABLE_MODES.get(mode, "I cannot read this kind of file: paste what matters.")
    if file.get("filetype") in ("canvas", "quip"):
        return _UNREADABLE_MODES["canvas"]
    if file.get("user_team") not in (None, "", team):
        return "It belongs to another workspace."
    if file.get("file_access") not in (None, "", "visible"):
        return "Slack does not let me see it."
    size = file.get("size")
    if isinstance(size, int) and size > MOST_BYTES:
        return TOO_LARGE
    return "" if _is_text(kind, str(file.get("filetype"))) else "It is not a text file."


def _is_text(kind: str, slacks: str) -> bool:
    if kind in _UNKNOWN_TYPES:
        return slacks in _SLACK_TEXT_TYPES
    family, _, name = kind.partition("/")
    if family == "text":
        return kind not in _NOT_TEXT_TYPES
    return family == "application" and (
        name in _TEXT_APPLICATION_TYPES or name.endswith(("+json", "+xml"))
    )


Payload = Mapping[str, Any]
"""JSON as Slack sends it: anything may be missing."""


@dataclass(frozen=True)
class Talk:
    text: str
    mention: bool
    ts: str = field(default="", compare=False)
    """Of the message; empty: it stands in none."""
    files: tuple[OfferedFile, ...] = ()
    """What stands beside it, unread."""


@dataclass(frozen=True)
class MessageEdit:
    """A message says something else now."""

    of: str
    """The id under which it was delivered."""
    text: str


@dataclass(frozen=True)
class SlackCommand:
    command: Command
    mention: bool = True


@dataclass(frozen=True)
class PressedButton:
    verb: Verb
    about: str = ""
    text: str = ""
    answers: Mapping[int, str] = field(default_factory=dict[int, str])
    trigger: str = ""
    """What opens a window, where its answer is to be read in one."""


@dataclass(frozen=True)
class HomeVisit:
    """Somebody looks at their home."""


@dataclass(frozen=True)
class ModelSettings:
    """Which model is to be asked, as a form says."""

    base_url: str
    model: str


@dataclass(frozen=True)
class FormRequest:
    """Asked for in a form: its thread is still to be begun, in the channel it is for."""

    form: str
    text: str
    spec: bool = False
    """A spec of it is wanted, and nothing more."""


@dataclass(frozen=True)
class FormOpening:
    """A button that leads to a form. The form is opened only if the person is let."""

    verb: Verb
    trigger: str
    form: dict[str, Any]


@dataclass(frozen=True)
class Delivery:
    id: str
    at: datetime
    thread: Thread
    user: str
    what: (
        Talk
        | MessageEdit
        | SlackCommand
        | PressedButton
        | FormOpening
        | HomeVisit
        | ModelSettings
        | FormRequest
    )
    home: str = ""
    """The workspace they come from, if that was told."""

    @property
    def line(self) -> str:
        """Whose turn it shares: that of its thread; on a page of their own, everybody has one."""
        return f"{self.thread.key}:{self.user}" if self.thread.home else self.thread.key

    def event(self, by: Person) -> FromPeople:
        id, at = self.id, self.at
        match self.what:
            case Talk(text=text, mention=mention):
                return Said(id=id, at=at, by=by, text=text, mention=mention)
            case MessageEdit(of=of, text=text):
                return Edited(id=id, at=at, by=by, of=of, text=text)
            case SlackCommand(command=command, mention=mention):
                return Commanded(id=id, at=at, by=by, command=command, mention=mention)
            case PressedButton(verb=verb, about=about, text=text):
                answers = dict(self.what.answers)
                return Pressed(
                    id=id, at=at, by=by, verb=verb, about=about, text=text, answers=answers
                )
            case FormOpening(verb=verb):
                return Opened(id=id, at=at, by=by, verb=verb)
            case FormRequest():
                # whether they may is all that is asked before its thread is there; after a no
                # the same form may be sent again for another channel
                return Opened(id=f"{id}:may:{self.thread.channel}", at=at, by=by, verb=Verb.BEGIN)
            case HomeVisit():
                return Visited(id=id, at=at, by=by)
            case ModelSettings(base_url=base_url, model=model):
                return Configured(id=id, at=at, by=by, base_url=base_url, model=model)
            case _:
                assert_never(self.what)


@dataclass(frozen=True)
class IncompleteForm:
    """A form without what it is for. The one who sent it is told beside the fields."""

    errors: Mapping[str, str]


@dataclass(frozen=True)
class NotForBot:
    """It is not for the bot."""

    why: str
    talked: Thread | None = None
    """Where people talked to each other."""


@dataclass(frozen=True)
class PageTurned:
    """Another page of a window is wanted."""

    view: str
    page: int


@dataclass(frozen=True)
class WindowClosed:
    view: str


@dataclass(frozen=True)
class MessagesTabOpened:
    """Somebody looks at their messages with the bot: prompts may be suggested there."""

    user: str
    channel: str


ScreenEvent = PageTurned | WindowClosed | MessagesTabOpened
"""What concerns only what one person sees, and nobody else."""
PayloadMeaning = Delivery | IncompleteForm | ScreenEvent | NotForBot


def object_in(body: Payload, name: str) -> Payload:
    """An object inside another; empty where there is none."""
    inner = body.get(name)
    return cast("Payload", inner) if isinstance(inner, Mapping) else {}


def text_in(body: Payload, name: str) -> str:
    """A text; empty where there is none."""
    inner = body.get(name)
    return inner if isinstance(inner, str) else ""


def is_direct_message(channel: str, kind: str = "") -> bool:
    return kind == "im" or channel.startswith("D")


def time_of(stamp: str, otherwise: datetime) -> datetime:
    """Slack's times are seconds with a fraction that makes them unique."""
    try:
        return datetime.fromtimestamp(float(stamp), UTC)
    except (ValueError, OverflowError, OSError):
        return otherwise
