"""Files that stand beside a message, and which of them can be read as text: told by what Slack says of them alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_FILES = 5
MOST_NAMED = 10
MOST_BYTES = 100_000
TOO_LARGE = f"It is larger than {MOST_BYTES // 1_000} kB."
NO_TEXT = "It is not a text in UTF-8."
_NAME = 120
_OTHER_KINDS = {
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
_READ = frozenset({"hosted", "snippet"})
_TEXTS = frozenset(
    {
        "ecmascript", "graphql", "javascript", "json", "ld+json", "sql", "toml", "typescript",
        "x-httpd-php", "x-javascript", "x-ndjson", "x-perl", "x-php", "x-python", "x-ruby", "x-sh",
        "x-shellscript", "x-sql", "x-tex", "x-toml", "x-typescript", "x-yaml", "xml", "yaml",
    }
)  # fmt: skip
"""Of the types called applications, those that are text."""
_SAYS_NOTHING = ("", "application/octet-stream")
_SLACKS_TEXTS = frozenset(
    {
        "c", "cpp", "csharp", "css", "csv", "diff", "dockerfile", "go", "html", "java", "javascript",
        "json", "kotlin", "latex", "markdown", "perl", "php", "plain", "powershell", "puppet",
        "python", "r", "ruby", "rust", "scala", "shell", "sql", "swift", "text", "toml", "tsv",
        "typescript", "vb", "xml", "yaml",
    }
)  # fmt: skip
"""Slack's own names of types, for where it knows no other."""
_NO_TEXTS = frozenset({"text/rtf", "text/richtext"})
"""Text, but full of marks of a word processor."""


@dataclass(frozen=True)
class Offered:
    name: str
    url: str = ""
    kind: str = ""
    """Its type, by its MIME name."""
    problem: str = ""
    """Why it is not even asked for."""


def offered_in(event: Mapping[str, Any], team: str) -> tuple[Offered, ...]:
    """Those of a message, the first few of them to be read."""
    told = event.get("files")
    files = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    found: list[Offered] = []
    for file in files[:MOST_NAMED]:
        wanted = sum(not one.problem for one in found)
        found.append(_offered(file, team, room=wanted < MOST_FILES))
    if len(files) > MOST_NAMED:
        rest = f"{len(files) - MOST_NAMED} more files"
        found.append(Offered(rest, problem=f"I read {MOST_FILES} files of a message at most."))
    return tuple(found)


def as_text(content: bytes) -> str | None:
    """None: it is none, or not in UTF-8."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _offered(file: Mapping[str, Any], team: str, *, room: bool) -> Offered:
    name = " ".join(str(file.get("name") or file.get("title") or "a file").split())[:_NAME]
    kind = str(file.get("mimetype") or "").partition(";")[0].strip().lower()
    problem = _problem(file, kind, team)
    if not problem and not room:
        problem = f"I read {MOST_FILES} files of a message at most."
    url = file.get("url_private_download") or file.get("url_private")
    return Offered(name, "" if problem else str(url or ""), kind, problem)


def _problem(file: Mapping[str, Any], kind: str, team: str) -> str:
    mode = str(file.get("mode") or "hosted")
    if file.get("is_external"):
        mode = "external"
    if mode not in _READ:
        return _OTHER_KINDS.get(mode, "I cannot read this kind of file: paste what matters.")
    if file.get("filetype") in ("canvas", "quip"):
        return _OTHER_KINDS["canvas"]
    if file.get("user_team") not in (None, "", team):
        return "It belongs to another workspace."
    if file.get("file_access") not in (None, "", "visible"):
        return "Slack does not let me see it."
    size = file.get("size")
    if isinstance(size, int) and size > MOST_BYTES:
        return TOO_LARGE
    return "" if _is_text(kind, str(file.get("filetype"))) else "It is not a text file."


def _is_text(kind: str, slacks: str) -> bool:
    if kind in _SAYS_NOTHING:
        return slacks in _SLACKS_TEXTS
    family, _, name = kind.partition("/")
    if family == "text":
        return kind not in _NO_TEXTS
    return family == "application" and (name in _TEXTS or name.endswith(("+json", "+xml")))
