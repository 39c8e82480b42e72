"""Files that come with a message: text is read, from Slack alone and within bounds; of the rest it is told why not."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.deliveries import (
    MOST_BYTES,
    MOST_FILES,
    NO_TEXT,
    TOO_LARGE,
    OfferedFile,
    decoded_text,
    files_in,
)
from adapters.slack.files import SlackFiles
from bot.core.events import Attached, Commanded, Said
from tests.adapters.slack.way_in import WayIn, calls_to, listening, way_in
from tests.beds.slack import (
    BOT_TOKEN,
    EXTERNAL,
    MIKA,
    OTHER_TEAM,
    PUBLIC,
    TEAM,
    Grants,
    SlackBed,
    invariants,
)

PATIENT = 25.0
NOTES = "# Notes\n\n設定は次回の起動時にも保存されること。\n"
FILE = {"name": "notes.md", "mimetype": "text/plain", "mode": "hosted", "size": 12}


def allowed(*scopes: str) -> Grants:
    granted = Grants.of_manifest()
    return dataclasses.replace(granted, scopes=(granted.scopes - {"files:read"}) | set(scopes))


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed(grants=allowed("files:read")) as one:
        yield one
        invariants.check(one)


@asynccontextmanager
async def hearing(
    bed: SlackBed, *, knows: bool = True, patience: float = PATIENT
) -> AsyncGenerator[WayIn, None]:
    def brings(client: AsyncWebClient, people: object) -> tuple[Any, ...]:
        return (SlackFiles(client, lambda thread: knows, patience=patience).beside,)

    async with way_in(bed, brings=brings) as way, listening(way):
        yield way


async def heard(way: WayIn) -> Said:
    _, event = await way.one()
    assert isinstance(event, Said)
    return event


async def only(way: WayIn) -> Attached:
    (file,) = (await heard(way)).files
    return file


async def test_a_text_file_is_read_with_what_was_said(bed: SlackBed) -> None:
    async with hearing(bed) as way:
        await bed.share(MIKA, PUBLIC, {"notes.md": NOTES.encode()}, "<@U0BOT> Build this")
        event = await heard(way)
    assert event.text == "Build this"
    assert event.files == (Attached(name="notes.md", text=NOTES),)


async def test_the_bots_name_and_a_file_are_a_request_and_no_call_for_help(bed: SlackBed) -> None:
    async with hearing(bed) as way:
        await bed.share(MIKA, PUBLIC, {"notes.md": NOTES.encode()}, "<@U0BOT>")
        assert (await only(way)).text == NOTES


async def test_a_file_alone_in_a_thread_is_an_answer(bed: SlackBed) -> None:
    async with hearing(bed) as way:
        root = await bed.say(MIKA, PUBLIC, "what shall we do?")
        await bed.share(MIKA, PUBLIC, {"notes.md": NOTES.encode()}, thread=root.ts)
        event = await heard(way)
    assert (event.text, event.mention) == ("", False)
    assert event.files[0].text == NOTES


async def test_a_file_in_a_channel_that_is_not_for_the_bot_is_not_looked_into(
    bed: SlackBed,
) -> None:
    async with hearing(bed, knows=False) as way:
        root = await bed.share(MIKA, PUBLIC, {"notes.md": b"lunch"}, "lunch?")
        await bed.share(MIKA, PUBLIC, {"notes.md": b"pizza"}, "pizza", thread=root.ts)
        event = await heard(way)
    assert (event.text, event.files) == ("pizza", ())
    assert bed.shelf.asked == []


async def test_files_of_somebody_from_elsewhere_are_not_looked_into(bed: SlackBed) -> None:
    async with hearing(bed) as way:
        await bed.share(EXTERNAL, PUBLIC, {"notes.md": b"hello"}, "<@U0BOT> Build this")
        assert (await heard(way)).files == ()
    assert bed.shelf.asked == []


async def test_a_command_stays_a_command_whatever_stands_beside_it(bed: SlackBed) -> None:
    async with hearing(bed) as way:
        await bed.share(MIKA, PUBLIC, {"notes.md": b"hello"}, "<@U0BOT> stop")
        _, event = await way.one()
    assert isinstance(event, Commanded)
    assert bed.shelf.asked == []


async def test_without_the_scope_it_is_said_what_is_missing() -> None:
    async with SlackBed(grants=allowed()) as bed, hearing(bed) as way:
        await bed.share(MIKA, PUBLIC, {"notes.md": NOTES.encode()}, "<@U0BOT> Build this")
        file = await only(way)
    assert file == Attached(
        name="notes.md", problem="Slack does not hand it over: the app needs the scope files:read."
    )


async def test_a_page_that_was_meant_is_no_page_to_sign_in(bed: SlackBed) -> None:
    async with hearing(bed) as way:
        page = b"<html><body>the page to be built</body></html>"
        await bed.share(MIKA, PUBLIC, {"page.html": page}, "<@U0BOT> so", mimetype="text/html")
        assert (await only(way)).text == page.decode()


async def test_what_is_larger_than_slack_said_is_not_read_to_its_end(bed: SlackBed) -> None:
    async with hearing(bed) as way:
        large = b"x" * (MOST_BYTES * 20)
        await bed.share(MIKA, PUBLIC, {"notes.md": large}, "<@U0BOT> so", size=10)
        file = await only(way)
    assert (file.text, file.problem) == ("", TOO_LARGE)


async def test_a_file_as_large_as_may_be_is_read_whole(bed: SlackBed) -> None:
    async with hearing(bed) as way:
        await bed.share(MIKA, PUBLIC, {"a": b"x" * MOST_BYTES, "b": b"x" * (MOST_BYTES + 1)}, "<@U0BOT> so")  # fmt: skip
        fits, does_not = (await heard(way)).files
    assert len(fits.text) == MOST_BYTES
    assert does_not.problem == TOO_LARGE


async def test_what_slack_does_not_hand_over_in_time_holds_up_nobody(bed: SlackBed) -> None:
    bed.shelf.slow = asyncio.Event()
    async with hearing(bed, patience=0.2) as way:
        await bed.share(MIKA, PUBLIC, {"notes.md": b"hello"}, "<@U0BOT> so")
        file = await only(way)
        bed.shelf.slow.set()
    assert file.problem == "Slack did not hand it over in time."


@pytest.mark.parametrize("status", [404, 429, 500, 503])
async def test_what_slack_does_not_hand_over_is_told(bed: SlackBed, status: int) -> None:
    bed.shelf.instead = lambda request: web.Response(status=status)
    async with hearing(bed) as way:
        await bed.share(MIKA, PUBLIC, {"notes.md": b"hello"}, "<@U0BOT> so")
        assert (await only(way)).problem == "Slack did not hand it over."


async def test_a_connection_that_is_cut_is_told(bed: SlackBed) -> None:
    def cut(request: web.Request) -> web.StreamResponse:
        assert request.transport
        request.transport.abort()
        return web.Response()

    bed.shelf.instead = cut
    async with hearing(bed) as way:
        await bed.share(MIKA, PUBLIC, {"notes.md": b"hello"}, "<@U0BOT> so")
        assert (await only(way)).problem == "Slack did not hand it over."


# The token


@asynccontextmanager
async def elsewhere() -> AsyncGenerator[tuple[str, list[dict[str, str]]], None]:
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


@pytest.mark.parametrize("path", ["/api/auth.test", "/api/files-pri/x", "/files-pri/../api/auth.test",
                                  "/files-pri/F1/download/a/../../../api/auth.test", "/files-pri/F1/a\\b"])  # fmt: skip
async def test_with_the_token_nothing_is_asked_for_but_files(bed: SlackBed, path: str) -> None:
    async with calls_to(bed) as client:
        files = SlackFiles(client, lambda thread: True)
        (found,) = await files.read(
            [OfferedFile("notes.md", f"{bed.world.base}{path}", "text/plain")]
        )
    assert found.problem == "It is not kept by Slack itself."
    assert bed.calls == []


@pytest.mark.parametrize("trap", ["{host}/files-pri/x", "{home}@{bare}/x", "{home}.evil/x", "//{bare}/x"])  # fmt: skip
async def test_no_other_host_is_asked_whatever_a_message_says(bed: SlackBed, trap: str) -> None:
    async with elsewhere() as (host, told), hearing(bed) as way:
        bare, home = host.removeprefix("http://"), bed.api_url.removesuffix("/api/")
        url = trap.format(host=host, bare=bare, home=home)
        await bed.share(
            MIKA, PUBLIC, {"notes.md": b"hello"}, "<@U0BOT> so", url_private_download=url
        )
        assert (await only(way)).problem == "It is not kept by Slack itself."
    assert told == bed.shelf.asked == []


async def test_no_redirect_is_followed(bed: SlackBed) -> None:
    async with elsewhere() as (host, told), hearing(bed) as way:

        def away(request: web.Request) -> web.StreamResponse:
            return web.Response(status=302, headers={"Location": f"{host}/login"})

        bed.shelf.instead = away
        await bed.share(MIKA, PUBLIC, {"notes.md": b"hello"}, "<@U0BOT> so")
        file = await only(way)
    assert "files:read" in file.problem
    assert told == []
    assert [one.with_token for one in bed.shelf.asked][:1] == [True]


async def test_the_token_is_in_no_log_and_in_no_word(
    bed: SlackBed, caplog: pytest.LogCaptureFixture
) -> None:
    async with calls_to(bed) as client:
        files = SlackFiles(client, lambda thread: True)
        place = f"{bed.world.base}/files-pri/T0001-F1/download/notes.md"
        await bed.go_away()
        (gone,) = await files.read([OfferedFile("notes.md", place, "text/plain")])
    assert gone.problem == "Slack did not hand it over."
    assert "a file was not read" in caplog.text
    assert BOT_TOKEN not in f"{gone} {caplog.text} {files!r}"


# What is read, by what Slack says of it


def offered(**more: Any) -> OfferedFile:
    url = "https://files.slack.com/files-pri/T0001-F1/download/notes.md"
    (one,) = files_in({"files": [{**FILE, "url_private_download": url, **more}]}, TEAM)
    return one


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/markdown", "text/csv", "application/json", "application/ld+json",
             "application/x-yaml", "application/toml", "TEXT/plain; charset=utf-8"]
)  # fmt: skip
def test_what_is_text_is_read(kind: str) -> None:
    assert offered(mimetype=kind).problem == ""
    assert offered(mimetype=kind).url.startswith("https://files.slack.com/")


def test_where_slack_knows_no_mime_type_its_own_name_of_the_type_counts() -> None:
    for unknown in ("", "application/octet-stream"):
        assert offered(mimetype=unknown, filetype="markdown").problem == ""
        assert offered(mimetype=unknown, filetype="binary").problem != ""
    assert offered(mimetype="image/png", filetype="text").problem != ""


@pytest.mark.parametrize(
    "kind", ["image/png", "application/pdf", "application/octet-stream", "application/zip",
             "text/rtf", "video/mp4", "", "application/vnd.ms-excel"]
)  # fmt: skip
def test_what_is_no_text_is_not_asked_for(kind: str) -> None:
    found = offered(mimetype=kind)
    assert (found.problem, found.url) == ("It is not a text file.", "")


def test_a_snippet_is_a_text_file() -> None:
    assert offered(mode="snippet", filetype="python").problem == ""


@pytest.mark.parametrize(
    ("more", "word"),
    [
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
    ],
)
def test_what_cannot_be_read_says_why_in_a_sentence(more: dict[str, Any], word: str) -> None:
    found = offered(**more)
    assert word in found.problem
    assert found.problem.endswith(".")
    assert found.url == ""


def test_of_many_files_a_few_are_read_and_none_goes_unmentioned() -> None:
    event = {"files": [{**FILE, "name": f"{n}.md"} for n in range(14)]}
    found = files_in(event, TEAM)
    assert [one.problem == "" for one in found] == [True] * MOST_FILES + [False] * 6
    assert found[-1].name == "4 more files"


def test_what_is_no_text_takes_no_place_from_what_is() -> None:
    pictures = [{**FILE, "mimetype": "image/png"}] * 4
    found = files_in({"files": [*pictures, *[FILE] * 5]}, TEAM)
    assert [one.problem == "" for one in found] == [False] * 4 + [True] * 5


@pytest.mark.parametrize("files", [None, "files", {}, [], [None, "x", 3]])
def test_what_is_no_list_of_files_is_none(files: object) -> None:
    assert files_in({"files": files}, TEAM) == ()


def test_a_file_without_a_name_has_one_and_a_long_one_is_cut() -> None:
    assert offered(name="", title="").name == "a file"
    assert len(offered(name="x\n" * 500).name) <= 120
    assert "\n" not in offered(name="a\nb").name


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00x", b"\x80abc", b"a\x00b", "é".encode("latin-1")]
)
def test_what_is_not_utf_8_is_no_text(content: bytes) -> None:
    assert decoded_text(content) is None


async def test_what_turns_out_to_be_no_text_is_told(bed: SlackBed) -> None:
    async with hearing(bed) as way:
        await bed.share(MIKA, PUBLIC, {"notes.md": b"\x89PNG\x00"}, "<@U0BOT> so")
        assert (await only(way)).problem == NO_TEXT


def test_a_mark_at_its_beginning_is_no_part_of_a_text() -> None:
    assert decoded_text(b"\xef\xbb\xbfhello") == "hello"
