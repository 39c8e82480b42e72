"""Check runs and statuses in answers."""

from __future__ import annotations

from tests.beds.github.checks import CheckRun, Status, combined, latest_statuses
from tests.beds.github.names import Json, stamp
from tests.beds.github.payloads.pulls import mentioned
from tests.beds.github.payloads.repositories import minimal, url_of
from tests.beds.github.payloads.users import app
from tests.beds.github.repositories import Repository
from tests.beds.github.world import World


def check_run(world: World, one: Repository, run: CheckRun) -> Json:
    url = f"{url_of(world, one)}/check-runs/{run.id}"
    page = f"{world.base}/{one.full_name}/actions/runs/{run.id}/job/{run.id}"
    on = [pull for pull in one.pulls.values() if pull.is_open and pull.head_sha == run.sha]
    return {
        "id": run.id,
        "node_id": f"CR_kwDOBed{run.id}",
        "external_id": "",
        "head_sha": run.sha,
        "name": run.name,
        "url": url,
        "html_url": page,
        "details_url": page,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": stamp(run.started_at),
        "completed_at": stamp(run.completed_at),
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": run.text,
            "annotations_count": len(run.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": suite_id(run)},
        "app": app(world, run.app),
        "pull_requests": [mentioned(world, one, pull) for pull in on],
    }


def suite_id(run: CheckRun) -> int:
    """All runs of an app on a commit make a suite."""
    return int(run.sha[:6], 16) * 100 + sum(run.app.encode()) % 100


def check_suite(world: World, one: Repository, runs: list[CheckRun]) -> Json:
    """The suite of these runs, which are all of one app on one commit."""
    first = runs[0]
    over = all(run.status == "completed" for run in runs) and first.sha not in one.between_jobs
    bad = [run.conclusion for run in runs if run.outcome == "bad"]
    url = f"{url_of(world, one)}/check-suites/{suite_id(first)}"
    return {
        "id": suite_id(first),
        "node_id": f"CS_kwDOBed{suite_id(first)}",
        "head_sha": first.sha,
        "head_branch": None,
        "status": "completed" if over else "in_progress",
        "conclusion": (bad[0] if bad else "success") if over else None,
        "url": url,
        "before": None,
        "after": first.sha,
        "pull_requests": [],
        "app": app(world, first.app),
        "created_at": stamp(first.started_at),
        "updated_at": stamp(first.started_at),
        "latest_check_runs_count": len(runs),
        "check_runs_url": f"{url}/check-runs",
    }


def combined_status(world: World, one: Repository, sha: str) -> Json:
    said = latest_statuses(one.statuses, sha)
    url = f"{url_of(world, one)}/commits/{sha}"
    return {
        "state": combined(said),
        "statuses": [_status(world, one, each) for each in said],
        "sha": sha,
        "total_count": len(said),
        "repository": minimal(world, one),
        "commit_url": url,
        "url": f"{url}/status",
    }


def _status(world: World, one: Repository, said: Status) -> Json:
    return {
        "id": said.id,
        "node_id": f"SC_kwDOBed{said.id}",
        "url": f"{url_of(world, one)}/statuses/{said.sha}",
        "avatar_url": f"{world.base}/avatars/{world.accounts.user(said.creator).id}",
        "state": said.state,
        "description": said.description,
        "target_url": said.target_url,
        "context": said.context,
        "created_at": stamp(said.created_at),
        "updated_at": stamp(said.created_at),
    }
