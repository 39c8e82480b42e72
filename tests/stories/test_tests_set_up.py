"""A repository without tests, on real git: the first task sets them up, a person sees the command, and from then on it is run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.commands.shell import ShellCommands
from adapters.git import GitRepository, GitWorktrees
from bot.core.cards import Card, NeedsYouCard
from bot.core.choices import Verb
from bot.core.session import Session
from bot.core.states import TaskState
from bot.core.task import Task
from bot.core.world import Rules
from bot.steps.verify.test_command import NONE_YET
from tests.adapters.git.worlds import git, new_repository, write
from tests.fakes.chat import THREAD
from tests.stories.conversation.scene import until
from tests.stories.stage import Stage, draft

PASSES = "import unittest\n\nclass Adds(unittest.TestCase):\n    def test_adds(self) -> None:\n        self.assertEqual(1 + 1, {})\n"
COMMAND = "python3 -m unittest discover -s tests"

needs_npm = pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")


class OnGit(Stage):
    """Git and the tests are real; the agents are what the story writes and commits."""

    def __init__(self, folder: Path, files: dict[str, str] | None = None) -> None:
        first = draft("T001", "Set up tests") | {"files": list(files or ())}
        super().__init__(drafts=[first, draft("T002", "Discounts", "T001")])
        self.top = new_repository(folder / "shop", files or {"shop.py": "one = 1\n"})
        self.repository = GitRepository(folder / "home")  # type: ignore[assignment]
        self.worktrees = GitWorktrees(folder / "home")  # type: ignore[assignment]
        self.commands = ShellCommands(os.environ, str)  # type: ignore[assignment]
        self.rules = Rules(repository=str(self.top), agent="played")
        self.home = str(folder / "home")

    async def comes(self, kind: str, *words: str) -> Card:
        """Wait until the newest card of that kind says this."""

        def newest() -> Card | None:
            cards = [card for card in self.chat.cards(THREAD) if card.kind == kind]
            said = [card for card in cards if all(word in str(card) for word in words)]
            return said[-1] if said else None

        await until(lambda: newest() is not None, self.told)
        card = newest()
        assert card
        return card

    async def works(self, key: str, files: dict[str, str]) -> None:
        """The agent of that task commits these files, and ends."""

        def run() -> str:
            task = of(self.session(), key)
            name = task.run.name if task.run else ""
            return name if name in self.panes.running() else ""

        await until(lambda: bool(run()), self.told)
        folder = Path(self.panes.folders[run()])
        write(folder, files)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", f"feat: {key}")
        self.panes.finish(run())
        await self.settle()

    def told(self) -> str:
        """How things stand."""
        tasks = [(task.key, task.state, task.blocked) for task in self.session().tasks]
        return f"{tasks} {self.session().control.troubles} {[card.key for card in self.chat.cards(THREAD)]}"

    async def is_so(self, key: str, state: TaskState) -> Task:
        await until(lambda: of(self.session(), key).state is state, self.told)
        return of(self.session(), key)


def of(session: Session, key: str) -> Task:
    return next(task for task in session.tasks if task.key == key)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[OnGit]:
    stage = OnGit(tmp_path)
    await stage.open()
    yield stage
    await stage.close()


async def test_tests_that_the_first_task_sets_up_are_seen_by_a_person_and_run_from_then_on(
    stage: OnGit,
) -> None:
    await stage.says("Add discounts")
    await stage.comes("questions", NONE_YET)
    await stage.presses(Verb.DEFAULTS)
    await stage.comes("approval", "test_command=''")
    await stage.approves()

    await stage.works("T001", {"tests/test_adds.py": PASSES.format(2)})
    asked = await stage.comes("needs_you", COMMAND)
    assert isinstance(asked, NeedsYouCard)
    assert of(stage.session(), "T001").checks == [], "nobody has seen it yet"
    [use] = [choice for choice in asked.choices if choice.verb is Verb.ACCEPT]
    await stage.presses(use.verb, use.about)
    done = await stage.is_so("T001", TaskState.COMPLETED)
    assert [(check.command, check.exit_code) for check in done.checks] == [(COMMAND, 0)]

    # the next one is tested with it, and nobody is asked again
    await stage.works("T002", {"tests/test_more.py": PASSES.format(3)})
    await until(lambda: bool(of(stage.session(), "T002").checks), stage.told)
    failed = of(stage.session(), "T002").checks[0]
    assert (failed.command, failed.passed) == (COMMAND, False)
    assert "2 != 3" in failed.output
    # of another size: in the same second Python would take its bytecode of before for that of this file
    await stage.works("T002", {"tests/test_more.py": PASSES.format(2) + "\n\n"})
    await stage.is_so("T002", TaskState.COMPLETED)
    assert [card.kind for card in stage.chat.cards(THREAD)].count("needs_you") == 1

    await stage.comes("offer")
    await stage.presses(Verb.MERGE)
    await until(lambda: bool(stage.session().ending.merged_commit), stage.told)
    assert (stage.top / "tests" / "test_more.py").is_file()


def npm_project(*packages: str) -> dict[str, str]:
    """It needs packages that lie in it, so that npm reaches for no network. Nothing is ignored."""
    needs = {name: f"file:{name}" for name in packages}
    shop: dict[str, object] = {"name": "shop", "version": "1.0.0", "dependencies": needs}
    locked: dict[str, object] = {"": shop}
    for name in packages:
        locked |= {
            name: {"version": "1.0.0"},
            f"node_modules/{name}": {"resolved": name, "link": True},
        }
    lock = {"name": "shop", "version": "1.0.0", "lockfileVersion": 3, "packages": locked}
    own = {f"{one}/package.json": f'{{"name": "{one}", "version": "1.0.0"}}' for one in packages}
    return {
        "package.json": json.dumps({**shop, "scripts": {"test": "node check.js"}}),
        "package-lock.json": json.dumps(lock),
        "check.js": "".join(f"require('{one}')\n" for one in packages),
        **own,
        **{f"{one}/index.js": "" for one in packages},
    }


async def agreed(stage: OnGit, shown: str) -> None:
    """A plan is approved whose card shows this."""
    await stage.says("Add discounts")
    await stage.comes("questions")
    await stage.presses(Verb.DEFAULTS)
    await stage.comes("approval", shown)
    await stage.approves()


@pytest.mark.covers("O-X4")
@needs_npm
async def test_what_lock_files_ask_for_is_approved_and_installed_and_gets_into_no_commit(
    tmp_path: Path,
) -> None:
    stage = OnGit(tmp_path, npm_project("left"))
    await stage.open()
    try:
        await agreed(stage, "set_up='npm ci'")
        # it passes only where `right`, which the task's own lock file asks for, was installed too
        await stage.works("T001", npm_project("left", "right"))
        done = await stage.is_so("T001", TaskState.COMPLETED)
        assert [check.exit_code for check in done.checks] == [0], done.checks[0].output
        assert done.workspace
        assert (Path(done.workspace.path) / "node_modules" / "right").is_symlink()
        files = git(stage.top, "ls-tree", "-r", "--name-only", done.workspace.branch)
        assert "right/index.js" in files
        assert "node_modules" not in files
        # what builds on it has it from the beginning
        await stage.works("T002", {"more.js": "require('right')\n"})
        await stage.is_so("T002", TaskState.COMPLETED)
        assert "node_modules" not in git(stage.top, "status", "--porcelain")
    finally:
        await stage.close()


@needs_npm
async def test_a_lock_file_that_cannot_be_installed_goes_back_to_the_agent(tmp_path: Path) -> None:
    stage = OnGit(tmp_path, npm_project("left"))
    await stage.open()
    try:
        await agreed(stage, "set_up='npm ci'")
        await stage.works("T001", {"package-lock.json": "{"})
        await until(lambda: bool(of(stage.session(), "T001").checks), stage.told)
        [failed] = of(stage.session(), "T001").checks
        assert not failed.passed
        assert "The set-up command `npm ci` ended with" in failed.output
        await stage.works("T001", npm_project("left", "right"))
        await stage.is_so("T001", TaskState.COMPLETED)
    finally:
        await stage.close()


async def test_where_the_operator_wants_none_nothing_is_set_up(tmp_path: Path) -> None:
    stage = OnGit(tmp_path, npm_project("left"))
    stage.rules = replace(stage.rules, set_up=("none",))
    await stage.open()
    try:
        await agreed(stage, "set_up=''")
        await until(lambda: bool(stage.panes.running()), stage.told)
        [folder] = [stage.panes.folders[name] for name in stage.panes.running()]
        assert not (Path(folder) / "node_modules").exists()
    finally:
        await stage.close()
