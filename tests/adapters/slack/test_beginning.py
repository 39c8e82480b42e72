"""The form in which a feature is asked for, from anywhere: it begins one thread, and nothing that was written is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.blocks import forms
from adapters.slack.blocks.forms import FormPurpose
from bot.core.choices import Verb, Word
from bot.core.events import Commanded, Opened, Said
from tests.adapters.slack.whole import DEADLINE, HOME, PAGE, Whole, whole
from tests.beds.slack import AKI, MIKA, PUBLIC, SECOND, TEAM, Message, SlackBed, View
from tests.beds.slack.validation import wrong_in_view

POST = "chat.postMessage"
WISH = {"what": "Add a dark mode\nIt follows the system."}
WHERE = FormPurpose(thread=HOME, verb=Verb.BEGIN)


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed() as bed:
        bed.leeway.anywhere = True  # threads begin here
        yield bed


@pytest.fixture
async def bot(bed: SlackBed, tmp_path: Path) -> AsyncIterator[Whole]:
    async with whole(bed, tmp_path) as bot:
        yield bot


async def form_of(bot: Whole) -> View:
    await bot.bed.until(lambda: bot.bed.views, DEADLINE)
    return bot.bed.views[-1]


def roots(bot: Whole, channel: str = PUBLIC) -> list[Message]:
    return [one for one in bot.bed.messages(channel) if one.by_our_bot and not one.thread]


def said(bot: Whole) -> list[Said]:
    return [event for event in bot.desk.events if isinstance(event, Said)]


# what is asked for, and how it is read


@pytest.mark.parametrize("channel", ["", PUBLIC])
def test_slack_takes_the_form(channel: str) -> None:
    view = forms.feature_form(WHERE, channel)
    assert wrong_in_view(view) == []
    assert FormPurpose.read(view["private_metadata"]) == WHERE


def values(**given: Any) -> dict[str, Any]:
    kinds = {"channel": "selected_conversation", "plan": "selected_options"}
    return {name: {name: {kinds.get(name, "value"): one}} for name, one in given.items()}


def test_what_is_put_in_becomes_a_message_as_somebody_would_write_it() -> None:
    ticked = [{"value": "only"}]
    whole_form = values(channel=PUBLIC, what=" Add it. ", repository="shop", plan=ticked)
    assert forms.request_errors(whole_form) == {}
    asked = forms.requested_feature(whole_form)
    assert asked.channel == PUBLIC
    assert asked.text == "Add it.\nrepo:shop\nOnly show the plan."
    assert forms.requested_feature(values(channel=PUBLIC, what="Add it.")).text == "Add it."


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"what": "Add it"}, "channel"),
        ({"channel": PUBLIC, "what": " \n "}, "what"),
        ({"channel": PUBLIC, "what": "Add it", "repository": "../etc"}, "repository"),
        ({"channel": PUBLIC, "what": "Add it", "repository": "a b"}, "repository"),
        ({"channel": ["x"], "what": "Add it"}, "channel"),
    ],
)
def test_what_is_missing_or_unfit_is_said_beside_its_field(
    given: dict[str, Any], field: str
) -> None:
    assert list(forms.request_errors(values(**given))) == [field]
    blocks = [block["block_id"] for block in forms.feature_form(WHERE)["blocks"]]
    assert field in blocks


# where it opens


async def test_it_opens_from_a_command_a_shortcut_and_the_home(bot: Whole) -> None:
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


async def test_whoever_may_not_ask_for_anything_is_shown_no_form(bot: Whole) -> None:
    bot.desk.lets = False
    await bot.bed.global_shortcut(AKI, "session_new")
    await bot.bed.slash(AKI, SECOND, "/gwt", "new")
    await bot.bed.all_acked(DEADLINE)
    assert len(bot.desk.calls) == 2
    assert bot.bed.called("views.open") == []


# what comes of it


async def test_a_thread_begins_and_the_wish_is_said_there(bot: Whole) -> None:
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


async def test_whether_somebody_may_is_asked_of_the_channel_they_chose(bot: Whole) -> None:
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


async def test_the_same_form_sent_again_and_again_begins_one_thread(bot: Whole) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    await bot.bed.submit(await form_of(bot), WISH)
    sent = next(one for one in bot.bed.deliveries if one.payload.get("type") == "view_submission")
    again = [bot.bed.courier.send("interactive", sent.payload) for _ in range(5)]
    await asyncio.gather(*(one.ack() for one in again))
    assert len(roots(bot)) == len(said(bot)) == 1


async def test_a_lost_answer_begins_no_second_thread(bot: Whole) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    bot.bed.faults.lose_answer(POST)
    assert await bot.bed.submit(form, WISH) == {}
    assert len(roots(bot)) == len(said(bot)) == 1


async def test_where_slack_is_ill_the_form_stays_open_and_can_be_sent_again(bot: Whole) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    bot.bed.faults.drop(POST)
    answer = await bot.bed.submit(form, WISH)
    assert list(answer["errors"]) == ["what"]
    assert roots(bot) == []
    assert await bot.bed.submit(form, WISH) == {}
    assert len(roots(bot)) == len(said(bot)) == 1


async def test_who_has_to_wait_is_told_and_what_is_sent_again_begins_nothing_new(
    bot: Whole,
) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    bot.bed.faults.slow(2.4, POST)
    answer = await bot.bed.submit(form, WISH)
    assert "longer" in answer["errors"]["what"]
    await bot.bed.until(lambda: said(bot), DEADLINE)
    assert await bot.bed.submit(form, WISH) == {}
    assert len(roots(bot)) == len(said(bot)) == 1


async def test_a_restart_in_between_begins_no_second_thread(bed: SlackBed, tmp_path: Path) -> None:
    async with whole(bed, tmp_path) as bot:
        await bot.bed.global_shortcut(MIKA, "session_new")
        await bot.bed.submit(await form_of(bot), WISH)
        first = said(bot)[0].id
    sent = next(one for one in bed.deliveries if one.payload.get("type") == "view_submission")
    async with whole(bed, tmp_path) as bot:
        await bed.courier.send("interactive", sent.payload).ack()
        assert [one.id for one in said(bot)] == [first]
        assert len(roots(bot)) == 1


@pytest.mark.parametrize(
    "metadata",
    [
        "",
        "{}",
        FormPurpose(thread=HOME, verb=Verb.APPROVE).json_text,
        FormPurpose(
            thread=HOME.model_copy(update={"workspace": "T0FOREIGN"}), verb=Verb.BEGIN
        ).json_text,
        FormPurpose(
            thread=HOME.model_copy(update={"platform": "matrix"}), verb=Verb.BEGIN
        ).json_text,
    ],
)
async def test_a_form_with_foreign_or_broken_ids_begins_nothing(bot: Whole, metadata: str) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    form = await form_of(bot)
    form.told["private_metadata"] = metadata
    await bot.bed.submit(form, WISH)
    assert len(bot.desk.calls) == 1, "but for the opening"
    assert roots(bot) == []


@pytest.mark.parametrize("channel", ["D0001", "U0001", "c0001", "C0001/../", "T0999:C0001"])
async def test_what_is_no_channel_is_given_back(bot: Whole, channel: str) -> None:
    await bot.bed.global_shortcut(MIKA, "session_new")
    answer = await bot.bed.submit(await form_of(bot), {**WISH, "channel": channel})
    assert list(answer["errors"]) == ["channel"]
    assert roots(bot) == []


# a spec alone


def test_slack_takes_the_form_for_a_spec() -> None:
    where = FormPurpose(thread=HOME, verb=Verb.SPEC)
    assert wrong_in_view(forms.spec_form(where, PUBLIC)) == []


@pytest.mark.covers("G-RULE-WIZARD-1")
async def test_a_spec_is_asked_for_in_a_form_of_its_own(bot: Whole) -> None:
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


async def test_a_spec_described_behind_the_command_needs_no_form(bot: Whole) -> None:
    await bot.bed.slash(MIKA, PUBLIC, "/gwt", "spec a dark mode")
    [(_, event)] = await bot.taken(1)
    assert isinstance(event, Commanded)
    assert event.command.text == "a dark mode"
    assert bot.bed.views == []


@pytest.mark.parametrize("draw", [forms.feature_form, forms.spec_form])
def test_with_one_repository_nobody_is_asked_which(draw: Callable[..., forms.ModalView]) -> None:
    asked = {
        several: "In which repository?" in str(draw(WHERE, several=several))
        for several in (True, False)
    }
    assert asked == {True: True, False: False}
