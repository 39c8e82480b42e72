"""All that the bot may touch. An adapter is any class with these methods; errors it raises are PortErrors only.

Every call that changes the world is safe to do twice: it looks first whether its effect is there already.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from datetime import datetime
from typing import Protocol

from bot.domain.cards import Card
from bot.domain.events import FromPeople
from bot.domain.people import Person, Thread
from bot.domain.record import Record
from bot.domain.world import (
    AgentReady,
    Base,
    Commit,
    Executed,
    Launch,
    Merged,
    Pane,
    Removal,
    Reply,
    RunEnd,
    Scan,
    Work,
)

Deliver = Callable[[Thread, FromPeople], Awaitable[bool]]
"""Returns when the event is on disk, or, with False, was refused and the person was told; only then may a platform
acknowledge it."""


class Chat(Protocol):
    """A platform people talk on."""

    async def listen(self, deliver: Deliver) -> None:
        """Deliver what people say and press, until cancelled or until nobody can say anything any more."""
        ...

    async def show(self, thread: Thread, card: Card) -> None:
        """Put a card into the thread: posted, or edited where its key already stands."""
        ...

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Put a card into the channel of `thread` as a message of its own: the thread that it begins.

        Safe to do twice: a card is known by its key, wherever it stands.
        """
        ...

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        """Show a card to one person only, as far as the platform can."""
        ...


class Llm(Protocol):
    async def complete(self, system: str, data: str, *, schema: dict[str, object] | None) -> Reply:
        """One answer to `system` about `data`. With a schema: JSON is wanted (the endpoint may ignore it).

        What is sent is masked on the way: it may hold what the model itself has just said.
        """
        ...


class Agents(Protocol):
    """The coding-agent CLIs, as data."""

    async def ready(self, agent: str, repository: str) -> AgentReady:
        """Can it run here unattended? With the reason and the remedy where not."""
        ...

    def flags(self, agent: str) -> str:
        """The full-auto flags it runs with. People see them, and approve them."""
        ...

    def marked(self, agent: str) -> bool:
        """Whether it must print the end marker, for want of a better sign."""
        ...

    def launch(
        self, agent: str, *, prompt: str, conversation: str, resume: bool, nonce: str, spool: str
    ) -> Launch:
        """How to start it on one instruction."""
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

    async def names(self) -> tuple[str, ...]:
        """All runs that have a pane."""
        ...

    async def keep_transcript(self, name: str) -> str:
        """Write what the pane has shown, masked, to the run's log file, and let the pane go. The file's path."""
        ...


class Repository(Protocol):
    """Reading a repository, at one commit, from git objects: never through the checkout."""

    async def base(self, path: str) -> Base:
        """Where a session that begins now would start from. Refused: no repository, no commit, detached head …"""
        ...

    async def scan(self, path: str, commit: str) -> Scan: ...

    async def branches(self, path: str) -> tuple[str, ...]:
        """Every local branch."""
        ...

    async def tip(self, path: str, branch: str) -> str:
        """The commit a local branch stands at. Refused: there is no such branch."""
        ...

    async def commit_exists(self, path: str, commit: str) -> bool: ...


class Worktrees(Protocol):
    """Branches and worktrees of tasks. Nothing here touches the main checkout."""

    async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
        """A worktree at `path` on `branch`, begun at commit `start`. The branch's head.

        Refused with the reason `taken` when the branch or path belongs to somebody else.
        """
        ...

    async def merge(self, path: str, branch: str, message: str) -> Merged:
        """Merge a branch into the worktree's branch; aborted on conflict."""
        ...

    async def commit_files(self, path: str, files: dict[str, str], message: str) -> str:
        """Write files into the worktree and commit exactly these. The head, also when nothing changed."""
        ...

    async def work(self, path: str, since: str, exclude: Iterable[str] = ()) -> Work:
        """What was done in the worktree since a commit."""
        ...

    async def diff(self, path: str, since: str, limit: int) -> str:
        """The patch since a commit, at most `limit` characters of it."""
        ...

    async def merge_all(
        self, repository: str, base_branch: str, branches: tuple[str, ...], scratch: str
    ) -> Merged:
        """Merge branches, one after the other, onto the base's tip in a scratch worktree. The base is not moved."""
        ...

    async def move_base(self, repository: str, base_branch: str, commit: str) -> None:
        """Fast-forward the base branch. In the main checkout only if the base is checked out there and clean.

        Refused with the reason when it would touch people's changes.
        """
        ...

    async def remove(
        self, repository: str, path: str, branch: str, merged_into: str | None
    ) -> Removal:
        """Remove a worktree and, if everything on the branch is in `merged_into`, the branch. Never forced."""
        ...

    async def remove_scratch(self, repository: str, path: str) -> None:
        """Let a scratch worktree of the bot's own go."""
        ...

    async def log(self, repository: str, since: str, until: str) -> tuple[Commit, ...]: ...


class Commands(Protocol):
    """Commands of the bot's own in a worktree: the tests, set-up commands."""

    async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        """Run it in a process group of its own, without secrets, with CI=1; the group is gone at the end."""
        ...


class Store(Protocol):
    """Where records live. A save is on disk when it returns."""

    def load(self) -> list[Record]:
        """Every record that is not finished. A broken one is put aside and told in `broken`."""
        ...

    def find(self, session_id: str) -> Record | None:
        """Any record by its id or a unique beginning of it, finished ones too."""
        ...

    def save(self, record: Record) -> None:
        """Exactly one fsync, its cost independent of the session's history. Raises Unavailable on a full disk."""
        ...

    def sessions(self) -> list[Listed]:
        """All sessions there are, from the index, newest first."""
        ...

    @property
    def broken(self) -> tuple[str, ...]:
        """What had to be put aside, one sentence each."""
        ...

    def evidence(self, name: str, content: str) -> str:
        """Keep a hashed, masked record of something that really happened. The file's path."""
        ...


class Listed(Protocol):
    """A line of the index."""

    id: str
    thread: Thread
    title: str
    status: str
    phase: str
    repository: str
    updated_at: datetime


class Clock(Protocol):
    def now(self) -> datetime: ...

    def new_id(self) -> str:
        """A fresh UUID v4."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def every(self, seconds: float, name: str) -> AsyncGenerator[datetime, None]:
        """Ticks, also after the wall clock has jumped."""
        ...
