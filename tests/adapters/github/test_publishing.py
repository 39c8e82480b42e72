"""Pushing and fetching: once, whole or not at all, never over the work of others, and the token is seen by nobody."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import shutil
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from bot.core.errors import PortError, Refused, Unavailable
from tests.adapters.git.killing import KilledGit, at, strace_works
from tests.adapters.git.worlds import git, write
from tests.adapters.github.forge_stage import BRANCH, FAST, SLUG, Stage, forge_stage
from tests.faults.figures import Count


async def test_a_bot_started_again_knows_what_it_has_pushed(stage: Stage) -> None:
    await stage.publish(stage.github())
    git(stage.top, "commit", "--quiet", "--amend", "-m", "amended")
    amended = git(stage.top, "rev-parse", "HEAD")
    await stage.publish(stage.github(), amended)
    assert stage.shop.tip(BRANCH) == amended


async def test_a_push_whose_end_nobody_heard_is_known_to_be_the_bots_own(stage: Stage) -> None:
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
async def test_a_push_that_was_taken_is_well_though_nobody_heard(stage: Stage, fault: str) -> None:
    if fault == "lost":
        stage.bed.git_faults.lose_answer("push")
    else:
        stage.bed.git_faults.answer(502, "push", after=True)
    await stage.publish(stage.github())
    assert stage.shop.tip(BRANCH) == stage.commit


async def test_a_push_that_was_not_taken_is_tried_again(stage: Stage) -> None:
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


async def test_an_answer_that_broke_off_does_not_mean_that_there_is_no_branch(stage: Stage) -> None:
    forge = stage.github()
    await stage.publish(forge)
    for call in (
        lambda: forge.delete_remote_branch(SLUG, BRANCH, stage.commit),
        lambda: forge.fetch(SLUG, BRANCH),
    ):
        stage.bed.git_faults.drop("fetch", times=2)
        with pytest.raises(Unavailable):
            await call()
        stage.bed.git_faults.heal()
    assert stage.shop.tip(BRANCH) == stage.commit
    stage.bed.complaints.clear()


async def test_a_push_that_hangs_is_ended_with_all_it_started(stage: Stage) -> None:
    stage.bed.git_faults.hang("push", greeting=False)
    with pytest.raises(Unavailable):
        await stage.publish(stage.github(pace=replace(FAST, git=2)))
    assert await _soon_none_names(str(stage.home))
    stage.bed.git_faults.heal()
    await stage.publish(stage.github())
    assert stage.shop.tip(BRANCH) == stage.commit


SECRETS = "GH013: Secrets were found in the commit"
REFUSALS: dict[str, tuple[Callable[[Stage], object], str, str]] = {
    "a right is missing": (lambda stage: stage.bed.rights.give(contents="read"), "may not", "contents:write"),
    "a token that has expired": (lambda stage: stage.bed.rights.expire(), "token", ""),
    "the rules of the repository": (lambda stage: stage.shop.refuse_pushes("agent/*", SECRETS), SECRETS, ""),
    "a workflow": (lambda stage: stage.works({".github/workflows/ci.yml": "on: push\n"}), "workflows", "workflows:write"),
}  # fmt: skip


@pytest.mark.covers("G-RULE-PR-3")
@pytest.mark.parametrize("what", REFUSALS)
async def test_a_push_that_is_refused_is_told_with_a_remedy(stage: Stage, what: str) -> None:
    before, reason, remedy = REFUSALS[what]
    before(stage)
    commit = git(stage.top, "rev-parse", "HEAD")
    with pytest.raises(Refused, match=reason) as refused:
        await stage.publish(stage.github(), commit)
    assert remedy in refused.value.remedy
    assert BRANCH not in stage.shop.branches


async def test_work_that_people_have_pushed_on_top_may_be_taken_in_and_published(
    stage: Stage,
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
    stage: Stage,
) -> None:
    forge = stage.github()
    one = stage.shop.people.push("release", {"a.py": "1\n"})
    assert (await forge.fetch(SLUG, "release")).commit == one
    stage.shop.people.delete_branch("release")
    other = stage.shop.people.push("release/1", {"b.py": "1\n"})
    assert (await forge.fetch(SLUG, "release/1")).commit == other


@pytest.mark.parametrize("branch", ["", "-x", "a..b", "a b", "a\n", "a:b", "x.lock", "a@{1}", "/a"])
async def test_what_is_no_branch_is_never_told_to_git(stage: Stage, branch: str) -> None:
    with pytest.raises(Refused, match="no name of a branch"):
        await stage.github().fetch(SLUG, branch)
    assert stage.bed.git_calls == []


async def test_many_at_once_wait_for_each_other(stage: Stage) -> None:
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


async def test_a_mirror_that_is_broken_is_made_anew(stage: Stage) -> None:
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
    stage: Stage, tmp_path: Path
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
    until = time.monotonic() + 120
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
    stage: Stage,
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


SPY = """#!/bin/sh
printf '%s\\n' "$*" >> {said}
env | cut -d= -f1 >> {said}.names
for process in $PPID $$; do tr '\\0' ' ' < /proc/$process/cmdline >> {said}; done
exec {git} "$@"
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


