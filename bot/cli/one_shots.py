"""Commands that send one request: run, continue, resume, stop.

They use the socket of a running bot, or else start one.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from adapters.console.chat import ConsoleChat, ConsoleOptions
from adapters.console.typed import is_yes
from bot import settings
from bot.cli import status
from bot.cli.console import ConsoleSeat, connect_console
from bot.cli.process import local_person, say
from bot.cli.read_settings import read_settings
from bot.core.choices import Command, Word
from bot.core.commands import HELP
from bot.core.console import ExitCode, exit_code
from bot.core.errors import Refused, SettingsError
from bot.core.events import Commanded, FromPeople
from bot.core.people import Thread
from bot.core.states import Status
from bot.settings import Settings

NO_THREAD = Thread(platform="console", channel="terminal", root="")
"""The thread for commands that concern no particular thread."""
_AT_WORK = (Status.ACTIVE, Status.QUEUED)


async def run(instruction: str, *, umask: int, project: str = "", detach: bool = False) -> int:
    """Start a new session. `detach`: return as soon as the running bot has accepted it."""
    current = await read_settings()
    repository = str(_folder(project)) if project else str(current.gwt_repository)
    chat = _console(current, repository)
    async with connect_console(chat, settings.load, umask=umask) as seat:
        if detach and not seat.joined:
            raise Refused(
                "--detach hands the work to a bot that is at work, and there is none.",
                "Start one: gwt-bot serve, or gwt-bot console in another terminal.",
            )
        await seat.look()
        thread = chat.begin_thread()
        return await _deliver_and_wait(seat, thread, chat.request(instruction), detach=detach)


async def stop(session: str = "", *, umask: int, everything: bool = False) -> int:
    """Stop the named session, or all sessions at work, in whatever chat they are.

    Asks first if that would stop several.
    """
    at_work = [line for line in await status.unfinished_sessions() if line["status"] in _AT_WORK]
    named = [line for line in at_work if str(line["id"]).startswith(session)]
    if session and len(named) != 1:
        # the bot's own answer says what is wrong with the id
        return await send_session_command(Word.STOP, session, umask=umask, only=frozenset())
    if not named:
        say("Nothing is at work on this home.")
        return ExitCode.COMPLETE
    if len(named) > 1 and not (everything or await _confirm_stop_all(named)):
        return ExitCode.ERROR
    ids = [str(line["id"]) for line in named]
    codes = [
        await send_session_command(Word.STOP, one, umask=umask, only=frozenset({one}))
        for one in ids
    ]
    return max(codes)


async def _confirm_stop_all(at_work: list[status.TableRow]) -> bool:
    """Ask whether to stop all of them. `False` if nobody is at the terminal to ask."""
    say(*(f"  {status.short(line)}  {line['title']}  ({line['where']})" for line in at_work))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        say("Several sessions are at work. gwt-bot stop <id> stops one, gwt-bot stop --all all.")
        return False
    say(f"Stop all {len(at_work)} of them? [y/N]")
    return is_yes(await asyncio.to_thread(sys.stdin.readline))


async def intent(what: str, name: str, *, umask: int) -> int:
    """Send an intent command, e.g.

    `intent approve fix-login`. If a bot must be started here, only `run` restores sessions.
    """
    current = await read_settings()
    chat = _console(current, str(current.gwt_repository))
    begins = what == "run"
    async with connect_console(
        chat, settings.load, umask=umask, only=None if begins else frozenset()
    ) as seat:
        await seat.look()
        command = Command(word=Word.INTENT, argument=what, text=name)
        event = Commanded(**chat.mark(), command=command)
        code = await _deliver_and_wait(seat, NO_THREAD, event, stays=begins, needs_session=begins)
        return ExitCode.ERROR if chat.refused else code


async def send_session_command(
    word: Word, session: str = "", *, umask: int, only: frozenset[str] | None = None
) -> int:
    """Send a command about one session: the named one, or the only one it can mean."""
    current = await read_settings()
    chat = _console(current, "")
    async with connect_console(chat, settings.load, umask=umask, only=only) as seat:
        await seat.look()
        command = Commanded(**chat.mark(), command=Command(word=word, argument=session))
        return await _deliver_and_wait(
            seat, NO_THREAD, command, stays=word is not Word.STOP, needs_session=True
        )


async def _deliver_and_wait(
    seat: ConsoleSeat,
    thread: Thread,
    event: FromPeople,
    *,
    detach: bool = False,
    stays: bool = True,
    needs_session: bool = False,
) -> int:
    """Send the event and return the exit code.

    `needs_session`: it is an error if the bot did not refer this console to a session.
    """
    chat = seat.chat
    await seat.attend(chat.deliver_event(thread, event, seat.deliver))
    if chat.errors or (needs_session and not chat.turned):
        return ExitCode.ERROR
    if detach:
        await chat.print_sentences("It is at work. gwt-bot status tells how it stands.")
        return ExitCode.COMPLETE
    if chat.is_interactive and stays and not chat.elsewhere:
        await seat.attend(chat.listen(seat.deliver))
    if not stays or not chat.is_interactive or chat.has_ended:
        await seat.finish()
    elif chat.elsewhere:
        return ExitCode.COMPLETE
    if not stays:
        return ExitCode.COMPLETE
    return (
        exit_code(chat.standings.values(), errors=chat.errors)
        if chat.standings
        else ExitCode.INCOMPLETE
    )


def _console(current: Settings, repository: str) -> ConsoleChat:
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    manner = ConsoleOptions(
        scripted=not terminal,
        repository=repository,
        until_over=True,
        only_own=True,
        words=HELP,
    )
    return ConsoleChat(current.gwt_home, local_person(), options=manner)


def _folder(project: str) -> Path:
    folder = Path(project).expanduser().absolute()
    if not folder.is_dir():
        raise SettingsError(f"--project: there is no folder {folder}.")
    return folder
