"""Dialogs of programs in panes: told as soon as they stand on the screen, answered by keys, never by chance.

A screen is read when the pane has printed or a hook has spoken, and counts when two looks agree: a program may be
in the middle of drawing it. Keys are typed only to the very dialog they were chosen for.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from weakref import WeakValueDictionary

from adapters.tmux.activity import Activity
from adapters.tmux.dialogs import read
from adapters.tmux.dialogs.hints import Hint, latest
from adapters.tmux.following import Follower, Look, Pace
from adapters.tmux.keyboard import Keyboard, NotRunning
from adapters.tmux.listing import Listing
from adapters.tmux.people import People
from adapters.tmux.processes import Known
from adapters.tmux.screen import readable
from adapters.tmux.screens import Screens
from adapters.tmux.server import TmuxServer
from adapters.tmux.spool import Spool
from adapters.tmux.watch import Wake, Watch
from bot.domain.dialogs import Dialog, DialogKind
from bot.errors import Refused, Unavailable

LONGEST_ANSWER = 2_000


class Asking:
    """One for all panes."""

    def __init__(
        self,
        listing: Listing,
        screens: Screens,
        keyboard: Keyboard,
        server: TmuxServer,
        watch: Watch,
        mask: Callable[[str], str],
        pace: Pace,
    ) -> None:
        self._pace = pace
        self._listing = listing
        self._screens = screens
        self._keyboard = keyboard
        self._activity = Activity(server)
        self._people = People(server)
        self._watch = watch
        self._mask = mask
        self._answering: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def heard(self, news: str) -> None:
        """A line of tmux's own."""
        self._activity.heard(news)

    async def changes(self, spool: Spool) -> AsyncGenerator[Dialog | None]:
        """Each dialog once, None when it is gone; without an end. A program that does not read its pane asks nothing."""
        if spool.kept.stdin != "terminal":
            await asyncio.Event().wait()
        run = spool.path.name
        follower = Follower(self._pace, time.monotonic)
        with self._watch.on(spool.path, 0) as wake, self._activity.on(run, wake.event):
            patience, happened = wake.period, True
            while True:
                look = await self._look_if_it_can(spool)
                if follower.sees(look):
                    _heed(spool, look.hint)
                if follower.has_news:
                    yield follower.news()
                happened = await self._rest(wake, patience, follower.hurries, happened)

    async def watched(self, run: str) -> bool:
        """Is a person attached to it?"""
        return await self._people.watching(run)

    async def standing(self, spool: Spool) -> Dialog | None:
        """What stands on the screen at this moment."""
        if spool.kept.stdin != "terminal":
            return None
        return (await self._look(spool)).dialog

    async def answer(self, spool: Spool, dialog: Dialog, option: str) -> bool:
        """Type the answer if the very dialog stands there. Whether the screen has moved on."""
        async with self._answering.setdefault(spool.path.name, asyncio.Lock()):
            await self._listing.now()
            look = await self._look(spool)
            if not look.pane_id:
                raise NotRunning
            standing = _same(look, dialog)
            if await self._people.typing(spool.path.name):
                raise Refused(
                    "Somebody is typing in that pane.",
                    "Answer there, or wait a moment and press again.",
                )
            try:
                await self._type(spool, look.pane_id, standing, option)
                return await self._moved_on(spool, look, dialog.id)
            except Unavailable:
                return False  # keys may have been typed; nobody types them again

    async def _type(self, spool: Spool, pane_id: str, standing: Dialog, option: str) -> None:
        if standing.kind is DialogKind.WORDS:
            await self._keyboard.enter(pane_id, spool, _words(option))
            return
        chosen = standing.option(option)
        if chosen is None:
            raise Refused("That is none of the options.", "Choose one of those that are shown.")
        await self._keyboard.press(pane_id, chosen.keys)

    async def _moved_on(self, spool: Spool, before: Look, dialog_id: str) -> bool:
        """Twice, because a screen that is drawn anew is empty for a moment."""
        deadline, gone = time.monotonic() + self._pace.moves_on, 0
        while gone < 2:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(self._pace.again / 2)
            look = await self._look(spool)
            here = look.dialog is not None and look.dialog.id == dialog_id
            # of what only a hook has told nothing but the screen itself shows that something happened
            here = here or (before.announced is not None and look.text == before.text)
            gone = 0 if here else gone + 1
        _heed(spool, before.hint)
        return True

    async def _rest(self, wake: Wake, patience: float, hurry: bool, happened: bool) -> bool:
        """Until it is time to look again. Whether anything has happened meanwhile."""
        if hurry:
            await asyncio.sleep(self._pace.again)
            return happened
        await asyncio.sleep(self._pace.apart)
        wake.period = min(self._pace.settled, patience) if happened else patience
        return await wake.wait()

    async def _look_if_it_can(self, spool: Spool) -> Look:
        """A tmux server that is lost, or a full disk, is waited for."""
        try:
            await self._activity.begin()
            return await self._look(spool)
        except Unavailable:
            return Look()

    async def _look(self, spool: Spool) -> Look:
        run = spool.path.name
        listed = (await self._listing.lately()).get(run)
        if listed is None or not Known(listed.pid).alive or spool.exit_code is not None:
            return Look()
        shown = await self._screens.shown(run, listed.pane_id)
        hint = latest(spool.named_hooks(), spool.heeded)
        return Look(listed.pane_id, shown.text, read(shown), hint and self._clean(hint))

    def _clean(self, hint: Hint) -> Hint:
        return replace(
            hint, says=self._mask(readable(hint.says)), tool=self._mask(readable(hint.tool))
        )


def _same(look: Look, dialog: Dialog) -> Dialog:
    """The dialog that stands there, if it is this one."""
    standing = look.dialog or look.announced
    if standing is None:
        raise Refused("It is not asked any more.")
    if standing.id != dialog.id:
        raise Refused("Something else is asked there now.", "Answer what is shown now.")
    return standing


def _words(text: str) -> str:
    """One line of bounded length."""
    line = " ".join(readable(text).split())
    if len(line) > LONGEST_ANSWER:
        raise Refused(
            f"An answer has {LONGEST_ANSWER} characters at most.", "Say it in fewer words."
        )
    return line


def _heed(spool: Spool, hint: Hint | None) -> None:
    """What is not written down is at worst told once more."""
    if hint is not None and hint.name > spool.heeded:
        with contextlib.suppress(OSError):
            spool.write("heeded", hint.name)
