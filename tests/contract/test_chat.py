"""What every chat promises, run against the fake and every real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.core.choices import Verb, Word
from bot.core.errors import Unavailable
from bot.core.events import Commanded, FromPeople, Pressed, Said
from bot.core.people import Thread
from tests.beds.synapse import People
from tests.contract.matrix_room import MatrixRoom, matrix_room
from tests.contract.rooms import ConsoleRoom, MemoryRoom, Room
from tests.contract.slack_room import SlackRoom, slack_room
from tests.fakes import cards
from tests.fakes.chat import MemoryChat

ROOT_SAYS = "Take payments by card"


class Desk:
    """Takes what is delivered: each event once, as the real one does."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[tuple[Thread, FromPeople]] = asyncio.Queue()
        self.refuses = 0
        self._taken: set[str] = set()

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        if event.id in self._taken:
            return True
        if self.refuses:
            self.refuses -= 1
            raise Unavailable("No space left on device.")
        self._taken.add(event.id)
        self.heard.put_nowait((thread, event))
        return True

    async def next(self) -> tuple[Thread, FromPeople]:
        async with asyncio.timeout(120):
            return await self.heard.get()


@pytest.fixture(params=["memory", "console", "slack", "matrix", "encrypted"])
def room(request: pytest.FixtureRequest) -> Room:
    return request.getfixturevalue(f"{request.param}_room")


@pytest.fixture(name="memory_room")
def _memory_room() -> MemoryRoom:
    return MemoryRoom()


@pytest.fixture(name="console_room")
def _console_room(tmp_path: Path) -> ConsoleRoom:
    return ConsoleRoom(tmp_path)


@pytest.fixture(name="slack_room")
async def _slack_room(tmp_path: Path) -> AsyncIterator[SlackRoom]:
    async with slack_room(tmp_path) as room:
        yield room


@pytest.fixture(name="matrix_room")
async def _matrix_room(people: People, tmp_path: Path) -> AsyncIterator[MatrixRoom]:
    async with matrix_room(people, tmp_path) as room:
        yield room


@pytest.fixture(name="encrypted_room")
async def _encrypted_room(people: People, tmp_path: Path) -> AsyncIterator[MatrixRoom]:
    async with matrix_room(people, tmp_path, encrypted=True) as room:
        yield room


@pytest.fixture(name="desk")
async def _desk(room: Room) -> AsyncIterator[Desk]:
    async with listening(room) as desk:
        yield desk


@asynccontextmanager
async def listening(room: Room) -> AsyncGenerator[Desk, None]:
    desk = Desk()
    task = asyncio.create_task(room.chat.listen(desk.deliver))
    await room.is_heard()
    yield desk
    await room.leave(task)
    async with asyncio.timeout(120):
        await asyncio.wait({task})
    if not task.cancelled():
        task.result()


async def test_what_is_said_is_delivered_with_its_thread_and_person(room: Room, desk: Desk) -> None:
    await room.say("Add a dark mode")
    thread, event = await desk.next()
    assert isinstance(event, Said)
    assert event.text == "Add a dark mode"
    assert event.by == room.person
    assert thread.platform == room.person.platform
    assert event.at.tzinfo is not None


async def test_a_command_is_delivered_as_one(room: Room, desk: Desk) -> None:
    await room.say("status")
    _, event = await desk.next()
    assert isinstance(event, Commanded)
    assert event.command.word is Word.STATUS


@pytest.mark.covers("G-RULE-SCOPE-1")
async def test_one_thread_is_one_conversation(room: Room, desk: Desk) -> None:
    await room.say("Add a dark mode")
    await room.say("and a light one")
    (first, one), (second, two) = await desk.next(), await desk.next()
    assert first == second
    assert isinstance(one, Said)
    assert isinstance(two, Said)
    assert one.id != two.id


async def test_a_press_tells_what_it_is_about(room: Room, desk: Desk) -> None:
    await room.say("Add a dark mode")
    thread, _ = await desk.next()
    await room.chat.show(thread, cards.APPROVAL)
    await room.press_first()
    pressed_in, event = await desk.next()
    assert pressed_in == thread
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.APPROVE, cards.DIGEST)


@pytest.mark.covers("G-RULE-UI-2")
async def test_a_card_shown_twice_stands_there_once(room: Room) -> None:
    for card in (cards.RECEIVED, cards.NEWS, cards.NEWS, cards.RECEIVED):
        await room.chat.show(room.thread, card)
    assert await room.count("They go back to the same agent.") == 1
    assert await room.count("設定は次回の起動時にも保存されること。") == 1


async def test_the_same_key_in_another_thread_is_another_card(room: Room) -> None:
    await room.chat.show(room.thread, cards.NEWS)
    await room.chat.show(room.other_thread, cards.NEWS)
    assert await room.count("They go back to the same agent.") == 2


