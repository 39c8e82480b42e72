"""Settings as an operator gives them: variables of the environment, and nothing of the machine the tests run on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot import settings
from bot.settings import Settings
from tests.test_house import variables

Given = Callable[..., Settings]
"""Called with variables; the settings they make."""

SLACK = {
    "SLACK_BOT_TOKEN": "xoxb-0123456789-bottoken",
    "SLACK_APP_TOKEN": "xapp-1-A0123456789-apptoken",
    "SLACK_USERS": "T1:U1,T1:U2",
    "SLACK_CHANNELS": "T1:C1,T1:dm",
}
MATRIX = {
    "MATRIX_HOMESERVER": "http://127.0.0.1:1",
    "MATRIX_USER": "@gwt:example.org",
    "MATRIX_ACCESS_TOKEN": "syt_Z3d0_abcdefghijklmnopqrst_0a1B2c",
    "MATRIX_USERS": "@mika:example.org,@aki:example.org",
    "MATRIX_ROOMS": "!room:example.org,dm",
}
TOKENS = [value for name, value in {**SLACK, **MATRIX}.items() if name.endswith("TOKEN")]


def given_by(monkeypatch: pytest.MonkeyPatch, home: Path) -> Given:
    for name in variables():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GWT_HOME", str(home))

    def given(**environ: str) -> Settings:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        return settings.load(None)

    return given
