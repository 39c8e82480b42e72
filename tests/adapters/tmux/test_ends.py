"""The end of a run: known with its code, whoever dies first, and after the bot was started anew."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from adapters.tmux.spool import end_by_hook
from adapters.tmux.watch import Watch
from bot.core.runs import CompletionSource, Launch
from bot.core.states import Outcome
from tests.adapters.tmux.own_server import SLEEPS, Tmux, alive, leave, pid_in, until

pytestmark = pytest.mark.tmux


def ends_with(code: int, pipe: Path) -> Launch:
    """An agent that ends when the test opens and closes its pipe."""
    return Launch(argv=("sh", "-c", 'cat "$0"; exit "$1"', str(pipe), str(code)), stdin="nothing")


def at_work(*more: str) -> Launch:
    return Launch(
        argv=("sh", "-c", 'echo "$$" > "$GWT_SPOOL/agent"; exec sleep 300', *more), stdin="nothing"
    )


@pytest.mark.covers("G-US4.2", "G-RULE-END-2", "G-FR-007", "G-SC-003", "G-LIMIT-2")
async def test_the_code_of_forty_deaths_at_once_is_known_half_of_them_killed(server: Tmux) -> None:
    panes = server.panes()
    pipe = server.worktree / "pipe"
    os.mkfifo(pipe)
    leaving = [f"run-leaves-{number}" for number in range(20)]
    killed = [f"run-killed-{number}" for number in range(20)]
    for run in leaving:
        await panes.start(run, str(server.worktree), ends_with(7, pipe), "")
    for run in killed:
        await panes.start(run, str(server.worktree), at_work(), "")
    waiting = [asyncio.create_task(panes.ended(run)) for run in leaving + killed]
    pids = [await pid_in(server.spool(run) / "agent") for run in killed]
    await until(lambda: _readers_of(pipe) == 20)
    os.close(os.open(pipe, os.O_WRONLY))
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    ends = await asyncio.gather(*waiting)
    assert [end.exit_code for end in ends] == [7] * 20 + [137] * 20
    assert {end.outcome for end in ends} == {Outcome.FAILED}
    assert {end.source for end in ends} == {CompletionSource.PROCESS_EXIT}


def _readers_of(pipe: Path) -> int:
    """How many agents have come so far as to open it, which waits for a writer."""
    waiting = 0
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            waiting += command.read_bytes() == b"cat\0" + bytes(pipe) + b"\0"
        except OSError:
            continue
    return waiting


async def test_a_run_that_ended_while_the_bot_was_away_is_known_at_once(server: Tmux) -> None:
    before = server.panes()
    await before.start("run-1", str(server.worktree), Launch(argv=("sh", "-c", "exit 5")), "")
    await before.close()
    await until(lambda: (server.spool("run-1") / "exit").exists())
    end = await server.panes().ended("run-1")
    assert (end.outcome, end.exit_code) == (Outcome.FAILED, 5)


async def test_a_run_goes_on_without_the_bot_and_the_next_one_waits_for_it(server: Tmux) -> None:
    before = server.panes()
    pane = await before.start("run-1", str(server.worktree), at_work(), "")
    await before.close()
    panes = server.panes()
    assert await panes.find("run-1") == pane
    waiting = asyncio.create_task(panes.ended("run-1"))
    os.kill(await pid_in(server.spool("run-1") / "agent"), signal.SIGINT)
    assert (await waiting).exit_code == 130


async def test_a_killed_server_takes_its_runs_with_it_but_not_what_they_have_written(
    server: Tmux,
) -> None:
    panes = server.panes()
    await panes.start("run-ended", str(server.worktree), Launch(argv=("true",)), "")
    assert (await panes.ended("run-ended")).outcome is Outcome.FINISHED
    await panes.start("run-working", str(server.worktree), at_work(), "")
    pid = await pid_in(server.spool("run-working") / "agent")
    waiting = asyncio.create_task(panes.ended("run-working"))
    await server.tmux("kill-server")
    assert (await waiting).outcome is Outcome.VANISHED
    assert (await panes.ended("run-ended")).outcome is Outcome.FINISHED
    assert (await panes.ended("run-working")).outcome is Outcome.VANISHED
    await until(lambda: not alive(pid))
    assert await panes.names() == ()


@pytest.mark.covers("G-RULE-END-4")
async def test_runs_whose_server_was_killed_while_the_bot_was_away_have_vanished(
    server: Tmux,
) -> None:
    before = server.panes()
    await before.start("run-ended", str(server.worktree), Launch(argv=("sh", "-c", "exit 6")), "")
    await before.start("run-working", str(server.worktree), at_work(), "")
    await before.ended("run-ended")
    pid = await pid_in(server.spool("run-working") / "agent")
    await before.close()
    await server.tmux("kill-server")
    await until(lambda: not alive(pid))
    panes = server.panes()
    assert (await panes.ended("run-working")).outcome is Outcome.VANISHED
    assert (await panes.ended("run-ended")).exit_code == 6
    again = await panes.start("run-working", str(server.worktree), at_work(), "")
    assert again.pid == 0  # a name gets one start


@pytest.mark.covers("G-FR-007", "O-X7")
async def test_an_agent_that_hangs_is_at_work_until_somebody_ends_it(server: Tmux) -> None:
    panes = server.panes(watch=Watch(sweep=0.1))
    await panes.start("run-1", str(server.worktree), at_work(), "")
    pid = await pid_in(server.spool("run-1") / "agent")
    os.kill(pid, signal.SIGSTOP)
    waiting = asyncio.create_task(panes.ended("run-1"))
    done, _ = await asyncio.wait({waiting}, timeout=0.6)  # several sweeps
    assert not done
    os.kill(pid, signal.SIGKILL)
    assert (await waiting).exit_code == 137


async def test_an_agent_that_outlives_its_terminal_has_vanished_all_the_same(server: Tmux) -> None:
    deaf = ("sh", "-c", 'trap "" HUP; echo "$$" > "$GWT_SPOOL/agent"; exec sleep 300')
    panes = await server.begun(Launch(argv=deaf, stdin="nothing"))
    pid = await pid_in(server.spool("run-1") / "agent")
    waiting = asyncio.create_task(panes.ended("run-1"))
    await server.tmux("kill-session", "-t", "=run-1")
    assert (await waiting).outcome is Outcome.VANISHED
    os.kill(pid, 0)  # it lives; a stop finds it
    assert await panes.stop("run-1") == ()
    await until(lambda: not alive(pid))


async def test_a_run_whose_shell_is_killed_was_killed(server: Tmux) -> None:
    panes = server.panes()
    pane = await panes.start("run-1", str(server.worktree), at_work(), "")
    await pid_in(server.spool("run-1") / "agent")
    waiting = asyncio.create_task(panes.ended("run-1"))
    os.kill(pane.pid, signal.SIGKILL)
    end = await waiting
    assert (end.outcome, end.exit_code) == (Outcome.KILLED, None)


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGTERM, signal.SIGINT])
async def test_the_code_is_written_even_if_the_shell_is_told_to_end(
    server: Tmux, number: int
) -> None:
    panes = server.panes()
    pane = await panes.start("run-1", str(server.worktree), at_work(), "")
    pid = await pid_in(server.spool("run-1") / "agent")
    waiting = asyncio.create_task(panes.ended("run-1"))
    os.kill(pane.pid, number)
    os.kill(pid, signal.SIGKILL)
    assert (await waiting).exit_code == 137


@pytest.mark.covers("G-RULE-END-4", "G-SC-003")
async def test_without_help_from_the_kernel_the_end_is_found_by_looking(server: Tmux) -> None:
    panes = server.panes(watch=Watch(kernel=False, poll=0.05))
    pipe = server.worktree / "pipe"
    os.mkfifo(pipe)
    await panes.start("run-1", str(server.worktree), ends_with(3, pipe), "")
    await until(lambda: _readers_of(pipe) == 1)
    waiting = asyncio.create_task(panes.ended("run-1"))
    done, _ = await asyncio.wait({waiting}, timeout=0.3)  # it has looked once, and waits
    assert not done
    os.close(os.open(pipe, os.O_WRONLY))
    end = await waiting
    assert (end.exit_code, end.source) == (3, CompletionSource.SWEEP)


async def test_a_pane_that_is_closed_is_told_by_tmux_where_the_kernel_does_not(
    server: Tmux,
) -> None:
    panes = server.panes(watch=Watch(kernel=False, poll=300, sweep=300))
    await panes.start("run-1", str(server.worktree), at_work(), "")
    await pid_in(server.spool("run-1") / "agent")
    waiting = asyncio.create_task(panes.ended("run-1"))
    done, _ = await asyncio.wait({waiting}, timeout=0.05)
    assert not done
    await server.tmux("kill-session", "-t", "=run-1")
    assert (await waiting).outcome is Outcome.VANISHED


@pytest.mark.covers("G-US4.3", "G-RULE-END-3", "G-FR-007")
async def test_a_marker_on_a_line_of_its_own_ends_the_run(server: Tmux) -> None:
    says = 'echo "soon: DONE-4f1c."; printf "\\033[1mDONE-%s\\033[0m\\n" 4f1c; exec sleep 300'
    launch = Launch(argv=("sh", "-c", says), marker="DONE-4f1c")
    panes = await server.begun(launch)
    end = await panes.ended("run-1")
    assert (end.outcome, end.source) == (Outcome.FINISHED, CompletionSource.OUTPUT_PATTERN)
    await panes.close()
    assert (await server.panes().ended("run-1")).outcome is Outcome.FINISHED


@pytest.mark.covers("G-US4.3")
async def test_a_marker_among_other_words_ends_nothing(server: Tmux) -> None:
    says = 'echo "print DONE-4f1c when you are done"; echo xDONE-4f1c; exit 9'
    launch = Launch(argv=("sh", "-c", says), marker="DONE-4f1c")
    panes = await server.begun(launch)
    assert (await panes.ended("run-1")).exit_code == 9


@pytest.mark.covers("G-RULE-END-3")
async def test_a_marker_in_a_redrawn_screen_is_seen(server: Tmux) -> None:
    draws = (
        'i=0; while :; do printf "\\033[H\\033[2J\\033[3;1Hframe %s" "$i"; i=$((i+1));'
        ' [ "$i" = 7 ] && printf "\\033[2;1H\\342\\224\\202 DONE-%s \\033[5;1H" 4f1c; sleep 0.01; done'
    )
    launch = Launch(argv=("sh", "-c", draws), marker="DONE-4f1c")
    panes = await server.begun(launch)
    assert (await panes.ended("run-1")).source is CompletionSource.OUTPUT_PATTERN


@pytest.mark.covers("G-US4.1", "G-RULE-END-1", "G-FR-006")
async def test_a_stop_hook_ends_the_run_while_its_process_lives(server: Tmux) -> None:
    panes = await server.begun(SLEEPS)
    waiting = asyncio.create_task(panes.ended("run-1"))
    spool = server.spool("run-1")
    leave(spool, "1.json", event="Stop", background_tasks=[{"status": "running"}])
    leave(spool, "2.json", event="SessionStart")
    (spool / "3.json").write_text("no json")
    done, _ = await asyncio.wait({waiting}, timeout=0.1)
    assert not done
    leave(spool, "4.json", event="Stop", last_assistant_message="All done.", background_tasks=[])
    end = await waiting
    assert (end.outcome, end.source) == (Outcome.FINISHED, CompletionSource.HOOK)
    assert end.message == "All done."
    await panes.keep_transcript("run-1")
    assert (await panes.ended("run-1")).outcome is Outcome.FINISHED


@pytest.mark.covers("G-RULE-END-1")
@pytest.mark.parametrize(("hook", "outcome"), [
    ({"event": "Stop"}, Outcome.FINISHED),
    ({"hook_event_name": "Stop", "background_tasks": []}, Outcome.FINISHED),
    ({"event": "Stop", "background_tasks": [{"status": "done"}]}, Outcome.FINISHED),
    ({"event": "Stop", "background_tasks": [{"status": "running"}]}, None),
    ({"event": "StopFailure", "error": "server_error"}, Outcome.FAILED),
    ({"event": "SessionEnd", "reason": "other"}, None),
    ({"event": ["Stop"]}, None),
    ({}, None),
])  # fmt: skip
def test_what_a_hook_says_about_the_end(hook: dict[str, object], outcome: Outcome | None) -> None:
    end = end_by_hook(hook)
    assert (end.outcome if end else None) == outcome


async def test_an_agent_that_cannot_be_found_fails_with_the_shells_code(server: Tmux) -> None:
    panes = await server.begun(Launch(argv=("no-such-agent",)))
    assert (await panes.ended("run-1")).exit_code == 127
