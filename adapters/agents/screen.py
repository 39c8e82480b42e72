"""Runs an agent CLI that prints a JSON event a line, and shows the events as lines people can read.

`python -I screen.py COMMAND…`. Standard library only, so that it starts from its path alone.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO, cast

WIDTH = 400
"""Characters shown of one line."""
_CONTROL = re.compile(
    r"\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)"  # titles, links, the clipboard
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # colours and moves
    r"|[\x00-\x08\x0a-\x1f\x7f-\x9f]"
)


def main(command: Sequence[str]) -> int:
    """The command's exit code; a signal's number above 128, as shells say it."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number))
    if child.stdout is not None:
        for raw in child.stdout:
            show(raw.decode("utf-8", "replace"), sys.stdout)
    code = child.wait()
    return code if code >= 0 else 128 - code


def show(line: str, out: TextIO) -> None:
    """One line of the stream. What is no JSON object is shown as it is."""
    text = line.strip()
    for part in readable(text):
        clean = _CONTROL.sub("", part)
        out.write(f"{clean[:WIDTH]}…\n" if len(clean) > WIDTH else f"{clean}\n")
    out.flush()


def readable(line: str) -> Iterator[str]:
    """What a line of the stream means to somebody who looks on. Unknown events mean nothing."""
    event = _object(line)
    match event:
        case None:
            yield line
        case {"type": "system", "subtype": "init"}:
            yield f"conversation {event.get('session_id', '?')}, model {event.get('model', '?')}"
        case {"type": "assistant"}:
            for part in _parts(event):
                yield from _said(part)
        case {"type": "user"}:
            for part in _parts(event):
                if part.get("is_error"):
                    yield f"  ✗ {_first_line(part.get('content'))}"
        case {"type": "result"}:
            yield from _result(event)
        case _:
            pass


def _object(line: str) -> dict[str, object] | None:
    try:
        value: object = json.loads(line) if line.startswith("{") else None
    except ValueError:
        return None
    return _known(value)


def _known(value: object) -> dict[str, object] | None:
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _parts(event: dict[str, object]) -> Iterator[dict[str, object]]:
    message = _known(event.get("message")) or {}
    content = message.get("content")
    for part in cast("list[object]", content) if isinstance(content, list) else []:
        known = _known(part)
        if known is not None:
            yield known


def _said(part: dict[str, object]) -> Iterator[str]:
    match part:
        case {"type": "text", "text": str(text)}:
            yield from text.splitlines()
        case {"type": "tool_use", "name": str(name)}:
            yield f"● {name} {_about(part.get('input'))}".rstrip()
        case _:
            pass


def _about(given: object) -> str:
    """The one thing worth knowing of a tool's input."""
    known = _known(given) or {}
    names = ("command", "file_path", "path", "pattern", "url", "query", "description")
    return next((_first_line(known[name]) for name in names if known.get(name)), "")


def _result(event: dict[str, object]) -> Iterator[str]:
    failed = bool(event.get("is_error"))
    facts = [f"{event['num_turns']} turns"] if event.get("num_turns") else []
    cost = event.get("total_cost_usd")
    if isinstance(cost, int | float):
        facts.append(f"${cost:.2f}")
    yield f"{'failed' if failed else 'done'}: {', '.join(facts)}".rstrip(" :")
    if failed:
        yield _first_line(event.get("result"))


def _first_line(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (text.strip().splitlines() or [""])[0]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
