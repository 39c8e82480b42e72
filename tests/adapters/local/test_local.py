"""The local socket: for its owner alone, bounded against everybody, and another seat at the same conversation."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from pydantic import JsonValue

from adapters.local import server
from adapters.local.chat import LocalChat
from adapters.local.client import BotConnection, connect_to_bot
from adapters.local.handshake import (
    VERSION,
    Welcome,
    ask_bot,
    listening_socket,
    socket_path,
)
from adapters.local.server import MOST_PEERS, serve_socket
from bot.core.cards import Card
from bot.core.choices import Command, Word
from bot.core.console import ThreadStanding
from bot.core.errors import Refused, Unavailable
from bot.core.events import Commanded, FromPeople, Pressed, Said, Visited
from bot.core.people import Person, Thread
from tests.fakes import cards

ME = Person(platform="console", id="local:1", name="Mika")
THREAD = Thread(platform="console", channel="terminal", root="1")
REST = b'{"ask": "rest", "id": 1, "thread": {"platform": "console", "channel": "c", "root": "1"}}\n'
T0 = datetime(2026, 1, 2, tzinfo=UTC)
WELCOME = Welcome(gwt_bot=VERSION, version="1.2.3", pid=42, repository="/srv/shop")


class Seen:
    """Somebody who looks on, and writes down what is seen."""

    def __init__(self) -> None:
        self.cards: list[Card] = []
        self.whispers: list[Card] = []
        self.turned: list[Thread] = []
        self.news = asyncio.Event()

    async def show(self, thread: Thread, card: Card) -> None:
        self.cards.append(card)
        self.news.set()

    async def open(self, thread: Thread, card: Card) -> Thread:
        await self.show(thread, card)
        return thread

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        self.whispers.append(card)
        self.news.set()

    async def turn_to(self, thread: Thread) -> None:
        self.turned.append(thread)
        self.news.set()

    async def sees(self) -> None:
        async with asyncio.timeout(120):
            await self.news.wait()
        self.news.clear()


class Bot:
    """What stands behind the door in these tests."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.chat = LocalChat(home, ME)
        self.heard: list[tuple[Thread, FromPeople]] = []
        self.problem: Exception | None = None
        self.resting = asyncio.Event()
        self.sessions: list[JsonValue] = ["status"]

    async def take(self, thread: Thread, event: FromPeople) -> bool:
        if self.problem:
            raise self.problem
        self.heard.append((thread, event))
        return True

    async def rest(self, thread: Thread) -> ThreadStanding:
        await self.resting.wait()
        return ThreadStanding(session="1a2b", waits_for=("Shall I build it?",))

    async def greet(self, thread: Thread, person: Person) -> None:
        await self.chat.whisper(thread, person, cards.NEWS)

    async def page_address(self, session: str, port: int) -> str:
        return f"http://127.0.0.1:{port or 1}/#code={session}"

    async def tell(self, about: str, of: str) -> JsonValue:
        if of:
            raise Refused(f"There is no session {of}.")
        return self.sessions


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    bot = Bot(tmp_path)
    listening = asyncio.create_task(bot.chat.listen(bot.take))
    async with serve_socket(tmp_path, bot.chat, bot, WELCOME):
        yield bot
    listening.cancel()


@asynccontextmanager
async def at(bot: Bot) -> AsyncGenerator[BotConnection]:
    async with asyncio.timeout(120), connect_to_bot(bot.home, ME) as there:
        assert there
        yield there


def said(text: str = "hello", by: Person = ME) -> Said:
    return Said(id=f"e-{text}", at=T0, by=by, text=text)


async def raw(bot: Bot, *lines: bytes) -> bytes:
    """All that the door answers to these bytes, until it closes or has said hello."""
    reader, writer = await asyncio.open_unix_connection(str(socket_path(bot.home)))
    for line in lines:
        writer.write(line)
    try:
        async with asyncio.timeout(120):
            return await reader.read() if len(lines) > 1 else await reader.readline()
    except ConnectionError:
        return b""  # it was closed while we still wrote
    finally:
        writer.close()


