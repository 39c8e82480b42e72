"""Windows of one person's own: opened with the press, filled with its answer, leafed through, forgotten when closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from adapters.slack.blocks.surfaces import page_wanted, window_pages, window_view
from bot.core.cards import AnswerCard, NeedsYouCard
from bot.core.choices import Choice, Verb
from bot.core.errors import Unavailable
from bot.core.events import FromPeople, Pressed
from bot.core.layout import lay_out
from bot.core.people import Thread
from bot.core.sheets import Code, Text
from tests.adapters.slack import content
from tests.adapters.slack.whole import DEADLINE, HOME, Whole, answer, person, whole
from tests.beds.slack import AKI, MIKA, PUBLIC, TEAM, SlackBed, View
from tests.beds.slack.forms import labels
from tests.beds.slack.validation import wrong_in_view

LOG = Choice(label="Show the log", verb=Verb.LOG, about="T001")
CARD = NeedsYouCard(key="blocked:T001", title="T001 has failed", reason="Why?", choices=(LOG,))
LINES = "\n".join(f"line {n} of the log, which says a thing & another" for n in range(900))
_any = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed() as bed:
        yield bed


@pytest.fixture
async def bot(bed: SlackBed, tmp_path: Path) -> AsyncIterator[Whole]:
    async with whole(bed, tmp_path) as bot:
        yield bot


async def shown(bot: Whole) -> tuple[Thread, str]:
    """A card with a button for the log, in a thread Mika began; nobody has taken note of it."""
    root = await bot.bed.say(MIKA, PUBLIC, "What stands here is for nobody.")
    thread = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=root.ts)
    await bot.chat.show(thread, CARD)
    return thread, bot.bed.thread(PUBLIC, root.ts)[-1].ts


async def window_of(bot: Whole, *words: str) -> View:
    def there() -> bool:
        return any(all(word in one.reads for word in words) for one in bot.bed.views)

    await bot.bed.until(there, DEADLINE)
    return bot.bed.views[-1]


# what it looks like


@_any
@given(content.answer_cards)
def test_slack_takes_every_page_of_any_answer(card: AnswerCard) -> None:
    laid = lay_out(card)
    leaves = window_pages(laid)
    for number in range(len(leaves)):
        view = window_view(laid, leaves, number, "{}")
        assert wrong_in_view(view) == []
        assert [text for text in content.texts_of(view) if not text.strip()] == []


def test_nothing_of_a_long_log_is_left_out_and_its_end_comes_first() -> None:
    laid = lay_out(AnswerCard(key="a", title="Logs", body=(Text(text="T001"), Code(text=LINES))))
    leaves = window_pages(laid)
    assert len(leaves) > 2
    whole = "\n".join(text for leaf in leaves for text in content.texts_of(leaf))
    assert [f"line {n} " in whole for n in range(900)] == [True] * 900
    last = window_view(laid, leaves, len(leaves) - 1)
    assert "line 899 " in "\n".join(content.texts_of(last))
    assert labels(_named(last)) == ["Older"]
    assert labels(_named(window_view(laid, leaves, 1))) == ["Older", "Newer"]
    assert labels(_named(window_view(laid, leaves, 0))) == ["Newer"]


@pytest.mark.parametrize("value", ["", "x", "-1", "1e9", "9" * 40, None, 3])
def test_a_page_nobody_offered_is_no_page(value: object) -> None:
    assert page_wanted({"action_id": "page:older", "value": value}) is None
    assert page_wanted({"action_id": "approve:0", "value": "1"}) is None


def _named(view: dict[str, object]) -> list[dict[str, object]]:
    blocks: list[dict[str, object]] = []
    for number, block in enumerate(content.parts_of(view, "actions")):
        blocks.append({**block, "block_id": str(number)})
    return blocks


# what becomes of it


async def test_it_opens_at_once_and_is_filled_when_the_answer_comes(bot: Whole) -> None:
    thread, ts = await shown(bot)
    bot.desk.gate = asyncio.Event()
    await bot.bed.click(MIKA, ts, "Show the log")
    await window_of(bot, "One moment")
    bot.desk.gate.set()
    [(there, event)] = await bot.taken(1)
    assert isinstance(event, Pressed)
    assert (there, event.verb, event.about) == (thread, Verb.LOG, "T001")
    await bot.chat.whisper(thread, event.by, answer(event, "Logs", Text(text="It began.")))
    view = await window_of(bot, "It began.")
    assert "One moment" not in view.reads
    assert view.user == MIKA
    assert bot.bed.ephemerals(MIKA) == []


async def test_an_answer_that_comes_while_the_press_is_taken_is_not_lost(bot: Whole) -> None:
    async def tell(thread: Thread, event: FromPeople) -> None:
        await bot.chat.whisper(thread, event.by, answer(event, "Logs", Text(text="It began.")))

    bot.desk.answer = tell
    _, ts = await shown(bot)
    bot.bed.faults.slow(0.3, "views.open")
    await bot.bed.click(MIKA, ts, "Show the log")
    await window_of(bot, "It began.")


async def test_a_long_answer_is_leafed_through(bot: Whole) -> None:
    thread, ts = await shown(bot)
    await bot.bed.click(MIKA, ts, "Show the log")
    [(_, event)] = await bot.taken(1)
    await bot.chat.whisper(thread, event.by, answer(event, "Logs", Code(text=LINES)))
    view = await window_of(bot, "line 899 ")
    await bot.bed.click(MIKA, view.id, "Older")
    await bot.bed.until(lambda: "line 899 " not in view.reads, DEADLINE)
    await bot.bed.click(MIKA, view.id, "Newer")
    await bot.bed.until(lambda: "line 899 " in view.reads, DEADLINE)
    await bot.taken(1)


async def test_who_may_not_is_told_there_and_nobody_else_is(bot: Whole) -> None:
    thread, ts = await shown(bot)
    bot.desk.banned = {f"{TEAM}:{AKI}"}
    await bot.bed.click(AKI, ts, "Show the log")
    view = await window_of(bot, "You may not look at that")
    assert view.user == AKI
    assert bot.bed.world.ephemerals == []
    assert len(bot.bed.thread(PUBLIC, thread.root)) == 2


async def test_a_refusal_in_the_bots_own_words_stands_there_instead(bot: Whole) -> None:
    thread, ts = await shown(bot)
    bot.desk.gate = asyncio.Event()
    await bot.bed.click(AKI, ts, "Show the log")
    await bot.bed.until(lambda: bot.desk.calls, DEADLINE)
    told = AnswerCard(key=f"told:{bot.desk.calls[0].id}:abcd", title="Ask Mika.")
    await bot.chat.whisper(thread, person(AKI), told)
    bot.desk.lets = False
    bot.desk.gate.set()
    await bot.bed.all_acked(DEADLINE)
    view = await window_of(bot, "Ask Mika.")
    assert "You may not" not in view.reads


async def test_what_cannot_be_taken_is_said_there(bot: Whole) -> None:
    _, ts = await shown(bot)
    bot.desk.fails = [Unavailable("No space left on device.")]
    await bot.bed.click(MIKA, ts, "Show the log")
    await window_of(bot, "That did not work just now")
    assert bot.desk.taken == {}


async def test_without_a_window_the_answer_is_told_in_the_thread(bot: Whole) -> None:
    thread, ts = await shown(bot)
    bot.bed.faults.refuse("expired_trigger_id", "views.open")
    await bot.bed.click(MIKA, ts, "Show the log")
    [(_, event)] = await bot.taken(1)
    await bot.chat.whisper(thread, event.by, answer(event, "Logs", Text(text="It began.")))
    [told] = bot.bed.ephemerals(MIKA)
    assert ("It began." in told.reads, told.thread) == (True, thread.root)


async def test_a_window_that_was_closed_stays_closed(bot: Whole) -> None:
    thread, ts = await shown(bot)
    await bot.bed.click(MIKA, ts, "Show the log")
    view = await window_of(bot, "One moment")
    await bot.taken(1)
    closing = await bot.bed.close(view)
    assert closing, "the bot asked to be told"
    await closing.ack()
    event = bot.desk.events[0]
    await bot.chat.whisper(thread, event.by, answer(event, "Logs", Text(text="It began.")))
    assert bot.bed.views == []
    assert bot.bed.called("views.update") == []
    assert bot.bed.ephemerals(MIKA) == []


async def test_a_window_that_is_not_known_any_more_says_so(bot: Whole) -> None:
    thread, ts = await shown(bot)
    await bot.bed.click(MIKA, ts, "Show the log")
    [(_, event)] = await bot.taken(1)
    await bot.chat.whisper(thread, event.by, answer(event, "Logs", Code(text=LINES)))
    view = await window_of(bot, "line 899 ")
    await bot.bed.click(MIKA, view.id, "Older")
    await bot.bed.until(lambda: "line 899 " not in view.reads, DEADLINE)
    press = bot.bed.deliveries[-1].payload
    strange = {**press, "view": {**press["view"], "id": "V0STRANGE"}}
    before = len(bot.bed.called("views.update"))
    await bot.bed.courier.send("interactive", strange).ack()
    await bot.bed.until(lambda: len(bot.bed.called("views.update")) > before, DEADLINE)
    assert "Out of date" in str(bot.bed.called("views.update")[-1].args["view"])


async def test_told_again_and_again_of_one_press_it_opens_one_window(bot: Whole) -> None:
    _, ts = await shown(bot)
    await bot.bed.click(MIKA, ts, "Show the log")
    await window_of(bot, "One moment")
    press = next(one for one in bot.bed.deliveries if one.kind == "interactive").payload
    for _ in range(3):
        await bot.bed.courier.send("interactive", press).ack()
    assert len(bot.bed.called("views.open")) == 1
    assert len(bot.bed.views) == 1


async def test_it_opens_from_the_home_as_well(bot: Whole) -> None:
    told = AnswerCard(key="told:1", title="T001 has failed", choices=(LOG,))
    await bot.chat.whisper(HOME, person(MIKA), told)
    await bot.bed.click(MIKA, "home", "Show the log")
    [(thread, event)] = await bot.taken(1)
    await bot.chat.whisper(thread, event.by, answer(event, "Logs", Text(text="It began.")))
    await window_of(bot, "It began.")
    assert thread == HOME
