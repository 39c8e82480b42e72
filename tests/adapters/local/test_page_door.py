"""Who gets into the local page, and who does not: each refusal by itself, with real connections."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
import pytest
from playwright.async_api import async_playwright

from adapters.local.page.door import CODE_SECONDS, MAX_BODY_BYTES, MAX_TOKENS, Codes
from adapters.local.page.hub import MAX_STREAMS_OF_TAB
from bot.core.errors import Refused
from tests.adapters.local.page_stage import CHROMIUM, PageStage, needs_chromium

on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="the kernel tells who connects only on Linux"
)


@dataclass
class Visitor:
    """A program that talks to the page like a browser would, or not."""

    origin: str
    code: str
    http: aiohttp.ClientSession
    token: str = ""

    def headers(self, **changed: str | None) -> dict[str, str]:
        usual = {
            "Origin": self.origin,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/json",
            "Authorization": f"Bearer {self.token}",
        }
        merged = usual | {name.replace("_", "-"): value for name, value in changed.items()}
        return {name: value for name, value in merged.items() if value is not None}

    async def get(self, path: str, **changed: str | None) -> tuple[int, str]:
        async with self.http.get(self.origin + path, headers=self.headers(**changed)) as answer:
            return answer.status, await answer.text()

    async def post(
        self, path: str, body: Mapping[str, object] | bytes, **changed: str | None
    ) -> tuple[int, str]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = self.headers(**changed)
        async with self.http.post(self.origin + path, data=data, headers=headers) as answer:
            return answer.status, await answer.text()

    async def comes_in(self) -> None:
        status, told = await self.post("/open", {"code": self.code})
        assert status == 200
        self.token = json.loads(told)["token"]


@asynccontextmanager
async def visitor(stage: PageStage) -> AsyncGenerator[Visitor]:
    async with stage.page_server() as server, aiohttp.ClientSession() as http:
        yield at(await server.address(), http)


def at(address: str, http: aiohttp.ClientSession) -> Visitor:
    parts = urlsplit(address)
    code = parts.fragment.removeprefix("code=")
    return Visitor(f"http://{parts.netloc}", code, http)


async def test_of_ten_who_bring_the_same_code_one_gets_in(stage: PageStage) -> None:
    async with visitor(stage) as one:
        answers = await asyncio.gather(*(one.post("/open", {"code": one.code}) for _ in range(10)))
    assert sorted(status for status, _ in answers) == [200] + [403] * 9


def test_a_code_is_good_for_a_minute() -> None:
    now = 0.0
    codes = Codes(lambda: now)
    late, in_time = codes.new_code(), codes.new_code()
    now = CODE_SECONDS - 0.1
    assert codes.exchange(in_time)
    now = CODE_SECONDS + 0.1
    assert codes.exchange(late) is None


def test_there_are_only_so_many_tabs_and_the_oldest_has_to_go() -> None:
    codes = Codes()
    tokens = [codes.exchange(codes.new_code()) or "" for _ in range(MAX_TOKENS + 1)]
    assert [codes.knows(token) for token in tokens] == [False] + [True] * MAX_TOKENS


REFUSED: list[tuple[str, dict[str, str | None], int]] = [
    ("no token", {"Authorization": None}, 401),
    ("a wrong token", {"Authorization": "Bearer guessed"}, 401),
    ("a token of another kind", {"Authorization": "Basic guessed"}, 401),
    ("another name for this machine", {"Host": "localhost:80"}, 421),
    ("a name of somebody else's", {"Host": "evil.example"}, 421),
    ("another page", {"Origin": "http://evil.example"}, 403),
    ("a page in a frame", {"Origin": "null"}, 403),
    ("another site", {"Sec_Fetch_Site": "cross-site"}, 403),
    ("another port of this machine", {"Sec_Fetch_Site": "same-site"}, 403),
]


@pytest.mark.parametrize(
    ("changed", "status"), [row[1:] for row in REFUSED], ids=[r[0] for r in REFUSED]
)
async def test_nothing_is_shown_to_anybody_else(
    stage: PageStage, changed: dict[str, str | None], status: int
) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        assert (await one.get("/screen/board"))[0] == 200
        for path in ("/screen/board", "/stream"):
            refused, told = await one.get(path, **changed)
            assert (refused, "Board" in told) == (status, False)
        said = {"text": "Add discounts"}
        assert (await one.post("/say", said, **changed))[0] == status
        assert stage.store.sessions() == []


async def test_only_the_page_itself_may_send(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        said = {"text": "Add discounts"}
        assert (await one.post("/say", said, Origin=None))[0] == 403
        form = "application/x-www-form-urlencoded"
        assert (await one.post("/say", said, Content_Type=form))[0] == 403
        assert (
            await one.post(
                "/say",
                b"{",
            )
        )[0] == 400
        assert (await one.post("/say", {"text": "x", "more": 1}))[0] == 400
        assert (await one.post("/say", b"x" * (MAX_BODY_BYTES + 1)))[0] == 413
        async with one.http.put(one.origin + "/say", headers=one.headers()) as answer:
            assert answer.status == 405
        assert stage.store.sessions() == []
        assert (await one.post("/say", said))[0] == 200
        assert len(stage.store.sessions()) == 1


async def test_every_answer_forbids_what_a_page_could_be_misused_for(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        for path in ("/", "/screen/board", "/static/app.js", "/screen/nowhere"):
            async with one.http.get(one.origin + path, headers=one.headers()) as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "require-trusted-types-for 'script'" in policy
                assert "unsafe" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Referrer-Policy"] == "no-referrer"
                assert "Set-Cookie" not in answer.headers


async def test_of_three_quick_presses_one_counts(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        await one.post("/say", {"text": "Add discounts"})
        await stage.settle()
        (listed,) = stage.store.sessions()
        _, html = await one.get(f"/screen/s/{listed.id}")
        name = html.split('data-answers="')[1].split('"')[0]
        press = {"button": name, "answers": {1: "no", 2: "up"}}
        answers = await asyncio.gather(*(one.post("/press", press) for _ in range(3)))
        assert sorted(status for status, _ in answers) == [200, 409, 409]


async def test_a_button_of_a_card_that_has_changed_does_nothing(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        await one.post("/say", {"text": "Add discounts"})
        await stage.settle()
        (listed,) = stage.store.sessions()
        _, html = await one.get(f"/screen/s/{listed.id}")
        name = html.split('data-answers="')[1].split('"')[0]
        await one.post("/say", {"text": "defaults", "session": listed.id})
        await stage.settle()
        status, told = await one.post("/press", {"button": name, "answers": {1: "yes"}})
        assert status == 409
        assert "changed meanwhile" in told


async def test_a_token_is_worth_nothing_at_the_next_bot(stage: PageStage, tmp_path: object) -> None:
    async with aiohttp.ClientSession() as http:
        async with stage.page_server() as server:
            old = at(await server.address(), http)
            await old.comes_in()
        async with stage.page_server() as server:
            new = at(await server.address(), http)
            assert new.origin != old.origin
            new.token = old.token
            assert (await new.get("/screen/board"))[0] == 401
            assert (await new.post("/open", {"code": old.code}))[0] == 403


async def test_the_oldest_stream_of_a_tab_is_ended(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        streams = [
            await one.http.get(one.origin + "/stream", headers=one.headers())
            for _ in range(MAX_STREAMS_OF_TAB + 1)
        ]
        async with asyncio.timeout(30):
            await streams[0].content.read()
        assert not any(stream.content.at_eof() for stream in streams[1:])
        for stream in streams:
            stream.close()


ASKS = """
import sys, urllib.request
asked = urllib.request.Request(sys.argv[1] + "/screen/board", headers={"Authorization": "Bearer " + sys.argv[2]})
try:
    print(urllib.request.urlopen(asked, timeout=20).status)
