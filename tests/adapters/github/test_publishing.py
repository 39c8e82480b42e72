"""Pushing and fetching: done once, never over the work of others, and whole or not at all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.core.errors import Refused, Unavailable
from tests.adapters.git.worlds import git, write
from tests.adapters.github.forge_stage import BRANCH, FAST, SLUG, ForgeStage, forge_stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[ForgeStage]:
    async with forge_stage(tmp_path) as stage:
        yield stage


async def test_a_bot_started_again_knows_what_it_has_pushed(stage: ForgeStage) -> None:
    await stage.publish(stage.github())
    git(stage.top, "commit", "--quiet", "--amend", "-m", "amended")
    amended = git(stage.top, "rev-parse", "HEAD")
    await stage.publish(stage.github(), amended)
    assert stage.shop.tip(BRANCH) == amended


async def test_a_push_whose_end_nobody_heard_is_known_to_be_the_bots_own(
    stage: ForgeStage,
) -> None:
    stage.bed.git_faults.lose_answer("push")
    stage.bed.git_faults.answer(503, "fetch", times=2)
    # first greeting: where it stands; then the push is lost, and so is the look at what became of it
    with pytest.raises(Unavailable):
        await stage.publish(stage.github())
    stage.bed.git_faults.heal()
    git(stage.top, "commit", "--quiet", "--amend", "-m", "amended")
    amended = git(stage.top, "rev-parse", "HEAD")
    await stage.publish(stage.github(), amended)
    assert stage.shop.tip(BRANCH) == amended


@pytest.mark.parametrize("fault", ["lost", "after"])
async def test_a_push_that_was_taken_is_well_though_nobody_heard(
    stage: ForgeStage, fault: str
) -> None:
    if fault == "lost":
        stage.bed.git_faults.lose_answer("push")
    else:
        stage.bed.git_faults.answer(502, "push", after=True)
    await stage.publish(stage.github())
    assert stage.shop.tip(BRANCH) == stage.commit


async def test_a_push_that_was_not_taken_is_tried_again(stage: ForgeStage) -> None:
    forge, faults = stage.github(), stage.bed.git_faults
    for break_it in (
        lambda: faults.cut("push"),
        lambda: faults.drop("push"),
        lambda: faults.answer(503, "push"),
        lambda: faults.answer(429, "fetch"),
        lambda: faults.drop("fetch"),
    ):
        break_it()
        with pytest.raises(Unavailable):
            await stage.publish(forge)
        assert BRANCH not in stage.shop.branches
    await stage.publish(forge)
    assert stage.shop.tip(BRANCH) == stage.commit
    # git looks for an older way of pushing after an answer that broke off
    stage.bed.complaints.clear()


async def test_an_answer_that_broke_off_does_not_mean_that_there_is_no_branch(
    stage: ForgeStage,
) -> None:
    forge = stage.github()
    await stage.publish(forge)
    for call in (
        lambda: forge.unpublish(SLUG, BRANCH, stage.commit),
        lambda: forge.fetch(SLUG, BRANCH),
    ):
        stage.bed.git_faults.drop("fetch", times=2)
        with pytest.raises(Unavailable):
            await call()
        stage.bed.git_faults.heal()
    assert stage.shop.tip(BRANCH) == stage.commit
    stage.bed.complaints.clear()


async def test_a_push_that_hangs_is_ended_with_all_it_started(stage: ForgeStage) -> None:
    stage.bed.git_faults.hang("push", greeting=False)
    with pytest.raises(Unavailable):
        await stage.publish(stage.github(pace=replace(FAST, git=2)))
    assert await _soon_none_names(str(stage.home))
    stage.bed.git_faults.heal()
    await stage.publish(stage.github())
    assert stage.shop.tip(BRANCH) == stage.commit


@pytest.mark.covers("G-RULE-PR-3")
async def test_a_token_that_may_not_is_refused_with_a_remedy(stage: ForgeStage) -> None:
    forge = stage.github()
    stage.bed.rights.give(contents="read")
    with pytest.raises(Refused, match="may not") as refused:
        await stage.publish(forge)
    assert "contents:write" in refused.value.remedy
    stage.bed.rights.expire()
    with pytest.raises(Refused, match="token"):
        await stage.publish(forge)


async def test_the_rules_of_the_repository_are_told_in_its_own_words(stage: ForgeStage) -> None:
    stage.shop.refuse_pushes("agent/*", "GH013: Secrets were found in the commit")
    with pytest.raises(Refused, match="GH013: Secrets were found"):
        await stage.publish(stage.github())
    assert BRANCH not in stage.shop.branches


async def test_workflows_need_a_right_of_their_own(stage: ForgeStage) -> None:
    commit = stage.works({".github/workflows/ci.yml": "on: push\n"})
    with pytest.raises(Refused, match="workflows"):
        await stage.publish(stage.github(), commit)


async def test_work_that_people_have_pushed_on_top_may_be_taken_in_and_published(
    stage: ForgeStage,
) -> None:
    forge = stage.github()
    await stage.publish(forge)
    theirs = stage.shop.people.push(BRANCH, {"theirs.py": "1\n"})
    fetched = await forge.fetch(SLUG, BRANCH)
    assert fetched.commit == theirs
    git(stage.top, "pull", "--quiet", "--ff-only", fetched.path, theirs)
    commit = stage.works({"mine.py": "1\n"})
    await stage.publish(forge, commit)
    assert stage.shop.tip(BRANCH) == commit


async def test_branches_whose_names_exclude_each_other_are_fetched_one_after_the_other(
    stage: ForgeStage,
) -> None:
    forge = stage.github()
    one = stage.shop.people.push("release", {"a.py": "1\n"})
    assert (await forge.fetch(SLUG, "release")).commit == one
    stage.shop.people.delete_branch("release")
    other = stage.shop.people.push("release/1", {"b.py": "1\n"})
    assert (await forge.fetch(SLUG, "release/1")).commit == other


@pytest.mark.parametrize("branch", ["", "-x", "a..b", "a b", "a\n", "a:b", "x.lock", "a@{1}", "/a"])
async def test_what_is_no_branch_is_never_told_to_git(stage: ForgeStage, branch: str) -> None:
    with pytest.raises(Refused, match="no name of a branch"):
        await stage.github().fetch(SLUG, branch)
    assert stage.bed.git_calls == []


async def test_many_at_once_wait_for_each_other(stage: ForgeStage) -> None:
    forge, other = stage.github(), stage.github()
    commits = {
        f"agent/b{number}": stage.works({f"{number}": "1\n"}, f"agent/b{number}")
        for number in range(3)
    }
    await asyncio.gather(
        *(
            one.publish(str(stage.top), SLUG, *pair)
            for pair in commits.items()
            for one in (forge, other)
        ),
        forge.fetch(SLUG, "main"),
    )
    assert {name: stage.shop.tip(name) for name in commits} == commits


async def test_a_mirror_that_is_broken_is_made_anew(stage: ForgeStage) -> None:
    forge = stage.github()
    await stage.publish(forge)
    mirror = next((stage.home / "mirrors").glob("*.git"))
    for pack in mirror.rglob("objects/*/*"):
        pack.chmod(0o600)
        pack.write_bytes(b"")
    (mirror / "packed-refs.lock").touch()
    commit = stage.works({"later.py": "1\n"})
    await stage.publish(forge, commit)
    assert stage.shop.tip(BRANCH) == commit


async def test_places_with_odd_names_and_shallow_copies_are_no_obstacle(
    stage: ForgeStage, tmp_path: Path
) -> None:
    odd = tmp_path / "an odd%20 ñame?#"
    git(
        tmp_path,
        "clone",
        "--quiet",
        "--depth=1",
        "--branch",
        BRANCH,
        f"file://{stage.top}",
        str(odd),
    )
    write(odd, {"odd.py": "1\n"})
    git(odd, "add", "--all")
    git(odd, "commit", "--quiet", "-m", "odd")
    commit = git(odd, "rev-parse", "HEAD")
    await stage.publish(stage.github())
    await stage.github().publish(str(odd), SLUG, BRANCH, commit)
    assert stage.shop.tip(BRANCH) == commit


async def _soon_none_names(text: str) -> bool:
    until = time.monotonic() + 30
    while left := await asyncio.to_thread(_processes_that_name, text):
        if time.monotonic() > until:
            raise AssertionError(left)
    return True


def _processes_that_name(text: str) -> list[str]:
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("latin-1")
        except OSError:
            continue
        if text in command:
            found.append(command)
    return found


async def test_what_somebody_has_written_into_the_mirrors_settings_leads_nowhere(
    stage: ForgeStage,
) -> None:
    await stage.publish(stage.github())
    (config,) = (stage.home / "mirrors").glob("*.git/config")
    elsewhere = '[url "http://127.0.0.1:1/"]\n\tinsteadOf = "' + stage.bed.url + '"\n'
    config.write_text(config.read_text() + elsewhere + "[http]\n\tsslVerify = false\n")
    git(stage.top, "commit", "--quiet", "--amend", "-m", "amended")
    amended = git(stage.top, "rev-parse", "HEAD")
    await stage.publish(stage.github(), amended)
    assert stage.shop.tip(BRANCH) == amended
    assert "127.0.0.1:1" not in config.read_text()
