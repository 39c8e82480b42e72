"""A script that waits for each line: whatever came of the last one, the next is read, and only when that has come to rest."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from adapters.chat.console import ConsoleChat, Manner
from adapters.chat.console.lines import PipeLines
from adapters.chat.console.screen import Screen
from bot.domain.events import Commanded, FromPeople, Pressed, Said
from bot.domain.people import Thread
from bot.domain.repl import ExitCode, Standing, exit_code
from bot.errors import Refused
from tests.fakes import cards

BLOCKED = Standing(session="s", title="It", status="Active", waits_for=("T001 is blocked",))
NOTHING = Standing()


async def played(home: Path, script: str, *rests: Standing) -> tuple[list[str], ConsoleChat]:
    """What was taken and what was waited for, in order."""
    out, told, left = StringIO(), list[str](), [*rests]
    lines = PipeLines(StringIO(script), Screen(out))
    manner = Manner(scripted=True, waits=True)
    chat = ConsoleChat(home, cards.MIKA, lines=lines, out=out, manner=manner)

    async def deliver(thread: Thread, event: FromPeople) -> bool:
        if isinstance(event, Said) and event.text == "a bad one":
            raise Refused("It is refused.")
        told.append(_name(event))
        return True

    async def rest(thread: Thread) -> Standing:
        told.append("rested")
        return left.pop(0) if left else NOTHING

    await chat.listen(deliver, rest)
    return told, chat


def _name(event: FromPeople) -> str:
    match event:
        case Said(text=text):
            return text
        case Commanded(command=command):
            return command.word
        case Pressed(verb=verb):
            return verb
        case _:
            return event.kind


async def test_after_an_agent_was_ended_for_asking_the_next_line_is_carried_out(
    tmp_path: Path,
) -> None:
    told, chat = await played(tmp_path, "build it\nstatus\n", BLOCKED, BLOCKED)
    assert told == ["build it", "rested", "status", "rested"]
    assert exit_code(chat.standings.values(), errors=chat.errors) == ExitCode.INCOMPLETE


@pytest.mark.parametrize("bad", ["a bad one", "/nothing", "\x1b[B"])
async def test_after_a_line_that_was_not_taken_the_next_is_carried_out(
    tmp_path: Path, bad: str
) -> None:
    told, chat = await played(tmp_path, f"{bad}\nstatus\n")
    assert told == ["rested", "status", "rested"]
    assert exit_code(chat.standings.values(), errors=chat.errors) == ExitCode.ERROR
