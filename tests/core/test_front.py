"""What is answered without any session: every command is explained, and no key is ever shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.cards import AnswerCard
from bot.core.choices import Word, parse_command
from bot.core.commands import COMMANDS, HELP, AnsweredBy
from bot.core.people import Role
from tests.stories.stage import Stage


@pytest.mark.covers("O-C14")
def test_help_explains_every_command() -> None:
    said = [parse_command(command.partition("[")[0].strip()) for command, _ in HELP]
    assert sorted(command.word for command in said if command) == sorted(Word)


def test_every_command_stands_once_in_the_table() -> None:
    assert set(COMMANDS) == set(Word)
    assert len(HELP) == len(COMMANDS)


@pytest.mark.parametrize("word", Word)
async def test_without_a_session_only_commands_about_one_are_not_answered(word: Word) -> None:
    stage = Stage()
    await stage.open()
    await stage.commands_(word)
    await stage.close()
    [(_, _, card)] = stage.chat.whispered
    assert isinstance(card, AnswerCard)
    about_one = COMMANDS[word].answered_by is AnsweredBy.SESSION
    if word is Word.USAGE:  # of all sessions, where none is meant
        assert card.title == "Usage"
    else:
        assert card.title.startswith("There is no session here") == about_one


@pytest.mark.parametrize("word", Word)
async def test_every_command_is_answered_in_the_thread_of_a_session(word: Word) -> None:
    stage = Stage()
    await stage.open()
    await stage.says("Add discounts")
    before = len(stage.chat.shown) + len(stage.chat.whispered)
    await stage.commands_(word)
    await stage.close()
    cards = [card for _, card in stage.chat.shown] + [card for _, _, card in stage.chat.whispered]
    assert len(cards) > before
    titles = [card.title for card in cards if isinstance(card, AnswerCard)]
    assert not [title for title in titles if title.startswith("I cannot do that here")]


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ("repo", Role.START),
        ("repo shop", Role.ADMIN),
        ("tests", Role.START),
        ("tests: make check", Role.APPROVE),
        ("setup", Role.START),
        ("setup: none", Role.APPROVE),
        ("intent", Role.START),
        ("intent show fix-login", Role.START),
        ("intent run fix-login", Role.START),
        ("intent approve fix-login", Role.APPROVE),
        ("intent reject fix-login", Role.APPROVE),
        ("stop", Role.STOP),
        ("discard", Role.APPROVE),
        ("takeover T001", Role.APPROVE),
        ("handback T001", Role.APPROVE),
        ("use codex for T001", Role.APPROVE),
        ("relink /srv/shop", Role.ADMIN),
        ("keys", Role.ADMIN),
        ("resume", Role.START),
        ("continue", Role.START),
    ],
)
def test_who_may_give_a_command_stands_in_its_row(said: str, role: Role) -> None:
    command = parse_command(said)
    assert command
    assert COMMANDS[command.word].role_for(command) is role


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
