"""Windows over Slack that only whoever pressed sees: opened at once, filled when the answer comes, forgotten when closed.

What opens one is good for three seconds, and once; the answer may take longer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.access import asking
from adapters.chat.slack.calling import Denied, asked
from adapters.chat.slack.drawing.limits import Block
from adapters.chat.slack.drawing.window import Page, pages, window
from bot.domain.cards import Card
from bot.domain.layout import sheet
from bot.domain.sheets import Sheet, Text
from bot.errors import PortError

log = logging.getLogger("bot.slack")

MOST = 200
"""So many are remembered; the oldest are forgotten first."""
_OPENING = 10.0
_WAITING = Sheet(title="One moment", body=(Text(text="I am looking it up."),))
_FORGOTTEN = Sheet(
    title="Out of date", body=(Text(text="Please close this window and ask again."),)
)


@dataclass
class _Window:
    opening: asyncio.Task[str]
    """Its id; empty: Slack did not open it."""
    metadata: str
    laid: Sheet = _WAITING
    pages: Sequence[Page] = field(default_factory=list[Page])
    filled: bool = False
    closed: bool = False


class Windows:
    """`event`: the id of the press that asked for what the window shows; cards that answer it have it in their keys."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._windows: dict[str, _Window] = {}

    def open(self, event: str, trigger: str, metadata: str = "") -> None:
        """Returns at once. Opened twice for one press, it is one window."""
        if event in self._windows:
            return
        opening = asyncio.create_task(self._open(trigger, metadata), name="slack: a window")
        self._windows[event] = _Window(opening, metadata)
        while len(self._windows) > MOST:
            self._windows.pop(next(iter(self._windows))).opening.cancel()

    async def fill(self, card: Card) -> bool:
        """False: there is no window for it, and it must be said elsewhere."""
        found = self._for(card.key)
        return found is not None and await self._show(found, sheet(card))

    async def settle(self, event: str, told: str) -> None:
        """Where nothing else was said in it, this is."""
        found = self._windows.get(event)
        if found and not found.filled:
            await self._show(found, Sheet(title=told))

    async def leaf(self, view: str, number: int) -> None:
        """Show another page."""
        found = next((one for one in self._windows.values() if _id_of(one) == view), None)
        if found is None or not found.pages:
            await self._update(view, window(_FORGOTTEN, pages(_FORGOTTEN), 0))
        else:
            shown = window(found.laid, found.pages, number, found.metadata)
            await self._update(view, shown)

    def closed(self, view: str) -> None:
        """What was in it is forgotten; what was to come is not wanted."""
        for one in self._windows.values():
            if _id_of(one) == view:
                one.closed, one.pages, one.laid = True, (), _WAITING

    async def close(self) -> None:
        """Nothing is opened any more."""
        openings = [one.opening for one in self._windows.values()]
        self._windows.clear()
        for opening in openings:
            opening.cancel()
        await asyncio.gather(*openings, return_exceptions=True)

    def _for(self, key: str) -> _Window | None:
        """`answer:<event>`, or `told:<event>:<digest>`."""
        named = key.partition(":")[2]
        return self._windows.get(named) or self._windows.get(named.rpartition(":")[0])

    async def _show(self, found: _Window, laid: Sheet) -> bool:
        view = await _opened(found)
        if not view or found.closed:
            return found.closed
        found.laid, found.pages, found.filled = laid, pages(laid), True
        last = len(found.pages) - 1
        return await self._update(view, window(laid, found.pages, last, found.metadata))

    async def _open(self, trigger: str, metadata: str) -> str:
        view = window(_WAITING, pages(_WAITING), 0, metadata)
        try:
            with asking("opening a window"):
                answer = await self._client.views_open(trigger_id=trigger, view=view)
        except PortError as problem:
            # later is too late: then it is said elsewhere
            log.warning("a window was not opened", extra={"data": {"reason": problem.reason}})
            return ""
        return str((answer.get("view") or {}).get("id", ""))

    async def _update(self, view: str, shown: Block) -> bool:
        """False: it is not there any more."""
        try:
            await asked(
                "filling a window", lambda: self._client.views_update(view_id=view, view=shown)
            )
        except Denied as refusal:
            if refusal.code != "not_found":
                raise
            return False
        return True


async def _opened(one: _Window) -> str:
    try:
        async with asyncio.timeout(_OPENING):
            return await asyncio.shield(one.opening)
    except TimeoutError:
        return ""


def _id_of(one: _Window) -> str:
    done = one.opening.done() and not one.opening.cancelled() and not one.opening.exception()
    return one.opening.result() if done else ""
