"""A script that waits for each line: whatever came of the last one, the next is read, and only when that has come to rest."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from adapters.console.chat import ConsoleChat, ConsoleOptions
from adapters.console.input import PipeInput
from adapters.console.rendering import ConsoleScreen
from bot.core.console import ExitCode, ThreadStanding, exit_code
from bot.core.errors import Refused
from bot.core.events import Commanded, FromPeople, Pressed, Said
from bot.core.people import Thread
from tests.fakes import cards

BLOCKED = ThreadStanding(session="s", title="It", status="Active", waits_for=("T001 is blocked",))
NOTHING = ThreadStanding()


async def played(home: Path, script: str, *rests: ThreadStanding) -> tuple[list[str], ConsoleChat]:
    """What was taken and what was waited for, in order."""
    out, told, left = StringIO(), list[str](), [*rests]
    lines = PipeInput(StringIO(script), ConsoleScreen(out))
    manner = ConsoleOptions(scripted=True, waits=True)
    chat = ConsoleChat(home, cards.MIKA, lines=lines, out=out, options=manner)

    async def deliver(thread: Thread, event: FromPeople) -> bool:
        if isinstance(event, Said) and event.text == "a bad one":
            raise Refused("It is refused.")
        told.append(_name(event))
        return True

    async def rest(thread: Thread) -> ThreadStanding:
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


@pytest.mark.covers("R-PROPERTY-36")
async def test_after_an_agent_was_ended_for_asking_the_next_line_is_carried_out(
    tmp_path: Path,
) -> None:
    told, chat = await played(tmp_path, "build it\nstatus\n", BLOCKED, BLOCKED)
    assert told == ["build it", "rested", "status", "rested"]
    assert exit_code(chat.standings.values(), errors=chat.errors) == ExitCode.INCOMPLETE


@pytest.mark.covers("R-PROPERTY-36")
@pytest.mark.parametrize("bad", ["a bad one", "/nothing", "\x1b[B"])
async def test_after_a_line_that_was_not_taken_the_next_is_carried_out(
    tmp_path: Path, bad: str
) -> None:
    told, chat = await played(tmp_path, f"{bad}\nstatus\n")
    assert told == ["rested", "status", "rested"]
    assert exit_code(chat.standings.values(), errors=chat.errors) == ExitCode.ERROR
