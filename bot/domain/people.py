"""Who talks, and where: people and threads, by their full ids."""

from __future__ import annotations

from enum import StrEnum

from bot.domain.facts import Fact


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

    platform: str
    workspace: str = ""
    channel: str
    root: str
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
