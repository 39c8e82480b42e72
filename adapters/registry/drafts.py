"""A draft: Markdown somebody wrote, with what they know of it at the top between two lines of dashes, or without."""

from __future__ import annotations

import hashlib
import re

from adapters.registry.intents import risk_of
from adapters.registry.text import BrokenError, decoded, line, mapping, moment, words
from bot.domain.registry import Draft

LARGEST = 64 * 1024
ENDING = ".md"
LONGEST_TITLE = 120
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^[#>*\-\s]+")


def read(name: str, content: bytes) -> Draft:
    """BrokenError: it cannot become an intent, and why."""
    text = decoded(content)
    front = _FRONT.match(text)
    told = mapping(front[1].encode()) if front and front[1].strip() else {}
    body = (text[front.end() :] if front else text).strip()
    title = line(words(told.get("title"), LONGEST_TITLE)) or _first_line(body)
    if not title:
        raise BrokenError("it says nothing")
    return Draft(
        name=name,
        digest=digest(content),
        title=title,
        body=body or title,
        type=line(words(told.get("type"), 40)),
        risk=risk_of(told),
        created_at=moment(told.get("created_at")),
    )


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _first_line(body: str) -> str:
    for one in body.splitlines():
        if text := line(_MARK.sub("", one)):
            return text[:LONGEST_TITLE].rstrip()
    return ""
