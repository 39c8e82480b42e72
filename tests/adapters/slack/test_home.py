"""The home tab: who comes sees how everything stands, can act there, and is answered there."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.slack.blocks.kit import Site
from bot.core.cards import AnswerCard, HomeCard
from bot.core.choices import Verb
from bot.core.errors import Unavailable
from bot.core.events import FromPeople, Opened, Pressed, Visited
from bot.core.people import Thread
from bot.core.sheets import Entry
from tests.adapters.slack import content
from tests.adapters.slack.bot import DEADLINE, HOME, PAGE, SESSION, Bot, answer, person, session
from tests.beds.slack import AKI, GUEST, MIKA, PUBLIC, TEAM
from tests.fakes import cards

PUBLISH = "views.publish"
SITE = Site(TEAM, "https://played.slack.com/")
MANY = tuple(
    session(f"Wish {n}", Verb.RESUME, Verb.DISCARD, id=f"{n:08d}{SESSION[8:]}") for n in range(60)
)
_any = settings(
    max_examples=10,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
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


# what it looks like


@_any
@given(pages, st.none() | content.answer_cards)
async def test_slack_takes_any_page_and_any_answer_on_it(
    at: Bot, card: HomeCard, notice: AnswerCard | None
) -> None:
    await at.visit(card)
    if notice:
        await at.chat.whisper(HOME, person(MIKA), notice)
    view = at.bed.home(MIKA)
    assert view
    assert [text for text in content.texts_of(view.told) if not text.strip()] == []
    assert "<!channel>" not in "".join(content.texts_in_markup(view.told))
    assert at.bed.called(PUBLISH)[-1].error == ""


async def test_what_waits_stands_first_and_everything_is_there(bot: Bot) -> None:
    await bot.visit(PAGE)
    order = ["Start a feature", "Dark mode", "Payments", "Receipts", "agent/dark-mode", "tmux"]
    places = [bot.home().index(word) for word in [*order, "Repository", "As of 2026-11-18 12:03"]]
    assert places == sorted(places)
    assert "<https://played.slack.com/archives/C0001/p1794988193000100|Dark mode>" in bot.home()


async def test_of_many_only_the_first_are_shown_and_the_rest_is_counted(bot: Bot) -> None:
    await bot.visit(PAGE.model_copy(update={"waiting": MANY, "running": MANY, "recent": MANY}))
    shown = len(re.findall(r"Wish \d+", bot.home()))
    assert shown < 3 * len(MANY)
    assert f"{len(MANY) - shown // 3} more" in bot.home()
    assert "tmux" in bot.home(), "health is never crowded out"


# who comes


async def test_whoever_opens_their_home_has_visited(bot: Bot) -> None:
    await bot.bed.open_home(MIKA)
    [(thread, event)] = await bot.taken(1)
    assert isinstance(event, Visited)
    assert (thread, event.by.id) == (HOME, f"{TEAM}:{MIKA}")
    await bot.bed.open_home(MIKA)
    [_, (_, again)] = await bot.taken(2)
    assert again.id != event.id


async def test_a_visit_is_answered_with_how_everything_stands(bot: Bot) -> None:
    async def show(thread: Thread, event: FromPeople) -> None:
        await bot.chat.whisper(thread, event.by, PAGE)

    bot.desk.answer = show
    await bot.bed.open_home(MIKA)
    await bot.shows("Dark mode")
    assert "connected since" in bot.home()
    assert bot.home(AKI) == ""
    assert [one for one in bot.bed.messages(PUBLIC) if one.by_our_bot] == []


@pytest.mark.parametrize("who", [AKI, GUEST])
async def test_who_is_on_no_list_is_told_so_in_one_sentence(bot: Bot, who: str) -> None:
    bot.desk.banned = {f"{TEAM}:{who}"}
    await bot.bed.open_home(who)
    await bot.shows("You are not on this bot's lists", who)
    view = bot.bed.home(who)
    assert view
    assert len(view.told["blocks"]) == 1
    await bot.visit(PAGE, who)
    assert "Dark mode" in bot.home(who)


# what is published


async def test_what_says_the_same_is_published_once(bot: Bot) -> None:
    await bot.visit(PAGE)
    await bot.visit(PAGE)
    later = PAGE.model_copy(update={"at": cards.AT.replace(second=40)})
    await bot.visit(later)
    assert len(bot.bed.called(PUBLISH)) == 1
    await bot.visit(PAGE.model_copy(update={"waiting": ()}))
    await bot.visit(PAGE, AKI)
    assert len(bot.bed.called(PUBLISH)) == 3


async def test_of_many_changes_at_once_the_last_one_stands(bot: Bot) -> None:
    bot.bed.faults.slow(0.2, PUBLISH)
    changes = [PAGE.model_copy(update={"branches": (f"agent/{n}",)}) for n in range(20)]
    await asyncio.gather(*(bot.visit(one) for one in changes))
    assert "agent/19" in bot.home()
    assert len(bot.bed.called(PUBLISH)) <= 3


async def test_told_to_wait_it_waits_and_publishes_what_is_true_by_then(bot: Bot) -> None:
    bot.bed.faults.storm(2, 0, PUBLISH)
    newest = PAGE.model_copy(update={"branches": ("agent/newest",)})
    await asyncio.gather(bot.visit(PAGE), bot.visit(newest))
    assert "agent/newest" in bot.home()


async def test_a_conflict_is_published_once_more(bot: Bot) -> None:
    bot.bed.faults.refuse("hash_conflict", PUBLISH)
    await bot.visit(PAGE)
    assert "Dark mode" in bot.home()


async def test_a_page_that_is_too_much_for_slack_is_shown_shorter(bot: Bot) -> None:
    crowded = PAGE.model_copy(update={"waiting": MANY})
    bot.bed.faults.refuse("view_too_large", PUBLISH, times=2)
    await bot.visit(crowded)
    assert "Wish 0" in bot.home()
    assert "Wish 1\n" not in bot.home()
    calls = len(bot.bed.called(PUBLISH))
    await bot.visit(crowded)
    assert len(bot.bed.called(PUBLISH)) == calls, "what stands there is known"


async def test_what_could_not_be_published_is_published_the_next_time(bot: Bot) -> None:
    bot.bed.faults.answer(503, PUBLISH)
    with pytest.raises(Unavailable):
        await bot.visit(PAGE)
    await bot.visit(PAGE)
    assert "Dark mode" in bot.home()


async def test_a_page_leaves_nothing_in_the_ledger(bot: Bot, tmp_path: Path) -> None:
    before = (tmp_path / "cards.jsonl").read_bytes()
    await bot.visit(PAGE)
    assert (tmp_path / "cards.jsonl").read_bytes() == before


# what is pressed


async def test_a_press_there_names_the_session_it_is_about(bot: Bot) -> None:
    await bot.visit(PAGE)
    await bot.bed.click(MIKA, "home", "Stop")
    [(thread, event)] = await bot.taken(1)
    assert isinstance(event, Pressed)
    assert (thread, event.verb, event.about) == (HOME, Verb.STOP, SESSION)


async def test_what_cannot_be_undone_is_asked_for_once_more(bot: Bot) -> None:
    await bot.visit(PAGE)
    assert await bot.bed.click(MIKA, "home", "Discard", agree=False) is None
    clicked = await bot.bed.click(MIKA, "home", "Discard")
    assert clicked
    assert clicked.confirm
    [(_, event)] = await bot.taken(1)
    assert isinstance(event, Pressed)
    assert event.verb is Verb.DISCARD


async def test_two_people_who_press_do_not_wait_for_each_other(bot: Bot) -> None:
    await bot.visit(PAGE)
    await bot.visit(PAGE, AKI)
    bot.desk.gate = asyncio.Event()
    await bot.bed.click(MIKA, "home", "Stop")
    await bot.bed.click(AKI, "home", "Stop")
    await bot.bed.until(lambda: len(bot.desk.calls) == 2, DEADLINE)
    bot.desk.gate.set()
    both = await bot.taken(2)
    assert len({event.id for _, event in both}) == 2


async def test_what_is_answered_stands_on_top_until_the_next_press(bot: Bot) -> None:
    await bot.visit(PAGE)
    told = AnswerCard(key="told:x", title="Stopped: 2 agents")
    await bot.chat.whisper(HOME, person(MIKA), told)
    assert bot.home().index("Stopped: 2 agents") < bot.home().index("Dark mode")
    assert "Stopped" not in bot.home(AKI)
    await bot.bed.click(MIKA, "home", "Stop")
    await bot.bed.until(lambda: "Stopped: 2" not in bot.home(), DEADLINE)
    assert "Dark mode" in bot.home()


async def test_an_answer_comes_even_where_nothing_stands_yet(bot: Bot) -> None:
    await bot.chat.whisper(HOME, person(MIKA), AnswerCard(key="told:x", title="Not now"))
    assert "Not now" in bot.home()


async def test_an_answer_can_have_buttons_of_its_own(bot: Bot) -> None:
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


async def test_an_answer_is_taken_away_after_a_while(bot: Bot) -> None:
    bot.options["notice"] = 0.05
    await bot.restart()
    await bot.visit(PAGE)
    await bot.chat.whisper(HOME, person(MIKA), AnswerCard(key="told:x", title="Stopped"))
    await bot.bed.until(lambda: bot.home() and "Stopped" not in bot.home(), DEADLINE)


# the other tab


async def test_prompts_are_suggested_where_somebody_talks_to_the_bot_alone(bot: Bot) -> None:
    dm = bot.bed.dm(MIKA)
    await bot.bed.open_home(MIKA, "messages")
    await bot.bed.until(lambda: bot.bed.world.prompts.get(dm), DEADLINE)
    assert len(bot.bed.world.prompts[dm]) <= 4
    await bot.bed.open_home(MIKA, "messages")
    await bot.bed.all_acked(DEADLINE)
    assert len(bot.bed.called("assistant.threads.setSuggestedPrompts")) == 1
    assert bot.desk.calls == []


async def test_where_slack_takes_no_prompts_nothing_is_said_of_it(bot: Bot) -> None:
    bot.bed.faults.refuse("not_authorized", "assistant.*")
    for user in (MIKA, AKI):
        await bot.bed.open_home(user, "messages")
        await bot.bed.until(lambda: bot.bed.called("assistant.threads.setSuggestedPrompts"))
    await bot.bed.all_acked(DEADLINE)
    assert len(bot.bed.called("assistant.threads.setSuggestedPrompts")) == 1
    assert bot.bed.world.ephemerals == []


async def test_a_form_opens_from_the_page(bot: Bot) -> None:
    await bot.visit(PAGE)
    await bot.bed.click(MIKA, "home", "Model and endpoint")
    await bot.bed.until(lambda: bot.bed.views, DEADLINE)
    [(thread, event)] = await bot.taken(1)
    assert isinstance(event, Opened)
    assert (thread, event.verb) == (HOME, Verb.SETTINGS)
