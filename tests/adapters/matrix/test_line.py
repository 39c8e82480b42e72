"""While a homeserver limits an account all that it sends stands in one line; else nobody waits for anybody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from adapters.matrix.sending import SendQueue, WaitBounds
from bot.core.errors import Unavailable

DEADLINE = 120.0


class Limited:
    """Takes so many, and then one at a time, each after being asked in vain first."""

    def __init__(self, free: int = 0, retry_after: float | None = 0.01) -> None:
        self.sent: list[str] = []
        self._free, self._retry_after = free, retry_after

    def send(self, name: str) -> Callable[[], Awaitable[str]]:
        async def call() -> str:
            await asyncio.sleep(0)
            if self._free <= 0:
                self._free += 1
                raise Unavailable("Too fast.", retry_after=self._retry_after)
            self._free -= 1
            self.sent.append(name)
            return name

        return call


async def test_without_a_limit_nobody_waits_for_anybody() -> None:
    line, gate = SendQueue(), asyncio.Event()

    async def held() -> str:
        await gate.wait()
        return "held"

    first = asyncio.create_task(line.send(0, held))
    async with asyncio.timeout(DEADLINE):
        assert await line.send(9, Limited(1).send("other")) == "other"
        gate.set()
        assert await first == "held"


async def test_under_a_limit_the_urgent_go_first_and_equals_as_they_came() -> None:
    line, server = SendQueue(), Limited()
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        group.create_task(line.send(3, server.send("chip")))
        await asyncio.sleep(0)
        for urgency, name in ((4, "late"), (2, "news 1"), (2, "news 2"), (0, "question")):
            group.create_task(line.send(urgency, server.send(name)))
    assert server.sent == ["question", "news 1", "news 2", "chip", "late"]


async def test_who_gives_up_in_the_line_holds_nobody_up() -> None:
    line, server = SendQueue(), Limited(retry_after=0.1)
    async with asyncio.timeout(DEADLINE):
        tasks = [asyncio.create_task(line.send(n, server.send(str(n)))) for n in range(5)]
        await asyncio.sleep(0.02)
        for task in tasks[:4]:
            task.cancel()
        assert await tasks[4] == "4"
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_who_comes_after_everybody_comes_when_it_is_calm() -> None:
    line, server = SendQueue(), Limited()
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(line.send(3, server.send(name)))
        while line.is_free:  # noqa: ASYNC110 - until the first was told to wait
            await asyncio.sleep(0)
        await line.wait_until_calm()
        assert sorted(server.sent) == ["a", "b", "c"]


@pytest.mark.parametrize("retry_after", [None, 61.0])
async def test_a_trouble_of_another_kind_and_a_long_wait_are_left_to_others(
    retry_after: float | None,
) -> None:
    line = SendQueue()
    with pytest.raises(Unavailable):
        await line.send(0, Limited(retry_after=retry_after).send("x"))
    assert line.is_free


async def test_nobody_waits_for_ever() -> None:
    always = Limited(free=-10_000, retry_after=0.02)
    with pytest.raises(Unavailable):
        await SendQueue().send(0, always.send("x"), WaitBounds(altogether=0.1))
