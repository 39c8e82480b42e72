"""Threads that the bot begins, as they stand in the ledger: by the card's key, in the whole channel."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.posting import (
    PlacedCard,
    PostingLedger,
    digest_of,
    opened_thread,
    root_entry,
    thread_from_root,
)
from bot.core.people import Thread
from tests.fakes import cards

HERE = Thread(platform="slack", workspace="T1", channel="C1", root="1.1")
BEGUN = thread_from_root(HERE, "9.9")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cards.jsonl"


def wanted(ledger: PostingLedger, thread: Thread = HERE) -> PlacedCard:
    return ledger.wanted(*root_entry(thread, cards.ROOT))


def test_a_thread_is_opened_when_its_root_and_its_card_are_written_down(path: Path) -> None:
    ledger = PostingLedger(path)
    assert opened_thread(ledger, HERE, cards.ROOT) is None
    placed = wanted(ledger)
    assert opened_thread(ledger, HERE, cards.ROOT) is None
    placed = ledger.begun(placed, "9.9")
    assert opened_thread(ledger, HERE, cards.ROOT) is None
    ledger.adopted(placed, BEGUN, cards.ROOT)
    for known in (ledger, PostingLedger(path)):
        assert opened_thread(known, HERE, cards.ROOT) == BEGUN


def test_it_is_the_same_thread_wherever_in_the_channel_it_is_asked_for(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.adopted(ledger.begun(wanted(ledger), "9.9"), BEGUN, cards.ROOT)
    assert opened_thread(ledger, thread_from_root(HERE, "2.2"), cards.ROOT) == BEGUN
    assert opened_thread(ledger, HERE.model_copy(update={"channel": "C2"}), cards.ROOT) is None
    another = cards.ROOT.model_copy(update={"key": "root:another"})
    assert opened_thread(ledger, HERE, another) is None


def test_whoever_presses_on_a_root_message_means_the_card_of_its_thread(path: Path) -> None:
    ledger = PostingLedger(path)
    own = ledger.adopted(ledger.begun(wanted(ledger), "9.9"), BEGUN, cards.ROOT)
    assert (own.thread, own.key, own.digest) == (BEGUN, cards.ROOT.key, digest_of(cards.ROOT))
    for known in (ledger, PostingLedger(path)):
        placed = known.by_message(HERE.place, "9.9")
        assert placed
        assert (placed.thread, placed.key) == (BEGUN, cards.ROOT.key)
        assert BEGUN in known.threads(), "what was said there meanwhile is read again"


def test_shown_in_another_thread_it_is_another_card(path: Path) -> None:
    ledger = PostingLedger(path)
    ledger.adopted(ledger.begun(wanted(ledger), "9.9"), BEGUN, cards.ROOT)
    assert ledger.find(HERE, cards.ROOT.key) is None
    assert ledger.wanted(HERE, cards.ROOT).messages == ()
