"""What every Repository must keep, the real one and the fake."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import Away, Refused
from bot.core.git import Divergence
from tests.adapters.git.worlds import FakeWorld, RealWorld, World

pytestmark = pytest.mark.covers("G-MODULE-4")


@pytest.fixture(params=["fake", "real"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return FakeWorld() if request.param == "fake" else RealWorld(tmp_path)


@pytest.mark.covers("G-RULE-BRANCH-9")
async def test_a_session_starts_from_what_is_checked_out(world: World) -> None:
    base = await world.repository.base(world.path)
    assert (base.repository, base.branch, base.uncommitted) == (world.path, "main", 0)
    assert base.commit == world.tip("main")


@pytest.mark.covers("O-X2")
async def test_uncommitted_files_are_counted_and_left_alone(world: World) -> None:
    world.person_leaves({"code.py": "one = 5\n", "new.py": "n\n"})
    assert (await world.repository.base(world.path)).uncommitted == 2


async def test_a_branch_named_agent_is_refused(world: World) -> None:
    world.person_creates("agent", world.tip("main") or "")
    with pytest.raises(Refused, match="branch named agent"):
        await world.repository.base(world.path)


@pytest.mark.covers("G-RULE-SCAN-8", "G-DATA-RepositoryScanResult")
async def test_a_scan_is_of_its_commit(world: World) -> None:
    first = world.tip("main") or ""
    world.person_commits("main", {"CLAUDE.md": "Be brief.\n"})
    assert (await world.repository.scan(world.path, first)).conventions == ""
    second = await world.repository.scan(world.path, world.tip("main") or "")
    assert "Be brief." in second.conventions
    assert second.files == 3
    assert "CLAUDE.md" in second.directory_tree


async def test_an_unknown_commit_is_refused(world: World) -> None:
    with pytest.raises(Refused, match="not in the repository"):
        await world.repository.scan(world.path, "0" * 39 + "1")


async def test_every_local_branch_is_told(world: World) -> None:
    world.person_creates("agent/x", world.tip("main") or "")
    assert await world.repository.branches(world.path) == ("agent/x", "main")


async def test_only_commits_of_the_repository_exist(world: World) -> None:
    assert await world.repository.commit_exists(world.path, world.tip("main") or "")
    assert not await world.repository.commit_exists(world.path, "0" * 39 + "1")


async def test_another_repository_in_its_place_is_told_by_a_commit_it_lacks(world: World) -> None:
    await world.repository.require(world.path, world.tip("main") or "")
    with pytest.raises(Away, match="another one stands there"):
        await world.repository.require(world.path, "0" * 39 + "1")


async def test_the_tip_of_a_branch_is_found_whatever_is_checked_out(world: World) -> None:
    assert await world.repository.tip(world.path, "main") == world.tip("main")
    with pytest.raises(Refused, match="no branch gone"):
        await world.repository.tip(world.path, "gone")


async def test_how_two_commits_differ_is_counted_from_both_sides(world: World) -> None:
    first = world.tip("main") or ""
    world.person_creates("other", first)
    mine = world.person_commits("main", {"code.py": "one = 2\n"})
    world.person_commits("other", {"new.py": "n\n"})
    theirs = world.person_commits("other", {"sub/new.py": "n\n"})
    apart = await world.repository.apart(world.path, mine, theirs)
    assert (apart.ahead, apart.behind) == (2, 1)
    assert apart.files == ("code.py", "new.py", "sub/new.py")
    assert await world.repository.apart(world.path, mine, mine) == Divergence(ahead=0, behind=0)
    with pytest.raises(Refused, match="no commit"):
        await world.repository.apart(world.path, mine, "0" * 39 + "1")


async def test_without_an_origin_nobody_knows_where_it_stands(world: World) -> None:
    assert await world.repository.origin_tip(world.path, "main") == ""


async def test_a_place_without_a_repository_is_refused(world: World, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match="not inside a git repository"):
        await world.repository.base(str(tmp_path / "empty"))


async def test_two_looks_at_the_checkout_tell_what_was_touched_between(world: World) -> None:
    world.person_leaves({"code.py": "one = 5\n", "new.py": "n\n"})
    before = await world.repository.checkout(world.path)
    assert (before.branch, before.commit) == ("main", world.tip("main"))
    assert (await world.repository.checkout(world.path)).touched_since(before) == ()
    world.person_leaves({"code.py": "one = 66\n", "odd: name.py": "o\n"})
    after = await world.repository.checkout(world.path)
    assert after.touched_since(before) == ("code.py", "odd: name.py")


async def test_named_files_are_read_at_a_commit(world: World) -> None:
    first = world.person_commits("main", {".mcp.json": "{}\n"})
    world.person_commits("main", {".mcp.json": "changed\n"})
    world.person_leaves({".mcp.json": "not committed\n"})
    names = (".mcp.json", "not-there.json")
    assert await world.repository.read(world.path, first, names) == {".mcp.json": "{}\n"}
    assert await world.repository.read(world.path, first, ()) == {}
    with pytest.raises(Refused, match="not in the repository"):
        await world.repository.read(world.path, "0" * 39 + "1", names)


async def test_the_top_is_found_also_where_nothing_could_begin(world: World) -> None:
    world.person_creates("agent", world.tip("main") or "")
    assert await world.repository.top(world.path) == world.path


async def test_a_file_was_changed_at_some_time_or_is_not_there(world: World) -> None:
    names = ("code.py", "gone.py", "../code.py", "*.py", "a\nb")
    found = await world.repository.last_changed(world.path, names)
    assert found["code.py"] is not None
    assert found["code.py"].tzinfo is not None
    assert found.get("gone.py") is None
    assert [name for name in names[2:] if found.get(name)] == []
