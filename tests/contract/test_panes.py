"""What every Panes port promises: one pane per run, one start per run, one end, told to whoever asks."""

from __future__ import annotations

import asyncio
import errno
import os
import shlex
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

import pytest

from bot.core.errors import Refused
from bot.core.runs import CompletionSource, Dialog, DialogKind, DialogOption, Launch
from bot.core.screens import PaneScreen
from bot.core.states import Outcome
from bot.ports import Panes
from tests.adapters.tmux.own_server import Tmux, own_server, until
from tests.fakes.panes import FakePanes

pytestmark = pytest.mark.covers("G-FR-005", "G-OUT-1", "G-MODULE-6", "R-EXECUTOR-1")


class World(Protocol):
    """A Panes port, and a hand on what runs in it."""

    @property
    def panes(self) -> Panes: ...

    def launch(self, run: str) -> Launch: ...

    async def finish(self, run: str, exit_code: int) -> None: ...

    async def vanish(self, run: str) -> None: ...

    async def asks(self, run: str, question: str) -> None:
        """Its program asks «question? [y/n]», and goes on working after any answer."""
        ...


class InMemory:
    def __init__(self) -> None:
        self.panes = FakePanes()

    def launch(self, run: str) -> Launch:
        return Launch(argv=("agent", run))

    async def finish(self, run: str, exit_code: int) -> None:
        self.panes.finish(run, exit_code)

    async def vanish(self, run: str) -> None:
        self.panes.vanish(run)

    async def asks(self, run: str, question: str) -> None:
        options = tuple(
            DialogOption(id=key, label=label, keys=(key, "Enter"))
            for key, label in (("y", "Yes"), ("n", "No"))
        )
        dialog = Dialog(id=question, kind=DialogKind.YES_NO, title=question, options=options)
        self.panes.asks(run, dialog)


# It waits for a line at a named pipe: a number is its exit code, other words are what it asks.
AGENT = """
while read word rest < "$0"; do
  case $word in
    ask) printf '%s [y/n] ' "$rest"; read answer; echo "so be it: $answer" ;;
    *) exit "$word" ;;
  esac
done
"""


