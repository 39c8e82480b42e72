"""What another client makes of the bot in an encrypted room: no red shield, nothing that it cannot read, nothing withheld."""

from __future__ import annotations

import pytest

from adapters.matrix.crypto.identities import IDENTITIES_FILE
from tests.adapters.matrix.crypto.stage import Secret
from tests.beds.synapse import People
from tests.fakes import cards
from tests.oracle.reader import node, reader

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(not node().exists(), reason="fetch matrix-js-sdk: tests/oracle/fetch"),
]
NONE, RED = 0, 2
"""Colours of a shield."""


@pytest.mark.covers("O-MATRIX-2")
@pytest.mark.parametrize("only_signed", [False, True], ids=["by default", "only signed devices"])
async def test_what_the_bot_says_has_no_shield_and_is_read_by_everybody(
    secret: Secret, people: People, only_signed: bool
) -> None:
    other = people("otto")
    await secret.anna.invite(secret.room, other.id)
    await other.join(secret.room)
    url, bot = secret.proxy.url, secret.bot.id
    async with (
        secret.listening() as chat,
        reader(url, other.login, secret.room, bot, only_signed=only_signed) as otto,
    ):
        await chat.show(secret.thread, cards.APPROVAL)
        told = await otto.sees("Shall I build")
        assert (told["shield"], told["reason"], told["failure"]) == (NONE, None, None)
        await otto.says("Add a dark mode")
        await secret.hears("Add a dark mode")
        # by what Otto's client has signed, and not for want of anything to go by
        assert other.id in (secret.folder / "crypto" / IDENTITIES_FILE).read_text()
        await chat.show(secret.thread, cards.NEEDS_YOU)
        told = await otto.sees(cards.NEEDS_YOU.title)
        assert (told["shield"], told["failure"]) == (NONE, None)
        await secret.anna.say(secret.room, "I am not signed")
        told = await otto.sees(sender=secret.anna.id)
        # a client that did not mind her would prove nothing
        assert told["failure"] if only_signed else told["shield"] == RED
