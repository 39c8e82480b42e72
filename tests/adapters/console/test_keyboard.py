"""What single keys do, byte for byte as a terminal sends them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from adapters.console.input import PROMPT, SWITCH_LINE, CompletedWord, TerminalInput
from adapters.console.progress import picks_list
from adapters.console.typed import Pick


@pytest.fixture
def keyboard() -> Iterator[PipeInput]:
    with create_pipe_input() as keyboard, create_app_session(keyboard, DummyOutput()):
        yield keyboard


@pytest.fixture
def lines(tmp_path: Path, keyboard: PipeInput) -> TerminalInput:
    return TerminalInput(tmp_path / "history", Offered())


class Offered:
    """A conversation in which something can be chosen."""

    def __init__(self, *picks: Pick) -> None:
        self.offered = picks
        self.picked = asyncio.Event()

    def toolbar(self, width: int, height: int, notice: str, picked: int) -> StyleAndTextTuples:
        if picked:
            self.picked.set()
        return picks_list(self.offered, picked, width, height)

    def picks(self) -> tuple[Pick, ...]:
        return self.offered

    def completions(self, line: str) -> tuple[CompletedWord, ...]:
        return ()


async def line(lines: TerminalInput, prompt: str = PROMPT) -> str | None:
    async with asyncio.timeout(120):
        return await lines.next_line(prompt)


@pytest.mark.covers("G-RULE-STOP-1")
@pytest.mark.parametrize(
    "keys", ["\x1b", "\x1b\x1b[5;1R"], ids=["alone", "before a word of the terminal"]
)
async def test_escape_stops_and_gives_the_line_back(
    lines: TerminalInput, keyboard: PipeInput, keys: str
) -> None:
    keyboard.send_text(f"half{keys}")
    assert await line(lines) == "stop"
    keyboard.send_text(" a line\r")
    assert await line(lines) == "half a line"


@pytest.mark.parametrize(
    "keys",
    ["\x1bx", "\x1bb", "\x1b[A", "\x1b[D", "\x1bOH", "\x1b[1;5C", "\x1b\x7f", "\x1b[200~\x1b[201~"],
)
async def test_no_other_key_that_begins_with_the_code_of_escape_stops(
    lines: TerminalInput, keyboard: PipeInput, keys: str
) -> None:
    keyboard.send_text(f"{keys}\r")
    assert await line(lines) in ("", "x")


async def test_a_pasted_text_keeps_its_lines(lines: TerminalInput, keyboard: PipeInput) -> None:
    keyboard.send_text("\x1b[200~one\ntwo\x1b[201~\r")
    assert await line(lines) == "one\ntwo"


async def test_control_d_at_an_empty_line_ends(lines: TerminalInput, keyboard: PipeInput) -> None:
    keyboard.send_text("\x04")
    assert await line(lines) is None


async def test_control_c_ends_only_when_pressed_twice_in_a_row(
    lines: TerminalInput, keyboard: PipeInput
) -> None:
    keyboard.send_text("x\x03\x03said\r")
    assert await line(lines) == "said"
    keyboard.send_text("\x03x\x03\x03\r")
    assert await line(lines) == ""
    keyboard.send_text("\x03\x03")
    assert await line(lines) is None


@pytest.mark.covers("R-REPL-MODE-5")
async def test_the_history_holds_requests_only_and_is_private(
    lines: TerminalInput, keyboard: PipeInput, tmp_path: Path
) -> None:
    for typed, prompt in (("Add a dark mode", PROMPT), ("1", PROMPT), ("secret", "Why? ")):
        keyboard.send_text(f"{typed}\r")
        assert await line(lines, prompt) == typed
    kept = (tmp_path / "history").read_text()
    assert "Add a dark mode" in kept
    assert "+1" not in kept
    assert "secret" not in kept
    assert (tmp_path / "history").stat().st_mode & 0o777 == 0o600


TWO = (Pick("Approve", "1"), Pick("D1  JWT", "D1: JWT"))
DOWN, UP = "\x1b[B", "\x1b[A"


@pytest.mark.covers("R-REPL-MODE-6")
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (f"{DOWN}\r", "1"),
        (f"{DOWN}{DOWN}\r", "D1: JWT"),
        (f"{DOWN}{DOWN}{DOWN}\r", "D1: JWT"),
        (f"{DOWN}{DOWN}{UP}\r", "1"),
        (f"{DOWN}{UP}\r", ""),
        (f"{DOWN}no\r", "no"),
    ],
)
async def test_arrow_keys_choose_what_is_offered_and_typing_chooses_nothing(
    tmp_path: Path, keyboard: PipeInput, keys: str, said: str
) -> None:
    lines = TerminalInput(tmp_path / "history", Offered(*TWO))
    keyboard.send_text(keys)
    assert await line(lines) == said


async def test_what_was_chosen_is_not_taken_for_something_that_came_since(
    tmp_path: Path, keyboard: PipeInput
) -> None:
    offered = Offered(*TWO)
    lines = TerminalInput(tmp_path / "history", offered)
    keyboard.send_text(DOWN)
    reading = asyncio.create_task(line(lines))
    async with asyncio.timeout(120):
        await offered.picked.wait()
    offered.offered = (Pick("Discard", "1"),)
    keyboard.send_text("\r")
    assert await reading == ""


@pytest.mark.covers("G-US1.1", "G-FR-001")
async def test_tab_switches_sides_and_the_line_is_there_again(
    lines: TerminalInput, keyboard: PipeInput
) -> None:
    keyboard.send_text("half\t")
    assert await line(lines) == SWITCH_LINE
    keyboard.send_text(" a line\r")
    assert await line(lines) == "half a line"
