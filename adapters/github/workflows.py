"""Whether a workflow of GitHub Actions runs for a pull request. Pure. Its rule: what cannot be read may run.

An agent may have written the file, so only its `on` is looked at, to a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import cast

from ruamel.yaml import YAML, YAMLError

from adapters.github.answers import PullTold

_ON = re.compile(r"""^(?:on|true|["']on["'])[ \t]*:""", re.MULTILINE | re.IGNORECASE)
_NEXT_KEY = re.compile(r"^[^\s#]", re.MULTILINE)
_LONGEST = 8_000
_MOST_BRACKETS = 100
"""The library takes the square of their number."""
_OF_A_PULL = frozenset({"pull_request", "pull_request_target"})
_WHILE_OPEN = frozenset({"opened", "synchronize", "reopened", "ready_for_review"})
_FAILS = (YAMLError, ValueError, TypeError, RecursionError, AttributeError, re.error)


def runs_for(text: str, pull: PullTold, files: Sequence[str] | None) -> bool:
    """`files`: those that the pull request changes; None: they are not known."""
    try:
        told = _events(text)
        events = [told] if isinstance(told, str) else told
        if isinstance(events, list):
            return any(name in {"push", *_OF_A_PULL} for name in cast("list[object]", events))
        if not isinstance(events, dict):
            return True
        return any(
            _fits(str(name), filters, pull, files)
            for name, filters in cast("dict[object, object]", events).items()
        )
    except _FAILS:
        return True


def _events(text: str) -> object:
    found = _ON.search(text)
    if found is None:
        return None
    following = _NEXT_KEY.search(text, text.find("\n", found.end()) + 1 or len(text))
    block = text[found.end() : following.start() if following else len(text)]
    if len(block) > _LONGEST or sum(block.count(one) for one in "[{") > _MOST_BRACKETS:
        return None
    return YAML(typ="safe", pure=True).load(f"it:{block}")["it"]


def _fits(name: str, filters: object, pull: PullTold, files: Sequence[str] | None) -> bool:
    if name != "push" and name not in _OF_A_PULL:
        return False
    given = cast("dict[str, object]", filters) if isinstance(filters, dict) else {}
    branches, tags = ({what, f"{what}-ignore"} & set(given) for what in ("branches", "tags"))
    if name == "push" and tags and not branches:
        return False  # with a filter for tags alone no branch counts
    if name in _OF_A_PULL and "types" in given and not _WHILE_OPEN & set(_list(given["types"])):
        return False
    branch = pull.head.ref if name == "push" else pull.base.ref
    if "branches" in given and not matches(_list(given["branches"]), branch):
        return False
    if "branches-ignore" in given and matches(_list(given["branches-ignore"]), branch):
        return False
    if not files:
        return True
    if "paths" in given:
        return any(matches(_list(given["paths"]), file) for file in files)
    ignored = _list(given.get("paths-ignore", []))
    return not ignored or not all(matches(ignored, file) for file in files)


def _list(told: object) -> list[str]:
    if isinstance(told, list):
        return [str(one) for one in cast("list[object]", told)]
    return [str(told)]


def matches(patterns: Iterable[str], name: str) -> bool:
    """As GitHub reads them: one after the other, and what begins with ! takes back what fitted before."""
    found = False
    for pattern in patterns:
        plain = pattern.removeprefix("!")
        if re.fullmatch(_as_regex(plain), name):
            found = plain == pattern
    return found


def _as_regex(pattern: str) -> str:
    """`*` stops at a slash, `**` does not; `?` and `+` are about the character before them."""
    parts = re.findall(r"\*\*/?|\*|[?+]|\[[^\]]*\]|\\.|.", pattern, re.DOTALL)
    meant = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "?", "+": "+"}
    return "".join(
        meant.get(part) or (part if part.startswith(("[", "\\")) else re.escape(part))
        for part in parts
    )
