"""`gwt-bot console`: the bot in a terminal or a pipe.

If a bot already runs on this home, the console connects to it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.console.chat import ConsoleChat, ConsoleOptions
from adapters.git.worktrees import temporary_copy
from adapters.local.client import BotConnection, connect_to_bot
from adapters.store import ReplFile
from bot import settings
from bot.cli.assemble import AssemblyOptions
from bot.cli.process import local_person, say
from bot.cli.read_settings import read_settings
from bot.cli.serve import console_gate, running_bot_with_console
from bot.core.commands import HELP
from bot.core.console import (
    ExitCode,
    OptionProblem,
    ProjectMode,
    ReplConfig,
    ReplOptions,
    ThreadStanding,
    exit_code,
    resolve_options,
)
from bot.core.desk import Desk
from bot.core.errors import Refused, SettingsError
from bot.core.events import FromPeople
from bot.core.people import Thread
from bot.ports import Deliver
from bot.settings import Settings, pane_environment

PAGE_HINT = "The same in a browser: gwt-bot web"
CONTINUES_NOTICE = "Not waited for: it goes on. `gwt-bot status` tells how it stands."
CONTINUES_LATER_NOTICE = "Not waited for: it goes on when the bot is started again. `gwt-bot status` tells how it stands."


async def run(options: ReplOptions, *, umask: int) -> int:
    """Run the console.

    Return 0 for complete, 1 for an error, 2 for incomplete; an interactive console always returns 0.
    """
    current = await read_settings()
    await asyncio.to_thread(ReplFile(current.gwt_home).load)
    config = resolve_config(options, current)
    path = await project_path(config)
    if config.print_project_path:
        sys.stdout.write(f"PROJECT_PATH={path}\n")
        sys.stdout.flush()
    chat = ConsoleChat(current.gwt_home, local_person(), options=console_options(config, path))
    async with connect_console(chat, settings.load, umask=umask) as seat:
        await seat.greet()
        await seat.attend(chat.listen(seat.deliver, seat.rest))
        return await seat.leave()


def resolve_config(options: ReplOptions, current: Settings) -> ReplConfig:
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    try:
        config = resolve_options(
            options,
            str(current.gwt_repository),
            terminal=terminal,
            is_folder=lambda path: Path(path).is_dir(),
        )
    except OptionProblem as wrong:
        raise SettingsError(str(wrong)) from wrong
    say(*(f"gwt-bot: {warning}" for warning in config.warnings))
    return config


async def project_path(config: ReplConfig) -> str:
    """Return the folder to work in. In temp mode, this makes the temporary copy."""
    if config.project_mode is ProjectMode.TEMP:
        return str(await temporary_copy(Path(config.project), pane_environment()))
    return str(config.project_root)


def console_options(config: ReplConfig, path: str) -> ConsoleOptions:
    return ConsoleOptions(
        scripted=config.non_interactive,
        repository=path if config.named else "",
        copy_of=config.project if config.project_mode is ProjectMode.TEMP else "",
        waits=config.wait,
        finishes=config.wait,
        leaves=config.exit_on_eof,
        own=path if config.named else "",
        words=HELP,
    )


@dataclass(frozen=True)
class ConsoleSeat:
    """A console's connection to the bot, in this process or over the socket of a bot that already runs."""

    chat: ConsoleChat
    deliver: Deliver
    rest: Callable[[Thread], Awaitable[ThreadStanding]]
    greet: Callable[[], Awaitable[None]]
    """Greet the person and show the state; from then on every event is shown."""
    look: Callable[[], Awaitable[None]]
    """From now on every event is shown, and nothing from before."""
    gone: asyncio.Event
    """Set when the bot has ended by itself."""
    joined: bool
    """Whether the bot was already running."""

    async def attend(self, listening: Awaitable[None]) -> None:
        """Wait for `listening` to end, or cancel it when the bot is gone."""
        work, gone = asyncio.ensure_future(listening), asyncio.ensure_future(self.gone.wait())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not work.done():
                work.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)
        if not work.cancelled():
            work.result()
        elif self.gone.is_set():
            raise Refused("The bot has ended.", "Agents go on; start it again to go on with it.")

    async def leave(self) -> int:
        """Close the console and return the exit code.

        If input is piped, wait first for the requested work where the options say so.
        """
        chat = self.chat
        if chat.is_interactive:
            return ExitCode.COMPLETE
        if chat.options.finishes:
            await self.finish()
        elif chat.moved:
            await chat.print_sentences(CONTINUES_NOTICE if self.joined else CONTINUES_LATER_NOTICE)
            return ExitCode.ERROR if chat.errors else ExitCode.INCOMPLETE
        return exit_code(chat.standings.values(), errors=chat.errors)

    async def finish(self) -> None:
        """Wait until no session can go on without a person, then say what waits for them."""
        await self.attend(self._wait_until_idle())
        await self._report_open_questions()

    async def _wait_until_idle(self) -> None:
        await self.chat.wait_until_idle(self.rest)

    async def _report_open_questions(self) -> None:
        # For whoever reads a script's output: what it left open.
        for standing in self.chat.standings.values():
            for title in standing.waits_for:
                await self.chat.print_sentences(f"{standing.title} waits for you: {title}")
            if standing.trouble:
                await self.chat.print_sentences(self._unfinished_text(standing))

    def _unfinished_text(self, standing: ThreadStanding) -> str:
        # The last card says that the work is retried; the reader must also learn that the waiting is over.
        goes_on = (
            "The bot at work keeps trying."
            if self.joined
            else f"I do not wait any longer; gwt-bot continue {standing.session[:8]} goes on with it."
        )
        return f"{standing.title} is not finished: {standing.trouble}. {goes_on}"


