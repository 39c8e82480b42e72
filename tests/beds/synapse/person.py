"""Somebody on Matrix, at their own client: says, clicks and sees things, in the shapes that Element sends.

Plain HTTP on purpose: what is tested must not be tested with itself.
"""

from __future__ import annotations

import asyncio
import html
import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from aiohttp import ClientSession
from yarl import URL

from tests.beds.synapse.seen import Json, Post, Seen
from tests.beds.synapse.server import Login

_POLL = 1000
"""Milliseconds a look at the room waits for news."""
_PAGE = 100


class MatrixError(Exception):
    """The homeserver said no."""

    def __init__(self, status: int, errcode: str, told: str) -> None:
        super().__init__(f"{status} {errcode}: {told}")
        self.status, self.errcode = status, errcode


class Person:
    def __init__(self, url: str, login: Login, session: ClientSession) -> None:
        self.login = login
        self.rooms: dict[str, Seen] = {}
        self.invites: dict[str, list[Json]] = {}
        """The stripped state of rooms one is invited to."""
        self.left: set[str] = set()
        self.page = _PAGE
        """How many events of a room are looked at in one go."""
        self._url, self._session = url, session
        self.since = ""
        """The place behind what was last looked at."""

    @property
    def id(self) -> str:
        return self.login.user_id

    @property
    def name(self) -> str:
        return self.login.name

    # ── rooms ──

    async def create_room(
        self, *invited: str, direct: bool = False, space: bool = False, **more: Any
    ) -> str:
        """A private room, not encrypted. More fields of the request can be given."""
        body: Json = {"preset": "private_chat", "invite": invited, "is_direct": direct, **more}
        if space:
            body["creation_content"] = {"type": "m.space"}
        return str((await self.call("POST", "createRoom", body))["room_id"])

    async def invite(self, room: str, user_id: str) -> None:
        await self._room(room, "invite", {"user_id": user_id})

    async def kick(self, room: str, user_id: str, reason: str = "") -> None:
        await self._room(room, "kick", {"user_id": user_id, "reason": reason})

    async def ban(self, room: str, user_id: str, reason: str = "") -> None:
        await self._room(room, "ban", {"user_id": user_id, "reason": reason})

    async def join(self, room: str) -> None:
        await self._room(room, "join", {})

    async def leave(self, room: str) -> None:
        await self._room(room, "leave", {})

    async def upgrade(self, room: str, version: str = "12") -> str:
        """Go on in a new room; the old one has a tombstone."""
        answer = await self._room(room, "upgrade", {"new_version": version})
        return str(answer["replacement_room"])

    async def members(self, room: str) -> dict[str, str]:
        """Who is there, was invited, left: by the full id."""
        answer = await self.call("GET", f"rooms/{_quoted(room)}/members")
        return {one["state_key"]: one["content"]["membership"] for one in answer["chunk"]}

    async def state(self, room: str, kind: str, content: Json, key: str = "") -> str:
        path = f"rooms/{_quoted(room)}/state/{kind}/{_quoted(key)}"
        return str((await self.call("PUT", path, content))["event_id"])

    # ── saying ──

    async def say(
        self,
        room: str,
        text: str,
        *,
        mention: str = "",
        thread: str = "",
        reply_to: str = "",
        label: str = "",
    ) -> str:
        """Write a message; the id of its event.

        `mention`: somebody's full id, put in front by name as the completion does (`label`: another name).
        `thread`: the root of the thread it is written in. `reply_to`: a message it quotes.
        """
        content: Json = {"msgtype": "m.text", "body": text, "m.mentions": {}}
        if mention:
            name = label or mention[1:].split(":", 1)[0]
            pill = f'<a href="https://matrix.to/#/{mention}">{html.escape(name)}</a>'
            content["body"] = f"{name}: {text}"
            content["format"] = "org.matrix.custom.html"
            content["formatted_body"] = f"{pill}: {html.escape(text)}"
            content["m.mentions"] = {"user_ids": [mention]}
        if thread or reply_to:
            content["m.relates_to"] = self._relation(room, thread, reply_to)
        return await self.send(room, "m.room.message", content)

    async def edit(self, room: str, event_id: str, text: str, *, mention: str = "") -> str:
        mentions: Json = {"user_ids": [mention]} if mention else {}
        return await self.send(
            room,
            "m.room.message",
            {
                "msgtype": "m.text",
                "body": f"* {text}",
                "m.new_content": {"msgtype": "m.text", "body": text, "m.mentions": mentions},
                "m.mentions": mentions,
                "m.relates_to": {"rel_type": "m.replace", "event_id": event_id},
            },
        )

    async def react(self, room: str, event_id: str, key: str) -> str:
        """Click a chip, or choose a reaction; the id of its event, with which it can be taken back."""
        relation = {"rel_type": "m.annotation", "event_id": event_id, "key": key}
        return await self.send(room, "m.reaction", {"m.relates_to": relation})

    async def redact(self, room: str, event_id: str, reason: str = "") -> str:
        """Remove a message, or take a reaction back."""
        path = f"rooms/{_quoted(room)}/redact/{_quoted(event_id)}/{secrets.token_hex(8)}"
        return str((await self.call("PUT", path, {"reason": reason}))["event_id"])

    async def send(self, room: str, kind: str, content: Json) -> str:
        """Any event."""
        path = f"rooms/{_quoted(room)}/send/{kind}/{secrets.token_hex(8)}"
        return str((await self.call("PUT", path, content))["event_id"])

    async def rename(self, name: str) -> None:
        """Be shown under another name."""
        await self.call("PUT", f"profile/{_quoted(self.id)}/displayname", {"displayname": name})

    # ── seeing ──

    def posts(self, room: str) -> tuple[Post, ...]:
        """Everything said in the room, as far as it was looked at."""
        return self.rooms[room].posts() if room in self.rooms else ()

    def thread(self, room: str, root: str) -> tuple[Post, ...]:
        """What stands in a thread, its root first."""
        return self.rooms[room].posts(root=root) if room in self.rooms else ()

    async def until(self, seen: Callable[[], bool], seconds: float = 120) -> None:
        """Look at the rooms until they are as wanted."""
        try:
            async with asyncio.timeout(seconds):
                while not seen():
                    await self.look()
        except TimeoutError:
            said = [
                f"{post.sender}: {post.text}" for room in self.rooms for post in self.posts(room)
            ]
            raise AssertionError("never seen; there was:\n" + "\n".join(said[-20:])) from None

    async def look(self, wait: int = _POLL) -> None:
        """See what is new; without news, wait for it so many milliseconds."""
        wanted = {"room": {"timeline": {"limit": self.page}}}
        query = {"filter": json.dumps(wanted), "timeout": str(wait)}
        if self.since:
            query["since"] = self.since
        answer = await self.call("GET", "sync", query=query)
        rooms = answer.get("rooms", {})
        for room, news in [*rooms.get("join", {}).items(), *rooms.get("leave", {}).items()]:
            await self._see(room, news["timeline"])
        self.left = (self.left | rooms.get("leave", {}).keys()) - rooms.get("join", {}).keys()
        for room, news in rooms.get("invite", {}).items():
            self.invites[room] = news["invite_state"]["events"]
        self.since = answer["next_batch"]

    async def _see(self, room: str, timeline: dict[str, Any]) -> None:
        missed: list[Json] = []
        if timeline.get("limited") and self.since:
            missed = await self._missed(room, timeline["prev_batch"])
        self.rooms.setdefault(room, Seen()).take([*missed, *timeline["events"]])

    async def _missed(self, room: str, start: str) -> list[Json]:
        """What lies between the last look and what the new one showed."""
        found: list[Json] = []
        while start:
            query = {"dir": "b", "from": start, "to": self.since, "limit": str(self.page)}
            answer = await self.call("GET", f"rooms/{_quoted(room)}/messages", query=query)
            found += answer["chunk"]
            start = answer.get("end", "") if answer["chunk"] else ""
        return found[::-1]

    # ── the wire ──

    async def call(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        query: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """One request; `path` follows `/_matrix/client/v3/`."""
        url = f"{self._url}/_matrix/client/v3/{path}"
        headers = {"Authorization": f"Bearer {self.login.access_token}"}
        async with self._session.request(
            method, URL(url, encoded=True).update_query(query), json=body, headers=headers
        ) as answer:
            told = await answer.json()
            if answer.status != HTTPStatus.OK:
                raise MatrixError(answer.status, told.get("errcode", ""), told.get("error", ""))
            return told

    async def _room(self, room: str, what: str, body: Json) -> dict[str, Any]:
        return await self.call("POST", f"rooms/{_quoted(room)}/{what}", body)

    def _relation(self, room: str, thread: str, reply_to: str) -> Json:
        """In a thread there is always a reply, for clients without threads: to the last message, if to none."""
        if not thread:
            return {"m.in_reply_to": {"event_id": reply_to}}
        last = [post.event_id for post in self.thread(room, thread)] or [thread]
        return {
            "rel_type": "m.thread",
            "event_id": thread,
            "is_falling_back": not reply_to,
            "m.in_reply_to": {"event_id": reply_to or last[-1]},
        }


def _quoted(name: str) -> str:
    return quote(name, safe="")