class InTmux:
    def __init__(self, server: Tmux) -> None:
        self._server = server
        self.panes = server.panes()

    def launch(self, run: str) -> Launch:
        pipe = self._pipe(run)
        if not pipe.exists():
            os.mkfifo(pipe)
        return Launch(argv=("sh", "-c", AGENT, str(pipe)))

    async def finish(self, run: str, exit_code: int) -> None:
        await until(lambda: self._told(run, str(exit_code)))

    async def asks(self, run: str, question: str) -> None:
        await until(lambda: self._told(run, f"ask {question}"))

    async def vanish(self, run: str) -> None:
        await self._server.tmux("kill-session", "-t", f"={run}")

    def _pipe(self, run: str) -> Path:
        return self._server.worktree / f"{run}.pipe"

    def _told(self, run: str, word: str) -> bool:
        try:
            writer = os.open(self._pipe(run), os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return False  # the agent is not there yet
            raise
        with os.fdopen(writer, "w") as file:
            file.write(f"{word}\n")
        return True


@pytest.fixture(params=[pytest.param("memory"), pytest.param("tmux", marks=pytest.mark.tmux)])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    if request.param == "memory":
        yield InMemory()
        return
    async with own_server(tmp_path) as server:
        yield InTmux(server)


async def _start(world: World, run: str, folder: Path) -> None:
    await world.panes.start(run, str(folder), world.launch(run), "Do it.")


@pytest.mark.covers("G-US3.1", "G-US3.4", "G-OUT-4", "B-FLOW-RUN-10")
async def test_a_started_run_has_a_pane_of_its_name(world: World, tmp_path: Path) -> None:
    await _start(world, "run-1", tmp_path)
    pane = await world.panes.find("run-1")
    assert pane is not None
    assert pane.name == "run-1"
    assert pane.pid > 0
    assert pane.boot_time > 0
    assert await world.panes.names() == ("run-1",)


async def test_starting_twice_finds_the_same_pane(world: World, tmp_path: Path) -> None:
    first = await world.panes.start("run-1", str(tmp_path), world.launch("run-1"), "Do it.")
    second = await world.panes.start("run-1", str(tmp_path), world.launch("run-1"), "Do it.")
    assert first == second
    assert await world.panes.names() == ("run-1",)


@pytest.mark.covers("G-US4.2", "G-MOVE-RUN-2", "G-MOVE-RUN-3")
@pytest.mark.parametrize(("code", "outcome"), [(0, Outcome.FINISHED), (7, Outcome.FAILED)])
async def test_the_exit_code_decides_between_finished_and_failed(
    world: World, tmp_path: Path, code: int, outcome: Outcome
) -> None:
    await _start(world, "run-1", tmp_path)
    waiting = asyncio.create_task(world.panes.ended("run-1"))
    await world.finish("run-1", code)
    end = await waiting
    assert (end.outcome, end.exit_code) == (outcome, code)


@pytest.mark.covers("G-US4.4")
async def test_an_end_is_told_to_all_who_ask_and_stays_the_same(
    world: World, tmp_path: Path
) -> None:
    await _start(world, "run-1", tmp_path)
    waiting = [asyncio.create_task(world.panes.ended("run-1")) for _ in range(3)]
    await world.finish("run-1", 3)
    told = [(end.outcome, end.exit_code) for end in await asyncio.gather(*waiting)]
    later = await world.panes.ended("run-1")
    assert told == [(Outcome.FAILED, 3)] * 3
    assert (later.outcome, later.exit_code) == (Outcome.FAILED, 3)


async def test_who_stops_waiting_takes_nothing_from_the_others(
    world: World, tmp_path: Path
) -> None:
    await _start(world, "run-1", tmp_path)
    impatient = asyncio.create_task(world.panes.ended("run-1"))
    patient = asyncio.create_task(world.panes.ended("run-1"))
    done, _ = await asyncio.wait({impatient}, timeout=0.05)
    assert not done
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    await world.finish("run-1", 0)
    assert (await patient).outcome is Outcome.FINISHED


@pytest.mark.covers("G-US3.4", "G-DEP-2")
async def test_the_end_of_one_run_is_not_the_end_of_another(world: World, tmp_path: Path) -> None:
    await _start(world, "run-1", tmp_path)
    await _start(world, "run-2", tmp_path)
    first = asyncio.create_task(world.panes.ended("run-1"))
    second = asyncio.create_task(world.panes.ended("run-2"))
    await world.finish("run-2", 4)
    assert (await second).exit_code == 4
    assert not first.done()
    await world.finish("run-1", 5)
    assert (await first).exit_code == 5


@pytest.mark.covers("G-RULE-END-4")
async def test_an_unknown_run_has_vanished(world: World) -> None:
    assert (await world.panes.ended("run-nobody-knows")).outcome is Outcome.VANISHED
    assert await world.panes.find("run-nobody-knows") is None


@pytest.mark.covers("G-US4.2", "G-RULE-END-2")
async def test_a_pane_that_is_taken_away_has_vanished(world: World, tmp_path: Path) -> None:
    await _start(world, "run-1", tmp_path)
    waiting = asyncio.create_task(world.panes.ended("run-1"))
    await world.vanish("run-1")
    assert (await waiting).outcome is Outcome.VANISHED
    assert await world.panes.find("run-1") is None


@pytest.mark.covers("B-OP-executeTask")
async def test_an_ended_run_is_never_started_again(world: World, tmp_path: Path) -> None:
    await _start(world, "run-1", tmp_path)
    await world.finish("run-1", 0)
    await world.panes.ended("run-1")
    await world.panes.keep_transcript("run-1")
    pane = await world.panes.start("run-1", str(tmp_path), world.launch("run-1"), "Do it.")
    assert pane.pid == 0
    assert await world.panes.names() == ()


@pytest.mark.covers("G-RULE-STOP-2", "G-FR-024")
async def test_a_stop_ends_the_run_and_leaves_nothing(world: World, tmp_path: Path) -> None:
    await _start(world, "run-1", tmp_path)
    waiting = asyncio.create_task(world.panes.ended("run-1"))
    assert await world.panes.stop("run-1") == ()
    end = await waiting
    assert (end.outcome, end.source) == (Outcome.KILLED, CompletionSource.STOPPED)
    assert await world.panes.names() == ()


async def test_a_run_that_was_stopped_before_its_start_never_starts(
    world: World, tmp_path: Path
) -> None:
    assert await world.panes.stop("run-1") == ()
    pane = await world.panes.start("run-1", str(tmp_path), world.launch("run-1"), "Do it.")
    assert pane.pid == 0
    assert await world.panes.names() == ()
    assert (await world.panes.ended("run-1")).outcome is Outcome.KILLED


async def test_a_stop_does_not_change_how_a_run_has_ended(world: World, tmp_path: Path) -> None:
    await _start(world, "run-1", tmp_path)
    await world.finish("run-1", 0)
    assert (await world.panes.ended("run-1")).outcome is Outcome.FINISHED
    await world.panes.stop("run-1")
    assert (await world.panes.ended("run-1")).outcome is Outcome.FINISHED


@pytest.mark.covers("B-STORE-4")
async def test_a_transcript_can_be_kept_twice_and_the_pane_goes(
    world: World, tmp_path: Path
) -> None:
    await _start(world, "run-1", tmp_path)
    await world.finish("run-1", 0)
    await world.panes.ended("run-1")
    path = await world.panes.keep_transcript("run-1")
    assert path.endswith("runs/run-1.log")
    assert await world.panes.keep_transcript("run-1") == path
    assert await world.panes.find("run-1") is None


async def test_nothing_is_pasted_into_a_run_that_is_over(world: World, tmp_path: Path) -> None:
    await _start(world, "run-1", tmp_path)
    await world.finish("run-1", 0)
    await world.panes.ended("run-1")
    with pytest.raises(Refused):
        await world.panes.paste("run-1", "go on")


async def _next(dialogs: AsyncGenerator[Dialog | None]) -> Dialog | None:
    async with asyncio.timeout(120):
        return await anext(dialogs)


async def _standing(dialogs: AsyncGenerator[Dialog | None]) -> Dialog:
    dialog = await _next(dialogs)
    assert dialog is not None
    return dialog


@pytest.mark.covers("G-MOVE-RUN-4", "O-C12")
async def test_what_a_program_asks_is_told_and_its_answer_typed(
    world: World, tmp_path: Path
) -> None:
    await _start(world, "run-1", tmp_path)
    await world.asks("run-1", "Shall I?")
    async with aclosing(world.panes.dialogs("run-1")) as dialogs:
        asked = await _standing(dialogs)
        assert (asked.kind, asked.title) == (DialogKind.YES_NO, "Shall I?")
        assert [option.id for option in asked.options] == ["y", "n"]
        assert await world.panes.answer("run-1", asked, "y")
        assert await _next(dialogs) is None


async def test_every_listener_is_told_and_an_old_question_to_a_new_one(
    world: World, tmp_path: Path
) -> None:
    await _start(world, "run-1", tmp_path)
    async with (
        aclosing(world.panes.dialogs("run-1")) as one,
        aclosing(world.panes.dialogs("run-1")) as other,
    ):
        told = [asyncio.create_task(_standing(dialogs)) for dialogs in (one, other)]
        await world.asks("run-1", "Shall I?")
        assert [(await task).title for task in told] == ["Shall I?"] * 2
    async with aclosing(world.panes.dialogs("run-1")) as late:
        assert (await _standing(late)).title == "Shall I?"


async def test_an_answer_to_what_is_no_longer_asked_is_refused(
    world: World, tmp_path: Path
) -> None:
    await _start(world, "run-1", tmp_path)
    await world.asks("run-1", "Shall I?")
    async with aclosing(world.panes.dialogs("run-1")) as dialogs:
        asked = await _standing(dialogs)
        with pytest.raises(Refused):
            await world.panes.answer("run-1", asked, "perhaps")
        assert await world.panes.answer("run-1", asked, "n")
        with pytest.raises(Refused):
            await world.panes.answer("run-1", asked, "n")
        assert await _next(dialogs) is None
        await world.asks("run-1", "And now?")
        assert (await _standing(dialogs)).title == "And now?"
        with pytest.raises(Refused):
            await world.panes.answer("run-1", asked, "n")


async def test_nothing_is_pasted_while_something_is_asked(world: World, tmp_path: Path) -> None:
    await _start(world, "run-1", tmp_path)
    await world.asks("run-1", "Shall I?")
    async with aclosing(world.panes.dialogs("run-1")) as dialogs:
        await _standing(dialogs)
    with pytest.raises(Refused, match="asks"):
        await world.panes.paste("run-1", "go on")


async def test_a_question_goes_with_its_run(world: World, tmp_path: Path) -> None:
    await _start(world, "run-1", tmp_path)
    await world.asks("run-1", "Shall I?")
    async with aclosing(world.panes.dialogs("run-1")) as dialogs:
        asked = await _standing(dialogs)
        await world.panes.stop("run-1")
        assert await _next(dialogs) is None
    with pytest.raises(Refused):
        await world.panes.answer("run-1", asked, "y")


async def test_a_person_is_told_how_to_come_to_the_pane(world: World) -> None:
    command = world.panes.attach("run-1")
    assert shlex.split(command)[-3:] == ["attach", "-t", "=run-1"]
    assert command.endswith("'=run-1'")


async def test_a_run_without_a_pane_has_an_empty_screen(world: World) -> None:
    assert await world.panes.tail("run-1", 10) == ""


async def test_a_run_without_a_pane_shows_nothing_live(world: World) -> None:
    assert await world.panes.screen("run-1") == PaneScreen()


@pytest.mark.covers("B-ID-5")
async def test_what_is_not_the_name_of_a_run_is_refused(world: World, tmp_path: Path) -> None:
    for name in ("", "run-", "gwt-bot", "run-1\n", "run-../x", "run-A", "run-１", "-t run-1"):
        with pytest.raises(Refused):
            await world.panes.start(name, str(tmp_path), Launch(argv=("true",)), "")
        with pytest.raises(Refused):
            await world.panes.ended(name)
        with pytest.raises(Refused):
            world.panes.dialogs(name)
        with pytest.raises(Refused):
            world.panes.attach(name)
        with pytest.raises(Refused):
            await world.panes.screen(name)


async def test_what_an_agent_has_written_as_its_report_is_read(
    world: World, tmp_path: Path
) -> None:
    await _start(world, "run-1", tmp_path)
    assert await world.panes.read_report("run-1") == ""
    if isinstance(world, InMemory):
        world.panes.reports["run-1"] = "It is in cart.py."
    else:
        written = Path(world.panes.report("run-1")).write_text
        await asyncio.to_thread(written, "It is in cart.py.")
    assert await world.panes.read_report("run-1") == "It is in cart.py."
