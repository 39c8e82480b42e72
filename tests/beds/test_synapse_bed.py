"""The bed itself: what tests of the Matrix chat rely on is so."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import aiohttp
import pytest

from tests.beds.synapse import Homeserver, MatrixError, People, Person, Proxy

ROOT = Path(__file__).resolve().parents[2]


async def through(proxy: Proxy, person: Person, session: aiohttp.ClientSession) -> Person:
    """The same person, who now goes through the proxy."""
    return Person(proxy.url, person.login, session)


async def test_people_see_what_others_say_edit_and_take_back(people: People) -> None:
    anna, bot = people("anna"), people("bot")
    room = await people.room(anna, bot)
    root = await anna.say(room, "Add a <dark> mode", mention=bot.id, label="Dev Bot")
    reply = await bot.say(room, "Which colour?", thread=root)
    await bot.edit(room, reply, "Which colours?")
    chip = await bot.react(room, reply, "✅ Approve")
    click = await anna.react(room, reply, "✅ Approve")
    await bot.redact(room, chip)
    await anna.until(lambda: anna.thread(room, root)[1:] != () and click in str(anna.rooms[room]))
    await anna.until(lambda: anna.thread(room, root)[1].reacted("✅ Approve") == (anna.id,))
    asked, answer = anna.thread(room, root)
    assert (asked.text, asked.mentions) == ("Dev Bot: Add a <dark> mode", (bot.id,))
    assert asked.html.endswith("Dev Bot</a>: Add a &lt;dark&gt; mode")
    assert (answer.text, answer.edits, answer.sender) == ("Which colours?", 1, bot.id)
    await bot.redact(room, reply)
    await anna.until(lambda: anna.thread(room, root)[1].redacted)


async def test_somebody_who_was_away_misses_nothing(people: People) -> None:
    anna, berta = people("anna"), people("berta")
    room = await people.room(anna, berta)
    await berta.look(0)
    said = [await anna.say(room, f"{number}") for number in range(12)]
    berta.page = 5
    await berta.until(lambda: len(berta.posts(room)) >= 12)
    assert [post.event_id for post in berta.posts(room)] == said


async def test_a_restart_keeps_users_rooms_and_the_port(
    homeserver: Homeserver, people: People
) -> None:
    anna = people("anna")
    room = await anna.create_room()
    await asyncio.to_thread(homeserver.stop)
    with pytest.raises(aiohttp.ClientConnectionError):
        await anna.look(0)
    await asyncio.to_thread(homeserver.start)
    await anna.say(room, "still here")


async def test_a_revoked_token_counts_no_more_and_a_device_gets_a_new_one(
    homeserver: Homeserver, people: People
) -> None:
    anna = people("anna")
    homeserver.revoke(anna.login)
    with pytest.raises(MatrixError, match="M_UNKNOWN_TOKEN"):
        await anna.look(0)
    again = homeserver.login(anna.id, device_id=anna.login.device_id)
    assert again.device_id == anna.login.device_id
    assert anna.login.access_token not in repr(again) + repr(anna.login)


async def test_one_user_can_be_held_to_a_limit(homeserver: Homeserver, people: People) -> None:
    anna = people("anna")
    room = await anna.create_room()
    homeserver.override_ratelimit(anna.id, per_second=1, burst=1)

    async def hurry() -> None:
        for number in range(10):
            await anna.say(room, f"{number}")

    with pytest.raises(MatrixError, match="M_LIMIT_EXCEEDED"):
        await hurry()
    homeserver.override_ratelimit(anna.id)
    await hurry()


async def test_the_proxy_spoils_only_what_it_was_told_to(people: People, proxy: Proxy) -> None:
    async with aiohttp.ClientSession() as session:
        anna = await through(proxy, people("anna"), session)
        room = await anna.create_room()
        proxy.limit(1, retry_after_ms=77, where="/send/")
        with pytest.raises(MatrixError, match="429 M_LIMIT_EXCEEDED"):
            await anna.say(room, "one")
        proxy.fail(1, where="/send/")
        with pytest.raises(aiohttp.ContentTypeError, match="502"):
            await anna.say(room, "one")
        await anna.say(room, "two")
        lost = proxy.lose(2, where="/send/")
        with pytest.raises(aiohttp.ClientConnectionError):
            await anna.say(room, "three")
        assert lost.met == 2
        await anna.until(lambda: [post.text for post in anna.posts(room)] == ["two", "three"])


async def test_a_closed_proxy_lets_nobody_in_until_it_is_open_again(
    people: People, proxy: Proxy
) -> None:
    async with aiohttp.ClientSession() as session:
        anna = await through(proxy, people("anna"), session)
        waiting = asyncio.create_task(anna.look(60_000))
        room = await anna.create_room()
        await anna.look(0)
        hanging = asyncio.create_task(anna.look(60_000))
        await anna.call("GET", "account/whoami")
        await proxy.close()
        for task in (waiting, hanging):
            await asyncio.gather(task, return_exceptions=True)
        with pytest.raises(aiohttp.ClientConnectionError):
            await anna.say(room, "anybody?")
        await proxy.open()
        await anna.say(room, "there you are")


def test_a_killed_test_run_leaves_no_homeserver_behind(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from tests.beds.synapse import Homeserver\n"
        "server = Homeserver(pathlib.Path(sys.argv[1])).__enter__()\n"
        "print(server.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 120
    while _lives(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
