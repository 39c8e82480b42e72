"""Hooks that ask: the last one counts, until it has been heeded or the agent has gone on."""

from __future__ import annotations

import pytest

from adapters.tmux.dialogs import latest_hint

PERMISSION: dict[str, object] = {
    "hook_event_name": "PermissionRequest",
    "tool_name": "Bash",
    "tool_input": {"command": "touch x"},
}
NEEDS: dict[str, object] = {
    "event": "Notification",
    "notification_type": "agent_needs_input",
    "message": "Claude needs your input",
}


@pytest.mark.parametrize(("hook", "says"), [
    (PERMISSION, 'Bash: {"command": "touch x"}'),
    (NEEDS, "Claude needs your input"),
    ({"hook_event_name": "Notification", "notification_type": "ToolPermission"}, ""),
    ({"type": "permission.asked", "title": "Shell command"}, "Shell command"),
])  # fmt: skip
def test_a_hook_says_that_something_is_asked(hook: dict[str, object], says: str) -> None:
    hint = latest_hint([("1.json", hook)], heeded="")
    assert hint is not None
    assert hint.says == says


@pytest.mark.parametrize("hook", [
    {"hook_event_name": "Notification", "notification_type": "idle_prompt"},
    {"hook_event_name": "Notification"},
    {"hook_event_name": "SessionStart"},
    {"hook_event_name": ["PermissionRequest"]},
    {},
])  # fmt: skip
def test_other_hooks_ask_nothing(hook: dict[str, object]) -> None:
    assert latest_hint([("1.json", hook)], heeded="") is None


@pytest.mark.parametrize("event", ["Stop", "StopFailure", "UserPromptSubmit", "SessionEnd"])
def test_an_agent_that_has_gone_on_asks_no_more(event: str) -> None:
    hooks = [("1.json", PERMISSION), ("2.json", {"hook_event_name": event})]
    assert latest_hint(hooks, heeded="") is None
    assert latest_hint([*hooks, ("3.json", NEEDS)], heeded="") is not None


def test_what_was_heeded_is_not_heard_again() -> None:
    hooks = [("1.json", PERMISSION), ("2.json", NEEDS)]
    hint = latest_hint(hooks, heeded="1.json")
    assert hint is not None
    assert hint.name == "2.json"
    assert latest_hint(hooks, heeded="2.json") is None
