"""The bot's own commands in a worktree, set-up and tests: bounded, ended with all they start, and told when they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.states import TaskState
from tests.stories.asking.chats import Asked, in_a_channel
from tests.stories.asking.dialogs import works
from tests.stories.asking.plays import lives
from tests.stories.conversation.scene import is_so, session, task_of, told, until

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
CHECK = Path(__file__).parent / "asking" / "check.sh"
MOST_KEPT = 3_000_000
"""Bytes that stay on disk of a test that prints without end."""


def checked(folder: Path, how: str, seconds: str = "60") -> dict[str, str]:
    """Settings: the first check of a task behaves so; at the base the tests pass."""
    (folder / "check").mkdir()
    (folder / "check" / "how").write_text(how)
    at_base = "case $PWD in */agent-base-*) exit 0;; esac"
    command = f"{at_base}; sh {CHECK} {folder / 'check'}"
    return {"GWT_TEST_COMMAND": command, "GWT_CHECK_SECONDS": seconds, "GWT_PARALLEL": "1"}


def pids(folder: Path) -> list[int]:
    told = folder / "check" / "pids"
    return [int(pid) for pid in told.read_text().split()] if told.exists() else []


async def is_done(asked: Asked, key: str = "T001") -> None:
    await is_so(asked.scene, lambda one: task_of(one, key).state is TaskState.COMPLETED)


async def test_tests_that_print_without_end_are_told_in_their_last_lines_and_kept_within_bounds(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path, **checked(tmp_path, "flood")) as asked:
        await works(asked)
        await asked.person.sees("the tests fail (exit code 1, repair 1 of 3)", "says too much")
        await is_done(asked)
        kept = sum(path.stat().st_size for path in asked.scene.bot.home.rglob("*.log"))
        assert kept < MOST_KEPT, kept
        saved = (asked.scene.bot.home / "sessions").rglob("*")
        assert sum(path.stat().st_size for path in saved if path.is_file()) < MOST_KEPT


async def test_tests_that_never_end_are_ended_with_all_they_started_and_it_is_told(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path, **checked(tmp_path, "hang", "4")) as asked:
        await works(asked)
        await until(lambda: len(pids(tmp_path)) == 2, lambda: told(asked.scene))
        await asked.person.sees("1 of 3)", "watching for changes")
        await until(lambda: not any(map(lives, pids(tmp_path))), lambda: f"{pids(tmp_path)}")
        await is_done(asked)


async def test_what_tests_leave_running_is_ended(tmp_path: Path) -> None:
    async with in_a_channel(tmp_path, **checked(tmp_path, "daemon")) as asked:
        await works(asked)
        await is_done(asked)
        assert pids(tmp_path)
        await until(lambda: not any(map(lives, pids(tmp_path))), lambda: f"{pids(tmp_path)}")


@pytest.mark.covers("O-X4")
async def test_set_up_that_fails_is_shown_with_its_output_and_may_be_tried_again(
    tmp_path: Path,
) -> None:
    mended = tmp_path / "mended"
    command = f"sh -c 'test -e {mended} || {{ echo no such registry; exit 6; }}'"
    async with in_a_channel(tmp_path, GWT_SET_UP=command, GWT_PARALLEL="1") as asked:
        await works(asked)
        await asked.person.sees("T001 is blocked", "ended with 6", "no such registry")
        assert not asked.plays.starts("T001")
        mended.touch()
        await asked.person.presses("Retry", on="T001 is blocked")
        await is_done(asked)


@pytest.mark.covers("O-X4")
async def test_ignored_files_that_were_named_are_there_before_the_agent_starts(
    tmp_path: Path,
) -> None:
    async with in_a_channel(
        tmp_path, GWT_COPY_FILES=".env.local", GWT_SET_UP="cp .env.local copied.pyc"
    ) as asked:
        shop = asked.scene.bot.shop
        (shop / ".git" / "info").mkdir(exist_ok=True)
        (shop / ".git" / "info" / "exclude").write_text(".env.local\ncopied.pyc\n")
        (shop / ".env.local").write_text("COLOUR=green\n")
        asked.plays.task("T001", [["require", ".env.local"], ["require", "copied.pyc"]])
        await works(asked)
        await is_done(asked)
        assert len(asked.plays.starts("T001")) == 1
        assert ".env.local" not in asked.scene.bot.git(
            "ls-tree", "-r", "--name-only", "agent/discount-codes"
        )


async def test_an_agent_that_writes_into_the_main_checkout_raises_an_alarm(tmp_path: Path) -> None:
    async with in_a_channel(tmp_path, GWT_PARALLEL="1") as asked:
        touched = asked.scene.bot.shop / "CLAUDE.md"
        asked.plays.task("T001", [["touch", str(touched)]])
        await works(asked)
        await asked.person.sees("Your own checkout was changed", "T001", "CLAUDE.md")
        await is_done(asked)
        assert await asked.person.count("Your own checkout was changed") == 1
        assert "CLAUDE.md" in session(asked.scene).repository.touched_files
