"""What people command without words in a thread: slash commands, shortcuts, Slack's stop button, the home tab."""

from __future__ import annotations

import functools

from tests.beds.slack import payloads
from tests.beds.slack.acts import Acts, sent
from tests.beds.slack.deliveries import Delivery
from tests.beds.slack.names import CannotDo, Json
from tests.beds.slack.submissions import show_answer


class Commands(Acts):
    async def slash(
        self, user: str, channel: str, command: str, text: str = "", *, thread: str | None = None
    ) -> Delivery:
        """Type a command. It never says in which thread: in a thread it cannot be typed."""
        if thread:
            raise CannotDo(f"{command} is not supported in threads. Sorry!")
        known = self._world.grants.commands
        if known is not None and command not in known:
            raise CannotDo(f"{command} is not a valid command")
        told = payloads.slash(self._world.users[user], self._world.channels[channel], command, text)
        told["trigger_id"] = self._world.new_trigger(user)
        told["response_url"] = self._world.new_response_url(user, channel)
        delivery = self._courier.send("slash_commands", told)
        delivery.then = functools.partial(show_answer, self._world, user, channel)
        await delivery.sent.wait()
        return delivery

    async def message_shortcut(self, user: str, ts: str, callback_id: str) -> Delivery:
        known = self._world.grants.shortcuts
        if known is not None and callback_id not in known:
            raise CannotDo(f"there is no shortcut {callback_id}")
        message = self._named(ts)
        told = payloads.shortcut(
            self._world.users[user],
            self._world.channels[message.channel],
            message,
            callback_id,
            self._world.messages.told(message),
        )
        told["trigger_id"] = self._world.new_trigger(user)
        told["response_url"] = self._world.new_response_url(user, message.channel, message)
        return await self._interact(told)

    async def global_shortcut(self, user: str, callback_id: str) -> Delivery:
        known = self._world.grants.shortcuts
        if known is not None and callback_id not in known:
            raise CannotDo(f"there is no shortcut {callback_id}")
        told = payloads.global_shortcut(self._world.users[user], callback_id)
        told["action_ts"] = self._world.messages.now()
        told["trigger_id"] = self._world.new_trigger(user)
        return await self._interact(told)

    async def native_stop(self, user: str, channel: str, thread: str) -> Delivery | None:
        """Press Slack's own stop button, which is there while the status is `processing`."""
        if self._world.sessions.get((channel, thread), {}).get("status") != "processing":
            raise CannotDo("there is no stop button: nothing is processing")
        event = {"type": "agent_session_stopped", "channel": channel, "thread_ts": thread}
        event |= {"user": user, "streaming_message_ts": []}
        place = self._world.channels[channel]
        delivery = self._world.tell(event, "agent_session_stopped", place)
        await sent(delivery)
        return delivery

    async def open_home(self, user: str, tab: str = "home") -> Delivery | None:
        event: Json = {"type": "app_home_opened", "user": user, "tab": tab}
        event["channel"] = self._world.dm(user).id
        if tab == "home" and user in self._world.homes:
            event["view"] = self._world.homes[user].json()
        delivery = self._world.tell(event, "app_home_opened")
        await sent(delivery)
        return delivery
