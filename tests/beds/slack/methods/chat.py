"""chat.*: messages posted, edited, deleted, whispered; nothing is kept that Slack would not show."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from tests.beds.slack.messages import Message, stored_text, weight
from tests.beds.slack.methods.arguments import Arguments
from tests.beds.slack.names import BOT, Json, Refusal
from tests.beds.slack.validation import wrong_in_blocks
from tests.beds.slack.workspace import Ephemeral, Workspace

LONGEST_UPDATE = 4_000
LONGEST_MARKDOWN = 12_000
LARGEST_METADATA = 8_192
_NOT_SHOWN = "This content can't be displayed."


@dataclass(frozen=True)
class Content:
    text: str | None
    blocks: list[Json] | None


def post_message(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"), to_post=True)
    content = _content(world, args)
    message = Message(
        channel=channel.id,
        ts=world.messages.now(),
        by=world.users[BOT],
        text=_NOT_SHOWN if content.text is None else content.text,
        blocks=content.blocks or [],
        thread=_thread(world, channel.id, args),
        metadata=_metadata(args),
        broadcast=args.flag("reply_broadcast"),
    )
    world.messages.add(message)
    world.tell_message(message)
    return {"channel": channel.id, "ts": message.ts, "message": message.json(metadata=True)}


def post_ephemeral(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"), to_post=True)
    if args.needed("user") not in channel.members:
        raise Refusal("user_not_in_channel")
    content = _content(world, args)
    message = Message(
        channel=channel.id,
        ts=world.messages.now(),
        by=world.users[BOT],
        text=content.text or "",
        blocks=content.blocks or [],
        thread=_thread(world, channel.id, args),
    )
    world.ephemerals.append(Ephemeral(args.text("user"), message))
    return {"message_ts": message.ts}


def update(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"), to_post=True)
    message = world.message(channel.id, args.needed("ts"))
    if not message.by_our_bot:
        raise Refusal("cant_update_message")
    if len(args.text("text")) > LONGEST_UPDATE:
        raise Refusal("msg_too_long")
    content, metadata = _content(world, args), _metadata(args)
    change(world, message, content.text, content.blocks)
    if "metadata" in args:
        message.metadata = metadata
    told = world.messages.told(message, metadata=True)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": told}


def delete(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"), joined=True)
    message = world.message(channel.id, args.needed("ts"))
    if not message.by_our_bot:
        raise Refusal("cant_delete_message")
    before = message.json()
    world.messages.remove(message)
    world.tell_change(message, before)
    return {"channel": channel.id, "ts": message.ts}


def get_permalink(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"))
    message = world.message(channel.id, args.needed("message_ts"))
    link = f"https://played.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.thread:
        link += f"?thread_ts={message.thread}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def change(world: Workspace, message: Message, text: str | None, blocks: list[Json] | None) -> None:
    """Text alone takes the place of the blocks; blocks alone leave the text."""
    before = world.messages.told(message)
    message.versions.append(message.blocks)
    if text is not None:
        message.text, message.blocks = text, []
        message.edited = {"user": message.by.id, "ts": world.messages.now()}
    if blocks is not None:
        message.blocks, message.edited = blocks, None
    world.tell_change(message, before)


def checked_blocks(world: Workspace, blocks: Any) -> list[Json]:
    """Blocks as they are kept, if Slack would take them."""
    if not isinstance(blocks, list) or not all(
        isinstance(one, dict) for one in cast("list[Any]", blocks)
    ):
        raise Refusal("invalid_blocks_format")
    given = cast("list[Json]", blocks)
    if wrong := _untaken(world, given) or wrong_in_blocks(given):
        raise Refusal("invalid_blocks", errors=wrong, response_metadata={"messages": wrong})
    if weight(given) > world.text_budget:
        raise Refusal("msg_blocks_too_long")
    return world.messages.stored(given)


def _untaken(world: Workspace, blocks: list[Json]) -> list[str]:
    return [
        f"[ERROR] unsupported type: {block['type']} [json-pointer:/blocks/{number}/type]"
        for number, block in enumerate(blocks)
        if block.get("type") in world.untaken
    ]


def _content(world: Workspace, args: Arguments) -> Content:
    text = stored_text(args.text("text")) if "text" in args else None
    if markdown := args.text("markdown_text"):
        if "text" in args or "blocks" in args:
            raise Refusal("markdown_text_conflict")
        if len(markdown) > LONGEST_MARKDOWN:
            raise Refusal("msg_too_long")
        text = markdown
    blocks = checked_blocks(world, args.object("blocks")) if "blocks" in args else None
    if not text and not blocks:
        raise Refusal("no_text")
    return Content(text, blocks)


def _thread(world: Workspace, channel: str, args: Arguments) -> str | None:
    """Only to a root one replies; whoever replies to a reply has mistaken the thread."""
    if not (ts := args.text("thread_ts")):
        return None
    root = world.messages.find(channel, ts)
    if root is None or (root.thread and not root.broadcast):
        raise Refusal("cannot_reply_to_message")
    return ts


def _metadata(args: Arguments) -> Json | None:
    given = args.object("metadata")
    if given in (None, {}):
        return None
    if (
        not isinstance(given, dict)
        or set(cast("Json", given)) != {"event_type", "event_payload"}
        or not isinstance(given["event_payload"], dict)
    ):
        raise Refusal("invalid_metadata_format")
    if len(json.dumps(given)) > LARGEST_METADATA:
        raise Refusal("metadata_too_large")
    return cast("Json", given)
