"""What people do with what stands on their screen: press, choose, fill in, send, close."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.beds.slack import forms, payloads
from tests.beds.slack.acts import Acts
from tests.beds.slack.deliveries import Courier, Delivery
from tests.beds.slack.names import CannotDo, Json
from tests.beds.slack.submissions import settle
from tests.beds.slack.workspace import Ephemeral, View, Workspace

HOME = "home"


class Screen(Acts):
    def __init__(self, world: Workspace, courier: Courier) -> None:
        super().__init__(world, courier)
        self._chosen: dict[tuple[str, str], dict[str, Any]] = {}

    async def click(
        self,
        user: str,
        where: str,
        button: str,
        *,
        state: Mapping[str, Any] | None = None,
        agree: bool = True,
        version: int | None = None,
    ) -> Delivery | None:
        """Press a button, by its action_id or label, of a message (its ts), a modal (its id) or a home tab (`home`).

        `state` is put into the fields beside it first. Who does not `agree` to the dialog a button has, presses
        nothing. With a `version`, the screen shows the message as it was before so many edits.
        """
        blocks = self._blocks(user, where, version)
        block_id, element = forms.find(blocks, button, button=True)
        if "confirm" in element and not agree:
            return None
        self._put_in(user, where).update(state or {})
        action = forms.pressed(block_id, element, self._world.messages.now())
        return await self._act(user, where, blocks, action, element.get("confirm"))

    async def choose(self, user: str, where: str, field: str, option: Any) -> Delivery:
        """Choose in a select, radio buttons, checkboxes (a list) or an overflow menu, by value or label."""
        blocks = self._blocks(user, where)
        block_id, element = forms.find(blocks, field, button=False)
        action = forms.chose(block_id, element, option, self._world.messages.now())
        self._put_in(user, where)[element["action_id"]] = option
        return await self._act(user, where, blocks, action, element.get("confirm"))

    async def submit(self, view: View, values: Mapping[str, Any] | None = None) -> Json:
        """Send a form; what the app answered. Slack itself refuses one with holes."""
        self._on_screen(view)
        blocks = view.told["blocks"]
        chosen = {**self._put_in(view.user, view.id), **(values or {})}
        forms.check_filled(blocks, chosen)
        view.errors = {}
        state = forms.state_of(blocks, chosen)
        user = self._world.users[view.user]
        told = payloads.submission(user, view, state)
        told["trigger_id"] = self._world.new_trigger(view.user, view)
        delivery = self._courier.send("interactive", told)
        await delivery.over.wait()
        settle(self._world, view, delivery)
        return delivery.answer

    async def close(self, view: View, *, all: bool = False) -> Delivery | None:
        """Close a form, or the whole stack of them; the app is told if it asked to be."""
        self._on_screen(view)
        del self._world.views[view.id]
        told = payloads.closing(self._world.users[view.user], view, cleared=all)
        if all and view.previous:
            await self.close(view.previous, all=True)
        if not view.told.get("notify_on_close"):
            return None
        return await self._interact(told)

    async def _act(
        self, user: str, where: str, blocks: list[Json], action: Json, confirm: Json | None
    ) -> Delivery:
        who, state = self._world.users[user], forms.state_of(blocks, self._put_in(user, where))
        view = self._view(user, where)
        if view is not None:
            told = payloads.on_view(who, view, action=action, state=state)
            told["trigger_id"] = self._world.new_trigger(user, view)
            return await self._interact(told, confirm=confirm)
        whispered = self._whispered(user, where)
        message = whispered.message if whispered else self._named(where)
        channel = self._world.channels[message.channel]
        json = self._world.messages.told(message)
        told = payloads.on_message(
            who, channel, json, ephemeral=bool(whispered), action=action, state=state
        )
        told["trigger_id"] = self._world.new_trigger(user)
        told["response_url"] = self._world.new_response_url(user, channel.id, message)
        return await self._interact(told, confirm=confirm)

    def _blocks(self, user: str, where: str, version: int | None = None) -> list[Json]:
        """What somebody sees at a place."""
        if (view := self._view(user, where)) is not None:
            return view.told["blocks"]
        if whispered := self._whispered(user, where):
            return whispered.message.blocks
        message = self._named(where)
        if user not in self._world.channels[message.channel].members:
            raise CannotDo(f"{user} cannot see {message.channel}")
        return message.blocks if version is None else [*message.versions, message.blocks][version]

    def _view(self, user: str, where: str) -> View | None:
        return self._world.homes.get(user) if where == HOME else self._world.views.get(where)

    def _whispered(self, user: str, ts: str) -> Ephemeral | None:
        all = self._world.ephemerals
        return next((one for one in all if one.user == user and one.message.ts == ts), None)

    def _put_in(self, user: str, where: str) -> dict[str, Any]:
        return self._chosen.setdefault((user, where), {})

    def _on_screen(self, view: View) -> None:
        if self._world.views.get(view.id) is not view:
            raise CannotDo("this form is no longer open")
