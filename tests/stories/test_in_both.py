"""Slack and Matrix at once, in one process: each thread is a session of its own, and one repository is worked on in turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adapters.demo.texts import REQUEST
from bot.core.states import Status
from tests.beds.slack import MIKA, SlackBed, invariants
from tests.beds.synapse import Homeserver, People
from tests.stories.matrix_person import MatrixPerson
from tests.stories.serving import in_matrix, in_slack, serving
from tests.stories.slack_person import SlackPerson

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


async def test_two_stories_in_two_chats_come_to_their_ends_one_after_the_other(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    anna, account = people("anna"), people("gwt")
    room = await anna.create_room()
    matrix = in_matrix(homeserver.url, account.login, room, anna.id)
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA), **matrix) as bot:
        here, there = SlackPerson(bed), MatrixPerson(anna, account.id, room)
        bot.start()
        await asyncio.gather(bed.connected(), there.invites_the_bot())

        await asyncio.gather(in_slack_until_built(here), in_matrix_until_built(there))

        sessions = bot.sessions()
        assert {session.thread.platform for session in sessions} == {"slack", "matrix"}
        assert {session.status for session in sessions} == {Status.COMPLETED}
        assert "in Matrix" not in "".join(card.reads for card in here.cards)
        assert "in Slack" not in "".join(card.text for card in there.cards)
        await bed.all_acked()
        invariants.check(bed)


async def in_slack_until_built(mika: SlackPerson) -> None:
    await mika.ask(f"{REQUEST}, asked in Slack")
    await mika.presses("Use all defaults")
    await mika.presses("Approve")
    await mika.presses("Keep the branches")
    await mika.sees("COMPLETE")


async def in_matrix_until_built(anna: MatrixPerson) -> None:
    await anna.ask(f"{REQUEST}, asked in Matrix")
    await anna.clicks("✅ Use all defaults")
    await anna.clicks("✅ Approve")
    await anna.clicks("📌 Keep the branches")
    await anna.sees("COMPLETE")
