"""Which chats are served and for whom: what is missing is told at once, and nobody comes in by mistake."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest

from bot.cli.chats import accepts_invitation, configured_chats
from bot.core.errors import SettingsError
from bot.core.gate import Door
from bot.core.people import Role
from tests.program.environment import MATRIX, SLACK, TOKENS, Given

PLATFORMS = {"slack": SLACK, "matrix": MATRIX}
PEOPLE = {
    "slack": frozenset({"T1:U1", "T1:U2"}),
    "matrix": frozenset({"@mika:example.org", "@aki:example.org"}),
}
ROLES = {Role.APPROVE: "APPROVERS", Role.STOP: "STOPPERS", Role.ADMIN: "ADMINS"}


def problem(given: Given, **environ: str) -> str:
    """What is told of settings that do not do."""
    with pytest.raises(SettingsError) as refusal:
        configured_chats(given(**environ))
    return str(refusal.value)


def door(given: Given, platform: str, **environ: str) -> Door:
    (chat,) = configured_chats(given(**PLATFORMS[platform], **environ))
    assert chat.name == platform
    return chat.door


def unload(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """What has been imported of them is forgotten until the end of the test."""
    for name in list(sys.modules):
        if name.startswith(tuple(f"{one}." for one in packages)) or name in packages:
            monkeypatch.delitem(sys.modules, name)


def without(monkeypatch: pytest.MonkeyPatch, module: str, adapter: str) -> None:
    """As if the module were not there, when the adapter is loaded."""
    import_module(f"adapters.{adapter}.chat")
    unload(monkeypatch, module, f"adapters.{adapter}")
    modules: dict[str, Any] = sys.modules
    monkeypatch.setitem(modules, module, None)


def test_without_any_chat_it_is_told_where_to_go(given: Given) -> None:
    told = problem(given)
    assert "No chat is configured" in told
    assert "README" in told
    assert "gwt-bot console" in told


@pytest.mark.parametrize(
    ("begun", "missing"),
    [
        ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN SLACK_USERS SLACK_CHANNELS"),
        ("SLACK_APP_TOKEN", "SLACK_BOT_TOKEN SLACK_USERS SLACK_CHANNELS"),
        ("MATRIX_HOMESERVER", "MATRIX_USER MATRIX_ACCESS_TOKEN MATRIX_USERS MATRIX_ROOMS"),
        ("MATRIX_USER", "MATRIX_HOMESERVER MATRIX_ACCESS_TOKEN MATRIX_USERS MATRIX_ROOMS"),
        (
            "MATRIX_HOMESERVER MATRIX_ACCESS_TOKEN SLACK_BOT_TOKEN",
            "MATRIX_USER MATRIX_USERS MATRIX_ROOMS SLACK_APP_TOKEN SLACK_USERS SLACK_CHANNELS",
        ),
    ],
)
def test_everything_that_is_missing_is_named_at_once(
    given: Given, begun: str, missing: str
) -> None:
    told = problem(given, **{name: {**SLACK, **MATRIX}[name] for name in begun.split()})
    lines = told.splitlines()[1:]
    assert {line.split()[0].rstrip(":") for line in lines} == set(missing.split())
    assert all(" is missing" in line for line in lines)
    assert not [token for token in TOKENS if token in told]


@pytest.mark.parametrize("name", ["SLACK_USERS", "SLACK_CHANNELS", "MATRIX_USERS", "MATRIX_ROOMS"])
@pytest.mark.parametrize("empty", ["", " , "])
def test_an_empty_list_means_nobody_and_nowhere_and_is_no_start(
    given: Given, name: str, empty: str
) -> None:
    told = problem(given, **{**SLACK, **MATRIX, name: empty})
    assert f"{name} is missing: " in told
    assert "empty means no" in told
    assert len(told.splitlines()) == 2


def test_a_list_alone_does_not_make_a_chat(given: Given) -> None:
    told = problem(given, SLACK_USERS="T1:U1", MATRIX_ROOMS="!room:example.org")
    assert "No chat is configured" in told


def test_both_chats_are_served_where_both_are_configured(given: Given) -> None:
    chats = configured_chats(given(**SLACK, **MATRIX))
    assert [chat.name for chat in chats] == ["slack", "matrix"]


def test_slack_is_heard_through_requests_where_they_are_signed(given: Given) -> None:
    signed = {**SLACK, "SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "signed"}
    assert [chat.name for chat in configured_chats(given(**signed))] == ["slack"]


def rights(platform: str) -> dict[Role, frozenset[str]]:
    """Where nobody is named. Which model is asked says only who is named: the key goes where its address points."""
    return {**dict.fromkeys(Role, PEOPLE[platform]), Role.OPERATE: frozenset()}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_role_for_which_nobody_is_named_is_everybodys_but_one(
    given: Given, platform: str
) -> None:
    assert door(given, platform).people == rights(platform)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("role", ROLES)
def test_a_role_for_which_somebody_is_named_is_theirs_alone(
    given: Given, platform: str, role: Role
) -> None:
    boss = {"slack": "T1:U9", "matrix": "@boss:example.org"}[platform]
    name = f"{platform.upper()}_{ROLES[role]}"
    named = {role: frozenset({boss})}
    if role is Role.ADMIN:
        named[Role.OPERATE] = frozenset({boss})
    assert door(given, platform, **{name: boss}).people == {**rights(platform), **named}


def test_the_bot_is_at_home_in_the_places_of_the_list_alone(given: Given) -> None:
    assert door(given, "slack").places == {"T1:C1", "T1:dm"}


@pytest.mark.parametrize(
    ("inviter", "room", "direct", "comes"),
    [
        ("@mika:example.org", "!room:example.org", False, True),
        ("@mika:example.org", "!other:example.org", False, False),
        ("@mika:example.org", "!other:example.org", True, True),
        ("@stranger:example.org", "!room:example.org", False, False),
        ("@stranger:example.org", "!other:example.org", True, False),
        ("", "!room:example.org", True, False),
    ],
)
def test_an_invitation_is_followed_into_listed_rooms_by_listed_people(
    given: Given, inviter: str, room: str, direct: bool, comes: bool
) -> None:
    assert accepts_invitation(door(given, "matrix"), inviter, room, direct) is comes


def test_nobody_is_followed_into_a_conversation_of_two_where_those_are_not_listed(
    given: Given,
) -> None:
    listed = door(given, "matrix").places or frozenset()
    rooms_only = Door(dict.fromkeys(Role, PEOPLE["matrix"]), listed - {"dm"})
    assert not accepts_invitation(
        rooms_only, "@mika:example.org", "!other:example.org", direct=True
    )


@pytest.mark.parametrize(
    ("platform", "package"),
    [
        ("slack", "slack_bolt"),
        ("slack", "slack_sdk"),
        ("slack", "aiohttp"),
        ("matrix", "nio"),
        ("matrix", "markdown_it"),
    ],
)
def test_a_chat_whose_packages_are_missing_says_how_to_get_them(
    given: Given, monkeypatch: pytest.MonkeyPatch, platform: str, package: str
) -> None:
    without(monkeypatch, package, platform)
    told = problem(given, **PLATFORMS[platform])
    assert f"{package} is not installed: pip install 'gwt-bot[{platform}]'" in told


def test_a_missing_package_hides_nothing_else_that_is_missing(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "slack_bolt", "slack")
    told = problem(given, **{**SLACK, "SLACK_USERS": "", **MATRIX, "MATRIX_ROOMS": ""})
    assert all(one in told for one in ("gwt-bot[slack]", "SLACK_USERS", "MATRIX_ROOMS"))


def test_a_package_is_needed_only_by_the_chat_that_is_configured(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "nio", "matrix")
    assert [chat.name for chat in configured_chats(given(**SLACK))] == ["slack"]


@pytest.mark.parametrize("module", ["adapters.slack.connection", "bot.core.layout"])
def test_a_missing_module_of_the_bots_own_is_not_taken_for_a_package(
    given: Given, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    without(monkeypatch, module, "slack")
    with pytest.raises(ModuleNotFoundError, match=module):
        configured_chats(given(**SLACK))


def test_no_token_is_shown_by_what_is_configured(given: Given) -> None:
    chats = configured_chats(given(**SLACK, **MATRIX))
    shown = f"{chats!r} {[chat.build() for chat in chats]!r}"
    assert not [token for token in TOKENS if token in shown]
