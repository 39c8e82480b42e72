"""Reading JSON events whose shape nobody guarantees: what is not as expected is as if it were not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Protocol, cast

Event = dict[str, object]


class Reader(Protocol):
    """One CLI's events: yields lines for people, and keeps what is worth keeping in the report it was made with."""

    def read(self, event: Event) -> Iterator[str]: ...

    def over(self) -> Iterator[str]:
        """Nothing more comes."""
        ...


def event_in(line: str) -> Event | None:
    """None: the line is no event."""
    try:
        value: object = json.loads(line) if line.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return value_in(value)


def value_in(value: object) -> Event | None:
    return cast("Event", value) if isinstance(value, dict) else None


def part(event: Event, *names: str) -> Event:
    """What lies within what lies within …"""
    for name in names:
        event = value_in(event.get(name)) or {}
    return event


def parts(value: object) -> Iterator[Event]:
    for one in cast("list[object]", value) if isinstance(value, list) else []:
        known = value_in(one)
        if known is not None:
            yield known


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def first_line(value: object) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (said.strip().splitlines() or [""])[0]


def tool(name: str, given: object) -> str:
    """A tool with the one thing worth knowing of what it was given."""
    known = value_in(given) or {}
    names = ("command", "file_path", "filePath", "path", "pattern", "url", "query", "description")
    about = next((first_line(known[name]) for name in names if known.get(name)), "")
    return f"● {name} {about}".rstrip()


def unwrapped(message: str) -> str:
    """The words of an error that came as JSON, perhaps within other words."""
    start = message.find("{")
    for end in (len(message), message.rfind("}") + 1):
        inner = event_in(message[start:end]) if start >= 0 else None
        said = text(part(inner or {}, "error").get("message")) or text((inner or {}).get("message"))
        if said:
            return f"{message[:start].strip(' [')} {said}".strip()
    return message
