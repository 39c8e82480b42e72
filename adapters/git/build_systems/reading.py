"""Reads manifests. Its rule: what cannot be read says nothing, and stops nothing."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Collection, Mapping
from shlex import quote
from typing import Any, NamedTuple, cast

from bot.domain.world import BuildSystem


class Found(NamedTuple):
    system: BuildSystem
    command: str
    """What runs its tests; empty: there is nothing to run."""
    set_up: str = ""
    """What has to be done in a new worktree first; empty: the command needs nothing."""


Rule = Callable[[Collection[str], Mapping[str, str]], Found | None]
"""From all paths of a directory and the contents of its manifests; None: it is not this build system."""
_MANY_DOTS = 300
"""On one line. Reading a dotted key takes the square of its length, and no manifest nests so deep."""


def json_table(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def toml_table(text: str) -> dict[str, Any] | None:
    """None: it cannot be read, for example because it was cut."""
    if any(line.count(".") > _MANY_DOTS for line in text.split("\n")):
        return None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        # a number of thousands of digits is a ValueError of its own
        return None


def sayable(path: str) -> bool:
    """Whether it can stand in a command that people read before it runs, and is there what it seems to be."""
    return path.isprintable() and "\ufffd" not in path


def path_word(path: str) -> str:
    """The path as one word of a command; never taken for an option."""
    return quote(f"./{path}" if path[0] == "-" else path)


def table(parent: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = parent.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
