"""Tells open pages what has changed: a number that grows, and which sessions. A page then asks for what it shows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable

EVERYTHING = "*"
"""In place of a session's id: something that all pages show."""
GATHER_SECONDS = 0.02
"""Changes that come in a burst are told together."""
KEEP_ALIVE_SECONDS = 15.0
MAX_STREAMS = 64
MAX_STREAMS_OF_TAB = 4
"""Browsers open six connections to an address: with more streams a page would wait for ever. The oldest is ended."""


class Stream:
    """What one page has not been told yet. It never grows: what has changed twice is told once."""

    def __init__(self, token: str) -> None:
        self.token = token
        self._topics: set[str] = set()
        self._messages: dict[str, str] = {}
        self._wake = asyncio.Event()
        self._ended = False

    def changed(self, topic: str) -> None:
        self._topics.add(topic)
        self._wake.set()

    def say(self, event: str, data: str) -> None:
        """Send the data; of several of one event only the last is sent."""
        self._messages[event] = data
        self._wake.set()

    def end(self) -> None:
        self._ended = True
        self._wake.set()

    async def frames(self, hub: Hub) -> AsyncGenerator[bytes]:
        while not self._ended:
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                yield b": still here\n\n"
                continue
            await asyncio.sleep(GATHER_SECONDS)
            self._wake.clear()
            if self._topics:
                told = json.dumps({"n": hub.number, "topics": sorted(self._topics)})
                self._topics.clear()
                yield frame("changed", told)
            while self._messages:
                event, data = self._messages.popitem()
                yield frame(event, data)


class Hub:
    def __init__(self) -> None:
        self.number = 0
        """The number of the present state. An answer with a smaller one is late."""
        self._streams: list[Stream] = []

    def changed(self, topic: str = EVERYTHING) -> None:
        self.number += 1
        for stream in self._streams:
            stream.changed(topic)

    def open(self, token: str) -> Stream:
        stream = Stream(token)
        self._streams.append(stream)
        _end_oldest([one for one in self._streams if one.token == token], MAX_STREAMS_OF_TAB)
        _end_oldest(self._streams, MAX_STREAMS)
        return stream

    def close(self, stream: Stream) -> None:
        stream.end()
        self._streams = [one for one in self._streams if one is not stream]

    def close_all(self) -> None:
        for stream in self._streams:
            stream.end()


def _end_oldest(streams: list[Stream], most: int) -> None:
    for stream in streams[: max(0, len(streams) - most)]:
        stream.end()


def frame(event: str, data: str) -> bytes:
    lines: Iterable[str] = data.splitlines() or [""]
    return (f"event: {event}\n" + "".join(f"data: {line}\n" for line in lines) + "\n").encode()
