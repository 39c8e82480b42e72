"""Where GitHub is, which repository a checkout belongs to, and with which token it is asked: none of it is ever shown."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from adapters.github import Access, GitHub
from adapters.github.api import Address, parse_address
from adapters.github.client import RepositoryData
from adapters.github.forge import repository_problem
from adapters.github.git import RemoteGit, checked_slug, is_slug, read_remote, slug_from_remote
from adapters.github.tokens import Tokens
from bot.core.errors import Refused, SettingsError, Unavailable
from bot.core.forge import Hosted
from tests.adapters.git.worlds import git, new_repository
from tests.adapters.github.forge_stage import FAST, SLUG, Stage


@pytest.mark.parametrize(("api", "web", "host", "clone"), [
    ("https://api.github.com", "https://github.com", "github.com", "https://github.com/a/b.git"),
    ("https://api.github.com/", "https://github.com", "github.com", "https://github.com/a/b.git"),
    ("https://ghe.example/api/v3", "https://ghe.example", "ghe.example", "https://ghe.example/a/b.git"),
    ("https://api.octo.ghe.com", "https://octo.ghe.com", "octo.ghe.com", "https://octo.ghe.com/a/b.git"),
    ("https://ghe.example:8443/api/v3/", "https://ghe.example:8443", "ghe.example", "https://ghe.example:8443/a/b.git"),
    ("http://127.0.0.1:81", "http://127.0.0.1:81", "127.0.0.1", "http://127.0.0.1:81/a/b.git"),
])  # fmt: skip
def test_repositories_lie_on_the_host_of_the_api(api: str, web: str, host: str, clone: str) -> None:
    address = parse_address(api)
    assert (address.web, address.host, address.clone_url("a/b")) == (web, host, clone)
    assert address.api == api.rstrip("/")


@pytest.mark.parametrize("api", [
    "http://api.github.com", "http://ghe.example/api/v3", "http://10.0.0.1", "ftp://github.com",
    "github.com", "", "https://", "https://host:port", "https://user:secret@github.com",
    "https://github.com/?a=b", "https://a b/",
])  # fmt: skip
def test_an_address_that_would_give_a_token_away_is_refused_at_the_start(
    api: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="GITHUB_API_URL") as refused:
        GitHub(tmp_path, Access(api_url=api), on_token=lambda name, value: None)
    assert "secret" not in str(refused.value)


def test_a_wrong_method_is_refused_at_the_start_and_access_shows_no_secret(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="GITHUB_MERGE_METHOD"):
        GitHub(tmp_path, Access(), on_token=lambda name, value: None, merge_method="octopus")
    assert "of the" not in repr(Access("of the setting", environ={"GITHUB_TOKEN": "of the env"}))


@pytest.mark.parametrize(("remote", "token"), [
    ("https://elsewhere.example/acme/shop.git", None), ("", None), (None, ""),
])  # fmt: skip
async def test_without_a_remote_there_or_a_token_it_is_hosted_nowhere(
    stage: Stage, remote: str | None, token: str | None
) -> None:
    if remote is not None:
        git(stage.top, "remote", "remove", "origin")
    if remote:
        git(stage.top, "remote", "add", "origin", remote)
    assert await stage.github(token=token).find(str(stage.top)) is None
    assert stage.bed.calls == []


async def test_the_setting_is_believed_more_than_the_remote(stage: Stage) -> None:
    wrong = await stage.github(repository="../secret").find(str(stage.top))
    assert wrong is not None
    assert "no repository of GitHub" in wrong.problem
    assert wrong.remedy
    assert stage.bed.calls == []
    git(stage.top, "remote", "remove", "origin")
    hosted = await stage.github(repository=SLUG).find(str(stage.top))
    assert hosted == Hosted(slug=SLUG, url=f"{stage.shop.clone_url.removesuffix('.git')}")


async def test_what_is_wrong_is_told_with_a_remedy(stage: Stage) -> None:
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


@pytest.mark.parametrize(("told", "tells_rights", "problem"), [
    ({"archived": True}, True, "archived"),
    ({"disabled": True}, True, "disabled"),
    ({"permissions": {"push": False}}, True, "may not write"),
    ({"permissions": {"push": False}}, False, ""),
    ({"permissions": {"push": True}}, True, ""),
    ({}, True, ""),
])  # fmt: skip
def test_what_github_tells_of_a_repository_is_understood(
    told: dict[str, object], tells_rights: bool, problem: str
) -> None:
    whole = {"full_name": "a/b", "html_url": "u", **told}
    said, remedy = repository_problem(
        RepositoryData.model_validate(whole), tells_rights=tells_rights
    )
    assert problem in said
    assert bool(said) == bool(problem) == bool(remedy)


GITHUB = parse_address("https://api.github.com")
ENTERPRISE = parse_address("https://ghe.example/api/v3")
LOCAL = parse_address("http://127.0.0.1:8123")


@pytest.mark.parametrize("remote", [
    "https://github.com/acme/shop", "https://github.com/acme/shop.git",
    "https://github.com/acme/shop.git/", "https://github.com:443/acme/shop.git",
    "https://GitHub.com/acme/shop", "https://user:pass@github.com/acme/shop.git",
    "git@github.com:acme/shop.git", "github.com:acme/shop", "git@github.com:/acme/shop.git",
    "ssh://git@github.com/acme/shop.git", "ssh://git@ssh.github.com:443/acme/shop.git",
    "ssh://git@github.com:22/acme/shop",
])  # fmt: skip
def test_remotes_of_every_shape_name_the_repository(remote: str) -> None:
    assert slug_from_remote(remote, GITHUB) == "acme/shop"


@pytest.mark.parametrize("remote", [
    "https://github.com.evil.example/acme/shop", "https://evil.example/github.com/acme/shop",
    "https://github.com@evil.example/acme/shop", "https://github.com:444/acme/shop",
    "https://gitlab.com/acme/shop", "git@gitlab.com:acme/shop.git",
    "git@github.com.evil.example:acme/shop.git", "/srv/git/acme/shop.git", "../shop",
    "file:///acme/shop", "ext::sh -c true", "https://github.com/acme",
    "https://github.com/acme/shop/more", "https://github.com/acme/..",
    "https://github.com/acme/sh op", "https://github.com/acme/shöp",
    "https://github.com/-acme/shop", "https://[github.com/acme/shop",
    "https://github.com:port/acme/shop", "",
])  # fmt: skip
def test_what_lies_elsewhere_is_nowhere(remote: str) -> None:
    assert slug_from_remote(remote, GITHUB) == ""


@pytest.mark.parametrize(("remote", "address", "slug"), [
    ("https://ghe.example/acme/shop.git", ENTERPRISE, "acme/shop"),
    ("git@ghe.example:acme/shop.git", ENTERPRISE, "acme/shop"),
    ("https://github.com/acme/shop.git", ENTERPRISE, ""),
    ("http://127.0.0.1:8123/acme/shop.git", LOCAL, "acme/shop"),
    ("http://127.0.0.1:8124/acme/shop.git", LOCAL, ""),
])  # fmt: skip
def test_each_host_knows_its_own_only(remote: str, address: Address, slug: str) -> None:
    assert slug_from_remote(remote, address) == slug


@given(st.text(max_size=60))
def test_whatever_is_written_there_is_a_name_or_nothing(text: str) -> None:
    for remote in (text, f"https://github.com/{text}", f"git@github.com:{text}"):
        slug = slug_from_remote(remote, GITHUB)
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


BROKEN_KEY = b"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"

GH = """#!/bin/sh
echo "$*" >> {said}
env | cut -d= -f1 >> {said}
{does}
"""


def tokens(access: Access, learned: dict[str, str] | None = None) -> Tokens:
    known = {} if learned is None else learned
    return Tokens(access, parse_address(access.api_url), FAST, known.__setitem__)


def with_gh(folder: Path, does: str) -> dict[str, str]:
    """An environment in which `gh` is a program of ours."""
    program = folder / "bin" / "gh"
    program.parent.mkdir(exist_ok=True)
    program.write_text(GH.format(said=folder / "said", does=does))
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(folder)}


@pytest.mark.covers("G-RULE-PR-3")
async def test_the_first_source_that_has_a_token_counts(tmp_path: Path) -> None:
    gh = with_gh(tmp_path, "echo of-gh")
    both = {"GITHUB_TOKEN": "of-github", "GH_TOKEN": "of-gh-variable"}
    cases = [
        (Access("of-setting", environ={**gh, **both}), "of-setting"),
        (Access(" ", environ={**gh, **both}), "of-github"),
        (Access(environ={**gh, "GH_TOKEN": "of-gh-variable"}), "of-gh-variable"),
        (Access(environ={**gh, "GITHUB_TOKEN": ""}), "of-gh"),
        (Access(environ={"PATH": str(tmp_path)}), ""),
        (Access(), ""),
    ]
    for access, expected in cases:
        assert await tokens(access).token("a/b") == expected


async def test_gh_is_asked_for_the_very_host_and_sees_no_secret(tmp_path: Path) -> None:
    environ = with_gh(tmp_path, "echo of-gh") | {"SLACK_BOT_TOKEN": "xoxb", "OPENAI_API_KEY": "k"}
    access = Access(api_url="https://ghe.example/api/v3", environ=environ)
    asked = tokens(access)
    assert [await asked.token("a/b") for _ in range(3)] == ["of-gh"] * 3
    said = (tmp_path / "said").read_text()
    assert said.count("auth token --hostname ghe.example") == 1
    assert "SLACK_BOT_TOKEN" not in said
    assert "OPENAI_API_KEY" not in said


@pytest.mark.covers("G-RULE-PR-3")
@pytest.mark.parametrize(
    "does", ["exit 1", "echo no oauth token >&2; exit 1", "echo two words", ":"]
)
async def test_a_gh_that_has_none_is_no_trouble(tmp_path: Path, does: str) -> None:
    assert await tokens(Access(environ=with_gh(tmp_path, does))).token("a/b") == ""


async def test_a_refused_token_is_looked_for_anew(tmp_path: Path) -> None:
    environ = with_gh(tmp_path, f"cat {tmp_path / 'kept'}")
    (tmp_path / "kept").write_text("old\n")
    asked = tokens(Access(environ=environ))
    assert await asked.token("a/b") == "old"
    (tmp_path / "kept").write_text("new\n")
    assert await asked.token("a/b") == "old"
    asked.forget()
    assert await asked.token("a/b") == "new"


async def test_every_token_is_learned_under_a_name_of_its_own_before_it_is_used(
    tmp_path: Path,
) -> None:
    environ, learned = with_gh(tmp_path, f"cat {tmp_path / 'kept'}"), dict[str, str]()
    asked = tokens(Access(environ=environ), learned)
    for number in range(3):
        (tmp_path / "kept").write_text(f"token-{number}\n")
        asked.forget()
        await asked.token("a/b")
    assert {"token-0", "token-1", "token-2"} <= set(learned.values())
    assert len(learned) == 6


async def test_what_is_no_token_is_refused_before_it_is_sent() -> None:
    learned: dict[str, str] = {}
    with pytest.raises(Refused) as refused:
        await tokens(Access("ghp_abc\ndef"), learned).token("a/b")
    assert "ghp" not in f"{refused.value!r}{refused.value.remedy}"
    assert "ghp_abc\ndef" in learned.values()


@dataclass
class Apps:
    """As much of GitHub as an app needs for its token."""

    folder: Path
    public: bytes = b""
    seen: list[str] = field(default_factory=list[str])
    lasts: float = 3600
    status: int = 201
    url: str = ""

    def access(self, **more: str) -> Access:
        key = str(self.folder / "key.pem")
        plain = Access(api_url=self.url, app_id="7", app_key_file=key)
        return replace(plain, **more)

    async def answer(self, request: web.Request) -> web.Response:
        kind, _, ticket = request.headers["Authorization"].partition(" ")
        claims = jwt.decode(ticket, self.public, algorithms=["RS256"])
        assert (kind, claims["iss"]) == ("Bearer", "7")
        self.seen.append(f"{request.method} {request.path}")
        if request.path.endswith("/installation"):
            return web.json_response({"id": 42})
        until = datetime.now(UTC) + timedelta(seconds=self.lasts)
        told = {"token": f"ghs_{len(self.seen)}", "expires_at": until.isoformat()}
        refused = {"message": "Integration not found"}
        return web.json_response(told if self.status == 201 else refused, status=self.status)


@pytest.fixture
async def apps(tmp_path: Path) -> AsyncIterator[Apps]:
    key = await asyncio.to_thread(rsa.generate_private_key, 65537, 2048)
    form = (Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (tmp_path / "key.pem").write_bytes(key.private_bytes(*form))
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    apps = Apps(tmp_path, public)
    server = web.Application()
    server.router.add_route("*", "/{path:.*}", apps.answer)
    runner = web.AppRunner(server, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    apps.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield apps
    await runner.cleanup()


@pytest.mark.covers("G-RULE-PR-3")
async def test_an_app_gets_a_token_for_its_installation_and_keeps_it(apps: Apps) -> None:
    asked = tokens(apps.access(installation="5"))
    assert [await asked.token("a/b") for _ in range(3)] == ["ghs_1"] * 3
    assert apps.seen == ["POST /app/installations/5/access_tokens"]


async def test_an_app_finds_out_which_installation_a_repository_has(apps: Apps) -> None:
    assert await tokens(apps.access()).token("a/b") == "ghs_2"
    assert apps.seen == ["GET /repos/a/b/installation", "POST /app/installations/42/access_tokens"]


async def test_an_app_renews_its_token_before_it_expires(apps: Apps) -> None:
    apps.lasts = 240
    learned: dict[str, str] = {}
    asked = tokens(apps.access(installation="5"), learned)
    assert [await asked.token("a/b") for _ in range(2)] == ["ghs_1", "ghs_2"]
    assert {"ghs_1", "ghs_2"} <= set(learned.values())


async def test_an_app_that_is_refused_says_what_to_look_at(apps: Apps) -> None:
    apps.status = 404
    with pytest.raises(Refused, match="Integration not found") as refused:
        await tokens(apps.access(installation="5")).token("a/b")
    assert "GITHUB_APP_ID" in refused.value.remedy
    apps.status = 503
    with pytest.raises(Unavailable):
        await tokens(apps.access(installation="5")).token("a/b")


@pytest.mark.parametrize("content", [None, b"", b"no key", b"\xff\xfe", BROKEN_KEY])
async def test_a_key_that_cannot_be_used_is_said(apps: Apps, content: bytes | None) -> None:
    place = apps.folder / "other.pem"
    if content is not None:
        place.write_bytes(content)
    access = apps.access(installation="5", app_key_file=str(place))
    with pytest.raises(Refused, match="private key") as refused:
        await tokens(access).token("a/b")
    assert "GITHUB_APP_KEY_FILE" in refused.value.remedy
    assert apps.seen == []
