"""Listening to a real homeserver: nothing is lost and nothing disordered, whatever happens to either side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from adapters.matrix.client import Backoff, SignedOut, retry_delay
from adapters.matrix.events import MatrixEvent
from bot.core.errors import Refused, Unavailable
from tests.adapters.matrix.conftest import Talk
from tests.adapters.matrix.listening import Ear, until
from tests.beds.synapse import Fault, Homeserver, People, Person, Proxy

AWAY = 150
"""More than a homeserver gives at a time."""
FEW, SMALL = 8, 3
"""The same with less: so many messages, in so small pages."""


async def say_at_once(person: Person, room: str, count: int) -> list[str]:
    """Many messages; their ids in the order of the room."""
    await person.look(0)
    before = len(person.posts(room))
    await asyncio.gather(*(person.say(room, f"{number}") for number in range(count)))
    await person.until(lambda: len(person.posts(room)) == before + count)
    return [post.event_id for post in person.posts(room)[before:]]


async def test_the_first_start_hears_nothing_of_the_past(talk: Talk) -> None:
    await talk.anna.say(talk.room, "long ago")
    async with talk.ear.open():
        await talk.anna.say(talk.room, "now")
        await until(lambda: talk.ear.texts(talk.room))
    assert talk.ear.texts(talk.room) == ["now"]


async def test_everything_said_while_away_is_heard_once_and_in_order(talk: Talk) -> None:
    async with talk.ear.open():
        pass
    said = await say_at_once(talk.anna, talk.room, AWAY)
    async with talk.ear.open():
        await until(lambda: len(talk.ear.ids(talk.room)) >= AWAY)
        said.append(await talk.anna.say(talk.room, "welcome back"))
        await until(lambda: said[-1] in talk.ear.ids(talk.room))
    assert talk.ear.ids(talk.room) == said


async def test_what_was_taken_is_not_told_again_after_a_restart(talk: Talk) -> None:
    for number in range(3):
        async with talk.ear.open():
            place = talk.ear.bookmark().since
            await talk.anna.say(talk.room, f"{number}")
            await until(lambda place=place: talk.ear.bookmark().since != place)
    assert talk.ear.texts(talk.room) == ["0", "1", "2"]


async def test_the_place_moves_only_after_everything_was_taken(talk: Talk) -> None:
    gate = asyncio.Event()

    async def hold(event: MatrixEvent) -> None:
        if event["content"].get("body") == "slow":
            await gate.wait()

    async with talk.ear.open():
        talk.ear.before_hearing = hold
        place = talk.ear.bookmark().since
        await talk.anna.say(talk.room, "slow")
        other = await talk.anna.create_room()
        await talk.anna.invite(other, talk.bot.id)
        await until(lambda: talk.ear.invited)
        assert talk.ear.bookmark().since == place, "killed now, it would hear the slow one again"
        gate.set()
        await until(lambda: talk.ear.bookmark().since != place)
    assert talk.ear.texts(talk.room) == ["slow"]


async def test_what_was_being_taken_at_the_end_is_heard_again(talk: Talk) -> None:
    begun = asyncio.Event()

    async def die(_: MatrixEvent) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with talk.ear.open():
        talk.ear.before_hearing = die
        await talk.anna.say(talk.room, "important")
        await begun.wait()
    assert talk.ear.heard == []
    talk.ear.before_hearing = lambda _: None
    async with talk.ear.open():
        await until(lambda: talk.ear.texts(talk.room) == ["important"])


async def test_what_cannot_be_taken_is_told_again_before_anything_after_it(talk: Talk) -> None:
    refusals = 3

    def fill_disk(event: MatrixEvent) -> None:
        nonlocal refusals
        if event["content"].get("body") == "1" and refusals:
            refusals -= 1
            raise Unavailable("No space left on device.")

    talk.ear.before_hearing = fill_disk
    async with talk.ear.open():
        for number in range(4):
            await talk.anna.say(talk.room, f"{number}")
        await until(lambda: len(talk.ear.texts(talk.room)) == 4)
    assert (talk.ear.texts(talk.room), refusals) == (["0", "1", "2", "3"], 0)


async def test_a_room_that_is_busy_does_not_hold_up_the_others(talk: Talk, people: People) -> None:
    urgent = await people.room(talk.anna, talk.bot)
    gate = asyncio.Event()

    async def hold(event: MatrixEvent) -> None:
        if event["content"].get("body") == "wait":
            await gate.wait()

    talk.ear.before_hearing = hold
    async with talk.ear.open():
        await talk.anna.say(talk.room, "wait")
        await talk.anna.say(talk.room, "after it")
        await talk.anna.say(urgent, "stop")
        await until(lambda: talk.ear.texts(urgent) == ["stop"])
        assert talk.ear.texts(talk.room) == []
        gate.set()
        await until(lambda: talk.ear.texts(talk.room) == ["wait", "after it"])


async def test_a_message_that_the_bot_stumbles_over_is_told_in_the_log_and_costs_no_other(
    talk: Talk, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody may have made it so; it would come again at every start."""

    def stumble(event: MatrixEvent) -> None:
        if event["content"].get("body") == "odd":
            raise ValueError("a bug")

    async with talk.ear.open():
        talk.ear.before_hearing = stumble
        await talk.anna.say(talk.room, "odd")
        await talk.anna.say(talk.room, "even")
        await until(lambda: talk.ear.texts(talk.room) == ["even"])
    (told,) = [one for one in caplog.records if one.levelname == "ERROR"]
    assert told.exc_info
    assert str(told.exc_info[1]) == "a bug"


