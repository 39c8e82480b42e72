"""How soon do the branches stand there, beside git's own list of them, with few and with many?

python -m benchmarks.branch_mode [rounds]
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median

from adapters.git import GitRepository
from adapters.store import JournalStore
from benchmarks.chats.in_memory import sitting, whispered
from benchmarks.chats.work import world_at
from benchmarks.ground import git, on_this_disk, seconds_of
from benchmarks.scan import made
from benchmarks.table import at_most, beside, hand_in
from bot.core.cards import AnswerCard
from bot.core.world import Rules
from tests.fakes.chat import MemoryChat

FILES = 200
FEW, MANY = 10, 200
PROMISED = 1.0
"""Seconds."""


async def main(rounds: int) -> None:
    with on_this_disk() as folder:
        few, _ = await switched(folder, FEW, rounds)
        many, least = await switched(folder, MANY, rounds)
    what = f"into branch mode, {MANY} branches"
    hand_in(
        at_most("", what, many, PROMISED, floor=least, of="git for-each-ref"),
        beside("", what, many, few, of=f"{FEW} branches", most=MANY / FEW),
    )


async def switched(folder: Path, branches: int, rounds: int) -> tuple[float, float]:
    top, home = folder / f"shop-{branches}", folder / f"home-{branches}"
    commit = made(top, FILES)
    git(top, "reset", "--quiet", "--hard")
    for number in range(branches):
        git(top, "branch", f"feature/{number}", commit)
    chat, store = MemoryChat(), JournalStore(home)
    world = replace(
        world_at(home, {chat.thread.platform: chat}, store),
        repository=GitRepository(home),
        rules=Rules(repository=str(top), agent="played"),
    )
    async with sitting(world, chat):
        ours = [await whispered(chat, "branches") for _ in range(rounds)]
    store.close()
    assert all(isinstance(card, AnswerCard) for _, _, card in chat.whispered)
    return median(ours), median(seconds_of(lambda: git(top, "for-each-ref")) for _ in ours)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
