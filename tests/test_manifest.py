"""The manifest of the Slack app: Slack takes it, and it asks for what the code uses and for nothing more."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import payloads
from adapters.slack.access import REQUIRED_SCOPES, Identity
from adapters.slack.assistant import PROMPTS
from adapters.slack.deliveries import Delivery, FormOpening, SlackCommand
from adapters.slack.incoming import SlackEvent
from adapters.slack.payloads import NEW_FEATURE_SHORTCUT, SHORTCUTS, PayloadContext, SlashCommand
from bot.core.choices import Word, parse_command
from tests.beds.slack.scopes import NEEDS
from tests.test_house import ROOT, sources

Json = dict[str, Any]

SLACK = "adapters/slack"
OF_THE_APP_TOKEN = frozenset({"apps.connections.open"})
"""Called with another token, whose scope is no matter of the manifest."""
KINDS = ("channels", "groups", "im")
"""Public and private channels, and conversations of one person with the bot: what SLACK_CHANNELS can name."""
SUBSCRIPTIONS = {
    SlackEvent.MESSAGE: {f"message.{kind}": f"{kind}:history" for kind in KINDS},
    SlackEvent.MENTION: {"app_mention": "app_mentions:read"},
    SlackEvent.STOPPED: {"agent_session_stopped": "assistant:write"},
    SlackEvent.HOME: {"app_home_opened": ""},
}
"""What brings an event, and the scope without which Slack does not; some need none."""
ID, REPOSITORY = "1a2b3c4d", "shop"
OF_AN_AGENT = "agents.sessions.setStatus"
KNOWN: dict[str, frozenset[str]] = {
    "": frozenset({"_metadata", "display_information", "features", "oauth_config", "settings"}),
    "_metadata": frozenset({"major_version", "minor_version"}),
    "display_information": frozenset(
        {"name", "description", "long_description", "background_color"}
    ),
    "features": frozenset(
        {"agent_view", "app_home", "bot_user", "shortcuts", "slash_commands", "unfurl_domains"}
    ),
    "features.app_home": frozenset(
        {"home_tab_enabled", "messages_tab_enabled", "messages_tab_read_only_enabled"}
    ),
    "features.bot_user": frozenset({"display_name", "always_online"}),
    "features.shortcuts": frozenset({"name", "type", "callback_id", "description"}),
    "features.slash_commands": frozenset(
        {"command", "description", "usage_hint", "url", "should_escape"}
    ),
    "oauth_config": frozenset({"scopes", "redirect_urls"}),
    "oauth_config.scopes": frozenset({"bot", "user", "bot_optional", "user_optional"}),
    "settings": frozenset(
        {
            "event_subscriptions",
            "interactivity",
            "org_deploy_enabled",
            "socket_mode_enabled",
            "token_rotation_enabled",
            "is_hosted",
        }
    ),
    "settings.event_subscriptions": frozenset({"bot_events", "user_events", "request_url"}),
    "settings.interactivity": frozenset({"is_enabled", "request_url", "message_menu_options_url"}),
}
"""What may stand at each place."""
LONGEST = {
    "display_information.name": 35,
    "display_information.description": 140,
    "features.bot_user.display_name": 80,
    "features.agent_view.agent_description": 300,
    "features.shortcuts.name": 24,
    "features.shortcuts.description": 150,
    "features.shortcuts.callback_id": 255,
    "features.slash_commands.command": 32,
    "features.slash_commands.description": 2_000,
    "features.slash_commands.usage_hint": 1_000,
}
MOST = {
    "features.shortcuts": 10,
    "features.slash_commands": 50,
    "features.agent_view.suggested_prompts": 4,
}


def manifest() -> Json:
    return yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))


def at(path: str) -> list[Any]:
    """All that stands at a place; a list on the way there is gone through."""
    found: list[Any] = [manifest()]
    for name in path.split("."):
        inner = [one[name] for one in found if name in one]
        found = [one for part in inner for one in listed(part)]
    return found


def listed(part: Any) -> list[Any]:
    return cast("list[Any]", part) if isinstance(part, list) else [part]


def declared(path: str) -> set[str]:
    """What is declared at a place, each once."""
    twice = [one for one, times in Counter(at(path)).items() if times > 1]
    assert twice == []
    return set(at(path))


def called() -> set[str]:
    """Every method of the Web API the code calls, by Slack's name of it."""
    methods = {name for name, _ in inspect.getmembers(AsyncWebClient, inspect.iscoroutinefunction)}
    return {
        node.attr.replace("_", ".")
        for path in sources(SLACK)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in methods
    }


def needed() -> Iterator[str]:
    """Every scope that something needs."""
    for scopes in SUBSCRIPTIONS.values():
        yield from filter(None, scopes.values())
    for method in called() - OF_THE_APP_TOKEN:
        # where one of several is enough, it is the first
        yield from (scope.format(kind=kind) for scope in NEEDS[method][:1] for kind in KINDS)
    yield "commands"  # shortcuts need it, too
    yield "files:read"  # what people attach is fetched from its address, by no method


