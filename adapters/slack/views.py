"""Output that only one person sees, outside of threads: the home tab (views.publish), windows (views.open,
views.update), suggested prompts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.assistant import SuggestedPrompts
from adapters.slack.blocks.forms import FormPurpose, SettingsFacts
from adapters.slack.blocks.kit import Block, Site
from adapters.slack.blocks.surfaces import (
    ENTRIES_SHOWN,
    WindowPage,
    home_view,
    notice_view,
    outsider_view,
    window_pages,
    window_view,
)
from adapters.slack.client import (
    BackgroundTasks,
    ConnectionHealth,
    SlackDenied,
    call_slack,
    slack_errors,
)
from adapters.slack.deliveries import (
    Delivery,
    HomeVisit,
    MessagesTabOpened,
    PageTurned,
    PressedButton,
    ScreenEvent,
    WindowClosed,
)
from bot.core.cards import Card, HomeCard
from bot.core.errors import PortError
from bot.core.layout import lay_out
from bot.core.people import Thread
from bot.core.sheets import Sheet, Text

# The home tab: one page per person, published only when it changes, with one call at a time per person.

log = logging.getLogger("bot.slack")

NOTICE_SECONDS = 300.0
"""Seconds a reply is shown on top of the home tab, unless a button is pressed before."""
MAX_HOMES = 500
"""The most home tabs kept in memory; the one unused the longest is dropped first."""
_TOO_LARGE_ERRORS = frozenset(
    {"view_too_large", "invalid_arguments", "invalid_blocks", "msg_blocks_too_long"}
)
_CONFLICT = "hash_conflict"


@dataclass
class _HomePage:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    card: HomeCard | None = None
    site: Site | None = None
    barred: bool = False
    notice: Sheet | None = None
    noticed: int = 0
    """Number of notices shown so far."""
    published: Block | None = None


def _no_facts() -> Sequence[tuple[str, str]]:
    return ()


class HomeTab:
    """The home tabs. `facts`: health facts of the adapter itself, shown before those of the card."""

    def __init__(
        self,
        client: AsyncWebClient,
        *,
        facts: Callable[[], Sequence[tuple[str, str]]] = _no_facts,
        notice: float = NOTICE_SECONDS,
    ) -> None:
        self._client = client
        self._facts = facts
        self._seconds = notice
        self._pages: dict[str, _HomePage] = {}
        self._background = BackgroundTasks()

    async def show(self, user: str, card: HomeCard, site: Site | None) -> None:
        """Show the card on the user's home tab; return once it is visible.

        Of several concurrent calls the last one wins.
        """
        page = self._page(user)
        page.card, page.site, page.barred = card, site, False
        await self._publish(user, page)

    async def show_notice(self, user: str, card: Card) -> None:
        """Show a reply on top of the home tab for a while."""
        page = self._page(user)
        page.notice = lay_out(card)
        page.noticed += 1
        number = page.noticed
        await self._publish(user, page)
        self._background.start("an old notice", lambda: self._forget(user, page, number))

    async def show_barred(self, user: str) -> None:
        """Show the home tab of a user without permissions."""
        page = self._page(user)
        page.card, page.notice, page.barred = None, None, True
        await self._publish(user, page)

    def clear_notice(self, user: str) -> None:
        """Remove the previous reply, because the user has pressed something."""
        page = self._page(user)
        if page.notice:
            page.notice = None
            self._background.start("an old notice", lambda: self._publish(user, page))

    def settings(self, user: str) -> SettingsFacts:
        page = self._pages.get(user)
        return page.card.settings if page and page.card else ()

    async def close(self) -> None:
        await self._background.close()

    def _page(self, user: str) -> _HomePage:
        page = self._pages.pop(user, None) or _HomePage()
        self._pages[user] = page
        while len(self._pages) > MAX_HOMES:
            del self._pages[next(iter(self._pages))]
        return page

    async def _forget(self, user: str, page: _HomePage, number: int) -> None:
        await asyncio.sleep(self._seconds)
        if page.noticed == number and page.notice:
            page.notice = None
            await self._publish(user, page)

    async def _publish(self, user: str, page: _HomePage) -> None:
        async with page.lock:
            views = list(self._views(page))
            if not views or page.published == views[0]:
                return
            for view in views:
                if await self._try_publish(user, view, last=view is views[-1]):
                    page.published = views[0]
                    return

    def _views(self, page: _HomePage) -> Iterator[Block]:
        """Yield the full page, then shorter and shorter versions."""
        if page.barred:
            yield outsider_view()
        elif page.card:
            health = (*self._facts(), *page.card.health)
            card = page.card.model_copy(update={"health": health})
            for most in ENTRIES_SHOWN:
                yield home_view(card, site=page.site, notice=page.notice, max_entries=most)
        elif page.notice:
            yield notice_view(page.notice)

    async def _try_publish(self, user: str, view: Block, *, last: bool) -> bool:
        """Publish a view; return False if it is too large for Slack."""
        try:
            await self._publish_with_retry(user, view)
        except SlackDenied as refusal:
            if refusal.code not in _TOO_LARGE_ERRORS or last:
                raise
            about = {"why": refusal.code, "details": refusal.details}
            log.warning("a home is shown in a shorter form", extra={"data": about})
            return False
        return True

    async def _publish_with_retry(self, user: str, view: Block) -> None:
        # No hash is sent, so the last publication wins. After a conflict the call is repeated once.
        try:
            await self._publish_once(user, view)
        except SlackDenied as refusal:
            if refusal.code != _CONFLICT:
                raise
            await self._publish_once(user, view)

    async def _publish_once(self, user: str, view: Block) -> None:
        await call_slack(
            "publishing a home", lambda: self._client.views_publish(user_id=user, view=view)
        )


# Everything that one person sees outside of threads. None of it delays a thread.

_NOT_ALLOWED = "You may not look at that here. Ask whoever runs this bot."
_NOT_NOW = "That did not work just now. Please close this window, and try again in a moment."


class PersonalViews:
    """Home tabs, windows and suggested prompts. The owner must call `close`."""

    def __init__(
        self,
        client: AsyncWebClient,
        health: ConnectionHealth | None = None,
        *,
        notice: float = NOTICE_SECONDS,
    ) -> None:
        self.health = health or ConnectionHealth()
        self.home = HomeTab(client, facts=self.health.facts, notice=notice)
        self._windows = Windows(client)
        self._prompts = SuggestedPrompts(client)
        self._background = BackgroundTasks()

    async def show(self, thread: Thread, user: str, card: Card, site: Site | None) -> bool:
        """Show a card to one person outside of threads. Return False if it belongs into the thread instead."""
        if isinstance(card, HomeCard):
            await self.home.show(user, card, site)
            return True
        if await self._windows.fill(card):
            return True
        if thread.home:
            await self.home.show_notice(user, card)
        return thread.home

    def prepare(self, delivery: Delivery) -> None:
        """Do what cannot wait until the delivery is accepted: open a window while the trigger is valid, clear an old
        notice.
        """
        if isinstance(delivery.what, PressedButton) and delivery.what.trigger:
            purpose = FormPurpose(thread=delivery.thread, verb=delivery.what.verb)
            self._windows.open(delivery.id, delivery.what.trigger, purpose.json_text)
        if delivery.thread.home and not isinstance(delivery.what, HomeVisit):
            self.home.clear_notice(delivery.user)

    def finish(self, delivery: Delivery, *, accepted: bool) -> None:
        """Finish after the delivery was accepted or refused (`let`)."""
        if accepted:
            return
        if isinstance(delivery.what, HomeVisit):
            self._background.start("a barred home", lambda: self.home.show_barred(delivery.user))
        else:
            self._background.start(
                "a word", lambda: self._windows.show_fallback(delivery.id, _NOT_ALLOWED)
            )

    def fail(self, delivery: Delivery) -> None:
        """Say in the window that the press could not be accepted, because Slack does not deliver a press again."""
        self._background.start("a word", lambda: self._windows.show_fallback(delivery.id, _NOT_NOW))

    def handle_screen_event(self, meaning: ScreenEvent) -> None:
        """Handle a screen event in the background."""
        match meaning:
            case PageTurned(view=view, page=page):
                self._background.start("another page", lambda: self._windows.turn_page(view, page))
            case WindowClosed(view=view):
                self._windows.forget(view)
            case MessagesTabOpened(channel=channel):
                self._background.start("prompts", lambda: self._prompts.suggest(channel))
            case _:
                assert_never(meaning)

    async def close(self) -> None:
        await self._background.close()
        await self.home.close()
        await self._windows.close()


# Windows that only the person who pressed sees: opened at once, filled when the answer arrives, forgotten when closed.
# The trigger id is valid for three seconds, and once; the answer may take longer.

MAX_WINDOWS = 200
"""The most windows kept in memory; the oldest is dropped first."""
_OPENING_SECONDS = 10.0
_ONE_MOMENT = Sheet(title="One moment", body=(Text(text="I am looking it up."),))
_OUT_OF_DATE = Sheet(
    title="Out of date", body=(Text(text="Please close this window and ask again."),)
)


@dataclass
class _Window:
    opening: asyncio.Task[str]
    """Returns the view id; empty if Slack did not open the window."""
    metadata: str
    laid: Sheet = _ONE_MOMENT
    pages: Sequence[WindowPage] = field(default_factory=list[WindowPage])
    filled: bool = False
    closed: bool = False


class Windows:
    """Opens and fills windows.

    `event`: the id of the press that asked for the window; cards that answer it contain that id in their keys.
    """

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._windows: dict[str, _Window] = {}

    def open(self, event: str, trigger: str, metadata: str = "") -> None:
        """Open a window in the background. Two calls for one press open only one."""
        if event in self._windows:
            return
        opening = asyncio.create_task(self._open(trigger, metadata), name="slack: a window")
        self._windows[event] = _Window(opening, metadata)
        while len(self._windows) > MAX_WINDOWS:
            self._windows.pop(next(iter(self._windows))).opening.cancel()

    async def fill(self, card: Card) -> bool:
        """Show the card in its window; return False if there is no window and it must be shown elsewhere."""
        found = self._for(card.key)
        return found is not None and await self._show(found, lay_out(card))

    async def show_fallback(self, event: str, message: str) -> None:
        """Show a message in the window unless it already has content."""
        found = self._windows.get(event)
        if found and not found.filled:
            await self._show(found, Sheet(title=message))

    async def turn_page(self, view: str, number: int) -> None:
        """Show another page."""
        found = next((one for one in self._windows.values() if _view_id(one) == view), None)
        if found is None or not found.pages:
            await self._update(view, window_view(_OUT_OF_DATE, window_pages(_OUT_OF_DATE), 0))
        else:
            shown = window_view(found.laid, found.pages, number, found.metadata)
            await self._update(view, shown)

    def forget(self, view: str) -> None:
        """Drop the content of a closed window; what arrives later is not shown."""
        for one in self._windows.values():
            if _view_id(one) == view:
                one.closed, one.pages, one.laid = True, (), _ONE_MOMENT

    async def close(self) -> None:
        """Cancel windows that are being opened."""
        openings = [one.opening for one in self._windows.values()]
        self._windows.clear()
        for opening in openings:
            opening.cancel()
        await asyncio.gather(*openings, return_exceptions=True)

    def _for(self, key: str) -> _Window | None:
        # Keys are `answer:<event>`, or `told:<event>:<digest>`.
        named = key.partition(":")[2]
        return self._windows.get(named) or self._windows.get(named.rpartition(":")[0])

    async def _show(self, found: _Window, laid: Sheet) -> bool:
        view = await _opened_id(found)
        if not view or found.closed:
            return found.closed
        found.laid, found.pages, found.filled = laid, window_pages(laid), True
        last = len(found.pages) - 1
        return await self._update(view, window_view(laid, found.pages, last, found.metadata))

    async def _open(self, trigger: str, metadata: str) -> str:
        view = window_view(_ONE_MOMENT, window_pages(_ONE_MOMENT), 0, metadata)
        try:
            with slack_errors("opening a window"):
                answer = await self._client.views_open(trigger_id=trigger, view=view)
        except PortError as problem:
            # the trigger id may have expired: then the answer is shown elsewhere
            log.warning("a window was not opened", extra={"data": {"reason": problem.reason}})
            return ""
        return str((answer.get("view") or {}).get("id", ""))

    async def _update(self, view: str, shown: Block) -> bool:
        """Replace the view's content; return False if the window no longer exists."""
        try:
            await call_slack(
                "filling a window", lambda: self._client.views_update(view_id=view, view=shown)
            )
        except SlackDenied as refusal:
            if refusal.code != "not_found":
                raise
            return False
        return True


async def _opened_id(one: _Window) -> str:
    try:
        async with asyncio.timeout(_OPENING_SECONDS):
            return await asyncio.shield(one.opening)
    except TimeoutError:
        return ""


def _view_id(one: _Window) -> str:
    done = one.opening.done() and not one.opening.cancelled() and not one.opening.exception()
    return one.opening.result() if done else ""
