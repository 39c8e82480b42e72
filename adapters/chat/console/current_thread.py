"""The thread the terminal talks in, kept over restarts. One thread is one session, for ever."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError

from bot.domain.facts import Fact
from bot.domain.people import Thread
from bot.errors import Unavailable

TERMINAL = "terminal"
"""The channel of whoever names no project."""


class _Kept(Fact):
    thread: Thread
    over: bool = False
    """Its session was given up or lives on elsewhere: what is asked for next opens a new one."""
    ended: bool = False
    """Its session has come to its end: what is asked for next is looked at there, and may be more of it."""


class CurrentThread:
    def __init__(self, path: Path, channel: str = TERMINAL) -> None:
        self._path = path
        self._channel = channel
        self._kept = self._read()

    @property
    def thread(self) -> Thread:
        """The thread at hand, begun if there is none. A session may not have begun in it yet."""
        if self._kept is None:
            return self._begin()
        return self._kept.thread

    def for_talk(self) -> Thread:
        """The thread in which free text is said: a new one where the last session is over."""
        if self._kept and self._kept.over:
            return self._begin()
        return self.thread

    def begin(self) -> Thread:
        """A new one, for a new session."""
        return self._begin()

    def turn_to(self, thread: Thread) -> None:
        self._keep(_Kept(thread=thread))

    @property
    def has_ended(self) -> bool:
        return self._kept is not None and self._kept.ended

    def end(self, *, for_good: bool) -> None:
        """The session of the thread at hand is over."""
        self._keep(_Kept(thread=self.thread, over=for_good, ended=not for_good))

    def _begin(self) -> Thread:
        thread = Thread(platform="console", channel=self._channel, root=str(uuid4()))
        self._keep(_Kept(thread=thread))
        return thread

    def _keep(self, kept: _Kept) -> None:
        """Replaced in one step: killed at any point, the old or the new one is there."""
        if kept == self._kept:
            return
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            beside.touch(mode=0o600)
            beside.write_text(kept.model_dump_json(), "utf-8")
            beside.replace(self._path)
        except OSError as error:
            raise Unavailable(
                f"{self._path} cannot be written: {error.strerror}.", "Is the disk full?"
            ) from error
        self._kept = kept

    def _read(self) -> _Kept | None:
        try:
            return _Kept.model_validate_json(self._path.read_bytes())
        except (FileNotFoundError, ValidationError):
            # not readable is as good as not there: sessions are kept elsewhere, and `resume` finds them
            return None
