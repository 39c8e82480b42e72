"""The way in from the played Slack to a desk that writes down what it takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.access import Identity, SharedChannels, WorkspaceMembers
from adapters.slack.client import SlackAccess, new_client, session_for
from adapters.slack.connection import ChannelMarks, SocketMode, SocketTiming
from adapters.slack.files import Attachments, FetchAttachments
from adapters.slack.incoming import FormRequests, OpenThread, SlackReceiver
from adapters.slack.payloads import PayloadContext, QuestionsOf
from adapters.slack.views import PersonalViews
from bot.core.cards import Card
from bot.core.errors import Unavailable
from bot.core.events import FromPeople
from bot.core.intent import Question
from bot.core.people import Person, Thread
from bot.ports import MayAsk
from tests.beds.slack import (
    APP_TOKEN,
    BOT,
    BOT_ID,
    BOT_TOKEN,
    PUBLIC,
    SIGNING_SECRET,
    TEAM,
    SlackBed,
)

US = Identity(team=TEAM, user=BOT, bot=BOT_ID, name="gwt")
QUICK = SocketTiming(ping=0.3, look=0.02, dead_url=0.1, rebuild=30, keep_alive=30, gap=30)
Taken = tuple[Thread, FromPeople]


class Desk:
    """Takes each event once, as the real one does; `calls` counts every time one was brought."""

    def __init__(self) -> None:
        self.taken: dict[str, Taken] = {}
        self.calls: list[FromPeople] = []
        self.fails: list[Exception] = []
        """Raised one by one, instead of taking."""
        self.lets = True
        self.gate: asyncio.Event | None = None
        """Whoever is brought waits here."""

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        self.calls.append(event)
        if self.gate:
            await self.gate.wait()
        if self.fails:
            raise self.fails.pop(0)
        if self.lets:
            self.taken.setdefault(event.id, (thread, event))
        return self.lets

    def full(self, times: int = 1) -> None:
        self.fails += [Unavailable("No space left on device.") for _ in range(times)]

    @property
    def events(self) -> list[FromPeople]:
        return [event for _, event in self.taken.values()]

    @property
    def texts(self) -> list[str]:
        return [getattr(event, "text", "") for event in self.events]

    def by(self) -> Person:
        return self.events[-1].by


@dataclass
class WayIn:
    bed: SlackBed
    client: AsyncWebClient
    people: WorkspaceMembers
    reception: SlackReceiver
    desk: Desk
    screens: PersonalViews

    async def taken(self, count: int) -> list[Taken]:
        """So many events, as soon as they have been taken; no more than that."""
        await self.bed.until(lambda: len(self.desk.taken) >= count, 30)
        await self.bed.until(lambda: all(one.over.is_set() for one in self.bed.deliveries), 30)
        assert len(self.desk.taken) == count, self.desk.events
        return list(self.desk.taken.values())

    async def one(self) -> Taken:
        return (await self.taken(1))[0]

    async def post(self, thread: str, text: str, blocks: list[dict[str, Any]]) -> str:
        """The bot writes into a thread of the public channel."""
        client: Any = self.client
        posted = await client.chat_postMessage(
            channel=PUBLIC, thread_ts=thread, text=text, blocks=blocks
        )
        return str(posted["ts"])


def access_to(bed: SlackBed, bot_token: str = BOT_TOKEN, app_token: str = APP_TOKEN) -> SlackAccess:
    return SlackAccess(
        bot_token=bot_token,
        app_token=app_token,
        signing_secret=SIGNING_SECRET,
        port=0,
        api_url=bed.api_url,
    )


@asynccontextmanager
async def calls_to(
    bed: SlackBed, bot_token: str = BOT_TOKEN
) -> AsyncGenerator[AsyncWebClient, None]:
    access = access_to(bed, bot_token)
    async with session_for(access) as session:
        yield new_client(access, session)


def none_asked(thread: Thread, key: str) -> Sequence[Question]:
    return ()


def members(thread: Thread, person: Person) -> bool:
    """Of the workspace: its guests and people from elsewhere are none."""
    return not person.outsider


async def _nowhere(thread: Thread, card: Card) -> Thread:
    raise AssertionError("no thread is begun here")


@asynccontextmanager
async def way_in(
    bed: SlackBed,
    desk: Desk | None = None,
    *,
    seen: ChannelMarks | None = None,
    questions: QuestionsOf = none_asked,
    talked: Callable[[Thread], None] = lambda thread: None,
    open_: OpenThread = _nowhere,
    channels: tuple[str, ...] = (),
    shared: Collection[str] = (f"{TEAM}:{PUBLIC}",),
    brings: Callable[
        [AsyncWebClient, WorkspaceMembers], Sequence[FetchAttachments]
    ] = lambda client, people: (),
    may_ask: MayAsk = members,
    notice: float = 30,
) -> AsyncGenerator[WayIn, None]:
    """All but the line: what comes in by it is taken."""
    desk = desk or Desk()
    async with calls_to(bed) as client:
        people = WorkspaceMembers(client, TEAM, monotonic=monotonic)
        screens = PersonalViews(client, notice=notice)
        reception = SlackReceiver(
            access_to(bed),
            client,
            US,
            people,
            desk.deliver,
            now=lambda: datetime.now(UTC),
            screens=screens,
            wishes=FormRequests(open_, desk.deliver),
            seen=seen,
            shared=SharedChannels(shared),
            known=PayloadContext(questions, screens.home.settings, channels=channels),
            talked=talked,
            brought=Attachments(brings(client, people), may_ask),
        )
        yield WayIn(bed, client, people, reception, desk, screens)
        await reception.close()
        await screens.close()


@asynccontextmanager
async def listening(
    way: WayIn, rhythm: SocketTiming = QUICK, on_gap: Callable[[float], None] = lambda since: None
) -> AsyncGenerator[asyncio.Task[None], None]:
    """With a socket that is open."""
    socket = SocketMode(
        way.client,
        APP_TOKEN,
        way.reception.app,
        on_gap=on_gap,
        rhythm=rhythm,
        health=way.screens.health,
    )
    task = asyncio.create_task(socket.listen())
    try:
        await way.bed.connected(seconds=30)
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
