"""The bot's Slack, whole, in a played workspace: it can be ended, killed and started again on one folder.

Nothing of its inside is known here: what people do goes in through the bed, what the bot wants goes in through the chat
port, and what comes of it is read at the desk and in the bed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapters.posting import WriteTurns
from adapters.slack.chat import SlackChat
from adapters.slack.client import SlackAccess
from adapters.slack.connection import SocketTiming
from bot.core.cards import AnswerCard, Card, DocumentCard, HomeCard, NewsCard
from bot.core.choices import Choice, Style, Verb
from bot.core.errors import Unavailable
from bot.core.events import FromPeople
from bot.core.people import Person, Thread
from bot.core.sheets import Entry
from tests.beds.slack import (
    APP_TOKEN,
    BOT_TOKEN,
    MIKA,
    PUBLIC,
    SECOND,
    SIGNING_SECRET,
    TEAM,
    Grants,
    Message,
    SlackBed,
)
from tests.fakes import cards

DEADLINE = 120.0
POST, UPDATE, REPLIES = "chat.postMessage", "chat.update", "conversations.replies"
QUICK = SocketTiming(ping=0.3, look=0.02, dead_url=0.1, rebuild=30, keep_alive=30, gap=30)
DEAF = replace(Grants.of_manifest(), events=frozenset({"agent_session_stopped"}))
"""Nothing that is said is told to the bot: for tests in which nobody listens."""
HOME = Thread(platform="slack", workspace=TEAM, channel="", root="")
SESSION = "1a2b3c4d-0000-4000-8000-000000000000"
ELSEWHERE = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root="1794988193.000100")
CHANGED = cards.NEWS.model_copy(update={"lines": ("It is mended.",)})
LATER = cards.STATUS.model_copy(update={"at": cards.AT.replace(hour=13)})
LATEST = cards.STATUS.model_copy(update={"at": cards.AT.replace(hour=14)})
Taken = tuple[Thread, FromPeople]


class Desk:
    """Takes each event once, as the real one does; `calls` counts every time one was brought."""

    def __init__(self) -> None:
        self.taken: dict[str, Taken] = {}
        self.calls: list[FromPeople] = []
        self.fails: list[Exception] = []
        """Raised one by one, instead of taking."""
        self.lets = True
        self.banned: Collection[str] = ()
        """People who may do nothing, by full id."""
        self.gate: asyncio.Event | None = None
        """Whoever is brought waits here."""
        self.answer: Callable[[Thread, FromPeople], Awaitable[object]] | None = None
        """Said before what was brought counts as taken."""

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        self.calls.append(event)
        if self.gate:
            await self.gate.wait()
        if self.fails:
            raise self.fails.pop(0)
        if not self.lets or event.by.id in self.banned:
            return False
        self.taken.setdefault(event.id, (thread, event))
        if self.answer:
            await self.answer(thread, event)
        return True

    def full(self, times: int = 1) -> None:
        self.fails += [Unavailable("No space left on device.") for _ in range(times)]

    @property
    def events(self) -> list[FromPeople]:
        return [event for _, event in self.taken.values()]

    @property
    def texts(self) -> list[str]:
        return [getattr(event, "text", "") for event in self.events]


def members(thread: Thread, person: Person) -> bool:
    """Of the workspace: its guests and people from elsewhere are none."""
    return not person.outsider


class Bot:
    """`options` are those of SlackChat; `wish` those of its access."""

    chat: SlackChat

    def __init__(self, bed: SlackBed, folder: Path, **options: Any) -> None:
        self.bed, self.folder = bed, folder
        self.desk = Desk()
        self.clock = 0.0
        self.running = False
        self.began = 0
        """How many calls there were before this start."""
        self.access = SlackAccess(
            bot_token=BOT_TOKEN,
            app_token=APP_TOKEN,
            signing_secret=SIGNING_SECRET,
            port=0,
            api_url=bed.api_url,
        )
        channels = [f"{TEAM}:{PUBLIC}", f"{TEAM}:{SECOND}"]
        self.options: dict[str, Any] = {
            "places": [channels[0], f"{TEAM}:dm"],
            "shared": channels,
            "rhythm": QUICK,
            "turns": WriteTurns(),
            "between_edits": 0,
            "may_ask": members,
            "now": lambda: self.clock,
        } | options
        self.listening: asyncio.Task[None] | None = None

    async def start(self, *, hears: bool = True) -> SlackChat:
        """The program begins: nothing is remembered but what is in the folder."""
        await self.end()
        self.began = len(self.bed.calls)
        self.chat = SlackChat(self.access, self.folder, **self.options)
        await self.chat.__aenter__()
        self.running = True
        if hears:
            self.listen()
            await self.bed.until(
                lambda: "connected since" in str(self.chat.health.facts()), DEADLINE
            )
        return self.chat

    def listen(self) -> asyncio.Task[None]:
        self.listening = asyncio.create_task(self.chat.listen(self.desk.deliver))
        return self.listening

    async def deafen(self) -> None:
        if self.listening:
            self.listening.cancel()
            await asyncio.gather(self.listening, return_exceptions=True)
            self.listening = None

    async def end(self) -> None:
        if self.running:
            self.running = False
            await self.deafen()
            await self.chat.__aexit__(None, None, None)

    async def restart(self, *, hears: bool | None = None) -> SlackChat:
        hears = self.listening is not None if hears is None else hears
        return await self.start(hears=hears)

    async def dies(self, calls: int, *, done: bool, doing: Callable[[], Awaitable[object]]) -> bool:
        """Kill the bot in the middle of doing something: in the call after so many, before or after Slack has `done` what
        it asks for. False: it was through before."""
        faults = self.bed.faults
        faults.hang(calls, done=done)
        task = asyncio.ensure_future(doing())
        hangs = asyncio.create_task(faults.hanging.wait())
        await asyncio.wait({task, hangs}, return_when=asyncio.FIRST_COMPLETED, timeout=DEADLINE)
        died = faults.hanging.is_set()
        for one in (task, hangs):
            one.cancel()
        await asyncio.gather(task, hangs, return_exceptions=True)
        faults.hang(None)
        if died:
            await self.restart()
        else:
            task.result()
        return died

    async def taken(self, count: int) -> list[Taken]:
        """So many events, as soon as they have been taken; no more than that."""
        await self.bed.until(lambda: len(self.desk.taken) >= count, DEADLINE)
        await self.bed.until(lambda: all(one.over.is_set() for one in self.bed.deliveries))
        assert len(self.desk.taken) == count, self.desk.events
        return list(self.desk.taken.values())

    async def one(self) -> Taken:
        return (await self.taken(1))[0]

    async def ask(self, channel: str = PUBLIC) -> Thread:
        """Somebody mentions the bot: a thread begins."""
        root = await self.bed.mention(MIKA, channel, "Add a dark mode")
        return Thread(platform="slack", workspace=TEAM, channel=channel, root=root.ts)

    async def shown(self, card: Card) -> tuple[Thread, str]:
        """A card in a thread that Mika began, of which nobody has taken note. Its message, too."""
        root = await self.bed.say(MIKA, PUBLIC, "What stands here is for nobody.")
        thread = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=root.ts)
        await self.chat.show(thread, card)
        if self.listening:
            await self.bed.all_acked(DEADLINE)
        return thread, self.cards(thread)[-1].ts

    def cards(self, thread: Thread) -> list[Message]:
        """What the bot has said in a thread, from top to bottom, files left out."""
        said = self.bed.thread(thread.channel, thread.root)
        return [one for one in said if one.by_our_bot and not one.files]

    def reads(self, thread: Thread) -> list[str]:
        return [one.reads for one in self.cards(thread)]

    def roots(self, channel: str = PUBLIC) -> list[Message]:
        """What the bot has said in the channel itself."""
        return [one for one in self.bed.messages(channel) if one.by_our_bot and not one.thread]

    def files(self, thread: Thread) -> list[str]:
        """The names of the files that stand in the thread."""
        return [file.name for file in self.bed.files if file.thread == thread.root]

    def count(self, method: str) -> int:
        return len(self.bed.called(method))

    def calls(self) -> int:
        """How many there were, but for those with which each start begins."""
        began = ("auth.test", "apps.connections.open")
        return sum(one.method not in began for one in self.bed.calls)

    def home(self, user: str = MIKA) -> str:
        """What their home tab says."""
        view = self.bed.home(user)
        return view.reads if view else ""

    async def shows(self, word: str, user: str = MIKA) -> None:
        """Wait until their home tab says it."""
        await self.bed.until(lambda: word in self.home(user), DEADLINE)

    async def visit(self, card: HomeCard, user: str = MIKA) -> None:
        await self.chat.whisper(HOME, person(user), card)


@asynccontextmanager
async def bot_in(
    folder: Path,
    *,
    grants: Grants | None = None,
    hears: bool = True,
    bed: SlackBed | None = None,
    **options: Any,
) -> AsyncGenerator[Bot]:
    """At work, in a bed of its own if there is none yet. At the end nothing may be wrong in the played Slack."""
    async with bed or SlackBed(grants=grants) as played:
        bot = Bot(played, folder, **options)
        await bot.start(hears=hears)
        try:
            yield bot
        finally:
            await bot.end()


def person(user: str = MIKA) -> Person:
    return Person(platform="slack", id=f"{TEAM}:{user}", name=user)


def news(text: str) -> NewsCard:
    return NewsCard(key=text, title=text)


def document(parts: int, key: str = "document") -> DocumentCard:
    """One that is shown in so many messages."""
    text = "\n\n".join(f"# Part {n}\n\n{'利用者は切り替えられる. ' * 500}" for n in range(parts))
    return cards.DOCUMENT.model_copy(update={"key": key, "text": text})


def answer(event: FromPeople, title: str, *body: object) -> AnswerCard:
    return AnswerCard.model_validate({"key": f"answer:{event.id}", "title": title, "body": body})


def session(title: str, *verbs: Verb, id: str = SESSION) -> Entry:
    """One that can be looked at, and something done about it."""
    choices = tuple(
        Choice(
            label=verb.capitalize(),
            verb=verb,
            about=id,
            style=Style.DANGER if verb is Verb.DISCARD else Style.NORMAL,
            confirm="Discard this session?" if verb is Verb.DISCARD else "",
        )
        for verb in verbs
    )
    return Entry(title=title, facts=(id[:8], "3 of 5 done"), thread=ELSEWHERE, choices=choices)


PAGE = HomeCard(
    key="home",
    health=(("Model", "qwen3 at http://127.0.0.1:1/v1"), ("tmux", "2 panes")),
    waiting=(session("Dark mode", Verb.RESUME, Verb.DISCARD),),
    running=(session("Payments", Verb.STOP),),
    recent=(session("Receipts"),),
    branches=("agent/dark-mode · T001 Running · 1a2b3c4d",),
    settings=(
        ("Endpoint", "http://127.0.0.1:1/v1"),
        ("Model", "qwen3"),
        ("Key", "SET"),
        ("Repository", "shop"),
    ),
    choices=(
        Choice(label="Start a feature", verb=Verb.BEGIN, style=Style.PRIMARY),
        Choice(label="Model and endpoint", verb=Verb.SETTINGS),
    ),
    at=cards.AT,
)


def actions(message: Message) -> list[tuple[str, str]]:
    """The buttons of a message, by what Slack tells of a press on them."""
    return [
        (element["action_id"], element["value"])
        for block in message.blocks
        if block["type"] == "actions"
        for element in block["elements"]
    ]
