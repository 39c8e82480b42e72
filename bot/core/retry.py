"""The only place that waits and retries: after 1, 2, 4, 8, 16 seconds, then every minute, and never before a time that
the server names.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from bot.core.errors import Unavailable
from bot.core.events import Event, TroubleBegan, TroubleEnded
from bot.core.world import World
from bot.os_errors import as_unavailable, permission_error

T = TypeVar("T")
LONGEST_PAUSE = 60.0
LONGEST_REQUESTED_WAIT = 3600.0
"""Longest wait in seconds that a server may ask for."""


def retry_pauses() -> Iterator[float]:
    yield from (1.0, 2.0, 4.0, 8.0, 16.0)
    while True:
        yield LONGEST_PAUSE


async def with_retries(
    world: World,
    attempt: Callable[[], Awaitable[T]],
    tell: Callable[[Event], None],
    *,
    order: str,
    quiet: bool,
) -> T:
    """Return the attempt's result, however long it takes.

    `quiet`: nobody is told (the chat itself may be the problem).
    """
    told = False
    for pause in retry_pauses():
        try:
            result = await _attempt_once(attempt)
        except Unavailable as trouble:
            if not (told or quiet):
                told = True
                tell(_trouble_event(world, order, trouble))
            await world.clock.sleep(
                max(pause, min(trouble.retry_after or 0, LONGEST_REQUESTED_WAIT))
            )
        else:
            if told:
                tell(TroubleEnded(**world.mark(), order=order))
            return result
    raise AssertionError("pauses never end")


async def a_few_times(
    attempt: Callable[[], Awaitable[T]],
    sleep: Callable[[float], Awaitable[object]],
    tries: int,
) -> T:
    """Return the attempt's result, for a command that somebody waits for.

    Raises Unavailable after so many tries, or at once if the server wants to be left alone for as long as LONGEST_PAUSE.
    """
    for number, pause in enumerate(retry_pauses(), 1):
        try:
            return await attempt()
        except Unavailable as trouble:
            wait = max(pause, trouble.retry_after or 0)
            if number >= tries or wait >= LONGEST_PAUSE:
                raise
        await sleep(wait)
    raise AssertionError("pauses never end")


async def _attempt_once(attempt: Callable[[], Awaitable[T]]) -> T:
    # A full disk or a missing permission can occur wherever something is written: it is no bug.
    try:
        return await attempt()
    except OSError as error:
        if trouble := as_unavailable(error) or permission_error(error):
            raise trouble from error
        raise


def _trouble_event(world: World, order: str, trouble: Unavailable) -> TroubleBegan:
    return TroubleBegan(**world.mark(), order=order, reason=trouble.reason, remedy=trouble.remedy)
