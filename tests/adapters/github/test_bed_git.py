"""Git over HTTP on the played GitHub is git: pushed and fetched by git itself, and refused as GitHub refuses it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.adapters.github.bed_stage import TIMEOUT, Stage
from tests.beds.github import TOKEN, Protection

PLENTY = "".join(f"line {count} of a file that is long enough\n" for count in range(5_000))


@pytest.fixture
async def clone(github_stage: Stage) -> Path:
    """A clone with a commit on `agent/new` that is not pushed."""
    place = await github_stage.clone()
    (place / "new.py").write_text(PLENTY, encoding="utf-8")
    for command in (("switch", "-qc", "agent/new"), ("add", "."), ("commit", "-qm", "Add new")):
        done = await github_stage.git(*command, cwd=place)
        assert done.code == 0, done.text
    return place


def pushed(stage: Stage) -> bool:
    return "agent/new" in stage.shop.branches


async def test_what_is_pushed_can_be_proposed_and_fetched(github_stage: Stage, clone: Path) -> None:
    done = await github_stage.git("push", "-q", "-u", "origin", "agent/new", cwd=clone)
    assert done.code == 0, done.text
    head = (await github_stage.git("rev-parse", "HEAD", cwd=clone)).text.strip()
    pull = await github_stage.open("agent/new")
    assert pull.head.sha == head == github_stage.shop.tip("agent/new")
    github_stage.shop.people.push("agent/new", {"new.py": "short\n"})
    assert (await github_stage.git("pull", "-q", cwd=clone)).code == 0
    assert (clone / "new.py").read_text(encoding="utf-8") == "short\n"
    transfers = [one.what for one in github_stage.bed.git_calls if one.step == "transfer"]
    assert [what for what, _ in itertools.groupby(transfers)] == ["fetch", "push", "fetch"]


async def test_a_seed_brings_its_branches(github_stage: Stage, clone: Path) -> None:
    store = github_stage.bed.repository("acme/store", clone)
    assert store.read("agent/new", "new.py") + "\n" == PLENTY
    listed = await github_stage.git("ls-remote", "--heads", store.clone_url)
    assert "refs/heads/agent/new" in listed.text


async def test_without_a_token_git_is_asked_for_one(github_stage: Stage) -> None:
    done = await github_stage.git("ls-remote", github_stage.shop.clone_url, token="")
    assert done.code != 0
    assert "could not read Username" in done.text
    done = await github_stage.git("ls-remote", github_stage.shop.clone_url, token="wrong")  # noqa: S106
    assert "Authentication failed" in done.text or "could not read Username" in done.text
    github_stage.shop.make_public()
    assert (await github_stage.git("ls-remote", github_stage.shop.clone_url, token="")).code == 0


async def test_an_expired_token_is_refused(github_stage: Stage, clone: Path) -> None:
    github_stage.bed.rights.expire()
    done = await github_stage.git("push", "origin", "agent/new", cwd=clone)
    assert done.code != 0
    assert github_stage.bed.git_calls[-1].status == 401
    new = github_stage.bed.renew_token()
    assert new != TOKEN
    assert (await github_stage.git("push", "origin", "agent/new", cwd=clone)).code == 0


async def test_who_may_not_write_may_not_push(github_stage: Stage, clone: Path) -> None:
    github_stage.bed.rights.give(contents="read")
    done = await github_stage.git("push", "origin", "agent/new", cwd=clone)
    assert "Permission to acme/shop.git denied to gwt-bot." in done.text
    assert "403" in done.text
    assert (await github_stage.git("fetch", cwd=clone)).code == 0


async def test_a_repository_nobody_has_is_not_found(github_stage: Stage) -> None:
    url = github_stage.shop.clone_url.replace("shop", "none")
    done = await github_stage.git("ls-remote", url)
    assert "not found" in done.text


async def test_nobody_pushes_to_a_protected_branch(github_stage: Stage, clone: Path) -> None:
    github_stage.shop.protect("main", Protection())
    done = await github_stage.git("push", "origin", "HEAD:main", cwd=clone)
    assert done.code != 0
    assert "GH006: Protected branch update failed for refs/heads/main." in done.text
    assert "[remote rejected]" in done.text
    branch = await github_stage.ask(lambda repo: repo.get_branch("main"))
    assert branch.protected
    github_stage.shop.protect("main", None)
    assert (await github_stage.git("push", "origin", "HEAD:main", cwd=clone)).code == 0


async def test_a_rule_refuses_pushes_with_its_own_words(github_stage: Stage, clone: Path) -> None:
    github_stage.shop.refuse_pushes("agent/*", "error: GH013: Repository rule violations found")
    done = await github_stage.git("push", "origin", "agent/new", cwd=clone)
    assert "GH013: Repository rule violations found" in done.text
    assert not pushed(github_stage)
    github_stage.shop.refuse_pushes("", "")
    assert (await github_stage.git("push", "origin", "agent/new", cwd=clone)).code == 0


async def test_workflows_are_pushed_only_with_the_right_to(
    github_stage: Stage, clone: Path
) -> None:
    (clone / ".github" / "workflows").mkdir(parents=True)
    (clone / ".github" / "workflows" / "ci.yml").write_text("on: push\n", encoding="utf-8")
    await github_stage.git("add", ".", cwd=clone)
    await github_stage.git("commit", "-qm", "Add CI", cwd=clone)
    done = await github_stage.git("push", "origin", "agent/new", cwd=clone)
    assert "without `workflow` scope" in done.text
    assert not pushed(github_stage)
    github_stage.bed.rights.give(workflows="write")
    assert (await github_stage.git("push", "origin", "agent/new", cwd=clone)).code == 0


async def test_a_branch_that_has_moved_on_is_not_overwritten(
    github_stage: Stage, clone: Path
) -> None:
    github_stage.shop.people.push("agent/new", {"theirs.py": "\n"})
    done = await github_stage.git("push", "origin", "agent/new", cwd=clone)
    assert "[rejected]" in done.text
    assert github_stage.shop.log("agent/new")[0] == "Change it"


async def test_a_pull_request_can_be_fetched_without_its_branch(github_stage: Stage) -> None:
    await github_stage.open()
    clone = await github_stage.clone()
    tip = github_stage.shop.tip("agent/a")
    github_stage.shop.people.delete_branch("agent/a")
    done = await github_stage.git("fetch", "-q", "origin", "pull/1/head", cwd=clone)
    assert done.code == 0, done.text
    assert (await github_stage.git("rev-parse", "FETCH_HEAD", cwd=clone)).text.strip() == tip


@pytest.mark.parametrize("status", [401, 403, 500, 502, 503])
async def test_a_push_can_be_answered_with_a_status(
    github_stage: Stage, clone: Path, status: int
) -> None:
    github_stage.bed.git_faults.answer(status, "push", None)
    done = await github_stage.git("push", "origin", "agent/new", cwd=clone)
    assert done.code != 0
    assert not pushed(github_stage)
    github_stage.bed.git_faults.heal()
    assert (await github_stage.git("push", "origin", "agent/new", cwd=clone)).code == 0


async def test_a_push_that_breaks_off_has_pushed_nothing(github_stage: Stage, clone: Path) -> None:
    github_stage.bed.git_faults.cut()
    done = await github_stage.git("push", "origin", "agent/new", cwd=clone)
    assert done.code != 0
    assert not pushed(github_stage)
    assert (await github_stage.git("push", "origin", "agent/new", cwd=clone)).code == 0


async def test_a_push_whose_answer_is_lost_has_pushed(github_stage: Stage, clone: Path) -> None:
    github_stage.bed.git_faults.lose_answer()
    done = await github_stage.git("push", "origin", "agent/new", cwd=clone)
    assert done.code != 0
    assert pushed(github_stage)
    again = await github_stage.git("push", "origin", "agent/new", cwd=clone)
    assert (again.code, again.text) == (0, "Everything up-to-date\n")


async def test_a_fetch_can_break_off(github_stage: Stage) -> None:
    github_stage.bed.git_faults.cut("fetch")
    place = github_stage.folder / "broken"
    assert (await github_stage.git("clone", github_stage.shop.clone_url, str(place))).code != 0
    assert (await github_stage.git("clone", github_stage.shop.clone_url, str(place))).code == 0


async def test_git_can_be_left_waiting(github_stage: Stage, clone: Path) -> None:
    github_stage.bed.git_faults.hang("push")
    with pytest.raises(TimeoutError):
        await github_stage.git("push", "origin", "agent/new", cwd=clone, seconds=1)
    assert [one.status for one in github_stage.bed.git_calls][-1] == 0
    done = await github_stage.git("push", "origin", "agent/new", cwd=clone, seconds=TIMEOUT)
    assert done.code == 0
