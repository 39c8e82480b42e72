"""The real program on a homeserver that goes, limits, loses answers or throws it out: it goes on, or ends with a clear word."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.demo.texts import REQUEST
from tests.beds.synapse import Homeserver, People, Person, Proxy
from tests.stories.matrix_person import MatrixPerson
from tests.stories.program import last_words, program
from tests.stories.serving import Serving, in_matrix, serving

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
CHANGE = "Name the cents in the receipt, please."
DEFAULTS = "✅ Use all defaults"


@dataclass
class Scene:
    """Anna in a room with the bot at work."""

    anna: MatrixPerson
    account: Person
    bot: Serving

    def another(self) -> MatrixPerson:
        """She begins another thread."""
        return MatrixPerson(self.anna.person, self.anna.bot, self.anna.room)


@asynccontextmanager
async def at_work(
    folder: Path, url: str, people: People, room: str = ""
) -> AsyncGenerator[Scene, None]:
    mika, account = people("mika"), people("gwt")
    room = room or await mika.create_room()
    async with serving(folder, **in_matrix(url, account.login, room, mika.id)) as bot:
        anna = MatrixPerson(mika, account.id, room)
        bot.start()
        await anna.invites_the_bot()
        yield Scene(anna, account, bot)


def check(scene: Scene, *people: MatrixPerson) -> None:
    """A session for each thread, and every card once; of the status that is kept up to date there is one, too."""
    everybody = people or (scene.anna,)
    begun = [session.thread.root for session in scene.bot.sessions()]
    assert sorted(begun) == sorted(one.root for one in everybody)
    for one in everybody:
        titles = Counter((card.type, card.text.splitlines()[0]) for card in one.cards)
        files = {("m.file", title) for kind, title in titles if kind == "m.file"}
        doubled = [title for title, times in titles.items() if times > 1 and title not in files]
        assert not doubled, titles


async def test_a_homeserver_that_is_started_anew_in_the_middle_changes_nothing(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    async with at_work(tmp_path, homeserver.url, people) as scene:
        anna = scene.anna
        await anna.ask(REQUEST)
        await anna.sees("Got it")
        await asyncio.to_thread(homeserver.restart)
        await anna.clicks(DEFAULTS)
        await asyncio.to_thread(homeserver.restart)
        await anna.sees("revision 1?")
        await asyncio.to_thread(homeserver.restart)
        await anna.reply(CHANGE)
        await anna.sees("revision 2?")
        assert await scene.bot.end() == 0
        check(scene)


async def test_answers_that_are_lost_or_spoilt_on_the_way_make_no_second_card(
    tmp_path: Path, proxy: Proxy, people: People
) -> None:
    async with at_work(tmp_path, proxy.url, people) as scene:
        anna = scene.anna
        # aiohttp itself asks once more for a lost answer
        lost = [proxy.lose(2, where="/send/"), proxy.lose(2, where="/sync")]
        lost += [
            proxy.fail(2, where="/send/m.room.message"),
            proxy.lose(2, where="/send/m.reaction"),
        ]
        await anna.ask(REQUEST)
        await anna.clicks(DEFAULTS)
        lost += [proxy.lose(3, where="/send/m.room.message"), proxy.lose(2, where="/upload")]
        await anna.sees("revision 1?")
        lost += [proxy.lose(2, where="/redact/")]
        await anna.reply(CHANGE)
        await anna.sees("revision 2?")
        assert all(fault.met for fault in lost)
        assert await scene.bot.end() == 0
        check(scene)


async def test_a_way_that_is_closed_for_a_while_is_waited_for(
    tmp_path: Path, proxy: Proxy, people: People
) -> None:
    async with at_work(tmp_path, proxy.url, people) as scene:
        anna = scene.anna
        closed = proxy.fail(status=502)
        await anna.ask(REQUEST)
        await scene.bot.until(lambda: closed.met >= 3)
        seen = len(proxy.seen)
        proxy.heal()
        assert seen < 100, "it asks without a pause"
        await anna.sees("A few questions")
        closed = proxy.fail(status=503)
        await anna.reply("defaults")
        await scene.bot.until(lambda: closed.met >= 3)
        proxy.heal()
        await anna.sees("revision 1?")
        assert await scene.bot.end() == 0
        check(scene)


async def test_three_sessions_in_a_room_wait_for_a_limit_and_keep_their_order(
    tmp_path: Path, proxy: Proxy, people: People
) -> None:
    async with at_work(tmp_path, proxy.url, people) as scene:
        everybody = [scene.another() for _ in range(3)]
        limited = proxy.limit(30, retry_after_ms=50, where="/send/")
        for one in everybody:
            await one.ask(REQUEST)
        for one in everybody:
            await one.clicks(DEFAULTS)
        for one in everybody:
            await one.sees("revision 1?")
        assert limited.met == 30
        assert await scene.bot.end() == 0
        for one in everybody:
            order = [card.text.split(" ")[0] for card in one.cards if card.type != "m.file"]
            wanted = ["Got", "Questions,", "spec.md", "plan.md", "tasks.md", "👉"]
            assert [word for word in order if word != "⏳"] == wanted
        check(scene, *everybody)


async def test_what_was_said_while_it_was_away_is_answered_and_the_past_is_not(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    mika, account = people("mika"), people("gwt")
    room = await people.room(mika, account)
    before = MatrixPerson(mika, account.id, room)
    await before.ask(REQUEST)
    environ = in_matrix(homeserver.url, account.login, room, mika.id)
    async with serving(tmp_path, **environ) as bot:
        bot.start()
        await bot.until(lambda: (bot.home / "matrix" / "sync.json").exists())
        assert await bot.end() == 0
        away = MatrixPerson(mika, account.id, room)
        await away.ask(REQUEST)
        await away.reply("help")
        bot.start()
        await away.sees("A few questions")
        await away.sees("Commands")
        assert await bot.end() == 0
        assert before.cards == []
        check(Scene(away, account, bot))


async def test_an_invitation_by_somebody_who_is_not_allowed_is_declined(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    async with at_work(tmp_path, homeserver.url, people) as scene:
        eve = people("eve")
        trap = await eve.create_room(scene.account.id)
        stranger = MatrixPerson(eve, scene.account.id, trap)
        await scene.bot.until(lambda: "declined" in logged(scene.bot))
        assert (await eve.members(trap))[scene.account.id] == "leave"
        await scene.anna.person.invite(scene.anna.room, eve.id)
        await eve.join(scene.anna.room)
        stranger.room = scene.anna.room
        await stranger.ask(REQUEST)
        await stranger.sees("You may not do that here")
        assert await scene.bot.end() == 0
        assert scene.bot.sessions() == []


def logged(bot: Serving) -> str:
    return "".join(file.read_text() for file in bot.home.rglob("*.jsonl*") if "logs" in file.parts)


async def test_a_token_that_is_taken_back_ends_the_program_with_a_clear_word(
    tmp_path: Path, homeserver: Homeserver, proxy: Proxy, people: People
) -> None:
    mika, account = people("mika"), people("gwt")
    room = await mika.create_room()
    environ = in_matrix(proxy.url, account.login, room, mika.id)
    async with program(tmp_path, environ) as bot:
        await MatrixPerson(mika, account.id, room).invites_the_bot()
        seen = len(proxy.seen)
        homeserver.revoke(account.login)
        await mika.say(room, "Is anybody there?")
        said = await last_words(bot)
    assert "matrix has ended: The access token is no longer valid" in said
    assert "MATRIX_ACCESS_TOKEN" in said
    assert len(proxy.seen) - seen < 10
    (tmp_path / "again").mkdir()
    async with program(tmp_path / "again", environ) as bot:
        said = await last_words(bot)
    assert "no longer valid" in said
    assert "MATRIX_ACCESS_TOKEN" in said
