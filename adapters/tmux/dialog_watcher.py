"""Watches screens for dialogs, reports them, and answers them by keys.

A screen is read after its pane has printed or a hook was called, and counts when two readings agree, because a program
may be drawing it. Keys are typed only if the dialog they were chosen for is still shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from adapters.descendants import KnownProcess
from adapters.tmux.dialogs import Hint, dialog_from_hint, latest_hint, read_dialog
from adapters.tmux.screens import PaneListing, PaneScreens, PaneViewers, sanitize_screen
from adapters.tmux.server import TmuxServer
from adapters.tmux.spool import Spool
from adapters.tmux.terminal import Keyboard, NotRunning
from adapters.tmux.watch import Wake, Watch
from bot.core.errors import Refused, Unavailable
from bot.core.runs import Dialog, DialogKind

LONGEST_ANSWER = 2_000


class DialogWatcher:
    """Watches the dialogs of all panes."""

    def __init__(
        self,
        listing: PaneListing,
        screens: PaneScreens,
        keyboard: Keyboard,
        server: TmuxServer,
        watch: Watch,
        mask: Callable[[str], str],
        pace: ScreenTiming,
    ) -> None:
        self._pace = pace
        self._listing = listing
        self._screens = screens
        self._keyboard = keyboard
        self._activity = PaneActivity(server)
        self._viewers = PaneViewers(server)
        self._watch = watch
        self._mask = mask
        self._answer_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def handle_notification(self, line: str) -> None:
        """Handle a notification line of tmux."""
        self._activity.handle_notification(line)

    async def watch(self, spool: Spool) -> AsyncGenerator[Dialog | None]:
        """Yield each dialog once, and None when it is gone, without end.

        A program without a terminal as input has no dialogs.
        """
        if spool.kept.stdin != "terminal":
            await asyncio.Event().wait()
        run = spool.path.name
        follower = DialogTracker(self._pace, time.monotonic)
        with self._watch.watch_run(spool.path, 0) as wake, self._activity.notify(run, wake.event):
            patience, happened = wake.period, True
            while True:
                look = await self._try_look(spool)
                if follower.add_look(look):
                    _mark_handled(spool, look.hint)
                if follower.has_news:
                    yield follower.take_news()
                happened = await self._wait_for_next_look(
                    wake, patience, follower.hurries, happened
                )

    async def is_watched(self, run: str) -> bool:
        """Whether a person is attached to the session."""
        return await self._viewers.is_attached(run)

    async def current_dialog(self, spool: Spool) -> Dialog | None:
        """Return the dialog on the screen at this moment, or None."""
        if spool.kept.stdin != "terminal":
            return None
        return (await self._look(spool)).dialog

    async def answer(self, spool: Spool, dialog: Dialog, option: str) -> bool:
        """Type the answer if that dialog is still shown; return whether the screen has changed since."""
        async with self._answer_locks.setdefault(spool.path.name, asyncio.Lock()):
            await self._listing.refresh()
            look = await self._look(spool)
            if not look.pane_id:
                raise NotRunning
            standing = _same_dialog(look, dialog)
            if await self._viewers.is_typing(spool.path.name):
                raise Refused(
                    "Somebody is typing in that pane.",
                    "Answer there, or wait a moment and press again.",
                )
            try:
                await self._type(spool, look.pane_id, standing, option)
                return await self._has_moved_on(spool, look, dialog.id)
            except Unavailable:
                return False  # keys may have been typed, so they are not typed again

    async def _type(self, spool: Spool, pane_id: str, standing: Dialog, option: str) -> None:
        if standing.kind is DialogKind.WORDS:
            await self._keyboard.enter(pane_id, spool, _one_line_answer(option))
            return
        chosen = standing.option(option)
        if chosen is None:
            raise Refused("That is none of the options.", "Choose one of those that are shown.")
        await self._keyboard.press(pane_id, chosen.keys)

    async def _has_moved_on(self, spool: Spool, before: ScreenLook, dialog_id: str) -> bool:
        # Checked twice, because a screen being redrawn is empty for a moment.
        deadline, gone = time.monotonic() + self._pace.moves_on, 0
        while gone < 2:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(self._pace.again / 2)
            look = await self._look(spool)
            here = look.dialog is not None and look.dialog.id == dialog_id
            # a dialog reported only by a hook counts as gone when the screen changes
            here = here or (before.announced is not None and look.text == before.text)
            gone = 0 if here else gone + 1
        _mark_handled(spool, before.hint)
        return True

    async def _wait_for_next_look(
        self, wake: Wake, patience: float, hurry: bool, happened: bool
    ) -> bool:
        """Wait until the screen should be read again; return whether anything has happened meanwhile."""
        if hurry:
            await asyncio.sleep(self._pace.again)
            return happened
        await asyncio.sleep(self._pace.apart)
        wake.period = min(self._pace.settled, patience) if happened else patience
        return await wake.wait()

    async def _try_look(self, spool: Spool) -> ScreenLook:
        # A lost tmux server or a full disk is waited out.
        try:
            await self._activity.subscribe()
            return await self._look(spool)
        except Unavailable:
            return ScreenLook()

    async def _look(self, spool: Spool) -> ScreenLook:
        run = spool.path.name
        listed = (await self._listing.recent()).get(run)
        if listed is None or not KnownProcess(listed.pid).is_alive or spool.exit_code is not None:
            return ScreenLook()
        shown = await self._screens.read_screen(run, listed.pane_id)
        hint = latest_hint(spool.named_hooks(), spool.handled_hook)
        return ScreenLook(
            listed.pane_id, shown.text, read_dialog(shown), hint and self._clean(hint)
        )

    def _clean(self, hint: Hint) -> Hint:
        return replace(
            hint,
            says=self._mask(sanitize_screen(hint.says)),
            tool=self._mask(sanitize_screen(hint.tool)),
        )


def _same_dialog(look: ScreenLook, dialog: Dialog) -> Dialog:
    """Return the dialog on the screen if it is this one; raise Refused otherwise."""
    standing = look.dialog or look.announced
    if standing is None:
        raise Refused("It is not asked any more.")
    if standing.id != dialog.id:
        raise Refused("Something else is asked there now.", "Answer what is shown now.")
    return standing


def _one_line_answer(text: str) -> str:
    """Return the text as one line; raise Refused if it is too long."""
    line = " ".join(sanitize_screen(text).split())
    if len(line) > LONGEST_ANSWER:
        raise Refused(
            f"An answer has {LONGEST_ANSWER} characters at most.", "Say it in fewer words."
        )
    return line


def _mark_handled(spool: Spool, hint: Hint | None) -> None:
    # If this cannot be written, the hint is at worst reported once more.
    if hint is not None and hint.name > spool.handled_hook:
        with contextlib.suppress(OSError):
            spool.write("heeded", hint.name)


# Combines readings of one screen: a dialog counts when two of them agree, and is reported only if it differs from the
# last one. No I/O except the clock passed in.

STALE_LOOKS = 6
"""A hook whose question never appears is dropped after this many times `no_options`."""


@dataclass(frozen=True)
class ScreenTiming:
    """Intervals and time-outs for reading screens, in seconds."""

    again: float = 0.25
    """Between two readings that should agree."""
    apart: float = 0.7
    """Between other readings, so that a program that prints all the time is not read all the time."""
    settled: float = 0.8
    """tmux reports output by the second; a last reading after it sees what followed in the same second."""
    no_options: float = 5.0
    """How long the screen is read for a question a hook has announced; after that the hook's text is used."""
    moves_on: float = 5.0
    """How long an answer may take to have an effect."""


