"""All of the bot's Slack at work in a played one, before a desk that takes what is brought and answers as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.slack.chat import SlackChat
from bot.core.cards import AnswerCard, HomeCard
from bot.core.choices import Choice, Style, Verb
from bot.core.events import FromPeople
from bot.core.people import Person, Thread
from bot.core.sheets import Entry
from tests.adapters.slack.way_in import QUICK, Desk, access_to
from tests.beds.slack import MIKA, PUBLIC, TEAM, SlackBed
from tests.fakes import cards

DEADLINE = 30.0
HOME = Thread(platform="slack", workspace=TEAM, channel="", root="")
SESSION = "1a2b3c4d-0000-4000-8000-000000000000"
THREAD = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root="1794988193.000100")
Answer = Callable[[Thread, FromPeople], Awaitable[object]]


class TalkingDesk(Desk):
    """Says something to whoever comes, before it has taken what they bring."""

    answer: Answer | None = None
    banned: Collection[str] = ()
    """People who may do nothing, by full id."""

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        if event.by.id in self.banned:
            self.calls.append(event)
            return False
        taken = await super().deliver(thread, event)
        if self.answer and taken:
            await self.answer(thread, event)
        return taken


@dataclass
class Whole:
    bed: SlackBed
    chat: SlackChat
    desk: TalkingDesk

    def reads(self, user: str = MIKA) -> str:
        """Their home tab."""
        view = self.bed.home(user)
        return view.reads if view else ""

    async def shows(self, word: str, user: str = MIKA) -> None:
        await self.bed.until(lambda: word in self.reads(user), DEADLINE)

    async def visit(self, card: HomeCard, user: str = MIKA) -> None:
        await self.chat.whisper(HOME, person(user), card)

    async def taken(self, count: int) -> list[tuple[Thread, FromPeople]]:
        await self.bed.until(lambda: len(self.desk.taken) >= count, DEADLINE)
        await self.bed.all_acked(DEADLINE)
        assert len(self.desk.taken) == count, self.desk.events
        return list(self.desk.taken.values())


@asynccontextmanager
async def whole(bed: SlackBed, folder: Path) -> AsyncGenerator[Whole, None]:
    desk = TalkingDesk()
    async with SlackChat(
        access_to(bed), folder, [f"{TEAM}:{PUBLIC}"], shared=[f"{TEAM}:{PUBLIC}"], rhythm=QUICK
    ) as chat:
        listening = asyncio.create_task(chat.listen(desk.deliver))
        try:
            await bed.until(lambda: "connected since" in str(chat.health.facts()), DEADLINE)
            yield Whole(bed, chat, desk)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


def person(user: str) -> Person:
    return Person(platform="slack", id=f"{TEAM}:{user}", name=user)


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
    return Entry(title=title, facts=(id[:8], "3 of 5 done"), thread=THREAD, choices=choices)


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
