"""Pushing from a clean environment: the token is seen by nobody, and nothing that agents may have left does anything."""

from __future__ import annotations

import base64
import logging
import os
import shutil
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.core.errors import Refused
from tests.adapters.git.worlds import git
from tests.adapters.github.forge_stage import BRANCH, SLUG, ForgeStage, forge_stage

SPY = """#!/bin/sh
printf '%s\\n' "$*" >> {said}
env | cut -d= -f1 >> {said}.names
for process in $PPID $$; do tr '\\0' ' ' < /proc/$process/cmdline >> {said}; done
exec {git} "$@"
"""


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[ForgeStage]:
    async with forge_stage(tmp_path) as stage:
        yield stage


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


async def test_the_token_is_seen_by_nobody(
    stage: ForgeStage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said, real = tmp_path / "said", shutil.which("git")
    spy = program(tmp_path / "bin" / "git", SPY.format(said=said, git=real))
    environ = {"PATH": f"{spy.parent}:{os.environ['PATH']}", "GITHUB_TOKEN": stage.bed.token}
    forge = stage.github(token="", environ=environ)
    with caplog.at_level(logging.INFO):
        pull = await stage.opened(forge)
        await forge.look(SLUG, pull.number)
        await forge.fetch(SLUG, "main")
        assert await forge.unpublish(SLUG, BRANCH, stage.commit) == ""
    token = stage.bed.token
    as_header = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    assert set(stage.learned.values()) == {token, as_header}
    everything = [said.read_text(), caplog.text, *_files(stage.home), *_files(stage.top)]
    assert "push" in everything[0]
    assert not [text for text in everything if token in text or as_header in text]
    assert "GITHUB_TOKEN" not in said.with_suffix(".names").read_text()
    assert not [one for one in (*stage.bed.calls,) if token in f"{one} {one.query} {one.body}"]


async def test_nothing_that_an_agent_left_runs_or_leads_elsewhere(
    stage: ForgeStage, tmp_path: Path
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


async def test_broken_objects_do_not_come_over(stage: ForgeStage) -> None:
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


async def test_what_is_kept_is_for_the_bot_alone(stage: ForgeStage) -> None:
    await stage.publish(stage.github())
    for path in (stage.home / "mirrors").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o077 == 0, (path, oct(mode))


def _files(top: Path) -> list[str]:
    return [path.read_bytes().decode("latin-1") for path in top.rglob("*") if path.is_file()]