async def test_what_a_card_says_now_can_be_read(room: Room) -> None:
    await room.chat.show(room.thread, cards.NEWS)
    changed = cards.NEWS.model_copy(update={"lines": ("It is mended.",)})
    await room.chat.show(room.thread, changed)
    await room.chat.show(room.thread, changed)
    assert await room.count("It is mended.") == 1


async def test_a_thread_that_is_opened_is_a_new_one_in_the_same_channel(room: Room) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    assert opened.root
    assert opened.root not in {room.thread.root, room.other_thread.root}
    assert opened.model_copy(update={"root": room.thread.root}) == room.thread
    assert await room.count(ROOT_SAYS) == await room.count_in(opened, ROOT_SAYS) == 1


async def test_what_is_opened_twice_is_one_thread_with_one_root_message(room: Room) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    assert await room.chat.open(room.thread, cards.ROOT) == opened
    # the same card is the same thread, wherever it was opened from
    assert await room.chat.open(room.other_thread, cards.ROOT) == opened
    assert await room.count(ROOT_SAYS) == 1


async def test_another_card_opens_another_thread(room: Room) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    another = cards.ROOT.model_copy(update={"key": "root:another", "request": "Something else"})
    assert await room.chat.open(room.thread, another) != opened


async def test_an_opened_thread_is_known_after_a_restart(room: Room) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    await room.restart()
    assert await room.chat.open(room.thread, cards.ROOT) == opened
    assert await room.count(ROOT_SAYS) == 1


async def test_cards_of_an_opened_thread_stand_in_it(room: Room) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    await room.chat.show(room.thread, cards.ANSWER)
    await room.chat.show(opened, cards.NEWS)
    await room.restart()
    await room.chat.show(opened, cards.NEWS)
    assert await room.count_in(opened, "They go back to the same agent.") == 1
    assert await room.count("They go back to the same agent.") == 1
    assert await room.count_in(opened, "ログイン") == 0


async def test_a_root_message_is_a_card_of_its_thread(room: Room) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    await room.chat.show(opened, cards.ROOT)
    assert await room.count(ROOT_SAYS) == 1
    changed = cards.ROOT.model_copy(update={"request": "It is about payments now."})
    await room.chat.show(opened, changed)
    assert await room.count("It is about payments now.") == 1
    assert await room.chat.open(room.thread, changed) == opened
    assert await room.count("It is about payments now.") == 1


async def test_a_reply_in_an_opened_thread_is_delivered_with_it(room: Room, desk: Desk) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    await room.say_in(opened, "Use the new API")
    thread, event = await desk.next()
    assert thread == opened
    assert isinstance(event, Said)
    assert event.text == "Use the new API"


async def test_a_reply_in_a_thread_opened_before_a_restart_is_delivered_with_it(room: Room) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    await room.restart()
    async with listening(room) as desk:
        await room.say_in(opened, "Use the new API")
        thread, event = await desk.next()
    assert thread == opened
    assert isinstance(event, Said)


@pytest.mark.covers("G-RULE-UI-1")
async def test_every_kind_of_card_can_be_shown_and_whispered(room: Room) -> None:
    for card in cards.EVERY_KIND:
        await room.chat.show(room.thread, card)
        await room.chat.whisper(room.thread, room.person, card)
    assert await room.count("tmux is not installed.") == 2


async def test_a_desk_that_cannot_take_a_word_does_not_end_the_listening(
    room: Room, desk: Desk
) -> None:
    await room.say("first")
    await desk.next()
    desk.refuses = 1
    try:
        await room.say("lost")
    except Unavailable:
        assert isinstance(room, MemoryRoom), "the fake tells the one who said it"
    await room.say("heard")
    heard: set[str] = set()
    while "heard" not in heard or (room.says_again and "lost" not in heard):
        _, event = await desk.next()
        assert isinstance(event, Said)
        heard.add(event.text)
    assert ("lost" in heard) is room.says_again


async def test_listening_can_be_cancelled(room: Room) -> None:
    task = asyncio.create_task(room.chat.listen(Desk().deliver))
    await asyncio.wait({task}, timeout=0.01)
    task.cancel()
    async with asyncio.timeout(120):
        await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()


async def test_a_message_is_edited_where_it_stands() -> None:
    chat = MemoryChat()
    for card in (cards.RECEIVED, cards.NEWS, cards.ANSWER):
        await chat.show(cards.THREAD, card)
    changed = cards.NEWS.model_copy(update={"title": "Changed"})
    await chat.show(cards.THREAD, changed)
    assert chat.cards(cards.THREAD) == [cards.RECEIVED, changed, cards.ANSWER]
    assert [card for _, card in chat.shown][-1] == changed
    assert (chat.calls, len(chat.shown)) == (4, 4)
