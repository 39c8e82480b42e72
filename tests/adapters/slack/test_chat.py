"""A Slack that is not there is waited for; what the bot itself cannot keep is said before anything begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.slack.chat import SlackChat
from adapters.slack.client import SlackAccess
from bot.core.errors import Unavailable
from tests.beds.slack import APP_TOKEN, BOT_TOKEN, PUBLIC, TEAM

NOWHERE = "http://127.0.0.1:9/api/"


def chat_in(folder: Path) -> SlackChat:
    access = SlackAccess(bot_token=BOT_TOKEN, app_token=APP_TOKEN, api_url=NOWHERE)
    return SlackChat(access, folder, [f"{TEAM}:{PUBLIC}"], shared=[f"{TEAM}:{PUBLIC}"])


async def test_where_nothing_can_be_written_down_it_does_not_begin(tmp_path: Path) -> None:
    (tmp_path / "cards.jsonl").mkdir()
    with pytest.raises(Unavailable, match=r"cards\.jsonl cannot be read"):
        async with chat_in(tmp_path):
            raise AssertionError


async def test_a_slack_that_does_not_answer_is_no_reason_not_to_begin(tmp_path: Path) -> None:
    async with chat_in(tmp_path) as chat:
        assert isinstance(chat, SlackChat)
