"""The bot's account: let in, or told in plain words why not. The token is nowhere to be read."""

from __future__ import annotations

import logging
import traceback

import pytest

from adapters.matrix.client import MatrixAccess, connect, error_in_answer
from bot.core.errors import PortError, Refused, Unavailable
from tests.beds.synapse import Homeserver, People, Proxy


async def failure(access: MatrixAccess) -> PortError:
    """Why it is not let in."""
    with pytest.raises(PortError) as caught:
        await connect(access)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(access)
    assert access.access_token not in shown
    return caught.value


async def test_the_device_is_the_one_of_the_token(people: People) -> None:
    login = people("bot").login
    access = MatrixAccess(people.homeserver.url + "/", login.user_id, login.access_token)
    client = await connect(access)
    await client.close()
    assert (client.user_id, client.device_id) == (login.user_id, login.device_id)


async def test_a_token_that_counts_no_more_is_refused_with_what_to_do(
    homeserver: Homeserver, people: People
) -> None:
    login = people("bot").login
    homeserver.revoke(login)
    problem = await failure(MatrixAccess(homeserver.url, login.user_id, login.access_token))
    assert isinstance(problem, Refused)
    assert "no longer valid" in problem.reason
    assert "MATRIX_ACCESS_TOKEN" in problem.remedy


async def test_the_token_of_somebody_else_is_refused(
    homeserver: Homeserver, people: People
) -> None:
    bot, anna = people("bot"), people("anna")
    problem = await failure(MatrixAccess(homeserver.url, bot.id, anna.login.access_token))
    assert isinstance(problem, Refused)
    assert anna.id in problem.reason
    assert bot.id in problem.reason


async def test_a_homeserver_that_is_away_may_come_back(people: People, proxy: Proxy) -> None:
    login = people("bot").login
    access = MatrixAccess(proxy.url, login.user_id, login.access_token)
    proxy.fail(1)
    assert isinstance(await failure(access), Unavailable)
    proxy.fail(1, status=200)
    assert "no Matrix homeserver" in (await failure(access)).reason
    proxy.limit(1, retry_after_ms=1500)
    limited = await failure(access)
    assert isinstance(limited, Unavailable)
    assert limited.retry_after == 1.5
    await proxy.close()
    assert "MATRIX_HOMESERVER" in (await failure(access)).remedy


async def test_the_log_of_the_library_does_not_know_the_token(
    people: People, caplog: pytest.LogCaptureFixture
) -> None:
    login = people("bot").login
    with caplog.at_level(logging.DEBUG):
        access = MatrixAccess(people.homeserver.url, login.user_id, login.access_token)
        await (await connect(access)).close()
    assert login.access_token not in caplog.text


@pytest.mark.parametrize(
    ("status", "told", "headers", "kind"),
    [
        (401, {"errcode": "M_UNKNOWN_TOKEN"}, {}, "SignedOut"),
        (403, {"errcode": "M_USER_DEACTIVATED"}, {}, "SignedOut"),
        (403, {"errcode": "M_FORBIDDEN", "error": "no"}, {}, "Refused"),
        (404, {"errcode": "M_NOT_FOUND"}, {}, "NotFound"),
        (404, {}, {}, "Unavailable"),
        (401, {}, {}, "Unavailable"),
        (500, {"errcode": "M_UNKNOWN"}, {}, "Unavailable"),
        (503, {}, {"Retry-After": "7"}, "Unavailable 7.0"),
        (429, {"errcode": "M_LIMIT_EXCEEDED"}, {"Retry-After": "3"}, "Unavailable 3.0"),
        (429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1}, {}, "Unavailable 0.001"),
        (429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": "x"}, {}, "Unavailable"),
        (503, {}, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}, "Unavailable"),
        (200, None, {}, "Unavailable"),
        (200, {}, {}, ""),
        (200, {"user_id": "@a:hs"}, {}, ""),
    ],
)
def test_what_an_answer_means(
    status: int, told: dict[str, object] | None, headers: dict[str, str], kind: str
) -> None:
    found = error_in_answer("Something", status, told, headers)
    after = getattr(found, "retry_after", None)
    assert f"{type(found).__name__ if found else ''} {after or ''}".strip() == kind