@asynccontextmanager
async def connect_console(
    chat: ConsoleChat,
    current: Callable[[], Settings],
    *,
    umask: int,
    only: frozenset[str] | None = None,
) -> AsyncGenerator[ConsoleSeat, None]:
    """Connect to the bot that runs on this home, or start one here.

    `only`: the sessions that a bot started here restores.
    """
    here = current()
    async with connect_to_bot(here.gwt_home, chat.person) as there:
        if there:
            if not chat.options.repository and there.welcome.repository != str(here.gwt_repository):
                chat.set_repository(str(here.gwt_repository))
            yield _remote_seat(chat, there)
            return
    gate = console_gate(chat.person)
    plan = AssemblyOptions(current=current, chats={}, gate=gate, only=only, umask=umask)
    async with local_seat(plan, chat) as seat:
        yield seat


def _remote_seat(chat: ConsoleChat, there: BotConnection) -> ConsoleSeat:
    async def greet() -> None:
        pid = there.welcome.pid
        if chat.is_interactive:
            await chat.print_sentences(
                f"Joined the bot at work on this home (process {pid}).", PAGE_HINT
            )
        await there.subscribe(chat, chat.thread, earlier=chat.is_interactive)

    async def look() -> None:
        await there.subscribe(chat, chat.thread, earlier=False)

    return ConsoleSeat(chat, there.deliver, there.rest, greet, look, there.gone, joined=True)


@asynccontextmanager
async def local_seat(plan: AssemblyOptions, chat: ConsoleChat) -> AsyncGenerator[ConsoleSeat, None]:
    """Start the bot in this process with this console connected to it. Other consoles may connect."""
    async with running_bot_with_console(plan) as (desk, local, _), asyncio.TaskGroup() as group:
        falling = group.create_task(_report_crashed_sessions(desk, chat))

        async def greet() -> None:
            await chat.print_sentences(
                *desk.broken(), *([PAGE_HINT] if chat.is_interactive else [])
            )
            # show what was sent while the desk opened, and what an earlier run was ended before it could show
            await local.catch_up(chat, chat.thread)
            await local.greet(chat, desk.welcome(chat.thread, chat.person))

        async def deliver(thread: Thread, event: FromPeople) -> bool:
            return await local.deliver(chat, thread, event)

        async def look() -> None:
            await chat.print_sentences(*desk.broken())

        local.sit(chat)
        yield ConsoleSeat(chat, deliver, desk.rest, greet, look, asyncio.Event(), joined=False)
        local.leave(chat)
        falling.cancel()


async def run_local_console(plan: AssemblyOptions, chat: ConsoleChat) -> int:
    """Start the bot and listen until the person leaves.

    The end of a pipe is not leaving: requested work is still finished.
    """
    async with local_seat(plan, chat) as seat:
        await seat.greet()
        await chat.listen(seat.deliver, seat.rest)
        return await seat.leave()


async def _report_crashed_sessions(desk: Desk, chat: ConsoleChat) -> None:
    while True:
        session_id = await desk.next_crashed_session()
        await chat.print_sentences(
            f"Session {session_id[:8]} stopped after an error in the bot. The log has the details; start the bot again to go on with it."
        )
