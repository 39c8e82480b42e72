"""Where the token comes from: the first source that has one, asked again when it is refused, and never shown."""

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

from adapters.github import Access
from adapters.github.api import parse_address
from adapters.github.tokens import Tokens
from bot.core.errors import Refused, Unavailable
from tests.adapters.github.forge_stage import FAST

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
