"""Where GitHub is: what the address of its API says about it, and what no secret may get through."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.github import Access, GitHub
from adapters.github.api import parse_address
from bot.core.errors import SettingsError


@pytest.mark.parametrize(
    ("api", "web", "host", "clone"),
    [
        (
            "https://api.github.com",
            "https://github.com",
            "github.com",
            "https://github.com/a/b.git",
        ),
        (
            "https://api.github.com/",
            "https://github.com",
            "github.com",
            "https://github.com/a/b.git",
        ),
        (
            "https://ghe.example/api/v3",
            "https://ghe.example",
            "ghe.example",
            "https://ghe.example/a/b.git",
        ),
        (
            "https://api.octo.ghe.com",
            "https://octo.ghe.com",
            "octo.ghe.com",
            "https://octo.ghe.com/a/b.git",
        ),
        (
            "https://ghe.example:8443/api/v3/",
            "https://ghe.example:8443",
            "ghe.example",
            "https://ghe.example:8443/a/b.git",
        ),
        (
            "http://127.0.0.1:81",
            "http://127.0.0.1:81",
            "127.0.0.1",
            "http://127.0.0.1:81/a/b.git",
        ),
    ],
)
def test_repositories_lie_on_the_host_of_the_api(api: str, web: str, host: str, clone: str) -> None:
    address = parse_address(api)
    assert (address.web, address.host, address.clone_url("a/b")) == (web, host, clone)
    assert address.api == api.rstrip("/")


@pytest.mark.parametrize(
    "api",
    [
        "http://api.github.com",
        "http://ghe.example/api/v3",
        "http://10.0.0.1",
        "ftp://github.com",
        "github.com",
        "",
        "https://",
        "https://host:port",
        "https://user:secret@github.com",
        "https://github.com/?a=b",
        "https://a b/",
    ],
)
def test_an_address_that_would_give_a_token_away_is_refused_at_the_start(
    api: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="GITHUB_API_URL") as refused:
        GitHub(tmp_path, Access(api_url=api), learned=lambda name, value: None)
    assert "secret" not in str(refused.value)


def test_a_method_of_merging_that_there_is_not_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="GITHUB_MERGE_METHOD"):
        GitHub(tmp_path, Access(), learned=lambda name, value: None, merge_method="octopus")


def test_access_shows_no_secret() -> None:
    given = {"GITHUB_TOKEN": "of the environment"}
    shown = repr(Access("of the setting", environ=given))
    assert "of the" not in shown
