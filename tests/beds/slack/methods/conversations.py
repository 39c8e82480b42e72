"""conversations.*: what was said, page by page; a thread begins with its root."""

from __future__ import annotations

from collections.abc import Sequence

from tests.beds.slack.messages import Message
from tests.beds.slack.methods.arguments import Arguments
from tests.beds.slack.names import Json, Refusal
from tests.beds.slack.workspace import Workspace


def info(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"))
    told = channel.json()
    if args.flag("include_num_members"):
        told["num_members"] = len(channel.members)
    return {"channel": told}


def members(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"))
    everyone = sorted(channel.members)
    start, end = _page(args, 100)
    return {"members": everyone[start:end], **_more(end, len(everyone))}


def open_(world: Workspace, args: Arguments) -> Json:
    users = [one for one in args.text("users").split(",") if one]
    if len(users) != 1:
        raise Refusal("users_list_not_supplied" if not users else "too_many_users")
    channel = world.dm(world.user(users[0]).id)
    return {"channel": channel.json() if args.flag("return_im") else {"id": channel.id}}


def replies(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"), joined=True)
    root = world.messages.find(channel.id, args.needed("ts"))
    if root is None:
        raise Refusal("thread_not_found")
    if root.thread:
        return _told(world, args, [root], 1, 1)
    answers = [one for one in world.messages.thread(channel.id, root.ts)[1:] if _within(args, one)]
    start, end = _page(args, 1_000)
    return _told(world, args, [root, *answers][start:end], end, 1 + len(answers))


def history(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"), joined=True)
    said = [
        one
        for one in world.messages
        if one.channel == channel.id and (not one.thread or one.broadcast) and _within(args, one)
    ]
    said.reverse()
    start, end = _page(args, 100)
    return _told(world, args, said[start:end], end, len(said))


def _told(world: Workspace, args: Arguments, page: Sequence[Message], end: int, all: int) -> Json:
    metadata = args.flag("include_all_metadata")
    told = [world.messages.told(one, metadata=metadata) for one in page]
    return {"messages": told, **_more(end, all)}


def _within(args: Arguments, message: Message) -> bool:
    when = float(message.ts)
    oldest, latest = float(args.text("oldest") or 0), float(args.text("latest") or "inf")
    if args.flag("inclusive"):
        return oldest <= when <= latest
    return oldest < when < latest


def _page(args: Arguments, most: int) -> tuple[int, int]:
    limit = args.number("limit", most)
    if not 1 <= limit <= 1_000:
        raise Refusal("invalid_limit")
    cursor = args.text("cursor") or "page:0"
    name, _, start = cursor.partition(":")
    if name != "page" or not start.isdecimal():
        raise Refusal("invalid_cursor")
    return int(start), int(start) + limit


def _more(end: int, all: int) -> Json:
    cursor = f"page:{end}" if end < all else ""
    return {"has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}
