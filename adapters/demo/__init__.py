"""The model and the coding agent of `gwt-bot demo`. Both are simulated, say so, and refuse to work anywhere else."""

from __future__ import annotations

from collections.abc import Mapping

from bot.core.errors import Refused

STAGE_VARIABLE = "GWT_BOT_STAGE"
STAGES = ("demo", "tests")
SAMPLE_MARKER = ".gwt-sample"
"""A committed file at the top of the sample repository. The simulated agent works nowhere else."""


def require_stage(environ: Mapping[str, str]) -> None:
    """Raise Refused unless this is the demo or a test, so that nobody takes simulated work for real work."""
    if environ.get(STAGE_VARIABLE) in STAGES:
        return
    raise Refused(
        f"The played model and the played agent serve only in the demo and in tests "
        f"({STAGE_VARIABLE} is not one of: {', '.join(STAGES)}).",
        remedy="Run `gwt-bot demo`, or configure a real model and a real coding agent.",
    )
