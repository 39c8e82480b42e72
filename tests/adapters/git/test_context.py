"""What a request is about, read from real repositories: from objects of one commit only, and safe whatever lies there."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from adapters.git import GitRepository
from adapters.git.context import INDEX_FILE
from bot.core.errors import Refused
from tests.adapters.git.worlds import RealWorld, git

SHOP = {
    "shop/discounts.py": "def apply_discount(order):\n    return order.total * 0.9\n",
    "shop/mail.py": "def send_mail(address):\n    return address\n",
    "tests/test_discounts.py": "def test_it():\n    assert True\n",
    "README.md": "A shop.\n",
}
REQUEST = "Discounts must not apply to gift cards"


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    made = RealWorld(tmp_path)
    made.home.mkdir()
    made.person_commits("main", SHOP)
    return made


async def _paths(world: RealWorld, words: str = REQUEST, commit: str = "") -> list[str]:
    found = await world.repository.find_context(
        world.path, commit or world.tip("main") or "", words, 3_000
    )
    return [file.path for file in found.files]


async def test_files_tests_and_code_are_found_at_the_commit(world: RealWorld) -> None:
    commit = world.tip("main") or ""
    world.person_commits("main", {"shop/discounts.py": "def something_else():\n    pass\n"})
    found = await world.repository.find_context(world.path, commit, REQUEST, 3_000)
    assert found.commit == commit
    assert found.files[0].path == "shop/discounts.py"
    assert "1: def apply_discount(order):" in found.text
    assert found.tests == ("tests/test_discounts.py",)


async def test_what_lies_in_the_checkout_only_is_not_read(world: RealWorld) -> None:
    world.person_leaves({"shop/discounts.py": "uncommitted\n", "discount_notes.py": "x = 1\n"})
    found = await world.repository.find_context(world.path, world.tip("main") or "", REQUEST, 3_000)
    assert "uncommitted" not in found.text
    assert "discount_notes.py" not in found.text


async def test_links_and_files_of_secrets_are_not_read(world: RealWorld, tmp_path: Path) -> None:
    secret = tmp_path / "outside.py"
    secret.write_text("def discount_outside():\n    pass\n")
    world.person_commits("main", {".env": "DISCOUNT_KEY=abc\n", "discount_secrets.yaml": "a: 1\n"})
    top = Path(world.path)
    (top / "discount_link.py").symlink_to(secret)
    git(world.top, "add", "discount_link.py")
    git(world.top, "commit", "-qm", "link")
    found = await world.repository.find_context(world.path, world.tip("main") or "", REQUEST, 3_000)
    for name in ("discount_outside", ".env", "discount_secrets", "discount_link"):
        assert name not in found.text


async def test_similar_changes_of_the_past_lead_to_their_files(world: RealWorld) -> None:
    world.agent_commits(
        world.path, {"lib/money.py": "def half_up(x):\n    return x\n"}, "Round prices"
    )
    for n in range(4):
        world.agent_commits(world.path, {"README.md": f"A shop {n}.\n"}, f"Words {n}")
    assert "lib/money.py" in await _paths(world, "Prices are rounded wrongly")


async def test_a_second_look_reads_the_index_and_finds_the_same(world: RealWorld) -> None:
    first = await _paths(world)
    with sqlite3.connect(world.home / INDEX_FILE) as index:
        kept = index.execute("SELECT COUNT(*) FROM blobs").fetchone()[0]
        # what is kept is what is used: a name that only the index knows is found
        index.execute("UPDATE blobs SET stems = ' zebra '")
    index.close()
    # README.md defines nothing, so that it is not read
    assert kept == len([path for path in first if path.endswith(".py")])
    assert (await _paths(world, "zebra"))[:2]


@pytest.mark.parametrize("harm", ["garbage", "truncated", "other version", "folder"])
async def test_a_damaged_index_is_begun_anew(world: RealWorld, harm: str) -> None:
    first = await _paths(world)
    index = world.home / INDEX_FILE
    match harm:
        case "garbage":
            index.write_bytes(b"\x00garbage" * 500)
        case "truncated":
            index.write_bytes(index.read_bytes()[:5_000])
        case "other version":
            with sqlite3.connect(index) as made:
                made.execute("PRAGMA user_version = 99")
            made.close()
        case _:
            index.unlink()
            index.mkdir()
    assert await _paths(world) == first


async def test_the_index_is_private(world: RealWorld) -> None:
    await _paths(world)
    assert (world.home / INDEX_FILE).stat().st_mode & 0o077 == 0


async def test_a_shallow_clone_is_read_without_its_history(
    world: RealWorld, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{world.path}", str(clone))
    repository = GitRepository(tmp_path / "home2")
    (tmp_path / "home2").mkdir()
    found = await repository.find_context(str(clone), world.tip("main") or "", REQUEST, 3_000)
    assert found.files[0].path == "shop/discounts.py"


async def test_a_partial_clone_is_read_without_fetching(world: RealWorld, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(world.top, "config", "uploadpack.allowFilter", "true")
    git(
        tmp_path,
        "clone",
        "-q",
        "--filter=blob:none",
        "--no-checkout",
        f"file://{world.path}",
        str(clone),
    )
    (tmp_path / "home2").mkdir()
    repository = GitRepository(tmp_path / "home2")
    found = await repository.find_context(str(clone), world.tip("main") or "", REQUEST, 3_000)
    assert "shop/discounts.py" in [file.path for file in found.files]
    assert "def apply_discount" not in found.text
    assert "partial clone" in found.left_out


async def test_odd_names_and_contents_do_no_harm(world: RealWorld) -> None:
    odd = {
        "discount\udcff.py": "x = 1\n",
        "discount.bin.py": "\0\0\0",
        "discount_long.py": "y" * 500_000,
    }
    world.person_commits("main", odd)
    found = await world.repository.find_context(world.path, world.tip("main") or "", REQUEST, 3_000)
    found.text.encode()
    assert found.tokens <= 3_000


async def test_an_unknown_commit_is_refused(world: RealWorld) -> None:
    with pytest.raises(Refused, match="not in the repository"):
        await _paths(world, commit="0" * 39 + "1")


async def test_a_commit_is_named_as_people_name_it(world: RealWorld) -> None:
    repository = GitRepository(world.home)
    tip = world.tip("main")
    for name in ("HEAD", "main", (tip or "")[:10]):
        assert await repository.commit_of(world.path, name) == tip
    for name in ("nowhere", "--all", "main:README.md"):
        with pytest.raises(Refused, match="no commit"):
            await repository.commit_of(world.path, name)
