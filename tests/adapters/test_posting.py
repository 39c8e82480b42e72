"""What chats over a network post with: the ledger survives any end, and turns are kept whatever happens to those who wait."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from adapters import posting
from adapters.files import TEMPORARY_SUFFIX
from adapters.posting import (
    PlacedCard,
    PostingLedger,
    Urgency,
    WriteTurns,
    digest_of,
    opened_thread,
    root_ledger_key,
    thread_from_root,
    urgency_of,
)
from adapters.state_files import JsonLines, newest_that_fit
from bot.core.cards import Card
from bot.core.choices import Choice, Verb
from bot.core.errors import Unavailable
from bot.core.people import Thread
from tests.fakes import cards

HERE, THERE = cards.THREAD, cards.OTHER_THREAD
CHANGED = cards.NEWS.model_copy(update={"title": "Changed"})
DEADLINE = 120.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "slack" / "cards.jsonl"


@contextmanager
def unwritable(path: Path) -> Generator[None]:
    """Nothing can be written there, by anybody."""
    kept = path.read_bytes()
    path.unlink()
    path.mkdir()
    try:
        yield
    finally:
        path.rmdir()
        path.write_bytes(kept)


def test_what_was_wanted_and_not_confirmed_is_known_as_such_after_a_crash(path: Path) -> None:
    PostingLedger(path).record_wanted(HERE, cards.NEWS)
    placed = PostingLedger(path).find(HERE, cards.NEWS.key)
    assert placed
    assert (placed.revision, placed.standing, placed.messages) == (1, False, ())


def test_what_was_confirmed_stands_after_a_crash(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_posted(ledger.record_wanted(HERE, cards.NEWS), "7.1")
    placed = PostingLedger(path).find(HERE, cards.NEWS.key)
    assert placed
    assert (placed.standing, placed.messages) == (True, ("7.1",))
    assert PostingLedger(path).record_wanted(HERE, cards.NEWS) == placed


def test_the_first_of_several_messages_are_known_after_a_crash(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_partial(ledger.record_wanted(HERE, cards.DOCUMENT), "7.1", "7.2")
    placed = PostingLedger(path).find(HERE, cards.DOCUMENT.key)
    assert placed
    assert (placed.standing, placed.messages) == (False, ("7.1", "7.2"))


def test_another_content_is_another_revision_of_the_same_messages(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_posted(ledger.record_wanted(HERE, cards.NEWS), "7.1")
    again = ledger.record_wanted(HERE, CHANGED)
    assert (again.revision, again.standing, again.messages) == (2, False, ("7.1",))
    back = ledger.record_wanted(HERE, cards.NEWS)
    assert back.revision == 3


def test_the_same_content_is_not_written_down_again(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_posted(ledger.record_wanted(HERE, cards.NEWS), "7.1")
    size = path.stat().st_size
    ledger.record_wanted(HERE, cards.NEWS)
    assert path.stat().st_size == size


def test_a_card_is_known_by_its_thread_and_key(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_wanted(HERE, cards.NEWS)
    assert ledger.find(THERE, cards.NEWS.key) is None
    assert ledger.find(HERE, cards.STATUS.key) is None


@pytest.mark.parametrize("torn", [b'{"thread":{"platform":"con', b"\xff\xfe\x00", b"[]", b"\r\n{"])
def test_a_torn_last_line_is_passed_over_and_does_not_spoil_the_next(
    path: Path, torn: bytes
) -> None:
    ledger = PostingLedger(path)
    ledger.record_posted(ledger.record_wanted(HERE, cards.NEWS), "7.1")
    with path.open("ab") as file:
        file.write(b"\n" + torn)
    ledger.record_wanted(HERE, cards.STATUS)
    again = PostingLedger(path)
    news, status = again.find(HERE, cards.NEWS.key), again.find(HERE, cards.STATUS.key)
    assert news
    assert news.standing
    assert status


def test_a_crash_anywhere_in_a_line_leaves_what_was_there_before_it(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_posted(ledger.record_wanted(HERE, cards.NEWS), "7.1")
    before = path.read_bytes()
    ledger.record_wanted(HERE, CHANGED)
    after = path.read_bytes()
    for end in range(len(before), len(after), 31):
        path.write_bytes(after[:end])
        placed = PostingLedger(path).find(HERE, cards.NEWS.key)
        assert placed
        assert (placed.messages, placed.revision in (1, 2)) == (("7.1",), True)


def test_a_crash_while_it_is_written_anew_loses_nothing_and_brings_nothing_back(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_posted(ledger.record_wanted(HERE, cards.NEWS), "7.1")
    other = path.with_name("other")
    PostingLedger(other).record_wanted(HERE, cards.STATUS)
    path.with_name(f"{path.name}{TEMPORARY_SUFFIX}").write_bytes(other.read_bytes() + b"half a li")
    PostingLedger(path)
    placed = PostingLedger(path).find(HERE, cards.NEWS.key)
    assert placed
    assert placed.standing
    assert PostingLedger(path).find(HERE, cards.STATUS.key) is None


def test_only_the_last_word_on_a_card_is_kept_over_a_start(path: Path) -> None:
    ledger = PostingLedger(path)
    for number in range(10):
        card = cards.NEWS.model_copy(update={"title": f"News {number}"})
        ledger.record_posted(ledger.record_wanted(HERE, card), "7.1")
    PostingLedger(path)
    lines = [json.loads(line) for line in path.read_text().splitlines() if line]
    assert [line["revision"] for line in lines] == [10]


def test_threads_nobody_came_back_to_are_forgotten_in_the_end(path: Path) -> None:
    ledger = PostingLedger(path)
    threads = [HERE.model_copy(update={"root": str(n)}) for n in range(4)]
    for thread in threads:
        ledger.record_posted(ledger.record_wanted(thread, cards.NEWS), f"7.{thread.root}")
    ledger.record_posted(ledger.record_wanted(threads[0], CHANGED), "7.0")
    again = PostingLedger(path, threads_kept=2)
    assert again.threads() == (threads[3], threads[0])
    assert again.by_message(HERE.place, "7.1") is None
    assert again.by_message(HERE.place, "7.3")


def aside(number: int) -> PlacedCard:
    """Said to somebody, and standing nowhere."""
    thread = HERE.model_copy(update={"root": f"stranger {number}"})
    return PlacedCard(thread=thread, key=f"no {number}", revision=1, digest="d")


def test_what_was_said_aside_makes_no_thread_forgotten(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_posted(ledger.record_wanted(HERE, cards.APPROVAL), "7.1")
    ledger.record_wanted(THERE, cards.NEWS)  # not known to stand yet
    for number in range(10):
        ledger.record_posted(aside(number))
    for one in (ledger, PostingLedger(path, threads_kept=2)):
        assert one.threads() == (HERE, THERE)
        assert one.by_message(HERE.place, "7.1")
    again = PostingLedger(path)
    kept = [n for n in range(10) if again.find(aside(n).thread, aside(n).key)]
    assert kept == [8, 9]


def test_what_is_superseded_does_not_fill_the_disk(path: Path) -> None:
    ledger = PostingLedger(path, changes_kept=20)
    for number in range(1_000):
        card = cards.NEWS.model_copy(update={"title": f"News {number}"})
        ledger.record_posted(ledger.record_wanted(HERE, card), "7.1")
    lines = [line for line in path.read_text().splitlines() if line]
    assert len(lines) <= 21
    for one in (ledger, PostingLedger(path)):
        placed = one.find(HERE, cards.NEWS.key)
        assert placed
        assert (placed.revision, placed.standing) == (1_000, True)


def test_where_it_cannot_be_written_anew_everything_is_kept(path: Path) -> None:
    ledger = PostingLedger(path, changes_kept=1)
    beside = path.with_name(f"{path.name}{TEMPORARY_SUFFIX}")
    beside.mkdir()
    ledger.record_posted(ledger.record_wanted(HERE, cards.NEWS), "7.1")
    beside.rmdir()
    placed = PostingLedger(path).find(HERE, cards.NEWS.key)
    assert placed
    assert placed.standing


def test_a_thread_is_known_as_soon_as_something_is_to_be_shown_there(path: Path) -> None:
    ledger = PostingLedger(path)
    assert not ledger.has_cards(HERE)
    ledger.record_wanted(HERE, cards.NEWS)
    assert [ledger.has_cards(thread) for thread in (HERE, THERE)] == [True, False]


def test_a_message_tells_its_card_and_what_can_be_chosen_there(path: Path) -> None:
    choices = (Choice(label="Approve", verb=Verb.APPROVE, about="d1"),)
    ledger = PostingLedger(path)
    ledger.record_posted(ledger.record_wanted(HERE, cards.APPROVAL, choices), "7.1", "7.2")
    for one in (ledger, PostingLedger(path)):
        placed = one.by_message(HERE.place, "7.2")
        assert placed
        assert (placed.key, placed.choices) == (cards.APPROVAL.key, choices)
        assert one.by_message("another channel", "7.2") is None


def test_the_cards_of_a_thread_are_told_in_the_order_they_changed(path: Path) -> None:
    ledger = PostingLedger(path)
    for thread, card in ((HERE, cards.NEWS), (THERE, cards.NEWS), (HERE, cards.STATUS)):
        ledger.record_wanted(thread, card)
    ledger.record_wanted(HERE, CHANGED)
    assert [one.key for one in ledger.cards(HERE)] == [cards.STATUS.key, cards.NEWS.key]
    assert ledger.threads() == (THERE, HERE)


def test_the_thread_in_which_something_is_new_is_forgotten_last(path: Path) -> None:
    ledger = PostingLedger(path)
    for thread, card in ((HERE, cards.NEWS), (THERE, cards.NEWS), (HERE, cards.STATUS)):
        ledger.record_posted(ledger.record_wanted(thread, card), f"7.{thread.root}.{card.key}")
    again = PostingLedger(path, threads_kept=1)
    assert again.threads() == (HERE,)
    assert [one.key for one in again.cards(HERE)] == [cards.NEWS.key, cards.STATUS.key]


def test_the_cards_that_offer_something_are_told_from_the_others(path: Path) -> None:
    choices = (Choice(label="Approve", verb=Verb.APPROVE, about="d1"),)
    ledger = PostingLedger(path)
    ledger.record_wanted(HERE, cards.STATUS)
    ledger.record_wanted(HERE, cards.NEWS, choices)
    for one in (ledger, PostingLedger(path)):
        assert [placed.choices for placed in one.cards_with_choices(HERE)] == [choices]
    ledger.record_wanted(HERE, CHANGED)
    assert ledger.cards_with_choices(HERE) == ()


def test_a_thousand_threads_take_little_more_room_in_memory_than_on_disk(path: Path) -> None:
    choices = tuple(Choice(label=f"Take {n}", verb=Verb.ANSWER, about="d1") for n in range(5))
    placed = (
        PlacedCard(
            thread=HERE.model_copy(update={"root": f"1700000000.{number:06}"}),
            key=f"question:{number}",
            revision=1,
            digest="d" * 64,
            messages=(f"1700000001.{number:06}",),
            standing=True,
            choices=choices,
        )
        for number in range(1_000)
    )
    JsonLines(path, posting.PlacedCard).rewrite(placed)
    PostingLedger(path)
    tracemalloc.start()
    try:
        ledger = PostingLedger(path)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(ledger.threads()) == 1_000
    # three times as much; it was fifteen times before a card was kept as it is written
    assert taken < 5 * path.stat().st_size


def test_nobody_else_may_read_it(path: Path) -> None:
    PostingLedger(path).record_wanted(HERE, cards.NEWS)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_what_cannot_be_written_down_is_not_taken_for_wanted(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_posted(ledger.record_wanted(HERE, cards.NEWS), "7.1")
    with unwritable(path), pytest.raises(Unavailable, match="cannot be written"):
        ledger.record_wanted(HERE, CHANGED)
    assert ledger.record_wanted(HERE, CHANGED).revision == 2


def test_a_ledger_that_cannot_be_read_is_said_at_the_start(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(Unavailable, match="cannot be read"):
        PostingLedger(path)


class Line:
    """People who wait for their turn in a channel, and the order in which they had it."""

    def __init__(self, turns: WriteTurns) -> None:
        self.turns = turns
        self.order: list[str] = []
        self.goes_on = asyncio.Event()
        self.news = asyncio.Condition()
        self.tasks: list[asyncio.Task[None]] = []

    async def wait(
        self, name: str, kind: Urgency = Urgency.NEWS, channel: str = "C1"
    ) -> asyncio.Task[None]:
        """Returns when the newcomer stands in the line."""
        task = asyncio.create_task(self._have(name, kind, channel))
        self.tasks.append(task)
        await asyncio.sleep(0)
        return task

    async def all_had_it(self) -> None:
        self.goes_on.set()
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*self.tasks, return_exceptions=True)

    async def until(self, count: int) -> None:
        async with asyncio.timeout(DEADLINE), self.news:
            await self.news.wait_for(lambda: len(self.order) >= count)

    async def _have(self, name: str, kind: Urgency, channel: str) -> None:
        async with self.turns.turn(channel, kind):
            self.order.append(name)
            async with self.news:
                self.news.notify_all()
            await self.goes_on.wait()


@asynccontextmanager
async def line_of(turns: WriteTurns) -> AsyncGenerator[Line]:
    line = Line(turns)
    try:
        yield line
    finally:
        for task in line.tasks:
            task.cancel()
        await asyncio.gather(*line.tasks, return_exceptions=True)


async def test_one_at_a_time_in_the_order_they_came() -> None:
    async with line_of(WriteTurns()) as line:
        for name in "abcdef":
            await line.wait(name)
        assert line.order == ["a"]
        await line.all_had_it()
        assert line.order == list("abcdef")


async def test_what_a_person_waits_for_goes_before_what_came_earlier() -> None:
    async with line_of(WriteTurns()) as line:
        await line.wait("first", Urgency.STATUS)
        await line.wait("status", Urgency.STATUS)
        await line.wait("news", Urgency.NEWS)
        await line.wait("question", Urgency.PERSON)
        await line.wait("approval", Urgency.PERSON)
        await line.all_had_it()
    assert line.order == ["first", "question", "approval", "news", "status"]


async def test_channels_do_not_wait_for_each_other() -> None:
    async with line_of(WriteTurns()) as line:
        await line.wait("here")
        await line.wait("there", channel="C2")
        assert line.order == ["here", "there"]


async def test_whoever_gives_up_waiting_is_passed_over() -> None:
    async with line_of(WriteTurns()) as line:
        await line.wait("a")
        (await line.wait("b")).cancel()
        await line.wait("c")
        await line.all_had_it()
        assert line.order == ["a", "c"]


async def test_whoever_is_called_in_the_moment_he_gives_up_passes_the_turn_on() -> None:
    turns = WriteTurns()
    async with line_of(turns) as line:
        async with turns.turn("C1", 0):
            called = await line.wait("b")
            await line.wait("c")
        called.cancel()  # it has been called, and does not know yet
        await line.all_had_it()
        assert called.cancelled()
        assert line.order == ["c"]


async def test_whoever_is_cancelled_in_his_turn_passes_it_on() -> None:
    async with line_of(WriteTurns()) as line:
        first = await line.wait("a")
        await line.wait("b")
        first.cancel()
        await line.until(2)
        assert line.order == ["a", "b"]


async def test_a_mishap_in_a_turn_does_not_keep_the_others_waiting() -> None:
    turns = WriteTurns()
    for _ in range(3):
        with pytest.raises(Unavailable):
            async with asyncio.timeout(DEADLINE), turns.turn("C1", 0):
                raise Unavailable("Slack cannot be reached.")


async def test_after_everybody_has_given_up_the_channel_is_free() -> None:
    turns = WriteTurns()
    async with line_of(turns) as line:
        tasks = [await line.wait(name) for name in "abc"]
        for task in reversed(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    async with asyncio.timeout(DEADLINE), turns.turn("C1", 0):
        pass


async def test_hundreds_have_their_turn_one_at_a_time_whoever_gives_up() -> None:
    turns = WriteTurns()
    inside = 0
    most = 0
    had: list[int] = []

    async def visit(number: int) -> None:
        nonlocal inside, most
        async with turns.turn("C1", number % 3):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            had.append(number)

    tasks = [asyncio.create_task(visit(number)) for number in range(300)]
    await asyncio.sleep(0)
    for number in range(10, 300, 10):
        tasks[number].cancel()
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert most == 1
    assert set(range(300)) - set(range(10, 300, 10)) <= set(had)


async def test_a_burst_goes_at_once_and_the_next_waits() -> None:
    async with line_of(WriteTurns(burst=2, seconds=3_600)) as line:
        line.goes_on.set()
        for name in "abc":
            await line.wait(name)
        await line.until(2)
        third = line.tasks[2]
        done, _ = await asyncio.wait({third}, timeout=0.05)
        assert not done
        assert line.order == ["a", "b"]


async def test_whoever_gives_up_while_it_is_too_early_leaves_the_pace_as_it_was() -> None:
    async with line_of(WriteTurns(burst=1, seconds=3_600)) as line:
        line.goes_on.set()
        for name in "abc":
            await line.wait(name)
        await line.until(1)
        await asyncio.wait({line.tasks[1]}, timeout=0.05)
        line.tasks[1].cancel()
        done, _ = await asyncio.wait({line.tasks[2]}, timeout=0.05)
        assert not done
        assert line.order == ["a"]


async def test_everybody_has_a_turn_at_a_slow_pace_in_the_end() -> None:
    async with line_of(WriteTurns(burst=1, seconds=0.01)) as line:
        line.goes_on.set()
        for name in "abcdef":
            await line.wait(name)
        await line.all_had_it()
    assert line.order == list("abcdef")


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_nothing_a_person_must_act_upon_waits_behind_the_rest(card: Card) -> None:
    waits = {"status": Urgency.STATUS, "news": Urgency.NEWS, "document": Urgency.NEWS}
    waits |= {"summary": Urgency.NEWS, "answer": Urgency.ANSWER}
    assert urgency_of(card) is waits.get(card.kind, Urgency.PERSON)


def test_of_lines_without_room_the_newest_are_kept() -> None:
    assert newest_that_fit(["one", "two", "three"], 12) == ["two", "three"]
    assert newest_that_fit(["one"], 2) == []


# Threads that the bot begins: by the card's key, in the whole channel

ROOM = Thread(platform="slack", workspace="T1", channel="C1", root="1.1")
BEGUN = thread_from_root(ROOM, "9.9")


def root_wanted(ledger: PostingLedger, thread: Thread = ROOM) -> PlacedCard:
    return ledger.record_wanted(*root_ledger_key(thread, cards.ROOT))


def test_a_thread_is_opened_when_its_root_and_its_card_are_written_down(path: Path) -> None:
    ledger = PostingLedger(path)
    assert opened_thread(ledger, ROOM, cards.ROOT) is None
    placed = root_wanted(ledger)
    assert opened_thread(ledger, ROOM, cards.ROOT) is None
    placed = ledger.record_partial(placed, "9.9")
    assert opened_thread(ledger, ROOM, cards.ROOT) is None
    ledger.record_adopted(placed, BEGUN, cards.ROOT)
    for known in (ledger, PostingLedger(path)):
        assert opened_thread(known, ROOM, cards.ROOT) == BEGUN


def test_it_is_the_same_thread_wherever_in_the_channel_it_is_asked_for(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_adopted(ledger.record_partial(root_wanted(ledger), "9.9"), BEGUN, cards.ROOT)
    assert opened_thread(ledger, thread_from_root(ROOM, "2.2"), cards.ROOT) == BEGUN
    assert opened_thread(ledger, ROOM.model_copy(update={"channel": "C2"}), cards.ROOT) is None
    another = cards.ROOT.model_copy(update={"key": "root:another"})
    assert opened_thread(ledger, ROOM, another) is None


def test_whoever_presses_on_a_root_message_means_the_card_of_its_thread(path: Path) -> None:
    ledger = PostingLedger(path)
    own = ledger.record_adopted(
        ledger.record_partial(root_wanted(ledger), "9.9"), BEGUN, cards.ROOT
    )
    assert (own.thread, own.key, own.digest) == (BEGUN, cards.ROOT.key, digest_of(cards.ROOT))
    for known in (ledger, PostingLedger(path)):
        placed = known.by_message(ROOM.place, "9.9")
        assert placed
        assert (placed.thread, placed.key) == (BEGUN, cards.ROOT.key)
        assert BEGUN in known.threads(), "what was said there meanwhile is read again"


def test_shown_in_another_thread_it_is_another_card(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.record_adopted(ledger.record_partial(root_wanted(ledger), "9.9"), BEGUN, cards.ROOT)
    assert ledger.find(ROOM, cards.ROOT.key) is None
    assert ledger.record_wanted(ROOM, cards.ROOT).messages == ()
