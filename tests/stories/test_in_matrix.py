"""The whole story in a room on Matrix: real program, homeserver, tmux and git; the model and the agents are played."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.demo.texts import REQUEST
from bot.core.states import OverallStatus, Status
from tests.beds.synapse import Homeserver, People
from tests.stories.matrix_person import MatrixPerson
from tests.stories.serving import Serving, in_matrix, serving

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


@asynccontextmanager
async def in_a_room(
    folder: Path, homeserver: Homeserver, people: People, **environ: str
) -> AsyncGenerator[tuple[Serving, MatrixPerson], None]:
    """The bot has come into a room of Mika's, who may do everything."""
    mika, account = people("mika"), people("gwt")
    room = await mika.create_room()
    settings = in_matrix(homeserver.url, account.login, room, mika.id)
    async with serving(folder, **settings) as bot:
        person = MatrixPerson(mika, account.id, room)
        bot.start(**environ)
        await person.invites_the_bot()
        yield bot, person


@pytest.mark.covers("O-C1")
async def test_from_a_mention_to_merged_work(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    async with in_a_room(tmp_path, homeserver, people) as (bot, mika):
        await mika.ask(REQUEST)
        await mika.sees("Got it", "main at")
        assert mika.person.posts(mika.room)[0].reacted("👀") == (mika.bot,)
        await mika.clicks("✅ Use all defaults")
        for document in ("spec.md", "plan.md", "tasks.md"):
            await mika.sees(document)
        await mika.clicks("✏ Request changes")
        await mika.sees("Write in this thread what should be different")
        await mika.reply("Name the cents in the receipt, please.")
        await mika.sees(f"Changes requested by {mika.person.id}")
        await mika.clicks("✅ Approve", on="revision 2?")
        await mika.sees("revision 2", f"approved by {mika.person.id}")
        await mika.sees("the tests fail")
        await mika.clicks("✅ Merge into main", on="Everything is built")
        await mika.clicks("✅ Merge into main", on="Merge 3 branches")
        await mika.sees("COMPLETE")
        (session,) = bot.sessions()
        assert session.status is Status.COMPLETED
        assert session.ending.result
        assert session.ending.result.overall_status is OverallStatus.COMPLETE
        assert bot.git("branch", "--format=%(refname:short)") == "main"
        assert await bot.end() == 0


async def with_a_mark(mika: MatrixPerson) -> None:
    await mika.reply("!stop")


async def in_the_room(mika: MatrixPerson) -> None:
    await mika.person.say(mika.room, "!stop")


async def by_name(mika: MatrixPerson) -> None:
    await mika.person.say(mika.room, "stop", mention=mika.bot, thread=mika.root)


async def by_chip(mika: MatrixPerson) -> None:
    await mika.clicks("🛑 Stop")


async def by_reaction(mika: MatrixPerson) -> None:
    card = await mika.sees("Got it")
    await mika.person.react(mika.room, card.event_id, "🛑")


WAYS = (with_a_mark, in_the_room, by_name, by_chip, by_reaction)


@pytest.mark.covers("O-C9")
async def test_stopped_in_any_way_it_goes_on_after_resume(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    async with in_a_room(tmp_path, homeserver, people, GWT_BOT_PACE="30") as (bot, mika):
        await mika.ask(REQUEST)
        await mika.clicks("✅ Use all defaults")
        await mika.clicks("✅ Approve")
        for number, stopped in enumerate(WAYS, start=1):
            await bot.until(bot.agents)
            await stopped(mika)
            await mika.until(lambda n=number: count(mika, "nothing is lost") == n)
            await bot.until(lambda: not bot.agents())
            (session,) = bot.sessions()
            assert session.status is Status.PAUSED, stopped.__name__
            before = bot.runs()
            await mika.clicks("▶ Resume")
            await mika.until(lambda n=number: count(mika, "Resumed by") == n)
            await bot.until(lambda runs=before: bot.runs() > runs)


def count(mika: MatrixPerson, words: str) -> int:
    return sum(words in card.text for card in mika.cards)


async def test_a_bot_that_is_killed_and_started_again_goes_on_where_it_was(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    async with in_a_room(tmp_path, homeserver, people) as (bot, mika):
        await mika.ask(REQUEST)
        await mika.is_offered("✅ Use all defaults")
        bot.kill()
        await mika.clicks("✅ Use all defaults")  # nobody hears it yet
        bot.start()
        await mika.is_offered("✅ Approve")
        bot.kill()
        await mika.clicks("✅ Approve")
        bot.start()
        await mika.sees("Running")
        bot.kill()
        bot.start()
        await mika.clicks("✅ Merge into main", on="Everything is built")
        await mika.clicks("✅ Merge into main", on="Merge 3 branches")
        await mika.sees("COMPLETE")
        (session,) = bot.sessions()
        assert [task.state for task in session.tasks] == ["Completed"] * 3
        heads = [card.text.partition("\n")[0] for card in mika.cards]
        twice = {head for head in heads if heads.count(head) > 1}
        assert not {head for head in twice if not head.startswith(("✏", "T00"))}, heads


async def test_who_may_not_is_told_so_and_changes_nothing(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    """Whatever power the room gives them: the list alone counts."""
    async with in_a_room(tmp_path, homeserver, people) as (bot, mika):
        stranger = people("stranger")
        await mika.person.invite(mika.room, stranger.id)
        await stranger.join(mika.room)
        await mika.person.state(mika.room, "m.room.power_levels", {"users": {stranger.id: 100}})
        other = MatrixPerson(stranger, mika.bot, mika.room)
        await mika.ask(REQUEST)
        await mika.clicks("✅ Use all defaults")
        await mika.sees("revision 1?")
        other.root = mika.root
        await other.person.look()
        await other.clicks("✅ Approve")
        await other.clicks("✏ Request changes")
        await other.clicks("❌ Discard")
        await other.reply("approve")  # talk of somebody who does not count
        await other.ask("Add a back door")
        refusals = "may not do that"
        other.root = mika.root
        await other.until(lambda: sum(refusals in card.text for card in other.cards) == 3)
        (session,) = bot.sessions()
        assert session.phase == "approving"
