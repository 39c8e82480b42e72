"""People and threads by their full ids, how much is said to them, and where a request is carried out.

Names decide nothing: only full ids do.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.core.facts import Exact, Fact


class Person(Fact):
    """Somebody on a platform. `id` is the full id (Slack team and user, a whole MXID); names decide nothing."""

    platform: str
    id: str
    name: str = ""
    outsider: bool = False
    """A guest, a program, or somebody of another organisation: may do nothing, whatever the lists say."""

    def __str__(self) -> str:
        return self.name or self.id


class Role(StrEnum):
    """What somebody may do. Each role defaults to the platform's allow-list."""

    START = "start"
    APPROVE = "approve"
    STOP = "stop"
    ADMIN = "admin"
    OPERATE = "operate"
    """Say which model is asked. It defaults to nobody: the key goes where its address points."""


class Thread(Fact):
    """The conversation of a session. One thread is one session, for ever."""

    platform: Exact
    workspace: Exact = ""
    channel: Exact
    root: Exact
    """The message it hangs from; empty: the channel itself, where a command may be given but no session lives."""
    direct: bool = False
    """A conversation of one person with the bot alone."""

    @property
    def place(self) -> str:
        """The channel, by its full id."""
        return f"{self.workspace}:{self.channel}" if self.workspace else self.channel

    @property
    def home(self) -> bool:
        """It is no conversation, but the bot's own page as one person sees it."""
        return not (self.channel or self.root)

    @property
    def key(self) -> str:
        return f"{self.platform}:{self.workspace}:{self.channel}:{self.root}"


class Verbosity(StrEnum):
    """How much is said in a thread, besides what waits for somebody and how it ends."""

    QUIET = "quiet"
    """Nothing but that. The live status is still edited in place."""
    NORMAL = "normal"
    FULL = "full"
    """A line of its own whenever a task is in another state."""


# Where a request is carried out: in sessions of its parts, in an earlier session, or in its own.


class Part(Fact):
    """A wish that gets a session, a root message and a thread of its own."""

    session: str
    """The id of that session; it is chosen before it exists."""
    title: str
    body: str
    by: Person
    child: bool = True
    """Part of a larger wish, rather than a new one."""
    thread: Thread | None = None
    """Where it lives; none: it is not opened yet."""


class Earlier(Fact):
    """A finished session that a request seems to go on with."""

    session: str
    title: str
    reason: str


class Destination(StrEnum):
    """Where a request is carried out."""

    SPLIT = "split"
    """In sessions of its parts."""
    ELSEWHERE = "elsewhere"
    """In an earlier session."""
    HERE = "here"


class ChosenDestination(Fact):
    """Who said where."""

    where: Destination
    by: str
    at: AwareDatetime
