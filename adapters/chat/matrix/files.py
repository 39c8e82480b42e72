"""Files that come with a message, as text: looked at for their size first, and never a reason not to hear the message."""

from __future__ import annotations

import asyncio
import re
from pathlib import PurePosixPath
from urllib.parse import quote

from aiohttp import ClientError, ClientResponse
from nio import AsyncClient

from adapters.chat.matrix.crypto import attachments
from adapters.chat.matrix.heard import SentFile
from bot.domain.events import Attached
from bot.domain.masking import clean
from bot.errors import Refused

MOST = 100_000
"""Bytes."""
SECONDS = 15.0
_LONGEST_NAME = 100
_MEDIA = re.compile(r"mxc://([A-Za-z0-9.:\[\]-]{1,255})/([A-Za-z0-9_=-]{1,255})")
_TOO_LARGE = f"it is larger than {MOST // 1000} kB, and I read no more than that"
_NO_TEXT = "I read text only, and this is none"
_NOT_THERE = "the homeserver did not give it to me; please send it again"


class Files:
    def __init__(self, client: AsyncClient, *, seconds: float = SECONDS) -> None:
        self._client, self._seconds = client, seconds

    async def read(self, file: SentFile) -> Attached:
        """Its text, or why there is none."""
        name = shown_name(file)
        media = _MEDIA.fullmatch(file.url)
        if problem := unreadable(file):
            return Attached(name=name, problem=problem)
        if media is None:
            return Attached(name=name, problem=_NOT_THERE)
        try:
            async with asyncio.timeout(self._seconds):
                data = await self._fetch(*media.groups())
            if file.lock:
                data = attachments.opened(data, file.lock)
        except (ClientError, OSError, TimeoutError):
            return Attached(name=name, problem=_NOT_THERE)
        except Refused as refused:
            return Attached(name=name, problem=refused.reason)
        return as_text(name, data)

    async def _fetch(self, server: str, media: str) -> bytes:
        path = f"/_matrix/client/v1/media/download/{quote(server, safe=':[]')}/{quote(media)}"
        headers = {"Authorization": f"Bearer {self._client.access_token}"}
        async with await self._client.send("GET", path, headers=headers) as answer:
            answer.raise_for_status()
            return await _bounded(answer)


def unreadable(file: SentFile) -> str:
    """What is seen before it is fetched; empty: nothing. Its size is what its sender says."""
    if file.kind != "m.file":
        return _NO_TEXT
    return _TOO_LARGE if file.size > MOST else ""


def shown_name(file: SentFile) -> str:
    name = PurePosixPath(" ".join(clean(file.name).split())).name
    return name[:_LONGEST_NAME] or "a file"


def as_text(name: str, data: bytes) -> Attached:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Attached(name=name, problem=_NO_TEXT)
    if "\0" in text:
        return Attached(name=name, problem=_NO_TEXT)
    return (
        Attached(name=name, text=text)
        if text.strip()
        else Attached(name=name, problem="it is empty")
    )


async def _bounded(answer: ClientResponse) -> bytes:
    held = bytearray()
    async for chunk in answer.content.iter_chunked(2**14):
        held += chunk
        if len(held) > MOST:
            raise Refused(_TOO_LARGE)
    return bytes(held)
