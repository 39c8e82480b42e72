"""What every store promises."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.store import JournalStore
from bot.core.states import Status, TaskState
from bot.ports import Store
from tests.adapters.store.samples import busy, copied, record, said, show
from tests.fakes.store import MemoryStore

pytestmark = pytest.mark.covers("G-MODULE-3")


@pytest.fixture(params=["memory", "journal"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    store = JournalStore(tmp_path, export_delay=0.01)
    yield store
    store.close()


@pytest.mark.covers("G-US7.4", "G-FR-011", "B-STORE-2", "B-STORE-3")
def test_what_was_saved_is_loaded(store: Store) -> None:
    store.save(busy())
    assert store.load() == [busy()]


def test_an_empty_store_holds_nothing(store: Store) -> None:
    assert store.load() == []
    assert store.sessions() == []
    assert store.find("one") is None
    assert store.broken == ()


def test_the_last_save_counts(store: Store) -> None:
    store.save(record())
    store.save(busy())
    store.save(record())
    assert store.load() == [record()]


def test_a_change_after_the_save_is_not_saved(store: Store) -> None:
    saved = busy()
    store.save(saved)
    saved.session.tasks[0].become(TaskState.VERIFYING)
    saved.inbox.clear()
    assert store.find("one") == busy()


def test_a_change_to_what_was_loaded_is_not_saved(store: Store) -> None:
    store.save(busy())
    store.load()[0].session.tasks.clear()
    assert store.load() == [busy()]


def test_a_record_changed_in_place_is_saved_as_it_is_now(store: Store) -> None:
    living = busy()
    store.save(living)
    living.session.tasks[0].become(TaskState.VERIFYING, "checking")
    living.session.tasks[1].runs.extend(living.session.tasks[0].runs)
    living.inbox.pop(0)
    living.outbox.remove(show("a"))
    living.outbox.append(show("c"))
    store.save(living)
    assert store.load() == [living]


def test_saving_twice_is_saving_once(store: Store) -> None:
    store.save(busy())
    store.save(copied(busy()))
    assert store.load() == [busy()]


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED, Status.DISCARDED])
def test_what_is_over_is_found_but_not_loaded(store: Store, status: Status) -> None:
    store.save(record("one", status=status))
    store.save(record("two", status=Status.PAUSED))
    store.save(record("three", status=Status.QUEUED))
    assert {loaded.session.id for loaded in store.load()} == {"two", "three"}
    assert store.find("one") == record("one", status=status)


def test_what_is_over_with_something_left_to_do_is_loaded(store: Store) -> None:
    over = record("one", status=Status.COMPLETED)
    over.outbox = [show("result")]
    heard = record("two", status=Status.FAILED)
    heard.inbox = [said("e-1")]
    store.save(over)
    store.save(heard)
    assert sorted(loaded.session.id for loaded in store.load()) == ["one", "two"]


def test_a_session_opened_again_is_loaded(store: Store) -> None:
    store.save(record(status=Status.COMPLETED))
    assert store.load() == []
    store.save(record(status=Status.ACTIVE))
    assert store.load() == [record()]


def test_a_session_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    store.save(record("aaa-1"))
    store.save(record("aab-2"))
    assert store.find("aab") == record("aab-2")
    assert store.find("aaa-1") == record("aaa-1")


def test_a_beginning_that_fits_two_finds_none(store: Store) -> None:
    store.save(record("aaa-1"))
    store.save(record("aab-2"))
    assert store.find("aa") is None
    assert store.find("") is None


def test_an_id_that_begins_another_is_found_itself(store: Store) -> None:
    store.save(record("aa"))
    store.save(record("aab"))
    assert store.find("aa") == record("aa")


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", ".", "..", "a/b", "x" * 400, "日本語", "a b%2F"]
)
def test_any_id_will_do(store: Store, name: str) -> None:
    store.save(record(name))
    assert store.find(name) == record(name)
    assert store.load() == [record(name)]


def test_all_sessions_are_listed_the_newest_first(store: Store) -> None:
    for number, name in enumerate(["one", "two", "three"]):
        saved = record(name)
        saved.session.updated_at += timedelta(minutes=number)
        store.save(saved)
    over = record("two", status=Status.FAILED)
    over.session.updated_at += timedelta(hours=1)
    store.save(over)
    assert [(line.id, line.status) for line in store.sessions()] == [
        ("two", "Failed"),
        ("three", "Active"),
        ("one", "Active"),
    ]


def test_a_line_says_what_and_where(store: Store) -> None:
    saved = busy()
    store.save(saved)
    (line,) = store.sessions()
    assert line.thread == saved.session.thread
    assert (line.title, line.phase, line.repository) == ("one", "intake", "/srv/shop")
    assert line.updated_at == saved.session.updated_at
