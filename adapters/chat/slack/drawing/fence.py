"""Output of a program between two fences. Where it is too long its end stays, for that is where the error stands."""

from __future__ import annotations

from adapters.chat.slack.words import escaped_code

_FRAME = len("```\n\n```")
_NOTE = 40
"""Room for the line that says what is missing."""


def fenced(text: str, limit: int) -> str:
    """At most `limit` characters of mrkdwn."""
    room = limit - _FRAME
    lines = escaped_code(text).strip("\n").split("\n")
    if sum(map(len, lines)) + len(lines) > room:
        lines = _end_of(lines, room - _NOTE)
    return "```\n" + "\n".join(lines) + "\n```"


def _end_of(lines: list[str], room: int) -> list[str]:
    """As many of the last lines as there is room for; of the very last one its end, if need be."""
    kept: list[str] = []
    for line in reversed(lines):
        if len(line) >= room:
            break
        kept.insert(0, line)
        room -= len(line) + 1
    if not kept:
        return ["… (the beginning is left out)", _tail(lines[-1], room)]
    left_out = len(lines) - len(kept)
    return [f"… ({left_out:,} line{'s' * (left_out > 1)} above left out)", *kept]


def _tail(line: str, room: int) -> str:
    """The end of a line, without the rest of an entity that was cut through."""
    kept = line[-room:]
    head, semicolon, rest = kept.partition(";")
    return rest if semicolon and head in ("amp", "mp", "p", "lt", "gt", "t", "") else kept
