"""The command line."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine
from importlib.metadata import version

from bot.errors import BotError
from bot.program import console, demo, doctor, serve
from bot.program.guard import keep_to_itself
from bot.program.saying import EarlyLog, say


def main() -> None:
    """Entry point. Exit code 1 and one clear message when the bot cannot do what was asked."""
    keep_to_itself()
    logging.lastResort = EarlyLog(logging.WARNING)
    arguments = _parser().parse_args()
    try:
        asyncio.run(until_terminated(_chosen(arguments)))
    except* KeyboardInterrupt:
        sys.exit(130)
    except* BotError as problems:
        for problem in _leaves(problems):
            _complain(problem)
        sys.exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gwt-bot", description="Turns a feature request into tested, reviewed pull requests."
    )
    parser.add_argument("--version", action="version", version=version("gwt-bot"))
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("serve", help="listen in Slack and Matrix, whichever is configured")
    commands.add_parser("console", help="talk to the bot here, about the repository you stand in")
    commands.add_parser("doctor", help="look at everything that is needed, and how to mend it")
    played = commands.add_parser(
        "demo", help="see the whole story on a sample repository, no account needed"
    )
    played.add_argument("--auto", action="store_true", help="let the demo play you, too")
    played.add_argument("--fresh", action="store_true", help="forget the last demo and start anew")
    return parser


def _chosen(arguments: argparse.Namespace) -> Coroutine[None, None, None]:
    if arguments.command == "demo":
        return demo.run(auto=arguments.auto, fresh=arguments.fresh)
    if arguments.command == "serve":
        return serve.run()
    if arguments.command == "doctor":
        return doctor.run()
    return console.run()


async def until_terminated(work: Coroutine[None, None, None]) -> None:
    """SIGTERM and SIGHUP end the bot as its own end does: agents work on, everything is on disk."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        if not task.cancelled():
            raise


def _leaves(group: BaseExceptionGroup[BotError]) -> list[BotError]:
    leaves: list[BotError] = []
    for problem in group.exceptions:
        leaves += _leaves(problem) if isinstance(problem, BaseExceptionGroup) else [problem]
    return leaves


def _complain(problem: BotError) -> None:
    remedy = getattr(problem, "remedy", "")
    say(f"gwt-bot: {problem}", *([f"  {remedy}"] if remedy else []))


if __name__ == "__main__":
    main()
