"""Whatever goes wrong between the bot and GitHub: nothing is done twice, and everything is told as what it is."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from adapters.github.api import ApiAnswer, ApiRefused, Quota, error_for
from adapters.github.publishing import is_missing_branch, is_stale_push, transfer_error
from bot.core.errors import PortError, Refused, Unavailable
from tests.adapters.github.forge_stage import FAST, SLUG, Stage
from tests.beds.github import Faults

Break = Callable[[Faults, str, str], None]

BEFORE: dict[str, Break] = {
    "dropped": lambda faults, verb, path: faults.drop(verb, path),
    "502 before": lambda faults, verb, path: faults.answer(502, verb, path),
    "html": lambda faults, verb, path: faults.html(verb, path),
    "secondary limit": lambda faults, verb, path: faults.secondary_limit(3600, verb, path),
    "secondary limit as 429": lambda faults, verb, path: faults.secondary_limit(30, verb, path, status=429),
    "secondary limit without a time": lambda faults, verb, path: faults.secondary_limit(None, verb, path),
    "primary limit": lambda faults, verb, path: faults.primary_limit(int(time.time()) + 3000, verb, path),
}  # fmt: skip

"""Nothing was done."""

AFTER: dict[str, Break] = {
    "answer lost": lambda faults, verb, path: faults.lose_answer(verb, path),
    "502 after": lambda faults, verb, path: faults.answer(502, verb, path, after=True),
    "half an answer": lambda faults, verb, path: faults.half(verb, path),
    "broken json": lambda faults, verb, path: faults.broken_json(verb, path),
}

"""It was done, and nobody was told."""

LASTING: dict[str, Break] = {
    "401": lambda faults, verb, path: faults.unauthorized(verb, path),
    "403": lambda faults, verb, path: faults.forbid(verb, path),
}

T = TypeVar("T")


async def done_at_last(do: Callable[[], Awaitable[T]]) -> T:
    """As the engine does it: what is unavailable is tried again, once."""
    try:
        return await do()
    except Unavailable:
        return await do()


@pytest.mark.covers("B-OP-createPullRequest", "O-I2")
async def test_nothing_is_opened_or_merged_twice_whatever_is_lost(stage: Stage) -> None:
    forge = stage.github()
    for number, (name, break_it) in enumerate({**BEFORE, **AFTER}.items(), 1):
        stage.commit = stage.works({f"more{number}.py": "1\n"})
        break_it(stage.bed.faults, "POST", "*/pulls")
        pull = await done_at_last(lambda: stage.opened(forge))
        break_it(stage.bed.faults, "PUT", "*/merge")
        tried = await done_at_last(
            lambda at=pull.number, head=stage.commit: forge.merge(SLUG, at, head, "t")
        )
        assert tried.merged, name
        assert [one.state for one in stage.shop.pulls] == ["closed"] * number, name
        assert len(stage.shop.log("main")) == 1 + number, name


async def test_what_was_done_unheard_needs_no_second_try(stage: Stage) -> None:
    forge = stage.github()
    for number, (name, break_it) in enumerate(AFTER.items(), 1):
        stage.commit = stage.works({f"more{number}.py": "1\n"})
        stage.lies_there()
        break_it(stage.bed.faults, "POST", "*/pulls")
        pull = await forge.open(SLUG, stage.wanted(draft=True))
        break_it(stage.bed.faults, "POST", "/graphql")
        assert not (await forge.make_ready(SLUG, pull.number)).draft
        break_it(stage.bed.faults, "PUT", "*/merge")
        assert (await forge.merge(SLUG, pull.number, stage.commit, "t")).merged, name
        assert len(stage.bed.called("PUT")) == len(stage.shop.pulls) == number, name


async def test_reading_is_tried_again_where_no_limit_forbids_it(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    for name, break_it in {**BEFORE, **AFTER}.items():
        before = len(stage.bed.called("GET", "/check-runs"))
        break_it(stage.bed.faults, "GET", "*/check-runs")
        break_it(stage.bed.faults, "GET", "*/reviews")
        if "limit" in name:
            with pytest.raises(Unavailable) as limited:
                await forge.look(SLUG, pull.number)
            assert limited.value.retry_after, name
            assert len(stage.bed.called("GET", "/check-runs")) == before + 1, name
        else:
            assert (await forge.look(SLUG, pull.number)).number == pull.number, name
        stage.bed.faults.heal()


@pytest.mark.parametrize("name", LASTING)
async def test_what_a_person_must_change_is_refused_with_a_remedy(stage: Stage, name: str) -> None:
    forge = stage.github()
    stage.lies_there()
    LASTING[name](stage.bed.faults, "POST", "*/pulls")
    with pytest.raises(Refused) as refused:
        await forge.open(SLUG, stage.wanted())
    assert refused.value.remedy
    assert len(stage.bed.called("POST", "/pulls")) == 1
    LASTING[name](stage.bed.faults, "GET", "/repos/acme/shop")
    hosted = await forge.find(str(stage.top))
    assert hosted is not None
    assert hosted.problem
    assert hosted.remedy


@pytest.mark.covers("G-RULE-PR-3")
async def test_a_token_that_is_missing_a_right_is_told_which(stage: Stage) -> None:
    forge = stage.github()
    stage.lies_there()
    stage.bed.rights.give(pull_requests="read")
    with pytest.raises(Refused) as refused:
        await forge.open(SLUG, stage.wanted())
    assert "pull_requests:write" in refused.value.remedy


async def test_a_slow_answer_does_not_hold_anybody_up(stage: Stage) -> None:
    forge = stage.github(pace=replace(FAST, call=1, whole=0.2))
    stage.bed.faults.trickle(600, "GET", "/repos/acme/shop", times=None)
    with pytest.raises(Unavailable, match="too long"):
        await forge.find(str(stage.top))
    stage.bed.faults.heal()
    stage.bed.faults.hang("GET", "/repos/acme/shop", times=None)
    with pytest.raises(Unavailable):
        await forge.find(str(stage.top))


async def test_a_github_that_is_away_is_unavailable(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    await stage.bed.go_away()
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: forge.find(str(stage.top)),
        lambda: forge.open(SLUG, stage.wanted()),
        lambda: forge.look(SLUG, pull.number),
        lambda: forge.make_ready(SLUG, pull.number),
        lambda: forge.merge(SLUG, pull.number, stage.commit, "t"),
        lambda: forge.fetch(SLUG, "main"),
        lambda: forge.publish(str(stage.top), SLUG, "agent/login", stage.commit),
        lambda: forge.delete_remote_branch(SLUG, "agent/login", stage.commit),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            await call()
    await stage.bed.come_back()
    assert (await forge.look(SLUG, pull.number)).head == stage.commit


async def test_errors_hold_no_token(stage: Stage) -> None:
    forge = stage.github()
    await stage.bed.go_away()
    for call in (lambda: forge.find(str(stage.top)), lambda: forge.fetch(SLUG, "main")):
        with pytest.raises(PortError) as raised:
            await call()
        error: BaseException | None = raised.value
        while error is not None:
            assert stage.bed.token not in f"{error!r} {error}"
            error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    "name",
    ["config", "packed-refs", "shallow", "refs/heads/agent/login", "objects/info/alternates"],
)
async def test_a_pipe_where_the_mirror_reads_an_agents_repository_is_named(
    stage: Stage, name: str
) -> None:
    forge = stage.github()
    await forge.find(str(stage.top))
    pipe = stage.top / ".git" / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    async with asyncio.timeout(120):
        with pytest.raises(Refused, match=f"{name} is a pipe") as refused:
            await forge.publish(str(stage.top), SLUG, "agent/login", stage.commit)
    assert refused.value.remedy.endswith(f"rm {pipe}")


DATE = {"date": "Wed, 18 Nov 2026 12:00:00 GMT"}
NOON = 1795003200
DECLINED = "!\tx:refs/heads/agent/a\t[remote rejected] (pre-receive hook declined)\n"
NO_WORKFLOWS = "refusing to allow an OAuth App to create or update workflow `.github/workflows/ci.yml` without `workflow` scope"


def answered(status: int, message: str = "", **headers: str) -> ApiAnswer:
    known = {name.replace("_", "-"): value for name, value in headers.items()}
    return ApiAnswer(status, known, json.dumps({"message": message}))


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_trouble_of_githubs_own_passes(status: int) -> None:
    assert isinstance(error_for(answered(status), "look"), Unavailable)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 422, 451, 301, 307])
def test_what_somebody_has_to_change_does_not_pass(status: int) -> None:
    error = error_for(answered(status, "No"), "look")
    assert isinstance(error, ApiRefused)
    assert error.answer.status == status


@pytest.mark.parametrize(("answer", "seconds"), [
    (answered(403, "You have exceeded a secondary rate limit.", retry_after="30"), 30),
    (answered(429, "Too many", retry_after="7"), 7),
    (answered(403, "You have exceeded a secondary rate limit. Please wait"), 60),
    (answered(403, "API rate limit exceeded for user ID 1.", x_ratelimit_remaining="0", x_ratelimit_reset=str(NOON + 120), **DATE), 121),
    (answered(429, "", retry_after="soon"), 60),
    (answered(429, "", retry_after="999999"), 3600),
])  # fmt: skip
def test_limits_pass_when_github_says_so(answer: ApiAnswer, seconds: float) -> None:
    error = error_for(answer, "look")
    assert isinstance(error, Unavailable)
    assert error.retry_after == pytest.approx(seconds)


def test_a_missing_right_is_named() -> None:
    plain = answered(
        403,
        "Resource not accessible by integration",
        x_accepted_github_permissions="pull_requests=write",
    )
    error = error_for(plain, "open a pull request")
    assert "open a pull request" in error.reason
    assert "pull_requests:write" in error.remedy


def test_single_errors_are_told() -> None:
    body = json.dumps(
        {
            "message": "Validation Failed",
            "errors": [
                {"message": "No commits between main and agent/c"},
                {"field": "head", "code": "invalid"},
                "or a mere sentence",
                7,
            ],
        }
    )
    answer = ApiAnswer(422, {}, body)
    assert "No commits between main and agent/c; head invalid; or a mere" in answer.message
    assert answer.rejects_field("head")
    assert not answer.rejects_field("base")


@pytest.mark.parametrize("body", ["", "<html>", "[]", '"x"', "[" * 100_000, '{"errors": 1}'])
def test_whatever_comes_in_place_of_an_error_is_judged(body: str) -> None:
    assert isinstance(error_for(ApiAnswer(422, {}, body), "look"), Refused)


def told_by_git(line: str) -> str:
    return f"remote: something\nfatal: {line}\n"


@pytest.mark.parametrize("said", [
    told_by_git("unable to access 'http://h/': The requested URL returned error: 503"),
    told_by_git("unable to access 'http://h/': The requested URL returned error: 429"),
    told_by_git("unable to access 'http://h/': Could not resolve host: github.com"),
    told_by_git("unable to access 'http://h/': Failed to connect to h port 1"),
    told_by_git("the remote end hung up unexpectedly"),
    "error: RPC failed; curl 56 Recv failure: Connection reset by peer\nfatal: early EOF",
    "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502",
])  # fmt: skip
def test_git_that_reaches_nobody_is_tried_again(said: str) -> None:
    assert isinstance(transfer_error(said, "acme/shop", "push"), Unavailable)


@pytest.mark.parametrize(("said", "reason"), [
    (told_by_git("Authentication failed for 'http://h/acme/shop.git/'"), "token"),
    (told_by_git("could not read Username for 'http://h': terminal prompts disabled"), "token"),
    (told_by_git("unable to access 'h': The requested URL returned error: 401"), "token"),
    (told_by_git("unable to access 'h': The requested URL returned error: 403"), "may not"),
    (told_by_git("repository 'http://h/acme/shop.git/' not found"), "no repository acme/shop"),
    (f"remote: error: GH006: Protected branch update failed for x.\n{DECLINED}", "GH006: Protected branch update failed"),
    (DECLINED, "pre-receive hook declined"),
    (f"!\tx:y\t[remote rejected] ({NO_WORKFLOWS})\n", "workflows"),
    ("", "said nothing"),
])  # fmt: skip
def test_git_that_is_refused_says_why(said: str, reason: str) -> None:
    error: PortError = transfer_error(said, "acme/shop", "push the branch")
    assert isinstance(error, Refused)
    assert reason in error.reason


def test_a_branch_that_moved_or_is_gone_is_told_apart() -> None:
    assert is_stale_push("!\tx:y\t[rejected] (stale info)")
    assert is_missing_branch("error: unable to delete 'agent/a': remote ref does not exist")
    assert not is_missing_branch("fatal: repository does not exist")


def test_the_last_tenth_of_the_quota_is_kept() -> None:
    quota = Quota()
    quota.keep_reserve()
    told = {"x-ratelimit-limit": "100", "x-ratelimit-reset": str(NOON + 60), **DATE}
    quota.note({**told, "x-ratelimit-remaining": "10"})
    quota.keep_reserve()
    quota.note({**told, "x-ratelimit-remaining": "9"})
    with pytest.raises(Unavailable) as kept:
        quota.keep_reserve()
    assert kept.value.retry_after is not None
    assert 0 < kept.value.retry_after <= 61
    quota.note({**told, "x-ratelimit-remaining": "1", "x-ratelimit-resource": "graphql"})
    quota.note({**told, "x-ratelimit-remaining": "1", "x-ratelimit-reset": str(NOON - 60)})
    quota.note({**told, "x-ratelimit-remaining": "90"})
    quota.keep_reserve()
