"""A blocking call in a thread of its own. Its rule: nobody waits for it longer than they want to, not even at the end.

The threads of `asyncio.to_thread` are waited for when the program ends; a server that trickles would keep it alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def aside(work: Callable[[], T], *, seconds: float) -> T:
    """What it returns or raises; TimeoutError after so long, while the call itself may still go on."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[T] = loop.create_future()
    threading.Thread(target=_call, args=(work, loop, told), name="github", daemon=True).start()
    async with asyncio.timeout(seconds):
        return await told


def _call(work: Callable[[], T], loop: asyncio.AbstractEventLoop, told: asyncio.Future[T]) -> None:
    try:
        value = work()
    except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
        _tell(loop, lambda error=error: told.done() or told.set_exception(error))
    else:
        _tell(loop, lambda: told.done() or told.set_result(value))


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[[], object]) -> None:
    # the loop may have ended meanwhile: then nobody wants to know
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(what)
