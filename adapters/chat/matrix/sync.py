"""Listening to a homeserver: every event of every room, in order, at least once; the token moves after it was taken.

The very first time nothing of the past is heard. Later everything is that was said while the bot was away.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import TypeVar
from urllib.parse import urlencode

from aiohttp import ClientResponse
from nio import AsyncClient
from nio.responses import SyncResponse

from adapters.chat.matrix import batch, missed
from adapters.chat.matrix.answers import Json, SignedOut, ask
from adapters.chat.matrix.batch import Batch, Event, Order, Timeline, without_secrets
from adapters.chat.matrix.crypto.unseal import OPEN, Unseal
from adapters.chat.matrix.crypto.wire import quoted
from adapters.chat.matrix.lanes import Lanes, Work
from adapters.chat.matrix.patience import Patience
from adapters.chat.matrix.rooms import Rooms, invitation
from adapters.chat.matrix.state import Bookmark
from bot.errors import PortError, Refused

log = logging.getLogger(__name__)

T = TypeVar("T")

Hear = Callable[[str, Event], Awaitable[None]]
"""A room id and an event. When it returns, the event was taken; Unavailable: it is given again, and again."""

_PAGE = 100
"""Homeservers give no more at a time."""
_ALL_STATE_SECONDS = 180
_NOTHING: Json = {"types": []}
_QUIET: Json = {"presence": _NOTHING}
_NO_PAST: Json = {**_QUIET, "room": {"timeline": {"limit": 0}, "ephemeral": _NOTHING}}
_INVITES: Json = {
    **_QUIET,
    "account_data": _NOTHING,
    "room": {
        "timeline": {"limit": 0},
        "state": {"limit": 0, **_NOTHING},
        "ephemeral": _NOTHING,
        "account_data": _NOTHING,
    },
}


class Sync:
    """One account, from now on.

    `poll`: for how many seconds a homeserver without news may keep a request; so much `grace` later it counts as dead.
    `page`: how many events of a room are asked for at a time.
    """

    def __init__(
        self,
        client: AsyncClient,
        rooms: Rooms,
        bookmark: Bookmark,
        hear: Hear,
        *,
        poll: float = 30,
        grace: float = 10,
        page: int = _PAGE,
        patience: Patience | None = None,
        unseal: Unseal = OPEN,
        order: Order | None = None,
    ) -> None:
        self._client, self._rooms, self._bookmark, self._hear = client, rooms, bookmark, hear
        self._unseal = unseal
        self._order = order or Order()
        self._poll, self._grace, self._size = poll, grace, page
        self._patience = patience or Patience()
        self._from_join: set[str] = set()
        """Rooms whose invitations are older than the bot's first start."""

    async def run(self) -> None:
        """Until cancelled. Raises Refused when the homeserver does not want the account any more."""
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._follow(Lanes(tasks, self._commit))
        except ExceptionGroup as group:
            raise group.exceptions[0] from group.exceptions[0].__cause__

    async def _follow(self, lanes: Lanes) -> None:
        since = self._bookmark.since
        every_state = since is not None
        if since is None:
            started = await self._patiently("the first sync", self._begin)
            self._from_join = set(started.invites)
            since = started.next_since
            # before the bot comes anywhere: what is said to it there must be found if it dies now
            await self._commit(since)
        else:
            started = await self._patiently("looking for invitations", self._open_invites)
        await lanes.put(since, self._answers(started))
        while True:
            await self._unseal.keep_up()
            fetch = partial(self._fetch, since, every_state=every_state)
            news = await self._patiently("listening", fetch)
            await lanes.put(news.next_since, [*self._waited_for(), *self._works(news, since)])
            since, every_state = news.next_since, False

    async def _begin(self) -> Batch:
        return await self._sync(_NO_PAST, _ALL_STATE_SECONDS, full_state="true")

    async def _open_invites(self) -> Batch:
        """A homeserver tells of an invitation once. Those that were not answered then are found without a token.

        Not through nio's sync, which would take this for the newest state of all rooms.
        """
        call = self._get_sync(_INVITES, _ALL_STATE_SECONDS)
        return batch.read(await ask("Looking for invitations", call, _ALL_STATE_SECONDS))

    async def _fetch(self, since: str, *, every_state: bool) -> Batch:
        """What is new."""
        news = _news(self._size)
        try:
            if every_state:
                seconds = _ALL_STATE_SECONDS
                return await self._sync(news, seconds, since=since, full_state="true")
            wait = str(int(self._poll * 1000))
            return await self._sync(news, self._poll + self._grace, since=since, timeout=wait)
        except SignedOut:
            raise
        except Refused as error:
            remedy = f"Remove {self._bookmark.path} to begin anew; what was said meanwhile is then not heard."
            raise Refused(error.reason, remedy) from error

    async def _sync(self, wanted: Json, seconds: float, **query: str) -> Batch:
        """The one place where events come in. What only keys can open goes by nio: what it cannot read ends it."""
        told = await ask("Listening to Matrix", self._get_sync(wanted, seconds, **query), seconds)
        news = batch.read(told)
        await self._unseal.took(told)
        with _others_go_on("an answer to a sync"):
            answer = SyncResponse.from_dict(deepcopy(without_secrets(told)))
            if isinstance(answer, SyncResponse):
                await self._client.receive_response(answer)
        return news

    def _get_sync(self, wanted: Json, seconds: float, **query: str) -> Awaitable[ClientResponse]:
        return self._get("sync", {"filter": json.dumps(wanted), **query}, seconds)

    def _get(self, path: str, query: Json, seconds: float = 0) -> Awaitable[ClientResponse]:
        url = f"/_matrix/client/v3/{path}?{urlencode(query)}"
        headers = {"Authorization": f"Bearer {self._client.access_token}"}
        return self._client.send("GET", url, headers=headers, timeout=seconds or None)

    def _works(self, news: Batch, since: str) -> Iterator[tuple[str, Work]]:
        for room, timeline in news.timelines.items():
            yield room, partial(self._tell, room, timeline, since)
        yield from self._answers(news)

    def _answers(self, news: Batch) -> Iterator[tuple[str, Work]]:
        for room, shown in news.invites.items():
            yield room, partial(self._answer, room, shown)

    async def _answer(self, room: str, shown: tuple[Event, ...]) -> None:
        with _others_go_on("an invitation"):
            invited = invitation(room, shown, self._client.user_id)
            await self._patiently("an invitation", partial(self._rooms.answer, invited))

    async def _tell(self, room: str, timeline: Timeline, since: str) -> None:
        events = await self._complete(room, timeline, since)
        self._order.note(events)
        for event in events:
            await self._tell_one(room, event)
            with _others_go_on("a change of a room", event):
                noticing = partial(self._rooms.notice, room, event)
                await self._patiently("a change of a room", noticing)

    async def _tell_one(self, room: str, event: Event) -> None:
        with _others_go_on("an event", event):
            opening = partial(self._unseal.open, room, event)
            clear = await self._patiently("opening an event", opening)
            if clear is None:
                return  # or it waits for its key
            await self._patiently("taking an event", partial(self._hear, room, clear))
        self._unseal.heard(event)

    def _waited_for(self) -> Iterator[tuple[str, Work]]:
        for room, event in self._unseal.due():
            yield room, partial(self._tell_one, room, event)

    async def _complete(self, room: str, timeline: Timeline, since: str) -> list[Event]:
        async def page(start: str, end: str) -> tuple[list[Event], str]:
            read = partial(self._page, room, start, end)
            return await self._patiently("reading what was missed", read)

        try:
            from_join = room in self._from_join
            return await missed.told(
                timeline, since, self._client.user_id, page, from_join=from_join
            )
        except SignedOut:
            raise
        except Refused as error:
            # The bot may not read there any more: what it was shown is all it will ever get.
            log.warning(
                "events were missed", extra={"data": {"room": room, "reason": error.reason}}
            )
            return list(timeline.events)

    async def _page(self, room: str, start: str, end: str) -> tuple[list[Event], str]:
        """Not by a call of nio, which would open what is encrypted, and end at what it cannot."""
        wanted = {"from": start, "dir": "b", "limit": str(self._size)} | (
            {"to": end} if end else {}
        )
        told = await ask(
            "Reading what was missed", self._get(f"rooms/{quoted(room)}/messages", wanted)
        )
        before = told.get("end")
        return list(batch.objects(told.get("chunk"))), before if isinstance(before, str) else ""

    async def _patiently(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        return await self._patience.until_done(what, call)

    async def _commit(self, token: str) -> None:
        async def move() -> None:
            await asyncio.to_thread(self._bookmark.move, token)

        await self._patiently("keeping the place", move)


@contextmanager
def _others_go_on(what: str, event: Event | None = None) -> Generator[None]:
    """Whatever is wrong with one of them. Somebody may have made it so, and it would come again at every start."""
    try:
        yield
    except PortError:
        raise
    except Exception:
        named = event or {}
        data = {"what": what, "event": named.get("event_id"), "type": named.get("type")}
        log.exception("something was let go", extra={"data": data})


def _news(page: int) -> Json:
    """What is wanted of a room: nobody's typing or reading wakes the bot."""
    timeline = {"limit": page}
    room = {"timeline": timeline, "ephemeral": _NOTHING, "account_data": _NOTHING}
    return {**_QUIET, "room": room}
