"""Serves the page to a browser on this machine, from the process of the bot.

Nothing is decided here: what is pressed or said becomes an event of the local chat, like a line typed at the console.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
import os
import secrets
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from aiohttp import web
from pydantic import Field, ValidationError

from adapters.local.chat import PLATFORM, LocalChat
from adapters.local.page.buttons import Button, Buttons
from adapters.local.page.data import PageData
from adapters.local.page.door import MAX_BODY_BYTES, Codes, Door
from adapters.local.page.frame import TABS, PageParts, choices_on
from adapters.local.page.hub import Hub
from adapters.local.page.render import Renderer
from adapters.local.page.screens import Screens
from adapters.local.page.texts import in_language
from bot.core.cards import Card
from bot.core.choices import Word, parse_command
from bot.core.errors import PortError, Refused
from bot.core.events import Attached, Commanded, Pressed, Said
from bot.core.facts import Fact
from bot.core.people import Person, Thread
from bot.core.text import sentences

log = logging.getLogger("bot.local")

CHANNEL = "page"
MAX_ANSWERS = 20
"""Private answers that stay on the page until they are closed."""
MAX_FILES = 10
LASTS_SECONDS = 1.0
"""How long a screen is not made again: git, for one, changes without telling."""
GZIP_FROM_BYTES = 1_400
_STATIC = Path(__file__).parent / "static"
_POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types htmx"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}


class _Open(Fact):
    code: str = Field(max_length=200)


class _Press(Fact):
    button: str = Field(max_length=100)
    text: str = Field(default="", max_length=20_000)
    answers: dict[int, str] = Field(default_factory=dict, max_length=100)


class _File(Fact):
    name: str = Field(max_length=200)
    text: str = Field(max_length=200_000)


class _Say(Fact):
    text: str = Field(max_length=20_000)
    session: str = Field(default="", max_length=64)
    """Empty: a new request, or a command about no session."""
    repository: str = Field(default="", max_length=1_000)
    files: tuple[_File, ...] = Field(default=(), max_length=MAX_FILES)


class _Close(Fact):
    answer: str = Field(max_length=100)


@dataclass(frozen=True)
class _Made:
    """A screen as it was at a number of the state."""

    number: int
    at: float
    html: asyncio.Future[bytes | None]


class PageServer:
    """The page's server and its seat in the local chat. Started by the first who asks for an address."""

    def __init__(self, chat: LocalChat, data: PageData) -> None:
        self._chat = chat
        self._data = data
        self._codes = Codes()
        self._door = Door(self._codes)
        self._hub = Hub()
        self._buttons = Buttons()
        self._answers: dict[str, tuple[Thread, Card]] = {}
        self._turned_to = ""
        self._screens = Screens(PageParts(chat, data, self._buttons), self._hub.changed)
        self._renderer = Renderer(data.mask)
        self._made: dict[tuple[str, str], _Made] = {}
        self._runner: web.AppRunner | None = None
        self._host = ""
        self._starting = asyncio.Lock()

    async def address(self, session: str = "", port: int = 0) -> str:
        """Return an address that opens the page once, within a minute.

        `session`: its id, or the beginning, and perhaps one of its screens (`1a2b/plan`). `port`: a port of 127.0.0.1 at which it shall be reached besides.
        """
        async with self._starting:
            if self._runner is None:
                self._runner = await self._start()
            host = await self._listen_at(self._runner, "127.0.0.1", port) if port else self._host
        session, _, tab = session.partition("/")
        found = self._data.session(session) if session else None
        if session and found is None:
            raise Refused(f"There is no session {session}.", "gwt-bot sessions lists them.")
        go = f"&go=s/{found.id}" if found else ""
        go += f"/{tab}" if found and tab in dict(TABS) else ""
        return f"http://{host}/#code={self._codes.new_code()}{go}"

    async def _start(self) -> web.AppRunner:
        app = web.Application(
            middlewares=[self._errors, self._door.check], client_max_size=MAX_BODY_BYTES
        )
        app.on_response_prepare.append(_add_headers)
        app.add_routes(
            [
                web.get("/", self._shell),
                web.post("/open", self._open),
                web.get("/stream", self._stream),
                web.get("/screen/{path:.*}", self._screen),
                web.post("/press", self._press),
                web.post("/say", self._say),
                web.post("/close", self._close),
                web.static("/static", _STATIC),
            ]
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1, handle_signals=False)
        await runner.setup()
        # A new place at each start: whoever takes an old one gets neither a token nor a code. The address is random, too,
        # so that no page or service worker of another program has ever been there.
        host = "127.0.0.1"
        if sys.platform == "linux":
            host = "127." + ".".join(str(1 + secrets.randbelow(254)) for _ in range(3))
        self._host = await self._listen_at(runner, host, 0)
        self._chat.sit(self)
        self._chat.noted_elsewhere = lambda thread: self._hub.changed(
            self._data.session_in(thread) or "*"
        )
        self._data.follow(self._hub.changed)
        return runner

    async def _listen_at(self, runner: web.AppRunner, host: str, port: int) -> str:
        """Listen there, unless that is done already. Return what a browser calls it."""
        if port and (there := f"{host}:{port}") in self._door.hosts:
            return there
        try:
            site = web.TCPSite(runner, host, port)
            await site.start()
        except OSError as error:
            raise Refused(
                f"The page cannot listen at {host}:{port}: {os.strerror(error.errno or 0)}.",
                "Choose another port.",
            ) from error
        there = f"{host}:{port or runner.addresses[-1][1]}"
        self._door.hosts.add(there)
        return there

    async def close(self) -> None:
        if self._runner is None:
            return
        self._chat.leave(self)
        self._chat.noted_elsewhere = None
        self._data.follow(None)
        self._hub.close_all()
        await self._screens.close()
        await self._runner.cleanup()
        self._runner = None

    # What a browser asks for.

    @web.middleware
    async def _errors(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Answer problems in words. What the browser sent is never repeated in them."""
        try:
            return await handler(request)
        except web.HTTPException as problem:
            problem.text = in_language(problem.text or "", _language(request))
            raise
        except ValidationError as error:
            return web.Response(status=400, text=in_language(_unread(error), _language(request)))
        except PortError as problem:
            told = self._data.mask(sentences(problem.reason, problem.remedy))
            return web.Response(status=503, text=told)
        except ConnectionError:
            raise
        except Exception:
            # the edge of a request: an error in one screen must not end the others
            log.exception("a request of the page failed")
            told = in_language("That did not work; the log has the details.", _language(request))
            return web.Response(status=500, text=told)

    async def _shell(self, request: web.Request) -> web.StreamResponse:
        return self._page(request, "shell.html", {"language": _language(request)})

    async def _open(self, request: web.Request) -> web.StreamResponse:
        token = self._codes.exchange(_Open.model_validate_json(await request.read()).code)
        if token is None:
            raise web.HTTPForbidden(
                text="This address was used already, or is too old. Open the page again: gwt-bot web"
            )
        return web.json_response({"token": token})

    async def _screen(self, request: web.Request) -> web.StreamResponse:
        # All tabs hear of a change at once and ask for the same: it is made once.
        key = (request.path_qs, _language(request))
        now, number = time.monotonic(), self._hub.number
        made = self._made.get(key)
        if made is None or made.number != number or now - made.at > LASTS_SECONDS:
            html = asyncio.ensure_future(self._screen_html(request))
            self._made = {
                old: one
                for old, one in self._made.items()
                if one.number == number and now - one.at <= LASTS_SECONDS
            }
            made = self._made[key] = _Made(number, now, html)
        body = await asyncio.shield(made.html)
        if body is None:
            raise web.HTTPNotFound(text="There is nothing at this address.")
        response = self._answer(request, body, "none")
        response.headers["X-State"] = str(made.number)
        return response

    async def _screen_html(self, request: web.Request) -> bytes | None:
        path = request.match_info["path"]
        found = await self._screens.at(path, dict(request.query))
        if found is None:
            return None
        template, context = found
        more = {"path": path, "answers": self._answers_shown(), "language": _language(request)}
        return self._renderer.render(template, {**context, **more}).encode()

    def _answers_shown(self) -> list[dict[str, object]]:
        return [
            {"id": id, **self._screens.card(thread, card)}
            for id, (thread, card) in self._answers.items()
        ]

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        stream = self._hub.open(request.headers["Authorization"])
        following = None
        if pane := request.query.get("pane"):
            following = asyncio.create_task(self._screens.follow_pane(pane, stream.say))
        stream.changed("*")
        try:
            async for frame in stream.frames(self._hub):
                await response.write(frame)
        except ConnectionError:
            pass  # the tab was closed
        finally:
            self._hub.close(stream)
            if following:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
        return response

    async def _press(self, request: web.Request) -> web.StreamResponse:
        pressed = _Press.model_validate_json(await request.read())
        button = self._buttons.take(pressed.button)
        self._made.clear()  # it has that button
        if button is None or not self._still_offers(button):
            raise web.HTTPConflict(text="That has changed meanwhile. Look again before you press.")
        event = Pressed(
            id=f"web-{uuid4()}",
            at=datetime.now(UTC),
            by=self._chat.person,
            verb=button.choice.verb,
            about=button.choice.about,
            text=pressed.text.strip(),
            answers=pressed.answers,
        )
        try:
            taken = await self._chat.deliver(self, button.thread, event)
        except PortError:
            self._buttons.give_back(pressed.button, button)
            raise
        return self._taken(taken)

    def _still_offers(self, button: Button) -> bool:
        # answers are on no board: the page alone has them, until they are closed
        thread, answer = self._answers.get(button.card, (None, None))
        if answer and thread == button.thread:
            return button.choice in choices_on(answer)
        return self._screens.still_offers(button)

    async def _say(self, request: web.Request) -> web.StreamResponse:
        said = _Say.model_validate_json(await request.read())
        self._made.clear()
        thread = self._screens.thread_of(said.session) if said.session else None
        if thread is None and said.session:
            raise web.HTTPNotFound(text="There is no such session any more.")
        thread = thread or Thread(platform=PLATFORM, channel=CHANNEL, root=str(uuid4()))
        name = self._name_of(said.repository)
        mark = {"id": f"web-{uuid4()}", "at": datetime.now(UTC), "by": self._chat.person}
        command = parse_command(said.text)
        if command and command.word is Word.SPEC:
            if said.files:
                raise web.HTTPBadRequest(
                    text="Files cannot be given along where only the plan is written: put what matters into the request."
                )
            if name:
                command = command.model_copy(update={"text": f"{command.text} repo:{name}"})
        if command and not said.files:
            event = Commanded.model_validate({**mark, "command": command})
        else:
            files = tuple(Attached(name=one.name, text=one.text) for one in said.files)
            event = Said.model_validate(
                {**mark, "text": said.text, "files": files, "repository": said.repository}
            )
        taken = await self._chat.deliver(self, thread, event)
        found = self._data.session_in(thread)
        return self._taken(taken, opened=found if not said.session else "")

    def _name_of(self, repository: str) -> str:
        """Return the name of the chosen repository; empty for the default one. Others are not accepted."""
        if not repository:
            return ""
        names = {path: name for name, path in self._data.repositories()}
        if repository not in names:
            raise web.HTTPBadRequest(text="The bot does not work on this repository any more.")
        return names[repository]

    def _taken(self, taken: bool, opened: str = "") -> web.StreamResponse:
        turned, self._turned_to = self._turned_to, ""
        return web.json_response(
            {"taken": taken, "session": opened or turned, "n": self._hub.number}
        )

    async def _close(self, request: web.Request) -> web.StreamResponse:
        self._answers.pop(_Close.model_validate_json(await request.read()).answer, None)
        self._hub.changed()
        return web.json_response({"taken": True})

    def _page(
        self, request: web.Request, template: str, context: dict[str, object]
    ) -> web.Response:
        nonce = secrets.token_urlsafe(16)
        body = self._renderer.render(template, {**context, "nonce": nonce}).encode()
        return self._answer(request, body, nonce)

    def _answer(self, request: web.Request, body: bytes, nonce: str) -> web.Response:
        response = web.Response(content_type="text/html", charset="utf-8")
        if len(body) > GZIP_FROM_BYTES and "gzip" in request.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, 4)
            response.headers["Content-Encoding"] = "gzip"
        response.body = body
        response.headers["Content-Security-Policy"] = _POLICY.replace("{nonce}", nonce)
        return response

    # The seat in the local chat.

    async def show(self, thread: Thread, card: Card) -> None:
        if card.key.partition(":")[0] in ("answer", "told"):
            self._add_answer(thread, card)
        else:
            self._hub.changed(self._data.session_in(thread) or "*")

    async def open(self, thread: Thread, card: Card) -> Thread:
        self._hub.changed()
        return thread

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        self._add_answer(thread, card)

    async def turn_to(self, thread: Thread) -> None:
        self._turned_to = self._data.session_in(thread)

    def _add_answer(self, thread: Thread, card: Card) -> None:
        self._answers.pop(card.key, None)
        self._answers[card.key] = (thread, card)
        while len(self._answers) > MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]
        self._hub.changed()


def _unread(error: ValidationError) -> str:
    """Say what is wrong with what the page sent, without its words."""
    longest = [
        one["ctx"]["max_length"]
        for one in error.errors(include_url=False, include_input=False)
        if one["type"] == "string_too_long" and "ctx" in one
    ]
    if longest:
        return f"That is too long: {min(longest):,} characters are taken. Nothing was sent."
    return "The page sent something that cannot be read. Reload it."


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)
    response.headers.setdefault("Content-Security-Policy", _POLICY.replace(" 'nonce-{nonce}'", ""))
    response.headers["Cache-Control"] = (
        "no-cache" if request.path.startswith("/static/") else "no-store"
    )


def _language(request: web.Request) -> str:
    chosen = request.query.get("language") or request.headers.get("Accept-Language", "")
    return "ja" if chosen.lower().startswith("ja") else "en"
