"""The console as a program that is started: its options, its exit code, and what it keeps. Names and values are those
other programs know. `bot.domain.repl.state`, what it keeps, is imported by itself: it holds whole sessions."""

from bot.domain.repl.exits import ExitCode, Standing, exit_code
from bot.domain.repl.options import (
    OptionProblem,
    ProjectMode,
    ReplConfig,
    ReplExecutionMode,
    ReplOptions,
    settle,
)

__all__ = [
    "ExitCode",
    "OptionProblem",
    "ProjectMode",
    "ReplConfig",
    "ReplExecutionMode",
    "ReplOptions",
    "Standing",
    "exit_code",
    "settle",
]
