"""What the model gets to see of a repository: of one commit only, never a secret, whatever it asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.git import GitRepository
from bot.core.errors import Refused
from bot.core.looks import MOST_LINES, Look, LookTool
from bot.core.masking import Masker
from tests.adapters.git.worlds import RealWorld, git

KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEow" * 10
    + "\n"
    + "AbCdEf" * 10
    + "\n-----END RSA PRIVATE KEY-----"
)
SHOP = {
    "shop/discounts.py": "class Discount:\n    def apply(self, order):\n        return order.total * 0.9\n\n\ndef half_price(order):\n    return order.total / 2\n",
    "shop/mail.py": "def send_mail(address):\n    return address\n",
    "tests/test_discounts.py": "def test_it():\n    assert True\n",
    "README.md": "A shop.\n",
    ".env": "API_KEY=abcdefgh12345678\n",
    "shop/keys.py": f'PASSWORD = "hunter2hunter2"\nKEY = """{KEY}"""\ndef after_the_key():\n    return 1\n',
}  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    made = RealWorld(tmp_path)
    made.home.mkdir()
    made.person_commits("main", SHOP)
    made.repository = GitRepository(made.home, mask=Masker({"HOST": "known-secret-value"}).mask)
    return made


async def look(world: RealWorld, tool: str, commit: str = "", **asked: object) -> str:
    wanted = Look.model_validate({"tool": tool, **asked})
    return await world.repository.look(world.path, commit or world.tip("main") or "", wanted)


async def test_files_and_folders_are_listed(world: RealWorld) -> None:
    assert await look(world, "list", path="shop") == "discounts.py\nkeys.py\nmail.py"
    top = (await look(world, "list")).splitlines()
    assert {"shop/ (3 files)", "README.md"} < {*top}
    assert ".env" not in top


async def test_a_definition_or_lines_are_read_with_their_numbers(world: RealWorld) -> None:
    found = await look(world, "read", path="./shop/discounts.py", definition="half_price")
    assert found.splitlines()[1:] == ["6: def half_price(order):", "7:     return order.total / 2"]
    found = await look(world, "read", path="shop/discounts.py", definition="Discount.apply")
    assert found.splitlines()[1] == "2:     def apply(self, order):"
    found = await look(world, "read", path="shop/discounts.py", first=3, last=3)
    assert found.splitlines()[1:] == ["3:         return order.total * 0.9"]
    found = await look(world, "read", path="shop/discounts.py", definition="nothing")
    assert "does not define nothing" in found
    assert "half_price" in found


async def test_definitions_are_outlined(world: RealWorld) -> None:
    lines = (await look(world, "outline", path="shop/discounts.py")).splitlines()
    assert lines == [
        "shop/discounts.py (7 lines)",
        "1-3 class Discount:",
        "    2-3 def apply(self, order):",
        "6-7 def half_price(order):",
    ]


async def test_exact_lines_and_related_files_are_found(world: RealWorld) -> None:
    found = await look(world, "search", text="order.total /")
    assert "shop/discounts.py:7: return order.total / 2" in found
    found = await look(world, "search", text="mail sending")
    assert "No line contains" in found
    assert "shop/mail.py" in found
    # an expression is a fixed text, and an option is none
    assert "No line contains" in await look(world, "search", text="order.*total")
    assert "No line contains" in await look(world, "search", text="--open-files-in-pager=touch")


async def test_the_history_of_a_file_and_of_words_is_told(world: RealWorld) -> None:
    world.agent_commits(world.path, {"shop/mail.py": "x = 1\n"}, "Round prices")
    assert "Round prices" in await look(world, "history", path="shop/mail.py")
    assert "Round prices" in await look(world, "history", text="round PRICES")
    assert await look(world, "history", path="README.md", text="Round") == "No commit was found."


async def test_tests_that_change_together_are_named(world: RealWorld) -> None:
    assert await look(world, "tests", path="shop/discounts.py") == "tests/test_discounts.py"


async def test_only_the_commit_is_read(world: RealWorld) -> None:
    commit = world.tip("main") or ""
    world.person_leaves({"shop/later.py": "def later():\n    pass\n", "README.md": "changed\n"})
    world.person_commits("main", {"shop/newer.py": "def newer():\n    pass\n"})
    assert "changed" not in await look(world, "read", commit, path="README.md")
    for path in ("shop/later.py", "shop/newer.py"):
        assert "There is no file" in await look(world, "read", commit, path=path)
    assert "No line" in await look(world, "search", commit, text="def newer")
    with pytest.raises(Refused, match="not in the repository"):
        await look(world, "list", "0" * 40)


@pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", "link.py", ".env", "shop/../.env", ":(top)README.md", "-x", "shop", "server.pem", ".git/config"])  # fmt: skip
async def test_nothing_is_read_outside_of_the_listed_files(
    world: RealWorld, tmp_path: Path, path: str
) -> None:
    (tmp_path / "outside.py").write_text("def outside(): pass\n")
    (Path(world.path) / "link.py").symlink_to(tmp_path / "outside.py")
    git(world.top, "add", "link.py")
    world.person_commits("main", {"server.pem": KEY})
    found = await look(world, "read", path=path)
    assert found.startswith("There is no file")
    assert "outside()" not in found


async def test_a_secret_is_masked_as_a_whole_and_lines_keep_their_numbers(world: RealWorld) -> None:
    for first in range(1, 6):
        found = await look(world, "read", path="shop/keys.py", first=first, last=first)
        assert not any(part in found for part in ("hunter2", "MIIEow", "AbCdEf"))
    found = await look(world, "read", path="shop/keys.py", definition="after_the_key")
    assert "6: def after_the_key():" in found
    for text in ("MIIEow", "hunter2", "AbCdEf"):
        assert f"No line contains “{text}”" in await look(world, "search", text=text)
    assert "shop/keys.py:1: PASSWORD" in await look(world, "search", text="PASSWORD")
    context = await world.repository.find_context(
        world.path, world.tip("main") or "", "after_the_key", 3_000
    )
    assert "after_the_key" in context.text
    assert "AbCdEf" not in context.text


async def test_what_is_long_is_cut_and_says_so(world: RealWorld) -> None:
    world.person_commits("main", {"long.py": "x = 1\n" * 1_000, "wide.py": "y" * 500_000})
    found = (await look(world, "read", path="long.py", first=10, last=900)).splitlines()
    assert len(found) == MOST_LINES + 2
    assert found[-1] == f"… (lines {10 + MOST_LINES}-900 are not shown)"
    assert "too large" in await look(world, "read", path="wide.py")
    assert len(await look(world, "search", text="x = 1")) < 2_000


async def test_names_that_occur_somewhere_are_known(world: RealWorld) -> None:
    commit = world.tip("main") or ""
    names = ("half_price", "half", "send_mail", "nobody_knows", "--open", "a|b")
    known = await world.repository.names_known(world.path, commit, names)
    assert known == {"half_price", "send_mail"}


def test_every_tool_is_answered() -> None:
    assert {tool.value for tool in LookTool} == {"list", "search", "outline", "read", "history", "tests"}  # fmt: skip
