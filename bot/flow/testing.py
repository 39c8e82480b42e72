"""Which command runs the tests: set, said by a person, or found in the repository and seen by one. What nobody has seen is never run."""

from __future__ import annotations

import re

from bot.domain.checks import recognised
from bot.domain.evidence import CommandSource
from bot.domain.intent import Question
from bot.domain.session import Session
from bot.domain.sheets import Fields
from bot.domain.tasks import Task, TaskType
from bot.domain.world import Scan

NONE_YET = "There are no tests yet; T001 sets them up"
NOT_RUN = "Go on without running any"
WITHOUT = "none"
"""What is said for a command where no tests shall be run."""
UNSEEN = "I cannot see which tests this command runs: only its exit code counts."
PERHAPS_UNSEEN = "I do not know what this command starts: perhaps only its exit code counts."
_SOURCES = {
    CommandSource.FOUND: "found in the repository",
    CommandSource.SETTINGS: "set by the operator (GWT_TEST_COMMAND)",
    CommandSource.PERSON: "said in this thread",
    CommandSource.EARLIER: "said in an earlier session of this repository",
}


def scanned(session: Session, scan: Scan) -> None:
    """What is found at the base counts until somebody says otherwise; the approval card shows it."""
    if scan.test_command and _may_be_found(session):
        session.test_command, session.tests_from = scan.test_command, CommandSource.FOUND


def as_approved(session: Session, scan: Scan) -> Scan:
    """Of a base that moved after the approval. Its command is not the one people have seen: it is proposed with a task's tree."""
    if not _may_be_found(session):
        return scan
    return scan.model_copy(update={"test_command": _at_base(session)})


def _may_be_found(session: Session) -> bool:
    """Sessions of an earlier version do not say where their command is from: it stays as it is."""
    if session.tests_from is None:
        return not session.test_command
    return session.tests_from is CommandSource.FOUND


def to_ask(session: Session, number: int) -> Question | None:
    """The question for the command, where none was found. None: there is nothing to ask."""
    asked = any(question.tests for question in session.intent.clarifications)
    if asked or session.spec_only or session.scan is None or not _may_be_found(session):
        return None
    if session.test_command:
        return None
    usual = NOT_RUN if session.scan.has_tests else NONE_YET
    return Question(
        number=number,
        text="Which command runs the tests of this repository? I found none.",
        why="I run it on each task's work before I believe that the task is done.",
        options=(usual,),
        default=usual,
        tests=True,
    )


def answered(session: Session) -> None:
    """The decision on it counts as it stands now, also where it was taken anew."""
    question = next((q for q in session.intent.clarifications if q.tests), None)
    if question is None or question.answer is None:
        return
    said = question.answer.strip().strip("`").strip()
    if question.answer in question.options:
        if session.tests_from is CommandSource.PERSON:
            session.test_command, session.tests_from = "", None
    elif said != session.test_command:
        set_by_person(session, said)


def command_for(session: Session, task: Task) -> str:
    """What runs the tests of this task's work; empty: nothing that may be run is known.

    What is found in its own tree counts once a person has seen it; until then it is tested as the base is.
    """
    if not _may_be_found(session):
        return session.test_command
    found = task.tests_found
    return found if found and found in _seen_by_people(session) else _at_base(session)


def command_for_whole(session: Session) -> str:
    """What runs the tests of everything together: as the task has it that was done last, and has brought a command."""
    done = sorted(
        (task for task in session.tasks if task.completed_at),
        key=lambda task: task.completed_at or session.created_at,
    )
    found = [task.tests_found for task in done if task.tests_found in session.tests_accepted]
    return found[-1] if found and _may_be_found(session) else command_at_base(session)


def command_at_base(session: Session) -> str:
    """What runs the tests there; what a task has brought is of no use at the base."""
    return _at_base(session) if _may_be_found(session) else session.test_command


def looks(session: Session, task: Task) -> bool:
    """Whether its tree is looked through for the command."""
    return _may_be_found(session) and task.type is not TaskType.INVESTIGATION


def proposed(session: Session, task: Task) -> str:
    """The command found in its tree that nobody has decided about; empty: there is none."""
    found = task.tests_found
    known = (*_seen_by_people(session), *session.tests_refused)
    return found if looks(session, task) and found not in known else ""


def _seen_by_people(session: Session) -> tuple[str, ...]:
    return ("", _at_base(session), *session.tests_accepted)


def _at_base(session: Session) -> str:
    """The plan was approved with it."""
    return session.scan.test_command if session.scan else ""


def reason(session: Session, task: Task, problem: str) -> str:
    """What a person is asked about the command that was found in its tree."""
    found, base = proposed(session, task), _at_base(session)
    begins = (
        f"{task.key} has changed how the tests are run: with `{found}` instead of `{base}`."
        if base
        else f"{task.key} has set up tests: `{found}` runs them."
    )
    where = "in the sandbox" if session.sandboxed else "on this machine, without a sandbox"
    asks = f"Shall I run it {where}, for this task and for those that build on it?"
    return " ".join(part for part in (begins, problem, asks) if part)


def accept(session: Session, command: str) -> None:
    """Somebody has seen what was found."""
    session.tests_accepted = (*session.tests_accepted, command)
    session.test_command, session.tests_from = command, CommandSource.FOUND


def refuse(session: Session, command: str) -> str:
    """It is not asked about again. What is done instead, in a few words."""
    session.tests_refused = (*session.tests_refused, command)
    base = _at_base(session)
    return f"Tested with `{base}` as before" if base else "Not tested"


def set_by_person(session: Session, said: str) -> None:
    command = said.strip().strip("`").strip()
    session.test_command = "" if command.lower() == WITHOUT else command
    session.tests_from, session.test_problem = CommandSource.PERSON, ""
    session.tests_changed += 1


def unseen(session: Session) -> str:
    """That its runner does not tell which tests ran, as the base has shown or the command lets expect; empty: it does."""
    command, known = session.test_command, session.base_check
    if known and known.command == command:
        return "" if known.tests and known.tests.seen else UNSEEN
    # what a package script starts stands in the manifests
    manifests = session.scan.project_meta if session.scan else ""
    return PERHAPS_UNSEEN if command and not recognised(command, manifests) else ""


def source(session: Session) -> str:
    """Where the command is from, in a few words."""
    known = session.test_command and session.tests_from
    return _SOURCES[session.tests_from] if known and session.tests_from else ""


def told(session: Session) -> Fields:
    pairs = (
        ("Command", session.test_command or "none is known"),
        ("Where from", source(session)),
        ("Problem", session.test_problem),
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
"""How programs say that they could not begin, as lines of their own: tests may print anything else."""
_TOLD = 4000


def unable(exit_code: int | None, output: str) -> str:
    """Why the tests were not run at all, as their output says; empty: they were."""
    if not exit_code:
        return ""
    end = output[-_TOLD:]
    for pattern, says in _UNABLE:
        if found := pattern.search(end):
            return says.format(found[1].rstrip())
    return ""
