"""The console as a program that is started: its options, its exit code, and what it keeps. Names and values are those
other programs know."""

from bot.domain.repl.exits import ExitCode, Standing, exit_code
from bot.domain.repl.options import (
    OptionProblem,
    ProjectMode,
    ReplConfig,
    ReplExecutionMode,
    ReplOptions,
    settle,
)
from bot.domain.repl.state import E105, ReplState, followed, recalled

__all__ = [
    "E105",
    "ExitCode",
    "OptionProblem",
    "ProjectMode",
    "ReplConfig",
    "ReplExecutionMode",
    "ReplOptions",
    "ReplState",
    "Standing",
    "exit_code",
    "followed",
    "recalled",
    "settle",
]
