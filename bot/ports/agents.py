"""Agents in their panes, and commands of the bot's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from bot.core.runs import AgentReady, Dialog, Executed, Launch, Pane, RunEnd, SandboxPaths


class Agents(Protocol):
    """The coding-agent CLIs, as data."""

    async def ready(self, agent: str, repository: str, *, answered: bool = True) -> AgentReady:
        """Can it run here unattended? With the reason and the remedy where not.

        `answered`: somebody is there for what it may ask at its first start; in a script nobody is.
        """
        ...

    def settings(self, agent: str) -> tuple[str, ...]:
        """Files and folders of a repository that it obeys before anybody has looked at them."""
        ...

    def brought(self, agent: str, files: Mapping[str, str]) -> tuple[str, ...]:
        """What those of them that are there have it do, a sentence each. `files`: what stands in them."""
        ...

    def flags(self, agent: str) -> str:
        """The full-auto flags it runs with. People see them, and approve them."""
        ...

    def marked(self, agent: str) -> bool:
        """Whether it must print the end marker, for want of a better sign."""
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
        """How to start it on one instruction in a worktree."""
        ...

    def understood(self, agent: str, end: RunEnd, screen: str, at: datetime) -> RunEnd:
        """The end of a run with what only its CLI's own words tell: a limit of its account, and until when."""
        ...


class Panes(Protocol):
    """Agents in tmux. A run's tmux session is named after the run, so one run never starts twice."""

    async def require(self) -> None:
        """Raise Unavailable, with how to get it, when there is no usable tmux."""
        ...

    async def start(self, name: str, cwd: str, launch: Launch, prompt: str) -> Pane:
        """Start the agent as the pane's command, or find the pane of that name."""
        ...

    async def find(self, name: str) -> Pane | None:
        """The pane of a run that is alive or has left its screen."""
        ...

    async def ended(self, name: str) -> RunEnd:
        """Wait for the end of the run, whoever tells it first; at once if it has ended, or is nowhere."""
        ...

    async def stop(self, name: str) -> tuple[int, ...]:
        """End the run: all descendants collected first, SIGTERM, SIGKILL after 5 s. The pids that live on."""
        ...

    async def tail(self, name: str, lines: int) -> str:
        """The last lines on its screen, as text without control characters."""
        ...

    async def paste(self, name: str, text: str) -> None:
        """Type text into the pane byte for byte, once the program there is ready, then Enter."""
        ...

    def dialogs(self, name: str) -> AsyncGenerator[Dialog | None]:
        """What the program in the pane asks a person, as soon as it does; None once it no longer asks. Without an end."""
        ...

    async def answer(self, name: str, dialog: Dialog, option: str) -> bool:
        """Type the option's keys, if the very dialog still stands there. Whether the screen has moved on.

        Refused: it is not asked any more, or the option is none of its.
        """
        ...

    def attach(self, name: str) -> str:
        """The command with which a person looks at the pane from a terminal of their own, and types there."""
        ...

    async def names(self) -> tuple[str, ...]:
        """All runs that have a pane."""
        ...

    def notebook(self, name: str) -> str:
        """The file in the run's folder in which its agent may write down what it notices."""
        ...

    async def noticed(self, name: str) -> str:
        """What it has written there, as far as it is text of a bounded size. Anybody on the machine can have."""
        ...

    def report(self, name: str) -> str:
        """The file in the run's folder into which its agent writes a report, where that is its task."""
        ...

    async def reported(self, name: str) -> str:
        """What it has written there, as far as it is text of a bounded size. Anybody on the machine can have."""
        ...

    async def keep_transcript(self, name: str) -> str:
        """Write what the pane has shown, masked, to the run's log file, and let the pane go. The file's path."""
        ...


class Commands(Protocol):
    """Commands of the bot's own in a worktree: the tests, set-up commands."""

    async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        """Run it in a process group of its own, without secrets, with CI=1; the group is gone at the end."""
        ...

    async def test(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        """Run tests likewise, made to report which ones ran to a place the tree cannot name; kept beside the log."""
        ...

    async def tested(self, log: str) -> Executed | None:
        """What an earlier test run with this log came to, as long as it is kept."""
        ...

    async def problem(self, cwd: str, command: str) -> str:
        """Why it cannot be run there, because a program of it is missing; empty: nothing is seen. Nothing is started."""
        ...


class Sandbox(Protocol):
    """What keeps programs that are not the bot's own to their worktree."""

    async def require(self) -> None:
        """Raise Unavailable, with how it is mended, where nothing can be run in it."""
        ...

    def around(
        self,
        argv: Sequence[str],
        cwd: str = "",
        lent: SandboxPaths | None = None,
        *,
        writes: str = "",
    ) -> tuple[str, ...]:
        """The command line in the sandbox. Without a worktree it sees programs only. `lent`: it is an agent.

        `writes`: a folder besides in which it may write.
        """
        ...

    def outside(self, cwd: str, path: Path, folders: Iterable[str] = ()) -> Path:
        """Where on the machine lies what an agent of this worktree sees under a path of its home or folders."""
        ...

    async def let_go(self, cwd: str) -> None:
        """A worktree is gone: so is the home of those who worked there, unless somebody still lives in it."""
        ...
