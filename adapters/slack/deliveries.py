"""Slack payloads as typed data, before the sender has been looked up."""

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

# Files attached to a message, and which of them can be read as text, judged only by Slack's metadata.

MAX_FILES = 5
MAX_NAMED_FILES = 10
MAX_FILE_BYTES = 100_000
TOO_LARGE = f"It is larger than {MAX_FILE_BYTES // 1_000} kB."
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
"""The `application/…` types that are text."""
_UNKNOWN_TYPES = ("", "application/octet-stream")
_SLACK_TEXT_TYPES = frozenset(
    {
        "c", "cpp", "csharp", "css", "csv", "diff", "dockerfile", "go", "html", "java", "javascript",
        "json", "kotlin", "latex", "markdown", "perl", "php", "plain", "powershell", "puppet",
        "python", "r", "ruby", "rust", "scala", "shell", "sql", "swift", "text", "toml", "tsv",
        "typescript", "vb", "xml", "yaml",
    }
)  # fmt: skip
"""Slack's own file types, used if it gives no MIME type."""
_NOT_TEXT_TYPES = frozenset({"text/rtf", "text/richtext"})
"""Text types full of word processor markup."""


@dataclass(frozen=True)
class OfferedFile:
    name: str
    url: str = ""
    kind: str = ""
    """MIME type of the file."""
    problem: str = ""
    """Why the file is not downloaded; empty if it is."""


def offered_files(event: Mapping[str, Any], team: str) -> tuple[OfferedFile, ...]:
    """Return the files of a message; only the first few are to be read."""
    told = event.get("files")
    files = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    found: list[OfferedFile] = []
    for file in files[:MAX_NAMED_FILES]:
        wanted = sum(not one.problem for one in found)
        found.append(_offered_file(file, team, room=wanted < MAX_FILES))
    if len(files) > MAX_NAMED_FILES:
        rest = f"{len(files) - MAX_NAMED_FILES} more files"
        found.append(OfferedFile(rest, problem=f"I read {MAX_FILES} files of a message at most."))
    return tuple(found)


def decoded_text(content: bytes) -> str | None:
    """Return the text, or None if the content is not UTF-8 text."""
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
        problem = f"I read {MAX_FILES} files of a message at most."
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
    if isinstance(size, int) and size > MAX_FILE_BYTES:
        return TOO_LARGE
    return "" if _is_text(kind, str(file.get("filetype"))) else "It is not a text file."


def _is_text(kind: str, slack_type: str) -> bool:
    if kind in _UNKNOWN_TYPES:
        return slack_type in _SLACK_TEXT_TYPES
    family, _, name = kind.partition("/")
    if family == "text":
        return kind not in _NOT_TEXT_TYPES
    return family == "application" and (
        name in _TEXT_APPLICATION_TYPES or name.endswith(("+json", "+xml"))
    )


Payload = Mapping[str, Any]
"""JSON as Slack sends it: any key may be missing."""


@dataclass(frozen=True)
class Talk:
    text: str
    mention: bool
    ts: str = field(default="", compare=False)
    """Timestamp of the message; empty if there is no message."""
    files: tuple[OfferedFile, ...] = ()
    """Attached files, not yet read."""


@dataclass(frozen=True)
class MessageEdit:
    """The text of a message was changed."""

    of: str
    """The id under which the message was delivered."""
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
    """Slack's trigger id, which allows a window to be opened for the answer."""


@dataclass(frozen=True)
class HomeVisit:
    """A user opens the home tab."""


@dataclass(frozen=True)
class ModelSettings:
    """The LLM endpoint and model submitted in a form."""

    base_url: str
    model: str


@dataclass(frozen=True)
class FormRequest:
    """A feature requested in a form; its thread still has to be created in the chosen channel."""

    form: str
    text: str
    spec: bool = False
    """Only a spec is requested."""


@dataclass(frozen=True)
class FormOpening:
    """A press of a button that opens a form. The form is opened only if the person has permission."""

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
    """The user's workspace, if the event names it."""

    @property
    def queue_key(self) -> str:
        """Key of the queue the delivery waits in: that of its thread or, on a home tab, that of its user."""
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
                # only the permission is checked before the thread exists; after a refusal the same form may be sent
                # again for another channel
                return Opened(id=f"{id}:may:{self.thread.channel}", at=at, by=by, verb=Verb.BEGIN)
            case HomeVisit():
                return Visited(id=id, at=at, by=by)
            case ModelSettings(base_url=base_url, model=model):
                return Configured(id=id, at=at, by=by, base_url=base_url, model=model)
            case _:
                assert_never(self.what)


@dataclass(frozen=True)
class IncompleteForm:
    """A form with missing input; the errors are shown beside its fields."""

    errors: Mapping[str, str]


@dataclass(frozen=True)
class NotForBot:
    """A payload that is not for the bot."""

    why: str
    talked: Thread | None = None
    """The thread, if people talked to each other there."""


@dataclass(frozen=True)
class PageTurned:
    """A user turns to another page of a window."""

    view: str
    page: int


@dataclass(frozen=True)
class WindowClosed:
    view: str


@dataclass(frozen=True)
class MessagesTabOpened:
    """A user opens the direct messages with the bot, where prompts may be suggested."""

    user: str
    channel: str


ScreenEvent = PageTurned | WindowClosed | MessagesTabOpened
"""Events that only affect what one person sees."""
PayloadMeaning = Delivery | IncompleteForm | ScreenEvent | NotForBot


def get_object(body: Payload, name: str) -> Payload:
    """Return a nested object; empty if there is none."""
    inner = body.get(name)
    return cast("Payload", inner) if isinstance(inner, Mapping) else {}


def get_text(body: Payload, name: str) -> str:
    """Return a string value; empty if there is none."""
    inner = body.get(name)
    return inner if isinstance(inner, str) else ""


def is_direct_message(channel: str, kind: str = "") -> bool:
    return kind == "im" or channel.startswith("D")


def parse_timestamp(stamp: str, fallback: datetime) -> datetime:
    """Convert a Slack timestamp (seconds with a fraction that makes it unique); `fallback` is returned if it is
    invalid.
    """
    try:
        return datetime.fromtimestamp(float(stamp), UTC)
    except (ValueError, OverflowError, OSError):
        return fallback