async def test_a_homeserver_that_goes_and_comes_back_changes_nothing(
    talk: Talk, homeserver: Homeserver
) -> None:
    async with talk.ear.open():
        await talk.anna.say(talk.room, "before")
        await until(lambda: talk.ear.texts(talk.room))
        await asyncio.to_thread(homeserver.kill)
        try:
            assert talk.ear.texts(talk.room) == ["before"]
        finally:
            await asyncio.to_thread(homeserver.start)
        await talk.anna.say(talk.room, "after")
        await until(lambda: len(talk.ear.texts(talk.room)) > 1)
    assert talk.ear.texts(talk.room) == ["before", "after"]


@pytest.mark.parametrize("spoil", [Proxy.fail, Proxy.limit])
async def test_errors_and_limits_are_waited_out(
    far_talk: Talk, proxy: Proxy, spoil: Callable[..., Fault]
) -> None:
    ear = far_talk.ear
    async with ear.open(poll=0.1):
        trouble = spoil(proxy, 3, where="/sync")
        await until(lambda: not trouble.left)
        await far_talk.anna.say(far_talk.room, "still there?")
        await until(lambda: ear.texts(far_talk.room))
    assert ear.texts(far_talk.room) == ["still there?"]


def test_waiting_begins_short_grows_and_ends_growing() -> None:
    assert list(islice(Backoff().waits(), 7)) == [0.5, 1, 2, 4, 8, 10, 10]


@pytest.mark.parametrize(("named", "seconds"), [(None, 2), (0.5, 2), (7.5, 7.5), (86_400, 300)])
def test_a_time_that_is_named_is_waited_for_unless_it_is_absurd(
    named: float | None, seconds: float
) -> None:
    assert retry_delay(2, Unavailable("Too many requests.", retry_after=named)) == seconds


async def test_an_answer_that_was_lost_is_asked_for_again(far_talk: Talk, proxy: Proxy) -> None:
    ear = far_talk.ear
    async with ear.open():
        await far_talk.anna.say(far_talk.room, "one")
        await until(lambda: ear.texts(far_talk.room))
        lost = proxy.lose(4, where="/sync")
        await far_talk.anna.say(far_talk.room, "two")
        await until(lambda: lost.met)
        await far_talk.anna.say(far_talk.room, "three")
        await until(lambda: len(ear.texts(far_talk.room)) == 3)
    assert (ear.texts(far_talk.room), lost.left) == (["one", "two", "three"], 0)


async def test_a_dead_connection_is_noticed(far_talk: Talk, proxy: Proxy) -> None:
    ear = far_talk.ear
    async with ear.open(poll=0.2, grace=0.3):
        dead = proxy.slow(3600, 1, where="since=")
        await until(lambda: dead.met)
        await far_talk.anna.say(far_talk.room, "hello?")
        # Before anybody else notices it: the library gives up after fifteen seconds.
        await until(lambda: ear.texts(far_talk.room) == ["hello?"], seconds=12)


async def test_nobody_there_is_waited_out(far_talk: Talk, proxy: Proxy) -> None:
    ear = far_talk.ear
    async with ear.open():
        await proxy.close()
        await far_talk.anna.say(far_talk.room, "while it was gone")
        await proxy.open()
        await until(lambda: ear.texts(far_talk.room) == ["while it was gone"])


async def test_trouble_while_reading_what_was_missed_loses_nothing(
    far_talk: Talk, proxy: Proxy
) -> None:
    ear = far_talk.ear
    async with ear.open():
        pass
    said = await say_at_once(far_talk.anna, far_talk.room, FEW)
    faults = (proxy.fail(2, where="/messages"), proxy.limit(1, where="/messages"))
    async with ear.open(page=SMALL):
        await until(lambda: len(ear.ids(far_talk.room)) >= FEW)
    assert ear.ids(far_talk.room) == said
    assert [fault.left for fault in faults] == [0, 0]


