"""What somebody sees in a room: messages in order, edited where they stand, with the reactions that are left on them.

Pure: events go in, in the order of the room; hearing one twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import cast

Json = dict[str, object]


@dataclass(frozen=True)
class Post:
    """One message as it stands there now."""

    event_id: str
    sender: str
    content: Json
    """Of its last edit, if there was one; the relation is that of the first."""
    edits: int = 0
    redacted: bool = False
    reactions: tuple[tuple[str, str], ...] = ()
    """Key and sender, the oldest first."""

    @property
    def text(self) -> str:
        return str(self.content.get("body", ""))

    @property
    def html(self) -> str:
        return str(self.content.get("formatted_body", ""))

    @property
    def type(self) -> str:
        return str(self.content.get("msgtype", ""))

    @property
    def root(self) -> str:
        """The thread it is in; its own id where it is in none."""
        relation = _object(self.content, "m.relates_to")
        in_thread = relation.get("rel_type") == "m.thread"
        return str(relation.get("event_id")) if in_thread else self.event_id

    @property
    def mentions(self) -> tuple[str, ...]:
        named = _object(self.content, "m.mentions").get("user_ids", [])
        return tuple(cast("list[str]", named))

    @property
    def keys(self) -> tuple[str, ...]:
        """What the reactions say, each once, in the order in which they came."""
        return tuple(dict.fromkeys(key for key, _ in self.reactions))

    def reacted(self, key: str) -> tuple[str, ...]:
        """Who reacted with that."""
        return tuple(sender for one, sender in self.reactions if one == key)


@dataclass
class Seen:
    """One room."""

    events: list[Json] = field(default_factory=list[Json])
    """Everything, as it came."""
    _posts: dict[str, Post] = field(default_factory=dict[str, Post])
    _reactions: dict[str, str] = field(default_factory=dict[str, str])
    """The event id of a reaction, and what it stands on."""
    _marks: dict[str, dict[str, tuple[str, str]]] = field(
        default_factory=dict[str, dict[str, tuple[str, str]]]
    )
    _known: set[str] = field(default_factory=set[str])

    def posts(self, *, root: str = "") -> tuple[Post, ...]:
        """All messages, or those of one thread with its root, the oldest first."""
        return tuple(
            replace(post, reactions=tuple(self._marks.get(post.event_id, {}).values()))
            for post in self._posts.values()
            if not root or post.root == root
        )

    def take(self, events: Iterable[Json]) -> None:
        for event in events:
            event_id = str(event["event_id"])
            if event_id not in self._known:
                self._known.add(event_id)
                self.events.append(event)
                self._take(event_id, event)

    def _take(self, event_id: str, event: Json) -> None:
        content, relation = _object(event, "content"), _object(event, "content", "m.relates_to")
        target = str(relation.get("event_id", ""))
        match event["type"]:
            case "m.room.message" if relation.get("rel_type") == "m.replace":
                self._edit(target, str(event["sender"]), _object(content, "m.new_content"))
            case "m.room.message":
                redacted = not content
                self._posts[event_id] = Post(event_id, str(event["sender"]), content, 0, redacted)
            case "m.reaction" if relation:
                self._reactions[event_id] = target
                mark = (str(relation["key"]), str(event["sender"]))
                self._marks.setdefault(target, {})[event_id] = mark
            case "m.room.redaction":
                self._redact(str(event.get("redacts") or content.get("redacts")))
            case _:
                pass

    def _edit(self, target: str, sender: str, content: Json) -> None:
        post = self._posts.get(target)
        # Only who wrote it can edit it: everything else is ignored by clients.
        if post is None or post.sender != sender or post.redacted:
            return
        relation = post.content.get("m.relates_to")
        kept: Json = {"m.relates_to": relation} if relation else {}
        self._posts[target] = replace(post, content={**content, **kept}, edits=post.edits + 1)

    def _redact(self, target: str) -> None:
        if target in self._reactions:
            del self._marks[self._reactions.pop(target)][target]
        elif post := self._posts.get(target):
            relation = post.content.get("m.relates_to")
            kept: Json = {"m.relates_to": relation} if relation else {}
            self._posts[target] = replace(post, content=kept, redacted=True)


def _object(value: Json, *path: str) -> Json:
    """The object at a path; an empty one where there is none."""
    for name in path:
        found = value.get(name)
        value = cast("Json", found) if isinstance(found, dict) else {}
    return value
