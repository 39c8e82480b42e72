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

from bot.cli.arguments import parse_arguments, repl_options
from bot.cli.process import (
    EarlyLog,
    cancel_on_closed_output,
    exit_on_closed_output,
    is_closed_output_error,
    restrict_process,
    say,
)
from bot.core.errors import BotError


def main() -> None:
    """Entry point. If the bot cannot do what was asked, prints one clear message and exits with 1."""
    with exit_on_closed_output():
        arguments = parse_arguments()
        umask = restrict_process()
        logging.lastResort = EarlyLog(logging.WARNING)
        _run(arguments, umask)


def _run(arguments: argparse.Namespace, umask: int) -> None:
    import asyncio

    from bot.os_errors import as_unavailable, permission_error

    work = _command_coroutine(arguments, umask)
    if arguments.command in ("console", "demo", "run", "continue", "resume"):
        work = cancel_on_closed_output(work)  # the other commands end soon, or print nothing
    try:
        code = asyncio.run(until_terminated(work))
    except* KeyboardInterrupt:
        sys.exit(130)
    except* BotError as problems:
        for problem in _leaves(problems):
            if not is_closed_output_error(problem):
                _print_error(problem)
        sys.exit(1)
    except* OSError as problems:
        told = [as_unavailable(error) or permission_error(error) for error in _errors(problems)]
        if not all(told):
            raise
        for problem in filter(None, told):
            _print_error(problem)
        sys.exit(1)
    sys.exit(code or 0)


def _command_coroutine(chosen: argparse.Namespace, umask: int) -> Coroutine[None, None, int | None]:
    # Imports only the chosen command, so that quick commands answer quickly.
    match chosen.command:
        case "serve":
            from bot.cli import serve

            return serve.run(umask=umask)
        case "demo" | "web":
            return _shown_command(chosen, umask)
        case "doctor":
            from bot.cli import doctor

            return doctor.run(as_json=chosen.as_json, ask_model=chosen.ask_model)
        case "export" | "replay":
            return _archive_command(chosen)
        case "context" | "eval":
            return _trial_command(chosen)
        case "run" | "continue" | "stop" | "intent":
            return _one_shot_command(chosen, umask)
        case "resume" if not chosen.list:
            return _one_shot_command(chosen, umask)
        case "resume" | "sessions" | "status" | "inbox" | "usage" | "info" | "logs":
            return _read_only_command(chosen)
        case _:
            from bot.cli import console

            return console.run(repl_options(chosen), umask=umask)


def _shown_command(chosen: argparse.Namespace, umask: int) -> Coroutine[None, None, int | None]:
    if chosen.command == "demo" or chosen.demo:
        from bot.cli import demo

        if chosen.command == "demo" and not chosen.web:
            return demo.run(auto=chosen.auto, fresh=chosen.fresh, umask=umask)
        opens = chosen.command == "demo" or chosen.opens
        return demo.run_page(opens=opens, fresh=chosen.fresh, umask=umask)
    from bot.cli import page

    session = "/".join(filter(None, (chosen.session, chosen.screen)))
    return page.run(session, opens=chosen.opens, port=chosen.port, umask=umask)


def _archive_command(chosen: argparse.Namespace) -> Coroutine[None, None, int | None]:
    from bot.cli import archives as export

    if chosen.command == "replay":
        return export.replay(chosen.archive)
    return export.export(chosen.session, chosen.to)


def _trial_command(chosen: argparse.Namespace) -> Coroutine[None, None, int | None]:
    if chosen.command == "eval":
        from dataclasses import fields

        from bot.cli import evaluate

        names = [field.name for field in fields(evaluate.EvalOptions)]
        return evaluate.run(evaluate.EvalOptions(**{one: getattr(chosen, one) for one in names}))
    from bot.cli import context

    return context.run(
        chosen.request,
        repository=chosen.repository,
        at=chosen.at,
        tokens=chosen.tokens,
        as_json=chosen.as_json,
    )


def _one_shot_command(chosen: argparse.Namespace, umask: int) -> Coroutine[None, None, int | None]:
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
            return single.send_session_command(Word.CONTINUE, chosen.session, umask=umask)
        case _:
            return single.send_session_command(Word.RESUME, chosen.session, umask=umask)


def _read_only_command(chosen: argparse.Namespace) -> Coroutine[None, None, int | None]:
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


def _print_error(problem: BotError) -> None:
    remedy = getattr(problem, "remedy", "")
    say(f"gwt-bot: {problem}", *([f"  {remedy}"] if remedy else []))


if __name__ == "__main__":
    main()
