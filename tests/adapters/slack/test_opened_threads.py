"""What people say in a thread that the bot has begun reaches the desk as said in exactly that thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.slack.chat import SlackChat
from adapters.slack.client import SlackAccess
from bot.core.choices import Choice, Verb, Word
from bot.core.events import Commanded, Pressed, Said
from bot.core.people import Thread
from tests.adapters.slack.way_in import QUICK, Desk
from tests.beds.slack import AKI, APP_TOKEN, BOT_TOKEN, MIKA, PUBLIC, TEAM, SlackBed, invariants
from tests.fakes import cards

PATIENCE = 30
ASKING = cards.ANSWER.model_copy(
    update={"key": "root:1", "choices": (Choice(label="Stop it", verb=Verb.STOP, about="s1"),)}
)


@dataclass
class Stage:
    bed: SlackBed
    folder: Path
    desk: Desk

    def chat(self) -> SlackChat:
        access = SlackAccess(bot_token=BOT_TOKEN, app_token=APP_TOKEN, api_url=self.bed.api_url)
        places = [f"{TEAM}:{PUBLIC}", f"{TEAM}:dm"]
        return SlackChat(access, self.folder, places, rhythm=QUICK, shared=places)

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[SlackChat, None]:
        async with self.chat() as chat:
            task = asyncio.create_task(chat.listen(self.desk.deliver))
            await self.bed.connected(seconds=PATIENCE)
            try:
                yield chat
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def heard(self, text: str) -> Thread:
        """The thread in which it was said."""
        await self.bed.until(lambda: text in self.desk.texts, PATIENCE)
        found = [thread for thread, event in self.desk.taken.values() if _text(event) == text]
        (thread,) = found
        return thread


def _text(event: object) -> str:
    return getattr(event, "text", "")


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage, None]:
    async with SlackBed() as bed:
        yield Stage(bed, tmp_path, Desk())
        # what is said while nobody listens is given up by Slack
        invariants.check(bed, roots={PUBLIC, bed.dm(MIKA)}, unacked=True)


async def asked(stage: Stage, channel: str = PUBLIC) -> Thread:
    await stage.bed.mention(MIKA, channel, "Build a web shop")
    return await stage.heard("Build a web shop")


async def test_replies_mentions_and_stop_words_are_of_the_opened_thread(stage: Stage) -> None:
    async with stage.listening() as chat:
        thread = await asked(stage)
        opened = await chat.open(thread, cards.ROOT)
        await stage.bed.reply(MIKA, PUBLIC, opened.root, "Use the new API")
        await stage.bed.mention(AKI, PUBLIC, "and the old one", opened.root)
        await stage.bed.reply(AKI, PUBLIC, opened.root, "stop")
        assert await stage.heard("Use the new API") == opened
        assert await stage.heard("and the old one") == opened
        await stage.bed.until(lambda: len(stage.desk.taken) == 4, PATIENCE)
        where, event = list(stage.desk.taken.values())[-1]
        assert where == opened
        assert isinstance(event, Commanded)
        assert event.command.word is Word.STOP
        kinds = [(one.mention, one.by.id) for one in stage.desk.events if isinstance(one, Said)]
        assert kinds[1:] == [(False, f"{TEAM}:{MIKA}"), (True, f"{TEAM}:{AKI}")]


async def test_slacks_own_stop_in_an_opened_thread_is_of_that_thread(stage: Stage) -> None:
    async with stage.listening() as chat:
        opened = await chat.open(await asked(stage), cards.ROOT)
        await chat.show(opened, cards.RECEIVED)
        await stage.bed.until(
            lambda: stage.bed.session_status(PUBLIC, opened.root) == "processing", PATIENCE
        )
        await stage.bed.native_stop(MIKA, PUBLIC, opened.root)
        await stage.bed.until(lambda: len(stage.desk.taken) == 2, PATIENCE)
        assert list(stage.desk.taken.values())[-1][0] == opened


async def test_alone_with_somebody_replies_are_of_the_opened_thread(stage: Stage) -> None:
    async with stage.listening() as chat:
        dm = stage.bed.dm(MIKA)
        await stage.bed.say(MIKA, dm, "Build a web shop")
        thread = await stage.heard("Build a web shop")
        opened = await chat.open(thread, cards.ROOT)
        await stage.bed.reply(MIKA, dm, opened.root, "Use the new API")
        assert await stage.heard("Use the new API") == opened
        assert opened.direct


async def test_a_button_on_a_root_message_is_of_its_thread_before_and_after_replies(
    stage: Stage,
) -> None:
    async with stage.listening() as chat:
        opened = await chat.open(await asked(stage), ASKING)
        await stage.bed.click(MIKA, opened.root, "Stop it")
        await stage.bed.reply(MIKA, PUBLIC, opened.root, "Please")
        await stage.bed.click(AKI, opened.root, "Stop it")
        await stage.bed.until(lambda: len(stage.desk.taken) == 4, PATIENCE)
        pressed = [
            (thread, event.about)
            for thread, event in stage.desk.taken.values()
            if isinstance(event, Pressed)
        ]
        assert pressed == [(opened, "s1")] * 2


async def test_what_is_said_in_an_opened_thread_while_nobody_listens_is_heard_later(
    stage: Stage,
) -> None:
    async with stage.listening() as chat:
        opened = await chat.open(await asked(stage), cards.ROOT)
    await stage.bed.reply(MIKA, PUBLIC, opened.root, "Use the new API")
    async with stage.listening():
        assert await stage.heard("Use the new API") == opened


async def test_what_was_said_before_a_card_stood_there_is_heard_as_that_whenever_it_comes(
    stage: Stage,
) -> None:
    """By the order of the messages in Slack: the clock of this machine says nothing of it."""
    async with stage.listening() as chat:
        root = await asked(stage)
        await chat.show(root, cards.ANSWER)
    await stage.bed.reply(AKI, PUBLIC, root.root, "approve")
    async with stage.chat() as chat:
        await chat.show(root, cards.APPROVAL)
    async with stage.listening():
        await stage.heard("approve")
        await stage.bed.reply(AKI, PUBLIC, root.root, "approved")
        await stage.heard("approved")
    said = [event for event in stage.desk.events if isinstance(event, Said)]
    assert [event.unseen for event in said[1:]] == [("approval:1",), ()]
