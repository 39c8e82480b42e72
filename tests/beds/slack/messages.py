"""Every message of the played workspace, in order: posted, edited, deleted, and read back as Slack gives it back."""

from __future__ import annotations

import copy
import itertools
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from tests.beds.slack.names import BOT_ID, TEAM, Json
from tests.beds.slack.people import User

_NOT_ESCAPED = re.compile(r"&(?!(?:amp|lt|gt);)")
_NO_MARKUP = re.compile(r"<(?![@#!]|https?:|mailto:)")
_WITH_ACTION_ID = re.compile(r"button$|_select$|_input$|^(checkboxes|overflow|.*picker)$")


@dataclass
class Message:
    channel: str
    ts: str
    by: User
    text: str
    blocks: list[Json]
    thread: str | None = None
    """The root of its thread; of the root itself None."""
    metadata: Json | None = None
    broadcast: bool = False
    files: list[Json] = field(default_factory=list[Json])
    reactions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    edited: Json | None = None
    gone: bool = False
    """It was deleted, but others had answered: it stands there without what it said."""
    versions: list[list[Json]] = field(default_factory=list[list[Json]])
    """Its blocks before each edit; somebody's screen may still show them."""

    @property
    def edits(self) -> int:
        return len(self.versions)

    @property
    def user(self) -> str:
        return self.by.id

    @property
    def by_our_bot(self) -> bool:
        return self.by.bot_id == BOT_ID and not self.gone

    @property
    def subtype(self) -> str:
        if self.gone:
            return "tombstone"
        return "file_share" if self.files else "thread_broadcast" if self.broadcast else ""

    @property
    def reads(self) -> str:
        """Everything that can be read in it, a text a line."""
        return "\n".join(texts_in(self.blocks)) if self.blocks else self.text

    def json(self, *, metadata: bool = False) -> Json:
        told: Json = {"type": "message", "user": self.by.id, "ts": self.ts, "text": self.text}
        told["team"] = self.by.team
        if self.by.bot_id:
            profile = {"id": self.by.bot_id, "app_id": self.by.app, "name": self.by.name}
            told |= {"bot_id": self.by.bot_id, "app_id": self.by.app}
            told["bot_profile"] = {**profile, "deleted": False, "team_id": TEAM}
        marks = {"blocks": self.blocks, "files": self.files, "edited": self.edited}
        told |= {name: copy.deepcopy(value) for name, value in marks.items() if value}
        if self.thread:
            told["thread_ts"] = self.thread
        if self.by.is_stranger:
            told |= {"user_team": self.by.team, "source_team": self.by.team}
        if self.subtype:
            told["subtype"] = self.subtype
        if self.reactions:
            told["reactions"] = [
                {"name": name, "users": list(users), "count": len(users)}
                for name, users in self.reactions.items()
            ]
        if metadata and self.metadata:
            told["metadata"] = copy.deepcopy(self.metadata)
        return told


class Messages:
    """All messages by their time, which is their name."""

    def __init__(self) -> None:
        self._all: dict[tuple[str, str], Message] = {}
        self._last = 0
        self._blocks = itertools.count(1)

    def __iter__(self) -> Iterator[Message]:
        return iter(list(self._all.values()))

    def now(self) -> str:
        """A time no message has had yet."""
        self._last = max(self._last + 1, int(time.time() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def add(self, message: Message) -> Message:
        self._all[message.channel, message.ts] = message
        return message

    def find(self, channel: str, ts: str) -> Message | None:
        return self._all.get((channel, ts))

    def named(self, ts: str) -> Message | None:
        return next((one for one in self if one.ts == ts), None)

    def remove(self, message: Message) -> None:
        """Delete it; the root of a thread stays as a stone."""
        if len(self.thread(message.channel, message.ts)) > 1:
            message.text, message.blocks, message.gone = "This message was deleted.", [], True
        else:
            del self._all[message.channel, message.ts]

    def thread(self, channel: str, root: str) -> list[Message]:
        """The root and what was answered to it."""
        return [one for one in self if one.channel == channel and root in (one.ts, one.thread)]

    def told(self, message: Message, *, metadata: bool = False) -> Json:
        """A message as it is read back: the root of a thread knows of its replies."""
        told = message.json(metadata=metadata)
        replies = self.thread(message.channel, message.ts)[1:]
        if replies and not message.thread:
            users = list(dict.fromkeys(one.user for one in replies))
            told |= {"thread_ts": message.ts, "reply_count": len(replies), "reply_users": users}
            told |= {"reply_users_count": len(users), "latest_reply": replies[-1].ts}
        return told

    def stored(self, blocks: list[Json]) -> list[Json]:
        """Blocks as Slack keeps them: every block and element has an id, every text its flags."""
        kept = copy.deepcopy(blocks)
        for block in kept:
            block.setdefault("block_id", f"b{next(self._blocks)}")
        for part in parts_of(kept):
            kind = str(part.get("type", ""))
            if kind == "plain_text":
                part.setdefault("emoji", True)
            elif kind == "mrkdwn":
                part.setdefault("verbatim", False)
            elif _WITH_ACTION_ID.search(kind):
                part.setdefault("action_id", f"a{next(self._blocks)}")
        return kept


def stored_text(text: str) -> str:
    """What a bot wrote, as Slack keeps it: `&` and `<` that are no markup are escaped."""
    return _NO_MARKUP.sub("&lt;", _NOT_ESCAPED.sub("&amp;", text[:40_000]))


def typed(text: str) -> list[Json]:
    """The block a person's words come in."""
    words = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return [{"type": "rich_text", "elements": [words]}]


def parts_of(value: object) -> Iterator[Json]:
    """Every object in blocks or a view, the outer before the inner."""
    if isinstance(value, dict):
        part = cast("Json", value)
        yield part
        for inner in part.values():
            yield from parts_of(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from parts_of(inner)


def texts_in(blocks: list[Json]) -> list[str]:
    """Every text of these blocks that somebody can read, in order."""
    names = ("title", "subtitle", "text", "body", "details", "output", "label")
    return [
        part[name] for part in parts_of(blocks) for name in names if isinstance(part.get(name), str)
    ]


def weight(blocks: list[Json]) -> int:
    """How much text these blocks hold, as it is counted for `msg_blocks_too_long`."""
    return sum(len(json.dumps(text, ensure_ascii=False)) for text in texts_in(blocks))
