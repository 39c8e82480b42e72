"""What people do in Slack is taken once, in order, and acknowledged only then; and who they are is asked of Slack."""

from __future__ import annotations

import asyncio
import logging

import pytest

from bot.core.choices import Verb
from bot.core.errors import Refused
from bot.core.events import Commanded, Opened, Pressed, Said
from bot.core.people import Person, Thread
from tests.adapters.slack.bot import CHANGED, DEADLINE, Bot, Desk
from tests.beds.slack import AKI, EXTERNAL, GUEST, MIKA, PUBLIC, SECOND, TEAM
from tests.fakes import cards


async def test_a_mention_comes_as_two_events_and_is_taken_once(bot: Bot) -> None:
    asked = await bot.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    thread, event = await bot.one()
    await bot.bed.until(lambda: len(bot.desk.calls) == 2)
    assert isinstance(event, Said)
    assert (event.text, event.mention) == ("Add a dark mode", True)
    assert event.id == f"slack:{TEAM}:{PUBLIC}:{asked.ts}"
    assert event.by == Person(platform="slack", id=f"{TEAM}:{MIKA}", name="Mika")
    assert thread == Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=asked.ts)
    assert abs(event.at.timestamp() - float(asked.ts)) < 0.001


async def test_the_same_event_three_times_is_acked_each_time_and_taken_once(bot: Bot) -> None:
    bot.bed.faults.repeats = 2
    root = await bot.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    await bot.bed.until(lambda: len(bot.desk.calls) == 6)
    bot.bed.faults.repeats, bot.bed.faults.echoes = 0, 2
    await bot.bed.reply(MIKA, PUBLIC, root.ts, "and a light one")
    await bot.bed.until(lambda: len(bot.desk.calls) == 9)
    await bot.taken(2)
    attempts = [one for sent in bot.bed.deliveries for one in sent.attempts]
    await bot.bed.until(lambda: all(one.acked for one in attempts))


async def test_what_cannot_be_taken_is_not_acked_and_comes_again(bot: Bot) -> None:
    bot.desk.full()
    bot.bed.courier.ack_seconds = 0.2
    await bot.bed.say(MIKA, bot.bed.dm(MIKA), "Add a dark mode")
    await bot.one()
    assert len(bot.desk.calls) == 2
    [sent] = bot.bed.deliveries
    assert [attempt.acked is None for attempt in sent.attempts] == [True, False]


async def test_a_late_retry_after_a_restart_is_the_same_event(bot: Bot) -> None:
    bot.bed.courier.ack_seconds = 0.2
    bot.bed.leeway.unacked = True
    bot.desk.full(1_000)
    await bot.bed.say(MIKA, bot.bed.dm(MIKA), "Add a dark mode")
    await bot.bed.until(lambda: bot.desk.calls)
    fallen = bot.desk.calls[0]
    bot.desk = Desk()
    await bot.restart()
    _, event = await bot.one()
    assert event.id == fallen.id


async def test_messages_of_a_thread_are_taken_in_the_order_they_came(bot: Bot) -> None:
    root = await bot.bed.say(MIKA, PUBLIC, "What stands here is for nobody.")
    bot.bed.faults.slow(0.3, "users.info")
    await bot.bed.reply(AKI, PUBLIC, root.ts, "first")
    await bot.bed.reply(MIKA, PUBLIC, root.ts, "second")
    await bot.bed.reply(MIKA, PUBLIC, root.ts, "third")
    await bot.taken(3)
    assert bot.desk.texts == ["first", "second", "third"]


async def test_another_thread_does_not_wait(bot: Bot) -> None:
    bot.desk.gate = asyncio.Event()
    for word in ("one", "two"):
        await bot.bed.say(MIKA, bot.bed.dm(MIKA), word)
    await bot.bed.until(lambda: len(bot.desk.calls) == 2)
    bot.desk.gate.set()
    await bot.taken(2)


async def test_people_who_talk_to_each_other_are_left_alone(bot: Bot) -> None:
    root = await bot.bed.say(MIKA, PUBLIC, "Lunch?")
    await bot.bed.reply(MIKA, PUBLIC, root.ts, f"<@{AKI}> what do you think?")
    await bot.bed.edit(MIKA, root.ts, "Lunch at one?")
    await bot.bed.all_acked(DEADLINE)
    assert bot.desk.calls == []
    assert bot.bed.called("users.info") == []


