"""Work that may wait a moment, done in a thread of its own, once for however often it was asked for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

_LONGEST = 30.0
"""Seconds between two tries of what does not work."""


class Background:
    """Calls `each` with everything asked for, at most `delay` seconds after the first was, then `after` once. What does not
    work is tried again, ever more seldom."""

    def __init__(
        self, each: Callable[[str], None], after: Callable[[], None], delay: float
    ) -> None:
        self._each = each
        self._after = after
        self._delay = delay
        self._failed = 0
        """Rounds in a row in which something did not work."""
        self._asked: set[str] = set()
        self._lock = threading.Lock()
        self._any = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def ask(self, name: str) -> None:
        with self._lock:
            self._asked.add(name)
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="store", daemon=True)
                self._thread.start()
        self._any.set()

    def close(self) -> None:
        """Returns when everything asked for is done."""
        self._closing.set()
        self._any.set()
        if self._thread is not None:
            self._thread.join()
        self._do()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._any.wait()
            self._closing.wait(min(self._delay * 2**self._failed, _LONGEST))
            self._any.clear()
            self._do()

    def _do(self) -> None:
        with self._lock:
            asked, self._asked = self._asked, set()
        done = [self._try(name, lambda name=name: self._each(name)) for name in sorted(asked)]
        if asked:
            done.append(self._try(min(asked), self._after))
        self._failed = 0 if all(done) else min(self._failed + 1, 10)

    def _try(self, name: str, work: Callable[[], None]) -> bool:
        """False: it is to be tried again."""
        try:
            work()
        except OSError as error:
            # a full disk, most likely; the journals hold the truth, so it is enough to try again
            log.warning("an export is late", extra={"session": name, "reason": str(error)})
            with self._lock:
                self._asked.add(name)
            self._any.set()
            return False
        except Exception:
            # nobody waits for this thread's result, and without it nothing would be exported any more
            log.exception("an export failed", extra={"session": name})
        return True
