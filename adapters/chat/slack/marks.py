"""Cards are found again in their thread by a mark that people do not see: whose card, which part, as of which revision."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.calling import asked
from adapters.posting import Placed
from bot.domain.people import Thread

EVENT = "gwt_card"
MOST_PARTS = 100
PAGE = 200
MOST_PAGES = 25
"""A thread of five thousand messages, or the last five thousand of a channel: what stands beyond is not found again."""


@dataclass(frozen=True)
class Found:
    """A message of a card, as it stands in the thread."""

    ts: str
    part: int
    revision: int


def mark(placed: Placed, part: int) -> dict[str, Any]:
    """The metadata of a message."""
    payload = {"card": _hash(placed, part), "revision": placed.revision}
    return {"event_type": EVENT, "event_payload": payload}


def found_in(messages: Iterable[Mapping[str, Any]], placed: Placed) -> list[Found]:
    """Every message of the card, the oldest first."""
    parts = {_hash(placed, part): part for part in range(MOST_PARTS)}
    found: list[Found] = []
    for message in messages:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        part = parts.get(payload.get("card", ""))
        if metadata.get("event_type") == EVENT and part is not None:
            found.append(Found(message["ts"], part, payload.get("revision", 0)))
    return sorted(found, key=lambda one: one.ts)


async def read_thread(client: AsyncWebClient, thread: Thread) -> list[Mapping[str, Any]]:
    """All that stands in it, with the marks."""
    messages: list[Mapping[str, Any]] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await asked(
            "reading a thread",
            lambda cursor=cursor: client.conversations_replies(
                channel=thread.channel,
                ts=thread.root,
                include_all_metadata=True,
                limit=PAGE,
                cursor=cursor,
            ),
        )
        messages += page.get("messages") or []
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            break
    return messages


async def find_root(client: AsyncWebClient, placed: Placed) -> str:
    """The ts of a card that stands in the channel itself, outside of threads; empty: it does not."""
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await asked(
            "reading a channel",
            lambda cursor=cursor: client.conversations_history(
                channel=placed.thread.channel,
                include_all_metadata=True,
                limit=PAGE,
                cursor=cursor,
            ),
        )
        if found := found_in(page.get("messages") or [], placed):
            return found[0].ts
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            break
    return ""


def _hash(placed: Placed, part: int) -> str:
    name = f"{placed.thread.key}\n{placed.key}\n{part}"
    return hashlib.sha256(name.encode()).hexdigest()[:24]
