"""Whatever happens to the socket, what people say still comes in; and nothing of it is left at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from time import time

import pytest
from aiohttp import web

from adapters.slack.client import SlackAccess, new_client, session_for
from adapters.slack.connection import SocketMode, missed_since
from bot.core.errors import Refused
from tests.adapters.slack.way_in import QUICK, Desk, WayIn, listening, way_in
from tests.beds.slack import APP_TOKEN, BOT_TOKEN, MIKA, SlackBed

LONG = 30


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed(time_scale=0.001) as bed:
        yield bed


@pytest.fixture
async def way(bed: SlackBed) -> AsyncIterator[WayIn]:
    async with way_in(bed) as way:
        yield way


async def say(way: WayIn, text: str = "Add a dark mode") -> None:
    await way.bed.say(MIKA, way.bed.dm(MIKA), text)


async def hears(way: WayIn, sockets: int) -> None:
    """What is said now comes in, by a socket opened since."""
    await way.bed.until(lambda: way.bed.sockets.opened >= sockets, LONG)
    await way.bed.connected(seconds=LONG)
    before = len(way.desk.taken)
    await say(way, "Are you there?")
    await way.taken(before + 1)


@asynccontextmanager
async def serving(
    accept: Callable[[web.Request], Awaitable[web.WebSocketResponse]],
) -> AsyncGenerator[str, None]:
    """A Slack that knows nothing but to open sockets."""

    async def open_socket(request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://{request.host}/link"})

    app = web.Application()
    app.router.add_post("/api/apps.connections.open", open_socket)
    app.router.add_get("/link", accept)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    await runner.cleanup()


async def ended(task: asyncio.Task[None]) -> BaseException | None:
    async with asyncio.timeout(LONG):
        await asyncio.wait({task})
    return task.exception()


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "too_many_websockets"])
async def test_asked_to_connect_anew_it_does(way: WayIn, reason: str) -> None:
    async with listening(way):
        await hears(way, 1)
        await way.bed.sockets.disconnect(reason)
        await hears(way, 2)


async def test_a_connection_that_is_cut_is_made_anew(way: WayIn) -> None:
    async with listening(way):
        way.bed.sockets.reset()
        await hears(way, 2)


async def test_an_address_that_leads_nowhere_is_given_up(way: WayIn) -> None:
    async with listening(way):
        way.bed.faults.dead_urls = 1
        await way.bed.sockets.disconnect()
        await hears(way, 2)


async def test_an_address_that_leads_nowhere_at_the_start_is_given_up(way: WayIn) -> None:
    way.bed.faults.dead_urls = 2
    async with listening(way):
        await hears(way, 1)


async def test_keys_and_endless_tracebacks_are_kept_out_of_the_log(
    way: WayIn, caplog: pytest.LogCaptureFixture
) -> None:
    way.bed.faults.dead_urls = 2
    with caplog.at_level(logging.DEBUG):
        async with listening(way):
            await hears(way, 1)
    assert "ticket=…" in caplog.text
    for secret in ("ticket=ticket-", APP_TOKEN, BOT_TOKEN, "Traceback"):
        assert secret not in caplog.text


async def test_another_bot_with_the_same_token_is_noticed(
    way: WayIn, caplog: pytest.LogCaptureFixture
) -> None:
    def noticed() -> bool:
        return any("not the only connection" in said for said in caplog.messages)

    with caplog.at_level(logging.WARNING):
        async with listening(way):
            await hears(way, 1)
            assert not noticed()
            async with listening(way):
                await way.bed.until(noticed, LONG)


async def test_a_server_that_falls_silent_is_left(way: WayIn) -> None:
    async with listening(way):
        way.bed.sockets.mute()
        await hears(way, 2)


async def test_a_slack_that_goes_away_and_comes_back_is_heard_again(way: WayIn) -> None:
    async with listening(way):
        await way.bed.go_away()
        await way.bed.come_back()
        await hears(way, 2)


async def test_a_slack_that_is_away_at_the_start_is_waited_for(way: WayIn) -> None:
    await way.bed.go_away()
    socket = SocketMode(way.client, APP_TOKEN, way.reception.app, rhythm=QUICK)
    task = asyncio.create_task(socket.listen())
    try:
        await asyncio.wait({task}, timeout=0.2)
        await way.bed.come_back()
        await hears(way, 1)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_whoever_was_out_of_touch_for_long_says_since_when(way: WayIn) -> None:
    gaps: list[float] = []
    before = time()
    async with listening(way, replace(QUICK, gap=0.5), gaps.append):
        await way.bed.sockets.disconnect()
        await hears(way, 2)
        assert gaps == []
        lost = time()
        way.bed.sockets.mute()
        await hears(way, 3)
        await way.bed.until(lambda: gaps, LONG)
    [since] = gaps
    assert before <= since <= lost + QUICK.ping


@pytest.mark.parametrize(
    ("proof", "since"),
    [(None, None), (995.0, None), (900.0, 900.0), (1_005.0, None), (4_600.0, 1_000.0)],
    ids=["never before", "short", "long", "set back a little", "set back by an hour"],
)
def test_how_long_it_was_is_not_believed_of_a_clock_that_was_set_back(
    proof: float | None, since: float | None
) -> None:
    assert missed_since(proof, 1_000.0, gap=10.0) == since


async def test_a_revoked_token_ends_the_listening(way: WayIn) -> None:
    async with listening(way, replace(QUICK, keep_alive=0.05)) as task:
        way.bed.faults.refuse("token_revoked", "auth.test")
        error = await ended(task)
    assert isinstance(error, Refused)
    assert "token_revoked" in error.reason
    assert "SLACK_BOT_TOKEN" in error.remedy


async def test_an_app_token_that_is_refused_ends_the_listening(way: WayIn) -> None:
    socket = SocketMode(way.client, "xapp-forged", way.reception.app, rhythm=QUICK)
    error = await ended(asyncio.create_task(socket.listen()))
    assert isinstance(error, Refused)
    assert "invalid_auth" in error.reason
    assert "xapp-forged" not in f"{error} {error.remedy}"


async def test_an_app_token_that_is_refused_later_ends_the_listening(way: WayIn) -> None:
    async with listening(way) as task:
        way.bed.faults.refuse("invalid_auth", "apps.connections.open", times=None)
        await way.bed.sockets.disconnect()
        assert isinstance(await ended(task), Refused)


async def test_when_no_call_is_answered_everything_is_built_anew(way: WayIn) -> None:
    async with listening(way, replace(QUICK, keep_alive=0.05, failures=2)):
        way.bed.faults.answer(503, "auth.test", times=2)
        await hears(way, 2)


async def test_a_call_that_fails_now_and_then_is_no_harm(way: WayIn) -> None:
    async with listening(way, replace(QUICK, keep_alive=0.02, failures=2)):
        for _ in range(3):
            way.bed.faults.answer(503, "auth.test")
            done = len([call for call in way.bed.called("auth.test") if call.status == 200])
            await way.bed.until(
                lambda done=done: (
                    len([call for call in way.bed.called("auth.test") if call.status == 200]) > done
                ),
                LONG,
            )
        assert way.bed.sockets.opened == 1


async def test_without_a_connection_for_long_everything_is_built_anew(
    way: WayIn, caplog: pytest.LogCaptureFixture
) -> None:
    way.bed.faults.answer(503, "apps.connections.open", times=5)
    with caplog.at_level(logging.WARNING, "bot.slack"):
        async with listening(way, replace(QUICK, rebuild=0.2)):
            await hears(way, 1)
    assert "built anew" in caplog.text


async def test_cancelled_it_ends_at_once_and_leaves_nothing(way: WayIn) -> None:
    before = asyncio.all_tasks()
    async with listening(way):
        await hears(way, 1)
    await way.bed.until(lambda: not way.bed.sockets.open)
    await way.people.close()
    await way.bed.until(lambda: not _ours(before))


async def test_cancelled_on_a_silent_line_it_ends_without_a_goodbye(way: WayIn) -> None:
    opened, left = asyncio.Event(), asyncio.Event()

    async def stay_silent(request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse(autoping=False, autoclose=False)
        await ws.prepare(request)
        opened.set()
        await left.wait()
        return ws

    access = SlackAccess(BOT_TOKEN, APP_TOKEN)
    async with serving(stay_silent) as api_url, session_for(access) as session:
        client = new_client(replace(access, api_url=api_url), session)
        socket = SocketMode(client, APP_TOKEN, way.reception.app, rhythm=replace(QUICK, ping=60))
        task = asyncio.create_task(socket.listen())
        async with asyncio.timeout(LONG):
            await opened.wait()
        await way.bed.until(lambda: socket.connected, LONG)
        task.cancel()
        # the library itself would wait for ten seconds
        await asyncio.wait({task}, timeout=8)
        left.set()
        assert task.cancelled()


async def test_what_is_being_taken_at_the_end_is_still_acked(way: WayIn) -> None:
    way.desk.gate = asyncio.Event()
    async with listening(way) as task:
        await say(way)
        await way.bed.until(lambda: way.desk.calls)
        task.cancel()
        await asyncio.wait({task}, timeout=0.1)
        assert not task.done()
        way.desk.gate.set()
        await way.one()
        assert len(way.desk.calls) == 1


async def test_what_is_never_taken_does_not_hold_up_the_end(bed: SlackBed) -> None:
    desk = Desk()
    desk.gate = asyncio.Event()
    async with way_in(bed, desk) as way, listening(way, replace(QUICK, draining=0.1)) as task:
        await say(way)
        await bed.until(lambda: desk.calls)
        task.cancel()
        await asyncio.wait({task}, timeout=LONG)
        assert task.cancelled()
        assert desk.taken == {}


def _ours(before: set[asyncio.Task[object]]) -> list[str]:
    """Tasks that have been left behind by the library or by us."""
    left = asyncio.all_tasks() - before
    return [one.get_name() for one in left if "slack_sdk" in str(one) or "slack:" in str(one)]
