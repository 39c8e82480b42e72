"""Lanes: order within a room, no waiting between rooms, and a token that waits for the slowest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from adapters.matrix.sync import RoomQueues, RoomWork


class Yard:
    """Works that are let go by hand; what was begun, and what was committed."""

    def __init__(self) -> None:
        self.gates: dict[str, asyncio.Event] = {}
        self.begun: list[str] = []
        self.committed: list[str] = []

    def work(self, name: str, *, open: bool = False) -> RoomWork:
        gate = self.gates.setdefault(name, asyncio.Event())
        if open:
            gate.set()

        async def go() -> None:
            self.begun.append(name)
            await gate.wait()

        return go

    async def commit(self, token: str) -> None:
        self.committed.append(token)

    @asynccontextmanager
    async def lanes(self) -> AsyncGenerator[RoomQueues]:
        async with asyncio.timeout(120), asyncio.TaskGroup() as tasks:
            yield RoomQueues(tasks, self.commit)

    async def settle(self) -> None:
        """Until all that can go on has gone on."""
        for _ in range(20):
            await asyncio.sleep(0)

    def let_go(self, *names: str) -> None:
        for name in names:
            self.gates[name].set()


async def test_a_room_takes_one_thing_after_the_other_and_does_not_hold_up_the_rest() -> None:
    yard = Yard()
    async with yard.lanes() as lanes:
        await lanes.enqueue("s1", [("a", yard.work("a1")), ("b", yard.work("b1"))])
        await lanes.enqueue("s2", [("a", yard.work("a2")), ("c", yard.work("c1"))])
        await yard.settle()
        assert sorted(yard.begun) == ["a1", "b1", "c1"]
        yard.let_go("a1", "b1", "c1")
        await yard.settle()
        assert yard.begun[-1] == "a2"
        yard.let_go("a2")


async def test_tokens_are_committed_in_order_and_only_when_all_before_them_was_taken() -> None:
    yard = Yard()
    async with yard.lanes() as lanes:
        await lanes.enqueue("s1", [("a", yard.work("a1")), ("b", yard.work("b1", open=True))])
        await lanes.enqueue("s2", [("b", yard.work("b2", open=True))])
        await lanes.enqueue("s3", [])
        await yard.settle()
        assert (yard.begun[-1], yard.committed) == ("b2", [])
        yard.let_go("a1")
    assert yard.committed == ["s1", "s2", "s3"]


async def test_with_too_much_under_way_nothing_new_is_begun() -> None:
    yard = Yard()
    async with yard.lanes() as lanes:
        await lanes.enqueue("s1", [(f"{number}", yard.work(f"{number}")) for number in range(200)])
        waiting = asyncio.create_task(lanes.enqueue("s2", [("late", yard.work("late", open=True))]))
        await yard.settle()
        assert not waiting.done()
        yard.let_go(*(f"{number}" for number in range(200)))
        await waiting
    assert yard.committed == ["s1", "s2"]
