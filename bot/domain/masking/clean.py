"""Text as a person would see it: no terminal escapes, no control characters, nothing invisible."""

from __future__ import annotations

import re

_EMOJI = "\u203c-\u3299\U0001f000-\U0001faff"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(
    rf"""
      (?: \x1b\[ | \x9b ) [0-?]{{0,256}} [\ -/]{{0,16}} [@-~]?          # CSI: colours, cursor
    | (?: \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] )                           # OSC, DCS …: titles, links,
        [^\x07\x1b\x9c\n]{{0,65536}} (?: \x07 | \x1b\\ | \x9c )?         #   the clipboard
    | \x1b [\ -/]{{0,16}} [0-~]?
    | [\x00-\x08\x0b-\x1f\x7f-\x9f]
    | [\ud800-\udfff]                                                  # halves of a pair: no file takes them
    | [{_INVISIBLE}]
    # Two invisible characters belong to emoji, and stay where they do.
    | (?<![{_EMOJI}\ufe0f]) \u200d | \u200d (?![{_EMOJI}])
    | (?<![{_EMOJI}]) \ufe0f (?! \u20e3 )
    """,
    re.VERBOSE,
)


_SEPARATOR = re.compile(r"(?<!\x00[^\x00])\x00+(?![^\x00]\x00)")
"""A zero between two texts, as in `/proc/*/environ`; not one behind each letter, as in UTF-16."""


def clean(text: str) -> str:
    """The text without escapes, control, bidirectional and zero-width characters; lines end with \\n.

    What zeros separate stands on lines of its own, so that it does not become one word.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    if "\0" in text:
        text = _SEPARATOR.sub("\n", text)
    return _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
