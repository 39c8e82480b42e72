"""People and threads by their full ids, how verbose a thread is, and where a request is carried out.

Only full ids decide anything, never names.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.core.facts import Exact, Fact


class Person(Fact):
    """A person on a platform. `id` is the full id (Slack team and user, a whole MXID); names decide nothing."""

    platform: str
    id: str
    name: str = ""
    outsider: bool = False
    """A guest, a program, or a member of another organisation: may do nothing, whatever the lists say."""

    def __str__(self) -> str:
        return self.name or self.id


class Role(StrEnum):
    """What somebody may do. Each role defaults to the platform's allow-list."""

    START = "start"
    APPROVE = "approve"
    STOP = "stop"
    ADMIN = "admin"
    OPERATE = "operate"
    """Choose the model. Defaults to nobody, because the key is sent to the chosen address."""


class Thread(Fact):
    """The conversation of a session. A thread belongs to one session for ever."""

    platform: Exact
    workspace: Exact = ""
    channel: Exact
    root: Exact
    """The root message; empty for the channel itself, where commands can be given but no session lives."""
    direct: bool = False
    """A direct conversation of one person with the bot."""

    @property
    def place(self) -> str:
        """The full id of the channel."""
        return f"{self.workspace}:{self.channel}" if self.workspace else self.channel

    @property
    def home(self) -> bool:
        """Whether this is the bot's home page as one person sees it, not a conversation."""
        return not (self.channel or self.root)

    @property
    def key(self) -> str:
        return f"{self.platform}:{self.workspace}:{self.channel}:{self.root}"


class Verbosity(StrEnum):
    """How much the bot posts in a thread, besides what waits for somebody and the final result."""

    QUIET = "quiet"
    """Nothing more. The live status message is still edited in place."""
    NORMAL = "normal"
    FULL = "full"
    """A separate line for every change of a task's state."""


# Where a request is carried out: in sessions of its parts, in an earlier session, or in its own.


class Part(Fact):
    """A request that gets a session, a root message and a thread of its own."""

    session: str
    """The id of that session, chosen before the session exists."""
    title: str
    body: str
    by: Person
    child: bool = True
    """Whether it is a part of a larger request, not a new one."""
    thread: Thread | None = None
    """Its thread; `None` if it is not opened yet."""


class Earlier(Fact):
    """A finished session that a request seems to continue."""

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
    """The chosen destination and who chose it."""

    where: Destination
    by: str
    at: AwareDatetime
