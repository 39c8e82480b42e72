"""All that the bot may touch. An adapter is any class with these methods; errors it raises are PortErrors only.

Every call that changes the world is safe to do twice: it looks first whether its effect is there already.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.cards import Card
from bot.domain.dialogs import Dialog
from bot.domain.events import FromPeople
from bot.domain.evidence import Evidence, EvidenceInventory
from bot.domain.hosting import Fetched, Hosted, MergeTried, Pull, PullWanted
from bot.domain.people import Person, Thread
from bot.domain.record import Record
from bot.domain.session import Session
from bot.domain.tasklog import LogEntry, TaskLog
from bot.domain.world import (
    AgentReady,
    Base,
    Checkout,
    Collision,
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

    async def checkout(self, path: str) -> Checkout:
        """How the main checkout looks now, read without touching its index."""
        ...


class Worktrees(Protocol):
    """Branches and worktrees of tasks. Nothing here touches the main checkout."""

    async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
        """A worktree at `path` on `branch`, begun at commit `start`. The branch's head.

        Refused with the reason `taken` when the branch or path belongs to somebody else.
        """
        ...

    async def copy_ignored(
        self, repository: str, path: str, patterns: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Copy files of the main checkout that git ignores and a pattern names into the worktree. What was copied."""
        ...

    async def merge(self, path: str, branch: str, message: str, *, plan: str = "") -> Merged:
        """Merge a branch or commit into the worktree's branch; aborted on conflict.

        `plan`: the bot's own folder of documents; a conflict in nothing else is settled with the worktree's copy.
        """
        ...

    async def collisions(self, repository: str, branches: tuple[str, ...]) -> tuple[Collision, ...]:
        """Which of these branches would not merge with each other: tried without touching anything."""
        ...

    async def take_in(self, repository: str, source: str, commit: str) -> None:
        """Have a commit of another repository on this machine at hand here, on no branch."""
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
        self,
        repository: str,
        path: str,
        branch: str,
        merged_into: str | None,
        merged_tip: str = "",
        *,
        plan: str = "",
    ) -> Removal:
        """Remove a worktree and, if everything on the branch is in `merged_into`, the branch. Never forced.

        `merged_tip`: a commit that is known to be merged elsewhere, squashed perhaps; a branch that stands there may go.
        `plan`: the branch may also go if it has changed nothing but this folder, and `merged_into` holds the same there.
        """
        ...

    async def remove_scratch(self, repository: str, path: str) -> None:
        """Let a scratch worktree of the bot's own go."""
        ...

    async def log(self, repository: str, since: str, until: str) -> tuple[Commit, ...]: ...


class Forge(Protocol):
    """A host of repositories and pull requests. `slug` is the owner/name that was found when the session began."""

    async def find(self, repository: str) -> Hosted | None:
        """Where the repository is hosted; None: nowhere that is known, or nobody has given a token for it."""
        ...

    async def publish(self, repository: str, slug: str, branch: str, commit: str) -> None:
        """Have the branch stand at the commit on the forge.

        Refused: it holds work there that is not in the commit, or the token may not write.
        """
        ...

    async def open(self, slug: str, wanted: PullWanted) -> Pull:
        """The open pull request of that branch: found, and brought up to date, or made."""
        ...

    async def look(self, slug: str, number: int) -> Pull:
        """How it stands, with what its checks and its readers say."""
        ...

    async def make_ready(self, slug: str, number: int) -> Pull:
        """It is a draft no longer."""
        ...

    async def merge(self, slug: str, number: int, head: str, title: str) -> MergeTried:
        """Merge it if it stands at `head`. It may be merged already: then that is the answer."""
        ...

    async def fetch(self, slug: str, branch: str) -> Fetched:
        """Copy a branch of the forge to this machine, into no checkout."""
        ...

    async def unpublish(self, slug: str, branch: str, commit: str) -> str:
        """Let the branch on the forge go, if it stands at that commit. Why it was left; empty: it is gone."""
        ...


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


class Archive(Protocol):
    """Evidence: hashed, masked records of what really happened, each with the raw log it was drawn from."""

    async def keep(
        self, evidence: Evidence, *, session_id: str, task_id: str, raw: str = "", source: str = ""
    ) -> Evidence:
        """Write it down, with the text `raw`, else with what the file `source` holds. Twice is once."""
        ...

    async def inventory(self, evidence_ids: Iterable[str]) -> EvidenceInventory:
        """What is there of the evidence that a session names, and whether it is as it was kept."""
        ...


class Logs(Protocol):
    """One log of events per task."""

    async def note(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        """Add entries to the logs of tasks, each once, and bring the rest of these logs up to date."""
        ...

    async def read(self, session_id: str) -> tuple[TaskLog, ...]:
        """All logs of a session, in the order in which they were begun."""
        ...

    async def unsettled(self) -> tuple[str, ...]:
        """Ids of sessions with a log that does not tell of its task's end."""
        ...

    async def tidy(self) -> None:
        """Let go of what is too old, and of the oldest where there is no room left."""
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
