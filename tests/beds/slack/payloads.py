"""What interactions look like on the wire: pure functions of who did what where."""

from __future__ import annotations

from tests.beds.slack.messages import Message
from tests.beds.slack.names import APP, TEAM, Json
from tests.beds.slack.people import Channel, User
from tests.beds.slack.workspace import View

_TEAM: Json = {"id": TEAM, "domain": "played"}


def on_message(
    user: User, channel: Channel, message: Json, *, ephemeral: bool, action: Json, state: Json
) -> Json:
    """A press or a choice in a message; of an ephemeral one Slack does not tell what it said."""
    container: Json = {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": channel.id,
        "is_ephemeral": ephemeral,
    }
    if "thread_ts" in message:
        container["thread_ts"] = message["thread_ts"]
    told: Json = {
        "container": container,
        "channel": {"id": channel.id, "name": channel.called},
        "state": {"values": state},
        "actions": [action],
    }
    if not ephemeral:
        told["message"] = message
    return _interaction("block_actions", user) | told


def on_view(user: User, view: View, *, action: Json, state: Json) -> Json:
    return _interaction("block_actions", user) | {
        "container": {"type": "view", "view_id": view.id},
        "view": view.json() | {"state": {"values": state}},
        "actions": [action],
    }


def submission(user: User, view: View, state: Json) -> Json:
    told = view.json() | {"state": {"values": state}}
    return _interaction("view_submission", user) | {"view": told, "response_urls": []}


def closing(user: User, view: View, *, cleared: bool) -> Json:
    told: Json = view.json()
    told["state"] = {"values": dict[str, Json]()}
    return _interaction("view_closed", user) | {"view": told, "is_cleared": cleared}


def shortcut(user: User, channel: Channel, message: Message, callback_id: str, told: Json) -> Json:
    return _interaction("message_action", user) | {
        "callback_id": callback_id,
        "channel": {"id": channel.id, "name": channel.called},
        "message_ts": message.ts,
        "message": told,
        "action_ts": message.ts,
    }


def global_shortcut(user: User, callback_id: str) -> Json:
    """From anywhere: it tells of no channel."""
    return _interaction("shortcut", user) | {"callback_id": callback_id}


def slash(user: User, channel: Channel, command: str, text: str) -> Json:
    return {
        "token": "verification",
        "team_id": TEAM,
        "team_domain": "played",
        "channel_id": channel.id,
        "channel_name": channel.called,
        "user_id": user.id,
        "user_name": user.name.lower(),
        "command": command,
        "text": text,
        "api_app_id": APP,
        "is_enterprise_install": "false",
    }


def _interaction(kind: str, user: User) -> Json:
    name = user.name.lower()
    return {
        "type": kind,
        "token": "verification",
        "team": dict(_TEAM),
        "user": {"id": user.id, "username": name, "name": name, "team_id": user.team},
        "api_app_id": APP,
        "enterprise": None,
        "is_enterprise_install": False,
    }
