"""The console as a program: its options and the exit code for scripts.

Names and values are those of existing programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import PurePath

from bot.core.facts import Fact
from bot.core.states import OverallStatus, Status

# Resolves the options into one configuration. Whether a folder exists and whether a terminal is attached is passed in.


class ProjectMode(StrEnum):
    TEMP = "temp"
    """In a fresh copy of the project below the folder for temporary files."""
    FIXED = "fixed"
    """In the project itself."""


class ReplExecutionMode(StrEnum):
    INTERACTIVE = "interactive"
    NON_INTERACTIVE = "non_interactive"


class ReplOptions(Fact):
    """The options of `gwt-bot console`. `None`: not given."""

    project: str | None = None
    project_mode: ProjectMode | None = None
    project_root: str | None = None
    print_project_path: bool = False
    non_interactive: bool = False
    exit_on_eof: bool | None = None
    wait: bool | None = None


class ReplConfig(Fact):
    """The configuration that follows from the options."""

    project: str
    """An absolute path."""
    project_mode: ProjectMode
    project_root: str | None
    """`None`: a copy of the project is made."""
    print_project_path: bool
    non_interactive: bool
    exit_on_eof: bool
    wait: bool
    named: bool
    """Whether the folder was given explicitly; if not, it is the default repository or the channel's."""
    warnings: tuple[str, ...] = ()

    @property
    def execution_mode(self) -> ReplExecutionMode:
        alone = self.non_interactive
        return ReplExecutionMode.NON_INTERACTIVE if alone else ReplExecutionMode.INTERACTIVE


class OptionProblem(Exception):  # noqa: N818 - what is wrong, for whoever tells it
    """An invalid option, with a sentence that says what to do."""


def resolve_options(
    options: ReplOptions,
    default_repository: str,
    *,
    terminal: bool,
    is_folder: Callable[[str], bool],
) -> ReplConfig:
    """Return the configuration.

    `default_repository`: the default repository; `terminal`: whether a terminal is attached. Raises OptionProblem.
    """
    scripted = options.non_interactive or not terminal
    mode = options.project_mode or (ProjectMode.TEMP if scripted else ProjectMode.FIXED)
    project = (
        str(PurePath(default_repository) / options.project)
        if options.project
        else default_repository
    )
    if options.project and not is_folder(project):
        raise OptionProblem(f"--project: there is no folder {project}.")
    root, warnings = _project_root(options, mode, project, is_folder)
    return ReplConfig(
        project=project,
        project_mode=mode,
        project_root=root,
        print_project_path=options.print_project_path,
        non_interactive=scripted,
        exit_on_eof=scripted if options.exit_on_eof is None else options.exit_on_eof,
        wait=scripted if options.wait is None else options.wait,
        named=mode is ProjectMode.TEMP or bool(options.project or root != default_repository),
        warnings=warnings,
    )


def _project_root(
    options: ReplOptions, mode: ProjectMode, project: str, is_folder: Callable[[str], bool]
) -> tuple[str | None, tuple[str, ...]]:
    """Return the folder to work in and the warnings about it."""
    root = options.project_root
    if mode is ProjectMode.TEMP:
        if root is None:
            return None, ()
        return None, ("--project-root is ignored: it counts only with --project-mode fixed.",)
    if root is None:
        if options.project_mode is ProjectMode.FIXED:
            raise OptionProblem(
                "--project-mode fixed needs --project-root: the absolute path of a folder that is there."
            )
        return project, ()
    if not PurePath(root).is_absolute():
        raise OptionProblem(f"--project-root must be an absolute path, and {root} is none.")
    if not is_folder(root):
        raise OptionProblem(
            f"--project-root: there is no folder {root}, and none is made. Make it, or name another."
        )
    both = options.project is not None
    return root, ("--project is ignored: --project-root names the folder.",) if both else ()


# The state of a script's sessions, and the exit code that follows from it.


class ExitCode:
    """The exit codes that tell a script the outcome."""

    COMPLETE = 0
    ERROR = 1
    INCOMPLETE = 2


class ThreadStanding(Fact):
    """The state of a thread's session once it cannot go on without a person."""

    session: str = ""
    """The session's id; empty if there is none."""
    title: str = ""
    status: str = ""
    phase: str = ""
    overall: OverallStatus | None = None
    """The outcome, if the session has ended."""
    waits_for: tuple[str, ...] = ()
    """The titles of the questions to a person."""
    trouble: str = ""
    """The outside problem that it waits for."""

    @property
    def exit_code(self) -> int:
        if not self.session:
            return ExitCode.COMPLETE
        broken = self.overall in (OverallStatus.ERROR, OverallStatus.INVALID)
        if self.status == Status.FAILED or broken:
            return ExitCode.ERROR
        done = self.overall is OverallStatus.COMPLETE and self.status == Status.COMPLETED
        return ExitCode.COMPLETE if done else ExitCode.INCOMPLETE


def exit_code(standings: Iterable[ThreadStanding], *, errors: int) -> int:
    """Return the exit code of all sessions together. An error takes precedence over "incomplete"."""
    codes = {one.exit_code for one in standings}
    if errors or ExitCode.ERROR in codes:
        return ExitCode.ERROR
    return ExitCode.INCOMPLETE if ExitCode.INCOMPLETE in codes else ExitCode.COMPLETE