async def test_a_bug_is_logged_and_the_event_comes_again(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    bot.bed.courier.ack_seconds = 0.2
    bot.desk.fails = [ZeroDivisionError("a bug")]
    with caplog.at_level(logging.ERROR):
        await bot.bed.say(MIKA, bot.bed.dm(MIKA), "Add a dark mode")
        await bot.one()
    assert "ZeroDivisionError" in caplog.text
    assert "Traceback" in caplog.text


async def test_what_could_not_be_answered_is_taken_all_the_same(bot: Bot) -> None:
    bot.desk.fails = [Refused("nobody there to be told")]
    delivery = await bot.bed.slash(MIKA, SECOND, "/gwt", "status")
    await delivery.ack()


async def test_nothing_has_to_be_sent_twice(bot: Bot) -> None:
    for number in range(20):
        await bot.bed.say(MIKA, bot.bed.dm(MIKA), f"wish {number}")
    await bot.taken(20)
    assert all(len(one.attempts) == 1 for one in bot.bed.deliveries)
    assert len(bot.bed.called("users.info")) == 1, "who somebody is is asked once"


# Who it was


@pytest.mark.parametrize("who", [GUEST, EXTERNAL])
async def test_whoever_does_not_belong_here_is_an_outsider(bot: Bot, who: str) -> None:
    await bot.bed.mention(who, PUBLIC, "Delete everything")
    _, event = await bot.one()
    assert event.by.outsider


async def test_in_a_channel_shared_with_others_nobody_belongs_unless_the_operator_says_so(
    bot: Bot,
) -> None:
    bot.options["shared"] = ()
    await bot.restart()
    root = await bot.bed.mention(MIKA, PUBLIC, "Delete everything")
    thread, event = await bot.one()
    assert event.by.outsider
    await bot.chat.show(thread, cards.APPROVAL)
    await bot.bed.click(MIKA, bot.cards(thread)[-1].ts, "Approve")
    [_, (_, press)] = await bot.taken(2)
    assert press.by.outsider
    await bot.bed.mention(MIKA, SECOND, "Add a dark mode")
    assert not (await bot.taken(3))[-1][1].by.outsider
    assert root.ts == thread.root


async def test_a_member_nobody_knows_is_an_outsider(bot: Bot) -> None:
    bot.bed.faults.refuse("user_not_found", "users.info")
    await bot.bed.say(MIKA, bot.bed.dm(MIKA), "Add a dark mode")
    _, event = await bot.one()
    assert event.by == Person(platform="slack", id=f"{TEAM}:{MIKA}", outsider=True)


async def test_while_slack_cannot_say_who_it_was_nothing_is_taken(bot: Bot) -> None:
    bot.bed.courier.ack_seconds = 0.2
    bot.bed.faults.answer(503, "users.info")
    await bot.bed.say(MIKA, bot.bed.dm(MIKA), "Add a dark mode")
    _, event = await bot.one()
    [sent] = bot.bed.deliveries
    assert len(sent.attempts) == 2
    assert event.by.name == "Mika"


# Forms behind buttons


async def test_a_button_that_asks_opens_its_form_and_the_text_comes_with_it(bot: Bot) -> None:
    thread, ts = await bot.shown(cards.APPROVAL)
    await bot.bed.click(MIKA, ts, "Request changes")
    await bot.bed.until(lambda: bot.bed.views)
    [form] = bot.bed.views
    answer = await bot.bed.submit(form, {"said": "   "})
    assert answer["response_action"] == "errors"
    assert bot.bed.views == [form], "an empty form is given back"
    await bot.bed.submit(form, {"said": " Smaller steps\n", "about": ["spec.md", "tasks.md"]})
    [(where, opened), (there, event)] = await bot.taken(2)
    assert where == there == thread
    assert isinstance(opened, Opened)
    assert isinstance(event, Pressed)
    assert (opened.verb, event.verb, event.about) == (Verb.CHANGE, Verb.CHANGE, cards.DIGEST)
    assert event.text == "About spec.md, tasks.md: Smaller steps"
    assert bot.bed.views == []


async def test_who_may_not_is_shown_no_form(bot: Bot) -> None:
    _, ts = await bot.shown(cards.APPROVAL)
    bot.desk.lets = False
    clicked = await bot.bed.click(MIKA, ts, "Request changes")
    assert clicked
    await clicked.ack()
    await bot.restart()
    assert isinstance(bot.desk.calls[0], Opened)
    assert bot.bed.called("views.open") == []


async def test_a_form_that_slack_does_not_open_is_no_harm(bot: Bot) -> None:
    _, ts = await bot.shown(cards.APPROVAL)
    bot.bed.faults.refuse("expired_trigger_id", "views.open")
    clicked = await bot.bed.click(MIKA, ts, "Request changes")
    assert clicked
    await clicked.ack()
    await bot.bed.until(lambda: bot.bed.called("views.open"))
    await bot.one()


async def test_a_form_of_another_workspace_or_with_broken_ids_means_nothing(bot: Bot) -> None:
    _, ts = await bot.shown(cards.APPROVAL)
    for old, new in ((f'"{TEAM}"', '"T0FOREIGN"'), ('{"', "{")):
        await bot.bed.click(MIKA, ts, "Request changes")
        await bot.bed.until(lambda: bot.bed.views)
        [form] = bot.bed.views
        form.told["private_metadata"] = form.told["private_metadata"].replace(old, new)
        await bot.bed.submit(form, {"said": "Smaller"})
        await bot.bed.all_acked(DEADLINE)
    assert [type(event) for event in bot.desk.events] == [Opened, Opened]


# Questions


async def test_what_was_picked_comes_with_the_press(bot: Bot) -> None:
    _, ts = await bot.shown(cards.QUESTIONS)
    await bot.bed.choose(MIKA, ts, "pick:1", "D1:2")
    await bot.bed.all_acked(DEADLINE)
    assert bot.desk.calls == [], "choosing alone means nothing yet"
    await bot.bed.click(MIKA, ts, "Send these answers")
    _, event = await bot.one()
    assert isinstance(event, Pressed)
    assert event.verb is Verb.ANSWER
    assert event.answers == {1: "In the user's profile on the server"}


async def test_questions_can_be_answered_in_a_form(bot: Bot) -> None:
    _, ts = await bot.shown(cards.QUESTIONS)
    await bot.bed.click(MIKA, ts, "Answer in a form")
    await bot.bed.until(lambda: bot.bed.views)
    assert "D1 Where shall the setting be kept?" in bot.bed.views[0].reads
    await bot.bed.submit(bot.bed.views[0], {"else:1": "On a floppy", "else:2": " 右上 "})
    [_, (_, event)] = await bot.taken(2)
    assert isinstance(event, Pressed)
    assert event.answers == {1: "On a floppy", 2: "右上"}


async def test_of_a_form_the_picked_options_and_the_written_lines_count_and_empty_ones_stay_open(
    bot: Bot,
) -> None:
    first, second = cards.QUESTIONS.questions
    needed = second.model_copy(update={"number": 3, "default": "", "text": "Who may see it?"})
    asked = cards.QUESTIONS.model_copy(update={"questions": (first, second, needed)})
    _, ts = await bot.shown(asked)
    await bot.bed.click(MIKA, ts, "Answer in a form")
    await bot.bed.until(lambda: bot.bed.views)
    assert "Only you can know this." in bot.bed.views[0].reads
    assert "Empty: it stays open." in bot.bed.views[0].reads
    await bot.bed.submit(bot.bed.views[0], {"pick:1": "D1:2", "else:3": "everybody"})
    [_, (_, event)] = await bot.taken(2)
    assert isinstance(event, Pressed)
    assert event.answers == {1: "In the user's profile on the server", 3: "everybody"}


async def test_what_cannot_be_told_any_more_is_not_taken_for_the_defaults(bot: Bot) -> None:
    """The questions are known by the card that asked them; a file of cards may be lost."""
    _, ts = await bot.shown(cards.QUESTIONS)
    await bot.bed.click(MIKA, ts, "Answer in a form")
    await bot.bed.until(lambda: bot.bed.views)
    [form] = bot.bed.views
    (bot.folder / "cards.jsonl").unlink()
    await bot.restart()
    answer = await bot.bed.submit(form, {"pick:1": "D1:2"})
    assert list(answer["errors"]) == ["pick:1"]
    for button in ("Send these answers", "Answer in a form"):
        await bot.bed.click(MIKA, ts, button)
        await bot.bed.until(lambda: "answer in the thread" in bot.bed.views[-1].reads, DEADLINE)
        await bot.bed.close(bot.bed.views[-1])
    assert [type(event) for event in bot.desk.events] == [Opened, Opened, Opened]


async def test_answers_that_come_one_by_one_are_shown_in_one_card(bot: Bot) -> None:
    thread, ts = await bot.shown(cards.QUESTIONS)
    first, second = cards.QUESTIONS.questions
    for answers in (("here", None), ("here", "there")):
        asked = tuple(
            one.model_copy(update={"answer": text})
            for one, text in zip((first, second), answers, strict=True)
        )
        await bot.chat.show(thread, cards.QUESTIONS.model_copy(update={"questions": asked}))
    (only,) = bot.cards(thread)
    assert (only.ts, only.edits) == (ts, 2)
    assert "→ here" in only.reads


async def test_a_command_is_given_in_the_channel_itself(bot: Bot) -> None:
    delivery = await bot.bed.slash(MIKA, SECOND, "/interrupt", "all-mine")
    assert await delivery.ack() == {}
    thread, event = await bot.one()
    assert thread == Thread(platform="slack", workspace=TEAM, channel=SECOND, root="")
    assert isinstance(event, Commanded)


async def test_what_was_edited_meanwhile_is_pressed_as_it_was_seen(bot: Bot) -> None:
    """A press on an older version of a card says what stood on it then: the session decides whether it still counts."""
    thread, ts = await bot.shown(cards.APPROVAL)
    await bot.chat.show(thread, cards.APPROVAL.model_copy(update={"digest": "f" * 64}))
    await bot.chat.show(thread, CHANGED)
    await bot.bed.click(MIKA, ts, "Approve", version=0)
    _, event = await bot.one()
    assert isinstance(event, Pressed)
    assert event.about == cards.DIGEST
