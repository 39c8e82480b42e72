"""Whatever goes wrong between the bot and GitHub: nothing is done twice, and everything is told as what it is."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from bot.core.errors import PortError, Refused, Unavailable
from tests.adapters.github.forge_stage import FAST, SLUG, ForgeStage, forge_stage
from tests.beds.github import Faults

Break = Callable[[Faults, str, str], None]

BEFORE: dict[str, Break] = {
    "dropped": lambda faults, verb, path: faults.drop(verb, path),
    "502 before": lambda faults, verb, path: faults.answer(502, verb, path),
    "html": lambda faults, verb, path: faults.html(verb, path),
    "secondary limit": lambda faults, verb, path: faults.secondary_limit(3600, verb, path),
    "secondary limit as 429": lambda faults, verb, path: faults.secondary_limit(
        30, verb, path, status=429
    ),
    "secondary limit without a time": lambda faults, verb, path: faults.secondary_limit(
        None, verb, path
    ),
    "primary limit": lambda faults, verb, path: faults.primary_limit(
        int(time.time()) + 3000, verb, path
    ),
}
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


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[ForgeStage]:
    async with forge_stage(tmp_path) as stage:
        yield stage


T = TypeVar("T")


async def done_at_last(do: Callable[[], Awaitable[T]]) -> T:
    """As the engine does it: what is unavailable is tried again, once."""
    try:
        return await do()
    except Unavailable:
        return await do()


@pytest.mark.covers("B-OP-createPullRequest", "O-I2")
async def test_nothing_is_opened_or_merged_twice_whatever_is_lost(stage: ForgeStage) -> None:
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


async def test_what_was_done_unheard_needs_no_second_try(stage: ForgeStage) -> None:
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


async def test_reading_is_tried_again_where_no_limit_forbids_it(stage: ForgeStage) -> None:
    forge = stage.github()
    pull = await stage.opened(forge)
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
async def test_what_a_person_must_change_is_refused_with_a_remedy(
    stage: ForgeStage, name: str
) -> None:
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
async def test_a_token_that_is_missing_a_right_is_told_which(stage: ForgeStage) -> None:
    forge = stage.github()
    stage.lies_there()
    stage.bed.rights.give(pull_requests="read")
    with pytest.raises(Refused) as refused:
        await forge.open(SLUG, stage.wanted())
    assert "pull_requests:write" in refused.value.remedy


async def test_a_slow_answer_does_not_hold_anybody_up(stage: ForgeStage) -> None:
    forge = stage.github(pace=replace(FAST, call=1, whole=0.2))
    stage.bed.faults.trickle(600, "GET", "/repos/acme/shop", times=None)
    with pytest.raises(Unavailable, match="too long"):
        await forge.find(str(stage.top))
    stage.bed.faults.heal()
    stage.bed.faults.hang("GET", "/repos/acme/shop", times=None)
    with pytest.raises(Unavailable):
        await forge.find(str(stage.top))


async def test_a_github_that_is_away_is_unavailable(stage: ForgeStage) -> None:
    forge = stage.github()
    pull = await stage.opened(forge)
    await stage.bed.go_away()
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: forge.find(str(stage.top)),
        lambda: forge.open(SLUG, stage.wanted()),
        lambda: forge.look(SLUG, pull.number),
        lambda: forge.make_ready(SLUG, pull.number),
        lambda: forge.merge(SLUG, pull.number, stage.commit, "t"),
        lambda: forge.fetch(SLUG, "main"),
        lambda: forge.publish(str(stage.top), SLUG, "agent/login", stage.commit),
        lambda: forge.unpublish(SLUG, "agent/login", stage.commit),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            await call()
    await stage.bed.come_back()
    assert (await forge.look(SLUG, pull.number)).head == stage.commit


async def test_errors_hold_no_token(stage: ForgeStage) -> None:
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
    stage: ForgeStage, name: str
) -> None:
    forge = stage.github()
    await forge.find(str(stage.top))
    pipe = stage.top / ".git" / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    async with asyncio.timeout(20):
        with pytest.raises(Refused, match=f"{name} is a pipe") as refused:
            await forge.publish(str(stage.top), SLUG, "agent/login", stage.commit)
    assert refused.value.remedy.endswith(f"rm {pipe}")
