"""What a script's exit code says: certain, whatever came of it."""

from __future__ import annotations

import pytest

from bot.core.console import ExitCode, ThreadStanding, exit_code
from bot.core.states import OverallStatus, Status

DONE = ThreadStanding(session="1", status=Status.COMPLETED, overall=OverallStatus.COMPLETE)
WAITS = ThreadStanding(session="2", status=Status.ACTIVE)
BROKEN = ThreadStanding(session="3", status=Status.FAILED)


@pytest.mark.covers("R-REPL-MODE-10", "R-PROPERTY-29")
@pytest.mark.parametrize(
    ("standing", "code"),
    [
        (DONE, ExitCode.COMPLETE),
        (ThreadStanding(), ExitCode.COMPLETE),
        (WAITS, ExitCode.INCOMPLETE),
        (WAITS.model_copy(update={"status": Status.PAUSED}), ExitCode.INCOMPLETE),
        (WAITS.model_copy(update={"status": Status.DISCARDED}), ExitCode.INCOMPLETE),
        (DONE.model_copy(update={"overall": OverallStatus.INCOMPLETE}), ExitCode.INCOMPLETE),
        (DONE.model_copy(update={"overall": OverallStatus.NO_EVIDENCE}), ExitCode.INCOMPLETE),
        (DONE.model_copy(update={"overall": OverallStatus.ERROR}), ExitCode.ERROR),
        (DONE.model_copy(update={"overall": OverallStatus.INVALID}), ExitCode.ERROR),
        (BROKEN, ExitCode.ERROR),
    ],
)
def test_each_end_has_its_code(standing: ThreadStanding, code: int) -> None:
    assert standing.exit_code == code


@pytest.mark.covers("R-REPL-MODE-10")
def test_of_several_the_worst_counts_and_an_error_of_the_script_most() -> None:
    assert exit_code([DONE, WAITS], errors=0) == 2
    assert exit_code([WAITS, BROKEN, DONE], errors=0) == 1
    assert exit_code([DONE], errors=1) == 1
    assert exit_code([], errors=0) == 0
