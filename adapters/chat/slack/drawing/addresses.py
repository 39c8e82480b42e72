"""Addresses of pull requests in plain lines: they can be followed. Nothing else becomes a link, and none hides behind words."""

from __future__ import annotations

import re

from adapters.chat.slack.words import escaped

_PULL = r"https?://[A-Za-z0-9.-]{1,200}(?::\d{1,5})?/[\w.-]{1,100}/[\w.-]{1,100}/pull/\d{1,9}"
_ALONE = re.compile(rf"(?<!\S)({_PULL})(?!\S)", re.ASCII)
_WHOLE = re.compile(_PULL, re.ASCII)


def is_address(text: str) -> bool:
    """Whether it is that of a pull request, and nothing else."""
    return bool(_WHOLE.fullmatch(text))


def has_address(text: str) -> bool:
    return bool(_ALONE.search(text))


def linked(text: str) -> str:
    """Plain text as mrkdwn, in which such addresses can be followed."""
    parts = _ALONE.split(text)
    return "".join(f"<{part}>" if n % 2 else escaped(part) for n, part in enumerate(parts))
