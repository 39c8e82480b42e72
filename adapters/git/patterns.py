"""Which ignored files the operator wants copied. Its rule: a pattern reads as a line of .gitignore does, and never leads out of the repository."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.errors import Refused

NEVER = frozenset({".git", ".worktrees", ".gwt"})
"""Directories and files of git's and the bot's own."""
_WILD = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[(!?)([^]/]+)\]")


@dataclass(frozen=True)
class Pattern:
    rule: re.Pattern[str]
    begins: str
    """The directories it names outright before its first wildcard."""
    anchored: bool

    def names(self, path: str) -> bool:
        return self.rule.fullmatch(path) is not None

    def leads_into(self, directory: str) -> bool:
        """Whether it is worth looking into a directory that is ignored as a whole.

        A mere name like `.env` is not looked for there: it would be searched for in all of node_modules.
        """
        if self.names(directory + "/\0"):
            return True
        if not self.anchored:
            return False
        one, other = f"{directory}/", self.begins
        return one.startswith(other) or other.startswith(one)


def read_patterns(lines: Iterable[str]) -> tuple[Pattern, ...]:
    return tuple(_read(line.strip()) for line in lines if line.strip())


def is_ours(path: str) -> bool:
    """Whether it belongs to git or the bot, and is never copied."""
    return any(part.casefold() in NEVER for part in path.split("/"))


def stays_inside(link: str, target: str) -> bool:
    """Whether a symbolic link at the path `link` leads to a place below the same top directory.

    `..` only at its beginning: behind another link it would lead anywhere.
    """
    parts = target.split("/")
    ups = sum(part == ".." for part in parts)
    if target.startswith("/") or ups > link.count("/") or parts[:ups] != [".."] * ups:
        return False
    return not is_ours("/".join(parts[ups:]))


def _read(line: str) -> Pattern:
    body = line.strip("/")
    parts = body.split("/")
    if not body or line.startswith("!") or ".." in parts or is_ours(body):
        raise Refused(
            f"{line!r} names no files that could be copied into a worktree",
            "Name ignored files as in .gitignore, without ! and ..",
        )
    anchored = line.startswith("/") or len(parts) > 1
    fixed = parts[:-1]
    wild = next((n for n, part in enumerate(fixed) if _WILD.search(part)), len(fixed))
    head = "" if anchored else "(?:[^/]+/)*"
    tail = "/.+" if line.endswith("/") else "(?:/.+)?"
    try:
        rule = re.compile(head + _path(parts) + tail, re.DOTALL)
    except re.error as error:
        raise Refused(f"{line!r} is no pattern: {error.msg}", "Look at its [ ].") from error
    return Pattern(rule, "".join(f"{part}/" for part in fixed[:wild]), anchored)


def _path(parts: list[str]) -> str:
    """`**` stands for any number of directories; at the end for everything below."""
    rule = ""
    for n, part in enumerate(parts):
        last = n == len(parts) - 1
        if part == "**":
            rule += ".+" if last else "(?:[^/]+/)*"
        else:
            rule += _segment(part) + ("" if last else "/")
    return rule


def _segment(part: str) -> str:
    rule, at = "", 0
    while at < len(part):
        group = _CLASS.match(part, at)
        if group:
            rule += f"[{'^/' if group[1] else ''}{_in_class(group[2])}]"
            at = group.end()
            continue
        rule += {"*": "[^/]*", "?": "[^/]"}.get(part[at], re.escape(part[at]))
        at += 1
    return re.sub(r"(?:\[\^/\]\*)+", "[^/]*", rule)


def _in_class(inside: str) -> str:
    """A dash is one only behind the first: twice in a row Python may read it as more than a range one day."""
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside)
    return escaped.replace("--", r"-\-")
