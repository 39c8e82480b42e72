"""Finds, posts, edits and deletes the messages of a card, each in the richest form its workspace supports.

What may have been posted already is looked for, never posted again.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.posting import PlacedCard
from adapters.slack.blocks.cards import simpler_forms
from adapters.slack.blocks.kit import EVERY_BLOCK_KIND, Block, BlockKind, SlackMessage
from adapters.slack.client import AnswerLost, SlackAnswer, SlackDenied, call_slack
from adapters.state_files import JsonFile
from bot.core.errors import Unavailable
from bot.core.people import Thread

# Single messages of a card in its thread.

log = logging.getLogger("bot.slack")

_NOT_TO_BE_EDITED = frozenset({"cant_update_message", "edit_window_closed", "message_not_found"})
_NOT_TO_BE_DELETED = frozenset({"cant_delete_message", "compliance_exports_prevent_deletion"})


class Messages:
    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client

    async def post_or_edit(
        self,
        placed: PlacedCard,
        part: int,
        drawing: CardDrawing,
        ts: str = "",
        others: Collection[str] = (),
    ) -> str:
        """Edit the message `ts` if possible, otherwise post it, and return its ts.

        `others`: the card's messages that must not be taken for this one.
        """
        if ts:
            try:
                await self._edit(placed, part, drawing, ts)
            except SlackDenied as refusal:
                if refusal.code not in _NOT_TO_BE_EDITED:
                    raise
            else:
                return ts
        return await self._post(placed, part, drawing, {*others, ts})

    async def post_root(self, placed: PlacedCard, drawing: CardDrawing) -> str:
        """Post the message into the channel itself as the root of a new thread, and return its ts."""
        try:
            return await self._post_message(placed, 0, drawing)
        except AnswerLost:
            if there := await self.find_root(placed):
                return there
            raise

    async def find_root(self, placed: PlacedCard) -> str:
        """Return the root message that an earlier try posted into the channel; empty if there is none."""
        return await find_root_message(self._client, placed)

    async def find(self, placed: PlacedCard) -> list[FoundMessage]:
        """Return all messages of the card in its thread, the oldest first."""
        return card_messages_in(await read_thread(self._client, placed.thread), placed)

    async def delete(self, thread: Thread, ts: str) -> None:
        """Delete a message. One that is already gone, or cannot be deleted, is ignored."""
        try:
            await call_slack(
                "deleting a message",
                lambda: self._client.chat_delete(channel=thread.channel, ts=ts),
            )
        except SlackDenied as refusal:
            if refusal.code in _NOT_TO_BE_DELETED:
                log.warning("a message stays", extra={"data": {"ts": ts, "why": refusal.code}})
            elif refusal.code != "message_not_found":
                raise

    async def post_ephemeral(self, thread: Thread, user: str, drawing: CardDrawing) -> None:
        """Post a message that only one person sees.

        It cannot be found again, so after a lost answer it may be posted twice.
        """

        async def send(text: str, blocks: list[Block]) -> SlackAnswer:
            return await call_slack(
                "telling one person",
                lambda: self._client.chat_postEphemeral(
                    channel=thread.channel,
                    user=user,
                    thread_ts=thread.root or None,
                    text=text,
                    blocks=blocks,
                ),
            )

        for part in range(len(drawing)):
            await send_richest(drawing, part, send)

    async def _post(
        self, placed: PlacedCard, part: int, drawing: CardDrawing, others: Collection[str]
    ) -> str:
        try:
            return await self._post_message(placed, part, drawing)
        except AnswerLost:
            there = await self._of_this_revision(placed, part)
            mine = [ts for ts in there if ts not in others]
            if not mine:
                raise
            return mine[-1]

    async def _post_message(self, placed: PlacedCard, part: int, drawing: CardDrawing) -> str:
        """Post into the thread or, if that has no root yet, into the channel itself."""

        async def send(text: str, blocks: list[Block]) -> SlackAnswer:
            return await call_slack(
                "posting a message",
                lambda: self._client.chat_postMessage(
                    channel=placed.thread.channel,
                    thread_ts=placed.thread.root or None,
                    text=text,
                    blocks=blocks,
                    metadata=card_metadata(placed, part),
                    unfurl_links=False,
                    unfurl_media=False,
                ),
            )

        answer = await send_richest(drawing, part, send)
        return str(answer["ts"])

    async def _edit(self, placed: PlacedCard, part: int, drawing: CardDrawing, ts: str) -> None:
        async def send(text: str, blocks: list[Block]) -> SlackAnswer:
            return await call_slack(
                "editing a message",
                lambda: self._client.chat_update(
                    channel=placed.thread.channel,
                    ts=ts,
                    text=text,
                    blocks=blocks,
                    metadata=card_metadata(placed, part),
                ),
            )

        try:
            await send_richest(drawing, part, send)
        except AnswerLost:
            if ts not in await self._of_this_revision(placed, part):
                raise

    async def _of_this_revision(self, placed: PlacedCard, part: int) -> list[str]:
        found = await self.find(placed)
        return [one.ts for one in found if (one.part, one.revision) == (part, placed.revision)]


# Cards are found again in their thread by message metadata that people do not see: which card, which part, which
# revision.

METADATA_EVENT = "gwt_card"
MAX_PARTS = 100
PAGE_SIZE = 200
MAX_PAGES = 25
"""Covers a thread of five thousand messages, or the last five thousand of a channel.

