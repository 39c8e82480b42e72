"""What may wait a moment is done all the same, and what cannot be done takes neither the processor nor the log."""

from __future__ import annotations

import threading

import pytest

from adapters.store import store
from adapters.store.store import BackgroundWork

PATIENCE = 20


class Work:
    """Does not work until it is let."""

    def __init__(self) -> None:
        self.tries = 0
        self.works = False
        self.done = threading.Event()
        self.tried = threading.Event()

    def each(self, name: str) -> None:
        self.tries += 1
        self.tried.set()
        if not self.works:
            raise OSError(28, "No space left on device")
        self.done.set()


def test_what_does_not_work_is_tried_again_ever_more_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []
    work = Work()
    made = BackgroundWork(work.each, lambda: None, 1.0)

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 9:
            work.works = True

    monkeypatch.setattr(made, "_closing", Closing(wait))
    made.ask("one")
    assert work.done.wait(PATIENCE)
    assert waited == [1, 2, 4, 8, 16, *[store._LONGEST] * 4]  # pyright: ignore[reportPrivateUsage]
    made.close()
    assert work.tries == 9


class Closing:
    """An event that nobody waits for."""

    def __init__(self, wait: object) -> None:
        self.wait = wait
        self._set = False

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        self._set = True


def test_its_end_tries_once_more_and_waits_for_nothing() -> None:
    work = Work()
    made = BackgroundWork(work.each, lambda: None, 0.01)
    made.ask("one")
    assert work.tried.wait(PATIENCE)
    work.works = True
    made.close()
    assert work.done.is_set()
