"""Windows of one person's own: opened with the press, filled with its answer, leafed through, forgotten when closed."""

from __future__ import annotations

import asyncio

from hypothesis import HealthCheck, given, settings

from bot.core.cards import AnswerCard, NeedsYouCard
from bot.core.choices import Choice, Verb
from bot.core.errors import Unavailable
from bot.core.events import FromPeople, Pressed
from bot.core.people import Thread
from bot.core.sheets import Code, Text
from tests.adapters.slack import content
from tests.adapters.slack.bot import DEADLINE, HOME, Bot, answer, person
from tests.beds.slack import AKI, MIKA, PUBLIC, TEAM, View
from tests.beds.slack.forms import labels

LOG = Choice(label="Show the log", verb=Verb.LOG, about="T001")
CARD = NeedsYouCard(key="blocked:T001", title="T001 has failed", reason="Why?", choices=(LOG,))
LINES = "\n".join(f"line {n} of the log, which says a thing & another" for n in range(900))
_any = settings(
    max_examples=25,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)


async def shown(bot: Bot) -> tuple[Thread, str]:
    return await bot.shown(CARD)


async def window_of(bot: Bot, *words: str) -> View:
    def there() -> bool:
        return any(all(word in one.reads for word in words) for one in bot.bed.views)

    await bot.bed.until(there, DEADLINE)
    return bot.bed.views[-1]


@_any
@given(content.answer_cards)
async def test_slack_takes_any_answer_in_a_window(bot: Bot, card: AnswerCard) -> None:
    _, ts = await shown(bot)
    bot.desk.answer = lambda thread, event: bot.chat.whisper(
        thread, event.by, card.model_copy(update={"key": f"answer:{event.id}"})
    )
    updates = len(bot.bed.called("views.update"))
    await bot.bed.click(MIKA, ts, "Show the log")
    await bot.bed.until(lambda: len(bot.bed.called("views.update")) > updates, DEADLINE)
    [view] = bot.bed.views
    assert bot.bed.called("views.update")[-1].error == ""
    assert [text for text in content.texts_of(view.told) if not text.strip()] == []
    await bot.bed.close(view)
    await bot.bed.all_acked(DEADLINE)


async def test_nothing_of_a_long_log_is_left_out_and_its_end_comes_first(bot: Bot) -> None:
    thread, ts = await shown(bot)
    await bot.bed.click(MIKA, ts, "Show the log")
    [(_, event)] = await bot.taken(1)
    await bot.chat.whisper(thread, event.by, answer(event, "Logs", Code(text=LINES)))
    view = await window_of(bot, "line 899 ")
    assert labels(view.told["blocks"]) == ["Older"]
    pages = [view.reads]
    while "Older" in labels(view.told["blocks"]):
        await bot.bed.click(MIKA, view.id, "Older")
        await bot.bed.until(lambda: view.reads != pages[-1], DEADLINE)
        pages.append(view.reads)
    whole = "".join(pages)
    assert len(pages) > 2
    assert [f"line {n} " in whole for n in range(900)] == [True] * 900
    assert labels(view.told["blocks"]) == ["Newer"]


# what becomes of it


async def test_it_opens_at_once_and_is_filled_when_the_answer_comes(bot: Bot) -> None:
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


async def test_an_answer_that_comes_while_the_press_is_taken_is_not_lost(bot: Bot) -> None:
    async def tell(thread: Thread, event: FromPeople) -> None:
        await bot.chat.whisper(thread, event.by, answer(event, "Logs", Text(text="It began.")))

    bot.desk.answer = tell
    _, ts = await shown(bot)
    bot.bed.faults.slow(0.3, "views.open")
    await bot.bed.click(MIKA, ts, "Show the log")
    await window_of(bot, "It began.")


async def test_a_long_answer_is_leafed_through(bot: Bot) -> None:
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


async def test_who_may_not_is_told_there_and_nobody_else_is(bot: Bot) -> None:
    thread, ts = await shown(bot)
    bot.desk.banned = {f"{TEAM}:{AKI}"}
    await bot.bed.click(AKI, ts, "Show the log")
    view = await window_of(bot, "You may not look at that")
    assert view.user == AKI
    assert bot.bed.world.ephemerals == []
    assert len(bot.bed.thread(PUBLIC, thread.root)) == 2


async def test_a_refusal_in_the_bots_own_words_stands_there_instead(bot: Bot) -> None:
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


async def test_what_cannot_be_taken_is_said_there(bot: Bot) -> None:
    _, ts = await shown(bot)
    bot.desk.fails = [Unavailable("No space left on device.")]
    await bot.bed.click(MIKA, ts, "Show the log")
    await window_of(bot, "That did not work just now")
    assert bot.desk.taken == {}


async def test_without_a_window_the_answer_is_told_in_the_thread(bot: Bot) -> None:
    thread, ts = await shown(bot)
    bot.bed.faults.refuse("expired_trigger_id", "views.open")
    await bot.bed.click(MIKA, ts, "Show the log")
    [(_, event)] = await bot.taken(1)
    await bot.chat.whisper(thread, event.by, answer(event, "Logs", Text(text="It began.")))
    [told] = bot.bed.ephemerals(MIKA)
    assert ("It began." in told.reads, told.thread) == (True, thread.root)


async def test_a_window_that_was_closed_stays_closed(bot: Bot) -> None:
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


async def test_a_window_that_is_not_known_any_more_says_so(bot: Bot) -> None:
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


async def test_told_again_and_again_of_one_press_it_opens_one_window(bot: Bot) -> None:
    _, ts = await shown(bot)
    await bot.bed.click(MIKA, ts, "Show the log")
    await window_of(bot, "One moment")
    press = next(one for one in bot.bed.deliveries if one.kind == "interactive").payload
    for _ in range(3):
        await bot.bed.courier.send("interactive", press).ack()
    assert len(bot.bed.called("views.open")) == 1
    assert len(bot.bed.views) == 1


async def test_it_opens_from_the_home_as_well(bot: Bot) -> None:
    told = AnswerCard(key="told:1", title="T001 has failed", choices=(LOG,))
    await bot.chat.whisper(HOME, person(MIKA), told)
    await bot.bed.click(MIKA, "home", "Show the log")
    [(thread, event)] = await bot.taken(1)
    await bot.chat.whisper(thread, event.by, answer(event, "Logs", Text(text="It began.")))
    await window_of(bot, "It began.")
    assert thread == HOME
