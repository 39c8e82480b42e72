"""What the app was granted: which scope each method needs, and what the manifest asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import yaml

from tests.beds.slack.names import Refusal

_ROOT = Path(__file__).resolve().parents[3]

NEEDS: dict[str, tuple[str, ...]] = {
    "auth.test": (),
    "chat.postMessage": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.update": ("chat:write",),
    "chat.delete": ("chat:write",),
    "chat.getPermalink": (),
    "agents.sessions.setStatus": ("chat:write", "assistant:write"),
    "agents.sessions.rename": ("chat:write", "assistant:write"),
    "assistant.threads.setSuggestedPrompts": ("assistant:write",),
    "conversations.info": ("{kind}:read",),
    "conversations.members": ("{kind}:read",),
    "conversations.replies": ("{kind}:history",),
    "conversations.history": ("{kind}:history",),
    "conversations.open": ("im:write", "mpim:write"),
    "reactions.add": ("reactions:write",),
    "reactions.remove": ("reactions:write",),
    "reactions.get": ("reactions:read",),
    "users.info": ("users:read",),
    "usergroups.users.list": ("usergroups:read",),
    "files.getUploadURLExternal": ("files:write",),
    "files.completeUploadExternal": ("files:write",),
    "views.open": (),
    "views.push": (),
    "views.update": (),
    "views.publish": (),
}
"""Method → scopes, of which one is enough; `{kind}` is that of the channel it is about."""

_SCOPES = (
    "app_mentions:read assistant:write channels:history channels:read chat:write commands "
    "files:read files:write groups:history groups:read im:history im:read im:write mpim:history "
    "reactions:write users:read usergroups:read"
)
_EVENTS = (
    "agent_session_stopped app_home_opened app_mention "
    "message.channels message.groups message.im message.mpim"
)


@dataclass(frozen=True)
class Grants:
    """What the installed app may do and what it hears of."""

    scopes: frozenset[str] = frozenset(_SCOPES.split())
    events: frozenset[str] = frozenset(_EVENTS.split())
    commands: frozenset[str] | None = None
    """Its slash commands; None: any."""
    shortcuts: frozenset[str] | None = None
    agent: bool = True

    @classmethod
    def of_manifest(cls, path: Path = _ROOT / "manifest.yml") -> Self:
        """What the manifest asks for; without one, what such an app usually asks for."""
        if not path.is_file():
            return cls()
        manifest = yaml.safe_load(path.read_text(encoding="utf-8"))
        features, settings = manifest["features"], manifest["settings"]
        scopes = manifest["oauth_config"]["scopes"]
        return cls(
            scopes=frozenset([*scopes["bot"], *scopes.get("bot_optional", [])]),
            events=frozenset(settings["event_subscriptions"]["bot_events"]),
            commands=frozenset(one["command"] for one in features.get("slash_commands", [])),
            shortcuts=frozenset(one["callback_id"] for one in features.get("shortcuts", [])),
            agent="agent_view" in features,
        )

    def demand(self, method: str, kind: str) -> None:
        wanted = [scope.format(kind=kind) for scope in NEEDS[method]]
        if wanted and self.scopes.isdisjoint(wanted):
            provided = ",".join(sorted(self.scopes))
            raise Refusal("missing_scope", needed=wanted[0], provided=provided)
