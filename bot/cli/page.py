"""`gwt-bot web`: the local page, of the bot at work on this home or of one that is started here."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.files import UnsyncedDisk
from adapters.local.chat import LocalChat
from adapters.local.handshake import ask_bot
from adapters.local.page.data import Changed
from bot import settings
from bot.cli.assemble import AssemblyOptions
from bot.cli.page_changes import ChangesReader
from bot.cli.process import local_person, say, secrets_in
from bot.cli.read_settings import read_settings
from bot.core.actions import Show
from bot.core.cards import Card
from bot.core.choices import Word
from bot.core.desk import Desk
from bot.core.masking import LearningMasker
from bot.core.people import Thread
from bot.core.projections.task_logs import TaskLog
from bot.core.screens import PaneScreen
from bot.core.session import Session
from bot.core.sheets import Element, Entry
from bot.ports import IndexedSession
from bot.steps.control.commands import waiting_cards

if TYPE_CHECKING:
    from adapters.local.page.server import PageServer
    from bot.settings import Settings


MAX_HISTORY = 500
"""Sessions in the history, the latest ones."""


class BotPage:
    """What the page shows of the running bot."""

    def __init__(self, desk: Desk, current: Callable[[], Settings], example: str = "") -> None:
        self._desk = desk
        self._current = current
        self._world = desk.world
        self.mask = desk.world.masker.mask
        self.repository = desk.world.rules.repository
        self.example = example
        self.changes = ChangesReader(desk.world).changes
        self._history: dict[str, tuple[datetime, Session]] = {}
        self._checks: list[Mapping[str, object]] = []
        self._checking: asyncio.Task[None] | None = None

    def repositories(self) -> Sequence[tuple[str, str]]:
        named = {path: name for name, path in self._world.rules.repositories.items()}
        default = named.pop(self.repository, Path(self.repository).name)
        return ((default, self.repository), *((name, path) for path, name in named.items()))

    def sessions(self) -> Sequence[IndexedSession]:
        return self._world.store.sessions()

    def session(self, session_id: str) -> Session | None:
        return self._desk.session(session_id)

    def session_in(self, thread: Thread) -> str:
        return self._desk.session_id_of(thread)

    def waiting(self, session: Session) -> tuple[Card, ...]:
        return tuple(deed.card for deed in waiting_cards(session) if isinstance(deed, Show))

    def now(self) -> datetime:
        return self._world.clock.now()

    async def screen(self, run: str) -> PaneScreen:
        return await self._world.panes.screen(run)

    async def logs(self, session_id: str) -> tuple[TaskLog, ...]:
        return await self._world.logbook.read(session_id)

    def follow(self, changed: Changed | None) -> None:
        self._world.visits.follower = changed

    async def listed(self, what: Word, thread: Thread) -> tuple[Element, ...]:
        return await self._desk.listed(what, thread)

    async def waiting_intents(self, thread: Thread) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
        return await self._desk.waiting_intents(thread)

    async def finished(self) -> Sequence[Session]:
        """Return the latest sessions, finished or not. Those on disk are read once, away from the loop."""
        listed = self._world.store.sessions()[:MAX_HISTORY]
        kept = {one.id: (one.updated_at, session) for one in listed if (session := self._kept(one))}
        missing = [one for one in listed if one.id not in kept]
        if missing:
            await asyncio.to_thread(self._read, missing)
        found = [self._history[one.id][1] for one in listed if one.id in self._history]
        self._history = {one.id: self._history[one.id] for one in listed if one.id in self._history}
        return found

    def _kept(self, one: IndexedSession) -> Session | None:
        at, session = self._history.get(one.id, (None, None))
        return session if at == one.updated_at else None

    def _read(self, listed: Sequence[IndexedSession]) -> None:
        for one in listed:
            if session := self._desk.session(one.id):
                self._history[one.id] = (one.updated_at, session)

    def checks(self, *, again: bool) -> tuple[Sequence[Mapping[str, object]], bool]:
        if self._checking is None or (again and self._checking.done()):
            self._checks = []
            self._checking = asyncio.create_task(self._check(), name="checks")
        return tuple(self._checks), not self._checking.done()

    async def _check(self) -> None:
        from bot.cli.doctor import run_checks

        current = self._current()
        masker = LearningMasker({**secrets_in(os.environ), **current.secrets})
        async for found in run_checks(current, masker, ask_model=False):
            self._checks.append(asdict(found))
            if follower := self._world.visits.follower:
                follower("*")

    async def close(self) -> None:
        if self._checking:
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)


class Page:
    """The page's server, made when the first asks for an address: a bot without the page loads nothing of it."""

    def __init__(self, chat: LocalChat, data: BotPage) -> None:
        self._chat = chat
        self._data = data
        self._server: PageServer | None = None

    async def address(self, session: str = "", port: int = 0) -> str:
        """Return an address that opens the page once, at a session if one is named."""
        if self._server is None:
            from adapters.local.page.server import PageServer

            self._server = PageServer(self._chat, self._data)
        return await self._server.address(session, port)

    async def close(self) -> None:
        if self._server:
            await self._server.close()
        await self._data.close()


async def run(session: str, *, opens: bool, port: int, umask: int) -> None:
    """Open the page, and be the bot if none runs on this home."""
    current = await read_settings()
    if port:
        say(
            f"Port {port} stays the same at each start: while the bot is not at work another program could wait there for your "
            "browser. Close its tabs before you end the bot."
        )
    if told := await ask_bot(current.gwt_home, "page", session, port=port):
        await show_address(str(told[0]), current.gwt_home, opens=opens)
        return
    from bot.cli.serve import console_gate, running_bot_with_console

    gate = console_gate(local_person())
    plan = AssemblyOptions(current=settings.load, chats={}, gate=gate, umask=umask)
    async with running_bot_with_console(plan) as (desk, _, page):
        say(*desk.broken())
        await show_address(await page.address(session, port), current.gwt_home, opens=opens)
        await asyncio.Event().wait()


async def show_address(address: str, home: Path, *, opens: bool) -> None:
    """Open the address in a browser, or print it.

    The browser is given a private file that leads to the address: a command line could be read by everybody.
    """
    if not opens:
        sys.stdout.write(address + "\n")
        sys.stdout.flush()
        return
    file = home / "page.html"
    leads = f'<!doctype html><meta http-equiv="refresh" content="0;url={address}">'
    await asyncio.to_thread(UnsyncedDisk().replace, file, leads.encode())
    opened = await asyncio.to_thread(webbrowser.open, file.as_uri())
    if opened:
        say("The page is open in your browser. --no-open prints its address instead.")
    else:
        say("There is no browser here. The address works once, within a minute:")
        sys.stdout.write(address + "\n")
        sys.stdout.flush()
