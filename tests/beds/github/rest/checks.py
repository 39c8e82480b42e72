"""What robots said of a commit: check runs with their annotations and logs, statuses."""

from __future__ import annotations

from collections.abc import Iterable

from tests.beds.github.checks import CheckRun, Status, latest_runs
from tests.beds.github.names import Json, not_found, now, stamp
from tests.beds.github.payloads.checks import (
    check_run,
    check_suite,
    combined_status,
    status,
    suite_id,
)
from tests.beds.github.payloads.repositories import url_of
from tests.beds.github.repositories import Repository
from tests.beds.github.rest.asking import Answer, Ask, Route

_REPO = "/repos/{owner}/{repo}"
_COMMIT = _REPO + "/commits/{ref}"
_RUN = _REPO + "/check-runs/{id}"
_JOB = _REPO + "/actions/jobs/{id}"


def routes() -> Iterable[Route]:
    return (
        Route("GET", _COMMIT + "/status", "statuses", read_combined),
        Route("GET", _COMMIT + "/statuses", "statuses", listed_statuses, "[]status"),
        Route("GET", _REPO + "/statuses/{ref}", "statuses", listed_statuses, "[]status"),
        Route("POST", _REPO + "/statuses/{sha}", "statuses", create_status),
        Route("GET", _COMMIT + "/check-runs", "checks", listed_runs),
        Route("GET", _COMMIT + "/check-suites", "checks", listed_suites, "any"),
        Route("GET", _RUN + "/annotations", "checks", listed_annotations, "any"),
        Route("GET", _RUN, "checks", read_run, "check-run"),
        Route("GET", _REPO + "/check-suites/{id}/check-runs", "checks", runs_of_suite, "any"),
        Route("GET", _JOB + "/logs", "actions", logs),
        Route("GET", _JOB, "actions", read_job, "any"),
    )


def read_combined(ask: Ask) -> Answer:
    return Answer(combined_status(ask.world, ask.repository, ask.commit(ask.names["ref"])))


def listed_statuses(ask: Ask) -> Answer:
    sha = ask.commit(ask.names["ref"])
    found = [one for one in reversed(ask.repository.statuses) if one.sha == sha]
    return Answer(items=[status(ask.world, ask.repository, one) for one in found])


def create_status(ask: Ask) -> Answer:
    body, sha = ask.body, ask.commit(ask.names["sha"])
    made = Status(
        next(ask.repository.ids),
        sha,
        str(body.get("context") or "default"),
        str(body["state"]),
        ask.token.login,
        body.get("description"),
        body.get("target_url"),
    )
    ask.repository.statuses.append(made)
    return Answer(status(ask.world, ask.repository, made), 201)


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


def runs_of_suite(ask: Ask) -> Answer:
    found = _suites(ask.repository.checks).get(ask.id)
    if found is None:
        raise not_found()
    return _runs(ask, found)


def read_run(ask: Ask) -> Answer:
    return Answer(check_run(ask.world, ask.repository, _run(ask)))


def listed_annotations(ask: Ask) -> Answer:
    run = _run(ask)
    page = f"{ask.world.base}/{ask.repository.full_name}/blob/{run.sha}"
    return Answer(items=[{**one, "blob_href": f"{page}/{one['path']}"} for one in run.annotations])


def read_job(ask: Ask) -> Answer:
    run, url = _run(ask), url_of(ask.world, ask.repository)
    found: Json = {
        "id": run.id,
        "run_id": run.id,
        "name": run.name,
        "head_sha": run.sha,
        "status": run.status,
        "conclusion": run.conclusion,
        "url": f"{url}/actions/jobs/{run.id}",
        "run_url": f"{url}/actions/runs/{run.id}",
        "check_run_url": f"{url}/check-runs/{run.id}",
        "html_url": f"{ask.world.base}/{ask.repository.full_name}/actions/runs/{run.id}",
        "started_at": stamp(run.started_at),
        "completed_at": stamp(run.completed_at),
        "steps": [],
    }
    return Answer(found)


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
