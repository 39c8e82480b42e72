"""Whether pull requests can be made for a repository: found out once, before any work, with what a person can do about it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.github.client import RepositoryData
from adapters.github.forge import repository_problem
from bot.core.forge import Hosted
from tests.adapters.git.worlds import git
from tests.adapters.github.forge_stage import SLUG, ForgeStage, forge_stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[ForgeStage]:
    async with forge_stage(tmp_path) as stage:
        yield stage


async def test_a_repository_without_a_remote_there_is_hosted_nowhere(stage: ForgeStage) -> None:
    git(stage.top, "remote", "set-url", "origin", "https://elsewhere.example/acme/shop.git")
    assert await stage.github().find(str(stage.top)) is None
    git(stage.top, "remote", "remove", "origin")
    assert await stage.github().find(str(stage.top)) is None
    assert stage.bed.calls == []


async def test_without_a_token_it_is_hosted_nowhere(stage: ForgeStage) -> None:
    assert await stage.github(token="").find(str(stage.top)) is None
    assert stage.bed.calls == []


async def test_the_setting_is_believed_more_than_the_remote(stage: ForgeStage) -> None:
    git(stage.top, "remote", "remove", "origin")
    hosted = await stage.github(repository=SLUG).find(str(stage.top))
    assert hosted == Hosted(slug=SLUG, url=f"{stage.shop.clone_url.removesuffix('.git')}")


async def test_a_setting_that_names_no_repository_is_a_problem(stage: ForgeStage) -> None:
    hosted = await stage.github(repository="../secret").find(str(stage.top))
    assert hosted is not None
    assert "no repository of GitHub" in hosted.problem
    assert hosted.remedy
    assert stage.bed.calls == []


async def test_what_is_wrong_is_told_with_a_remedy(stage: ForgeStage) -> None:
    async def problem() -> str:
        hosted = await stage.github().find(str(stage.top))
        assert hosted is not None
        assert hosted.slug == SLUG
        assert bool(hosted.problem) == bool(hosted.remedy)
        return hosted.problem

    assert await problem() == ""
    stage.bed.rights.give(contents="read")
    assert "may not write" in await problem()
    stage.bed.rights.repositories = frozenset({"acme/other"})
    assert "no such thing" in await problem()
    stage.bed.rights.expire()
    assert "token" in await problem()


@pytest.mark.parametrize(
    ("told", "tells_rights", "problem"),
    [
        ({"archived": True}, True, "archived"),
        ({"disabled": True}, True, "disabled"),
        ({"permissions": {"push": False}}, True, "may not write"),
        ({"permissions": {"push": False}}, False, ""),
        ({"permissions": {"push": True}}, True, ""),
        ({}, True, ""),
    ],
)
def test_what_github_tells_of_a_repository_is_understood(
    told: dict[str, object], tells_rights: bool, problem: str
) -> None:
    whole = {"full_name": "a/b", "html_url": "u", **told}
    said, remedy = repository_problem(
        RepositoryData.model_validate(whole), tells_rights=tells_rights
    )
    assert problem in said
    assert bool(said) == bool(problem) == bool(remedy)