async def test_what_may_not_be_read_any_more_does_not_end_the_listening(
    far_talk: Talk, proxy: Proxy
) -> None:
    ear = far_talk.ear
    async with ear.open():
        pass
    said = await say_at_once(far_talk.anna, far_talk.room, FEW)
    proxy.refuse(status=403, errcode="M_FORBIDDEN", where="/messages")
    async with ear.open(page=SMALL):
        await until(lambda: ear.ids(far_talk.room))
        await until(lambda: ear.ids(far_talk.room) == said[-SMALL:])


async def test_a_token_that_ends_while_reading_what_was_missed_loses_nothing(
    far_talk: Talk, proxy: Proxy
) -> None:
    ear = far_talk.ear
    async with ear.open():
        pass
    place = ear.bookmark().since
    said = await say_at_once(far_talk.anna, far_talk.room, FEW)
    proxy.refuse(status=401, errcode="M_UNKNOWN_TOKEN", where="/messages")
    async with ear.open(page=SMALL) as listening:
        await asyncio.wait({listening}, timeout=120)
        assert isinstance(listening.exception(), SignedOut)
    assert (ear.heard, ear.bookmark().since) == ([], place)
    proxy.heal()
    async with ear.open(page=SMALL):
        await until(lambda: len(ear.ids(far_talk.room)) >= FEW)
    assert ear.ids(far_talk.room) == said


async def test_a_revoked_token_ends_the_listening_with_what_to_do(
    talk: Talk, homeserver: Homeserver
) -> None:
    async with talk.ear.open() as listening:
        homeserver.revoke(talk.bot.login)
        await asyncio.wait({listening}, timeout=120)
        error = listening.exception()
    assert isinstance(error, Refused)
    assert "no longer valid" in error.reason
    assert "new access token" in error.remedy
    assert talk.bot.login.access_token not in repr(error) + error.reason + error.remedy


async def test_a_place_the_homeserver_does_not_know_is_told_with_what_to_do(talk: Talk) -> None:
    talk.ear.bookmark().advance("nonsense")
    async with talk.ear.open() as listening:
        await asyncio.wait({listening}, timeout=120)
        error = listening.exception()
    assert isinstance(error, Refused)
    assert str(talk.ear.bookmark().path) in error.remedy


async def test_listening_ends_at_once_when_cancelled(talk: Talk) -> None:
    async with talk.ear.open() as listening:
        await talk.anna.say(talk.room, "hello")
        await until(lambda: talk.ear.texts(talk.room))
        listening.cancel()
        async with asyncio.timeout(120):
            await asyncio.wait({listening})
    assert listening.cancelled()


async def test_a_room_begins_with_the_invitation(talk: Talk) -> None:
    """Not before: a request of last year must not be carried out because the bot enters a room."""
    room = await talk.anna.create_room()
    talk.ear.friends.add(talk.anna.id)
    await talk.anna.say(room, "last year")
    async with talk.ear.open():
        pass
    await talk.anna.invite(room, talk.bot.id)
    await talk.anna.say(room, "please do this")
    async with talk.ear.open():
        await until(lambda: "please do this" in talk.ear.texts(room))
        await talk.anna.say(room, "thanks")
        await until(lambda: "thanks" in talk.ear.texts(room))
    assert talk.ear.texts(room) == ["please do this", "thanks"]


async def test_a_room_to_which_the_bot_was_invited_before_its_first_start_has_no_past(
    talk: Talk,
) -> None:
    room = await talk.anna.create_room(talk.bot.id)
    talk.ear.friends.add(talk.anna.id)
    await talk.anna.say(room, "before there was a bot")
    async with talk.ear.open():
        await until(lambda: any(where == room for where, _ in talk.ear.heard))
        await talk.anna.say(room, "now")
        await until(lambda: "now" in talk.ear.texts(room))
    assert talk.ear.texts(room) == ["now"]


async def test_the_last_words_before_the_bot_was_put_out_are_heard(talk: Talk) -> None:
    async with talk.ear.open():
        pass
    await talk.anna.say(talk.room, "stop everything")
    await talk.anna.kick(talk.room, talk.bot.id)
    async with talk.ear.open():
        await until(lambda: talk.ear.texts(talk.room) == ["stop everything"])


async def test_another_account_in_the_same_folder_begins_anew(
    talk: Talk, people: People, tmp_path: Path
) -> None:
    async with talk.ear.open():
        pass
    other = people("other")
    room = await people.room(talk.anna, other)
    await talk.anna.say(room, "before")
    ear = Ear(talk.ear.url, other.login, talk.ear.folder)
    async with ear.open():
        await talk.anna.say(room, "now")
        await until(lambda: ear.texts(room))
    assert ear.texts(room) == ["now"]