@dataclass(frozen=True)
class ScreenLook:
    """One reading of a screen; empty if there is no pane."""

    pane_id: str = ""
    text: str = ""
    dialog: Dialog | None = None
    hint: Hint | None = None

    @property
    def announced(self) -> Dialog | None:
        """The question a hook reports, if it is not on the screen."""
        return (
            dialog_from_hint(self.hint) if self.hint is not None and self.dialog is None else None
        )


class DialogTracker:
    """Combines the readings of one screen."""

    def __init__(self, pace: ScreenTiming, clock: Callable[[], float]) -> None:
        self._pace = pace
        self._clock = clock
        self._before = ScreenLook()
        self._since = self._announced = clock()
        self._reported: Dialog | None = None
        self._standing_dialog: Dialog | None = None
        self.hurries = True

    def add_look(self, look: ScreenLook) -> bool:
        """Take in a reading; return whether its hook is settled: the question is on the screen, or the screen has
        changed since it was reported.
        """
        before, self._before = self._before, look
        changed = (before.hint, before.text) != (look.hint, look.text)
        self._since = self._clock() if changed else self._since
        agreed = _id(before.dialog) == _id(look.dialog)
        told = look.announced is not None and _id(look.announced) == _id(self._reported)
        over = told and before.text != look.text
        waited = self._clock() - self._since >= self._pace.no_options
        stale = look.announced is not None and not told and self._is_stale(look, before)
        if over:
            self._standing_dialog = None
        elif agreed:
            self._standing_dialog = look.dialog or (look.announced if told or waited else None)
        self.hurries = not agreed or (look.announced is not None and not told)
        return over or stale or (agreed and look.dialog is not None)

    def _is_stale(self, look: ScreenLook, before: ScreenLook) -> bool:
        # Announced long ago and still not on the screen: somebody has answered it in the pane.
        if before.hint != look.hint:
            self._announced = self._clock()
        return self._clock() - self._announced > STALE_LOOKS * self._pace.no_options

    @property
    def has_news(self) -> bool:
        return _id(self._standing_dialog) != _id(self._reported)

    def take_news(self) -> Dialog | None:
        self._reported = self._standing_dialog
        return self._reported


def _id(dialog: Dialog | None) -> str:
    return dialog.id if dialog else ""


# Which panes have printed something: tmux reports it, at most once a second, so that no polling is needed.

_NAME = "printed"
# All windows of a session, because a person may have opened another one beside the run's. The values are seconds, not
# text of the agent; they contain a session name, and only those of runs are looked up.
_SUBSCRIBE = (
    "refresh-client",
    "-B",
    f"{_NAME}::#{{S:#{{session_name}}=#{{W:#{{window_activity}}+}} }}",
)


class PaneActivity:
    """Sets events when a run prints something."""

    def __init__(self, server: TmuxServer) -> None:
        self._server = server
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._last: dict[str, str] = {}

    @contextmanager
    def notify(self, run: str, event: asyncio.Event) -> Generator[None]:
        """Set the event whenever the run has printed."""
        waiting = self._waiting.setdefault(run, set())
        waiting.add(event)
        try:
            yield
        finally:
            waiting.discard(event)
            if not waiting:
                self._waiting.pop(run, None)
                self._last.pop(run, None)

    async def subscribe(self) -> None:
        """Subscribe to tmux's reports; repeated calls are allowed."""
        await self._server.run_for_every_client(*_SUBSCRIBE)

    def handle_notification(self, line: str) -> None:
        """Handle a notification line of tmux."""
        if not line.startswith(f"%subscription-changed {_NAME} "):
            return
        for word in line.partition(" : ")[2].split():
            run, _, when = word.partition("=")
            if run in self._waiting and self._last.get(run) != when:
                self._last[run] = when
                for event in self._waiting[run]:
                    event.set()
