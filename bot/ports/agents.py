"""Agents in their panes, and the bot's own commands."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from bot.core.runs import AgentReady, Dialog, Executed, Launch, Pane, RunEnd, SandboxPaths
from bot.core.screens import PaneScreen


class Agents(Protocol):
    """The coding-agent CLIs, described as data."""

    async def ready(self, agent: str, repository: str, *, answered: bool = True) -> AgentReady:
        """Return whether the CLI can run here unattended, with reason and remedy if not.

        `answered`: somebody can answer what it may ask at its first start (not in a script).
        """
        ...

    def settings(self, agent: str) -> tuple[str, ...]:
        """Return the files and folders of a repository that the CLI obeys before anybody has reviewed them."""
        ...

    def brought(self, agent: str, files: Mapping[str, str]) -> tuple[str, ...]:
        """Return what the existing ones of them make the agent do, one sentence each. `files`: their contents."""
        ...

    def flags(self, agent: str) -> str:
        """Return the flags for running unattended. Users see and approve them."""
        ...

    def uses_marker(self, agent: str) -> bool:
        """Whether the agent must print the end marker, because nothing better shows its end."""
        ...

    async def launch(
        self,
        agent: str,
        *,
        cwd: str,
        prompt: str,
        conversation: str,
        resume: bool,
        nonce: str,
        spool: str,
    ) -> Launch:
        """Return how to start the agent on one instruction in a worktree."""
        ...

    def with_limit(self, agent: str, end: RunEnd, screen: str, at: datetime) -> RunEnd:
        """Return the end of a run with what only the CLI's own output shows: a limit of its account, and until when."""
        ...


class Panes(Protocol):
    """Agents in tmux. A run's tmux session is named after the run, so that a run never starts twice."""

    async def require(self) -> None:
        """Raise Unavailable, with how to install it, if there is no usable tmux."""
        ...

    async def start(self, name: str, cwd: str, launch: Launch, prompt: str) -> Pane:
        """Start the agent as the pane's command, or return the existing pane of that name."""
        ...

    async def find(self, name: str) -> Pane | None:
        """Return the pane of a run that is alive or whose screen is still there."""
        ...

    async def ended(self, name: str) -> RunEnd:
        """Wait for the end of the run, whatever reports it first. Returns at once if it has ended or does not exist."""
        ...

    async def stop(self, name: str) -> tuple[int, ...]:
        """End the run: collect all descendants, send SIGTERM, SIGKILL after 5 s.

        Returns the pids that are still alive.
        """
        ...

    async def tail(self, name: str, lines: int) -> str:
        """Return the last lines of its screen as text without control characters."""
        ...

    async def screen(self, name: str) -> PaneScreen:
        """Return what the pane shows with its colours, masked, or the end of its transcript if it is gone."""
        ...

    async def paste(self, name: str, text: str) -> None:
        """Type text into the pane byte for byte once the program there is ready, then Enter."""
        ...

    def dialogs(self, name: str) -> AsyncGenerator[Dialog | None]:
        """Yield each dialog of the program in the pane as soon as it appears, and `None` when it is gone.

        Never ends.
        """
        ...

    async def answer(self, name: str, dialog: Dialog, option: str) -> bool:
        """Type the option's keys if this very dialog is still open; return whether the screen has changed.

        Refused: the dialog is gone, or the option is not one of its own.
        """
        ...

    def attach(self, name: str) -> str:
        """Return the command with which a person can view the pane and type in it from a terminal."""
        ...

    async def names(self) -> tuple[str, ...]:
        """Return the names of all runs that have a pane."""
        ...

    def notebook(self, name: str) -> str:
        """Return the path of the file in the run's folder for what its agent notices."""
        ...

    async def noticed(self, name: str) -> str:
        """Return the text in that file, limited in size. Not trusted: anybody on the machine may have written it."""
        ...

    def report(self, name: str) -> str:
        """Return the path of the file in the run's folder for its agent's report, if the task asks for one."""
        ...

    async def read_report(self, name: str) -> str:
        """Return the text in that file, limited in size. Not trusted: anybody on the machine may have written it."""
        ...

    async def keep_transcript(self, name: str) -> str:
        """Write the pane's output, masked, to the run's log file and close the pane. Return the file's path."""
        ...


class Commands(Protocol):
    """The bot's own commands in a worktree: tests, set-up commands."""

    async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        """Run the command in a process group of its own, without secrets, with CI=1.

        No process of the group is left at the end.
        """
        ...

    async def test(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        """Run tests like `run`, made to report which tests ran, at a path that the tree cannot know.

        The report is kept beside the log.
        """
        ...

    async def kept_result(self, log: str) -> Executed | None:
        """Return the result of an earlier test run with this log, as long as it is kept."""
        ...

    async def problem(self, cwd: str, command: str) -> str:
        """Return why the command cannot be run there because a program is missing; empty if nothing is found.

        Starts nothing.
        """
        ...


class Sandbox(Protocol):
    """Confines programs that are not the bot's own to their worktree."""

    async def require(self) -> None:
        """Raise Unavailable, with the remedy, if nothing can be run in it."""
        ...

    def around(
        self,
        argv: Sequence[str],
        cwd: str = "",
        paths: SandboxPaths | None = None,
        *,
        writes: str = "",
    ) -> tuple[str, ...]:
        """Return the command line wrapped in the sandbox.

        Without a worktree it can only see programs. `paths`: the paths of an agent. `writes`: another folder in which it
        may write.
        """
        ...

    def outside(self, cwd: str, path: Path, folders: Iterable[str] = ()) -> Path:
        """Return where a path of the home or folders that an agent of this worktree sees really is."""
        ...

    async def let_go(self, cwd: str) -> None:
        """Remove the private home of a worktree that is gone, unless a process still uses it."""
        ...
