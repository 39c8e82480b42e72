"""Files are read by their names whatever lies there: links, pipes, folders, what git ignores, more than fits."""

from __future__ import annotations

import os
from pathlib import Path

from adapters.git import GitRepository, GitWorktrees
from adapters.git.repository import LARGEST_NAMED_FILE
from tests.adapters.git.worlds import git, new_repository, write

NAMES = (".claude/settings.json", ".mcp.json", ".opencode/plugin", ".env")


async def test_neither_links_nor_what_is_too_large_are_followed_or_hang(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("canary")
    top = new_repository(
        tmp_path / "r", {".opencode/plugin/x.js": "x", ".env": "y" * (LARGEST_NAMED_FILE + 5)}
    )
    (top / ".mcp.json").symlink_to("../secret")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "more")
    head = git(top, "rev-parse", "HEAD")
    found = await GitRepository(tmp_path / "home").read(str(top), head, NAMES)
    assert found.keys() == {".mcp.json", ".opencode/plugin", ".env"}
    assert (found[".mcp.json"], found[".opencode/plugin"]) == ("", "")
    assert len(found[".env"]) == LARGEST_NAMED_FILE


async def test_what_is_planted_in_a_worktree_is_seen_also_where_git_ignores_it(
    tmp_path: Path,
) -> None:
    top = new_repository(tmp_path / "r", {".gitignore": ".claude\n.mcp.json\n.env\n", "a": "1"})
    first = git(top, "rev-parse", "HEAD")
    path = top / ".worktrees" / "agent-x"
    worktrees = GitWorktrees(tmp_path / "home")
    await worktrees.prepare(str(top), "agent/x", str(path), first)
    write(path, {".claude/settings.json": "{}", ".opencode/plugin/x.js": "x"})
    (path / ".mcp.json").symlink_to("/etc/passwd")
    os.mkfifo(path / ".env")
    found = await worktrees.changed(str(path), first, NAMES)
    assert found.keys() == {".claude/settings.json", ".mcp.json", ".opencode/plugin/x.js"}
