"""Where a real `origin` has a branch: asked as anybody could, from outside of the repository, and told within seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.git.worlds import RealWorld, git

pytestmark = pytest.mark.covers("O-M17")


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    return RealWorld(tmp_path)


@pytest.fixture
def elsewhere(world: RealWorld) -> Path:
    """A clone with a commit more."""
    return Path(world.somebody_commits_elsewhere({"theirs.py": "t\n"})[0])


@pytest.mark.parametrize("form", ["{}", "file://{}", "../elsewhere"])
async def test_a_repository_of_this_machine_is_asked_and_nothing_is_fetched(
    world: RealWorld, elsewhere: Path, form: str
) -> None:
    git(world.top, "remote", "add", "origin", form.format(elsewhere))
    tip = await world.repository.origin_tip(world.path, "main")
    assert tip == git(elsewhere, "rev-parse", "HEAD")
    assert not await world.repository.commit_exists(world.path, tip)
    assert await world.repository.origin_tip(world.path, "other") == ""


@pytest.mark.parametrize(
    "address",
    [
        "",
        "git@127.0.0.1:acme/shop.git",
        "ssh://127.0.0.1:1/acme/shop",
        "https://user:word@127.0.0.1:1/acme/shop",
        "http://127.0.0.1:1/acme/shop",
        "ext::touch {tmp}/RAN",
        "--upload-pack=touch {tmp}/RAN",
        "/nowhere",
        "x" * 2000,
    ],
)
async def test_what_needs_a_login_or_cannot_be_reached_is_no_news(
    world: RealWorld, tmp_path: Path, address: str
) -> None:
    if address:
        git(world.top, "config", "remote.origin.url", address.format(tmp=tmp_path))
    assert await world.repository.origin_tip(world.path, "main") == ""
    assert not (tmp_path / "RAN").exists()


async def test_what_the_repository_is_configured_to_do_has_no_say(
    world: RealWorld, elsewhere: Path, tmp_path: Path
) -> None:
    git(world.top, "remote", "add", "origin", str(elsewhere))
    git(world.top, "config", f"url.{tmp_path}/trap.insteadOf", str(elsewhere))
    git(world.top, "config", "remote.origin.uploadpack", f"touch {tmp_path}/RAN;")
    git(elsewhere, "config", "uploadpack.packObjectsHook", f"touch {tmp_path}/RAN; exec")
    tip = await world.repository.origin_tip(world.path, "main")
    assert tip == git(elsewhere, "rev-parse", "HEAD")
    assert not (tmp_path / "RAN").exists()
