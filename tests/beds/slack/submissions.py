"""What the app answers to people: forms stay, change or close; commands and response urls leave a message."""

from __future__ import annotations

from typing import Any, cast

from aiohttp import web

from tests.beds.slack.deliveries import Delivery
from tests.beds.slack.forms import elements_in
from tests.beds.slack.messages import Message, stored_text
from tests.beds.slack.methods.chat import change, checked_blocks
from tests.beds.slack.methods.views import checked_view, replace
from tests.beds.slack.names import BOT, Json, Refusal
from tests.beds.slack.workspace import Ephemeral, View, Workspace


def settle(world: Workspace, view: View, delivery: Delivery) -> None:
    """A form after its submission. What Slack would not take is a complaint, and the form stays."""
    if not delivery.acked:
        world.complaints.append("a submission was not acked in time")
        return
    answer = delivery.answer
    try:
        match answer.get("response_action"):
            case None:
                _close(world, view)
            case "clear":
                _clear(world, view)
            case "errors":
                view.errors = _errors(view, answer.get("errors"))
            case "update":
                replace(world, view, checked_view(world, answer.get("view")))
            case "push":
                told = checked_view(world, answer.get("view"))
                new = View(world.new_id("V"), view.user, told, world.new_id("h"), previous=view)
                world.views[new.id] = new
            case other:
                world.complaints.append(f"unknown response_action {other}")
    except Refusal as refusal:
        world.complaints.append(f"answer to a submission: {refusal.answer}")


async def respond(world: Workspace, request: web.Request) -> web.Response:
    """A response url: good for five messages to whoever acted, or about what they acted on."""
    found = world.responses.get(request.match_info["response"])
    if found is None or not found.left:
        return web.json_response({"ok": False, "error": "used_url"}, status=404)
    found.left -= 1
    try:
        answer_to(world, found.user, found.channel, await request.json(), found.message)
    except Refusal as refusal:
        return web.json_response(refusal.answer, status=400)
    return web.Response(text="ok")


def show_answer(world: Workspace, user: str, channel: str, answer: Json) -> None:
    """What came with the ack of a command, if anything."""
    try:
        if answer:
            answer_to(world, user, channel, answer)
    except Refusal as refusal:
        world.complaints.append(f"answer to a command: {refusal.answer}")


def answer_to(
    world: Workspace, user: str, channel: str, answer: Json, about: Message | None = None
) -> None:
    """A message made of an answer: in place of what was acted on, to one person, or to all."""
    blocks = checked_blocks(world, answer["blocks"]) if answer.get("blocks") else None
    text = stored_text(answer["text"]) if answer.get("text") else None
    if about and answer.get("delete_original"):
        world.ephemerals = [one for one in world.ephemerals if one.message is not about]
        if world.messages.find(about.channel, about.ts):
            world.messages.remove(about)
        return
    if not text and not blocks:
        raise Refusal("no_text")
    if about and answer.get("replace_original"):
        if world.messages.find(about.channel, about.ts):
            change(world, about, text, blocks)
        else:
            about.text, about.blocks = text or "", blocks or []
        return
    message = Message(
        channel=channel,
        ts=world.messages.now(),
        by=world.users[BOT],
        text=text or "",
        blocks=blocks or [],
        thread=answer.get("thread_ts"),
    )
    if answer.get("response_type") == "in_channel":
        world.messages.add(message)
        world.tell_message(message)
    else:
        world.ephemerals.append(Ephemeral(user, message))


def _errors(view: View, errors: Any) -> dict[str, str]:
    known = {block_id for block_id, _ in elements_in(view.told["blocks"])}
    named = cast("dict[str, str]", errors or {})
    if not named or not known.issuperset(named):
        raise Refusal("errors for no field", fields=sorted(named), known=sorted(known))
    return named


def _close(world: Workspace, view: View) -> None:
    del world.views[view.id]


def _clear(world: Workspace, view: View) -> None:
    """The whole stack goes."""
    for other in list(world.views.values()):
        if other.root is view.root:
            del world.views[other.id]
