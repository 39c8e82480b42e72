"""What GitHub and git say when they do not do what was asked, and what the bot makes of it."""

from __future__ import annotations

import json

import pytest

from adapters.github.api import ApiAnswer, ApiRefused, Quota, error_for
from adapters.github.publishing import is_missing_branch, is_stale_push, transfer_error
from bot.core.errors import PortError, Refused, Unavailable

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


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (answered(403, "You have exceeded a secondary rate limit.", retry_after="30"), 30),
        (answered(429, "Too many", retry_after="7"), 7),
        (answered(403, "You have exceeded a secondary rate limit. Please wait"), 60),
        (
            answered(
                403,
                "API rate limit exceeded for user ID 1.",
                x_ratelimit_remaining="0",
                x_ratelimit_reset=str(NOON + 120),
                **DATE,
            ),
            121,
        ),
        (answered(429, "", retry_after="soon"), 60),
        (answered(429, "", retry_after="999999"), 3600),
    ],
)
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
    assert answer.blames("head")
    assert not answer.blames("base")


@pytest.mark.parametrize("body", ["", "<html>", "[]", '"x"', "[" * 100_000, '{"errors": 1}'])
def test_whatever_comes_in_place_of_an_error_is_judged(body: str) -> None:
    assert isinstance(error_for(ApiAnswer(422, {}, body), "look"), Refused)


def told_by_git(line: str) -> str:
    return f"remote: something\nfatal: {line}\n"


@pytest.mark.parametrize(
    "said",
    [
        told_by_git("unable to access 'http://h/': The requested URL returned error: 503"),
        told_by_git("unable to access 'http://h/': The requested URL returned error: 429"),
        told_by_git("unable to access 'http://h/': Could not resolve host: github.com"),
        told_by_git("unable to access 'http://h/': Failed to connect to h port 1"),
        told_by_git("the remote end hung up unexpectedly"),
        "error: RPC failed; curl 56 Recv failure: Connection reset by peer\nfatal: early EOF",
        "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502",
    ],
)
def test_git_that_reaches_nobody_is_tried_again(said: str) -> None:
    assert isinstance(transfer_error(said, "acme/shop", "push"), Unavailable)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (told_by_git("Authentication failed for 'http://h/acme/shop.git/'"), "token"),
        (told_by_git("could not read Username for 'http://h': terminal prompts disabled"), "token"),
        (told_by_git("unable to access 'h': The requested URL returned error: 401"), "token"),
        (told_by_git("unable to access 'h': The requested URL returned error: 403"), "may not"),
        (told_by_git("repository 'http://h/acme/shop.git/' not found"), "no repository acme/shop"),
        (
            f"remote: error: GH006: Protected branch update failed for x.\n{DECLINED}",
            "GH006: Protected branch update failed",
        ),
        (
            DECLINED,
            "pre-receive hook declined",
        ),
        (
            f"!\tx:y\t[remote rejected] ({NO_WORKFLOWS})\n",
            "workflows",
        ),
        ("", "said nothing"),
    ],
)
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
