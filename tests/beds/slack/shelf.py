"""Files that people bring along with what they say: shared in a message, and handed over to whoever may read them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import web

from tests.beds.slack.acts import Talk
from tests.beds.slack.messages import Message
from tests.beds.slack.names import BOT_TOKEN, TEAM, Json
from tests.beds.slack.workspace import File, Workspace

_LOGIN = "<!DOCTYPE html><html><body>Sign in to your workspace</body></html>"
Answer = Callable[[web.Request], web.StreamResponse]


@dataclass
class Asked:
    """Somebody asked for a file; whether with a token, not with which."""

    file: str
    with_token: bool


@dataclass
class Shelf:
    world: Workspace
    asked: list[Asked] = field(default_factory=list[Asked])
    instead: Answer | None = None
    """What is answered instead of the file."""
    slow: asyncio.Event | None = None
    """Files are handed over once it is set."""

    async def hand_over(self, request: web.Request) -> web.StreamResponse:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        self.asked.append(Asked(request.match_info["name"], bool(token)))
        if self.slow:
            await self.slow.wait()
        if self.instead:
            return self.instead(request)
        file = self.world.files.get(request.match_info["file"])
        if file is None or file.content is None:
            raise web.HTTPNotFound
        if token != BOT_TOKEN or "files:read" not in self.world.grants.scopes:
            # Slack refuses no such request: it shows its login page
            return web.Response(text=_LOGIN, content_type="text/html")
        return web.Response(body=file.content, content_type=file.told["mimetype"])


class Sharing(Talk):
    async def share(
        self,
        user: str,
        channel: str,
        files: dict[str, bytes],
        text: str = "",
        thread: str | None = None,
        **told: object,
    ) -> Message:
        """Say something with files beside it. `told`: what Slack says of them otherwise than usual."""
        brought = [self._bring(name, content, told) for name, content in files.items()]
        return await self.say(user, channel, text, thread, [one.json() for one in brought])

    def _bring(self, name: str, content: bytes, told: Json) -> File:
        id = self._world.new_id("F")
        place = f"{self._world.base}/files-pri/{id}"
        about: Json = {
            "mimetype": "text/plain",
            "filetype": "text",
            "mode": "hosted",
            "is_external": False,
            "user_team": TEAM,
            "file_access": "visible",
            "url_private": f"{place}/{name}",
            "url_private_download": f"{place}/download/{name}",
        }
        file = File(id, name, len(content), name, content, told=about | told)
        self._world.files[id] = file
        return file
