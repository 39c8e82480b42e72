"""What the bot shows on Matrix, on a real homeserver: once, in order, wherever an answer was lost or the bot died."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from datetime import timedelta

import pytest
from aiohttp import ClientSession

from adapters.matrix import cards as matrix_cards
from adapters.matrix.reactions import choice_for, follow_up_card
from bot.core.cards import Card, NewsCard, StatusCard
from bot.core.choices import Verb
from bot.core.errors import Refused, Unavailable
from bot.core.people import Person as Somebody
from bot.core.people import Thread
from tests.adapters.matrix.posting_stage import PostingStage
from tests.beds.synapse import Homeserver, People
from tests.fakes import cards

pytestmark = pytest.mark.covers("O-C6")

SEND = "/send/m.room.message/"
CHIPS = ("✅ Approve", "✏ Request changes", "❌ Discard")


def news(number: int) -> NewsCard:
    return NewsCard(key=f"news:{number}", title=f"News {number}")


def later(card: StatusCard, minutes: int) -> StatusCard:
    return card.model_copy(update={"at": card.at + timedelta(minutes=minutes)})


async def until_shown(stage: PostingStage, card: Card, tries: int = 50) -> None:
    """As whoever is responsible does it: again, as long as it may help."""
    for _ in range(tries):
        try:
            await stage.gateway.show(stage.thread, card)
        except Unavailable:
            continue
        return
    raise AssertionError("never shown")


async def test_a_card_is_posted_once_into_the_thread_and_edited_in_place(
    stage: PostingStage,
) -> None:
    await stage.gateway.show(stage.thread, cards.NEWS)
    await stage.gateway.show(stage.thread, cards.NEWS)
    changed = cards.NEWS.model_copy(update={"title": "It is mended"})
    await stage.gateway.show(stage.thread, changed)
    await stage.begin()
    await stage.gateway.show(stage.thread, changed)
    (post,) = await stage.seen()
    assert "It is mended" in post.text
    assert "It is mended" in post.html
    assert post.edits == 1
    assert post.type == "m.notice"
    assert post.content["m.relates_to"] == {
        "rel_type": "m.thread",
        "event_id": stage.root,
        "is_falling_back": True,
        "m.in_reply_to": {"event_id": stage.root},
    }
    assert stage.proxy.count(SEND) == 2


async def test_every_kind_of_card_can_be_shown_and_whispered(stage: PostingStage) -> None:
    anna = Somebody(platform="matrix", id=stage.anna.id, name="Anna")
    for card in cards.EVERY_KIND:
        await stage.gateway.show(stage.thread, card)
        await stage.gateway.whisper(stage.thread, anna, card)
    posts = await stage.seen()
    assert sum("tmux is not installed." in post.text for post in posts) == 2
    assert all("m.mentions" in post.content for post in posts)


async def test_a_lost_answer_makes_no_second_message(stage: PostingStage) -> None:
    # a connection that breaks is tried once more by the client itself
    lost = stage.proxy.lose(2, where=SEND)
    with pytest.raises(Unavailable):
        await stage.gateway.show(stage.thread, cards.NEWS)
    assert lost.met == 2
    await stage.gateway.show(stage.thread, cards.NEWS)
    (post,) = await stage.seen()
    assert post.edits == 0


async def test_a_card_that_changed_while_its_first_answer_was_lost_says_what_it_is_to_say(
    stage: PostingStage,
) -> None:
    stage.proxy.lose(2, where=SEND)
    with pytest.raises(Unavailable):
        await stage.gateway.show(stage.thread, cards.APPROVAL)
    await stage.begin()
    stage.proxy.fail(1, where=SEND)
    with pytest.raises(Unavailable):
        await stage.gateway.show(stage.thread, cards.APPROVED)
    await stage.begin()
    await stage.gateway.show(stage.thread, cards.APPROVED)
    (post,) = await stage.seen()
    assert "Approved by Mika" in post.text
    assert post.keys == ()


async def test_a_lost_answer_to_an_edit_changes_nothing(stage: PostingStage) -> None:
    await stage.gateway.show(stage.thread, cards.APPROVAL)
    stage.proxy.lose(2, where=SEND)
    with pytest.raises(Unavailable):
        await stage.gateway.show(stage.thread, cards.APPROVED)
    await stage.gateway.show(stage.thread, cards.APPROVED)
    (post,) = await stage.seen()
    assert post.edits == 1
    assert post.keys == ()


@pytest.mark.parametrize("point", [0, 1, 2, 3, 5, 8, 9, 11, 13, 14])
async def test_a_bot_that_dies_at_any_point_shows_each_card_once(
    stage: PostingStage, point: int
) -> None:
    """Request number `point` arrives and is carried out; the bot never hears of it, nor sends another in that life."""
    shown = (cards.DOCUMENT, cards.APPROVAL, cards.APPROVED, cards.STATUS)
    stage.proxy.slow(0, times=point)
    lost = stage.proxy.lose(2)
    with suppress(Unavailable):
        for card in shown:
            await stage.gateway.show(stage.thread, card)
    assert lost.left == 0
    stage.proxy.heal()
    await stage.begin()
    for card in shown:
        await stage.gateway.show(stage.thread, card)
    posts = await stage.seen()
    heads = [post.text.splitlines()[0] for post in posts if post.type != "m.file"]
    assert heads == [
        "spec.md · revision 1",
        "Shall I build SPEC-1a2b3c4d, revision 1?",
        "⏳ Add a dark mode",
    ]
    assert [post.text for post in posts if post.type == "m.file"] == ["spec.md"] * (len(posts) - 3)
    assert [post.keys for post in posts if post.keys] == [("🛑 Stop",)]


@pytest.mark.covers("O-MATRIX-7")
async def test_chips_appear_with_the_card_and_go_when_it_is_decided(stage: PostingStage) -> None:
    await stage.gateway.show(stage.thread, cards.APPROVAL)
    (post,) = await stage.seen(lambda posts: bool(posts) and len(posts[0].keys) == 3)
    assert post.keys == CHIPS
    assert post.type == "m.text"
    await stage.anna.react(stage.room, post.event_id, CHIPS[0])
    placed = stage.ledger.by_message(stage.thread.place, post.event_id)
    assert placed is not None
    choice = choice_for(placed, CHIPS[0])
    assert choice is not None
    assert (choice.verb, choice.about) == (Verb.APPROVE, cards.DIGEST)
    await stage.gateway.show(stage.thread, cards.APPROVED)
    (post,) = await stage.seen()
    assert post.reactions == ((CHIPS[0], stage.anna.id),)
    await stage.gateway.show(stage.thread, cards.APPROVAL)
    (post,) = await stage.seen()
    assert set(post.keys) == set(CHIPS)


async def test_a_status_that_goes_on_keeps_its_chip_and_costs_one_event(
    stage: PostingStage,
) -> None:
    await stage.gateway.show(stage.thread, cards.STATUS)
    before = stage.proxy.count("/send/")
    await stage.gateway.show(stage.thread, later(cards.STATUS, 2))
    assert stage.proxy.count("/send/") == before + 1
    assert stage.proxy.count("/relations/") == 0
    (post,) = await stage.seen()
    assert post.keys == ("🛑 Stop",)


async def test_a_chip_that_stands_already_is_no_problem(stage: PostingStage) -> None:
    stage.proxy.lose(2, where="/m.reaction/")
    with pytest.raises(Unavailable):
        await stage.gateway.show(stage.thread, cards.APPROVAL)
    await stage.begin()
    stage.proxy.refuse(1, status=400, errcode="M_DUPLICATE_ANNOTATION", where="/m.reaction/")
    await stage.gateway.show(stage.thread, cards.APPROVAL)
    (post,) = await stage.seen()
    assert post.reacted(CHIPS[0]) == (stage.bot.id,)
    assert CHIPS[2] in post.keys


async def test_who_may_not_react_still_shows_the_card(stage: PostingStage) -> None:
    stage.proxy.refuse(status=403, errcode="M_FORBIDDEN", where="/m.reaction/")
    await stage.gateway.show(stage.thread, cards.APPROVAL)
    (post,) = await stage.seen()
    assert post.keys == ()


@pytest.mark.covers("O-C8")
async def test_a_status_is_posted_anew_below_what_was_said_since(stage: PostingStage) -> None:
    await stage.gateway.show(stage.thread, cards.STATUS)
    await stage.gateway.show(stage.thread, cards.NEWS)
    await stage.gateway.show(stage.thread, later(cards.STATUS, 2))
    assert [post.edits for post in await stage.seen()] == [1, 0], "the bot's own cards do not count"
    await stage.anna.say(stage.room, "How is it going?", thread=stage.root)
    stage.gateway.note_talk(stage.thread)
    for minutes in (4, 6):
        await stage.gateway.show(stage.thread, later(cards.STATUS, minutes))
    first, status = await stage.seen()
    assert "tests failed" in first.text
    assert "12:09:04 UTC" in status.text
    assert status.edits == 1
    assert status.keys == ("🛑 Stop",)


@pytest.mark.covers("O-C8")
async def test_a_status_that_is_to_come_anew_is_posted_at_the_end_whoever_has_talked(
    stage: PostingStage,
) -> None:
    await stage.gateway.show(stage.thread, cards.STATUS)
    await stage.gateway.show(stage.thread, cards.NEWS)
    again = later(cards.STATUS, 2).model_copy(update={"anew": True})
    await stage.gateway.show(stage.thread, again)
    first, status = await stage.seen()
    assert "tests failed" in first.text
    assert "12:05:04 UTC" in status.text


@pytest.mark.parametrize("where", [SEND, "/m.reaction/", "/redact/"])
async def test_a_status_posted_anew_stands_there_once_wherever_the_bot_dies(
    stage: PostingStage, where: str
) -> None:
    await stage.gateway.show(stage.thread, cards.STATUS)
    stage.gateway.note_talk(stage.thread)
    stage.proxy.lose(2, where=where)
    with pytest.raises(Unavailable):
        await stage.gateway.show(stage.thread, later(cards.STATUS, 2))
    await stage.begin()
    await stage.gateway.show(stage.thread, later(cards.STATUS, 4))
    (post,) = await stage.seen()
    assert "12:07:04 UTC" in post.text
    assert post.keys == ("🛑 Stop",)


async def test_a_status_that_was_often_posted_anew_redacts_one_message_each_time(
    stage: PostingStage,
) -> None:
    for minutes in range(4):
        stage.gateway.note_talk(stage.thread)
        await stage.gateway.show(stage.thread, later(cards.STATUS, minutes))
    assert stage.proxy.count("/redact/") == 3
    assert len(await stage.seen()) == 1


async def test_a_card_that_becomes_shorter_or_longer_has_as_many_messages_as_it_needs(
    stage: PostingStage,
) -> None:
    long = cards.NEWS.model_copy(update={"output": "a line of output\n" * 4000})
    for card, lines in ((cards.NEWS, 0), (long, 4000), (cards.NEWS, 0), (long, 4000)):
        await stage.gateway.show(stage.thread, card)
        posts = await stage.seen()
        assert len(posts) == len(matrix_cards.draw_card(card))
        assert sum(post.text.count("a line of output") for post in posts) == lines


async def test_a_limit_is_waited_for_and_changes_no_order(stage: PostingStage) -> None:
    limit = stage.proxy.limit(25, retry_after_ms=20, where=SEND)
    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(stage.gateway.show(stage.thread, news(number)))
    assert limit.left == 0
    posts = await stage.seen()
    assert [post.text.split()[-1] for post in posts] == [str(n) for n in range(20)]


async def test_a_long_wait_is_left_to_others(stage: PostingStage) -> None:
    stage.proxy.limit(1, retry_after_ms=90_000, where=SEND)
    with pytest.raises(Unavailable) as caught:
        await stage.gateway.show(stage.thread, cards.NEWS)
    assert caught.value.retry_after == 90


async def test_what_a_person_waits_for_overtakes_and_of_old_statuses_only_the_last_is_shown(
    stage: PostingStage,
) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(stage.gateway.show(stage.thread, news(1)))
        for minutes in range(5):
            status = later(cards.STATUS, minutes)
            group.create_task(stage.gateway.show(stage.thread, status))
        group.create_task(stage.gateway.show(stage.thread, news(2)))
        group.create_task(stage.gateway.show(stage.thread, cards.STOPPED))
    posts = await stage.seen()
    heads = [post.text.splitlines()[0] for post in posts]
    assert heads == ["⏳ News 1", "👉 Paused", "⏳ News 2", "⏳ Add a dark mode"]
    assert "12:07:04 UTC" in posts[-1].text
    assert posts[-1].edits == 0


async def test_a_homeserver_in_trouble_may_work_later(stage: PostingStage) -> None:
    for status in (500, 502, 503):
        stage.proxy.fail(2, status=status, where=SEND)
    await until_shown(stage, cards.NEWS)
    assert len(await stage.seen()) == 1


async def test_nobody_there_may_work_later(stage: PostingStage) -> None:
    await stage.proxy.close()
    with pytest.raises(Unavailable, match="cannot be reached"):
        await stage.gateway.show(stage.thread, cards.NEWS)
    await stage.proxy.open()
    await until_shown(stage, cards.NEWS)
    assert len(await stage.seen()) == 1


async def test_a_room_the_bot_is_not_in_is_told_with_what_to_do(stage: PostingStage) -> None:
    elsewhere = Thread(platform="matrix", channel=await stage.anna.create_room(), root="$root")
    with pytest.raises(Refused) as caught:
        await stage.gateway.show(elsewhere, cards.NEWS)
    assert "Invite the bot" in caught.value.remedy


async def test_a_token_that_counts_no_longer_is_told_and_not_shown(
    stage: PostingStage, homeserver: Homeserver, people: People
) -> None:
    stage.bot = people("bot")
    await stage.begin()
    await asyncio.to_thread(homeserver.revoke, stage.bot.login)
    with pytest.raises(Refused, match="no longer valid") as caught:
        await stage.gateway.show(stage.thread, cards.RECEIVED)
    assert caught.value.remedy
    assert stage.bot.login.access_token not in repr(caught.value) + str(caught.value.__cause__)


async def test_a_message_that_is_too_large_for_a_homeserver_is_cut_smaller(
    stage: PostingStage,
) -> None:
    long = cards.NEWS.model_copy(update={"output": "x" * 15_000})
    stage.proxy.refuse(1, status=413, errcode="M_TOO_LARGE", where=SEND)
    await stage.gateway.show(stage.thread, long)
    posts = await stage.seen()
    assert (
        len(posts)
        == len(matrix_cards.draw_card(long, matrix_cards.MESSAGE_BYTES // 2))
        > len(matrix_cards.draw_card(long))
    )
    assert sum(post.text.count("x") for post in posts) >= 15_000
    stage.proxy.fail(status=413, where=SEND)
    with pytest.raises(Refused, match="no Matrix homeserver"):
        await stage.gateway.show(stage.thread, news(1))


async def test_a_long_document_arrives_in_full_and_as_a_file(stage: PostingStage) -> None:
    lines = [
        f"## Part {n}\n\n- **FR-{n:03}**: 利用者は <b>{n}</b> を選べる。{'とても' * 8}\n"
        for n in range(500)
    ]
    text = "# Spec\n\n" + "\n".join(lines)
    assert len(text.encode()) > 64_000
    document = cards.DOCUMENT.model_copy(update={"text": text})
    await stage.gateway.show(stage.thread, document)
    *parts, file = await stage.seen()
    assert [f"({n}/{len(parts)})" in post.text for n, post in enumerate(parts, 1)] == [True] * len(
        parts
    )
    for number in range(500):
        assert sum(f"## Part {number}\n" in post.text for post in parts) == 1
        assert sum(f"<h2>Part {number}</h2>" in post.html for post in parts) == 1
    assert all(len(json.dumps(post.content)) < 60_000 for post in parts)
    assert (file.type, file.text, file.root) == ("m.file", "spec.md", stage.root)
    assert file.content["info"] == {"size": len(text.encode()), "mimetype": "text/markdown"}
    assert await downloaded(stage, str(file.content["url"])) == text.encode()


async def downloaded(stage: PostingStage, url: str) -> bytes:
    place = f"{stage.proxy.url}/_matrix/client/v1/media/download/{url.removeprefix('mxc://')}"
    headers = {"Authorization": f"Bearer {stage.anna.login.access_token}"}
    async with ClientSession() as session, session.get(place, headers=headers) as answer:
        return await answer.read()


async def test_a_file_that_cannot_be_uploaded_now_does_not_hold_the_document_up(
    stage: PostingStage,
) -> None:
    stage.proxy.refuse(status=500, errcode="M_UNKNOWN", where="/upload")
    await stage.gateway.show(stage.thread, cards.DOCUMENT)
    (post,) = await stage.seen()
    assert "Dark mode" in post.text


@pytest.mark.parametrize("status", [413, 403])
async def test_files_that_are_refused_hold_no_document_up_and_are_told_of_once(
    stage: PostingStage, status: int
) -> None:
    stage.proxy.refuse(status=status, errcode="M_UNKNOWN", where="/upload")
    await stage.gateway.show(stage.thread, cards.DOCUMENT)
    another = cards.DOCUMENT.model_copy(update={"key": "another", "text": "# Another one"})
    await stage.gateway.show(stage.thread, another)
    first, told, second = await stage.seen()
    assert "Dark mode" in first.text, "it is not held up"
    assert told.text.startswith("Documents are not attached")
    assert "whole text is in the messages above" in told.text
    assert "Another one" in second.text


async def test_only_the_first_post_of_what_needs_a_person_names_who_began_the_thread(
    stage: PostingStage,
) -> None:
    stage.gateway.remember_owner(stage.thread, stage.anna.id)
    stage.gateway.remember_owner(stage.thread, "@mallory:localhost")
    await stage.begin()
    asking = (cards.QUESTIONS, cards.NEEDS_YOU, cards.PROBLEM, cards.SUMMARY)
    for card in (*asking, cards.NEWS, cards.STATUS, cards.DOCUMENT, cards.RECEIVED):
        await stage.gateway.show(stage.thread, card)
    posts = await stage.seen()
    told = [post.mentions == (stage.anna.id,) for post in posts]
    assert told == [True] * 4 + [False] * (len(posts) - 4)
    await stage.gateway.show(
        stage.thread, cards.PROBLEM.model_copy(update={"reason": "It is gone."})
    )
    assert (await stage.seen())[2].mentions == ()


async def test_the_owner_can_be_given_and_the_bot_never_names_itself(stage: PostingStage) -> None:
    await stage.gateway.show(stage.thread, cards.QUESTIONS, owner=stage.bot.id)
    await stage.gateway.show(stage.thread, cards.PROBLEM, owner=stage.anna.id)
    long = cards.NEEDS_YOU.model_copy(update={"output": "x\n" * 20_000})
    await stage.gateway.show(stage.thread, long, owner=stage.anna.id)
    first, *told = [post.mentions for post in await stage.seen()]
    assert first == ()
    assert told[:2] == [(stage.anna.id,)] * 2
    assert set(told[2:]) == {()}, "once is enough"


async def test_a_whisper_names_whom_it_is_for_and_comes_once(stage: PostingStage) -> None:
    anna = Somebody(platform="matrix", id=stage.anna.id, name="Anna <b>")
    await stage.gateway.whisper(stage.thread, anna, cards.ANSWER)
    await stage.begin()
    await stage.gateway.whisper(stage.thread, anna, cards.ANSWER)
    (post,) = await stage.seen()
    assert (post.type, post.mentions) == ("m.notice", (anna.id,))
    assert post.text.startswith("Anna <b>: Sessions")
    assert f'<a href="https://matrix.to/#/{anna.id}">Anna &lt;b&gt;</a>: ' in post.html


async def test_a_whisper_outside_of_a_thread_stands_in_the_room(stage: PostingStage) -> None:
    anna = Somebody(platform="matrix", id=stage.anna.id)
    channel = Thread(platform="matrix", channel=stage.room, root="")
    await stage.gateway.whisper(channel, anna, cards.ANSWER)
    await stage.seen()
    *_, post = [p for p in stage.anna.posts(stage.room) if p.sender == stage.bot.id]
    assert post.text.startswith(f"{anna.id}: Sessions")
    assert "m.relates_to" not in post.content
    assert stage.proxy.count(SEND) == 1


async def test_a_choice_that_cannot_be_undone_is_asked_about_with_a_chip_of_its_own(
    stage: PostingStage,
) -> None:
    anna = Somebody(platform="matrix", id=stage.anna.id)
    await stage.gateway.show(stage.thread, cards.APPROVAL)
    (approval,) = await stage.seen()
    placed = stage.ledger.by_message(stage.thread.place, approval.event_id)
    discard = choice_for(placed, "❌") if placed else None
    assert discard is not None
    sure = follow_up_card(discard, "$reaction")
    assert sure is not None
    await stage.gateway.whisper(stage.thread, anna, sure)
    _, asked = await stage.seen()
    assert "Discard this session? Its branches stay." in asked.text
    assert asked.keys == ("❌ Discard",)
    asking = stage.ledger.by_message(stage.thread.place, asked.event_id)
    chosen = choice_for(asking, "❌ Discard") if asking else None
    assert chosen is not None
    assert (chosen.verb, chosen.confirm) == (Verb.DISCARD, "")


async def test_the_request_is_marked_as_heard_before_anything_is_said(stage: PostingStage) -> None:
    await stage.gateway.show(stage.thread, cards.RECEIVED)
    assert await stage.root_keys() == ("👀",)
    sent = [one for one in stage.proxy.seen if "/send/" in one]
    assert "/m.reaction/" in sent[0]
    await stage.begin()
    await stage.gateway.react(stage.thread)
    assert await stage.root_keys() == ("👀",)


async def test_signs_that_fail_hold_nothing_up(stage: PostingStage) -> None:
    for where in ("/m.reaction/", "/typing/", "/receipt/"):
        stage.proxy.fail(where=where)
    await stage.gateway.show(stage.thread, cards.RECEIVED)
    await stage.gateway.mark_read(stage.thread, stage.root)
    assert len(await stage.seen()) == 1


async def test_what_was_said_in_the_thread_is_marked_as_read_there(
    stage: PostingStage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    reply = await stage.anna.say(stage.room, "And a light one", thread=stage.root)
    await stage.gateway.mark_read(stage.thread, reply)
    await stage.gateway.mark_read(stage.thread, stage.root)
    assert stage.proxy.count("/receipt/m.read/") == 2
    assert "no sign" not in caplog.text


async def test_hostile_markdown_is_inert_on_the_wire(stage: PostingStage) -> None:
    text = "# Hi @room\n\n[you](https://matrix.to/#/@anna:hs) <img src=x> ![a](http://x/y.png)\n"
    await stage.gateway.show(stage.thread, cards.DOCUMENT.model_copy(update={"text": text}))
    post, _ = await stage.seen()
    assert post.mentions == ()
    assert "<a " not in post.html
    assert "<img" not in post.html
    assert "@room" not in post.html
