"""What is answered without any session: every command is explained, and no key is ever shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.choices import Word, parse_command
from bot.core.overview import HELP
from tests.stories.stage import Stage


@pytest.mark.covers("O-C14")
def test_help_explains_every_command() -> None:
    said = [parse_command(command.partition("[")[0].strip()) for command, _ in HELP]
    assert sorted(command.word for command in said if command) == sorted(Word)


@pytest.mark.covers("R-SECRET-RULE-3")
async def test_keys_are_set_or_not_set_and_never_shown() -> None:
    stage = Stage()
    set_ = {"OPENAI_API_KEY": True, "SLACK_BOT_TOKEN": False}
    stage.rules = replace(stage.rules, keys=lambda: set_)
    await stage.open()
    await stage.commands_(Word.KEYS)
    await stage.close()
    [(_, _, card)] = stage.chat.whispered
    told = card.model_dump(mode="json")["body"]
    assert [element["pairs"] for element in told] == [
        [["OPENAI_API_KEY", "SET"], ["SLACK_BOT_TOKEN", "NOT SET"]]
    ]
