"""How soon is it told that an agent asks: from the last stroke of its menu, and from the word of its hook, to the event?

python -m benchmarks.dialogs [rounds]
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from adapters.tmux import TmuxPanes
from benchmarks.ground import own_panes
from benchmarks.table import at_most, hand_in
from bot.core.runs import Dialog, Launch

PROMISED = 10.0
"""Seconds within which people are told."""
AGENT = """\
import os, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
for number in range(int(sys.argv[2])):
    while not (folder / f"ask-{number}").exists():
        time.sleep(0.002)
    drawn = (folder / f"ask-{number}").read_text() == "drawn"
    if drawn:
        print(f"\\x1b[2J\\x1b[H Do you want to run step {number}?\\n ❯ 1. Yes\\n   2. No\\n\\n Esc to cancel", flush=True)
    (folder / f"asked-{number}.new").write_text(str(time.monotonic()))
    (folder / f"asked-{number}.new").rename(folder / f"asked-{number}")
    while not (folder / f"gone-{number}").exists():
        time.sleep(0.002)
    print("\\x1b[2J\\x1b[H● At work", flush=True)
time.sleep(600)
"""


async def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
        home = Path(folder)
        async with own_panes(home) as panes:
            drawn = await told(panes, home / "drawn", rounds, hook=False)
            hooked = await told(panes, home / "hooked", rounds, hook=True)
    hand_in(
        at_most("", "an agent asks on its screen: told, the slowest", max(drawn), PROMISED),
        at_most("", "the same where a hook speaks, too", max(hooked), PROMISED),
    )


async def told(panes: TmuxPanes, notes: Path, rounds: int, *, hook: bool) -> list[float]:
    """From the agent's own clock to the event: monotonic time is one for all processes."""
    write(notes / "round", "")
    run = f"run-{notes.name}"
    argv = (sys.executable, "-S", "-c", AGENT, str(notes), str(rounds))
    await panes.start(run, str(notes), Launch(argv=argv, stdin="terminal"), "")
    seconds = list[float]()
    async with aclosing(panes.dialogs(run)) as dialogs:
        for number in range(rounds):
            write(notes / f"ask-{number}", "drawn")
            if hook:
                spool = notes.parent / "spool" / run
                event = {
                    "hook_event_name": "Notification",
                    "notification_type": "permission_prompt",
                }
                write(spool / f"{time.time_ns()}-Notification.json", json.dumps(event))
            await asked(dialogs, wanted=True)
            seen = time.monotonic()
            seconds.append(seen - float((notes / f"asked-{number}").read_text()))
            write(notes / f"gone-{number}", "")
            await asked(dialogs, wanted=False)
    return seconds


async def asked(dialogs: AsyncGenerator[Dialog | None], *, wanted: bool) -> None:
    while ((await anext(dialogs)) is not None) != wanted:
        pass


def write(path: Path, text: str) -> None:
    """Whole, or not at all."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    new.rename(path)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 4))
