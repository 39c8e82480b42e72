"""The control client: answers in order, no process per command, and a death that everybody waiting hears of."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from adapters.tmux.server import ControlClient, quote_argument
from bot.core.errors import Refused
from bot.core.runs import Launch
from tests.adapters.tmux.own_server import SLEEPS, Tmux, until

pytestmark = pytest.mark.tmux


async def clients(server: Tmux) -> list[int]:
    listed = await server.tmux("list-clients", "-F", "#{client_pid}")
    return [int(pid) for pid in listed.split()]


def status_of(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


async def test_many_questions_at_once_get_their_own_answers(server: Tmux) -> None:
    panes = server.panes()
    for number in range(5):
        says = Launch(argv=("sh", "-c", f"echo I am {number}; exec sleep 300"))
        await panes.start(f"run-{number}", str(server.worktree), says, "")
    for number in range(5):
        while await panes.tail(f"run-{number}", 1) != f"I am {number}":
            pass
    tails = await asyncio.gather(*(panes.tail(f"run-{n % 5}", 1) for n in range(50)))
    assert tails == [f"I am {n % 5}" for n in range(50)]


async def test_frequent_questions_start_no_process(server: Tmux) -> None:
    panes = await server.begun(SLEEPS)
    started: list[str] = []
    counting = True

    def count(event: str, _arguments: tuple[object, ...]) -> None:
        if counting and event in {"subprocess.Popen", "os.fork", "os.posix_spawn"}:
            started.append(event)

    sys.addaudithook(count)
    for _ in range(20):
        await panes.find("run-1")
        await panes.names()
        await panes.tail("run-1", 5)
    counting = False
    assert started == []


async def test_a_killed_control_client_is_replaced(server: Tmux) -> None:
    panes = server.panes()
    pane = await panes.start("run-1", str(server.worktree), SLEEPS, "")
    waiting = asyncio.create_task(panes.ended("run-1"))
    (client,) = await clients(server)
    os.kill(client, signal.SIGKILL)
    while client in await clients(server):
        assert await panes.find("run-1") == pane
    assert await panes.find("run-1") == pane
    assert not waiting.done()
    assert len(await clients(server)) == 1
    waiting.cancel()


async def test_a_server_killed_while_it_is_asked_costs_nobody_the_answer(server: Tmux) -> None:
    panes = await server.begun(SLEEPS)
    pid = int(await server.tmux("display-message", "-p", "#{pid}"))
    os.kill(pid, signal.SIGSTOP)
    await until(lambda: "\nState:\tT" in status_of(pid))
    asking = [asyncio.create_task(panes.names()) for _ in range(10)]
    done, _ = await asyncio.wait(asking, timeout=0.05)
    assert not done
    os.kill(pid, signal.SIGKILL)
    assert await asyncio.gather(*asking) == [()] * 10


async def test_the_client_a_dead_bot_left_behind_is_ended(server: Tmux) -> None:
    panes = server.panes()
    await panes.names()
    (stale,) = await clients(server)
    os.kill(stale, signal.SIGSTOP)  # it does not hear that its bot is gone
    await server.panes().names()
    now = await clients(server)
    assert len(now) == 1
    assert stale not in now


async def test_letting_go_leaves_the_server_and_its_agents_alone(server: Tmux) -> None:
    panes = server.panes()
    pane = await panes.start("run-1", str(server.worktree), SLEEPS, "")
    await panes.close()
    assert await clients(server) == []
    os.kill(pane.pid, 0)
    assert await server.panes().find("run-1") == pane


async def test_a_killed_server_is_followed_by_a_new_one_at_once(server: Tmux) -> None:
    panes = server.panes()
    for number in range(5):
        await panes.start(f"run-{number}", str(server.worktree), SLEEPS, "")
        await panes.kill_server()
        assert await panes.names() == ()


@pytest.mark.covers("G-RULE-BRANCHMODE-4")
async def test_a_session_that_is_no_run_is_not_one_of_ours(server: Tmux) -> None:
    panes = await server.begun(SLEEPS)
    await server.tmux("new-session", "-d", "-s", "of a person", "sleep 300")
    await server.tmux("split-window", "-d", "-t", "=run-1:", "sleep 300")
    assert await panes.names() == ("run-1",)


async def test_a_pane_a_person_opened_beside_the_agent_is_not_taken_for_it(server: Tmux) -> None:
    panes = server.panes()
    pane = await panes.start("run-1", str(server.worktree), SLEEPS, "")
    await server.tmux("split-window", "-t", "=run-1:", "sleep 300")
    assert await panes.find("run-1") == pane


async def test_a_burst_of_closing_panes_does_not_disturb_the_others(server: Tmux) -> None:
    panes = server.panes()
    runs = [f"run-{number}" for number in range(8)]
    for run in runs:
        await panes.start(run, str(server.worktree), SLEEPS, "")
    waiting = {run: asyncio.create_task(panes.ended(run)) for run in runs}
    await asyncio.gather(*(panes.stop(run) for run in runs[:4]))
    await until(lambda: all(waiting[run].done() for run in runs[:4]))
    assert not any(waiting[run].done() for run in runs[4:])
    for task in waiting.values():
        task.cancel()


async def test_only_the_very_block_that_was_opened_is_closed(tmp_path: Path) -> None:
    """An answer may hold lines that look like tmux talking."""
    program = tmp_path / "tmux"
    program.write_text(
        "#!/bin/sh\n"
        "printf '%%begin 1 1 0\\n%%end 1 1 0\\n'\n"
        "while read -r question; do\n"
        "  printf '%%begin 5 7 1\\n%%end 5 6 1\\n%%begin 5 8 1\\n%s\\n%%end 5 7 1\\n%%news\\n' \"$question\"\n"
        "done\n"
    )
    program.chmod(0o755)
    news: list[str] = []
    client = await ControlClient.attach(
        [str(program)],
        "any",
        {"PATH": os.environ["PATH"]},
        tmp_path,
        on_notification=news.append,
        on_lost=news.clear,
    )
    answers = await asyncio.gather(client.run("one"), client.run("two"))
    await client.close()
    assert answers == [["%end 5 6 1", "%begin 5 8 1", f"'{asked}'"] for asked in ("one", "two")]
    assert set(news) == {"%news"}


@pytest.mark.parametrize("argument", ["a\nkill-server", "a\0b"])
def test_an_argument_cannot_become_a_second_command(argument: str) -> None:
    with pytest.raises(Refused):
        quote_argument(argument)


async def test_a_question_may_hold_any_character_tmux_gives_a_meaning(server: Tmux) -> None:
    panes = server.panes()
    odd = 'it\'s; "$HOME" `x` \\ ~ {a} #{l:x} 日本'
    await panes.start("run-1", str(server.worktree), SLEEPS, odd)
    assert quote_argument("it's") == "'it'\\''s'"
    assert await panes.names() == ("run-1",)


async def test_a_server_ends_although_a_dead_bot_has_left_a_client_on_it(server: Tmux) -> None:
    panes = server.panes()
    await panes.names()
    (stale,) = await clients(server)
    os.kill(stale, signal.SIGSTOP)  # it neither reads nor leaves
    pid = int(await server.tmux("display-message", "-p", "#{pid}"))
    await server.panes().kill_server()
    await until(lambda: not Path(f"/proc/{pid}").exists())
