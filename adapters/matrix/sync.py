"""Listens to a homeserver: every event of every room, in order, at least once.

The token is saved only after they were accepted. The first start ignores the past; later starts read everything sent
while the bot was away.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import TypeVar
from urllib.parse import urlencode

from aiohttp import ClientResponse
from nio import AsyncClient
from nio.responses import SyncResponse

from adapters.matrix import events as matrix_events
from adapters.matrix.client import Backoff, Json, SignedOut, json_answer, quote_id
from adapters.matrix.crypto.encrypted_rooms import NO_DECRYPTOR, Decryptor
from adapters.matrix.events import EventOrder, MatrixEvent, SyncBatch, Timeline, without_secrets
from adapters.matrix.rooms import RoomMembership, invitation
from adapters.matrix.storage import SyncBookmark
from bot.core.errors import PortError, Refused

log = logging.getLogger(__name__)

T = TypeVar("T")

HandleEvent = Callable[[str, MatrixEvent], Awaitable[None]]
"""Called with a room id and an event, which is accepted when this returns; after Unavailable it is called again."""

_PAGE = 100
"""The most that homeservers return at a time."""
_ALL_STATE_SECONDS = 180
_NOTHING: Json = {"types": []}
_QUIET: Json = {"presence": _NOTHING}
_NO_HISTORY_FILTER: Json = {**_QUIET, "room": {"timeline": {"limit": 0}, "ephemeral": _NOTHING}}
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


class SyncLoop:
    """Listens for one account.

    `poll`: seconds a homeserver without news may hold a request; `grace`: seconds after that until it counts as dead;
    `page`: events of a room requested at a time.
    """

    def __init__(
        self,
        client: AsyncClient,
        rooms: RoomMembership,
        bookmark: SyncBookmark,
        handle_event: HandleEvent,
        *,
        poll: float = 30,
        grace: float = 10,
        page: int = _PAGE,
        backoff: Backoff | None = None,
        decryptor: Decryptor = NO_DECRYPTOR,
        order: EventOrder | None = None,
    ) -> None:
        self._client, self._rooms, self._bookmark, self._on_event = (
            client,
            rooms,
            bookmark,
            handle_event,
        )
        self._decryptor = decryptor
        self._order = order or EventOrder()
        self._poll, self._grace, self._page_size = poll, grace, page
        self._backoff = backoff or Backoff()
        self._from_join: set[str] = set()
        """Rooms whose invitations are older than the bot's first start."""

    async def run(self) -> None:
        """Listen until cancelled. Raises Refused when the homeserver no longer accepts the account."""
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._follow(RoomQueues(tasks, self._commit))
        except ExceptionGroup as group:
            raise group.exceptions[0] from group.exceptions[0].__cause__

    async def _follow(self, queues: RoomQueues) -> None:
        since = self._bookmark.since
        every_state = since is not None
        if since is None:
            started = await self._retry("the first sync", self._first_sync)
            self._from_join = set(started.invites)
            since = started.next_since
            # saved before the bot joins any room: events sent there must be found if the bot dies now
            await self._commit(since)
        else:
            started = await self._retry("looking for invitations", self._open_invites)
        await queues.enqueue(since, self._answers(started))
        while True:
            await self._decryptor.send_pending()
            fetch = partial(self._fetch, since, every_state=every_state)
            news = await self._retry("listening", fetch)
            await queues.enqueue(
                news.next_since, [*self._pending_works(), *self._works(news, since)]
            )
            since, every_state = news.next_since, False

    async def _first_sync(self) -> SyncBatch:
        return await self._sync(_NO_HISTORY_FILTER, _ALL_STATE_SECONDS, full_state="true")

    async def _open_invites(self) -> SyncBatch:
        # A homeserver reports an invitation once; unanswered ones are found by a sync without a token. nio's own sync
        # is not used, because it would take this for the newest state of all rooms.
        call = self._get_sync(_INVITES, _ALL_STATE_SECONDS)
        return matrix_events.read_sync(
            await json_answer("Looking for invitations", call, _ALL_STATE_SECONDS)
        )

    async def _fetch(self, since: str, *, every_state: bool) -> SyncBatch:
        """Return the new events."""
        news = _news_filter(self._page_size)
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

    async def _sync(self, wanted: Json, seconds: float, **query: str) -> SyncBatch:
        # The only place where events come in. Encrypted events are withheld from nio, because one that it cannot
        # decrypt would end the sync.
        told = await json_answer(
            "Listening to Matrix", self._get_sync(wanted, seconds, **query), seconds
        )
        news = matrix_events.read_sync(told)
        await self._decryptor.process_sync(told)
        with _logging_bugs("an answer to a sync"):
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

    def _works(self, news: SyncBatch, since: str) -> Iterator[tuple[str, RoomWork]]:
        for room, timeline in news.timelines.items():
            yield room, partial(self._handle_timeline, room, timeline, since)
        yield from self._answers(news)

    def _answers(self, news: SyncBatch) -> Iterator[tuple[str, RoomWork]]:
        for room, shown in news.invites.items():
            yield room, partial(self._answer, room, shown)

    async def _answer(self, room: str, shown: tuple[MatrixEvent, ...]) -> None:
        with _logging_bugs("an invitation"):
            invited = invitation(room, shown, self._client.user_id)
            await self._retry("an invitation", partial(self._rooms.answer_invitation, invited))

    async def _handle_timeline(self, room: str, timeline: Timeline, since: str) -> None:
        events = await self._complete(room, timeline, since)
        self._order.record(events)
        for event in events:
            await self._handle_event(room, event)
            with _logging_bugs("a change of a room", event):
                noticing = partial(self._rooms.handle_event, room, event)
                await self._retry("a change of a room", noticing)

    async def _handle_event(self, room: str, event: MatrixEvent) -> None:
        with _logging_bugs("an event", event):
            opening = partial(self._decryptor.decrypt, room, event)
            clear = await self._retry("opening an event", opening)
            if clear is None:
                return  # unreadable, or waiting for its key
            await self._retry("taking an event", partial(self._on_event, room, clear))
        self._decryptor.mark_handled(event)

    def _pending_works(self) -> Iterator[tuple[str, RoomWork]]:
        for room, event in self._decryptor.pending_events():
            yield room, partial(self._handle_event, room, event)

    async def _complete(self, room: str, timeline: Timeline, since: str) -> list[MatrixEvent]:
        async def page(start: str, end: str) -> tuple[list[MatrixEvent], str]:
            read = partial(self._page, room, start, end)
            return await self._retry("reading what was missed", read)

        try:
            from_join = room in self._from_join
            return await complete_timeline(
                timeline, since, self._client.user_id, page, from_join=from_join
            )
        except SignedOut:
            raise
        except Refused as error:
            # The bot may no longer read there; what it has received is all it will ever get.
            log.warning(
                "events were missed", extra={"data": {"room": room, "reason": error.reason}}
            )
            return list(timeline.events)

    async def _page(self, room: str, start: str, end: str) -> tuple[list[MatrixEvent], str]:
        # Not through nio, which would decrypt events and stop at one that it cannot decrypt.
        wanted = {"from": start, "dir": "b", "limit": str(self._page_size)} | (
            {"to": end} if end else {}
        )
        told = await json_answer(
            "Reading what was missed", self._get(f"rooms/{quote_id(room)}/messages", wanted)
        )
        before = told.get("end")
        return list(matrix_events.get_objects(told.get("chunk"))), before if isinstance(
            before, str
        ) else ""

    async def _retry(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        return await self._backoff.retry(what, call)

    async def _commit(self, token: str) -> None:
        async def move() -> None:
            await asyncio.to_thread(self._bookmark.advance, token)

        await self._retry("keeping the place", move)


@contextmanager
def _logging_bugs(what: str, event: MatrixEvent | None = None) -> Generator[None]:
    # Any bug is only logged: somebody may have provoked it, and the event would come again at every start.
    try:
        yield
    except PortError:
        raise
    except Exception:
        named = event or {}
        data = {"what": what, "event": named.get("event_id"), "type": named.get("type")}
        log.exception("something was let go", extra={"data": data})


def _news_filter(page: int) -> Json:
    # Typing notices and read receipts are left out, so that they do not wake the bot.
    timeline = {"limit": page}
    room = {"timeline": timeline, "ephemeral": _NOTHING, "account_data": _NOTHING}
    return {**_QUIET, "room": room}


# Events that a sync response left out of a room: read backwards until nothing is missing, then handled in order. For a
# newly joined room a homeserver returns much older messages; for the bot a room begins with its invitation, so that
# messages sent with it are read, and none before.

MAX_PAGES = 200
"""Earlier events are skipped: a room may be flooded for days, and memory is limited."""
FetchEvents = Callable[[str, str], Awaitable[tuple[list[MatrixEvent], str]]]
"""Returns the events before one token and after another (empty: no limit), newest first, and the token to continue from
(empty: none).
"""


async def complete_timeline(
    timeline: Timeline, since: str, me: str, page: FetchEvents, *, from_join: bool = False
) -> list[MatrixEvent]:
    """Return everything new since the last time, oldest first. `from_join`: a room begins when the bot joins it."""
    events, place, pages = list(timeline.events), timeline.before, 0
    while place and pages < MAX_PAGES:
        pages += 1
        beginning = _beginning(events, me, from_join=from_join)
        if beginning is not None and beginning >= 0:
            break
        # once the room turns out to be new, the invitation is looked for, which may be older than the last sync
        more, further = await page(place, since if beginning is None else "")
        events[:0] = reversed(more)
        place = further if more and further != place else ""
    if pages == MAX_PAGES and place:
        log.warning("more was said than is read again", extra={"data": {"events": len(events)}})
    return events[max(_beginning(events, me, from_join=from_join) or 0, 0) :]


def _beginning(events: Sequence[MatrixEvent], me: str, *, from_join: bool) -> int | None:
    """Return the index where the room begins for the bot; None if it was a member all the time, -1 if it is further
    back.
    """
    entered = next(
        (
            place
            for place in _own_memberships(events, me, "join")
            if _membership_before(events[place]) != "join"
        ),
        None,
    )
    if entered is None or from_join or _membership_before(events[entered]) != "invite":
        return entered
    return next((place for place in _own_memberships(events[:entered], me, "invite")), -1)


def _own_memberships(events: Sequence[MatrixEvent], me: str, membership: str) -> list[int]:
    """Return the indexes of events that gave the bot this membership, newest first."""
    return [
        place
        for place, event in reversed(list(enumerate(events)))
        if event.get("type") == "m.room.member"
        and event.get("state_key") == me
        and event.get("content", {}).get("membership") == membership
    ]


def _membership_before(event: MatrixEvent) -> str | None:
    """Return the membership before the event."""
    unsigned = event.get("unsigned", {})
    return (unsigned.get("prev_content") or event.get("prev_content") or {}).get("membership")


# A queue per room: events of a room are handled in order, rooms in parallel. A sync response is done when all its
# events are; only then, and in order, is its token committed.

RoomWork = Callable[[], Awaitable[None]]
CommitToken = Callable[[str], Awaitable[None]]

_MAX_UNDER_WAY = 200
"""Above this number nothing new is fetched: the homeserver can keep more events than memory can."""


class RoomQueues:
    def __init__(self, tasks: asyncio.TaskGroup, commit: CommitToken) -> None:
        self._tasks, self._commit = tasks, commit
        self._last: dict[str, asyncio.Task[None]] = {}
        """The last task of each queue that is not empty."""
        self._committing: asyncio.Task[None] | None = None
        self._running = 0
        self._has_room = asyncio.Event()

    async def enqueue(self, token: str, works: Iterable[tuple[str, RoomWork]]) -> None:
        """Start the work of each room; return at once unless too much is under way."""
        while self._running >= _MAX_UNDER_WAY:
            self._has_room.clear()
            await self._has_room.wait()
        begun = [self._begin(room, work) for room, work in works]
        self._committing = self._tasks.create_task(self._finish(self._committing, begun, token))

    def _begin(self, room: str, work: RoomWork) -> asyncio.Task[None]:
        self._running += 1
        task = self._tasks.create_task(self._follow(self._last.get(room), work))
        self._last[room] = task
        task.add_done_callback(lambda done: self._ended(room, done))
        return task

    async def _follow(self, before: asyncio.Task[None] | None, work: RoomWork) -> None:
        if before:
            await before
        await work()

    async def _finish(
        self, before: asyncio.Task[None] | None, begun: list[asyncio.Task[None]], token: str
    ) -> None:
        if before:
            await before
        for task in begun:
            await task
        await self._commit(token)

    def _ended(self, room: str, task: asyncio.Task[None]) -> None:
        if self._last.get(room) is task:
            del self._last[room]
        self._running -= 1
        self._has_room.set()
