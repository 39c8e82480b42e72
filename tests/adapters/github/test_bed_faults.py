"""Everything that may go wrong between an app and the played GitHub, one kind at a time, as PyGithub meets it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

import github
import pytest
import requests

from tests.adapters.github.bed_stage import Stage, message
from tests.beds.github import Faults

GONE = requests.exceptions.ConnectionError


async def test_a_request_that_is_dropped_was_not_done(github_stage: Stage) -> None:
    github_stage.bed.faults.drop("POST", "*/pulls")
    with pytest.raises(GONE):
        await github_stage.open()
    assert github_stage.shop.pulls == []
    await github_stage.open()


async def test_a_request_whose_answer_is_lost_was_done(github_stage: Stage) -> None:
    github_stage.bed.faults.lose_answer("POST", "*/pulls")
    with pytest.raises(GONE):
        await github_stage.open()
    assert [one.head for one in github_stage.shop.pulls] == ["agent/a"]
    with pytest.raises(github.GithubException, match="already exists"):
        await github_stage.open()


async def test_a_merge_whose_answer_is_lost_was_done(github_stage: Stage) -> None:
    await github_stage.open()
    github_stage.bed.faults.lose_answer("PUT", "*/merge")
    with pytest.raises(GONE):
        await github_stage.ask(lambda repo: repo.get_pull(1).merge())
    assert (await github_stage.ask(lambda repo: repo.get_pull(1))).merged


@pytest.mark.parametrize(("after", "made"), [(False, 0), (True, 1)])
async def test_a_server_fails_before_or_after_the_work(
    github_stage: Stage, *, after: bool, made: int
) -> None:
    github_stage.bed.faults.answer(502, "POST", "*/pulls", after=after)
    with pytest.raises(github.GithubException) as failed:
        await github_stage.open()
    assert (failed.value.status, len(github_stage.shop.pulls)) == (502, made)


Order = Callable[[Faults], None]
REFUSALS: dict[str, tuple[Order, int, type[github.GithubException]]] = {
    "401": (lambda faults: faults.unauthorized(), 401, github.BadCredentialsException),
    "403": (lambda faults: faults.forbid(), 403, github.GithubException),
    "secondary": (
        lambda faults: faults.secondary_limit(7),
        403,
        github.RateLimitExceededException,
    ),
    "primary": (
        lambda faults: faults.primary_limit(int(time.time()) + 99),
        403,
        github.RateLimitExceededException,
    ),
    "429": (
        lambda faults: faults.secondary_limit(7, status=429),
        429,
        github.GithubException,
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_request_is_refused_once(github_stage: Stage, name: str) -> None:
    order, status, kind = REFUSALS[name]
    order(github_stage.bed.faults)
    with pytest.raises(kind) as refused:
        await github_stage.ask(lambda repo: repo.full_name)
    assert refused.value.status == status
    headers = {key.lower(): value for key, value in (refused.value.headers or {}).items()}
    assert headers.get("retry-after") == ("7" if name in ("secondary", "429") else None)
    if name == "primary":
        assert headers["x-ratelimit-remaining"] == "0"
        assert int(headers["x-ratelimit-reset"]) > time.time()
    if name == "403":
        assert message(refused.value) == "Resource not accessible by integration"
    assert await github_stage.ask(lambda repo: repo.full_name) == "acme/shop"


async def test_the_library_tries_again_after_a_secondary_limit(github_stage: Stage) -> None:
    github_stage.bed.faults.secondary_limit(0)

    def name() -> str:
        with github_stage.client(retry=github.GithubRetry(total=3)) as client:
            return client.get_repo("acme/shop").full_name

    assert await asyncio.to_thread(name) == "acme/shop"
    assert len(github_stage.bed.calls) == 2


async def test_an_answer_can_break_off(github_stage: Stage) -> None:
    github_stage.bed.faults.half("GET", "/repos/acme/shop")
    with pytest.raises(requests.exceptions.RequestException):
        await github_stage.ask(lambda repo: repo.full_name)


async def test_something_in_between_can_answer_with_a_page(github_stage: Stage) -> None:
    github_stage.shop.people.open_pull("agent/a")
    github_stage.bed.faults.html("GET", "*/pulls/1")
    title = await github_stage.ask(lambda repo: repo.get_pull(1).title)
    assert title is None, "the library takes a page for an object that has nothing"
    github_stage.bed.faults.html("GET", "*/pulls")
    with pytest.raises(TypeError):
        await github_stage.ask(lambda repo: list(repo.get_pulls()))


async def test_an_answer_can_be_no_json(github_stage: Stage) -> None:
    github_stage.bed.faults.broken_json()
    with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
        await github_stage.ask(lambda repo: repo.full_name)


async def test_an_answer_can_come_in_little_pieces(github_stage: Stage) -> None:
    github_stage.bed.faults.trickle(0.2)
    assert await github_stage.ask(lambda repo: repo.full_name) == "acme/shop"


@pytest.mark.parametrize("name", ["slow", "hang"])
async def test_an_answer_can_stay_away_too_long(github_stage: Stage, name: str) -> None:
    if name == "slow":
        github_stage.bed.faults.slow(60)
    else:
        github_stage.bed.faults.hang()

    def read() -> str:
        with github_stage.client(timeout=1) as client:
            return client.get_repo("acme/shop").full_name

    with pytest.raises(requests.exceptions.ReadTimeout):
        await asyncio.to_thread(read)


async def test_an_order_is_for_some_requests_only_and_heals(github_stage: Stage) -> None:
    faults = github_stage.bed.faults
    faults.answer(503, "GET", "*/pulls*", times=2)
    assert await github_stage.ask(lambda repo: repo.full_name) == "acme/shop"
    for _ in range(2):
        with pytest.raises(github.GithubException, match="503"):
            await github_stage.ask(lambda repo: list(repo.get_pulls()))
    assert await github_stage.ask(lambda repo: list(repo.get_pulls())) == []
    faults.answer(503, times=None)
    faults.heal()
    assert await github_stage.ask(lambda repo: repo.full_name) == "acme/shop"


async def test_the_server_can_go_away_and_come_back_where_it_was(github_stage: Stage) -> None:
    url = github_stage.bed.url
    await github_stage.bed.go_away()
    with pytest.raises(GONE):
        await github_stage.ask(lambda repo: repo.full_name)
    await github_stage.bed.come_back()
    assert github_stage.bed.url == url
    assert await github_stage.ask(lambda repo: repo.full_name) == "acme/shop"
