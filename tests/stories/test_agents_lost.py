"""Agents, panes, worktrees and branches are lost in every way there is: the task goes on or asks, and nothing runs twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.core.runs import Run
from bot.core.states import Outcome, RunState, TaskState
from bot.core.task import Task
from tests.stories.asking.chats import Asked, in_a_channel
from tests.stories.asking.dialogs import pane_of, state, tmux, works
from tests.stories.conversation.scene import Scene, is_so, session, task_of, told, until

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
BRANCH = "agent/discount-codes"
"""Of T001, on which T003 is built."""


async def at_work(asked: Asked, key: str = "T001") -> None:
    """Until its agent has begun."""
    await works(asked)
    await is_so(asked.scene, lambda one: state(one, key) is RunState.RUNNING)
    await until(lambda: asked.plays.starts(key), lambda: told(asked.scene))


async def is_done(scene: Scene, key: str = "T001") -> list[Run]:
    """The runs it took."""
    await is_so(scene, lambda one: task_of(one, key).state is TaskState.COMPLETED)
    return task_of(session(scene), key).runs


def outcomes(runs: list[Run]) -> list[Outcome | None]:
    return [run.outcome for run in runs]


def folder_of(task: Task) -> Path:
    assert task.workspace
    return Path(task.workspace.path)


async def test_an_agent_that_ends_while_the_bot_is_down_is_picked_up(tmp_path: Path) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T001", [["wait", "end"]])
        await at_work(asked)
        await asked.person.bot_dies()
        asked.plays.release("end")
        await until(lambda: not asked.plays.alive("T001"), lambda: told(asked.scene))
        await asked.person.bot_comes_back()
        assert outcomes(await is_done(asked.scene)) == [Outcome.FINISHED]
        assert len(asked.plays.starts("T001")) == 1


@pytest.mark.covers("G-EDGE-1")
@pytest.mark.parametrize("down", [False, True], ids=["bot up", "bot down"])
async def test_when_tmux_is_killed_people_are_told_and_its_agents_go_on_in_new_runs(
    tmp_path: Path, down: bool
) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T001", [["hang"]])
        asked.plays.task("T002", [["hang"]])
        await at_work(asked)
        await until(lambda: asked.plays.starts("T002"), lambda: told(asked.scene))
        if down:
            await asked.person.bot_dies()
        tmux(asked.scene, "kill-server")
        if down:
            await asked.person.bot_comes_back()
        await asked.person.sees("T001", "vanished with its pane")
        for key in ("T001", "T002"):
            runs = await is_done(asked.scene, key)
            assert runs[0].outcome is Outcome.VANISHED
            assert len({run.conversation for run in runs}) == 1
        assert len(asked.plays.starts("T001")) == 2
        assert asked.plays.alive() == []


async def test_a_pane_that_is_killed_and_an_exit_code_are_told_and_tried_again(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T001", [["hang"]], [["leave", "3"]])
        await at_work(asked)
        tmux(asked.scene, "kill-pane", "-t", pane_of(asked.scene, "T001"))
        await asked.person.sees("T001", "(1 of 3)")
        await asked.person.sees("T001", "ended with exit code 3 (2 of 3)")
        runs = await is_done(asked.scene)
        assert [run.exit_code for run in runs][1:] == [3, 0]
        assert len(asked.plays.starts("T001")) == 3


async def test_three_runs_that_fail_are_enough_and_a_person_may_have_it_tried_again(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T001", [["leave", "3"]], [["leave", "4"]], [["leave", "5"]])
        await works(asked)
        await asked.person.sees("T001 failed", "exit code 5, 3 times now")
        assert len(asked.plays.starts("T001")) == 3
        await asked.person.presses("Retry", on="T001 failed")
        assert len(await is_done(asked.scene)) == 4


async def test_a_worktree_that_is_removed_under_its_agent_is_told_and_made_again(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T001", [["wait", "end"]])
        await at_work(asked)
        shutil.rmtree(folder_of(task_of(session(asked.scene), "T001")))
        asked.plays.release("end")
        await asked.person.sees("T001 is blocked", "worktree")
        await asked.person.presses("Make it again", on="T001 is blocked")
        await is_done(asked.scene)
        assert asked.scene.bot.git("show", "agent/discount-codes:basket/discount.py")


async def test_a_worktree_that_is_removed_between_two_runs_is_told_and_made_again(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T001", [["wait", "end"]], [])
        await at_work(asked)
        await asked.person.says("stop")
        await asked.person.sees("Stopped by Mika")
        await until(lambda: not asked.plays.alive(), lambda: told(asked.scene))
        shutil.rmtree(folder_of(task_of(session(asked.scene), "T001")))
        await asked.person.presses("Resume")
        await asked.person.sees("T001 is blocked", "worktree")
        await asked.person.presses("Make it again", on="T001 is blocked")
        await is_done(asked.scene)


async def test_a_branch_that_is_moved_by_hand_is_told_before_anything_is_merged(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T003", [["wait", "end"]])
        await at_work(asked, "T003")
        head = asked.scene.bot.git("rev-parse", BRANCH)
        asked.scene.bot.git("update-ref", f"refs/heads/{BRANCH}", "main")
        asked.plays.release("end")
        await is_done(asked.scene, "T003")
        await asked.person.presses("Merge into main", on="Everything is built")
        await asked.person.sees(BRANCH, head[:7])


@pytest.mark.covers("G-RULE-BRANCHMODE-3")
async def test_a_branch_that_is_deleted_by_hand_holds_up_the_merge_until_it_is_back(
    tmp_path: Path,
) -> None:
    """What builds on it goes on, because the commit is known; but nothing is merged as if nobody had touched it."""
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T003", [["wait", "end"]])
        await at_work(asked, "T003")
        head = asked.scene.bot.git("rev-parse", BRANCH)
        asked.scene.bot.git("update-ref", "-d", f"refs/heads/{BRANCH}")
        asked.plays.release("end")
        await is_done(asked.scene, "T003")
        await asked.person.presses("Merge into main", on="Everything is built")
        await asked.person.sees("I did not merge it", BRANCH)
        asked.scene.bot.git("update-ref", f"refs/heads/{BRANCH}", head)
        await asked.person.presses("Try again to merge into main", on="Everything is built")
        await asked.person.sees("COMPLETE")
        assert asked.scene.bot.git("show", "main:basket/discount.py")


async def test_a_base_that_people_have_moved_on_is_merged_into_and_not_moved_back(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T003", [["wait", "end"]])
        await at_work(asked, "T003")
        asked.scene.bot.git("commit", "--allow-empty", "-qm", "chore: of people")
        asked.plays.release("end")
        await is_done(asked.scene, "T003")
        await asked.person.presses("Merge into main", on="Everything is built")
        await asked.person.sees("COMPLETE")
        assert "chore: of people" in asked.scene.bot.git("log", "--format=%s", "main")
        assert asked.scene.bot.git("show", "main:basket/discount.py")


async def test_an_agent_that_stands_still_is_asked_once_and_then_a_person_decides(
    tmp_path: Path,
) -> None:
    """A hook that was lost, a server left running: without this its task would be awaited for ever."""
    quiet = {"GWT_QUIET_SECONDS": "3", "PROGRESS_SECONDS": "1", "GWT_PARALLEL": "1"}
    async with in_a_channel(tmp_path, **quiet) as asked:
        asked.plays.task("T001", [["hang"]])
        await at_work(asked)
        card = "nothing new from"
        await asked.person.sees("T001", card)
        await asked.person.sees("I asked it whether it is done, and nothing came.")
        screen = tmux(asked.scene, "capture-pane", "-p", "-J", "-t", pane_of(asked.scene, "T001"))
        assert screen.count("You have shown nothing new for a while.") == 1
        assert asked.plays.alive("T001"), "nothing is ended by itself"
        await asked.person.presses("Stop it", card)
        await until(lambda: not asked.plays.alive("T001"), lambda: told(asked.scene))
        [run] = task_of(session(asked.scene), "T001").runs
        assert run.quiet.asked
        assert len(asked.plays.starts("T001")) == 1
