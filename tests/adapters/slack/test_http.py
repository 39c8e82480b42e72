"""Requests are believed only if Slack has signed them, just now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from time import time

import aiohttp
import pytest

from adapters.slack.blocks.cards import draw_card
from adapters.slack.client import SlackAccess
from adapters.slack.connection import HttpMode
from bot.core.choices import Verb
from bot.core.errors import Refused
from bot.core.events import Pressed, Said
from tests.adapters.slack.way_in import WayIn, access_to, way_in
from tests.beds.slack import MIKA, PUBLIC, SECOND, SIGNING_SECRET, SlackBed, invariants
from tests.beds.slack.request_url import signed
from tests.fakes import cards

LONG = 30
CHALLENGE = json.dumps({"type": "url_verification", "challenge": "xyz"})


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed() as bed:
        yield bed


@pytest.fixture
async def way(bed: SlackBed) -> AsyncIterator[WayIn]:
    async with way_in(bed) as way:
        yield way


@pytest.fixture
async def url(way: WayIn) -> AsyncIterator[str]:
    async with listening(way, access_to(way.bed)) as url:
        yield url


@asynccontextmanager
async def listening(way: WayIn, access: SlackAccess) -> AsyncGenerator[str, None]:
    requests = HttpMode(access, way.reception.app)
    task = asyncio.create_task(requests.listen())
    try:
        await way.bed.until(lambda: requests.port or task.done(), LONG)
        if task.done():
            task.result()
        yield f"http://127.0.0.1:{requests.port}/slack/events"
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def posted(url: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
    kind = {"Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers={**kind, **headers}) as answer,
    ):
        return answer.status, await answer.text()


async def test_what_slack_signed_is_heard(way: WayIn, url: str) -> None:
    way.bed.deliver_to(url)
    root = await way.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    _, event = await way.one()
    assert isinstance(event, Said)
    [message] = draw_card(cards.APPROVAL)
    ts = await way.post(root.ts, message.text, message.blocks)
    await way.bed.click(MIKA, ts, "Approve")
    command = await way.bed.slash(MIKA, SECOND, "/gwt", "status")
    await command.ack()
    [_, (_, press), _] = await way.taken(3)
    assert isinstance(press, Pressed)
    assert press.verb is Verb.APPROVE
    invariants.check(way.bed)


async def test_an_empty_form_is_given_back(way: WayIn, url: str) -> None:
    way.bed.deliver_to(url)
    root = await way.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    [message] = draw_card(cards.APPROVAL)
    ts = await way.post(root.ts, message.text, message.blocks)
    await way.bed.click(MIKA, ts, "Request changes")
    await way.bed.until(lambda: way.bed.views)
    answer = await way.bed.submit(way.bed.views[0], {"said": " "})
    assert answer["response_action"] == "errors"


async def test_what_cannot_be_taken_is_answered_with_an_error_and_comes_again(
    way: WayIn, url: str
) -> None:
    way.bed.courier.ack_seconds = 0.3
    way.desk.full()
    told = way.bed.deliver_to(url)
    await way.bed.say(MIKA, way.bed.dm(MIKA), "Add a dark mode")
    await way.one()
    assert told.statuses == [503, 200]


async def test_slack_may_ask_whether_the_address_is_ours(url: str) -> None:
    status, answer = await posted(url, CHALLENGE, signed(CHALLENGE, SIGNING_SECRET, time()))
    assert (status, json.loads(answer)) == (200, {"challenge": "xyz"})


async def test_a_forged_an_old_and_a_missing_signature_are_turned_away(
    way: WayIn, url: str
) -> None:
    body = json.dumps({"type": "event_callback", "team_id": "T0001", "event": {}})
    good = signed(body, SIGNING_SECRET, time())
    assert (await posted(url, body, good))[0] == 200
    for headers in (
        signed(body, "another secret", time()),
        signed(body, SIGNING_SECRET, time() - 6 * 60),
        signed(body + " ", SIGNING_SECRET, time()),
        {},
    ):
        status, _ = await posted(url, body, headers)
        assert status == 401
    assert way.desk.calls == []


async def test_nothing_else_is_served(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        for path in ("/slack/install", "/", "/slack/events"):
            async with session.get(url.replace("/slack/events", path)) as answer:
                assert answer.status in {404, 405}


async def test_a_port_that_is_taken_is_told(way: WayIn, url: str) -> None:
    port = int(url.split(":")[2].partition("/")[0])
    taken = replace(access_to(way.bed), port=port)
    with pytest.raises(Refused, match=f"127.0.0.1:{port}") as refused:
        async with listening(way, taken):
            pass
    assert "SLACK_HTTP_PORT" in refused.value.remedy


async def test_without_a_signing_secret_nothing_is_heard(way: WayIn) -> None:
    with pytest.raises(Refused) as refused:
        async with listening(way, replace(access_to(way.bed), signing_secret="")):
            pass
    assert "SLACK_SIGNING_SECRET" in refused.value.remedy
