"""The form in which a feature is asked for, from anywhere: it begins one thread, and nothing that was written is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.core.choices import Verb, Word
from bot.core.events import Commanded, Opened, Said
from tests.adapters.slack.bot import DEADLINE, PAGE, Bot
from tests.beds.slack import AKI, MIKA, PUBLIC, SECOND, TEAM, Message, View

POST = "chat.postMessage"
WISH: dict[str, Any] = {"what": "Add a dark mode\nIt follows the system."}


async def form_of(bot: Bot) -> View:
    await bot.bed.until(lambda: bot.bed.views, DEADLINE)
    return bot.bed.views[-1]


def roots(bot: Bot, channel: str = PUBLIC) -> list[Message]:
    return bot.roots(channel)


def said(bot: Bot) -> list[Said]:
    return [event for event in bot.desk.events if isinstance(event, Said)]


@pytest.fixture(autouse=True)
def _anywhere(bot: Bot) -> None:
    bot.bed.leeway.anywhere = True  # threads begin here


# where it opens


async def test_it_opens_from_a_command_a_shortcut_and_the_home(bot: Bot) -> None:
    await bot.visit(PAGE)
    await bot.bed.slash(MIKA, PUBLIC, "/gwt", "new")
    await bot.bed.global_shortcut(MIKA, "session_new")
    await bot.bed.click(MIKA, "home", "Start a feature")
    await bot.bed.until(lambda: len(bot.bed.views) == 3, DEADLINE)
    taken = await bot.taken(3)
    assert {thread.channel for thread, _ in taken} == {PUBLIC, ""}
    for _, event in taken:
        assert isinstance(event, Opened)
        assert event.verb is Verb.BEGIN


async def test_whoever_may_not_ask_for_anything_is_shown_no_form(bot: Bot) -> None:
    bot.desk.lets = False
    await bot.bed.global_shortcut(AKI, "session_new")
    await bot.bed.slash(AKI, SECOND, "/gwt", "new")
    await bot.bed.all_acked(DEADLINE)
    assert len(bot.desk.calls) == 2
    assert bot.bed.called("views.open") == []


# what comes of it


async def test_a_thread_begins_and_the_wish_is_said_there(bot: Bot) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    assert await bot.bed.submit(form, WISH) == {}
    [root] = roots(bot)
    assert "Add a dark mode" in root.reads
    [wish] = said(bot)
    assert (wish.text, wish.mention, wish.by.id) == (WISH["what"], True, f"{TEAM}:{MIKA}")
    where = next(thread for thread, event in bot.desk.taken.values() if event is wish)
    assert (where.channel, where.root) == (PUBLIC, root.ts)
    assert form.id in wish.id
    assert bot.bed.views == []


async def test_whether_somebody_may_is_asked_of_the_channel_they_chose(bot: Bot) -> None:
    await bot.bed.slash(MIKA, PUBLIC, "/gwt", "new")
    form = await form_of(bot)
    bot.desk.lets = False
    answer = await bot.bed.submit(form, {**WISH, "channel": SECOND})
    assert list(answer["errors"]) == ["channel"]
    assert isinstance(bot.desk.calls[-1], Opened)
    assert roots(bot, SECOND) == roots(bot) == []
    assert bot.bed.views == [form], "it stays open, with all that was written"
    bot.desk.lets = True
    assert await bot.bed.submit(form, {**WISH, "channel": PUBLIC}) == {}
    assert len(said(bot)) == 1
    asked = [event.id for event in bot.desk.calls if isinstance(event, Opened)][1:]
    assert len(set(asked)) == 2, "the no for one channel is none for the other"


async def test_the_same_form_sent_again_and_again_begins_one_thread(bot: Bot) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    await bot.bed.submit(await form_of(bot), WISH)
    sent = next(one for one in bot.bed.deliveries if one.payload.get("type") == "view_submission")
    again = [bot.bed.courier.send("interactive", sent.payload) for _ in range(5)]
    await asyncio.gather(*(one.ack() for one in again))
    assert len(roots(bot)) == len(said(bot)) == 1


async def test_a_lost_answer_begins_no_second_thread(bot: Bot) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    bot.bed.faults.lose_answer(POST)
    assert await bot.bed.submit(form, WISH) == {}
    assert len(roots(bot)) == len(said(bot)) == 1


async def test_where_slack_is_ill_the_form_stays_open_and_can_be_sent_again(bot: Bot) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    bot.bed.faults.drop(POST)
    answer = await bot.bed.submit(form, WISH)
    assert list(answer["errors"]) == ["what"]
    assert roots(bot) == []
    assert await bot.bed.submit(form, WISH) == {}
    assert len(roots(bot)) == len(said(bot)) == 1


async def test_who_has_to_wait_is_told_and_what_is_sent_again_begins_nothing_new(
    bot: Bot,
) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    bot.bed.faults.slow(2.4, POST)
    answer = await bot.bed.submit(form, WISH)
    assert "longer" in answer["errors"]["what"]
    await bot.bed.until(lambda: said(bot), DEADLINE)
    assert await bot.bed.submit(form, WISH) == {}
    assert len(roots(bot)) == len(said(bot)) == 1


async def test_a_restart_in_between_begins_no_second_thread(bot: Bot) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    await bot.bed.submit(await form_of(bot), WISH)
    sent = next(one for one in bot.bed.deliveries if one.payload.get("type") == "view_submission")
    await bot.restart()
    await bot.bed.courier.send("interactive", sent.payload).ack()
    assert len(said(bot)) == len(roots(bot)) == 1
    assert len({event.id for event in bot.desk.calls if isinstance(event, Said)}) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"', '{"x"'),
        (f'"{TEAM}"', '"T0FOREIGN"'),
        ('"slack"', '"matrix"'),
        ('"begin"', '"approve"'),
    ],
)
async def test_a_form_with_foreign_or_broken_ids_begins_nothing(
    bot: Bot, old: str, new: str
) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    assert old in form.told["private_metadata"]
    form.told["private_metadata"] = form.told["private_metadata"].replace(old, new)
    await bot.bed.submit(form, WISH)
    assert len(bot.desk.calls) == 1, "but for the opening"
    assert roots(bot) == []


GIVEN_BACK = [
    ({"what": " \n "}, "what"),
    ({"repository": "../etc"}, "repository"),
    ({"repository": "a b"}, "repository"),
    *(
        ({"channel": one}, "channel")
        for one in ("D0001", "U0001", "c0001", "C0001/../", "T0999:C0001")
    ),
]


async def test_what_is_missing_or_unfit_is_said_beside_its_field(bot: Bot) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    for change, field in GIVEN_BACK:
        answer = await bot.bed.submit(form, {**WISH, **change})
        assert list(answer["errors"]) == [field], change
    assert roots(bot) == []
    ticked = {"repository": "shop", "plan": ["only"]}
    await bot.bed.submit(form, {**WISH, **ticked})
    assert said(bot)[0].text == f"{WISH['what']}\nrepo:shop\nOnly show the plan."


# a spec alone


@pytest.mark.covers("G-RULE-WIZARD-1")
async def test_a_spec_is_asked_for_in_a_form_of_its_own(bot: Bot) -> None:
    await bot.bed.slash(MIKA, PUBLIC, "/gwt", "spec")
    view = await form_of(bot)
    assert await bot.bed.submit(view, {**WISH, "repository": "web-app"}) == {}
    [(where, command)] = [
        (thread, event.command)
        for thread, event in bot.desk.taken.values()
        if isinstance(event, Commanded)
    ]
    assert command.word is Word.SPEC
    assert command.text == "Add a dark mode\nIt follows the system.\nrepo:web-app"
    [root] = roots(bot)
    assert (where.channel, where.root) == (PUBLIC, root.ts)


async def test_a_spec_described_behind_the_command_needs_no_form(bot: Bot) -> None:
    await bot.bed.slash(MIKA, PUBLIC, "/gwt", "spec a dark mode")
    [(_, event)] = await bot.taken(1)
    assert isinstance(event, Commanded)
    assert event.command.text == "a dark mode"
    assert bot.bed.views == []


@pytest.mark.parametrize("several", [True, False])
async def test_with_one_repository_nobody_is_asked_which(bot: Bot, several: bool) -> None:
    bot.options["several_repositories"] = several
    await bot.restart()
    await bot.bed.slash(MIKA, PUBLIC, "/gwt", "new")
    assert ("In which repository?" in (await form_of(bot)).reads) is several
