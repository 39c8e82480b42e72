"""What people write in Slack. Each act returns after the app has been told of it once."""

from __future__ import annotations

from collections.abc import Sequence

from tests.beds.slack.deliveries import Courier, Delivery
from tests.beds.slack.messages import Message, typed
from tests.beds.slack.names import BOT, CannotDo, Json
from tests.beds.slack.workspace import Workspace


class Acts:
    """What all acts rely on."""

    def __init__(self, world: Workspace, courier: Courier) -> None:
        self._world = world
        self._courier = courier

    async def _interact(
        self, payload: Json, kind: str = "interactive", confirm: Json | None = None
    ) -> Delivery:
        delivery = self._courier.send(kind, payload, confirm)
        await delivery.sent.wait()
        return delivery

    def _named(self, ts: str) -> Message:
        message = self._world.messages.named(ts)
        if message is None:
            raise CannotDo(f"there is no message {ts}")
        return message


class Talk(Acts):
    _mentions = 0

    async def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread: str | None = None,
        files: Sequence[Json] = (),
    ) -> Message:
        """Write something, as it is on the wire (`&lt;`, `<@U0002>`). In a channel, a mention of the bot is told twice."""
        place = self._world.channels[channel]
        if user not in place.members or place.archived:
            raise CannotDo(f"{user} cannot write in {channel}")
        if thread and self._world.messages.find(channel, thread) is None:
            raise CannotDo(f"there is no thread {thread}")
        message = Message(
            channel=channel,
            ts=self._world.messages.now(),
            by=self._world.users[user],
            text=text,
            blocks=self._world.messages.stored(typed(text)),
            thread=thread,
            files=list(files),
        )
        self._world.messages.add(message)
        told = [lambda: self._world.tell_message(message)]
        if f"<@{BOT}>" in text and place.kind != "im":
            mention = message.json() | {"type": "app_mention", "channel": channel}
            mention["event_ts"] = message.ts
            told.append(lambda: self._world.tell(mention, "app_mention", place))
            # Either may come first, in life as here.
            self._mentions += 1
            told = told[:: 1 if self._mentions % 2 else -1]
        await sent(*[tell() for tell in told])
        return message

    async def mention(
        self, user: str, channel: str, text: str, thread: str | None = None
    ) -> Message:
        return await self.say(user, channel, f"<@{BOT}> {text}", thread)

    async def reply(self, user: str, channel: str, thread: str, text: str) -> Message:
        return await self.say(user, channel, text, thread)

    async def edit(self, user: str, ts: str, text: str) -> None:
        message = self._own(user, ts)
        before = self._world.messages.told(message)
        message.versions.append(message.blocks)
        message.text, message.blocks = text, self._world.messages.stored(typed(text))
        message.edited = {"user": user, "ts": self._world.messages.now()}
        await sent(self._world.tell_change(message, before))

    async def delete(self, user: str, ts: str) -> None:
        message = self._own(user, ts)
        before = message.json()
        self._world.messages.remove(message)
        await sent(self._world.tell_change(message, before))

    def _own(self, user: str, ts: str) -> Message:
        message = self._named(ts)
        if message.user != user:
            raise CannotDo("it is somebody else's message")
        return message


async def sent(*deliveries: Delivery | None) -> None:
    """Wait until they have been sent once; None is what the app did not subscribe to."""
    for delivery in deliveries:
        if delivery is not None:
            await delivery.sent.wait()
