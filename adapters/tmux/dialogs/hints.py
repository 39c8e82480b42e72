"""What the hooks of an agent say about waiting for a person: at once, where a screen is only looked at now and then."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from adapters.tmux.dialogs.wording import shortened

LONGEST = 400
_ASKING = {
    "permission_prompt",
    "agent_needs_input",
    "elicitation_dialog",
    "ToolPermission",
}
_GOES_ON = {
    "Stop",
    "StopFailure",
    "SessionEnd",
    "UserPromptSubmit",
    "PostToolUse",
    "AfterTool",
    "AfterAgent",
    "permission.replied",
}


@dataclass(frozen=True)
class Hint:
    """Something is asked. The name is that of the hook's file: names follow each other in time."""

    name: str
    says: str = ""
    tool: str = ""


def latest(hooks: Iterable[tuple[str, Mapping[str, object]]], heeded: str) -> Hint | None:
    """The last hook that asks, unless it has been heeded or the agent has gone on since."""
    hint: Hint | None = None
    for name, hook in hooks:
        event = _word(hook, "event", "hook_event_name", "type")
        if event in _GOES_ON:
            hint = None
        elif name > heeded and _asks(event, hook):
            hint = Hint(name, _says(hook), _word(hook, "tool_name"))
    return hint


def _asks(event: str, hook: Mapping[str, object]) -> bool:
    if event == "Notification":
        return _word(hook, "notification_type") in _ASKING
    return event in {"PermissionRequest", "permission.asked"}


def _says(hook: Mapping[str, object]) -> str:
    """Its own words, or what it wants to do."""
    if message := _word(hook, "message", "title"):
        return shortened(message, LONGEST)
    tool, wanted = _word(hook, "tool_name"), hook.get("tool_input")
    if not tool:
        return ""
    return shortened(f"{tool}: {json.dumps(wanted, ensure_ascii=False)}", LONGEST)


def _word(hook: Mapping[str, object], *fields: str) -> str:
    return next((text for field in fields if isinstance(text := hook.get(field), str) and text), "")
