"""The bot in a played Slack, in a browser: `python -m tests.looks.slack_page [--port 8766] [--pace 2]`. It ends with Ctrl-C.

The model and the agents are played; the repository is a sample in a folder that goes with the program.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.beds.slack import AKI, MIKA, SlackBed
from tests.looks.live import Window
from tests.stories.serving import Serving, in_slack, serving


@asynccontextmanager
async def window(
    folder: Path, *, port: int = 0, pace: float = 2
) -> AsyncGenerator[tuple[Window, SlackBed, Serving], None]:
    """Everything at work, and where to look at it."""
    async with (
        SlackBed(trigger_seconds=3) as bed,
        serving(folder, **in_slack(bed, MIKA, AKI), PROGRESS_SECONDS="2") as bot,
        Window(bed, port) as there,
    ):
        bot.start(GWT_BOT_PACE=str(pace))
        await bed.connected()
        yield there, bed, bot


async def _until_interrupted(port: int, pace: float) -> None:
    with tempfile.TemporaryDirectory(prefix="gwt-") as folder:
        async with window(Path(folder), port=port, pace=pace) as (there, _, bot):
            print(f"Open {there.url} and ask @gwt for something. The shop is in {bot.shop}.")  # noqa: T201
            await asyncio.Event().wait()


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--port", type=int, default=8766)
    words.add_argument(
        "--pace", type=float, default=2, help="seconds between two steps of an agent"
    )
    given = words.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_until_interrupted(given.port, given.pace))


if __name__ == "__main__":
    main()
