"""Who asks the played GitHub, and how often: tokens and their rights, the quota, conditions, and what is never allowed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import aiohttp
import github
import pytest
from github.Repository import Repository

from tests.adapters.github.bed_stage import Stage, message
from tests.beds.github import GithubBed
from tests.beds.github.rest.asking import Answer, Ask, Route

CALLS: dict[str, tuple[Callable[[Repository], object], str]] = {
    "open": (
        lambda repo: repo.create_pull(title="x", head="agent/a", base="main"),
        "pull_requests",
    ),
    "merge": (lambda repo: repo.get_pull(1).merge(), "contents"),
    "delete": (lambda repo: repo.get_git_ref("heads/agent/a").delete(), "contents"),
    "read checks": (lambda repo: list(repo.get_commit("main").get_check_runs()), "checks"),
    "read statuses": (lambda repo: repo.get_commit("main").get_combined_status(), "statuses"),
    "comment": (lambda repo: repo.get_pull(1).create_issue_comment("x"), "pull_requests"),
}


@pytest.mark.parametrize("name", CALLS)
async def test_a_right_that_is_missing_is_told(github_stage: Stage, name: str) -> None:
    call, right = CALLS[name]
    github_stage.shop.people.open_pull("agent/a")
    level = "none" if name.startswith("read") else "read"
    github_stage.bed.rights.give(**{right: level})
    error = await github_stage.refused(call)
    assert (error.status, message(error)) == (
        403,
        "Resource not accessible by personal access token",
    )


async def test_the_token_of_an_app_is_an_integration(github_stage: Stage) -> None:
    github_stage.bed.another_token("ghs_16charsAndMoreOfThem", pull_requests="read")
    with pytest.raises(github.GithubException, match="not accessible by integration"):
        await github_stage.ask(
            lambda repo: repo.create_pull(title="x", head="agent/a", base="main"),
            token="ghs_16charsAndMoreOfThem",  # noqa: S106
        )


async def test_a_draft_is_made_ready_only_with_the_right_to(github_stage: Stage) -> None:
    await github_stage.open(draft=True)
    github_stage.bed.rights.give(pull_requests="read")
    error = await github_stage.refused(lambda repo: repo.get_pull(1).mark_ready_for_review())
    assert "not accessible" in str(error)
    assert github_stage.shop.pull(1).draft


async def test_a_token_that_is_unknown_or_expired_is_refused(github_stage: Stage) -> None:
    with pytest.raises(github.BadCredentialsException):
        await github_stage.ask(lambda repo: repo.full_name, token="wrong")  # noqa: S106
    github_stage.bed.rights.expire()
    with pytest.raises(github.BadCredentialsException):
        await github_stage.ask(lambda repo: repo.full_name)
    assert await github_stage.ask(lambda r: r.full_name, github_stage.bed.renew_token())


async def test_a_token_for_other_repositories_sees_none(github_stage: Stage) -> None:
    github_stage.bed.rights.repositories = frozenset({"acme/other"})
    with pytest.raises(github.UnknownObjectException):
        await github_stage.ask(lambda repo: repo.full_name)


async def test_a_token_knows_whose_it_is_and_what_it_may(github_stage: Stage) -> None:
    def read(repo: Repository) -> tuple[bool, str]:
        with github_stage.client() as client:
            return repo.permissions.push, client.get_user().login

    assert await github_stage.ask(read) == (True, "gwt-bot")


async def test_the_quota_is_counted_and_then_used_up(github_stage: Stage) -> None:
    quota = github_stage.bed.quota

    def left(repo: Repository) -> int:
        return repo.requester.rate_limiting[0]

    first = await github_stage.ask(left)
    assert await github_stage.ask(left) == first - 1
    quota.used = quota.limit
    with pytest.raises(github.RateLimitExceededException, match="API rate limit exceeded"):
        await github_stage.ask(left)
    with github_stage.client() as client:
        core = (await asyncio.to_thread(client.get_rate_limit)).rate
    assert (core.remaining, core.limit) == (0, quota.limit)


async def asked(stage: Stage, path: str, **headers: str) -> tuple[int, Mapping[str, str]]:
    """A request without PyGithub."""
    shown = {"Authorization": f"Bearer {stage.bed.token}", "User-Agent": "test"}
    async with (
        aiohttp.ClientSession() as session,
        session.get(stage.bed.url + path, headers=shown | headers) as answer,
    ):
        await answer.read()
        return answer.status, answer.headers


async def test_what_has_not_changed_is_free(github_stage: Stage) -> None:
    await github_stage.open()
    path = "/repos/acme/shop/pulls"
    status, headers = await asked(github_stage, path)
    assert status == 200
    used = github_stage.bed.quota.used
    status, again = await asked(github_stage, path, **{"If-None-Match": headers["ETag"]})
    assert (status, github_stage.bed.quota.used) == (304, used)
    assert again["X-RateLimit-Used"] == str(used)
    assert github_stage.bed.calls[-1].conditional
    github_stage.shop.people.edit(1, title="Another")
    status, _ = await asked(github_stage, path, **{"If-None-Match": headers["ETag"]})
    assert (status, github_stage.bed.quota.used) == (200, used + 1)


async def test_pages_are_linked(github_stage: Stage) -> None:
    for count in range(3):
        github_stage.shop.people.open_pull("agent/a", title=f"Number {count}")
    _, headers = await asked(github_stage, "/repos/acme/shop/pulls?state=all&per_page=1&page=2")
    address = f"{github_stage.bed.url}/repos/acme/shop/pulls?state=all&per_page=1&page="
    assert headers["Link"] == (
        f'<{address}1>; rel="prev", <{address}1>; rel="first", '
        f'<{address}3>; rel="next", <{address}3>; rel="last"'
    )


async def test_requests_are_on_record(github_stage: Stage) -> None:
    await github_stage.open()
    call = github_stage.bed.called("POST", "/pulls")[0]
    assert (call.login, call.status, call.body["head"]) == ("gwt-bot", 201, "agent/a")
    assert call.user_agent.startswith("PyGithub")
    assert github_stage.bed.token not in repr(github_stage.bed.calls)


async def test_a_request_that_is_not_allowed_fails_the_test(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        stage.shop.people.push("agent/a", {"calc.py": "\n"})
        stage.bed.allow(("GET", "*"), ("POST", "/repos/*/pulls"))
        await stage.open()
        error = await stage.refused(CALLS["delete"][0])
        assert error.status == 403
        assert "agent/a" in stage.shop.branches

    with pytest.raises(AssertionError, match="DELETE /repos/acme/shop/git/refs/heads/agent/a is"):
        await in_a_bed(tmp_path, work)


async def test_a_token_in_an_address_fails_the_test(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await asked(stage, f"/user?access_token={stage.bed.token}")

    with pytest.raises(AssertionError, match="the token stands in the address"):
        await in_a_bed(tmp_path, work)


async def test_an_answer_github_would_not_give_fails_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(ask: Ask) -> Answer:
        return Answer({"resources": {}, "rate": {"limit": str(ask.world.quota.limit)}})

    async def work(stage: Stage) -> None:
        route = Route("GET", "/rate_limit", "", wrong)
        monkeypatch.setattr(stage.bed.api, "_routes", (route,))
        await asked(stage, "/rate_limit")

    with pytest.raises(AssertionError, match="/rate/limit: '5000' is not of type 'integer'"):
        await in_a_bed(tmp_path, work)


async def in_a_bed(folder: Path, work: Callable[[Stage], Awaitable[None]]) -> None:
    """Do something with a GitHub that looks at its end whether all was well."""
    async with GithubBed(folder / "hub") as bed:
        await work(Stage(bed, bed.repository("acme/shop"), folder))


async def test_a_request_github_would_not_understand_is_refused(github_stage: Stage) -> None:
    error = await github_stage.refused(
        lambda repo: repo.requester.requestJsonAndCheck(
            "POST", f"{repo.url}/pulls", input={"title": "x", "base": "main"}
        )
    )
    assert (error.status, message(error)) == (422, 'Invalid request.\n\n"head" wasn\'t supplied.')


async def test_rules_of_a_branch_are_for_administrators(github_stage: Stage) -> None:
    error = await github_stage.refused(lambda repo: repo.get_branch("main").get_protection())
    assert error.status == 403
    github_stage.bed.rights.give(administration="read")
    error = await github_stage.refused(lambda repo: repo.get_branch("main").get_protection())
    assert (error.status, message(error)) == (404, "Branch not protected")


async def test_a_quota_begins_anew_at_a_second_to_come(github_stage: Stage) -> None:
    _, headers = await asked(github_stage, "/user")
    assert int(headers["X-RateLimit-Reset"]) > time.time()
