"""A way to the chat's server on which the bot meets its end: before a request is carried out, after it, or a moment later."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from enum import StrEnum

from aiohttp import web

from tests.beds.synapse import Proxy
from tests.stories.serving import PATIENCE

MOMENTS = (0.0, 0.002, 0.005, 0.01, 0.03)
"""Seconds."""
HARDLY = 0.5
"""Seconds in which the one who asked may have read the answer, or not yet."""


class When(StrEnum):
    BEFORE = "before"
    """It was never carried out."""
    AFTER = "after"
    """It was, and the answer never came."""
    SOON = "soon"
    """The answer came, and hardly anything could be made of it."""


class FatalWay(Proxy):
    """Counts requests; those that hold `unless` in their path are passed on and not counted."""

    def __init__(self, server: str, unless: str = "\n") -> None:
        super().__init__(server)
        self._unless = unless
        self.only = ""
        """Other requests are not counted either."""
        self._used = asyncio.Event()
        self._left = 0
        self._when = When.BEFORE
        self._die: Callable[[], None] = lambda: None
        self._chance = random.Random(0)  # noqa: S311 - the same moments in every run
        self.over = True
        """The one it waited for has met its end. Nothing is passed on until somebody else is waited for."""
        self.ends: list[str] = []
        """When and at what it ended, each time."""
        self.torn: list[str] = []
        """Of which requests it hardly knew the end when it died."""
        self._under_way: list[str] = []
        self._soon: asyncio.TimerHandle | None = None

    def wait_for(self, number: int, when: When, die: Callable[[], None]) -> None:
        """Whoever makes that many requests from now on dies of the last."""
        self.spare()
        self._used.clear()
        self._left, self._when, self._die = number, when, die

    async def is_used(self) -> None:
        """Whoever was started has come so far: how long that takes differs with the machine."""
        await asyncio.wait_for(self._used.wait(), PATIENCE)

    def spare(self) -> None:
        """Nobody dies any more."""
        self._left, self.over = 0, False
        if self._soon:
            self._soon.cancel()

    def end(self, how: str = "at some time") -> None:
        """Whoever is on this way dies now."""
        if not self.over:
            self.over = True
            self.ends.append(how)
            self.torn += self._under_way
            self._die()

    async def _pass(self, request: web.Request) -> web.StreamResponse:
        if self.over:
            return _cut(request)
        self._used.set()
        self._under_way.append(request.path)
        try:
            return await self._pass_or_die(request)
        finally:
            loop = asyncio.get_running_loop()
            loop.call_later(HARDLY, self._under_way.remove, request.path)

    async def _pass_or_die(self, request: web.Request) -> web.StreamResponse:
        if self.only in request.path_qs and self._unless not in request.path_qs:
            self._left -= 1
            if self._left == 0:
                return await self._last(request)
        return await super()._pass(request)

    async def _last(self, request: web.Request) -> web.StreamResponse:
        if self._when is When.BEFORE:
            self.end(self._how(request))
            return _cut(request)
        answer = await super()._pass(request)
        if self._when is When.AFTER:
            self.end(self._how(request))
            return _cut(request)
        loop = asyncio.get_running_loop()
        self._soon = loop.call_later(self._chance.choice(MOMENTS), self.end, self._how(request))
        return answer

    def _how(self, request: web.Request) -> str:
        return f"{self._when} {request.method} {request.path}"


def _cut(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=503)
