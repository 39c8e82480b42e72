"""Do prompts of any size reach a terminal program byte for byte, and never before it is ready?

    python -m benchmarks.prompts [of each size]

Every other program takes a while to start, and throws away what was typed meanwhile, as they do.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from adapters.tmux import TmuxPanes
from benchmarks.ground import own_panes, until
from benchmarks.table import all_of, hand_in
from tests.adapters.tmux.test_paste import NASTY, receiver

SIZES = (8_000, 64_000, 300_000)
AT_ONCE = 6
SLOW = 0.5
"""Seconds for which the slow ones start."""


async def main(each: int) -> None:
    rows = [all_of("11", told(size), await right(size, each), each) for size in SIZES]
    hand_in(*rows)


def told(size: int) -> str:
    return f"prompts of {size // 1000} KB that arrived byte for byte"


async def right(size: int, each: int) -> int:
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
        home = Path(folder)
        async with own_panes(home) as panes:
            turn = asyncio.Semaphore(AT_ONCE)
            arrived = await asyncio.gather(
                *(arrives(panes, home, number, size, turn) for number in range(each))
            )
    return sum(arrived)


async def arrives(
    panes: TmuxPanes, home: Path, number: int, size: int, turn: asyncio.Semaphore
) -> bool:
    """Its end is the semicolon that tmux itself would lose."""
    run, folder = f"run-{number}", home / f"work-{number}"
    text = (NASTY * (size // len(NASTY.encode()) + 1))[-size:]
    folder.mkdir()
    async with turn:
        await panes.start(run, str(folder), receiver(SLOW if number % 2 else 0.0), "")
        await panes.paste(run, text)
        await until((folder / "got").exists)
        await panes.stop(run)
    return (folder / "got").read_bytes() == b"\x1b[200~" + text.encode() + b"\x1b[201~\r"


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 34))
