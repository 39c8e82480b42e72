"""The least that a bot on Matrix can be: it asks what is new, and answers every message. It remembers nothing.

python -m benchmarks.chats.raw <homeserver> <user id> <access token> [listening]

`listening`: it asks what is new while it answers, too, as a bot must that can be stopped.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from typing import Any
from urllib.parse import quote

from aiohttp import ClientSession
from yarl import URL

from benchmarks.chats.work import Syncs, until_asked_to_end

REPLY = "There is nothing here yet. Tell me what you would like to have built."
_FILTER = json.dumps({"room": {"timeline": {"limit": 100}, "ephemeral": {"types": []}}})


class Answering:
    def __init__(self, session: ClientSession, me: str, *, listening: bool) -> None:
        self._session, self._me, self._listening = session, me, listening
        self._numbers = itertools.count()

    async def run(self) -> None:
        since = (await self._news({"timeout": "0"}))["next_batch"]
        async with asyncio.TaskGroup() as answers:
            while True:
                news = await self._news({"timeout": "30000", "since": since})
                for room, told in news.get("rooms", {}).get("join", {}).items():
                    for event in told["timeline"]["events"]:
                        if event["type"] == "m.room.message" and event["sender"] != self._me:
                            answer = answers.create_task(self._answer(room, event["event_id"]))
                            if not self._listening:
                                await answer
                since = news["next_batch"]

    async def _news(self, query: dict[str, str]) -> dict[str, Any]:
        url = URL("/_matrix/client/v3/sync").with_query(query | {"filter": _FILTER})
        async with self._session.get(url) as answer:
            return await answer.json()

    async def _answer(self, room: str, root: str) -> None:
        name = f"answer-{next(self._numbers)}"
        path = f"/_matrix/client/v3/rooms/{quote(room, safe='')}/send/m.room.message/{name}"
        relation = {"rel_type": "m.thread", "event_id": root}
        content = {"msgtype": "m.notice", "body": REPLY, "m.relates_to": relation}
        async with self._session.put(URL(path, encoded=True), json=content) as answer:
            answer.raise_for_status()


async def main(homeserver: str, me: str, token: str, *more: str) -> None:
    syncs = Syncs()
    headers = {"Authorization": f"Bearer {token}"}
    async with ClientSession(homeserver, headers=headers) as session:
        answering = Answering(session, me, listening=bool(more))
        await until_asked_to_end(syncs, answering.run())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
