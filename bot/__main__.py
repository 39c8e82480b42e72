"""The command line.

Each command imports only what it needs, and `--help` nothing of the bot at all: creating pydantic's models takes longer
than most commands.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Coroutine

from bot.cli.arguments import parsed, repl_options
from bot.cli.process import (
    EarlyLog,
    ending_with_its_reader,
    is_lost_reader,
    keep_to_itself,
    say,
    until_reader_is_gone,
)
from bot.core.errors import BotError


def main() -> None:
    """Entry point. If the bot cannot do what was asked, prints one clear message and exits with 1."""
    with ending_with_its_reader():
        arguments = parsed()
        umask = keep_to_itself()
        logging.lastResort = EarlyLog(logging.WARNING)
        _run(arguments, umask)


def _run(arguments: argparse.Namespace, umask: int) -> None:
    import asyncio

    from bot.os_errors import as_unavailable, denied

    work = _chosen(arguments, umask)
    if arguments.command in ("console", "demo", "run", "continue", "resume"):
        work = until_reader_is_gone(work)  # the other commands end soon, or print nothing
    try:
        code = asyncio.run(until_terminated(work))
    except* KeyboardInterrupt:
        sys.exit(130)
    except* BotError as problems:
        for problem in _leaves(problems):
            if not is_lost_reader(problem):
                _complain(problem)
        sys.exit(1)
    except* OSError as problems:
        told = [as_unavailable(error) or denied(error) for error in _errors(problems)]
        if not all(told):
            raise
        for problem in filter(None, told):
            _complain(problem)
        sys.exit(1)
    sys.exit(code or 0)


def _chosen(chosen: argparse.Namespace, umask: int) -> Coroutine[None, None, int | None]:
    # Imports only the chosen command, so that quick commands answer quickly.
    match chosen.command:
        case "serve":
            from bot.cli import serve

            return serve.run(umask=umask)
        case "demo":
            from bot.cli import demo

            return demo.run(auto=chosen.auto, fresh=chosen.fresh, umask=umask)
        case "doctor":
            from bot.cli import doctor

            return doctor.run(as_json=chosen.as_json, ask_model=chosen.ask_model)
        case "export" | "replay":
            return _archive(chosen)
        case "context":
            from bot.cli import context

            return context.run(
                chosen.request,
                repository=chosen.repository,
                at=chosen.at,
                tokens=chosen.tokens,
                as_json=chosen.as_json,
            )
        case "run" | "continue" | "stop" | "intent":
            return _single(chosen, umask)
        case "resume" if not chosen.list:
            return _single(chosen, umask)
        case "resume" | "sessions" | "status" | "inbox" | "usage" | "info" | "logs":
            return _look(chosen)
        case _:
            from bot.cli import console

            return console.run(repl_options(chosen), umask=umask)


def _archive(chosen: argparse.Namespace) -> Coroutine[None, None, int | None]:
    from bot.cli import archives as export

    if chosen.command == "replay":
        return export.replay(chosen.archive)
    return export.export(chosen.session, chosen.to)


def _single(chosen: argparse.Namespace, umask: int) -> Coroutine[None, None, int | None]:
    from bot.cli import one_shots as single
    from bot.core.choices import Word

    match chosen.command:
        case "run":
            return single.run(
                chosen.instruction, project=chosen.project, detach=chosen.detach, umask=umask
            )
        case "stop":
            return single.stop(chosen.session, everything=chosen.all, umask=umask)
        case "intent":
            return single.intent(chosen.what or "list", chosen.name, umask=umask)
        case "continue":
            return single.about(Word.CONTINUE, chosen.session, umask=umask)
        case _:
            return single.about(Word.RESUME, chosen.session, umask=umask)


def _look(chosen: argparse.Namespace) -> Coroutine[None, None, int | None]:
    from bot.cli import status as looking

    match chosen.command:
        case "status":
            return looking.status(as_json=chosen.as_json)
        case "inbox":
            return looking.inbox(as_json=chosen.as_json)
        case "usage":
            return looking.usage(as_json=chosen.as_json)
        case "info":
            return looking.info(chosen.session, as_json=chosen.as_json)
        case "logs":
            return looking.logs(
                chosen.session, chosen.task, full=chosen.full, as_json=chosen.as_json
            )
        case _:
            return looking.sessions(as_json=chosen.as_json)


async def until_terminated(work: Coroutine[None, None, int | None]) -> int | None:
    """Run until done; SIGTERM and SIGHUP end the bot cleanly: agents keep working, and everything is on disk.

    Return the exit code.
    """
    import asyncio

    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        if not task.cancelled():
            raise
        return None


def _leaves(group: BaseExceptionGroup[BotError]) -> list[BotError]:
    leaves: list[BotError] = []
    for problem in group.exceptions:
        leaves += _leaves(problem) if isinstance(problem, BaseExceptionGroup) else [problem]
    return leaves


def _errors(group: BaseExceptionGroup[OSError]) -> list[OSError]:
    """Return the operating system's errors in a group."""
    found: list[OSError] = []
    for problem in group.exceptions:
        found += _errors(problem) if isinstance(problem, BaseExceptionGroup) else [problem]
    return found


def _complain(problem: BotError) -> None:
    remedy = getattr(problem, "remedy", "")
    say(f"gwt-bot: {problem}", *([f"  {remedy}"] if remedy else []))


if __name__ == "__main__":
    main()
