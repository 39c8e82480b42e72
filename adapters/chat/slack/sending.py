"""One message in the richest form its workspace takes; what it does not take is left out, and remembered. A card is never lost to its looks."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from adapters.chat.slack.calling import Answer, Denied
from adapters.chat.slack.drawing import Kind, Message
from adapters.chat.slack.drawing.limits import Block
from adapters.chat.slack.plainer import plainer
from adapters.chat.slack.takes import Takes

log = logging.getLogger("bot.slack")

Send = Callable[[str, list[Block]], Awaitable[Answer]]
_OF_A_BLOCK = frozenset({"invalid_blocks", "invalid_blocks_format"})
_TOO_MUCH = frozenset({"blocks_too_long", "msg_blocks_too_long", "msg_too_long", "too_many_blocks"})
_UNSUPPORTED = re.compile(r"unsupported (?:block )?type:? `?(\w+)")
_PLACE = re.compile(r"\[json-pointer:/blocks/(\d+)(?:/[^\]]*)?\]")
_OF_CONTENT = re.compile(
    r"\b(?:characters|items|columns|rows) allowed|must be (?:less|more) than|no (?:more|fewer) than"
    r"|already exists|too (?:long|many)|only one"
)
"""What is wrong with this message alone."""


@dataclass
class Drawing:
    """A card as messages: as many whatever a workspace takes."""

    draw: Callable[[frozenset[Kind]], Sequence[Message]]
    takes: Takes
    workspace: str
    _drawn: dict[frozenset[Kind], Sequence[Message]] = field(
        default_factory=dict[frozenset[Kind], Sequence[Message]]
    )

    def __len__(self) -> int:
        return len(self._messages(frozenset()))

    def part(self, number: int, without: frozenset[Kind] = frozenset()) -> Message:
        return self._messages(without)[number]

    def _messages(self, without: frozenset[Kind]) -> Sequence[Message]:
        kinds = self.takes.kinds(self.workspace) - without
        if kinds not in self._drawn:
            self._drawn[kinds] = self.draw(kinds)
        return self._drawn[kinds]


async def sent(drawing: Drawing, part: int, send: Send) -> Answer:
    """What Slack refuses for its kind is drawn without; what it refuses for its content, in a simpler form."""
    without: frozenset[Kind] = frozenset()
    why = ""
    while True:
        message = drawing.part(part, without)
        try:
            answer = await send(message.text, message.blocks)
        except Denied as refusal:
            if refusal.code not in _OF_A_BLOCK | _TOO_MUCH:
                raise
            doubted = doubted_kinds(refusal, message.blocks) - without
            if not doubted:
                return await _simpler(message, refusal, send)
            without, why = without | doubted, "; ".join(refusal.details) or refusal.code
        else:
            if without:
                drawing.takes.refuse(drawing.workspace, without, why)
            return answer


def doubted_kinds(refusal: Denied, blocks: Sequence[Block]) -> frozenset[Kind]:
    """Those the refusal may be about. Empty: it is about what this message says, or about no block of a newer kind.

    Where Slack does not say which block it is about, all are in doubt.
    """
    there = [str(block.get("type", "")) for block in blocks]
    kinds = frozenset(kind for kind in Kind if kind in there)
    if refusal.code not in _OF_A_BLOCK:
        return frozenset()
    if not refusal.details:
        return kinds
    named = {one for told in refusal.details for one in _named(told, there)}
    return frozenset(kind for kind in kinds if kind in named)


def _named(told: str, there: Sequence[str]) -> list[str]:
    """The types of blocks that a line of Slack's is about, if it is about their kind."""
    if unsupported := _UNSUPPORTED.search(told):
        place = _PLACE.search(told)
        return [unsupported[1], *_at(place, there)]
    return [] if _OF_CONTENT.search(told) else _at(_PLACE.search(told), there)


def _at(place: re.Match[str] | None, there: Sequence[str]) -> list[str]:
    number = int(place[1]) if place else len(there)
    return [there[number]] if number < len(there) else []


async def _simpler(message: Message, refusal: Denied, send: Send) -> Answer:
    """Sections, and the buttons as they are; then mere text."""
    sections, bare = plainer(message)
    _tell(refusal)
    try:
        return await send(*sections)
    except Denied as again:
        if again.code not in _OF_A_BLOCK | _TOO_MUCH:
            raise
        _tell(again)
    return await send(*bare)


def _tell(refusal: Denied) -> None:
    about = {"why": refusal.code, "details": refusal.details}
    log.error("a message is shown in a simpler form", extra={"data": about})