Messages beyond that are not found again.
"""


@dataclass(frozen=True)
class FoundMessage:
    """A message of a card found in its thread."""

    ts: str
    part: int
    revision: int


def card_metadata(placed: PlacedCard, part: int) -> dict[str, Any]:
    payload = {"card": _card_hash(placed, part), "revision": placed.revision}
    return {"event_type": METADATA_EVENT, "event_payload": payload}


def card_messages_in(
    messages: Iterable[Mapping[str, Any]], placed: PlacedCard
) -> list[FoundMessage]:
    """Return every message of the card, the oldest first."""
    parts = {_card_hash(placed, part): part for part in range(MAX_PARTS)}
    found: list[FoundMessage] = []
    for message in messages:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        part = parts.get(payload.get("card", ""))
        if metadata.get("event_type") == METADATA_EVENT and part is not None:
            found.append(FoundMessage(message["ts"], part, payload.get("revision", 0)))
    return sorted(found, key=lambda one: one.ts)


async def read_thread(client: AsyncWebClient, thread: Thread) -> list[Mapping[str, Any]]:
    """Return all messages of the thread, with their metadata."""
    messages: list[Mapping[str, Any]] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await call_slack(
            "reading a thread",
            lambda cursor=cursor: client.conversations_replies(
                channel=thread.channel,
                ts=thread.root,
                include_all_metadata=True,
                limit=PAGE_SIZE,
                cursor=cursor,
            ),
        )
        messages += page.get("messages") or []
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            break
    return messages


async def find_root_message(client: AsyncWebClient, placed: PlacedCard) -> str:
    """Return the ts of the card's message in the channel itself, outside of threads; empty if there is none."""
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await call_slack(
            "reading a channel",
            lambda cursor=cursor: client.conversations_history(
                channel=placed.thread.channel,
                include_all_metadata=True,
                limit=PAGE_SIZE,
                cursor=cursor,
            ),
        )
        if found := card_messages_in(page.get("messages") or [], placed):
            return found[0].ts
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            break
    return ""


def _card_hash(placed: PlacedCard, part: int) -> str:
    name = f"{placed.thread.key}\n{placed.key}\n{part}"
    return hashlib.sha256(name.encode()).hexdigest()[:24]


# Which blocks each workspace supports. A refusal is kept on disk and tried again after a day, because Slack adds
# support over time.

REFUSAL_SECONDS = 24 * 3600.0


class SupportedBlocks:
    """Remembers which blocks a workspace refused; without a path only until the bot stops.

    `wall`: returns the time of day in seconds.
    """

    def __init__(self, path: Path | None = None, *, wall: Callable[[], float] = time) -> None:
        self._file = JsonFile(path, list[tuple[str, BlockKind, float]]) if path else None
        self._wall = wall
        self._refused: dict[tuple[str, BlockKind], float] = {}
        if self._file:
            with suppress(Unavailable):  # then it is determined again
                self._refused = {(where, kind): at for where, kind, at in self._file.read() or ()}

    def kinds(self, workspace: str) -> frozenset[BlockKind]:
        now = self._wall()
        refused = {
            kind
            for (where, kind), at in self._refused.items()
            # a clock that was set back must not prolong a refusal
            if where == workspace and 0 <= now - at < REFUSAL_SECONDS
        }
        return EVERY_BLOCK_KIND - refused

    def refuse(self, workspace: str, kinds: frozenset[BlockKind], why: str) -> None:
        """Record that the workspace refuses these blocks, so that they are not drawn there."""
        new = sorted(kinds & self.kinds(workspace))
        if not new:
            return
        self._refused |= dict.fromkeys(((workspace, kind) for kind in new), self._wall())
        about = {"workspace": workspace, "blocks": [kind.value for kind in new], "why": why}
        log.warning(
            "drawn more plainly: a workspace does not take some blocks", extra=_extra(about)
        )
        self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        try:
            self._file.write([(where, kind, at) for (where, kind), at in self._refused.items()])
        except Unavailable as error:
            # at worst this costs one refused call after the next start
            log.warning("not noted", extra=_extra({"why": error.reason}))