except urllib.error.HTTPError as refused:
    print(refused.code)
"""


async def asked_by(visitor: Visitor, environ: Mapping[str, str], *before: str) -> int:
    process = await asyncio.create_subprocess_exec(
        *before,
        sys.executable,
        "-c",
        ASKS,
        visitor.origin,
        visitor.token,
        env={"PATH": os.environ["PATH"], **environ},
        stdout=subprocess.PIPE,
    )
    told, _ = await process.communicate()
    return int(told)


@on_linux
async def test_an_agent_may_not_even_look(stage: PageStage) -> None:
    """Whatever it knows: here even the token of a tab."""
    async with visitor(stage) as one:
        await one.comes_in()
        assert await asked_by(one, {}) == 200
        assert await asked_by(one, {"GWT_SPOOL": "/somewhere"}) == 403
        cleaned = ("env", "GWT_SPOOL=/somewhere", "sh", "-c", 'env -i "$@" & wait', "sh")
        assert await asked_by(one, {}, *cleaned) == 403


@on_linux
@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
async def test_another_user_of_the_machine_may_not_look(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        as_nobody = ("setpriv", "--reuid=65534", "--clear-groups")
        assert await asked_by(one, {}, *as_nobody) == 403


@needs_chromium
async def test_a_name_that_leads_here_shows_nothing(stage: PageStage) -> None:
    """DNS rebinding: the browser believes that evil.test is this machine."""
    async with stage.page_server() as server, async_playwright() as playwright:
        parts = urlsplit(await server.address())
        rule = f"--host-resolver-rules=MAP evil.test {parts.hostname}"
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=[rule])
        page = await browser.new_page()
        answer = await page.goto(f"http://evil.test:{parts.port}/#{parts.fragment}")
        assert answer
        assert answer.status == 421
        assert "gwt-bot" not in await page.content()
        await browser.close()


async def test_a_chosen_port_serves_a_tunnel_and_the_other_address_goes_on(
    stage: PageStage, unused_tcp_port: int
) -> None:
    async with stage.page_server() as server, aiohttp.ClientSession() as http:
        usual = at(await server.address(), http)
        tunnel = at(await server.address("", unused_tcp_port), http)
        assert tunnel.origin == f"http://127.0.0.1:{unused_tcp_port}"
        for one in (usual, tunnel):
            await one.comes_in()
            assert (await one.get("/screen/board"))[0] == 200
        assert (await tunnel.get("/screen/board", Origin=usual.origin))[0] == 403


async def test_a_port_that_is_taken_is_said(stage: PageStage, unused_tcp_port: int) -> None:
    taken = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", unused_tcp_port)
    async with stage.page_server() as server, taken:
        with pytest.raises(Refused, match="Address already in use"):
            await server.address("", unused_tcp_port)
