"""Typing into a pane: every byte arrives, none too early, and nothing that could press other keys."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from bot.core.errors import Refused
from bot.core.runs import Launch
from tests.adapters.tmux.own_server import Tmux, until
from tests.fakes import hostile

pytestmark = pytest.mark.tmux

# As terminal programs do: what was typed before raw mode is thrown away; then brackets are asked for.
RECEIVER = r"""
import os, sys, termios, time, tty
time.sleep(float(sys.argv[1]))
tty.setraw(0, termios.TCSAFLUSH)
os.write(1, b'\x1b[?2004h')
got = b''
while not got.endswith(b'\x1b[201~\r') and not (got.endswith(b'\r') and b'\x1b[200~' not in got):
    got += os.read(0, 65536)
open('got.new', 'wb').write(got)
os.rename('got.new', 'got')
time.sleep(300)
"""
NASTY = "do `it`; #{pane_id} $(touch y) %H \"double\" 'single' \\ 日本語🎌\n\ttab\n-l --help;"


def receiver(boot: float = 0.0) -> Launch:
    return Launch(argv=(sys.executable, "-c", RECEIVER, str(boot)))


async def received(server: Tmux) -> bytes:
    got = server.worktree / "got"
    await until(got.exists)
    return got.read_bytes()


@pytest.mark.parametrize(
    "text",
    [NASTY, ";", "-l foo", "q", NASTY * 3_000, "\n".join(hostile.texts())],
    ids=["nasty", "semicolon", "flag", "q", "300 KB", "ten thousand hostile texts"],
)
async def test_a_paste_arrives_byte_for_byte_in_brackets_and_enter_follows(
    server: Tmux, text: str
) -> None:
    panes = await server.begun(receiver())
    await panes.paste("run-1", text)
    assert await received(server) == b"\x1b[200~" + text.encode() + b"\x1b[201~\r"


async def test_nothing_is_pasted_before_the_program_is_ready(server: Tmux) -> None:
    panes = await server.begun(receiver(boot=0.5), server.panes(patience=120.0))
    await panes.paste("run-1", NASTY)
    assert await received(server) == b"\x1b[200~" + NASTY.encode() + b"\x1b[201~\r"


async def test_a_program_that_was_ready_before_the_bot_was_started_anew_is_ready(
    server: Tmux,
) -> None:
    before = server.panes()
    await before.start("run-1", str(server.worktree), receiver(), "")
    waiting = asyncio.create_task(before.ended("run-1"))
    await until((server.spool("run-1") / "ready").exists)
    await until(lambda: not (server.spool("run-1") / "output").exists())  # nobody needs it any more
    waiting.cancel()
    await before.close()
    await server.panes(patience=120.0).paste("run-1", "two\nlines")
    assert await received(server) == b"\x1b[200~two\nlines\x1b[201~\r"


async def test_no_key_hides_in_a_pasted_text(server: Tmux) -> None:
    panes = await server.begun(receiver())
    await panes.paste("run-1", "a\x1b[201~\x03b\x7f\x9b201~c\r\0d")
    assert await received(server) == b"\x1b[200~a[201~b201~cd\x1b[201~\r"


async def test_an_empty_text_is_enter_alone(server: Tmux) -> None:
    panes = await server.begun(receiver())
    await panes.paste("run-1", "")
    assert await received(server) == b"\r"


async def test_a_program_that_reads_lines_gets_one_line_but_not_several(server: Tmux) -> None:
    asks = Launch(argv=("sh", "-c", 'read answer; echo "$answer" > got.new; mv got.new got'))
    panes = await server.begun(asks, server.panes(patience=0.2))
    with pytest.raises(Refused, match="single lines"):
        await panes.paste("run-1", "two\nlines")
    await panes.paste("run-1", "yes;")
    assert await received(server) == b"yes;\n"


async def test_an_agent_that_does_not_read_its_terminal_is_not_typed_to(server: Tmux) -> None:
    launch = Launch(argv=("sleep", "300"), stdin="nothing")
    panes = await server.begun(launch)
    with pytest.raises(Refused, match="does not read"):
        await panes.paste("run-1", "x")


async def test_typing_to_an_agent_that_ends_just_then_harms_no_other(server: Tmux) -> None:
    """tmux 3.3a ends, with every agent in it, when it pastes into a dead pane."""
    panes = server.panes(patience=0.01)
    other = await panes.start("run-other", str(server.worktree), Launch(argv=("sleep", "300")), "")
    for number in range(6):
        run = f"run-{number}"
        ends = Launch(argv=("sleep", f"{0.02 * number}"))
        await panes.start(run, str(server.worktree), ends, "")
        pasting = panes.paste(run, "go on")
        (told,) = await asyncio.gather(pasting, return_exceptions=True)
        assert told is None or isinstance(told, Refused)
    assert await panes.find("run-other") == other


async def test_what_a_hook_told_before_a_paste_is_of_an_earlier_turn(server: Tmux) -> None:
    panes = await server.begun(receiver())
    spool = server.spool("run-1")
    (spool / "1.json").write_text('{"event": "StopFailure"}')
    await panes.ended("run-1")
    tick = spool / "tick"
    await until(lambda: _later(tick, spool / "1.json"))
    await panes.paste("run-1", "again")
    waiting = asyncio.create_task(panes.ended("run-1"))
    done, _ = await asyncio.wait({waiting}, timeout=0.1)
    assert not done
    (spool / "2.json").write_text('{"event": "Stop", "last_assistant_message": "now"}')
    assert (await waiting).message == "now"


def _later(tick: Path, than: Path) -> bool:
    """Has the file system's clock moved on?"""
    tick.write_text("")
    return tick.stat().st_mtime_ns > than.stat().st_mtime_ns
