"""The command that runs the tests: configured, set by a person, or found in the repository and confirmed by one; and
how the tests run on the base.

A command that nobody has seen is never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.core.actions import Deed
from bot.core.events import BaseChecked
from bot.core.evidence import Check, CommandSource
from bot.core.git import Scan
from bot.core.intent import Question
from bot.core.session import Session
from bot.core.sheets import Fields, Tone
from bot.core.spec_kit.drafts import TaskType
from bot.core.task import Task
from bot.steps import messages
from bot.steps.messages import test_command_source

NONE_YET = "There are no tests yet; T001 sets them up"
NOT_RUN = "Go on without running any"
NO_TESTS = "none"
"""What a user writes as the command if no tests shall run."""


def take_scan(session: Session, scan: Scan) -> None:
    """Take the command found at the base, until somebody sets another one. The approval card shows it."""
    if scan.test_command and _may_be_found(session):
        session.tests.command, session.tests.source = scan.test_command, CommandSource.FOUND
    if not session.repository.set_up_by_person:
        session.repository.set_up = scan.set_up


def with_approved_command(session: Session, scan: Scan) -> Scan:
    """Return the scan of a base that moved after the approval, with the approved test command: a new one is only
    proposed with a task's tree.
    """
    if not _may_be_found(session):
        return scan
    return scan.model_copy(update={"test_command": _found_at_base(session)})


def _may_be_found(session: Session) -> bool:
    # Sessions of earlier versions do not record the command's source; their command is kept.
    if session.tests.source is None:
        return not session.tests.command
    return session.tests.source is CommandSource.FOUND


def question_for_command(session: Session, number: int) -> Question | None:
    """Return the question for the test command if none was found; `None` if there is nothing to ask."""
    asked = any(question.tests for question in session.intent.clarifications)
    if (
        asked
        or session.request.spec_only
        or session.repository.scan is None
        or not _may_be_found(session)
    ):
        return None
    if session.tests.command:
        return None
    usual = NOT_RUN if session.repository.scan.has_tests else NONE_YET
    return Question(
        number=number,
        text="Which command runs the tests of this repository? I found none.",
        why="I run it on each task's work before I believe that the task is done.",
        options=(usual,),
        default=usual,
        tests=True,
    )


def take_answer(session: Session) -> None:
    """Apply the current decision about the test command, also after it was changed."""
    question = next((q for q in session.intent.clarifications if q.tests), None)
    if question is None or question.answer is None:
        return
    said = question.answer.strip().strip("`").strip()
    if question.answer in question.options:
        if session.tests.source is CommandSource.PERSON:
            session.tests.command, session.tests.source = "", None
    elif said != session.tests.command:
        set_by_person(session, said)


def for_task(session: Session, task: Task) -> str:
    """Return the test command for this task's work; empty if none may be run.

    One found in its own tree counts once a person has seen it; until then the base's is used.
    """
    if not _may_be_found(session):
        return session.tests.command
    found = task.found_command
    return found if found and found in _seen_by_people(session) else _found_at_base(session)


def for_whole(session: Session) -> str:
    """Return the test command for all work together: the one that the last finished task has brought, or else the
    base's.
    """
    done = sorted(
        (task for task in session.tasks if task.completed_at),
        key=lambda task: task.completed_at or session.created_at,
    )
    found = [task.found_command for task in done if task.found_command in session.tests.accepted]
    return found[-1] if found and _may_be_found(session) else for_base(session)


def for_base(session: Session) -> str:
    """Return the test command for the base. Commands that tasks have brought do not apply there."""
    return _found_at_base(session) if _may_be_found(session) else session.tests.command


def searches_tree(session: Session, task: Task) -> bool:
    """Whether its tree is searched for a test command."""
    return _may_be_found(session) and task.type is not TaskType.INVESTIGATION


def proposed_command(session: Session, task: Task) -> str:
    """Return the command found in its tree that nobody has decided about; empty if there is none."""
    found = task.found_command
    known = (*_seen_by_people(session), *session.tests.refused)
    return found if searches_tree(session, task) and found not in known else ""


def _seen_by_people(session: Session) -> tuple[str, ...]:
    return ("", _found_at_base(session), *session.tests.accepted)


def _found_at_base(session: Session) -> str:
    # The plan was approved with this command.
    return session.repository.scan.test_command if session.repository.scan else ""


def question_about(session: Session, task: Task, problem: str) -> str:
    """Return the question about the command found in its tree."""
    found, base = proposed_command(session, task), _found_at_base(session)
    begins = (
        f"{task.key} has changed how the tests are run: with `{found}` instead of `{base}`."
        if base
        else f"{task.key} has set up tests: `{found}` runs them."
    )
    where = "in the sandbox" if session.agents.sandboxed else "on this machine, without a sandbox"
    asks = f"Shall I run it {where}, for this task and for those that build on it?"
    return " ".join(part for part in (begins, problem, asks) if part)


def accept_command(session: Session, command: str) -> None:
    """Use a command that a person has seen."""
    session.tests.accepted = (*session.tests.accepted, command)
    session.tests.command, session.tests.source = command, CommandSource.FOUND


def refuse_command(session: Session, command: str) -> str:
    """Do not ask about this command again. Return in a few words what is used instead."""
    session.tests.refused = (*session.tests.refused, command)
    base = _found_at_base(session)
    return f"Tested with `{base}` as before" if base else "Not tested"


def set_by_person(session: Session, said: str) -> None:
    command = said.strip().strip("`").strip()
    session.tests.command = "" if command.lower() == NO_TESTS else command
    session.tests.source, session.tests.problem = CommandSource.PERSON, ""
    session.tests.times_set += 1


def set_up_by_person(session: Session, said: str) -> None:
    command = said.strip().strip("`").strip()
    session.repository.set_up = "" if command.lower() == NO_TESTS else command
    session.repository.set_up_by_person = True


def as_fields(session: Session) -> Fields:
    pairs = (
        ("Command", session.tests.command or "none is known"),
        ("Where from", test_command_source(session)),
        ("Problem", session.tests.problem),
    )
    return Fields(pairs=tuple((name, value) for name, value in pairs if value))


_UNABLE: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"^\S*sh: (?:line \d+: |\d+: )?(\S+): (?:command )?not found$", re.MULTILINE),
        "there is no program `{}` where they run",
    ),
    (
        re.compile(r"^\S*python[\d.]*: No module named (pytest|tox|nox|unittest)$", re.MULTILINE),
        "{} is not installed for that Python",
    ),
    (
        re.compile(
            r"^\s*(?:error: Failed to (?:fetch|download)|npm (?:ERR!|error) code (?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED)"
            r"|error: failed to (?:download|get `)|\[ERROR\].*Could not transfer artifact"
            r"|ERROR: Could not find a version that satisfies the requirement)(.{0,80})",
            re.MULTILINE,
        ),
        "what it needs could not be downloaded{}",
    ),
)
"""Messages of programs that could not start, each on a line of its own. Tests may print anything else."""
_OUTPUT_READ = 4000


def why_not_run(exit_code: int | None, output: str) -> str:
    """Return why the tests did not run at all, according to their output; empty if they did."""
    if not exit_code:
        return ""
    end = output[-_OUTPUT_READ:]
    for pattern, says in _UNABLE:
        if found := pattern.search(end):
            return says.format(found[1].rstrip())
    return ""


# The tests run on the base once before any agent starts, so that only new failures count.

SHOWN_OUTPUT = 1500


def base_check_wanted(session: Session) -> bool:
    """Whether the tests must still run on the base with this command before an agent may start."""
    known = session.tests.base_check
    if not for_base(session):
        return False
    return (
        known is None
        or known.command != for_base(session)
        or known.commit != session.repository.base_commit
    )


def base_tests_seen(session: Session) -> bool:
    """Whether the runner reports which tests ran, even in a fresh worktree."""
    tests = session.tests.base_check.tests if session.tests.base_check else None
    return not base_check_wanted(session) and tests is not None and tests.seen


def base_checked(session: Session, event: BaseChecked) -> Iterator[Deed]:
    check = event.check
    if check.command != for_base(session) or check.commit != session.repository.base_commit:
        return
    session.tests.base_check = check
    title, *lines = _base_report(check, event.problem)
    if title:
        yield messages.news(
            f"base-check:{check.commit[:12]}:{len(for_base(session))}",
            title,
            *lines,
            tone=Tone.PLAIN if check.passed else Tone.FAILURE,
            output="" if check.passed else check.output[-SHOWN_OUTPUT:],
        )


def _base_report(check: Check, problem: str) -> tuple[str, ...]:
    """Return a title and what it means; empty if everything is fine."""
    where = f"`{check.command}` at the base ({check.commit[:10]})"
    tests = check.tests
    if problem:
        means = "I cannot compare what the tasks do with the base: every failure counts."
        return "I could not try the tests at the base", f"{where}: {problem}", means
    if tests is None or not tests.seen:
        blind = "I cannot see which tests ran: only the exit code of this command counts."
        if check.passed:
            return "I cannot see which tests run", f"{where} passed.", blind
        ended = (
            "reached its time limit" if check.exit_code is None else f"ended with {check.exit_code}"
        )
        means = "A task whose tests still fail that way goes back to its agent, then to you."
        return "The tests fail at the base already", f"{where} {ended}. {blind}", means
    if tests.new_failures:
        means = "Only new failures count. Tests that fail here already are left as they are."
        return "The tests fail at the base already", f"{where}: {tests.failing}.", means
    if not check.passed:
        means = (
            "All its tests pass, so something else in the command fails: that counts for each task."
        )
        return "The tests fail at the base already", f"{where} {check.result}.", means
    return ("",)
