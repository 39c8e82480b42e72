"""What robots said of a commit: check runs with their annotations and logs, statuses."""

from __future__ import annotations

from collections.abc import Iterable

from tests.beds.github.checks import CheckRun, latest_runs
from tests.beds.github.names import not_found, now
from tests.beds.github.payloads.checks import (
    check_run,
    check_suite,
    combined_status,
    suite_id,
)
from tests.beds.github.repositories import Repository
from tests.beds.github.rest.asking import Answer, Ask, Route

_REPO = "/repos/{owner}/{repo}"
_COMMIT = _REPO + "/commits/{ref}"
_RUN = _REPO + "/check-runs/{id}"
_JOB = _REPO + "/actions/jobs/{id}"


def routes() -> Iterable[Route]:
    return (
        Route("GET", _COMMIT + "/status", "statuses", read_combined),
        Route("GET", _COMMIT + "/check-runs", "checks", listed_runs),
        Route("GET", _COMMIT + "/check-suites", "checks", listed_suites, "any"),
        Route("GET", _RUN + "/annotations", "checks", listed_annotations, "any"),
        Route("GET", _JOB + "/logs", "actions", logs),
    )


def read_combined(ask: Ask) -> Answer:
    return Answer(combined_status(ask.world, ask.repository, ask.commit(ask.names["ref"])))


def listed_runs(ask: Ask) -> Answer:
    sha, query = ask.commit(ask.names["ref"]), ask.query
    _let_ci_work(ask.repository, sha)
    if query.get("filter") == "all":
        runs = [one for one in reversed(ask.repository.checks) if one.sha == sha]
    else:
        runs = latest_runs(ask.repository.checks, sha)
    found = [
        one
        for one in runs
        if query.get("check_name", one.name) == one.name
        and query.get("status", one.status) == one.status
    ]
    return _runs(ask, found)


def listed_suites(ask: Ask) -> Answer:
    suites = _suites(latest_runs(ask.repository.checks, ask.commit(ask.names["ref"])))
    items = [check_suite(ask.world, ask.repository, runs) for runs in suites.values()]
    return Answer(items=items, under="check_suites")


def listed_annotations(ask: Ask) -> Answer:
    run = _run(ask)
    page = f"{ask.world.base}/{ask.repository.full_name}/blob/{run.sha}"
    return Answer(items=[{**one, "blob_href": f"{page}/{one['path']}"} for one in run.annotations])


def logs(ask: Ask) -> Answer:
    """The log stands elsewhere, where no token is asked for."""
    run = _run(ask)
    if not run.log:
        raise not_found()
    place = f"{ask.world.base}/_logs/{ask.repository.full_name}/{run.id}?sig=bed"
    return Answer(status=302, text="", headers={"Location": place})


def _let_ci_work(repository: Repository, sha: str) -> None:
    if all(pull.head_sha != sha for pull in repository.pulls.values()):
        return
    for ci in repository.ci:
        look = ci.looked_at(sha)
        if look == ci.begins:
            made = (next(repository.ids), sha, ci.name, ci.app, "in_progress", None)
            repository.checks.append(CheckRun(*made))
        if look == ci.ends:
            run = [one for one in repository.checks if (one.sha, one.name) == (sha, ci.name)][-1]
            run.status, run.conclusion, run.completed_at = "completed", ci.finds(sha), now()


def _run(ask: Ask) -> CheckRun:
    found = next((one for one in ask.repository.checks if one.id == ask.id), None)
    if found is None:
        raise not_found()
    return found


def _runs(ask: Ask, runs: list[CheckRun]) -> Answer:
    items = [check_run(ask.world, ask.repository, one) for one in runs]
    return Answer(items=items, under="check_runs")


def _suites(runs: Iterable[CheckRun]) -> dict[int, list[CheckRun]]:
    found: dict[int, list[CheckRun]] = {}
    for one in runs:
        found.setdefault(suite_id(one), []).append(one)
    return found
