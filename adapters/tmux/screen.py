"""Text from screens and for keyboards: nothing of it may steer a terminal or deceive a reader."""

from __future__ import annotations

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DECEIVING = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_DEAD = re.compile(r"Pane is dead(?: \(.*\))?")
_TITLE = re.compile(r"\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)")
_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*([@-~])|\x1b[ -/]*[0-~]")
_DECORATION = " \t│┃|•●⏺∙·*>✦⎿└╰─✔✓"


def readable(text: str) -> str:
    """Without control characters, bidirectional overrides and letters of no width; without tmux's own last line."""
    lines = _DECEIVING.sub("", _CONTROLS.sub("", text)).splitlines()
    return "\n".join(line.rstrip() for line in lines if not _DEAD.fullmatch(line.strip()))


def last_lines(text: str, lines: int) -> str:
    """The last lines that are not empty."""
    full = [line for line in readable(text).split("\n") if line]
    return "\n".join(full[-lines:]) if lines > 0 else ""


def typeable(text: str) -> str:
    """What may be pasted: an escape would end the bracketed paste and begin to press keys."""
    return _CONTROLS.sub("", text)


def printed_lines(text: str) -> list[str]:
    """Raw terminal output as lines; the last one is not ended yet.

    Programs that draw their screen move the cursor instead of ending a line, so a move ends one too.
    """
    plain = _SEQUENCE.sub(
        lambda found: "" if found[1] in {"m", "K", "h", "l"} else "\n", _TITLE.sub("", text)
    )
    return re.split(r"[\r\n]", plain)


def is_marker(line: str, marker: str) -> bool:
    """A whole line, apart from the bullets and borders a program may draw around it."""
    return _CONTROLS.sub("", line).strip(_DECORATION) == marker