def shown_by(hint: str) -> list[str]:
    """What somebody types who follows a usage hint."""
    named = re.sub(r"\[name\]", REPOSITORY, re.sub(r"<id>|\[id\]|\bid\b", ID, hint))
    return [part.strip() for part in named.strip("[]").split("|")]


@pytest.mark.parametrize(("path", "names"), KNOWN.items())
def test_it_says_nothing_that_slack_does_not_know(path: str, names: frozenset[str]) -> None:
    """Slack refuses a manifest with a name of another place, or a misspelt one, as a whole."""
    places = at(path) if path else [manifest()]
    assert places, "it is there"
    assert {name for one in places for name in one} <= names


@pytest.mark.parametrize(("path", "longest"), LONGEST.items())
def test_no_text_is_longer_than_slack_takes(path: str, longest: int) -> None:
    assert at(path), "it is there"
    assert [text for text in at(path) if not 0 < len(text) <= longest] == []


@pytest.mark.parametrize(("path", "most"), MOST.items())
def test_there_is_no_more_of_anything_than_slack_takes(path: str, most: int) -> None:
    assert 0 < len(at(path)) <= most


def test_it_subscribes_to_what_is_listened_to_and_nothing_else() -> None:
    wanted = {name for event in SlackEvent for name in SUBSCRIPTIONS[event]}
    assert declared("settings.event_subscriptions.bot_events") == wanted


def test_it_offers_the_commands_that_are_understood_and_no_others() -> None:
    assert declared("features.slash_commands.command") == set(SlashCommand)


def test_it_offers_the_shortcuts_that_are_understood_and_no_others() -> None:
    offered = {one["callback_id"]: one["type"] for one in manifest()["features"]["shortcuts"]}
    assert offered == {**dict.fromkeys(SHORTCUTS, "message"), NEW_FEATURE_SHORTCUT: "global"}
    assert len(offered) == len(at("features.shortcuts.callback_id"))


def test_every_method_that_is_called_is_one_whose_scope_is_known() -> None:
    assert called()
    assert called() - OF_THE_APP_TOKEN - set(NEEDS) == set()


def test_it_asks_for_the_scopes_that_are_needed_and_no_others() -> None:
    assert declared("oauth_config.scopes.bot") == set(needed())
    assert set(manifest()["oauth_config"]["scopes"]) == {"bot"}, "nothing is optional or a user's"


def test_the_bot_looks_at_its_start_for_exactly_the_scopes_of_the_manifest() -> None:
    assert declared("oauth_config.scopes.bot") == REQUIRED_SCOPES


def test_the_app_is_an_agent_because_its_sessions_have_a_status() -> None:
    assert OF_AN_AGENT in called()
    assert at("features.agent_view")


def test_a_home_tab_is_there_as_soon_as_something_is_shown_in_it() -> None:
    assert at("features.app_home.home_tab_enabled") == ["views.publish" in called()]


def test_people_can_write_to_it_press_its_buttons_and_need_no_address() -> None:
    assert at("features.app_home.messages_tab_enabled") == [True]
    assert at("features.app_home.messages_tab_read_only_enabled") == [False]
    assert at("settings.interactivity.is_enabled") == [True]
    assert at("settings.socket_mode_enabled") == [True]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (one["command"], text)
        for one in manifest()["features"]["slash_commands"]
        for text in shown_by(one["usage_hint"])
    ],
)
def test_what_a_usage_hint_shows_is_understood(command: str, text: str) -> None:
    body = {"command": command, "text": text, "channel_id": "C1", "user_id": "U1"}
    us = Identity(team="T1", user="UBOT", bot="BBOT")
    heard = payloads.slash_command(
        {**body, "trigger_id": "1.2"}, us, datetime.now(UTC), PayloadContext()
    )
    assert isinstance(heard, Delivery)
    if text in payloads.NEW_FEATURE_WORDS:
        assert isinstance(heard.what, FormOpening)
        return
    assert isinstance(heard.what, SlackCommand)
    understood = heard.what.command
    assert (understood.word is Word.HELP) == (text == "help")
    assert understood.argument in text


@pytest.mark.parametrize("prompt", at("features.agent_view.suggested_prompts.message"))
def test_a_suggested_prompt_is_a_command_or_the_beginning_of_a_request(prompt: str) -> None:
    assert prompt.endswith(" ") or parse_command(prompt)


def test_the_bot_suggests_what_its_manifest_suggests() -> None:
    prompts = manifest()["features"]["agent_view"]["suggested_prompts"]
    assert [(one["title"], one["message"]) for one in prompts] == list(PROMPTS)


@pytest.mark.parametrize(
    ("module", "function"), [("incoming.py", "_event_callback"), ("payloads.py", "_command_text")]
)
def test_what_is_understood_stands_in_a_table(module: str, function: str) -> None:
    path: Path = ROOT / SLACK / module
    (body,) = (
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == function
    )
    cases = [one.value for one in ast.walk(body) if isinstance(one, ast.MatchValue)]
    assert cases
    assert [case.value for case in cases if isinstance(case, ast.Constant)] == []