async def test_the_socket_is_its_owners_alone_and_goes_with_the_bot(tmp_path: Path) -> None:
    bot = Bot(tmp_path)
    async with serve_socket(tmp_path, bot.chat, bot, WELCOME):
        assert socket_path(tmp_path).stat().st_mode & 0o777 == 0o600
    assert not socket_path(tmp_path).exists()


async def test_a_path_that_is_too_long_for_a_socket_works_all_the_same(tmp_path: Path) -> None:
    bot = Bot(tmp_path / ("long" * 30))
    bot.home.mkdir()
    async with serve_socket(bot.home, bot.chat, bot, WELCOME), at(bot) as there:
        assert await there.tell("status") == ["status"]


async def test_what_a_killed_bot_left_behind_is_in_nobodys_way(tmp_path: Path) -> None:
    listening_socket(tmp_path).close()
    async with connect_to_bot(tmp_path, ME) as nobody:
        assert nobody is None
    bot = Bot(tmp_path)
    async with serve_socket(tmp_path, bot.chat, bot, WELCOME), at(bot) as there:
        assert there.welcome == WELCOME


def test_the_kernel_says_who_is_there_and_another_user_is_not_the_owner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = socket.socketpair()
    with one, other:
        assert server.is_owner(one)
        monkeypatch.setattr("os.getuid", lambda: 12_345)
        assert not server.is_owner(one)


async def test_who_is_not_the_owner_is_shown_out_without_a_word(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 12_345)
    assert await raw(bot, b'{"gwt_bot": 4}\n') == b""
    assert bot.heard == []


CALLS = """
import socket, sys
with socket.socket(socket.AF_UNIX) as calling:
    calling.connect(sys.argv[1])
    try:
        calling.sendall(b'{"gwt_bot": 4}\\n')
        print(calling.recv(100).decode(), end="")
    except ConnectionError:
        pass
"""


BECOMES = """
import os, socket, sys
os.chdir(os.path.dirname(sys.argv[1]))
os.setgroups([])
os.setuid(int(sys.argv[2]))
sys.argv[1] = os.path.basename(sys.argv[1])
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become somebody else")
@pytest.mark.parametrize("uid", [0, 65_534])
async def test_another_user_is_shown_out_even_where_every_door_stands_open(
    bot: Bot, uid: int
) -> None:
    """What somebody else's umask or chmod has opened: the kernel still says who is there."""
    bot.home.chmod(0o755)
    socket_path(bot.home).chmod(0o666)
    calling = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", BECOMES + CALLS, str(socket_path(bot.home)), str(uid)),
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await calling.communicate()
    assert calling.returncode == 0, "it has come as far as the door"
    assert bool(said) is (uid == 0)
    assert bot.heard == []


@pytest.mark.parametrize("environ", [{}, {"GWT_SPOOL": "/home/x/.gwt/spool/r1"}])
async def test_what_an_agent_starts_is_shown_out(bot: Bot, environ: dict[str, str]) -> None:
    calling = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CALLS, str(socket_path(bot.home))),
        env=environ,
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await calling.communicate()
    assert bool(said) is not bool(environ)


async def test_what_a_child_of_an_agent_starts_is_shown_out_too(bot: Bot) -> None:
    """It may have put the agent's mark away."""
    starts = "import subprocess, sys; subprocess.run(sys.argv[1:], env={})"
    calling = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", starts, sys.executable, "-c", CALLS, str(socket_path(bot.home))),
        env={"GWT_SPOOL": "/home/x/.gwt/spool/r1"},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await calling.communicate()
    assert said == b""


