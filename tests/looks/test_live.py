"""The window into the played Slack: what is done in it is done there, what stands there is seen in it, and only from here."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from aiohttp import ClientSession

from tests.beds.slack import BOT, MIKA, PUBLIC, SlackBed
from tests.beds.slack.messages import Message
from tests.beds.slack.names import Json
from tests.looks.live import Window

STOP = {
    "type": "button",
    "action_id": "stop:0",
    "value": "v",
    "text": {"type": "plain_text", "text": "Stop"},
}


class Browser:
    def __init__(self, http: ClientSession, bed: SlackBed, url: str) -> None:
        self.http, self.bed, self.url = http, bed, url

    async def sees(self, thread: str = "") -> dict[str, Any]:
        asked = {"user": MIKA, "channel": PUBLIC, "thread": thread}
        async with self.http.get(f"{self.url}seen", params=asked) as answer:
            return await answer.json()

    async def does(self, what: str, **more: Any) -> str:
        sent = {"do": what, "user": MIKA, "channel": PUBLIC, **more}
        async with self.http.post(f"{self.url}do", json=sent) as answer:
            return (await answer.json())["problem"]

    def posted(self, *blocks: Json, thread: str | None = None) -> Message:
        """By the bot."""
        made = Message(
            channel=PUBLIC,
            ts=self.bed.world.messages.now(),
            by=self.bed.world.users[BOT],
            text="said",
            blocks=self.bed.world.messages.stored(list(blocks)),
            thread=thread,
        )
        return self.bed.world.messages.add(made)


@pytest.fixture
async def browser() -> AsyncGenerator[Browser, None]:
    async with SlackBed() as bed, Window(bed) as window, ClientSession() as http:
        bed.leeway.checked = False  # no bot is there
        yield Browser(http, bed, window.url)


async def test_what_is_typed_is_said_and_names_are_mentions(browser: Browser) -> None:
    assert await browser.does("say", text="@gwt build <b>this</b>") == ""
    (said,) = browser.bed.messages(PUBLIC)
    assert said.text == f"<@{BOT}> build &lt;b&gt;this&lt;/b&gt;"
    (shown,) = (await browser.sees())["channel"]
    assert "@gwt" in shown["html"]
    assert "<b>" not in shown["html"]


async def test_a_thread_is_seen_beside_its_channel(browser: Browser) -> None:
    await browser.does("say", text="hello")
    root = browser.bed.messages(PUBLIC)[0].ts
    await browser.does("say", text="a reply", thread=root)
    there = await browser.sees(root)
    assert len(there["channel"]) == 1
    assert "1 reply" in there["channel"][0]["html"]
    assert "a reply" in there["thread"][1]["html"]


async def test_a_button_is_pressed_also_when_its_card_was_edited_meanwhile(
    browser: Browser,
) -> None:
    card = browser.posted({"type": "actions", "block_id": "new", "elements": [STOP]})
    press = {"where": card.ts, "action": "stop:0"}
    assert await browser.does("press", block="new", **press) == ""
    assert await browser.does("press", block="old", **press) == ""
    pressed = [one.payload["actions"][0]["action_id"] for one in browser.bed.deliveries]
    assert pressed == ["stop:0", "stop:0"]


async def test_what_slack_would_not_let_anybody_do_is_told(browser: Browser) -> None:
    await browser.does("say", text="hello")
    root = browser.bed.messages(PUBLIC)[0].ts
    assert "not supported in threads" in await browser.does("say", text="/sessions", thread=root)
    assert "no longer open" in await browser.does("submit", where="V1", values={})
    assert "nobody can do" in await browser.does("fly")


async def test_it_answers_no_other_site(browser: Browser) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        async with browser.http.get(f"{browser.url}seen", headers=headers) as answer:
            assert answer.status == 403
    async with browser.http.get(browser.url) as page:
        assert "A played Slack" in await page.text()
