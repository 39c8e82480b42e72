"""Ten thousand names as nobody should choose them: for branches, worktrees, specs, runs and files. None leads out of its folder."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

from adapters.git.worktree_files import write_inside
from adapters.sandbox.bubblewrap import write_into_home
from adapters.tmux.screens import run_name
from bot.core.errors import Refused
from bot.core.naming import branch_for, is_agent_branch, is_spec_id, worktree_path

NAMES = 10_000
_PARTS = (
    *("..", ".", "", "/", "//", "\\", "~", "-", "--", "-x", "a", "B", "link", "etc", "passwd", ".git", ".GIT", "hooks"),
    *("agent", "agent/", "SPEC-", "SPEC-1a2b3c4d", "1a2b3c4d", "run-", "specs", ".worktrees", ".lock", "HEAD", "CON"),
    *("\0", "\n", "\r", "\t", " ", "\x1b", "\x7f", "\u202e", "\u200b", "é", "１", "٣", "認証", "%2e%2e", "${HOME}", "$(x)", "`x`"),
    *(";", "|", "&", "*", "?", "[", "'", '"', "@{", "..\\..", "\udc80", "x" * 300),
)  # fmt: skip


def names() -> list[str]:
    chance = random.Random(6)  # noqa: S311 - the same names in every run
    return ["".join(chance.choices(_PARTS, k=chance.randint(1, 7))) for _ in range(NAMES)]


def test_no_name_of_a_branch_a_spec_or_a_run_leads_out_of_its_folder() -> None:
    root = Path("/repository/.worktrees")
    for name in names():
        with contextlib.suppress(ValueError):
            assert Path(worktree_path("/repository", name)).parent == root
        assert is_agent_branch(branch_for(name, (), name))
        if is_spec_id(name):
            assert Path("/specs", name).resolve().parent == Path("/specs")
        with contextlib.suppress(Refused, ValueError):
            assert "/" not in run_name(name)
            assert run_name(name) not in ("", ".", "..")


def test_no_name_of_a_file_is_written_outside(tmp_path: Path) -> None:
    """With links to somewhere else among the folders, as an agent may leave them."""
    inside, home, outside = (tmp_path / name for name in ("inside", "home", "outside"))
    for folder in (inside, home, outside):
        folder.mkdir()
    for folder in (inside, home):
        (folder / "link").symlink_to(outside)
        (folder / "etc").symlink_to("/etc")
    before = sorted(tmp_path.iterdir())
    written = 0
    for name in names():
        with contextlib.suppress(Refused, OSError, ValueError):
            write_inside(inside, {name: "x"})
            written += 1
    for name in ("link", "link/x", "etc/x", "a/b"):
        with contextlib.suppress(Refused):
            write_into_home(home, Path(name), b"x")
    assert written
    assert list(outside.iterdir()) == []
    assert sorted(tmp_path.iterdir()) == before
    assert not Path("/etc/x").exists()
