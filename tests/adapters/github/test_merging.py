"""Nothing is merged before its checks have passed: also where none has appeared yet, or where the token sees only some of them."""

from __future__ import annotations

import pytest

from adapters.github.client import PullData
from adapters.github.merging import matches_patterns, workflow_runs_for
from bot.core.forge import ChecksWanted, CiState, MergeTried, Obstacle
from tests.adapters.github.forge_stage import BRANCH, SLUG, Stage
from tests.beds.github import Protection

WORKFLOW = ".github/workflows/ci.yml"
CI = "on: [push, pull_request]\njobs: {}\n"


async def tried(stage: Stage, checks: ChecksWanted | None = None) -> MergeTried:
    forge, pull = await stage.with_pull()
    return await forge.merge(SLUG, pull.number, stage.commit, "t", checks or ChecksWanted())


async def test_where_nothing_says_that_there_are_checks_none_are_waited_for(stage: Stage) -> None:
    stage.shop.people.push("main", {WORKFLOW: "on: schedule\n", ".github/CODEOWNERS": ""})
    assert (await tried(stage)).merged


async def test_a_workflow_of_the_head_or_of_the_base_is_waited_for(stage: Stage) -> None:
    stage.shop.people.push("main", {WORKFLOW: CI})
    told = await tried(stage)
    assert (told.obstacle, WORKFLOW in told.reason) == (Obstacle.CHECKS_MISSING, True)
    stage.shop.people.push("main", {WORKFLOW: None})
    stage.commit = stage.works({WORKFLOW: CI})
    assert (await tried(stage)).obstacle is Obstacle.CHECKS_MISSING
    assert stage.bed.called("PUT", "/merge") == []


async def test_a_workflow_that_is_switched_off_is_not_waited_for(stage: Stage) -> None:
    stage.shop.people.push("main", {WORKFLOW: CI})
    stage.shop.switch_workflows_off()
    assert (await tried(stage)).merged


async def test_what_earlier_pull_requests_had_is_waited_for(stage: Stage) -> None:
    earlier = stage.shop.people.push("theirs", {"theirs.py": ""})
    number = stage.shop.people.open_pull("theirs").number
    stage.shop.robots.status(earlier, "jenkins", "success")
    stage.shop.people.merge(number)
    told = await tried(stage)
    assert (told.obstacle, f"#{number}" in told.reason) == (Obstacle.CHECKS_MISSING, True)


async def test_what_the_base_alone_has_counts_only_before_there_was_a_pull_request(
    stage: Stage,
) -> None:
    stage.shop.robots.check("main", "pages", "success")
    assert (await tried(stage)).obstacle is Obstacle.CHECKS_MISSING
    stage.shop.people.push("theirs", {"theirs.py": ""})
    stage.shop.people.merge(stage.shop.people.open_pull("theirs").number)
    assert (await tried(stage)).merged


@pytest.mark.parametrize("refusal", [405, 422])
async def test_a_required_check_is_waited_for_whoever_requires_it(
    stage: Stage, refusal: int
) -> None:
    stage.shop.habits.refusal = refusal
    stage.shop.protect("main", Protection(checks=("unit",)))
    stage.shop.require("deploy")
    robots = stage.shop.robots
    assert "deploy, unit" in (await tried(stage)).reason
    robots.check(BRANCH, "unit", "success")
    assert (await tried(stage)).obstacle is Obstacle.CHECKS_MISSING
    run = robots.check(BRANCH, "deploy")
    assert (await tried(stage)).obstacle is Obstacle.CHECKS
    robots.finish(run, "success")
    assert (await tried(stage)).merged


async def test_what_github_refuses_over_a_required_check_waits_for_that_check(stage: Stage) -> None:
    """Who does not wait for what has not appeared cannot merge without what the base requires."""
    stage.shop.habits.refusal = 422
    stage.shop.protect("main", Protection(checks=("unit",)))
    told = await tried(stage, ChecksWanted(anyway=True))
    assert told.obstacle is Obstacle.CHECKS_MISSING
    assert told.reason == 'Required status check "unit" is expected.'


