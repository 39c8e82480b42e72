"""Patterns of files to copy read as .gitignore does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.git.worktree_files import read_patterns, stays_inside
from bot.core.errors import Refused
from tests.adapters.git.worlds import git

PATHS = (
    ".env", ".env.local", "a/.env", "config/x.local.json", "config/deep/y.local.json", "x.local.json",
    "node_modules/a/b.js", "packages/p/node_modules/c.js", "a/b/c/d", "a/d", "build", "sub/build/o", "a[1].txt",
)  # fmt: skip
PATTERNS = (
    ".env", ".env*", "/.env", "config/*.local.json", "config/**/*.local.json", "**/y.local.json",
    "node_modules", "node_modules/", "node_modules/**", "/node_modules", "packages/*/node_modules", "a/**/d",
    "a/**", "build/", "*.j?", "[!a-m]*.json", "[cx]*", "a/b", r"*[[]*", "**",
)  # fmt: skip


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("patterns")
    git(top, "init", "--quiet")
    for path in PATHS:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).touch()
    return top


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_names_what_git_would_ignore_by_it(top: Path, pattern: str) -> None:
    (top / ".git" / "info" / "exclude").write_text(pattern + "\n")
    listed = git(top, "ls-files", "--others", "--ignored", "--exclude-standard")
    (read,) = read_patterns((pattern,))
    assert {path for path in PATHS if read.names(path)} == set(listed.splitlines())


def test_only_a_pattern_with_a_path_is_looked_for_in_an_ignored_directory() -> None:
    (name,) = read_patterns((".env",))
    (below,) = read_patterns(("node_modules/*/dist/**",))
    assert not name.leads_into("node_modules")
    assert below.leads_into("node_modules")
    assert below.leads_into("node_modules/x")
    assert not below.leads_into("cache")


@pytest.mark.parametrize("pattern", ["!x", "../x", "a/../../x", "/", ".git/config", ".worktrees", ".GIT"])  # fmt: skip
def test_a_pattern_that_leads_elsewhere_is_refused(pattern: str) -> None:
    with pytest.raises(Refused, match=re.escape(repr(pattern))):
        read_patterns((pattern,))


@given(st.text("ab/.*?[]!-^\\\n ", max_size=20), st.text(max_size=30))
def test_no_text_breaks_a_pattern(line: str, path: str) -> None:
    try:
        patterns = read_patterns((line,))
    except Refused:
        return
    for pattern in patterns:
        pattern.names(path)
        pattern.leads_into(path)


@pytest.mark.parametrize(
    ("link", "target", "inside"),
    [
        ("a/b", "../c", True),
        ("a/b", "c/d", True),
        ("a/b", "../../c", False),
        ("b", "/etc/passwd", False),
        ("a/b/c", "x/../../../y", False),
        ("a/b/c", "../../.git/config", False),
        ("b", ".worktrees/other", False),
    ],
)
def test_a_link_stays_inside_only_by_its_own_words(link: str, target: str, inside: bool) -> None:
    assert stays_inside(link, target) is inside
