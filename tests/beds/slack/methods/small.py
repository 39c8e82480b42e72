"""The methods of few lines: who am I, people, reactions, the status of a session, files in three steps."""

from __future__ import annotations

import re
from typing import Any, cast

from tests.beds.slack.messages import Message, stored_text
from tests.beds.slack.methods.arguments import Arguments
from tests.beds.slack.names import BOT, BOT_ID, TEAM, Json, Refusal
from tests.beds.slack.workspace import File, Workspace

LONGEST_TITLE = 200
MOST_PROMPTS = 4
STATUSES = ("active", "processing", "suspended", "closed")
_NO_STOP = "missing_agent_session_stopped_event_subscription"


def auth_test(world: Workspace, args: Arguments) -> Json:
    return {
        "url": "https://played.slack.com/",
        "team": "Played",
        "team_id": TEAM,
        "user": "gwt",
        "user_id": BOT,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


def users_info(world: Workspace, args: Arguments) -> Json:
    return {"user": world.user(args.needed("user")).json()}


def usergroups_users_list(world: Workspace, args: Arguments) -> Json:
    group = args.needed("usergroup")
    if group not in world.groups:
        raise Refusal("no_such_subteam")
    return {"users": list(world.groups[group])}


def reactions_add(world: Workspace, args: Arguments) -> Json:
    users = _reaction(world, args)
    if BOT in users:
        raise Refusal("already_reacted")
    users.append(BOT)
    return {}


def reactions_remove(world: Workspace, args: Arguments) -> Json:
    users = _reaction(world, args)
    if BOT not in users:
        raise Refusal("no_reaction")
    users.remove(BOT)
    message = world.message(args.text("channel"), args.text("timestamp"))
    message.reactions = {name: who for name, who in message.reactions.items() if who}
    return {}


def reactions_get(world: Workspace, args: Arguments) -> Json:
    channel = world.channel(args.needed("channel"), joined=True)
    message = world.message(channel.id, args.needed("timestamp"))
    return {"type": "message", "channel": channel.id, "message": message.json()}


def set_status(world: Workspace, args: Arguments) -> Json:
    session = _session(world, args)
    if args.needed("status") not in STATUSES:
        raise Refusal("invalid_status")
    session["status"] = args.text("status")
    if args.text("title"):
        session["title"] = args.text("title")
    warned = "agent_session_stopped" not in world.grants.events
    return {"warning": _NO_STOP} if warned and session["status"] == "processing" else {}


def rename(world: Workspace, args: Arguments) -> Json:
    title = args.needed("title")
    if len(title) > LONGEST_TITLE:
        raise Refusal("invalid_arguments")
    _session(world, args)["title"] = title
    return {"title": title}


def set_prompts(world: Workspace, args: Arguments) -> Json:
    """For an agent, a call that names a thread does nothing, and says that all is well."""
    if not world.grants.agent:
        raise Refusal("not_authorized")
    channel = world.channel(args.needed("channel_id"))
    prompts = cast("list[dict[str, str]]", args.object("prompts") or [])
    fit = all(set(one) == {"title", "message"} and all(one.values()) for one in prompts)
    if not (fit and 1 <= len(prompts) <= MOST_PROMPTS):
        raise Refusal("invalid_arguments")
    if not args.text("thread_ts"):
        world.prompts[channel.id] = prompts
    return {}


def get_upload_url(world: Workspace, args: Arguments) -> Json:
    length = args.number("length", 0)
    if not length:
        raise Refusal("missing_argument")
    file = File(world.new_id("F"), args.needed("filename"), length)
    world.files[file.id] = file
    return {"upload_url": f"{world.base}/upload/{file.id}", "file_id": file.id}


def complete_upload(world: Workspace, args: Arguments) -> Json:
    named = cast("list[dict[str, Any]]", args.object("files") or [])
    files = [world.files.get(one["id"]) for one in named]
    ready = [one for one in files if one is not None and one.content is not None]
    if not named or len(ready) != len(named):
        raise Refusal("file_not_found")
    for file, about in zip(ready, named, strict=True):
        file.title = about.get("title") or file.name
    if args.text("channel_id"):
        _share(world, args, ready)
    return {"files": [one.json() for one in ready]}


def _share(world: Workspace, args: Arguments, files: list[File]) -> None:
    channel = world.channel(args.text("channel_id"), to_post=True)
    thread = args.text("thread_ts") or None
    if thread and not world.messages.find(channel.id, thread):
        raise Refusal("thread_not_found")
    for file in files:
        file.channel, file.thread = channel.id, thread
    message = Message(
        channel=channel.id,
        ts=world.messages.now(),
        by=world.users[BOT],
        text=stored_text(args.text("initial_comment")),
        blocks=[],
        thread=thread,
        files=[one.json() for one in files],
    )
    world.messages.add(message)
    world.tell_message(message)


def _reaction(world: Workspace, args: Arguments) -> list[str]:
    channel = world.channel(args.needed("channel"), joined=True)
    name = args.needed("name")
    if not re.fullmatch(r"[\w+'-]+(::skin-tone-[2-6])?", name):
        raise Refusal("invalid_name")
    if channel.archived:
        raise Refusal("is_archived")
    message = world.message(channel.id, args.needed("timestamp"))
    return message.reactions.setdefault(name, [])


def _session(world: Workspace, args: Arguments) -> Json:
    if not world.grants.agent:
        raise Refusal("not_authorized")
    channel = world.channel(args.needed("channel_id"), to_post=True)
    thread = args.text("thread_ts")
    if thread:
        world.message(channel.id, thread)
    return world.sessions.setdefault((channel.id, thread), {"status": "active", "title": ""})
