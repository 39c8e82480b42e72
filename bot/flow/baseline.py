"""The tests at the base: run once before any agent starts, so that only what fails anew counts."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.events import BaseChecked
from bot.domain.evidence import Check
from bot.domain.session import Session
from bot.domain.sheets import Tone
from bot.flow import telling, testing

SHOWN_OUTPUT = 1500


def wanted(session: Session) -> bool:
    """Whether the tests have to be run at the base, by this command, before an agent may start."""
    known = session.base_check
    if not testing.command_at_base(session):
        return False
    return (
        known is None
        or known.command != testing.command_at_base(session)
        or known.commit != session.base_commit
    )


def is_seen(session: Session) -> bool:
    """Whether the runner tells which tests ran, also in a worktree that was only made for them."""
    tests = session.base_check.tests if session.base_check else None
    return not wanted(session) and tests is not None and tests.seen


def checked(session: Session, event: BaseChecked) -> Iterator[Deed]:
    check = event.check
    if check.command != testing.command_at_base(session) or check.commit != session.base_commit:
        return
    session.base_check = check
    title, *lines = _told(check, event.problem)
    if title:
        yield telling.news(
            f"base-check:{check.commit[:12]}:{len(testing.command_at_base(session))}",
            title,
            *lines,
            tone=Tone.PLAIN if check.passed else Tone.FAILURE,
            output="" if check.passed else check.output[-SHOWN_OUTPUT:],
        )


def _told(check: Check, problem: str) -> tuple[str, ...]:
    """A title and what it means; where all is well nobody has to read anything."""
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