def test_who_is_gone_already_could_be_an_agent(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        calls = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        subprocess.run([sys.executable, "-c", calls, str(tmp_path / "s")], check=True)
        connection, _ = listening.accept()
        with connection:
            assert server.is_owner(connection)
            assert server.is_agent(connection)


async def test_who_speaks_counts_as_the_owner_here_and_now_whatever_is_said(bot: Bot) -> None:
    mallory = Person(platform="slack", id="T1/U1", name="Mallory")
    there_in_slack = Thread(platform="slack", workspace="T1", channel="C1", root="1", direct=True)
    async with at(bot) as there:
        assert await there.deliver(there_in_slack, said(by=mallory))
    thread, event = bot.heard[0]
    assert (thread.platform, thread.workspace, thread.direct) == ("console", "", False)
    assert event.by == ME
    assert event.at > T0


async def test_what_is_refused_behind_the_door_is_told_with_its_remedy(bot: Bot) -> None:
    async with at(bot) as there:
        bot.problem = Unavailable("The disk is full.", "Free some space.")
        with pytest.raises(Unavailable, match="disk is full") as told:
            await there.deliver(THREAD, said())
        assert told.value.remedy == "Free some space."
        with pytest.raises(Refused, match="no session 9"):
            await there.tell("session", "9")
        assert await there.tell("status") == ["status"], "and it goes on"


async def test_an_answer_may_be_longer_than_any_request(bot: Bot) -> None:
    """Twenty thousand sessions are five megabytes."""
    bot.sessions = [{"id": str(number), "title": "x" * 200} for number in range(20_000)]
    async with at(bot) as there:
        assert await there.tell("sessions") == bot.sessions
        assert await there.deliver(THREAD, said())


async def test_only_what_people_say_press_and_command_is_taken(bot: Bot) -> None:
    async with at(bot) as there:
        assert not await there.deliver(THREAD, Visited(id="v", at=T0, by=ME))
    assert bot.heard == []


async def test_a_stop_is_heard_while_another_request_still_waits(bot: Bot) -> None:
    async with at(bot) as there:
        waiting = asyncio.create_task(there.rest(THREAD))
        stop = Commanded(id="s", at=T0, by=ME, command=Command(word=Word.STOP))
        assert await there.deliver(THREAD, stop)
        assert not waiting.done()
        bot.resting.set()
        assert (await waiting).waits_for == ("Shall I build it?",)


async def test_every_seat_sees_the_cards_and_who_comes_later_is_shown_what_stands_there(
    bot: Bot,
) -> None:
    first, second, late = Seen(), Seen(), Seen()
    async with at(bot) as one, at(bot) as two, at(bot) as three:
        await one.subscribe(first, THREAD, earlier=False)
        await two.subscribe(second, THREAD, earlier=False)
        await bot.chat.show(THREAD, cards.APPROVAL)
        await first.sees()
        await second.sees()
        await three.subscribe(late, THREAD)
        assert first.cards == second.cards == late.cards == [cards.APPROVAL]
        assert late.whispers == [cards.NEWS]
        assert first.whispers == []


async def test_an_answer_is_for_the_one_who_asked(bot: Bot) -> None:
    asker, other = Seen(), Seen()
    async with at(bot) as one, at(bot) as two:
        await one.subscribe(asker, THREAD, earlier=False)
        await two.subscribe(other, THREAD, earlier=False)
        await one.deliver(THREAD, said("status"))
        answer = cards.ANSWER.model_copy(update={"key": "answer:e-status"})
        await bot.chat.whisper(THREAD, ME, answer)
        await asker.sees()
        await bot.chat.show(THREAD, cards.NEWS)
        await other.sees()
    assert (asker.whispers, other.whispers) == ([answer], [])


async def test_what_was_answered_or_is_for_somebody_else_is_not_shown_to_who_comes(
    bot: Bot,
) -> None:
    late = Seen()
    stranger = ME.model_copy(update={"id": "local:2"})
    await bot.chat.show(THREAD, cards.ANSWER.model_copy(update={"key": "answer:e-1"}))
    async with at(bot) as there:
        await there.subscribe(late, THREAD)
        await late.sees()
        await bot.chat.whisper(THREAD, stranger, cards.ANSWER)
        await bot.chat.show(THREAD, cards.APPROVAL)
        await late.sees()
    assert (late.cards, late.whispers) == ([cards.APPROVAL], [cards.NEWS])


async def test_a_restart_forgets_no_card(tmp_path: Path) -> None:
    await LocalChat(tmp_path, ME).show(THREAD, cards.APPROVAL)
    await LocalChat(tmp_path, ME).show(THREAD, cards.APPROVAL)
    seen = Seen()
    await LocalChat(tmp_path, ME).catch_up(seen)
    assert seen.cards == [cards.APPROVAL]
    assert (tmp_path / "console" / "board.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "lines",
    [
        (b"\x00\xff nothing\n", b""),
        (b'{"gwt_bot": 99}\n', b""),
        (b'{"gwt_bot": 4}\n', b"{}\n"),
        (b'{"gwt_bot": 4}\n', b'{"ask": "deliver", "id": 1, "thread": 3}\n'),
        (b'{"gwt_bot": 4}\n', REST * 65),
        (b'{"gwt_bot": 4}\n', b"[" * 100_000 + b"\n"),
        (b'{"gwt_bot": 4}\n', b"x" * (5 * 1024 * 1024)),
    ],
    ids=["bytes", "version", "no request", "half a request", "too many", "nested", "without end"],
)
async def test_bad_peers_are_let_go_and_the_bot_goes_on(bot: Bot, lines: tuple[bytes, ...]) -> None:
    for line in (await raw(bot, *lines)).splitlines():
        assert json.loads(line)
    async with at(bot) as there:
        assert await there.tell("status") == ["status"]


async def test_no_more_than_a_number_come_in(bot: Bot) -> None:
    path = str(socket_path(bot.home))
    opened = [await asyncio.open_unix_connection(path) for _ in range(MOST_PEERS)]
    for reader, writer in opened:
        writer.write(b'{"gwt_bot": 4}\n')
        assert await reader.readline()
    assert await raw(bot, b'{"gwt_bot": 4}\n') == b""
    for _, writer in opened:
        writer.close()


async def test_when_the_bot_ends_who_waits_is_told(tmp_path: Path) -> None:
    bot = Bot(tmp_path)
    async with joined_to(bot) as (there, end):
        waiting = asyncio.create_task(there.rest(THREAD))
        assert await there.tell("status") == ["status"]
        await end()
        with pytest.raises(Unavailable, match="The bot has ended"):
            await waiting
        assert there.gone.is_set()


@pytest.mark.parametrize("turns", range(5))
async def test_ended_while_it_opens_it_leaves_nothing(tmp_path: Path, turns: int) -> None:
    bot = Bot(tmp_path)

    async def opened() -> None:
        async with serve_socket(bot.home, bot.chat, bot, WELCOME):
            await asyncio.Event().wait()

    files = psutil.Process().num_fds
    before = files()
    opening = asyncio.create_task(opened())
    for _ in range(turns):
        await asyncio.sleep(0)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    assert opening.cancelled()
    assert files() == before
    assert not socket_path(bot.home).exists()


@asynccontextmanager
async def joined_to(
    bot: Bot,
) -> AsyncGenerator[tuple[BotConnection, Callable[[], Awaitable[None]]]]:
    door = serve_socket(bot.home, bot.chat, bot, WELCOME)
    await door.__aenter__()
    async with at(bot) as there:

        async def end() -> None:
            await door.__aexit__(None, None, None)

        yield there, end


def test_presses_travel_whole() -> None:
    press = Pressed.model_validate(
        {"id": "p", "at": T0, "by": ME, "verb": "answer", "answers": {1: "JWT"}}
    )
    assert Pressed.model_validate_json(press.model_dump_json()) == press


async def test_a_command_that_only_looks_is_told_what_the_bot_knows(
    bot: Bot, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert await ask_bot(bot.home, "status") == (["status"], WELCOME.pid)
    with pytest.raises(Refused, match="There is no session 9"):
        await ask_bot(bot.home, "session", "9")
    assert await ask_bot(tmp_path_factory.mktemp("home"), "status") is None


async def test_a_bot_that_ends_before_it_answers_is_told_as_that(tmp_path: Path) -> None:
    async def ends(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(WELCOME.model_dump_json().encode() + b"\n")
        await reader.readline()
        writer.close()

    async with await asyncio.start_unix_server(ends, sock=listening_socket(tmp_path)):
        with pytest.raises(Unavailable, match="The bot has ended"):
            await ask_bot(tmp_path, "status")
