"""All that the played Slack knows at a moment; the Web API and the people both act on it."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from typing import Any

from tests.beds.slack.deliveries import Courier, Delivery
from tests.beds.slack.messages import Message, Messages, texts_in
from tests.beds.slack.names import AKI, BOT, GROUP, TEAM, Json, Refusal
from tests.beds.slack.people import Channel, User, everybody, everywhere
from tests.beds.slack.scopes import Grants

RESPONSES_A_URL = 5


@dataclass
class Ephemeral:
    """Seen by one person; gone with the next reload."""

    user: str
    message: Message


@dataclass
class View:
    """A modal or a home tab on somebody's screen."""

    id: str
    user: str
    told: Json
    hash: str
    previous: View | None = None
    edits: int = 0
    chosen: dict[str, Any] = field(default_factory=dict[str, Any])
    """action_id → what the person has put in."""
    errors: dict[str, str] = field(default_factory=dict[str, str])
    """What the app had to say about the last submission, per block."""

    @property
    def root(self) -> View:
        return self.previous.root if self.previous else self

    @property
    def reads(self) -> str:
        """Everything that can be read in it, a text a line."""
        title = [self.told["title"]["text"]] if "title" in self.told else []
        return "\n".join([*title, *texts_in(self.told["blocks"])])

    def json(self) -> Json:
        return {
            **self.told,
            "id": self.id,
            "team_id": TEAM,
            "hash": self.hash,
            "root_view_id": self.root.id,
            "previous_view_id": self.previous.id if self.previous else None,
            "app_id": "A0BOT",
            "bot_id": "B0BOT",
            "private_metadata": self.told.get("private_metadata", ""),
            "callback_id": self.told.get("callback_id", ""),
        }


@dataclass
class File:
    id: str
    name: str
    length: int
    title: str = ""
    content: bytes | None = None
    channel: str = ""
    thread: str | None = None
    told: Json = field(default_factory=dict[str, Any])
    """What Slack says of it besides, where a person has brought it."""

    def json(self) -> Json:
        about = {"id": self.id, "name": self.name, "title": self.title, "size": self.length}
        return about | self.told


@dataclass
class Trigger:
    user: str
    born: float
    view: View | None
    used: bool = False


@dataclass
class ResponseUrl:
    user: str
    channel: str
    message: Message | None
    left: int = RESPONSES_A_URL


class Workspace:
    def __init__(
        self, grants: Grants, courier: Courier, trigger_seconds: float, text_budget: int
    ) -> None:
        self.grants = grants
        self.courier = courier
        self.trigger_seconds = trigger_seconds
        self.text_budget = text_budget
        self.base = ""
        """Where the server is."""
        self.users: dict[str, User] = everybody()
        self.channels: dict[str, Channel] = everywhere()
        self.groups: dict[str, list[str]] = {GROUP: [AKI]}
        self.messages = Messages()
        self.ephemerals: list[Ephemeral] = []
        self.views: dict[str, View] = {}
        self.homes: dict[str, View] = {}
        self.files: dict[str, File] = {}
        self.sessions: dict[tuple[str, str], Json] = {}
        self.prompts: dict[str, list[dict[str, str]]] = {}
        """Suggested in a conversation with the bot alone."""
        self.triggers: dict[str, Trigger] = {}
        self.responses: dict[str, ResponseUrl] = {}
        self.untaken: set[str] = set()
        """Types of blocks this workspace does not take."""
        self.complaints: list[str] = []
        """What a person would have been shown as a failure of the app."""
        self._numbers = itertools.count(1)

    def new_id(self, letter: str) -> str:
        return f"{letter}{next(self._numbers):08d}"

    def user(self, id: str) -> User:
        if id not in self.users:
            raise Refusal("user_not_found")
        return self.users[id]

    def channel(self, id: str, *, to_post: bool = False, joined: bool = False) -> Channel:
        """A channel the bot may see; a private one it is not in does not exist for it."""
        if to_post and id in self.users:
            id = self.dm(id).id
        found = self.channels.get(id)
        if found is None or (found.kind != "channel" and BOT not in found.members):
            raise Refusal("channel_not_found")
        if (to_post or joined) and BOT not in found.members:
            raise Refusal("not_in_channel")
        if to_post and found.archived:
            raise Refusal("is_archived")
        return found

    def dm(self, user: str) -> Channel:
        """The direct messages of somebody with the bot."""
        id = f"D{user[1:]}"
        return self.channels.setdefault(id, Channel(id, "", kind="im", members={user, BOT}))

    def message(self, channel: str, ts: str) -> Message:
        found = self.messages.find(channel, ts)
        if found is None:
            raise Refusal("message_not_found")
        return found

    def tell(self, event: Json, name: str, channel: Channel | None = None) -> Delivery | None:
        """An event to the app, if it subscribed to such and is there to hear it."""
        if name not in self.grants.events or (channel and BOT not in channel.members):
            return None
        event = {**event, "event_ts": event.get("event_ts") or self.messages.now()}
        return self.courier.event(event, shared=bool(channel and channel.shared))

    def tell_message(self, message: Message) -> Delivery | None:
        channel = self.channels[message.channel]
        told = message.json() | {"channel": channel.id, "channel_type": channel.kind}
        return self.tell(told | {"event_ts": message.ts}, f"message.{channel.scope}", channel)

    def tell_change(self, message: Message, before: Json) -> Delivery | None:
        """A message was edited, or is gone."""
        channel = self.channels[message.channel]
        now = self.messages.now()
        event: Json = {"type": "message", "channel": channel.id, "channel_type": channel.kind}
        event |= {"hidden": True, "ts": now, "event_ts": now, "previous_message": before}
        if self.messages.find(channel.id, message.ts) is None:
            event |= {"subtype": "message_deleted", "deleted_ts": message.ts}
        else:
            event |= {"subtype": "message_changed", "message": self.messages.told(message)}
        return self.tell(event, f"message.{channel.scope}", channel)

    def new_trigger(self, user: str, view: View | None = None) -> str:
        id = f"{self.new_id('t')}.trigger"
        self.triggers[id] = Trigger(user, time.monotonic(), view)
        return id

    def pull(self, id: str) -> Trigger:
        """Use a trigger: once, and soon."""
        trigger = self.triggers.get(id)
        if trigger is None:
            raise Refusal("invalid_trigger_id")
        if trigger.used:
            raise Refusal("exchanged_trigger_id")
        if time.monotonic() - trigger.born > self.trigger_seconds:
            raise Refusal("expired_trigger_id")
        trigger.used = True
        return trigger

    def new_response_url(self, user: str, channel: str, message: Message | None = None) -> str:
        id = self.new_id("r")
        self.responses[id] = ResponseUrl(user, channel, message)
        return f"{self.base}/response/{id}"
