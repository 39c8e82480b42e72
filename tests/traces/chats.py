"""Every card people meet through the real chat adapters, and what a person says and presses: each request, and each event.

Of each conversation of its own (the thread, the sign of its session, windows) the order is kept; between them it is not.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from aiohttp import ClientSession

from adapters.posting import WriteTurns
from bot.core.events import FromPeople
from bot.core.people import Thread
from tests.beds.synapse import Homeserver, People, Proxy
from tests.contract.matrix_room import matrix_room
from tests.contract.rooms import Room
from tests.contract.slack_room import slack_room
from tests.fakes import cards
from tests.looks.catalogue import entries
from tests.traces.requests import Requests
from tests.traces.values import plain

_SLACK = {
    "ts": r"\b\d{10}\.\d{6}\b",
    "base": r"(?:http|ws)://127\.0\.0\.1:\d+",
    "event": r"\bEv[0-9A-F]+\b",
    "card": r'(?<="card": ")[0-9a-f]{24}',
    "block": r'(?<="block_id": ")[0-9a-f]{16}',
    "now": r"(?:(?<=connected since )|(?<=Last heard of Slack\*  ))[\d-]{10} [\d:]{5} UTC",
    "time": r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d+\+00:00",
}
_MATRIX = {
    "event": r"\$[\w-]{43}",
    "room": r"![A-Za-z0-9_-]+(?::[\w.]+)?",
    "user": r"@?\b(?:anna|ben|bot)-[0-9a-f]{8}\b",
    "media": r"mxc://[^\s\"]+",
    "card": r'(?<="card": ")[0-9a-f]{24}',
    "transaction": r"(?<=/)[0-9a-f]{24,}\b",
    "time": r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?\+00:00",
}

_WHENEVER = ("/sync?", "/typing/")
"""In Matrix: they come as time goes by, whatever else is asked meanwhile."""


async def _used(room: Room, requests: Requests) -> None:
    """Everything is shown; a person asks for something, presses a button, and says more."""
    heard: asyncio.Queue[Thread] = asyncio.Queue()

    async def deliver(thread: Thread, event: FromPeople) -> bool:
        requests.tell("heard", plain(thread), plain(event))
        heard.put_nowait(thread)
        return True

    listening = asyncio.create_task(room.chat.listen(deliver))
    await room.is_heard()
    for one in entries():
        if one.private:
            await room.chat.whisper(room.thread, room.person, one.card)
        else:
            await room.chat.show(room.thread, one.card)
    await room.chat.open(room.other_thread, cards.ROOT)
    async with asyncio.timeout(120):
        await room.say("Add a dark mode")
        await room.chat.show(await heard.get(), cards.APPROVAL)
        await room.press_first()
        await heard.get()
        for text in ("make it wider", "status", "stop"):
            await room.say(text)
            await heard.get()
    await room.leave(listening)
    await asyncio.wait({listening})


async def slack(home: Path) -> list[str]:
    requests = Requests(_SLACK)
    async with slack_room(home, turns=WriteTurns()) as room:
        await _used(room, requests)
        calls = sorted(room.bed.calls, key=lambda call: call.method.partition(".")[0])
    for call in calls:
        requests.tell(call.method, call.args, call.error)
    return requests.lines


async def matrix(home: Path) -> list[str]:
    if importlib.util.find_spec("synapse") is None:
        return ['"matrix-synapse is not installed"']
    requests = Requests(_MATRIX)
    with Homeserver(home / "synapse") as server:
        async with ClientSession() as session, Proxy(server.url) as proxy:
            people = People(server, session)
            async with matrix_room(people, home / "bot", url=proxy.url) as room:
                await _used(room, requests)
            await people.close()
            for seen, body in zip(proxy.seen, proxy.bodies, strict=True):
                if not any(one in seen for one in _WHENEVER):
                    keys = "/keys/" in seen  # of encryption: they are made by chance
                    requests.tell(unquote(seen), _said(b"" if keys else body))
    return requests.lines


def _said(body: bytes) -> object:
    """JSON, or the text of a file."""
    try:
        return json.loads(body or b"null")
    except ValueError:
        return body.decode("utf-8", "replace")


PLAYED: dict[str, Callable[[Path], Coroutine[Any, Any, list[str]]]] = {
    "chats/slack": slack,
    "chats/matrix": matrix,
}
