"""Which repository a checkout belongs to: remotes of every shape, and what agents may have written there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.github.api import parse_address
from adapters.github.git import RemoteGit, checked_slug, is_slug, read_remote, slug_of
from bot.core.errors import Refused
from tests.adapters.git.worlds import git, new_repository

GITHUB = parse_address("https://api.github.com")
ENTERPRISE = parse_address("https://ghe.example/api/v3")
LOCAL = parse_address("http://127.0.0.1:8123")


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/acme/shop",
        "https://github.com/acme/shop.git",
        "https://github.com/acme/shop.git/",
        "https://github.com:443/acme/shop.git",
        "https://GitHub.com/acme/shop",
        "https://user:pass@github.com/acme/shop.git",
        "git@github.com:acme/shop.git",
        "github.com:acme/shop",
        "git@github.com:/acme/shop.git",
        "ssh://git@github.com/acme/shop.git",
        "ssh://git@ssh.github.com:443/acme/shop.git",
        "ssh://git@github.com:22/acme/shop",
    ],
)
def test_remotes_of_every_shape_name_the_repository(remote: str) -> None:
    assert slug_of(remote, GITHUB) == "acme/shop"


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com.evil.example/acme/shop",
        "https://evil.example/github.com/acme/shop",
        "https://github.com@evil.example/acme/shop",
        "https://github.com:444/acme/shop",
        "https://gitlab.com/acme/shop",
        "git@gitlab.com:acme/shop.git",
        "git@github.com.evil.example:acme/shop.git",
        "/srv/git/acme/shop.git",
        "../shop",
        "file:///acme/shop",
        "ext::sh -c true",
        "https://github.com/acme",
        "https://github.com/acme/shop/more",
        "https://github.com/acme/..",
        "https://github.com/acme/sh op",
        "https://github.com/acme/shöp",
        "https://github.com/-acme/shop",
        "https://[github.com/acme/shop",
        "https://github.com:port/acme/shop",
        "",
    ],
)
def test_what_lies_elsewhere_is_nowhere(remote: str) -> None:
    assert slug_of(remote, GITHUB) == ""


def test_each_host_knows_its_own_only() -> None:
    assert slug_of("https://ghe.example/acme/shop.git", ENTERPRISE) == "acme/shop"
    assert slug_of("git@ghe.example:acme/shop.git", ENTERPRISE) == "acme/shop"
    assert slug_of("https://github.com/acme/shop.git", ENTERPRISE) == ""
    assert slug_of("http://127.0.0.1:8123/acme/shop.git", LOCAL) == "acme/shop"
    assert slug_of("http://127.0.0.1:8124/acme/shop.git", LOCAL) == ""


@given(st.text(max_size=60))
def test_whatever_is_written_there_is_a_name_or_nothing(text: str) -> None:
    for remote in (text, f"https://github.com/{text}", f"git@github.com:{text}"):
        slug = slug_of(remote, GITHUB)
        assert slug == "" or (is_slug(slug) and slug.isascii() and slug.count("/") == 1)


@pytest.mark.parametrize("slug", ["", "shop", "a/b/c", "a/..", "../b", "-a/b", "a/b\n", "ä/b"])
def test_what_is_no_name_of_a_repository_is_refused(slug: str) -> None:
    with pytest.raises(Refused, match="no repository of GitHub"):
        checked_slug(slug)


def reader() -> RemoteGit:
    return RemoteGit({"PATH": os.environ["PATH"]}, seconds=30)


async def test_the_remote_is_read_in_a_checkout_and_in_its_worktrees(tmp_path: Path) -> None:
    top = new_repository(tmp_path / "repository")
    assert await read_remote(reader(), str(top)) == ""
    git(top, "remote", "add", "origin", "git@github.com:acme/shop.git")
    git(top, "worktree", "add", "--quiet", str(tmp_path / "aside"), "-b", "aside")
    for place in (top, tmp_path / "aside"):
        assert await read_remote(reader(), str(place)) == "git@github.com:acme/shop.git"


async def test_a_file_that_is_included_is_not_followed(tmp_path: Path) -> None:
    top = new_repository(tmp_path / "repository")
    more = tmp_path / "more"
    more.write_text('[remote "origin"]\n\turl = https://github.com/evil/shop\n')
    git(top, "config", "include.path", str(more))
    assert await read_remote(reader(), str(top)) == ""


async def test_what_is_no_repository_has_no_remote(tmp_path: Path) -> None:
    assert await read_remote(reader(), str(tmp_path)) == ""
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "config")
    assert await read_remote(reader(), str(tmp_path)) == ""
    assert await read_remote(reader(), str(tmp_path / "missing")) == ""
