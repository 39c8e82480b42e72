"""Reads JSON events of unknown structure, and defines the report of a run made from them.

Standard library only. A field of unexpected type is treated as missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

CliEvent = dict[str, object]


class EventReader(Protocol):
    """Reads one CLI's events: yields lines for people, and updates the report it was created with."""

    def read(self, event: CliEvent) -> Iterator[str]: ...

    def finish(self) -> Iterator[str]:
        """Finish after the last event."""
        ...


def parse_event(line: str) -> CliEvent | None:
    """Parse an event; None if the line is not one."""
    try:
        value: object = json.loads(line) if line.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return as_object(value)


def as_object(value: object) -> CliEvent | None:
    return cast("CliEvent", value) if isinstance(value, dict) else None


def nested(event: CliEvent, *names: str) -> CliEvent:
    """Return a nested object; empty if it is missing."""
    for name in names:
        event = as_object(event.get(name)) or {}
    return event


def parts(value: object) -> Iterator[CliEvent]:
    for one in cast("list[object]", value) if isinstance(value, list) else []:
        known = as_object(one)
        if known is not None:
            yield known


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def first_line(value: object) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (said.strip().splitlines() or [""])[0]


def tool_line(name: str, given: object) -> str:
    """Return the name of a tool with its most informative argument."""
    known = as_object(given) or {}
    names = ("command", "file_path", "filePath", "path", "pattern", "url", "query", "description")
    about = next((first_line(known[name]) for name in names if known.get(name)), "")
    return f"● {name} {about}".rstrip()


def error_text(message: str) -> str:
    """Return the message of an error that is JSON, possibly within other text."""
    start = message.find("{")
    for end in (len(message), message.rfind("}") + 1):
        inner = parse_event(message[start:end]) if start >= 0 else None
        said = text(nested(inner or {}, "error").get("message")) or text(
            (inner or {}).get("message")
        )
        if said:
            return f"{message[:start].strip(' [')} {said}".strip()
    return message


# The report of a run so far, in a file of its folder: rewritten at every event, so that it survives any kill.

LONGEST_TEXT = 4_000
"""Characters of a text."""


@dataclass
class RunReport:
    conversation: str = ""
    """The id for continuing the conversation, if the CLI chose it itself."""
    message: str = ""
    """The agent's last message."""
    error: str = ""
    """The CLI's own message about its failure."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    used: bool = False

    def set_usage(
        self, input_tokens: object, output_tokens: object, cost: object = None, *, add: bool = False
    ) -> None:
        """Set the tokens of the run so far or, with `more`, add those of one step."""
        if not add:
            self.input_tokens, self.output_tokens, self.cost = 0, 0, None
        self.input_tokens += count_of(input_tokens)
        self.output_tokens += count_of(output_tokens)
        if isinstance(cost, int | float) and not isinstance(cost, bool):
            self.cost = (self.cost or 0.0) + cost
        self.used = True

    def fail(self, text: str) -> None:
        self.error = text.strip() or "It failed, and does not say why."

    def text(self) -> str:
        usage = {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost": self.cost,
        }
        told = {
            "conversation": self.conversation[:200],
            "message": self.message[:LONGEST_TEXT],
            "error": self.error[:LONGEST_TEXT],
            "usage": usage if self.used else None,
        }
        return json.dumps(told, ensure_ascii=False)


class ReportFile:
    """Writes the report to its file if it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = ""

    def write_if_changed(self, report: RunReport) -> None:
        text = report.text()
        if text == self._last:
            return
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode(errors="replace"))
            temporary.replace(self._path)
        except OSError:
            return  # a full disk must not end the agent's work; the next event tries again
        self._last = text


def count_of(value: object) -> int:
    """Return the count, or 0 if the value is not one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
