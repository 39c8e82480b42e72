"""The whole bot in a played Slack, to be tried by hand in a browser: `python -m tests.looks.live [folder]`.

Slack, the model and the agents are played; the bot, tmux, git and the merge are real. Ctrl-C ends it all.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from pathlib import Path

from tests.beds.slack import AKI, MIKA, SlackBed
from tests.looks.live import Window
from tests.stories.serving import PATIENCE, in_slack, serving

PACE = "2"
"""Seconds an agent takes for a step: slow enough to look on."""


async def _try(folder: Path) -> None:
    ended = asyncio.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(sign, ended.set)
    async with SlackBed(checked=False) as bed, serving(folder, **in_slack(bed, MIKA, AKI)) as bot:
        bot.start(GWT_BOT_PACE=PACE)
        await bed.connected(seconds=PATIENCE)
        async with Window(bed) as window:
            sys.stdout.write(f"{window.url}\nThe repository and the bot's home are in {folder}.\n")
            sys.stdout.flush()
            await ended.wait()
        await bot.end()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        asyncio.run(_try(Path(sys.argv[1]).absolute()))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(_try(Path(folder)))
