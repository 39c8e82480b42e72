"""Before anything is heard, Slack is asked who the bot is and whether it may do its work; a no is told in plain words."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import yaml

from adapters.slack.access import REQUIRED_SCOPES, Identity, fetch_identity, require_way_in
from adapters.slack.client import SlackAccess
from bot.core.errors import PortError, Refused, Unavailable
from tests.adapters.slack.way_in import access_to, calls_to
from tests.beds.slack import BOT, BOT_ID, BOT_TOKEN, TEAM, Grants, SlackBed
from tests.test_house import ROOT

FORGED = "xoxb-forged-token"


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed(grants=Grants(scopes=REQUIRED_SCOPES)) as bed:
        bed.leeway.forgiven |= {"missing_scope", "not_allowed_token_type"}
        yield bed


async def refusal(bed: SlackBed, token: str = BOT_TOKEN) -> PortError:
    async with calls_to(bed, token) as client:
        with pytest.raises(PortError) as problem:
            await fetch_identity(client)
    return problem.value


async def socket_refusal(bed: SlackBed, app_token: str = "") -> PortError:
    access = access_to(bed, app_token=app_token or "xapp-test")
    async with calls_to(bed) as client:
        with pytest.raises(PortError) as problem:
            await require_way_in(client, access)
    return problem.value


async def test_the_bot_learns_who_it_is(bed: SlackBed) -> None:
    async with calls_to(bed) as client:
        us = await fetch_identity(client)
    assert us == Identity(team=TEAM, user=BOT, bot=BOT_ID, name="gwt")


async def test_missing_scopes_are_named_all_at_once(bed: SlackBed) -> None:
    lacking = REQUIRED_SCOPES - {"chat:write", "users:read"}
    bed.world.grants = Grants(scopes=lacking)
    problem = await refusal(bed)
    assert isinstance(problem, Refused)
    assert "chat:write, users:read" in problem.reason
    assert "manifest.yml" in problem.remedy


def test_the_manifest_asks_for_exactly_what_is_required() -> None:
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text("utf-8"))
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == REQUIRED_SCOPES


async def test_a_token_that_is_wrong_is_told_and_not_shown(
    bed: SlackBed, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        problem = await refusal(bed, FORGED)
    assert isinstance(problem, Refused)
    assert "SLACK_BOT_TOKEN" in problem.remedy
    shown = f"{problem} {problem.remedy} {problem.__cause__} {caplog.text}"
    assert FORGED not in shown


@pytest.mark.parametrize("code", ["invalid_auth", "token_revoked", "account_inactive"])
async def test_a_token_that_slack_took_back_is_told(bed: SlackBed, code: str) -> None:
    bed.faults.refuse(code, "auth.test")
    problem = await refusal(bed)
    assert isinstance(problem, Refused)
    assert code in problem.reason


async def test_a_slack_that_is_ill_may_be_asked_again(bed: SlackBed) -> None:
    bed.faults.answer(503, "auth.test")
    assert isinstance(await refusal(bed), Unavailable)
    bed.faults.drop("auth.test")
    assert isinstance(await refusal(bed), Unavailable)
    bed.faults.storm(1, 7, "auth.test")
    patience = await refusal(bed)
    assert isinstance(patience, Unavailable)
    assert patience.retry_after == 7
    bed.faults.refuse("internal_error", "auth.test")
    assert isinstance(await refusal(bed), Unavailable)
    await bed.go_away()
    assert isinstance(await refusal(bed), Unavailable)


async def test_a_socket_that_may_be_opened_is_opened_only_later(bed: SlackBed) -> None:
    async with calls_to(bed) as client:
        await require_way_in(client, access_to(bed))
    assert bed.sockets.opened == 0


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("not_allowed_token_type", "xapp-"),
        ("invalid_auth", "SLACK_APP_TOKEN"),
        ("missing_scope", "connections:write"),
        ("socket_mode_is_off", "Socket Mode"),
    ],
)
async def test_a_socket_that_may_not_be_opened_is_told_with_the_way_out(
    bed: SlackBed, code: str, remedy: str
) -> None:
    bed.faults.refuse(code, "apps.connections.open")
    problem = await socket_refusal(bed)
    assert isinstance(problem, Refused)
    assert code in problem.reason
    assert remedy in problem.remedy


async def test_a_bot_token_opens_no_socket(bed: SlackBed) -> None:
    problem = await socket_refusal(bed, BOT_TOKEN)
    assert isinstance(problem, Refused)
    assert "xapp-" in problem.remedy


async def test_a_slack_that_is_ill_opens_a_socket_later(bed: SlackBed) -> None:
    bed.faults.answer(502, "apps.connections.open")
    assert isinstance(await socket_refusal(bed), Unavailable)


async def test_without_a_socket_requests_must_be_signed(bed: SlackBed) -> None:
    by_requests = access_to(bed, app_token="")
    async with calls_to(bed) as client:
        await require_way_in(client, by_requests)
        with pytest.raises(Refused):
            await require_way_in(client, replace(by_requests, signing_secret=""))


def test_tokens_are_not_shown() -> None:
    access = SlackAccess("xoxb-1", "xapp-2", "secret-3")
    assert access.by_socket
    assert not SlackAccess("xoxb-1").by_socket
    for secret in ("xoxb-1", "xapp-2", "secret-3"):
        assert secret not in repr(access)
