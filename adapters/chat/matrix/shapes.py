"""The contents of the events the bot sends: pure. `m.mentions` is always there, so that no text mentions anybody."""

from __future__ import annotations

import hashlib
from typing import Any

from adapters.chat.matrix.drawing import Attachment, Message

Content = dict[str, Any]

_HTML = "org.matrix.custom.html"


def posted(message: Message, root: str, mention: str = "") -> Content:
    return _said(message, mention) | _in_thread(root)


def edited(message: Message, event_id: str) -> Content:
    """Nobody is told of an edit. What clients without edits show is the plain body."""
    return {
        "msgtype": message.kind,
        "body": f"* {message.body}",
        "m.new_content": _said(message),
        "m.mentions": {},
        "m.relates_to": {"rel_type": "m.replace", "event_id": event_id},
    }


def attached(file: Attachment, place: Content, root: str) -> Content:
    """`place` says where it is, and how it is opened."""
    return (
        place
        | {
            "msgtype": "m.file",
            "body": file.name,
            "filename": file.name,
            "info": {"size": len(file.data), "mimetype": file.mimetype},
            "m.mentions": {},
        }
        | _in_thread(root)
    )


def reaction(event_id: str, key: str) -> Content:
    relation = {"rel_type": "m.annotation", "event_id": event_id, "key": key}
    return {"m.relates_to": relation}


def transaction(*names: str | int) -> str:
    """The id of a request: sent again with it, the homeserver answers with the event that is there already."""
    return hashlib.sha256("\0".join(map(str, names)).encode()).hexdigest()[:40]


def _said(message: Message, mention: str = "") -> Content:
    return {
        "msgtype": message.kind,
        "body": message.body,
        "format": _HTML,
        "formatted_body": message.html,
        "m.mentions": {"user_ids": [mention]} if mention else {},
    }


def _in_thread(root: str) -> Content:
    """Clients without threads see a reply to the root. Without a root it stands in the room itself."""
    if not root:
        return {}
    relation = {
        "rel_type": "m.thread",
        "event_id": root,
        "is_falling_back": True,
        "m.in_reply_to": {"event_id": root},
    }
    return {"m.relates_to": relation}
