"""Branch mode on a real repository: what people see of it, and what git says afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.git import GitRepository, GitWorktrees
from adapters.store import TaskLogFiles
from bot.core.cards import AnswerCard
from bot.core.choices import Choice, Command, Verb, Word
from bot.core.events import Commanded
from bot.core.layout import lay_out
from bot.core.sheets import Table, markdown
from bot.core.states import Status
from bot.core.world import Rules
from tests.adapters.git.worlds import git, new_repository, write
from tests.fakes.chat import ANNA, THREAD
from tests.stories.stage import Stage

CHANNEL = THREAD.model_copy(update={"root": ""})


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    top = new_repository(tmp_path / "shop")
    git(top, "switch", "--quiet", "--create", "feature/search")
    write(top, {"search.py": "found = []\n"})
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "Add a search")
    git(top, "switch", "--quiet", "main")
    stage = Stage()
    stage.repository = GitRepository(tmp_path / "home")  # type: ignore[assignment]
    stage.worktrees = GitWorktrees(tmp_path / "home")  # type: ignore[assignment]
    stage.rules = Rules(repository=str(top), agent="played")
    await stage.open()
    yield stage
    await stage.close()


def top(stage: Stage) -> str:
    return stage.rules.repository


async def shown(stage: Stage, name: str, until: str) -> AnswerCard:
    """The card of a branch, once it says that."""
    await stage.commands_(Word.BRANCH, name, CHANNEL)
    return await card_that_says(stage, until)


async def card_that_says(stage: Stage, text: str) -> AnswerCard:
    def found() -> list[AnswerCard]:
        cards = [card for _, card in stage.chat.shown if isinstance(card, AnswerCard)]
        return [card for card in cards if text in markdown(lay_out(card)).replace("\\", "")]

    await stage.chat.until(lambda: bool(found()))
    return found()[-1]


def button(card: AnswerCard, verb: Verb) -> Choice:
    return next(choice for choice in card.choices if choice.verb is verb)


@pytest.mark.covers("G-RULE-BRANCHMODE-2")
async def test_a_branch_of_a_person_is_looked_at_merged_and_deleted(stage: Stage) -> None:
    card = await shown(stage, "feature/search", "It adds a file.")
    merge = button(card, Verb.MERGE_BRANCH)
    await stage.presses(merge.verb, merge.about, thread=CHANNEL)
    card = await card_that_says(stage, "Merged into main by Anna")
    assert (Path(top(stage)) / "search.py").is_file()
    delete = button(card, Verb.DELETE_BRANCH)
    await stage.presses(delete.verb, delete.about, thread=CHANNEL)
    await card_that_says(stage, "Deleted by Anna")
    assert git(top(stage), "branch", "--format=%(refname:short)") == "main"
    assert git(top(stage), "worktree", "list").count("\n") == 0
    assert git(top(stage), "status", "--porcelain") == ""


@pytest.mark.covers("G-RULE-WIZARD-3")
async def test_a_spec_is_kept_on_its_branch_and_nobodys_checkout_is_touched(stage: Stage) -> None:
    command = Command(word=Word.SPEC, text="a dark mode")
    event = Commanded(id="spec", at=stage.clock.now(), by=ANNA, command=command)
    await stage.tell(event, CHANNEL)

    def now() -> str:
        return next((one.status for one in stage.store.sessions()), "")

    def asked() -> list[str]:
        return [thread.root for thread, card in stage.chat.shown if card.kind == "questions"]

    await stage.chat.until(lambda: bool(asked()))
    thread = CHANNEL.model_copy(update={"root": asked()[-1]})
    await stage.presses(Verb.DEFAULTS, thread=thread)
    await stage.chat.until(lambda: now() == Status.COMPLETED)
    [branch] = git(top(stage), "branch", "--list", "--format=%(refname:short)", "agent/*").split()
    files = git(top(stage), "ls-tree", "-r", "--name-only", branch, "--", "specs").split()
    assert [Path(name).name for name in files] == ["plan.md", "spec.md", "tasks.md"]
    assert git(top(stage), "status", "--porcelain") == ""
    assert git(top(stage), "branch", "--show-current") == "main"


@pytest.mark.covers("R-PROPERTY-27", "R-PROPERTY-30")
async def test_tasks_and_logs_list_the_same_tasks_by_the_same_key(tmp_path: Path) -> None:
    stage = Stage()
    stage.logs = TaskLogFiles(tmp_path, stage.masker)  # type: ignore[assignment]
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work(rounds=4)
    for word in (Word.TASKS, Word.LOGS):
        await stage.commands_(word)
        await stage.chat.until(lambda word=word: word.title() in titles(stage))
    listed = [
        [row[0] for row in element.rows]
        for card in answers(stage)
        for element in card.body
        if isinstance(element, Table)
    ]
    keys = [task.key for task in stage.session().tasks]
    await stage.close()
    assert listed == [keys, keys]


def answers(stage: Stage) -> list[AnswerCard]:
    return [card for _, card in stage.chat.shown if isinstance(card, AnswerCard)]


def titles(stage: Stage) -> list[str]:
    return [card.title for card in answers(stage)]