async def test_the_token_is_seen_by_nobody(
    stage: Stage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said, real = tmp_path / "said", shutil.which("git")
    spy = program(tmp_path / "bin" / "git", SPY.format(said=said, git=real))
    environ = {"PATH": f"{spy.parent}:{os.environ['PATH']}", "GITHUB_TOKEN": stage.bed.token}
    forge = stage.github(token="", environ=environ)
    with caplog.at_level(logging.INFO):
        pull = await stage.opened(forge)
        await forge.look(SLUG, pull.number)
        await forge.fetch(SLUG, "main")
        assert await forge.delete_remote_branch(SLUG, BRANCH, stage.commit) == ""
    token = stage.bed.token
    as_header = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    assert set(stage.learned.values()) == {token, as_header}
    everything = [said.read_text(), caplog.text, *_files(stage.home), *_files(stage.top)]
    assert "push" in everything[0]
    assert not [text for text in everything if token in text or as_header in text]
    assert "GITHUB_TOKEN" not in said.with_suffix(".names").read_text()
    assert not [one for one in (*stage.bed.calls,) if token in f"{one} {one.query} {one.body}"]


async def test_nothing_that_an_agent_left_runs_or_leads_elsewhere(
    stage: Stage, tmp_path: Path
) -> None:
    forge = stage.github()
    ran = tmp_path / "ran"
    trap = program(tmp_path / "trap", f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    for hook in ("pre-push", "post-checkout", "reference-transaction", "pre-receive", "update"):
        shutil.copy(trap, stage.top / ".git" / "hooks" / hook)
    evil = tmp_path / "evil.git"
    git(tmp_path, "init", "--quiet", "--bare", str(evil))
    for key, value in {
        "core.fsmonitor": str(trap),
        "core.sshCommand": str(trap),
        "core.gitProxy": str(trap),
        "core.askPass": str(trap),
        "credential.helper": f"!{trap}",
        "uploadpack.packObjectsHook": str(trap),
        "core.alternateRefsCommand": str(trap),
        "http.proxy": "http://127.0.0.1:9",
        "protocol.ext.allow": "always",
        f"url.{evil}.insteadOf": stage.shop.clone_url,
        f"url.{evil}.pushInsteadOf": stage.bed.url,
        "remote.origin.pushurl": f"ext::{trap}",
        "remote.origin.uploadpack": str(trap),
    }.items():
        git(stage.top, "config", key, value)
    await stage.publish(forge)
    await forge.fetch(SLUG, "main")
    assert stage.shop.tip(BRANCH) == stage.commit
    assert not ran.exists()
    assert git(evil, "for-each-ref") == ""


async def test_broken_objects_do_not_come_over(stage: Stage) -> None:
    forge = stage.github()
    tree = git(stage.top, "rev-parse", "HEAD^{tree}")
    text = f"tree {tree}\nauthor A <a@b> 1 +0000\n\nnobody committed it\n"
    (stage.top.parent / "commit").write_text(text)
    commit = git(
        stage.top,
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--literally",
        str(stage.top.parent / "commit"),
    )
    git(stage.top, "update-ref", f"refs/heads/{BRANCH}", commit)
    with pytest.raises(Refused, match="cannot be copied"):
        await stage.publish(forge, commit)
    assert BRANCH not in stage.shop.branches


async def test_what_is_kept_is_for_the_bot_alone(stage: Stage) -> None:
    await stage.publish(stage.github())
    for path in (stage.home / "mirrors").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o077 == 0, (path, oct(mode))


def _files(top: Path) -> list[str]:
    return [path.read_bytes().decode("latin-1") for path in top.rglob("*") if path.is_file()]


PUSHING = (("openat", (4, 8, 12, 16, 20)), ("write", (1, 2, 3)), ("read", (5, 12, 20)))


@pytest.mark.parametrize(("call", "points"), at(*PUSHING))
async def test_a_killed_push_is_made_once(
    tmp_path: Path, call: str, points: Sequence[int], count: Count
) -> None:
    if reason := strace_works(tmp_path):
        pytest.skip(f"git cannot be killed at a chosen point: {reason}")
    killed, deaths = KilledGit(tmp_path, '*" push "*'), 0
    async with forge_stage(tmp_path) as stage:
        others = stage.shop.tip("main")
        for nth in points:
            commit = stage.works({f"{call}.py": f"n = {nth}\n"})
            killed.arm(call, nth)
            with suppress(PortError):
                await stage.publish(stage.github(environ=killed.environment), commit)
            killed.disarm()
            deaths += killed.killed.exists()
            await stage.publish(stage.github(), commit)
            assert stage.shop.tip(BRANCH) == commit
            assert stage.shop.tip("main") == others
            assert git(stage.top, "status", "--porcelain") == ""
            if not killed.killed.exists() and isinstance(points, range):
                break
        count("R3", kills=deaths, violations=0)
        assert deaths >= len(points) / 2 or isinstance(points, range)
