"""The way out to Slack: a card stands in its thread once, whatever goes wrong and whenever the program ends."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from adapters.chat.slack.drawing import Message as Drawn
from adapters.chat.slack.drawing import drawn
from adapters.chat.slack.drawing.limits import Block, plain_text, section
from adapters.chat.slack.gateway import BETWEEN_MOVES
from adapters.chat.slack.marks import PAGE
from bot.domain.cards import Card, NewsCard
from bot.domain.people import Thread
from bot.errors import Refused, Unavailable
from tests.adapters.chat.slack.office import PERSON, Draw, Fate, Killed, Office, office
from tests.beds.slack import AKI, ARCHIVED, BOT, BOT_TOKEN, FOREIGN, MIKA, PUBLIC, SECOND, Grants
from tests.beds.slack.validation import wrong_in_blocks
from tests.fakes import cards

DEADLINE = 30
POST, UPDATE, REPLIES = "chat.postMessage", "chat.update", "conversations.replies"
SET_STATUS = "agents.sessions.setStatus"
CHANGED = cards.NEWS.model_copy(update={"lines": ("It is mended.",)})
LATER = cards.STATUS.model_copy(update={"at": cards.AT.replace(hour=13)})
LATEST = cards.STATUS.model_copy(update={"at": cards.AT.replace(hour=14)})
SPEC = cards.DOCUMENT.model_copy(
    update={
        "text": "".join(f"# Part {n}\n\n{'利用者は切り替えられる. ' * 300}\n\n" for n in range(6))
    }
)


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Office]:
    async with office(tmp_path) as one:
        yield one


def news(text: str) -> NewsCard:
    return NewsCard(key=text, title=text)


def in_parts(sizes: dict[str, int]) -> Draw:
    """Draws a card in as many messages as are wanted of its title."""

    def draw(card: Card) -> Sequence[Drawn]:
        assert isinstance(card, NewsCard)
        parts = range(sizes[card.title])
        return [Drawn(f"{card.title} {n}", [section(plain_text(f"part {n}"))]) for n in parts]

    return draw


# Once, and in its place


async def test_a_card_is_posted_once_and_edited_in_place(at: Office) -> None:
    thread = await at.ask()
    for card in (cards.RECEIVED, cards.NEWS, CHANGED):
        await at.gateway.show(thread, card)
    first, second = at.cards(thread)
    assert "設定は次回の起動時にも保存されること。" in first.reads
    assert "It is mended." in second.reads
    assert second.edits == 1


async def test_what_stands_already_costs_no_call(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    calls = len(at.bed.calls)
    await at.gateway.show(thread, cards.NEWS)
    await at.start().show(thread, cards.NEWS)
    assert len(at.bed.calls) == calls


async def test_every_kind_of_card_is_taken_as_it_was_drawn(at: Office) -> None:
    thread = await at.ask()
    for card in cards.EVERY_KIND:
        await at.gateway.show(thread, card)
    assert all(one.thread == thread.root for one in at.cards(thread))
    assert len(at.cards(thread)) == len(cards.EVERY_KIND)


async def test_nothing_is_unfurled_and_a_notification_is_short(at: Office) -> None:
    await at.gateway.show(await at.ask(), cards.APPROVAL)
    args = at.bed.called(POST)[0].args
    assert (args["unfurl_links"], args["unfurl_media"]) == (False, False)
    assert 0 < len(args["text"]) <= 300


async def test_the_same_key_in_another_thread_is_another_card(at: Office) -> None:
    one, other = await at.ask(), await at.ask()
    await at.gateway.show(one, cards.NEWS)
    await at.gateway.show(other, cards.NEWS)
    assert len(at.cards(one)) == len(at.cards(other)) == 1


async def test_a_card_without_a_thread_is_posted_nowhere(at: Office) -> None:
    thread = (await at.ask()).model_copy(update={"root": ""})
    with pytest.raises(Refused):
        await at.gateway.show(thread, cards.NEWS)
    assert at.count(POST) == 0


async def test_a_message_that_somebody_deleted_is_posted_anew(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    at.bed.world.messages.remove(at.cards(thread)[0])
    await at.gateway.show(thread, CHANGED)
    assert len(at.cards(thread)) == 1


@pytest.mark.parametrize("error", ["cant_update_message", "edit_window_closed"])
async def test_a_message_that_cannot_be_edited_gives_way_to_a_new_one(
    at: Office, error: str
) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    at.bed.faults.refuse(error, UPDATE)
    await at.gateway.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert "It is mended." in only.reads


async def test_a_card_grows_and_shrinks_without_leaving_anything_behind(at: Office) -> None:
    sizes = {"three": 3, "two": 2, "five": 5}
    gateway = at.start(draw=in_parts(sizes))
    thread = await at.ask()
    for title, size in sizes.items():
        await gateway.show(thread, NewsCard(key="k", title=title))
        assert at.reads(thread) == [f"part {n}" for n in range(size)]
    assert at.count(POST) == 3 + 3


# Answers that are lost


async def test_after_a_lost_answer_the_message_is_found_not_posted_again(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer(POST)
    await at.gateway.show(thread, cards.NEWS)
    await at.gateway.show(thread, CHANGED)
    assert len(at.cards(thread)) == at.count(POST) == 1


async def test_after_a_lost_answer_an_edit_is_not_made_again(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    at.bed.faults.lose_answer(UPDATE)
    await at.gateway.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert (only.edits, at.count(UPDATE)) == (1, 1)


async def test_a_lost_part_of_a_document_is_found(at: Office) -> None:
    thread = await at.ask()
    gateway = at.start(draw=in_parts({"three": 3}))
    for _ in range(2):
        at.bed.faults.lose_answer(POST)
        await gateway.show(thread, NewsCard(key="k", title="three"))
    assert at.reads(thread) == ["part 0", "part 1", "part 2"]


async def test_a_request_that_was_cut_off_is_made_again_at_the_next_try(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.drop(POST)
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, cards.NEWS)
    await at.gateway.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == 1


async def test_a_card_is_found_in_a_thread_of_many_pages(at: Office) -> None:
    thread = await at.ask()
    for _ in range(2 * PAGE):
        await at.bed.reply(AKI, PUBLIC, thread.root, "talk")
    at.bed.faults.lose_answer(POST)
    await at.gateway.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == 1
    assert at.count(REPLIES) == 3


async def test_while_nothing_can_be_found_out_nothing_is_posted(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer(POST)
    at.bed.faults.answer(502, REPLIES, times=2)
    for _ in range(2):
        with pytest.raises(Unavailable):
            await at.gateway.show(thread, cards.NEWS)
    await at.gateway.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == at.count(POST) == 1


async def test_a_message_that_arrives_after_nobody_waited_any_more_is_the_only_one(
    tmp_path: Path,
) -> None:
    async with office(tmp_path, seconds=1) as at:
        thread = await at.ask()
        at.bed.faults.slow(3, POST)
        with pytest.raises(Unavailable):
            await at.gateway.show(thread, cards.NEWS)
        assert at.cards(thread) == []
        await at.bed.until(lambda: at.cards(thread), DEADLINE)
        await at.start().show(thread, cards.NEWS)
        assert len(at.cards(thread)) == at.count(POST) == 1


async def test_while_slack_is_down_it_is_said_and_afterwards_each_card_stands_once(
    at: Office,
) -> None:
    thread = await at.ask()
    at.bed.faults.answer(502, times=None)
    for card in (cards.NEWS, cards.NEWS, CHANGED):
        with pytest.raises(Unavailable) as caught:
            await at.gateway.show(thread, card)
        assert caught.value.__cause__ is not None
    at.bed.faults.heal()
    await at.gateway.show(thread, CHANGED)
    assert len(at.cards(thread)) == 1


async def test_a_slack_that_cannot_be_reached_may_be_there_later(at: Office) -> None:
    thread = await at.ask()
    await at.bed.go_away()
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, cards.NEWS)
    await at.bed.come_back()
    await at.gateway.show(thread, cards.NEWS)
    assert at.count(POST) == 1


# The end of the program at any point

SCRIPT: tuple[Card, ...] = (
    cards.DOCUMENT,
    cards.STATUS,
    LATER,  # moved: somebody has talked
    LATEST,
    NewsCard(key="k", title="three"),
    NewsCard(key="k", title="two"),
)


def drawn_or_counted(card: Card) -> Sequence[Drawn]:
    return in_parts({"three": 3, "two": 2})(card) if card.key == "k" else drawn(card)


async def played(at: Office, thread: Thread, path: Path, fate: Fate) -> None:
    """Everything is shown, each card again if the program ends with it."""
    gateway = at.start(fate, draw=drawn_or_counted, path=path)
    at.clock = 0
    for card in SCRIPT:
        at.clock += BETWEEN_MOVES
        if card is LATER:
            gateway.talked(thread)
        try:
            await gateway.show(thread, card)
        except Killed:
            await gateway.close()
            gateway = at.start(draw=drawn_or_counted, path=path)
            await gateway.show(thread, card)


async def test_wherever_the_program_ends_each_card_stands_once(at: Office, tmp_path: Path) -> None:
    whole = Fate()
    unharmed = await at.ask()
    await played(at, unharmed, tmp_path / "whole" / "cards", whole)
    expected = sorted(at.reads(unharmed))
    assert whole.steps > 25
    for step in range(1, whole.steps + 1):
        thread = await at.ask()
        await played(at, thread, tmp_path / str(step) / "cards", Fate(step))
        assert sorted(at.reads(thread)) == expected, f"ended at step {step}"
        assert at.files(thread) == ["spec.md"], f"ended at step {step}"


# Told to wait


async def test_in_a_storm_of_put_offs_order_is_kept_and_nothing_lost(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.storm(15, retry_after=0)
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for n in range(10):
            group.create_task(at.gateway.show(thread, news(f"news {n}")))
    assert [one.text for one in at.cards(thread)] == [f"⏳ news {n}" for n in range(10)]


async def test_two_hundred_cards_at_once_in_one_channel_all_stand_once_and_in_order(
    at: Office,
) -> None:
    threads = [await at.ask() for _ in range(20)]
    at.bed.faults.storm(10, retry_after=0, method="chat.*")
    wanted = [f"news {n}" for n in range(10)]

    async def session(thread: Thread) -> None:
        for text in wanted:
            await at.gateway.show(thread, news(text))

    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for thread in threads:
            group.create_task(session(thread))
    for thread in threads:
        assert [one.text for one in at.cards(thread)] == [f"⏳ {text}" for text in wanted]


async def test_what_needs_a_person_goes_before_news_of_others(at: Office) -> None:
    first, second = await at.ask(), await at.ask()
    at.bed.faults.storm(3, retry_after=0, method=POST)
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for n in range(3):
            group.create_task(at.gateway.show(first, news(f"news {n}")))
        group.create_task(at.gateway.show(second, cards.APPROVAL))
    posted = [one for one in at.bed.messages(PUBLIC) if one.by_our_bot]
    assert [one.thread == second.root for one in posted] == [False, True, False, False]


async def test_a_long_wait_is_left_to_the_one_who_asked(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.storm(1, retry_after=120, method=POST)
    with pytest.raises(Unavailable) as caught:
        await at.gateway.show(thread, cards.NEWS)
    assert caught.value.retry_after == 120
    await at.gateway.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == 1


# Documents


async def test_a_document_is_shown_in_parts_and_then_as_a_file(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, SPEC)
    parts = at.reads(thread)
    assert len(parts) > 1
    assert [f"Part {n}" in "".join(parts) for n in range(6)] == [True] * 6
    (file,) = at.bed.files
    assert (file.name, file.content, file.thread) == ("spec.md", SPEC.text.encode(), thread.root)
    assert at.bed.thread(PUBLIC, thread.root)[-1].files


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal"])
async def test_a_file_that_fails_does_not_keep_the_document_from_being_shown(
    at: Office, method: str
) -> None:
    thread = await at.ask()
    at.bed.faults.answer(503, method)
    await at.gateway.show(thread, SPEC)
    parts = at.reads(thread)
    assert parts
    assert at.files(thread) == []
    await at.start().show(thread, SPEC)
    assert at.files(thread) == ["spec.md"]
    assert at.reads(thread) == parts


async def test_a_file_is_in_the_thread_once_even_if_the_answer_is_lost(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer("files.completeUploadExternal")
    await at.gateway.show(thread, SPEC)
    await at.start().show(thread, SPEC)
    assert at.files(thread) == ["spec.md"]


async def test_without_the_scope_for_files_documents_are_shown_all_the_same(tmp_path: Path) -> None:
    granted = Grants(events=frozenset())
    async with office(
        tmp_path, dataclasses.replace(granted, scopes=granted.scopes - {"files:write"})
    ) as at:
        at.forgiven = ("missing_scope",)
        thread = await at.ask()
        await at.gateway.show(thread, SPEC)
        assert at.reads(thread)


async def test_an_empty_document_has_no_file(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, SPEC.model_copy(update={"text": ""}))
    assert len(at.cards(thread)) == 1
    assert at.files(thread) == []


# The live card at the end of the thread


async def test_after_talk_the_status_stands_at_the_end_again(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    await at.bed.reply(AKI, PUBLIC, thread.root, "what about the colours?")
    at.gateway.talked(thread)
    at.clock += BETWEEN_MOVES
    await at.gateway.show(thread, LATER)
    said = at.bed.thread(PUBLIC, thread.root)
    assert [one.by_our_bot for one in said] == [False, False, True]
    await at.gateway.show(thread, LATEST)
    (only,) = at.cards(thread)
    assert "14:03:04 UTC" in only.reads


async def test_without_talk_and_for_other_cards_it_stays_where_it_is(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    await at.gateway.show(thread, cards.NEWS)
    at.clock += BETWEEN_MOVES
    await at.gateway.show(thread, LATER)
    at.gateway.talked(thread)
    await at.gateway.show(thread, CHANGED)
    assert at.count(POST) == 2


async def test_it_moves_at_most_once_a_tick_and_is_edited_meanwhile(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    at.clock += BETWEEN_MOVES / 2
    at.gateway.talked(thread)
    await at.gateway.show(thread, LATER)
    assert (at.count(POST), at.count(UPDATE)) == (1, 1)
    at.clock += BETWEEN_MOVES / 2
    await at.gateway.show(thread, LATEST)
    assert at.count(POST) == 2
    assert len(at.cards(thread)) == 1


async def test_a_move_whose_answer_is_lost_leaves_one_status(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    at.gateway.talked(thread)
    at.clock += BETWEEN_MOVES
    at.bed.faults.lose_answer(POST)
    at.bed.faults.answer(502, REPLIES)
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, LATER)
    assert len(at.cards(thread)) == 2
    await at.gateway.show(thread, LATER)
    (only,) = at.cards(thread)
    assert "13:03:04 UTC" in only.reads
    assert at.count(POST) == 2


# A form Slack does not take


@pytest.mark.parametrize("error", ["invalid_blocks", "msg_blocks_too_long"])
@pytest.mark.parametrize("times", [1, 2])
async def test_what_slack_does_not_take_as_drawn_is_shown_in_a_simpler_form(
    at: Office, error: str, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    at.forgiven = (error,)
    thread = await at.ask()
    for method, card in ((POST, cards.APPROVAL), (UPDATE, cards.APPROVED)):
        at.bed.faults.refuse(error, method, times)
        await at.gateway.show(thread, card)
        (only,) = at.cards(thread)
        assert "Set up the theme module" in only.reads
        assert bool(only.blocks) is (times == 1)
    simpler = [one for one in caplog.records if "simpler" in one.message]
    assert [one.levelno for one in simpler] == [logging.ERROR] * 2 * times


async def test_in_the_simpler_form_buttons_still_work(at: Office) -> None:
    at.forgiven = ("invalid_blocks",)
    thread = await at.ask()
    await at.gateway.show(thread, cards.APPROVAL)
    at.bed.faults.refuse("invalid_blocks", POST)
    other = await at.ask()
    await at.gateway.show(other, cards.APPROVAL)
    (rich,), (plain,) = at.cards(thread), at.cards(other)
    assert actions(plain.blocks) == actions(rich.blocks) != []


async def test_a_bug_in_a_drawing_does_not_lose_the_card(at: Office) -> None:
    at.forgiven = ("invalid_blocks",)
    too_long = Drawn("hello", [section(plain_text("<!channel> & more. " * 1_000))])
    gateway = at.start(draw=lambda _: [too_long])
    thread = await at.ask()
    await gateway.show(thread, cards.NEWS)
    (only,) = at.cards(thread)
    assert only.reads.startswith("<!channel> & more. ")
    assert wrong_in_blocks(only.blocks) == []


# In private, and the sign that it was heard


async def test_a_whisper_is_seen_by_one_person_in_the_thread(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.whisper(thread, PERSON, cards.PROBLEM)
    (seen,) = at.bed.ephemerals(MIKA)
    assert seen.thread == thread.root
    assert "tmux is not installed." in seen.reads
    assert actions(seen.blocks)
    assert at.bed.ephemerals(AKI) == at.cards(thread) == []


async def test_a_whisper_where_there_is_no_thread_stands_in_the_channel(at: Office) -> None:
    thread = (await at.ask()).model_copy(update={"root": ""})
    await at.gateway.whisper(thread, PERSON, cards.ANSWER)
    assert at.bed.ephemerals(MIKA)[0].thread is None


async def test_a_whisper_waits_for_nobody(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.storm(None, retry_after=30, method=POST)
    showing = asyncio.create_task(at.gateway.show(thread, cards.NEWS))
    await at.bed.until(lambda: at.count(POST), DEADLINE)
    await at.gateway.whisper(thread, PERSON, cards.PROBLEM)
    assert at.bed.ephemerals(MIKA)
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


async def test_a_whisper_to_somebody_who_is_not_there_is_refused(at: Office) -> None:
    thread = await at.ask()
    stranger = PERSON.model_copy(update={"id": "T0001:U9"})
    with pytest.raises(Refused, match="user_not_in_channel"):
        await at.gateway.whisper(thread, stranger, cards.ANSWER)


async def test_a_request_is_marked_as_heard_once(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.react(thread)
    await at.gateway.show(thread, cards.RECEIVED)
    await at.bed.until(lambda: at.count("reactions.add") == 2, DEADLINE)
    assert at.bed.reactions(thread.root) == {"eyes": [BOT]}
    await at.gateway.show(thread, cards.RECEIVED.model_copy(update={"uncommitted": 0}))
    assert at.count("reactions.add") == 2


async def test_no_card_waits_for_signs_or_fails_with_them(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.slow(3_600, "reactions.*")
    at.bed.faults.slow(3_600, "agents.*")
    async with asyncio.timeout(DEADLINE):
        await at.gateway.show(thread, cards.RECEIVED)
        await at.gateway.show(thread, cards.STATUS)
    assert len(at.cards(thread)) == 2
    async with asyncio.timeout(DEADLINE):
        await at.gateway.close()


@pytest.mark.parametrize("method", ["reactions.add", SET_STATUS])
async def test_a_sign_that_fails_is_let_be(at: Office, method: str) -> None:
    thread = await at.ask()
    at.bed.faults.answer(500, method)
    await at.gateway.show(thread, cards.RECEIVED)
    await at.bed.until(lambda: at.count(method), DEADLINE)
    await at.gateway.show(thread, cards.STATUS)
    await at.bed.until(lambda: at.bed.session_status(PUBLIC, thread.root), DEADLINE)


# How a session stands, in Slack's own words


async def test_slack_is_told_how_the_session_stands(at: Office) -> None:
    thread = await at.ask()
    for card, status in (
        (cards.RECEIVED, "processing"),
        (cards.APPROVAL, "suspended"),
        (cards.APPROVED, "processing"),
        (cards.STOPPED, "active"),
        (cards.STATUS, "processing"),
        (cards.SUMMARY, "closed"),
    ):
        await at.gateway.show(thread, card)
        await at.bed.until(
            lambda status=status: at.bed.session_status(PUBLIC, thread.root) == status, DEADLINE
        )


async def test_every_status_says_again_that_work_goes_on(at: Office) -> None:
    thread = await at.ask()
    for n, card in enumerate((cards.STATUS, LATER, LATEST), 1):
        await at.gateway.show(thread, card)
        await at.bed.until(lambda n=n: at.count(SET_STATUS) == n, DEADLINE)


@pytest.mark.parametrize("error", ["not_authorized", "unknown_method", "missing_scope"])
async def test_where_slack_has_no_such_sign_it_is_asked_once(at: Office, error: str) -> None:
    at.forgiven = ("missing_scope", "unknown_method")
    at.bed.faults.refuse(error, SET_STATUS, None)
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    await at.bed.until(lambda: at.count(SET_STATUS), DEADLINE)
    for card in (LATER, LATEST, cards.SUMMARY):
        await at.gateway.show(thread, card)
    await settled()
    assert at.count(SET_STATUS) == 1
    assert len(at.cards(thread)) == 2


async def test_a_stop_button_that_nobody_hears_is_not_left_standing(tmp_path: Path) -> None:
    deaf = dataclasses.replace(Grants.of_manifest(), events=frozenset())
    async with office(tmp_path, deaf) as at:
        thread = await at.ask()
        await at.gateway.show(thread, cards.STATUS)
        await at.bed.until(lambda: at.count(SET_STATUS) == 2, DEADLINE)
        await at.gateway.show(thread, LATER)
        await settled()
        assert at.count(SET_STATUS) == 2
        assert at.bed.session_status(PUBLIC, thread.root) == "active"


# What Slack refuses


@pytest.mark.parametrize(
    ("channel", "code"),
    [("C0NOWHERE", "channel_not_found"), (FOREIGN, "not_in_channel"), (ARCHIVED, "is_archived")],
)
async def test_a_channel_the_bot_cannot_write_in_is_said_with_what_to_do(
    at: Office, channel: str, code: str
) -> None:
    thread = (await at.ask()).model_copy(update={"channel": channel})
    with pytest.raises(Refused, match=code) as caught:
        await at.gateway.show(thread, cards.NEWS)
    assert caught.value.remedy
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("code", ["invalid_auth", "token_revoked", "account_inactive"])
async def test_a_token_that_counts_no_more_is_said_without_the_token(at: Office, code: str) -> None:
    thread = await at.ask()
    at.bed.faults.refuse(code, POST)
    with pytest.raises(Refused, match=code) as caught:
        await at.gateway.show(thread, cards.NEWS)
    assert "Install" in caught.value.remedy
    assert BOT_TOKEN not in f"{caught.value!r} {caught.value.remedy} {caught.value.__cause__!r}"


async def test_one_channel_that_refuses_does_not_hold_up_another(at: Office) -> None:
    here, there = await at.ask(PUBLIC), await at.ask(SECOND)
    at.bed.faults.storm(None, retry_after=30, method=POST, channel=PUBLIC)
    showing = asyncio.create_task(at.gateway.show(here, cards.NEWS))
    await at.bed.until(lambda: at.count(POST), DEADLINE)
    await at.gateway.show(there, cards.NEWS)
    assert len(at.cards(there)) == 1
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


# A full disk


async def test_what_cannot_be_written_down_is_not_posted_but_that_it_cannot_is(at: Office) -> None:
    thread = await at.ask()
    at.path.unlink()
    at.path.mkdir()
    full = cards.PROBLEM.model_copy(update={"key": "disk", "title": "I cannot save my work"})
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, cards.NEWS)
    for _ in range(2):
        await at.gateway.show(thread, full)
    (only,) = at.cards(thread)
    assert "I cannot save my work" in only.reads


def actions(blocks: list[Block]) -> list[tuple[str, str]]:
    """The buttons of a message."""
    return [
        (element["action_id"], element["value"])
        for block in blocks
        if block["type"] == "actions"
        for element in block["elements"]
    ]


async def settled() -> None:
    """Time enough for a call that should not be made."""
    for _ in range(20):
        await asyncio.sleep(0.005)
