"""A person works in an agent's pane themselves: the bot types and judges nothing until they hand it back."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.tmux.screens import TYPING_PERIOD
from bot.core.states import RunState, TaskState
from tests.stories.asking.chats import Asked, in_a_channel
from tests.stories.asking.dialogs import TITLE, state, works
from tests.stories.console_person import SIZE
from tests.stories.conversation.scene import (
    LOOK_EVERY,
    is_so,
    sees_often,
    session,
    task_of,
    told,
    until,
)
from tests.stories.terminal import Terminal

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


@pytest.mark.covers("O-X5")
async def test_who_takes_an_agent_over_attaches_to_it_and_nothing_is_judged_until_it_is_handed_back(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        plays, person, scene = asked.plays, asked.person, asked.scene
        plays.task("T001", [["menu", "make test"], ["wait", "end"]])
        plays.task("T002", [["wait", "second"]])
        await works(asked)
        await person.sees(TITLE, "make test")
        await person.says("takeover T001")
        await person.sees("T001 is yours")
        await person.sees(TITLE, "Taken over by Mika")
        answers_by_hand(asked, await attach_command(asked))
        work_by_hand(asked)
        plays.release("end")
        plays.release("second")
        # a whole task is looked at, tested and judged meanwhile; this one is not
        await is_so(scene, lambda one: task_of(one, "T002").state is TaskState.COMPLETED)
        task = task_of(session(scene), "T001")
        assert (task.state, state(session(scene), "T001")) == (TaskState.RUNNING, RunState.RUNNING)
        assert not task.checks
        await person.says("handback T001")
        await person.sees("T001 is handed back")
        await is_so(scene, lambda one: task_of(one, "T001").state is TaskState.COMPLETED)
        task = task_of(session(scene), "T001")
        assert len(task.runs) == len(plays.starts("T001")) == 1
        assert "by hand" in scene.bot.git("log", "--format=%s", "agent/discount-codes")
        assert plays.keys() == ["2"]


async def test_what_ends_badly_while_a_person_has_it_is_told_to_its_next_run(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        plays, person, scene = asked.plays, asked.person, asked.scene
        plays.task("T001", [["wait", "end"], ["leave", "3"]])
        plays.task("T002", [["wait", "second"]])
        await works(asked)
        await is_so(scene, lambda one: state(one, "T001") is RunState.RUNNING)
        await person.says("takeover T001")
        await person.sees("T001 is yours")
        await person.says("takeover T003")
        await person.sees("T001 is yours")
        plays.release("end")
        plays.release("second")
        await is_so(scene, lambda one: task_of(one, "T002").state is TaskState.COMPLETED)
        assert len(plays.starts("T001")) == 1
        await person.says("handback T001")
        await is_so(scene, lambda one: task_of(one, "T001").state is TaskState.COMPLETED)
        first, second = task_of(session(scene), "T001").runs
        assert first.exit_code == 3
        assert second.resumes
        assert "A person has worked in your worktree" in second.feedback


async def test_who_types_in_the_pane_is_not_interrupted_and_what_is_still_asked_is_asked_again(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        plays, person = asked.plays, asked.person
        plays.task("T001", [["menu", "make test"], ["wait", "end"]])
        await works(asked)
        await person.sees(TITLE, "make test")
        run = task_of(session(asked.scene), "T001").run
        assert run
        with attached(asked, run.attach) as terminal:
            terminal.press("x")
            terminal.until(lambda: plays.keys() == ["x"])
            await person.presses("Yes", on=TITLE)
            await person.sees("T001: the answer did not arrive", "Somebody is typing")
        await sees_often(asked.scene, 2, TITLE, "make test")
        assert plays.keys() == ["x"]
        await comes(TYPING_PERIOD)
        await person.presses("Yes", on=TITLE)
        await until(lambda: plays.keys() == ["x", "1"], lambda: told(asked.scene))
        plays.release("end")
        await is_so(asked.scene, lambda one: task_of(one, "T001").state is TaskState.COMPLETED)


async def comes(seconds: float) -> None:
    """The bot believes for so long that somebody is still typing."""
    over = time.monotonic() + seconds
    while time.monotonic() < over:  # noqa: ASYNC110 - time passes by itself
        await asyncio.sleep(LOOK_EVERY)


async def attach_command(asked: Asked) -> str:
    run = task_of(session(asked.scene), "T001").run
    assert run
    assert run.attach
    assert await asked.person.count("T001 is yours", run.attach) == 1
    return run.attach


@contextmanager
def attached(asked: Asked, attach: str) -> Generator[Terminal]:
    environ = {"PATH": asked.scene.bot.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    with Terminal(Path("/"), environ, SIZE) as terminal:
        terminal.start("env", "-u", "TMUX", "-u", "TMUX_TMPDIR", "sh", "-c", attach)
        terminal.until(lambda: "Do you want to proceed?" in terminal.screen)
        yield terminal


def answers_by_hand(asked: Asked, attach: str) -> None:
    """As printed, in a terminal that knows nothing of the bot."""
    with attached(asked, attach) as terminal:
        terminal.press("2")
        terminal.until(lambda: asked.plays.keys() == ["2"])


def work_by_hand(asked: Asked) -> None:
    workspace = task_of(session(asked.scene), "T001").workspace
    assert workspace
    (Path(workspace.path) / "NOTES.md").write_text("Looked at.\n")
    for command in (("add", "NOTES.md"), ("commit", "-qm", "docs: by hand")):
        identity = ("-c", "user.name=Mika", "-c", "user.email=mika@example.com")
        subprocess.run(["git", "-C", workspace.path, *identity, *command], check=True)
