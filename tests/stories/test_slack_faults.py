"""The real program on a Slack where everything goes wrong that can: it goes on, says everything once, or ends with a clear word."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from pathlib import Path

import pytest

from adapters.demo.texts import REQUEST
from adapters.slack.chat import SlackChat
from adapters.slack.client import SlackAccess
from adapters.slack.connection import SocketTiming
from bot.core.errors import Refused
from bot.core.events import FromPeople
from bot.core.people import Thread
from bot.core.session import Session
from bot.core.states import Phase
from tests.beds.slack import (
    AKI,
    APP_TOKEN,
    BOT_TOKEN,
    GUEST,
    MIKA,
    PUBLIC,
    SIGNING_SECRET,
    TEAM,
    SlackBed,
    invariants,
)
from tests.beds.synapse.server import free_port
from tests.stories.program import last_words, program
from tests.stories.serving import PATIENCE, in_slack, serving
from tests.stories.slack_person import SlackPerson

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
POST, UPDATE = "chat.postMessage", "chat.update"
CHANGE = "Name the cents in the receipt, please."


async def is_planned(mika: SlackPerson) -> None:
    """From the request to the plan."""
    await mika.ask(REQUEST)
    await mika.presses("Use all defaults")
    await mika.sees("revision 1?")


async def check(bed: SlackBed, *, unacked: bool = False) -> None:
    """Every card stands in its thread once."""
    if not unacked:
        await bed.all_acked(PATIENCE)
    invariants.check(bed, unacked=unacked)


def titles(mika: SlackPerson) -> list[str]:
    """The first line of each card in the thread, from top to bottom."""
    return [card.reads.splitlines()[0].strip("*❓ ") for card in mika.cards if not card.files]


def only(sessions: list[Session]) -> Session:
    (session,) = sessions
    return session


async def test_what_is_told_again_and_again_is_done_once(tmp_path: Path) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA)) as bot:
        bed.faults.repeats, bed.faults.echoes = 2, 1
        mika = SlackPerson(bed)
        bot.start()
        await bed.connected(seconds=PATIENCE)
        await is_planned(mika)
        await mika.reply(CHANGE)
        await mika.sees("revision 2?")
        before = [card.ts for card in mika.cards]
        assert await bot.end() == 0
        bot.start()
        await bed.connected(seconds=PATIENCE)
        late = [one for one in bed.deliveries if one.payload.get("type") != "view_submission"]
        again = [bed.courier.send(one.kind, one.payload) for one in late]
        await bed.all_acked(PATIENCE)
        assert all(one.acked for one in again)
        await mika.bed.mention(MIKA, mika.channel, "status", mika.root)
        await bed.until(lambda: len(mika.cards) == len(before) + 1, PATIENCE)
        session = only(bot.sessions())
        assert session.plan.spec
        assert session.plan.spec.revision == 2
        assert bed.ephemerals(MIKA) == []
        await check(bed)


async def test_whatever_becomes_of_the_socket_the_story_goes_on(tmp_path: Path) -> None:
    # what is not acked comes again after 9 seconds: by then every sort of dead socket is noticed
    async with SlackBed(time_scale=0.15) as bed, serving(tmp_path, **in_slack(bed, MIKA)) as bot:
        mika = SlackPerson(bed)
        bot.start()
        await bed.connected(seconds=PATIENCE)
        await bed.sockets.disconnect("warning")
        await bed.sockets.disconnect("refresh_requested")
        await mika.ask(REQUEST)
        await mika.sees("A few questions")
        bed.faults.dead_urls = 1
        bed.sockets.reset()
        await mika.reply("defaults")
        await mika.sees("revision 1?")
        bed.sockets.mute()
        await mika.reply(CHANGE)
        await mika.sees("revision 2?")
        await bed.sockets.disconnect("too_many_websockets")
        await mika.reply("status")
        await bed.until(lambda: bed.sockets.opened >= 5, PATIENCE)
        await bed.connected(seconds=PATIENCE)
        await mika.presses("Discard")
        await mika.sees("Discarded by Mika")
        only(bot.sessions())
        await check(bed, unacked=True)


async def test_answers_that_are_lost_make_no_second_card(tmp_path: Path) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA)) as bot:
        mika = SlackPerson(bed)
        bot.start()
        await bed.connected(seconds=PATIENCE)
        for _ in range(4):
            bed.faults.lose_answer(POST)
            bed.faults.lose_answer(UPDATE)
            bed.faults.drop(POST)
        bed.faults.lose_answer("files.*", 1)
        await is_planned(mika)
        await mika.reply(CHANGE)
        await mika.sees("revision 2?")
        await mika.sees("Changes requested by Mika")
        assert Counter(titles(mika)).most_common(1)[0][1] == 1
        await check(bed)


async def test_three_sessions_in_one_channel_wait_for_slack_and_keep_their_order(
    tmp_path: Path,
) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA, AKI)) as bot:
        people = [SlackPerson(bed), SlackPerson(bed, AKI), SlackPerson(bed)]
        bot.start()
        await bed.connected(seconds=PATIENCE)
        bed.faults.storm(4, 1, POST)
        await asyncio.gather(*(one.ask(REQUEST) for one in people))
        for one in people:
            await one.presses("Use all defaults")
        bed.faults.storm(4, 1, "chat.*")
        for one in people:
            await one.sees("revision 1?")
        for one in people:
            order = [title for title in titles(one) if "Discount" not in title]
            assert [title.split(" ")[0] for title in order] == [
                "Got", "Questions,", "spec.md", "plan.md", "tasks.md", "Shall",
            ], order  # fmt: skip
        assert len(bot.sessions()) == 3
        await check(bed)


async def test_a_slack_that_answers_nothing_for_a_while_is_waited_for(tmp_path: Path) -> None:
    async with SlackBed(ack_seconds=1) as bed, serving(tmp_path, **in_slack(bed, MIKA)) as bot:
        mika = SlackPerson(bed)
        bot.start()
        await bed.connected(seconds=PATIENCE)
        bed.faults.answer(502, times=None)
        before = len(bed.calls)
        await mika.ask(REQUEST)
        await bed.until(lambda: bed.called("users.info")[1:], PATIENCE)
        bed.faults.heal()
        await mika.sees("A few questions")
        bed.faults.answer(503, times=None)
        await mika.presses("Use all defaults")
        await bed.until(lambda: bed.called(UPDATE)[1:], PATIENCE)
        assert len(bed.calls) - before < 60, "it asks without a pause"
        bed.faults.heal()
        await mika.sees("revision 1?")
        only(bot.sessions())
        await check(bed, unacked=True)


async def test_a_slack_that_is_away_at_the_start_is_waited_for(tmp_path: Path) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA)) as bot:
        await bed.go_away()
        bot.start()
        await bot.until(lambda: "At work on slack" in bot.out)
        await bed.come_back()
        await bed.connected(seconds=PATIENCE)
        mika = SlackPerson(bed)
        await mika.ask(REQUEST)
        await mika.sees("A few questions")
        await check(bed)
        assert await bot.end() == 0


async def test_without_a_socket_slack_is_heard_by_signed_requests(tmp_path: Path) -> None:
    port = free_port()
    async with SlackBed() as bed:
        environ = in_slack(bed, MIKA) | {
            "SLACK_APP_TOKEN": "",
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_HTTP_PORT": str(port),
        }
        async with serving(tmp_path, **environ) as bot:
            url = bed.deliver_to(f"http://127.0.0.1:{port}/slack/events")
            mika = SlackPerson(bed)
            bot.start()
            await bot.until(lambda: listens(port))
            await is_planned(mika)
            await mika.presses("Request changes")
            form = await mika.is_asked()
            await bed.submit(form, {"said": CHANGE})
            await mika.sees("revision 2?")
            # before it ends: Slack tells it its own last words, and later again what it missed
            await check(bed)
            assert set(url.statuses) == {200}
            assert await bot.end() == 0


def listens(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


async def test_of_a_thousand_clicks_at_once_late_stale_and_told_again_one_counts(
    tmp_path: Path,
) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA, AKI)) as bot:
        mika = SlackPerson(bed)
        bot.start(GWT_BOT_PACE="30")
        await bed.connected(seconds=PATIENCE)
        await is_planned(mika)
        old = await mika.sees("revision 1?")
        await mika.presses("Request changes")
        await bed.submit(await mika.is_asked(), {"said": CHANGE})
        card = await mika.sees("revision 2?")
        people = (MIKA, AKI, GUEST, MIKA)
        await asyncio.gather(
            *(bed.click(people[n % 4], old.ts, "Approve", version=0) for n in range(200))
        )
        assert only(bot.sessions()).approval.granted is None, (
            "nobody has approved what is to be built"
        )
        await asyncio.gather(*(bed.click(people[n % 4], card.ts, "Approve") for n in range(700)))
        await mika.sees("approved by")
        await asyncio.gather(*(again(bed, n) for n in range(100)))
        await bed.until(lambda: len(told(bed, GUEST)) >= 1, PATIENCE)
        # whoever may do nothing is told so, and not without end; the others are told why nothing happened
        assert all("may not do that" in text for text in told(bed, GUEST))
        await bed.until(lambda: len(told(bed, MIKA, AKI)) >= 1, PATIENCE)
        assert not any("may not do that" in text for text in told(bed, MIKA, AKI))
        session = only(bot.sessions())
        assert session.phase is Phase.EXECUTING
        assert sum("Approved revision" in one.content for one in session.conversation) == 1
        # a thousand in a few seconds: some hear from Slack that it took too long, and are none the worse for it
        await bed.until(lambda: all(one.over.is_set() for one in bed.deliveries), PATIENCE)
        await check(bed, unacked=True)


async def again(bed: SlackBed, number: int) -> None:
    """A click that Slack tells of once more."""
    clicks = [one for one in bed.deliveries if one.payload.get("type") == "block_actions"]
    await bed.courier.send("interactive", clicks[-1 - number].payload).sent.wait()


def told(bed: SlackBed, *people: str) -> list[str]:
    """What was said to them in private."""
    return [one.reads for user in people for one in bed.ephemerals(user)]


async def test_an_app_token_that_is_taken_back_ends_the_program_with_a_clear_word(
    tmp_path: Path,
) -> None:
    async with SlackBed() as bed, program(tmp_path, in_slack(bed, MIKA)) as bot:
        await bed.connected(seconds=PATIENCE)
        bed.faults.refuse("token_revoked", "apps.connections.open", times=None)
        await bed.sockets.disconnect("refresh_requested")
        said = await last_words(bot)
        assert "slack has ended: Slack does not accept the token" in said
        assert "SLACK_APP_TOKEN" in said
        assert len(bed.called("apps.connections.open")) <= 5
        await check(bed)


@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
async def test_a_token_that_does_not_count_allows_no_start(tmp_path: Path, method: str) -> None:
    async with SlackBed() as bed:
        bed.faults.refuse("invalid_auth", method, times=None)
        async with program(tmp_path, in_slack(bed, MIKA)) as bot:
            said = await last_words(bot)
        assert "invalid_auth" in said
        assert "_TOKEN" in said
        await check(bed)


async def test_a_bot_token_that_is_taken_back_ends_the_listening(tmp_path: Path) -> None:
    async with SlackBed() as bed:
        access = SlackAccess(BOT_TOKEN, APP_TOKEN, api_url=bed.api_url)
        rhythm = SocketTiming(keep_alive=0.2)
        async with SlackChat(
            access, tmp_path, [f"{TEAM}:{PUBLIC}"], shared=[f"{TEAM}:{PUBLIC}"], rhythm=rhythm
        ) as chat:
            listening = asyncio.create_task(chat.listen(nobody))
            await bed.connected(seconds=PATIENCE)
            bed.faults.refuse("token_revoked", times=None)
            before = len(bed.calls)
            await bed.mention(MIKA, PUBLIC, "Is anybody there?")
            with pytest.raises(Refused, match="does not accept the token") as refused:
                await asyncio.wait_for(listening, PATIENCE)
            assert "SLACK_BOT_TOKEN" in refused.value.remedy
            assert len(bed.calls) - before < 10
        await check(bed, unacked=True)


async def nobody(thread: Thread, event: FromPeople) -> bool:
    raise AssertionError(f"nobody can be known any more: {event}")