def _extra(about: dict[str, Any]) -> dict[str, Any]:
    return {"data": about}


# One message in the richest form its workspace supports. Refused blocks are left out and remembered: no card is lost
# because of its formatting.

Send = Callable[[str, list[Block]], Awaitable[SlackAnswer]]
_BLOCK_ERRORS = frozenset({"invalid_blocks", "invalid_blocks_format"})
_TOO_LARGE_ERRORS = frozenset(
    {"blocks_too_long", "msg_blocks_too_long", "msg_too_long", "too_many_blocks"}
)
_UNSUPPORTED = re.compile(r"unsupported (?:block )?type:? `?(\w+)")
_BLOCK_POINTER = re.compile(r"\[json-pointer:/blocks/(\d+)(?:/[^\]]*)?\]")
_CONTENT_ERROR = re.compile(
    r"\b(?:characters|items|columns|rows) allowed|must be (?:less|more) than|no (?:more|fewer) than"
    r"|already exists|too (?:long|many)|only one"
)
"""Matches errors that concern the content of this message only."""


@dataclass
class CardDrawing:
    """A card drawn as messages; their number does not depend on the supported blocks."""

    draw: Callable[[frozenset[BlockKind]], Sequence[SlackMessage]]
    takes: SupportedBlocks
    workspace: str
    _drawn: dict[frozenset[BlockKind], Sequence[SlackMessage]] = field(
        default_factory=dict[frozenset[BlockKind], Sequence[SlackMessage]]
    )

    def __len__(self) -> int:
        return len(self._messages(frozenset()))

    def part(self, number: int, without: frozenset[BlockKind] = frozenset()) -> SlackMessage:
        return self._messages(without)[number]

    def _messages(self, without: frozenset[BlockKind]) -> Sequence[SlackMessage]:
        kinds = self.takes.kinds(self.workspace) - without
        if kinds not in self._drawn:
            self._drawn[kinds] = self.draw(kinds)
        return self._drawn[kinds]


async def send_richest(drawing: CardDrawing, part: int, send: Send) -> SlackAnswer:
    """Send a message.

    Block types that Slack refuses are left out; a message refused for its content is sent in a simpler form.
    """
    without: frozenset[BlockKind] = frozenset()
    why = ""
    while True:
        message = drawing.part(part, without)
        try:
            answer = await send(message.text, message.blocks)
        except SlackDenied as refusal:
            if refusal.code not in _BLOCK_ERRORS | _TOO_LARGE_ERRORS:
                raise
            doubted = suspected_kinds(refusal, message.blocks) - without
            if not doubted:
                return await _send_simpler(message, refusal, send)
            without, why = without | doubted, "; ".join(refusal.details) or refusal.code
        else:
            if without:
                drawing.takes.refuse(drawing.workspace, without, why)
            return answer


def suspected_kinds(refusal: SlackDenied, blocks: Sequence[Block]) -> frozenset[BlockKind]:
    """Return the kinds of blocks a refusal may be about: all newer ones if Slack names none.

    Empty if it is about the content of the message, or about no newer block.
    """
    there = [str(block.get("type", "")) for block in blocks]
    kinds = frozenset(kind for kind in BlockKind if kind in there)
    if refusal.code not in _BLOCK_ERRORS:
        return frozenset()
    if not refusal.details:
        return kinds
    named = {one for told in refusal.details for one in _named_kinds(told, there)}
    return frozenset(kind for kind in kinds if kind in named)


def _named_kinds(detail: str, there: Sequence[str]) -> list[str]:
    """Return the block types named in a line of Slack's error details, if it is about their type."""
    if unsupported := _UNSUPPORTED.search(detail):
        place = _BLOCK_POINTER.search(detail)
        return [unsupported[1], *_block_at(place, there)]
    return [] if _CONTENT_ERROR.search(detail) else _block_at(_BLOCK_POINTER.search(detail), there)


def _block_at(place: re.Match[str] | None, there: Sequence[str]) -> list[str]:
    number = int(place[1]) if place else len(there)
    return [there[number]] if number < len(there) else []


async def _send_simpler(message: SlackMessage, refusal: SlackDenied, send: Send) -> SlackAnswer:
    """Try sections with the buttons unchanged, then text without blocks."""
    sections, bare = simpler_forms(message)
    _log_refusal(refusal)
    try:
        return await send(*sections)
    except SlackDenied as again:
        if again.code not in _BLOCK_ERRORS | _TOO_LARGE_ERRORS:
            raise
        _log_refusal(again)
    return await send(*bare)


def _log_refusal(refusal: SlackDenied) -> None:
    about = {"why": refusal.code, "details": refusal.details}
    log.error("a message is shown in a simpler form", extra={"data": about})
