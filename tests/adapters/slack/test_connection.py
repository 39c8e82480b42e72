"""Whatever happens to the connection, what people say still comes in; and what Slack refuses is said with the way out."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from time import time

import aiohttp
import pytest

from adapters.slack.access import REQUIRED_SCOPES
from adapters.slack.client import SlackAccess
from bot.core.choices import Verb
from bot.core.errors import Refused, Unavailable
from bot.core.events import Pressed, Said
from tests.adapters.slack.bot import DEADLINE, QUICK, Bot, bot_in
from tests.beds.slack import APP_TOKEN, BOT_TOKEN, MIKA, PUBLIC, SECOND, SIGNING_SECRET, SlackBed
from tests.beds.slack.request_url import signed
from tests.fakes import cards

FORGED = "xoxb-forged-token"


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in(tmp_path, bed=SlackBed(time_scale=0.001)) as one:
        one.bed.leeway.unacked = True
        yield one


async def hears(bot: Bot, sockets: int) -> None:
    """What is said now comes in, by a socket opened since."""
    await bot.bed.until(lambda: bot.bed.sockets.opened >= sockets, DEADLINE)
    await bot.bed.connected(seconds=DEADLINE)
    before = len(bot.desk.taken)
    await bot.bed.say(MIKA, bot.bed.dm(MIKA), "Are you there?")
    await bot.taken(before + 1)


async def ended(bot: Bot) -> BaseException | None:
    """What the listening has ended with."""
    assert bot.listening
    async with asyncio.timeout(DEADLINE):
        await asyncio.wait({bot.listening})
    return bot.listening.exception()


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "too_many_websockets"])
async def test_asked_to_connect_anew_it_does(bot: Bot, reason: str) -> None:
    await hears(bot, 1)
    await bot.bed.sockets.disconnect(reason)
    await hears(bot, 2)


async def test_a_connection_that_is_cut_is_made_anew(bot: Bot) -> None:
    bot.bed.sockets.reset()
    await hears(bot, 2)


async def test_a_server_that_falls_silent_is_left(bot: Bot) -> None:
    bot.bed.sockets.mute()
    await hears(bot, 2)


async def test_a_slack_that_goes_away_and_comes_back_is_heard_again(bot: Bot) -> None:
    await bot.bed.go_away()
    await bot.bed.come_back()
    await hears(bot, 2)


async def test_an_address_that_leads_nowhere_is_given_up_and_no_key_is_logged(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    await bot.end()
    bot.bed.faults.dead_urls = 2
    with caplog.at_level(logging.DEBUG):
        await bot.start()
        await hears(bot, 2)
        bot.bed.faults.dead_urls = 1
        await bot.bed.sockets.disconnect()
        await hears(bot, 3)
    assert "ticket=…" in caplog.text
    for secret in ("ticket=ticket-", APP_TOKEN, BOT_TOKEN, "Traceback"):
        assert secret not in caplog.text


async def test_another_bot_with_the_same_token_is_noticed(
    bot: Bot, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def noticed() -> bool:
        return any("not the only connection" in said for said in caplog.messages)

    assert not noticed()
    with caplog.at_level(logging.WARNING):
        other = Bot(bot.bed, tmp_path / "other")
        await other.start()
        await bot.bed.until(noticed, DEADLINE)
        await other.end()


async def test_a_slack_that_is_away_at_the_start_is_waited_for(bot: Bot) -> None:
    await bot.end()
    await bot.bed.go_away()
    await bot.start(hears=False)
    bot.listen()
    await bot.bed.come_back()
    await hears(bot, 2)


async def test_a_revoked_token_ends_the_listening(bot: Bot) -> None:
    bot.options["rhythm"] = replace(QUICK, keep_alive=0.05)
    await bot.restart()
    bot.bed.faults.refuse("token_revoked", "auth.test")
    error = await ended(bot)
    assert isinstance(error, Refused)
    assert "token_revoked" in error.reason
    assert "SLACK_BOT_TOKEN" in error.remedy


async def test_an_app_token_that_is_refused_later_ends_the_listening(bot: Bot) -> None:
    bot.bed.faults.refuse("invalid_auth", "apps.connections.open", times=None)
    await bot.bed.sockets.disconnect()
    error = await ended(bot)
    assert isinstance(error, Refused)
    assert APP_TOKEN not in f"{error} {error.remedy}"


async def test_when_no_call_is_answered_everything_is_built_anew(bot: Bot) -> None:
    bot.options["rhythm"] = replace(QUICK, keep_alive=0.05, failures=2)
    await bot.restart()
    before = bot.bed.sockets.opened
    bot.bed.faults.answer(503, "auth.test", times=2)
    await hears(bot, before + 1)


async def test_a_call_that_fails_now_and_then_is_no_harm(bot: Bot) -> None:
    bot.options["rhythm"] = replace(QUICK, keep_alive=0.02, failures=2)
    await bot.restart()
    before = bot.bed.sockets.opened

    def answered() -> int:
        return len([call for call in bot.bed.called("auth.test") if call.status == 200])

    for _ in range(3):
        bot.bed.faults.answer(503, "auth.test")
        done = answered()
        await bot.bed.until(lambda done=done: answered() > done + 1, DEADLINE)
    assert bot.bed.sockets.opened == before


async def test_without_a_connection_for_long_everything_is_built_anew(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    bot.options["rhythm"] = replace(QUICK, rebuild=0.2)
    await bot.end()
    await bot.start(hears=False)
    bot.bed.faults.answer(503, "apps.connections.open", times=5)
    with caplog.at_level(logging.WARNING, "bot.slack"):
        bot.listen()
        await hears(bot, 2)
    assert "built anew" in caplog.text


async def test_cancelled_it_ends_and_leaves_nothing(bot: Bot) -> None:
    await hears(bot, 1)
    await bot.end()
    await bot.bed.until(lambda: not bot.bed.sockets.open)
    left = [one for one in asyncio.all_tasks() if "slack_sdk" in str(one) or "slack:" in str(one)]
    assert left == []
    await bot.start()


async def test_what_is_being_taken_at_the_end_is_still_acked(bot: Bot) -> None:
    bot.desk.gate = asyncio.Event()
    await bot.bed.say(MIKA, bot.bed.dm(MIKA), "Add a dark mode")
    await bot.bed.until(lambda: bot.desk.calls)
    assert bot.listening
    bot.listening.cancel()
    await asyncio.wait({bot.listening}, timeout=0.1)
    assert not bot.listening.done()
    bot.desk.gate.set()
    await bot.one()
    assert len(bot.desk.calls) == 1


async def test_what_is_never_taken_does_not_hold_up_the_end(bot: Bot) -> None:
    bot.options["rhythm"] = replace(QUICK, draining=0.1)
    await bot.restart()
    bot.desk.gate = asyncio.Event()
    await bot.bed.say(MIKA, bot.bed.dm(MIKA), "Add a dark mode")
    await bot.bed.until(lambda: bot.desk.calls)
    async with asyncio.timeout(DEADLINE):
        await bot.deafen()
    assert bot.desk.taken == {}


# Before anything is heard


async def began(bot: Bot, access: SlackAccess | None = None) -> Refused | Unavailable | None:
    """How the start ends, of the chat or of its listening."""
    bot.access = access or bot.access
    try:
        await bot.start(hears=False)
    except Refused as refused:
        return refused
    listening = bot.listen()
    await asyncio.wait({listening}, timeout=0.3)
    error = listening.exception() if listening.done() and not listening.cancelled() else None
    await bot.end()
    assert error is None or isinstance(error, Refused | Unavailable)
    return error


@pytest.fixture
async def away(bot: Bot) -> Bot:
    """It has not begun yet."""
    await bot.end()
    bot.bed.leeway.forgiven |= {"missing_scope", "not_allowed_token_type"}
    return bot


async def test_missing_scopes_are_named_all_at_once(away: Bot) -> None:
    granted = away.bed.world.grants
    lacking = REQUIRED_SCOPES - {"chat:write", "users:read"}
    away.bed.world.grants = replace(granted, scopes=lacking)
    problem = await began(away)
    away.bed.world.grants = granted
    assert problem
    assert "chat:write, users:read" in problem.reason
    assert "manifest.yml" in problem.remedy


async def test_a_token_that_is_wrong_is_told_and_not_shown(
    away: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        problem = await began(away, replace(away.access, bot_token=FORGED))
    assert isinstance(problem, Refused)
    assert "SLACK_BOT_TOKEN" in problem.remedy
    assert FORGED not in f"{problem} {problem.remedy} {problem.__cause__} {caplog.text}"
    assert FORGED not in repr(replace(away.access, bot_token=FORGED, app_token=FORGED))


@pytest.mark.parametrize(
    ("method", "code", "remedy"),
    [
        ("auth.test", "invalid_auth", "SLACK_BOT_TOKEN"),
        ("auth.test", "token_revoked", "SLACK_BOT_TOKEN"),
        ("auth.test", "account_inactive", "SLACK_BOT_TOKEN"),
        ("apps.connections.open", "not_allowed_token_type", "xapp-"),
        ("apps.connections.open", "invalid_auth", "SLACK_APP_TOKEN"),
        ("apps.connections.open", "missing_scope", "connections:write"),
        ("apps.connections.open", "socket_mode_is_off", "Socket Mode"),
    ],
)
async def test_what_slack_refuses_at_the_start_is_told_with_the_way_out(
    away: Bot, method: str, code: str, remedy: str
) -> None:
    away.bed.faults.refuse(code, method, times=None)
    problem = await began(away)
    assert isinstance(problem, Refused)
    assert code in problem.reason
    assert remedy in problem.remedy


@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
async def test_a_slack_that_is_ill_at_the_start_is_asked_again(away: Bot, method: str) -> None:
    away.bed.faults.answer(503, method)
    assert await began(away) is None
    away.bed.faults.drop(method)
    assert await began(away) is None


async def test_where_nothing_can_be_written_down_it_does_not_begin(away: Bot) -> None:
    ledger = away.folder / "cards.jsonl"
    ledger.unlink()
    ledger.mkdir()
    with pytest.raises(Unavailable, match=r"cards\.jsonl cannot be read"):
        await away.start()
    ledger.rmdir()


# Without a socket: signed requests


@pytest.fixture
async def url(away: Bot) -> str:
    away.access = replace(away.access, app_token="", port=_free_port())
    await away.start(hears=False)
    away.listen()
    url = f"http://127.0.0.1:{away.access.port}/slack/events"
    async with asyncio.timeout(DEADLINE), aiohttp.ClientSession() as session:
        while True:
            try:
                await session.get(url)
            except aiohttp.ClientError:
                await asyncio.sleep(0.01)
            else:
                return url


def _free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


async def posted(url: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
    kind = {"Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers={**kind, **headers}) as answer,
    ):
        return answer.status, await answer.text()


async def test_what_slack_signed_is_heard(away: Bot, url: str) -> None:
    told = away.bed.deliver_to(url)
    away.desk.full()
    away.bed.courier.ack_seconds = 0.3
    await away.bed.say(MIKA, away.bed.dm(MIKA), "Add a dark mode")
    _, event = await away.one()
    assert isinstance(event, Said)
    assert told.statuses == [503, 200], "what cannot be taken comes again"
    away.bed.courier.ack_seconds = 3
    _, ts = await away.shown(cards.APPROVAL)
    await away.bed.click(MIKA, ts, "Approve")
    command = await away.bed.slash(MIKA, SECOND, "/gwt", "status")
    await command.ack()
    [_, (_, press), _] = await away.taken(3)
    assert isinstance(press, Pressed)
    assert press.verb is Verb.APPROVE
    await away.bed.click(MIKA, ts, "Request changes")
    await away.bed.until(lambda: away.bed.views)
    answer = await away.bed.submit(away.bed.views[0], {"said": " "})
    assert answer["response_action"] == "errors"


async def test_slack_may_ask_whether_the_address_is_ours(url: str) -> None:
    asked = json.dumps({"type": "url_verification", "challenge": "xyz"})
    status, answer = await posted(url, asked, signed(asked, SIGNING_SECRET, time()))
    assert (status, json.loads(answer)) == (200, {"challenge": "xyz"})


async def test_a_forged_an_old_and_a_missing_signature_are_turned_away(away: Bot, url: str) -> None:
    event = {"type": "message", "user": MIKA, "channel": PUBLIC, "ts": "1.2", "thread_ts": "1.1"}
    body = json.dumps(
        {"type": "event_callback", "team_id": "T0001", "event": event | {"text": "stop"}}
    )
    for headers in (
        signed(body, "another secret", time()),
        signed(body, SIGNING_SECRET, time() - 6 * 60),
        signed(body + " ", SIGNING_SECRET, time()),
        {},
    ):
        status, _ = await posted(url, body, headers)
        assert status == 401
    assert away.desk.calls == []
    assert (await posted(url, body, signed(body, SIGNING_SECRET, time())))[0] == 200
    assert len(away.desk.calls) == 1


async def test_nothing_else_is_served(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        for path in ("/slack/install", "/", "/slack/events"):
            async with session.get(url.replace("/slack/events", path)) as answer:
                assert answer.status in {404, 405}


async def test_a_port_that_is_taken_is_told(away: Bot, url: str, tmp_path: Path) -> None:
    other = Bot(away.bed, tmp_path / "other")
    problem = await began(other, away.access)
    assert isinstance(problem, Refused)
    assert f"127.0.0.1:{away.access.port}" in problem.reason
    assert "SLACK_HTTP_PORT" in problem.remedy


async def test_without_a_signing_secret_nothing_is_heard(away: Bot) -> None:
    problem = await began(away, replace(away.access, app_token="", signing_secret=""))
    assert isinstance(problem, Refused)
    assert "SLACK_SIGNING_SECRET" in problem.remedy
