"""What only a person can decide: a task failed, is held, waits for an account, or its program asks something."""

from __future__ import annotations

from bot.core.actions import Show
from bot.core.runs import Dialog, DialogKind, DialogOption, Run
from bot.core.session import Session
from bot.core.states import Outcome, RunState, TaskState
from bot.core.task import Hold, Task
from bot.steps import messages
from bot.steps.blocked import limits
from bot.steps.blocked import rules as blocked
from bot.steps.dialogs import cards as dialog_cards
from bot.steps.pull_requests import cards as pull_cards
from bot.steps.ship import rules as ship
from tests.looks.catalogue.entry import Entry, entry
from tests.looks.catalogue.sample import MIKA, NOW, at, at_work, check, done, run, running, task
from tests.looks.catalogue.working import FAILED

ALLOW = Dialog(
    id="d1",
    kind=DialogKind.MENU,
    title="Do you want to make this edit to package.json?",
    text='  12 -    "vitest": "^2.1.0",\n  12 +    "vitest": "^2.1.8",\n  13 +    "jsdom": "^25.0.1",',
    options=(
        DialogOption(id="1", label="Yes"),
        DialogOption(id="2", label="Yes, allow all edits during this session"),
        DialogOption(id="3", label="No, and tell Claude what to do differently"),
    ),
    topic="Edit",
)
WORDS = Dialog(id="d2", kind=DialogKind.WORDS, title="Which port does the preview use?")
SECRET = Dialog(
    id="d3", kind=DialogKind.WORDS, title="Enter the passphrase for the key '/home/gwt/.ssh/id':"
)


def entries() -> tuple[Entry, ...]:
    return (*_failed(), *_held(), *_waiting(), *_dialogs())


def _failed() -> tuple[Entry, ...]:
    finished = run("T002", RunState.ENDED).model_copy(update={"outcome": Outcome.FINISHED})
    why = "its tests still fail after 3 repairs"
    tests = _task(TaskState.FAILED, why, checks=[check(1, FAILED)], runs=[finished])
    ended = run("T002", RunState.ENDED).model_copy(
        update={"outcome": Outcome.FAILED, "message": "Error: Cannot find module 'vitest'"}
    )
    program = _task(TaskState.FAILED, "its agent ended with exit code 1, 3 times now", runs=[ended])
    retried = messages.decided_by("To be tried again", MIKA, NOW)
    return (
        _asks("tests fail after three repairs", tests),
        _asks("agent failed three times", program),
        entry(
            "needs you/decided",
            blocked.task_card(_session(tests), tests, retried),
        ),
    )


def _held() -> tuple[Entry, ...]:
    flags = "signs that its tests were made to pass: src/theme.test.ts: a test is skipped that ran before"
    conflict = "src/theme.ts and 2 more files still conflict with agent/theme-module after 3 rounds"
    limit = "it has gone beyond its limit: 61 files changed, 40 were allowed"
    return (
        _asks("blocked", _task(TaskState.BLOCKED, "its agent could not be started")),
        _asks("lost", _task(TaskState.BLOCKED, "its worktree is gone", hold=Hold.LOST)),
        _asks("conflict", _task(TaskState.BLOCKED, conflict)),
        _asks("tests look weakened", _task(TaskState.BLOCKED, flags, hold=Hold.FLAGS)),
        _asks("beyond a limit", _task(TaskState.BLOCKED, limit, hold=Hold.LIMIT)),
    )


def _asks(state: str, one: Task) -> Entry:
    return entry(f"needs you/{state}", blocked.task_card(_session(one), one))


def _session(one: Task) -> Session:
    return at_work(done("T001"), one, task("T004"))


def _task(state: TaskState, why: str, **changes: object) -> Task:
    return running("T002", 4, state=state, blocked=why, **changes)


def _waiting() -> tuple[Entry, ...]:
    empty = running("T002", state=TaskState.NEEDS_CONTINUATION, next_run__not_before=at(157))
    session = at_work(empty, agents__others={"codex": "--sandbox workspace-write", "gemini": ""})
    stuck = done("T002", state=TaskState.INTEGRATING, pull_problem=_no_pull())
    blind = at_work(
        done("T001"), pulls__problem="GitHub says 401: the token is not valid any more."
    )
    return (
        entry("needs you/account's limit reached", limits.account_cards(session)),
        entry("needs you/no pull request", ship.not_shipped_card(stuck)),
        entry("needs you/pull requests cannot be seen", pull_cards.watch_problem_card(blind)),
    )


def _no_pull() -> str:
    return (
        "GitHub says 403: the token may not write to acme/webshop. "
        "Give it «Contents» and «Pull requests», both to read and write."
    )


def _dialogs() -> tuple[Entry, ...]:
    answered = messages.decided_by("“Yes” was typed", MIKA, NOW)
    return (
        entry("needs you/dialog with options", _dialog(ALLOW)),
        entry("needs you/dialog wants words", _dialog(WORDS)),
        entry("needs you/dialog wants a secret", _dialog(SECRET)),
        entry("needs you/dialog answered", dialog_cards.dialog_card(*_with(ALLOW), answered)),
    )


def _dialog(dialog: Dialog) -> Show:
    return dialog_cards.dialog_card(*_with(dialog))


def _with(dialog: Dialog) -> tuple[Task, Run]:
    asking = run("T002", RunState.WAITING_INPUT).model_copy(update={"dialog": dialog, "dialogs": 1})
    return running("T002", runs=[asking]), asking
