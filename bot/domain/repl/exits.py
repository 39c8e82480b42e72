"""What came of a script: how its sessions stand, and the exit code that follows from it."""

from __future__ import annotations

from collections.abc import Iterable

from bot.domain.facts import Fact
from bot.domain.states import OverallStatus, Status


class ExitCode:
    """How a script learns what came of it."""

    COMPLETE = 0
    ERROR = 1
    INCOMPLETE = 2


class Standing(Fact):
    """How the session of a thread stands once nothing moves in it any more without a person."""

    session: str = ""
    """Empty: there is none."""
    title: str = ""
    status: str = ""
    phase: str = ""
    overall: OverallStatus | None = None
    """Of one that has ended."""
    waits_for: tuple[str, ...] = ()
    """The titles of what a person is asked."""
    trouble: str = ""
    """What it waits for outside."""

    @property
    def exit_code(self) -> int:
        if not self.session:
            return ExitCode.COMPLETE
        broken = self.overall in (OverallStatus.ERROR, OverallStatus.INVALID)
        if self.status == Status.FAILED or broken:
            return ExitCode.ERROR
        done = self.overall is OverallStatus.COMPLETE and self.status == Status.COMPLETED
        return ExitCode.COMPLETE if done else ExitCode.INCOMPLETE


def exit_code(standings: Iterable[Standing], *, errors: int) -> int:
    """An error counts more than what is not complete."""
    codes = {one.exit_code for one in standings}
    if errors or ExitCode.ERROR in codes:
        return ExitCode.ERROR
    return ExitCode.INCOMPLETE if ExitCode.INCOMPLETE in codes else ExitCode.COMPLETE
