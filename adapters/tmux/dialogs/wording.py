"""What a dialog is called: its question, what it is about, and an id made of what it says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from bot.domain.dialogs import Dialog, DialogKind, DialogOption

LONGEST_TITLE = 200
LONGEST_LABEL = 75
LONGEST_TEXT = 1_500
SHORT = 40
"""Characters of a heading at most; what is longer says more than what kind of a question it is."""

_QUESTION = re.compile(r"^(.*?\?)(?=$|[\s)])")
_ORNAMENT = re.compile(r"^[^\w/$#(\[\"'`<]+")
_SPECIFIC = re.compile(
    r"https?://\S+|`[^`]*`|\"[^\"]*\"|'[^']*'|«[^»]*»|(?<!\w)[~.]{0,2}/\S+|\b[\w-]+(?:\.[\w-]+)+\b|\b\w*\d\w*\b"
)
_COUNTS_DOWN = re.compile(r"\b(?:in|after|left|remaining|elapsed|timeout)\b", re.IGNORECASE)


def dialog(
    kind: DialogKind,
    title: str,
    options: Sequence[DialogOption],
    *,
    heading: str = "",
    above: Sequence[str] = (),
    specific: bool = False,
) -> Dialog:
    """`specific`: what stands above is a part of what is asked, and so of its id."""
    title = shortened(" ".join(title.split()), LONGEST_TITLE)
    about = f"{heading}: {title}" if heading and heading not in title else title
    said = [title, *(option.label for option in options), *(above if specific else ())]
    return Dialog(
        id=digest(*said),
        kind=kind,
        title=title,
        text=shortened("\n".join(above), LONGEST_TEXT),
        options=tuple(options),
        topic=shortened(_SPECIFIC.sub("…", about), LONGEST_TITLE),
    )


def digest(*said: str) -> str:
    text = "\0".join(" ".join(_steady(line).split()) for line in said)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def titled(block: Sequence[str]) -> tuple[str, str]:
    """The question nearest to its answers, and the heading above it. Without a question the heading is the title."""
    lines = [line for line in (_ORNAMENT.sub("", one) for one in block) if line]
    if not lines:
        return "", ""
    heading = lines[0].rstrip(":") if len(lines[0]) <= SHORT else ""
    for line in reversed(lines):
        if question := _QUESTION.match(line):
            return question[1], heading
    if len(lines) > 1 and lines[1].startswith("# "):
        return f"{lines[0]}: {lines[1][2:]}", heading
    return lines[0].rstrip(":"), heading


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def labelled(text: str) -> str:
    """What stands on a button: without a tick, and without the key that does the same."""
    plain = re.sub(r"\s*[✔✓]$|\s*\((?:\w|esc|shift\+tab)\)$", "", " ".join(text.split()))
    return shortened(plain or text, LONGEST_LABEL)


def _steady(line: str) -> str:
    """A clock that runs while a question stands does not make it another one."""
    return re.sub(r"\d+", "#", line) if _COUNTS_DOWN.search(line) and _clock(line) else line


def _clock(line: str) -> bool:
    return bool(re.search(r"\b\d+(?:\.\d+)?\s?(?:s|sec|secs|seconds)\b(?!\S)|\b\d+:\d\d\b", line))
