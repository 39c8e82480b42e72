"""What people do in Slack is taken once, in order, and acknowledged only then."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from adapters.slack.blocks.cards import draw_card
from bot.core.cards import Card
from bot.core.choices import Command, Verb, Word
from bot.core.errors import Refused
from bot.core.events import Commanded, Opened, Pressed, Said
from bot.core.intent import Question
from bot.core.people import Person, Thread
from tests.adapters.slack.way_in import Desk, WayIn, listening, way_in
from tests.beds.slack import (
    AKI,
    EXTERNAL,
    GUEST,
    MIKA,
    PUBLIC,
    SECOND,
    TEAM,
    Message,
    SlackBed,
    invariants,
)
from tests.fakes import cards


def asked_in(thread: Thread, key: str) -> Sequence[Question]:
    """The questions of the one card there is."""
    return cards.QUESTIONS.questions if key == cards.QUESTIONS.key else ()


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed() as bed:
        yield bed


@pytest.fixture
async def talked() -> list[Thread]:
    return []


@pytest.fixture
async def way(bed: SlackBed, talked: list[Thread]) -> AsyncIterator[WayIn]:
    async with (
        way_in(bed, questions=asked_in, talked=talked.append) as way,
        listening(way),
    ):
        yield way
        invariants.check(bed)


async def shown(way: WayIn, card: Card) -> tuple[Message, str]:
    """A card in a thread Mika began, which nobody has taken note of."""
    root = await way.bed.say(MIKA, PUBLIC, "What stands here is for nobody.")
    [message] = draw_card(card)
    ts = await way.post(root.ts, message.text, message.blocks)
    await way.bed.all_acked()
    return root, ts


async def test_a_mention_comes_as_two_events_and_is_taken_once(way: WayIn) -> None:
    asked = await way.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    thread, event = await way.one()
    await way.bed.until(lambda: len(way.desk.calls) == 2)
    assert isinstance(event, Said)
    assert (event.text, event.mention) == ("Add a dark mode", True)
    assert event.id == f"slack:{TEAM}:{PUBLIC}:{asked.ts}"
    assert event.by == Person(platform="slack", id=f"{TEAM}:{MIKA}", name="Mika")
    assert thread == Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=asked.ts)
    assert abs(event.at.timestamp() - float(asked.ts)) < 0.001


async def test_the_same_event_three_times_is_acked_each_time_and_taken_once(way: WayIn) -> None:
    way.bed.faults.repeats = 2
    root = await way.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    await way.bed.until(lambda: len(way.desk.calls) == 6)
    way.bed.faults.repeats, way.bed.faults.echoes = 0, 2
    await way.bed.reply(MIKA, PUBLIC, root.ts, "and a light one")
    await way.bed.until(lambda: len(way.desk.calls) == 9)
    await way.taken(2)
    attempts = [one for sent in way.bed.deliveries for one in sent.attempts]
    await way.bed.until(lambda: all(one.acked for one in attempts))


async def test_what_cannot_be_taken_is_not_acked_and_comes_again(way: WayIn) -> None:
    way.desk.full()
    way.bed.courier.ack_seconds = 0.2
    dm = way.bed.dm(MIKA)
    await way.bed.say(MIKA, dm, "Add a dark mode")
    await way.one()
    assert len(way.desk.calls) == 2
    [sent] = way.bed.deliveries
    assert [attempt.acked is None for attempt in sent.attempts] == [True, False]


async def test_a_late_retry_after_a_restart_is_the_same_event(bed: SlackBed) -> None:
    bed.courier.ack_seconds = 0.2
    fallen, risen = Desk(), Desk()
    fallen.gate = asyncio.Event()
    async with way_in(bed, fallen) as way, listening(way):
        await bed.say(MIKA, bed.dm(MIKA), "Add a dark mode")
        await bed.until(lambda: fallen.calls)
        fallen.full(9)
        fallen.gate.set()
    async with way_in(bed, risen) as way, listening(way):
        _, event = await way.one()
    assert event.id == fallen.calls[0].id


async def test_messages_of_a_thread_are_taken_in_the_order_they_came(way: WayIn) -> None:
    root = await way.bed.say(MIKA, PUBLIC, "What stands here is for nobody.")
    way.bed.faults.slow(0.3, "users.info")
    await way.bed.reply(AKI, PUBLIC, root.ts, "first")
    await way.bed.reply(MIKA, PUBLIC, root.ts, "second")
    await way.bed.reply(MIKA, PUBLIC, root.ts, "third")
    await way.taken(3)
    assert way.desk.texts == ["first", "second", "third"]


async def test_another_thread_does_not_wait(way: WayIn) -> None:
    way.desk.gate = asyncio.Event()
    for word in ("one", "two"):
        await way.bed.say(MIKA, way.bed.dm(MIKA), word)
    await way.bed.until(lambda: len(way.desk.calls) == 2)
    way.desk.gate.set()
    await way.taken(2)


async def test_in_a_direct_message_no_mention_is_needed(way: WayIn) -> None:
    dm = way.bed.dm(MIKA)
    said = await way.bed.say(MIKA, dm, "status")
    thread, event = await way.one()
    assert (thread.channel, thread.root, thread.direct) == (dm, said.ts, True)
    assert isinstance(event, Commanded)
    assert (event.command.word, event.mention) == (Word.STATUS, True)


async def test_people_who_talk_to_each_other_are_left_alone_and_noticed(
    way: WayIn, talked: list[Thread]
) -> None:
    root = await way.bed.say(MIKA, PUBLIC, "Lunch?")
    await way.bed.reply(MIKA, PUBLIC, root.ts, f"<@{AKI}> what do you think?")
    await way.bed.edit(MIKA, root.ts, "Lunch at one?")
    await way.bed.until(lambda: len(talked) == 2)
    await way.bed.all_acked()
    assert way.desk.calls == []
    assert {thread.root for thread in talked} == {root.ts}
    assert way.bed.called("users.info") == []


@pytest.mark.parametrize("who", [GUEST, EXTERNAL])
async def test_whoever_does_not_belong_here_is_an_outsider(way: WayIn, who: str) -> None:
    await way.bed.mention(who, PUBLIC, "Delete everything")
    await way.one()
    assert way.desk.by().outsider


async def test_in_a_channel_shared_with_others_nobody_belongs_unless_the_operator_says_so(
    bed: SlackBed,
) -> None:
    async with way_in(bed, shared=()) as way, listening(way):
        root = await bed.mention(MIKA, PUBLIC, "Delete everything")
        await way.one()
        assert way.desk.by().outsider
        [message] = draw_card(cards.APPROVAL)
        ts = await way.post(root.ts, message.text, message.blocks)
        await bed.click(MIKA, ts, "Approve")
        await way.taken(2)
        assert way.desk.by().outsider
        await bed.mention(MIKA, SECOND, "Add a dark mode")
        await way.taken(3)
        assert not way.desk.by().outsider


async def test_a_member_nobody_knows_is_an_outsider(way: WayIn) -> None:
    way.bed.faults.refuse("user_not_found", "users.info")
    await way.bed.say(MIKA, way.bed.dm(MIKA), "Add a dark mode")
    await way.one()
    assert way.desk.by() == Person(platform="slack", id=f"{TEAM}:{MIKA}", outsider=True)


async def test_while_slack_cannot_say_who_it_was_nothing_is_taken(way: WayIn) -> None:
    way.bed.courier.ack_seconds = 0.2
    way.bed.faults.answer(503, "users.info")
    await way.bed.say(MIKA, way.bed.dm(MIKA), "Add a dark mode")
    await way.one()
    [sent] = way.bed.deliveries
    assert len(sent.attempts) == 2
    assert way.desk.by().name == "Mika"


async def test_slack_is_asked_once_who_somebody_is(way: WayIn) -> None:
    way.bed.faults.slow(0.1, "users.info")
    for number in range(5):
        await way.bed.say(MIKA, way.bed.dm(MIKA), f"wish {number}")
    await way.taken(5)
    assert len(way.bed.called("users.info")) == 1


async def test_a_press_tells_what_it_is_about(way: WayIn) -> None:
    root, ts = await shown(way, cards.APPROVAL)
    await way.bed.click(AKI, ts, "Approve")
    thread, event = await way.one()
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.APPROVE, cards.DIGEST)
    assert (thread.root, event.by.id) == (root.ts, f"{TEAM}:{AKI}")


async def test_two_presses_are_two_events(way: WayIn) -> None:
    _, ts = await shown(way, cards.APPROVAL)
    await asyncio.gather(way.bed.click(AKI, ts, "Approve"), way.bed.click(MIKA, ts, "Approve"))
    await way.taken(2)
    await way.bed.click(MIKA, ts, "Approve")
    await way.taken(3)


async def test_a_button_that_is_none_of_ours_is_acked_and_means_nothing(way: WayIn) -> None:
    root = await way.bed.say(MIKA, PUBLIC, "What stands here is for nobody.")
    text = {"type": "plain_text", "text": "Old"}
    for value in ("approve", '{"v":"launch"}', "[]", "{"):
        button = {"type": "button", "action_id": "old", "text": text, "value": value}
        ts = await way.post(root.ts, "Old", [{"type": "actions", "elements": [button]}])
        clicked = await way.bed.click(MIKA, ts, "Old")
        assert clicked
        await clicked.ack()
    assert way.desk.calls == []


async def test_a_button_that_asks_opens_its_form_and_the_text_comes_with_it(way: WayIn) -> None:
    root, ts = await shown(way, cards.APPROVAL)
    await way.bed.click(MIKA, ts, "Request changes")
    await way.bed.until(lambda: way.bed.views)
    thread, opened = await way.one()
    assert isinstance(opened, Opened)
    assert opened.verb is Verb.CHANGE
    [form] = way.bed.views
    await way.bed.submit(form, {"said": "Smaller steps, please"})
    [_, (there, event)] = await way.taken(2)
    assert there == thread
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.CHANGE, cards.DIGEST)
    assert event.text == "Smaller steps, please"
    assert thread.root == root.ts
    assert way.bed.views == []


async def test_who_may_not_is_shown_no_form(way: WayIn) -> None:
    _, ts = await shown(way, cards.APPROVAL)
    way.desk.lets = False
    clicked = await way.bed.click(MIKA, ts, "Request changes")
    assert clicked
    await clicked.ack()
    await way.reception.close()
    assert isinstance(way.desk.calls[0], Opened)
    assert way.bed.called("views.open") == []


async def test_an_empty_form_is_given_back(way: WayIn) -> None:
    _, ts = await shown(way, cards.APPROVAL)
    await way.bed.click(MIKA, ts, "Request changes")
    await way.bed.until(lambda: way.bed.views)
    [form] = way.bed.views
    answer = await way.bed.submit(form, {"said": "   "})
    assert answer["response_action"] == "errors"
    assert way.bed.views == [form]
    await way.bed.submit(form, {"said": "Smaller"})
    await way.taken(2)


async def test_a_form_that_slack_does_not_open_is_no_harm(way: WayIn) -> None:
    _, ts = await shown(way, cards.APPROVAL)
    way.bed.faults.refuse("expired_trigger_id", "views.open")
    clicked = await way.bed.click(MIKA, ts, "Request changes")
    assert clicked
    await clicked.ack()
    await way.bed.until(lambda: way.bed.called("views.open"))
    await way.one()


async def test_what_was_picked_comes_with_the_press(way: WayIn) -> None:
    _, ts = await shown(way, cards.QUESTIONS)
    await way.bed.choose(MIKA, ts, "pick:1", "D1:2")
    await way.bed.click(MIKA, ts, "Send these answers")
    _, event = await way.one()
    assert isinstance(event, Pressed)
    assert event.verb is Verb.ANSWER
    assert event.answers == {1: "In the user's profile on the server"}


async def test_questions_can_be_answered_in_a_form(way: WayIn) -> None:
    _, ts = await shown(way, cards.QUESTIONS)
    await way.bed.click(MIKA, ts, "Answer in a form")
    await way.bed.until(lambda: way.bed.views)
    await way.bed.submit(way.bed.views[0], {"else:1": "On a floppy", "else:2": "右上"})
    [_, (_, event)] = await way.taken(2)
    assert isinstance(event, Pressed)
    assert event.verb is Verb.ANSWER
    assert event.answers == {1: "On a floppy", 2: "右上"}


async def test_a_command_is_given_in_the_channel_itself(way: WayIn) -> None:
    delivery = await way.bed.slash(MIKA, SECOND, "/interrupt", "all-mine")
    assert await delivery.ack() == {}
    thread, event = await way.one()
    assert thread == Thread(platform="slack", workspace=TEAM, channel=SECOND, root="")
    assert isinstance(event, Commanded)
    assert event.command == Command(word=Word.STOP, argument="all-mine")


async def test_a_command_nobody_understands_is_delivered_with_what_was_typed(
    way: WayIn,
) -> None:
    delivery = await way.bed.slash(AKI, SECOND, "/gwt", "make <it> so")
    assert await delivery.ack() == {}
    _, event = await way.one()
    assert isinstance(event, Commanded)
    assert event.command == Command(word=Word.HELP, text="make <it> so")


async def test_a_shortcut_is_about_the_thread_of_its_message(way: WayIn) -> None:
    root, ts = await shown(way, cards.RECEIVED)
    await way.bed.message_shortcut(MIKA, ts, "session_interrupt")
    await way.bed.message_shortcut(MIKA, root.ts, "session_status")
    both = await way.taken(2)
    assert {thread.root for thread, _ in both} == {root.ts}
    words = [event.command.word for _, event in both if isinstance(event, Commanded)]
    assert words == [Word.STOP, Word.STATUS]


async def test_slacks_own_stop_button_stops(way: WayIn) -> None:
    root, _ = await shown(way, cards.RECEIVED)
    client: Any = way.client
    await client.agents_sessions_setStatus(
        channel_id=PUBLIC, thread_ts=root.ts, status="processing"
    )
    await way.bed.native_stop(MIKA, PUBLIC, root.ts)
    thread, event = await way.one()
    assert thread.root == root.ts
    assert isinstance(event, Commanded)
    assert (event.command.word, event.mention) == (Word.STOP, True)


async def test_an_event_nobody_listens_to_is_acked(way: WayIn) -> None:
    event = {"type": "channel_rename", "channel": {"id": PUBLIC}, "event_ts": "1.0"}
    await way.bed.courier.event(event).ack()
    other = way.bed.courier.send("interactive", {"type": "view_closed", "view": {}})
    await other.ack()
    assert way.desk.calls == []


async def test_what_could_not_be_answered_is_taken_all_the_same(way: WayIn) -> None:
    way.desk.fails = [Refused("nobody there to be told")]
    delivery = await way.bed.slash(MIKA, SECOND, "/gwt", "status")
    await delivery.ack()


async def test_a_bug_is_logged_and_the_event_comes_again(
    way: WayIn, caplog: pytest.LogCaptureFixture
) -> None:
    way.bed.courier.ack_seconds = 0.2
    way.desk.fails = [ZeroDivisionError("a bug")]
    with caplog.at_level(logging.ERROR):
        await way.bed.say(MIKA, way.bed.dm(MIKA), "Add a dark mode")
        await way.one()
    assert "ZeroDivisionError" in caplog.text
    assert "Traceback" in caplog.text


async def test_nothing_has_to_be_sent_twice(way: WayIn) -> None:
    for number in range(20):
        await way.bed.say(MIKA, way.bed.dm(MIKA), f"wish {number}")
    await way.taken(20)
    assert all(len(one.attempts) == 1 for one in way.bed.deliveries)
