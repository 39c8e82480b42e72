"""Files that come with a message: text is read, from Slack alone and within bounds; of the rest it is told why not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from bot.core.events import Attached, Commanded, Said
from tests.adapters.slack.bot import DEADLINE, Bot
from tests.beds.slack import BOT, BOT_TOKEN, EXTERNAL, MIKA, OTHER_TEAM, PUBLIC, SlackBed
from tests.fakes import cards

CALL = f"<@{BOT}> so"
NOTES = "# Notes\n\n設定は次回の起動時にも保存されること。\n"
MOST_BYTES = 100_000
ELSEWHERE = "It is not kept by Slack itself."


async def heard(bot: Bot) -> Said:
    before = len(bot.desk.taken)
    await bot.bed.all_acked(DEADLINE)
    assert before <= len(bot.desk.taken)
    event = bot.desk.events[-1]
    assert isinstance(event, Said)
    return event


async def shared(
    bot: Bot, content: bytes = b"hello", name: str = "notes.md", **told: Any
) -> Attached:
    """What becomes of one file of which Slack says so much."""
    await bot.bed.share(MIKA, PUBLIC, {name: content}, CALL, **told)
    (file,) = (await heard(bot)).files
    return file


async def test_a_text_file_is_read_with_what_was_said(bot: Bot) -> None:
    await bot.bed.share(MIKA, PUBLIC, {"notes.md": NOTES.encode()}, f"<@{BOT}> Build this")
    event = await heard(bot)
    assert (event.text, event.files) == ("Build this", (Attached(name="notes.md", text=NOTES),))
    await bot.bed.share(MIKA, PUBLIC, {"notes.md": NOTES.encode()}, f"<@{BOT}>")
    event = await heard(bot)
    assert event.files[0].text == NOTES, "the bot's name and a file are no call for help"


async def test_a_file_alone_in_a_thread_of_the_bot_is_an_answer(bot: Bot) -> None:
    thread, _ = await bot.shown(cards.NEWS)
    await bot.bed.share(MIKA, PUBLIC, {"notes.md": NOTES.encode()}, thread=thread.root)
    event = await heard(bot)
    assert (event.text, event.mention, event.files[0].text) == ("", False, NOTES)


async def test_what_is_not_for_the_bot_is_not_looked_into(bot: Bot) -> None:
    root = await bot.bed.share(MIKA, PUBLIC, {"notes.md": b"lunch"}, "lunch?")
    await bot.bed.share(MIKA, PUBLIC, {"notes.md": b"pizza"}, "pizza", thread=root.ts)
    assert (await heard(bot)).files == ()
    await bot.bed.share(EXTERNAL, PUBLIC, {"notes.md": b"hello"}, CALL)
    assert (await heard(bot)).files == (), "somebody from elsewhere"
    await bot.bed.share(MIKA, PUBLIC, {"notes.md": b"hello"}, f"<@{BOT}> stop")
    await bot.bed.all_acked(DEADLINE)
    assert isinstance(bot.desk.events[-1], Commanded)
    assert bot.bed.shelf.asked == []


TOLD: list[tuple[dict[str, Any], str]] = [
    *(
        ({"mimetype": kind}, "")
        for kind in (
            *("text/plain", "text/markdown", "text/csv", "application/json", "application/ld+json"),
            *("application/x-yaml", "application/toml", "TEXT/plain"),
        )
    ),
    *(
        ({"mimetype": kind, "filetype": "binary"}, "It is not a text file.")
        for kind in (
            *("image/png", "application/pdf", "application/octet-stream", "application/zip"),
            *("text/rtf", "video/mp4", "", "application/vnd.ms-excel"),
        )
    ),
    ({"mimetype": "", "filetype": "markdown"}, ""),
    ({"mimetype": "application/octet-stream", "filetype": "markdown"}, ""),
    ({"mimetype": "image/png", "filetype": "text"}, "It is not a text file."),
    ({"mode": "snippet", "filetype": "python"}, ""),
    ({"mode": "external", "is_external": True}, "outside of Slack"),
    ({"is_external": True}, "outside of Slack"),
    ({"mode": "tombstone"}, "deleted"),
    ({"mode": "hidden_by_limit"}, "not show it"),
    ({"mode": "canvas"}, "canvas"),
    ({"mode": "quip"}, "canvas"),
    ({"filetype": "canvas"}, "canvas"),
    ({"mode": "space"}, "post"),
    ({"mode": "email"}, "e-mail"),
    ({"mode": "hologram"}, "this kind"),
    ({"user_team": OTHER_TEAM}, "another workspace"),
    ({"file_access": "check_file_info"}, "not let me see"),
    ({"size": MOST_BYTES + 1}, "larger than 100 kB"),
]


async def test_what_slack_says_of_a_file_decides_whether_it_is_read(bot: Bot) -> None:
    for told, problem in TOLD:
        asked = len(bot.bed.shelf.asked)
        file = await shared(bot, **told)
        assert (file.text == "hello") is (problem == ""), told
        assert problem in file.problem, told
        assert (len(bot.bed.shelf.asked) > asked) is (problem == ""), told


async def test_what_is_in_it_is_looked_at_too(bot: Bot) -> None:
    for content in (b"\x89PNG\x00", b"\xff\xfe\x00x", b"\x80abc", "é".encode("latin-1")):
        assert "not a text" in (file := await shared(bot, content)).problem, file
    assert (await shared(bot, b"\xef\xbb\xbfhello")).text == "hello"
    page = b"<html><body>the page to be built</body></html>"
    assert (await shared(bot, page, "page.html", mimetype="text/html")).text == page.decode()
    assert len((await shared(bot, b"x" * MOST_BYTES)).text) == MOST_BYTES
    assert "larger than 100 kB" in (await shared(bot, b"x" * (MOST_BYTES + 1))).problem
    endless = await shared(bot, b"x" * (MOST_BYTES * 20), size=10)
    assert (endless.text, "larger" in endless.problem) == ("", True)


async def test_of_many_files_a_few_are_read_and_none_goes_unmentioned(bot: Bot) -> None:
    await bot.bed.share(MIKA, PUBLIC, {f"{n}.md": b"hello" for n in range(14)}, CALL)
    found = (await heard(bot)).files
    read = [one for one in found if not one.problem]
    assert 0 < len(read) < 14
    assert found[-1].name == f"{14 - len(found) + 1} more files"


async def test_a_name_is_one_short_line(bot: Bot) -> None:
    for name, shown in (("", "a file"), ("a\nb", "a b")):
        brought: dict[str, object] = {"name": name, "title": ""}
        bot.bed.world.files.clear()
        file = bot.bed._bring("x", b"hello", brought)  # pyright: ignore[reportPrivateUsage]
        await bot.bed.say(MIKA, PUBLIC, CALL, None, [file.json()])
        assert (await heard(bot)).files[0].name == shown


async def test_what_slack_does_not_hand_over_is_told_and_holds_up_nobody(bot: Bot) -> None:
    def cut(request: web.Request) -> web.StreamResponse:
        assert request.transport
        request.transport.abort()
        return web.Response()

    for status in (404, 429, 500, 503):
        bot.bed.shelf.instead = lambda request, status=status: web.Response(status=status)
        assert (await shared(bot)).problem == "Slack did not hand it over."
    bot.bed.shelf.instead = cut
    assert (await shared(bot)).problem == "Slack did not hand it over."
    bot.bed.shelf.slow = asyncio.Event()
    assert (await shared(bot)).problem == "Slack did not hand it over in time."
    bot.bed.shelf.slow.set()


async def test_without_the_scope_it_is_said_what_is_missing(bot: Bot) -> None:
    grants = bot.bed.world.grants
    bot.bed.world.grants = replace(grants, scopes=grants.scopes - {"files:read"})
    file = await shared(bot)
    assert file.problem == "Slack does not hand it over: the app needs the scope files:read."


# The token


@asynccontextmanager
async def elsewhere() -> AsyncGenerator[tuple[str, list[dict[str, str]]]]:
    """Another host, and what it was told by whoever asked it."""
    told: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        told.append(dict(request.headers))
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", told
    finally:
        await runner.cleanup()


def traps(bed: SlackBed, host: str) -> list[str]:
    bare, home = host.removeprefix("http://"), bed.world.base
    return [
        f"{host}/files-pri/x",
        f"{home}@{bare}/x",
        f"{home}.evil/x",
        f"//{bare}/x",
        *(
            f"{home}{path}"
            for path in (
                "/api/auth.test",
                "/api/files-pri/x",
                "/files-pri/../api/auth.test",
                "/files-pri/F1/download/a/../../../api/auth.test",
                "/files-pri/F1/a\\b",
            )
        ),
    ]


async def test_the_token_goes_to_slacks_files_and_nowhere_else(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    async with elsewhere() as (host, told):
        for url in traps(bot.bed, host):
            calls = len(bot.bed.called("auth.test"))
            file = await shared(bot, url_private_download=url)
            assert file.problem == ELSEWHERE, url
            assert len(bot.bed.called("auth.test")) == calls
        assert told == bot.bed.shelf.asked == []

        def away(request: web.Request) -> web.StreamResponse:
            return web.Response(status=302, headers={"Location": f"{host}/login"})

        bot.bed.shelf.instead = away
        file = await shared(bot)
        assert "files:read" in file.problem, "no redirect is followed"
        assert told == []
        assert [one.with_token for one in bot.bed.shelf.asked][:1] == [True]
    assert BOT_TOKEN not in f"{file} {caplog.text}"
