"""Up to where each channel has been heard, kept in a small file: never later than what was really taken."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from bot.domain.facts import Fact
from bot.errors import Unavailable

_LEAST = 1e-6


class _Kept(Fact):
    channels: dict[str, float]


@dataclass
class _Channel:
    newest: float = 0.0
    """Of the messages that were taken."""
    held: float | None = None
    """It may be that something after this was missed."""
    arrived: set[float] = field(default_factory=set[float])
    """Messages that are being taken."""
    failed: set[float] = field(default_factory=set[float])
    """Messages that could not be taken."""

    @property
    def mark(self) -> float:
        limits = [self.newest, *(when - _LEAST for when in self.arrived | self.failed)]
        return min(limits if self.held is None else [*limits, self.held])


class Seen:
    """Times are Slack's, in seconds. What is on disk may lag behind: then some is read again, under the same ids."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._channels: dict[str, _Channel] = {}
        self._saved: dict[str, float] = {}
        for channel, mark in _read(path).items():
            self._channels[channel] = _Channel(newest=mark, held=mark)
            self._saved[channel] = mark

    def mark(self, channel: str) -> float | None:
        """Everything up to then was taken; None: nothing was ever heard there."""
        return self._channels[channel].mark if channel in self._channels else None

    def channels(self) -> tuple[str, ...]:
        return tuple(self._channels)

    @contextmanager
    def taking(self, channel: str, ts: str) -> Iterator[None]:
        """Around taking a message. If that fails, the mark stays before it."""
        when = float(ts)
        known = self._channels.setdefault(channel, _Channel(newest=when - _LEAST))
        known.arrived.add(when)
        try:
            yield
        except BaseException:
            known.failed.add(when)
            raise
        else:
            known.failed.discard(when)
            known.newest = max(known.newest, when)
        finally:
            known.arrived.discard(when)

    def begin(self, channels: Iterable[str], now: float) -> None:
        """Channels that are new are heard from now on."""
        for channel in channels:
            self._channels.setdefault(channel, _Channel(newest=now))

    def rewind(self, when: float) -> None:
        """It may be that something after this was missed, anywhere."""
        for known in self._channels.values():
            known.held = min(known.mark, when)

    def caught_up(self, channel: str) -> None:
        """All that is still there has been read again, and taken."""
        if channel in self._channels:
            self._channels[channel].held = None
            self._channels[channel].failed.clear()

    @property
    def behind(self) -> tuple[str, ...]:
        """Channels in which something waits to be read again."""
        return tuple(
            name for name, one in self._channels.items() if one.failed or one.held is not None
        )

    def save(self) -> None:
        """Replaced in one step, and only when something has changed."""
        marks = {name: one.mark for name, one in self._channels.items()}
        if marks == self._saved and self._path.exists():
            return
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            beside.touch(mode=0o600)
            beside.write_text(_Kept(channels=marks).model_dump_json(), "utf-8")
            beside.replace(self._path)
        except OSError as error:
            raise Unavailable(
                f"{self._path} cannot be written: {error.strerror}.", "Is the disk full?"
            ) from error
        self._saved = marks


def _read(path: Path) -> dict[str, float]:
    """Not readable is as good as not there: then one hears from now on."""
    try:
        return _Kept.model_validate_json(path.read_bytes()).channels
    except (FileNotFoundError, ValidationError):
        return {}
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.") from error
