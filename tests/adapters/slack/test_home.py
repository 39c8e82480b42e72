"""The home tab: who comes sees how everything stands, can act there, and is answered there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.slack.blocks.kit import Site
from adapters.slack.blocks.surfaces import ENTRIES_SHOWN, barred_view, home_view, notice_view
from adapters.slack.views import HomeTab
from bot.core.cards import AnswerCard, HomeCard
from bot.core.choices import Verb
from bot.core.errors import Unavailable
from bot.core.events import FromPeople, Opened, Pressed, Visited
from bot.core.layout import lay_out
from bot.core.people import Thread
from bot.core.sheets import Entry
from tests.adapters.slack import content
from tests.adapters.slack.way_in import calls_to
from tests.adapters.slack.whole import (
    DEADLINE,
    HOME,
    PAGE,
    SESSION,
    Whole,
    answer,
    person,
    session,
    whole,
)
from tests.beds.slack import AKI, GUEST, MIKA, PUBLIC, TEAM, SlackBed
from tests.beds.slack.validation import wrong_in_view
from tests.fakes import cards

PUBLISH = "views.publish"
SITE = Site(TEAM, "https://played.slack.com/")
MANY = tuple(
    session(f"Wish {n}", Verb.RESUME, Verb.DISCARD, id=f"{n:08d}{SESSION[8:]}") for n in range(60)
)
_any = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
entries = content.few(
    st.builds(
        Entry,
        title=content.words,
        facts=content.few(content.words, 3),
        thread=st.none() | content.threads,
        choices=content.few(content.choices, 4),
    ),
    20,
)
pages = st.builds(
    HomeCard,
    key=content.words,
    health=content.few(st.tuples(content.words, content.words), 12),
    waiting=entries,
    running=entries,
    recent=entries,
    branches=content.few(content.words, 15),
    settings=content.few(st.tuples(content.words, content.words), 8),
    choices=content.few(content.choices, 3),
    at=st.just(cards.AT),
)


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed() as bed:
        yield bed


@pytest.fixture
async def bot(bed: SlackBed, tmp_path: Path) -> AsyncIterator[Whole]:
    async with whole(bed, tmp_path) as bot:
        yield bot


# what it looks like


@_any
@given(pages, st.none() | content.answer_cards, st.sampled_from(ENTRIES_SHOWN))
def test_slack_takes_any_page(card: HomeCard, notice: AnswerCard | None, most: int) -> None:
    view = home_view(card, site=SITE, notice=lay_out(notice) if notice else None, most=most)
    assert wrong_in_view(view) == []
    assert len(view["blocks"]) <= 100
    assert [text for text in content.texts_of(view) if not text.strip()] == []


@_any
@given(content.answer_cards)
def test_slack_takes_any_answer_on_an_empty_page(notice: AnswerCard) -> None:
    assert wrong_in_view(notice_view(lay_out(notice))) == []
    assert wrong_in_view(barred_view()) == []


def test_what_waits_stands_first_and_everything_is_there() -> None:
    reads = "\n".join(content.texts_of(home_view(PAGE, site=SITE)))
    order = ["Start a feature", "Dark mode", "Payments", "Receipts", "agent/dark-mode", "tmux"]
    places = [reads.index(word) for word in [*order, "Repository", "As of 2026-11-18 12:03"]]
    assert places == sorted(places)
    assert "<https://played.slack.com/archives/C0001/p1794988193000100|Dark mode>" in reads


def test_of_many_only_the_first_are_shown_and_the_rest_is_counted() -> None:
    crowded = PAGE.model_copy(update={"waiting": MANY, "running": MANY, "recent": MANY})
    for most in ENTRIES_SHOWN:
        view = home_view(crowded, most=most)
        reads = "\n".join(content.texts_of(view))
        assert wrong_in_view(view) == []
        assert str(len(MANY) - most) in reads
        assert "tmux" in reads, "health is never crowded out"


def test_nothing_on_a_page_can_mention_anybody() -> None:
    hostile = content.with_everywhere(PAGE.model_copy(update={"at": cards.AT}), content.HOSTILE[0])
    assert isinstance(hostile, HomeCard)
    for text in content.texts_in_markup(home_view(hostile, site=SITE)):
        assert "<!channel>" not in text
        assert "<@U1>" not in text


# who comes


async def test_whoever_opens_their_home_has_visited(bot: Whole) -> None:
    await bot.bed.open_home(MIKA)
    [(thread, event)] = await bot.taken(1)
    assert isinstance(event, Visited)
    assert (thread, event.by.id) == (HOME, f"{TEAM}:{MIKA}")
    await bot.bed.open_home(MIKA)
    [_, (_, again)] = await bot.taken(2)
    assert again.id != event.id


async def test_a_visit_is_answered_with_how_everything_stands(bot: Whole) -> None:
    async def show(thread: Thread, event: FromPeople) -> None:
        await bot.chat.whisper(thread, event.by, PAGE)

    bot.desk.answer = show
    await bot.bed.open_home(MIKA)
    await bot.shows("Dark mode")
    assert "connected since" in bot.reads()
    assert bot.reads(AKI) == ""
    assert [one for one in bot.bed.messages(PUBLIC) if one.by_our_bot] == []


@pytest.mark.parametrize("who", [AKI, GUEST])
async def test_who_is_on_no_list_is_told_so_in_one_sentence(bot: Whole, who: str) -> None:
    bot.desk.banned = {f"{TEAM}:{who}"}
    await bot.bed.open_home(who)
    await bot.shows("You are not on this bot's lists", who)
    view = bot.bed.home(who)
    assert view
    assert len(view.told["blocks"]) == 1
    await bot.visit(PAGE, who)
    assert "Dark mode" in bot.reads(who)


# what is published


async def test_what_says_the_same_is_published_once(bot: Whole) -> None:
    await bot.visit(PAGE)
    await bot.visit(PAGE)
    later = PAGE.model_copy(update={"at": cards.AT.replace(second=40)})
    await bot.visit(later)
    assert len(bot.bed.called(PUBLISH)) == 1
    await bot.visit(PAGE.model_copy(update={"waiting": ()}))
    await bot.visit(PAGE, AKI)
    assert len(bot.bed.called(PUBLISH)) == 3


async def test_of_many_changes_at_once_the_last_one_stands(bot: Whole) -> None:
    bot.bed.faults.slow(0.2, PUBLISH)
    changes = [PAGE.model_copy(update={"branches": (f"agent/{n}",)}) for n in range(20)]
    await asyncio.gather(*(bot.visit(one) for one in changes))
    assert "agent/19" in bot.reads()
    assert len(bot.bed.called(PUBLISH)) <= 3


async def test_told_to_wait_it_waits_and_publishes_what_is_true_by_then(bot: Whole) -> None:
    bot.bed.faults.storm(2, 0, PUBLISH)
    newest = PAGE.model_copy(update={"branches": ("agent/newest",)})
    await asyncio.gather(bot.visit(PAGE), bot.visit(newest))
    assert "agent/newest" in bot.reads()


async def test_a_conflict_is_published_once_more(bot: Whole) -> None:
    bot.bed.faults.refuse("hash_conflict", PUBLISH)
    await bot.visit(PAGE)
    assert "Dark mode" in bot.reads()


async def test_a_page_that_is_too_much_for_slack_is_shown_shorter(bot: Whole) -> None:
    crowded = PAGE.model_copy(update={"waiting": MANY})
    bot.bed.faults.refuse("view_too_large", PUBLISH, times=2)
    await bot.visit(crowded)
    assert "Wish 0" in bot.reads()
    assert "Wish 1\n" not in bot.reads()
    calls = len(bot.bed.called(PUBLISH))
    await bot.visit(crowded)
    assert len(bot.bed.called(PUBLISH)) == calls, "what stands there is known"


async def test_what_could_not_be_published_is_published_the_next_time(bot: Whole) -> None:
    bot.bed.faults.answer(503, PUBLISH)
    with pytest.raises(Unavailable):
        await bot.visit(PAGE)
    await bot.visit(PAGE)
    assert "Dark mode" in bot.reads()


async def test_a_page_leaves_nothing_in_the_ledger(bot: Whole, tmp_path: Path) -> None:
    before = (tmp_path / "cards.jsonl").read_bytes()
    await bot.visit(PAGE)
    assert (tmp_path / "cards.jsonl").read_bytes() == before


# what is pressed


async def test_a_press_there_names_the_session_it_is_about(bot: Whole) -> None:
    await bot.visit(PAGE)
    await bot.bed.click(MIKA, "home", "Stop")
    [(thread, event)] = await bot.taken(1)
    assert isinstance(event, Pressed)
    assert (thread, event.verb, event.about) == (HOME, Verb.STOP, SESSION)


async def test_what_cannot_be_undone_is_asked_for_once_more(bot: Whole) -> None:
    await bot.visit(PAGE)
    assert await bot.bed.click(MIKA, "home", "Discard", agree=False) is None
    clicked = await bot.bed.click(MIKA, "home", "Discard")
    assert clicked
    assert clicked.confirm
    [(_, event)] = await bot.taken(1)
    assert isinstance(event, Pressed)
    assert event.verb is Verb.DISCARD


async def test_two_people_who_press_do_not_wait_for_each_other(bot: Whole) -> None:
    await bot.visit(PAGE)
    await bot.visit(PAGE, AKI)
    bot.desk.gate = asyncio.Event()
    await bot.bed.click(MIKA, "home", "Stop")
    await bot.bed.click(AKI, "home", "Stop")
    await bot.bed.until(lambda: len(bot.desk.calls) == 2, DEADLINE)
    bot.desk.gate.set()
    both = await bot.taken(2)
    assert len({event.id for _, event in both}) == 2


async def test_what_is_answered_stands_on_top_until_the_next_press(bot: Whole) -> None:
    await bot.visit(PAGE)
    told = AnswerCard(key="told:x", title="Stopped: 2 agents")
    await bot.chat.whisper(HOME, person(MIKA), told)
    assert bot.reads().index("Stopped: 2 agents") < bot.reads().index("Dark mode")
    assert "Stopped" not in bot.reads(AKI)
    await bot.bed.click(MIKA, "home", "Stop")
    await bot.bed.until(lambda: "Stopped: 2" not in bot.reads(), DEADLINE)
    assert "Dark mode" in bot.reads()


async def test_an_answer_comes_even_where_nothing_stands_yet(bot: Whole) -> None:
    await bot.chat.whisper(HOME, person(MIKA), AnswerCard(key="told:x", title="Not now"))
    assert "Not now" in bot.reads()


async def test_an_answer_can_have_buttons_of_its_own(bot: Whole) -> None:
    async def pick(thread: Thread, event: FromPeople) -> None:
        choices = session("", Verb.RESUME).choices
        card = answer(event, "Which one?").model_copy(update={"choices": choices})
        await bot.chat.whisper(thread, event.by, card)

    await bot.visit(PAGE.model_copy(update={"waiting": ()}))
    bot.desk.answer = pick
    await bot.bed.click(MIKA, "home", "Stop")
    await bot.shows("Which one?")
    await bot.bed.click(MIKA, "home", "Resume")
    [_, (_, event)] = await bot.taken(2)
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.RESUME, SESSION)


async def test_an_answer_is_taken_away_after_a_while(bed: SlackBed) -> None:
    async with calls_to(bed) as client:
        page = HomeTab(client, notice=0.05)
        await page.show(MIKA, PAGE, None)
        await page.tell(MIKA, AnswerCard(key="told:x", title="Stopped"))
        view = bed.home(MIKA)
        assert view
        assert "Stopped" in view.reads
        await bed.until(lambda: "Stopped" not in getattr(bed.home(MIKA), "reads", ""), DEADLINE)
        await page.close()


async def test_who_is_forgotten_is_shown_everything_again(bed: SlackBed) -> None:
    async with calls_to(bed) as client:
        page = HomeTab(client)
        await page.show(MIKA, PAGE, None)
        assert ("Key", "SET") in page.settings(MIKA)
        assert page.settings(AKI) == ()
        await page.close()


# the other tab


async def test_prompts_are_suggested_where_somebody_talks_to_the_bot_alone(bot: Whole) -> None:
    dm = bot.bed.dm(MIKA)
    await bot.bed.open_home(MIKA, "messages")
    await bot.bed.until(lambda: bot.bed.world.prompts.get(dm), DEADLINE)
    assert len(bot.bed.world.prompts[dm]) <= 4
    await bot.bed.open_home(MIKA, "messages")
    await bot.bed.all_acked(DEADLINE)
    assert len(bot.bed.called("assistant.threads.setSuggestedPrompts")) == 1
    assert bot.desk.calls == []


async def test_where_slack_takes_no_prompts_nothing_is_said_of_it(bot: Whole) -> None:
    bot.bed.faults.refuse("not_authorized", "assistant.*")
    for user in (MIKA, AKI):
        await bot.bed.open_home(user, "messages")
        await bot.bed.until(lambda: bot.bed.called("assistant.threads.setSuggestedPrompts"))
    await bot.bed.all_acked(DEADLINE)
    assert len(bot.bed.called("assistant.threads.setSuggestedPrompts")) == 1
    assert bot.bed.world.ephemerals == []


async def test_a_form_opens_from_the_page(bot: Whole) -> None:
    await bot.visit(PAGE)
    await bot.bed.click(MIKA, "home", "Model and endpoint")
    await bot.bed.until(lambda: bot.bed.views, DEADLINE)
    [(thread, event)] = await bot.taken(1)
    assert isinstance(event, Opened)
    assert (thread, event.verb) == (HOME, Verb.SETTINGS)