async def test_between_two_jobs_of_a_workflow_it_has_not_passed(stage: Stage) -> None:
    """The run of a job that needs another one appears when that has ended."""
    forge, pull = await stage.with_pull()
    stage.shop.robots.check(BRANCH, "build", "success")
    stage.shop.robots.next_job_comes(BRANCH)
    assert (await forge.look(SLUG, pull.number)).ci is CiState.PENDING
    assert (await tried(stage)).obstacle is Obstacle.CHECKS
    stage.shop.robots.check(BRANCH, "test", "success")
    assert (await tried(stage)).merged


async def test_a_token_that_may_not_read_checks_merges_nothing_that_may_have_some(
    stage: Stage,
) -> None:
    stage.shop.people.push("main", {WORKFLOW: CI})
    stage.bed.rights.give(checks="none")
    told = await tried(stage)
    assert (told.obstacle, "checks:read" in told.reason) == (Obstacle.CHECKS_MISSING, True)
    assert (await tried(stage, ChecksWanted(anyway=True))).merged


async def test_what_github_calls_unstable_is_not_merged_though_nothing_can_be_read(
    stage: Stage,
) -> None:
    stage.bed.rights.give(checks="none", statuses="none")
    forge = stage.github()
    await stage.opened(forge)
    stage.shop.robots.check(BRANCH, "unit", "failure")
    assert (await tried(stage)).obstacle is Obstacle.CHECKS_MISSING


PULL = PullData.model_validate(
    {
        "number": 7,
        "node_id": "n",
        "html_url": "",
        "state": "open",
        "title": "t",
        "head": {"ref": "agent/login", "sha": "1"},
        "base": {"ref": "release/2", "sha": "2"},
    }
)


@pytest.mark.parametrize(("on", "runs"), [
    ("on: push", True),
    ("on: [release, pull_request]", True),
    ("on:\n  pull_request_target:\n", True),
    ("'on':\n  push: {branches: [main, 'agent/*']}", True),
    ("true:\n- push", True),
    ("on:\n  push:\n    branches: [main]\n  workflow_dispatch:\n", False),
    ("on:\n  push:\n    branches-ignore:\n    - 'agent/**'\n", False),
    ("on:\n  push:\n    tags: ['v*']\n", False),
    ("on: {push: {tags: ['v*'], branches: ['**']}}", True),
    ("on:\n  pull_request:\n    branches: ['release/**', '!release/2']\n", False),
    ("on:\n  pull_request:\n    branches: 'release/[0-9]'\n", True),
    ("on:\n  pull_request:\n    types: [closed, labeled]\n", False),
    ("on:\n  pull_request:\n    types: [opened]\n", True),
    ("on:\n  pull_request:\n    paths: ['docs/**']\n", False),
    ("on:\n  pull_request:\n    paths: ['src/**', '!**/*.md']\n", True),
    ("on:\n  push:\n    paths-ignore: ['src/**', '**.md']\n", False),
    ("on: {schedule: [{cron: '1 1 * * *'}], workflow_call: }", False),
    ("# no on at all\njobs: {}", True),
    ("on: *alias", True),
    ("on: " + "[" * 5000, True),
    ("on:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 1000)), True),
    ("", True),
])  # fmt: skip
def test_a_workflow_runs_for_what_its_events_fit_and_where_that_cannot_be_read(
    on: str, *, runs: bool
) -> None:
    assert (
        workflow_runs_for(f"name: CI\n{on}\njobs: {{}}\n", PULL, ["src/a.py", "README.md"]) is runs
    )
    assert workflow_runs_for("on: {push: {paths: [docs/*]}}", PULL, None), "its files are not known"


@pytest.mark.parametrize(("pattern", "fits", "not_"), [
    ("*", "main", "a/b"),
    ("**", "a/b", ""),
    ("**/docs/**", "docs/a.md", "docs.md"),
    ("v[12].[0-9]+", "v1.10", "v3.1"),
    ("*.jsx?", "page.js", "page.jsxx"),
    ("a.b", "a.b", "aXb"),
])  # fmt: skip
def test_patterns_are_read_as_github_reads_them(pattern: str, fits: str, not_: str) -> None:
    assert matches_patterns([pattern], fits)
    assert not (not_ and matches_patterns([pattern], not_))
