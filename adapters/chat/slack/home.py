"""The home tab: a page a person, published only when it says something new, one call at a time for each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.asides import Asides
from adapters.chat.slack.calling import Denied, asked
from adapters.chat.slack.drawing import Site
from adapters.chat.slack.drawing.home import MOST, barred, home, only
from adapters.chat.slack.drawing.limits import Block
from adapters.chat.slack.forms import Facts
from bot.domain.cards import Card, HomeCard
from bot.domain.layout import sheet
from bot.domain.sheets import Sheet

log = logging.getLogger("bot.slack")

NOTICE = 300.0
"""Seconds an answer stands on top of a page, unless something is pressed before."""
PEOPLE = 500
"""Whose pages are remembered; who came longest ago is forgotten first."""
_TOO_MUCH = frozenset(
    {"view_too_large", "invalid_arguments", "invalid_blocks", "msg_blocks_too_long"}
)
_CONFLICT = "hash_conflict"


@dataclass
class _Page:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    card: HomeCard | None = None
    site: Site | None = None
    barred: bool = False
    notice: Sheet | None = None
    noticed: int = 0
    """How many notices there were."""
    published: Block | None = None


def _no_facts() -> Sequence[tuple[str, str]]:
    return ()


class Home:
    """`facts`: what the adapter itself knows of its health; they stand before those on the card."""

    def __init__(
        self,
        client: AsyncWebClient,
        *,
        facts: Callable[[], Sequence[tuple[str, str]]] = _no_facts,
        notice: float = NOTICE,
    ) -> None:
        self._client = client
        self._facts = facts
        self._seconds = notice
        self._pages: dict[str, _Page] = {}
        self._asides = Asides()

    async def show(self, user: str, card: HomeCard, site: Site | None) -> None:
        """How everything stands now. Returns when it can be seen; of several at once the last counts."""
        page = self._page(user)
        page.card, page.site, page.barred = card, site, False
        await self._publish(user, page)

    async def tell(self, user: str, card: Card) -> None:
        """An answer, on top of the page for a while."""
        page = self._page(user)
        page.notice = sheet(card)
        page.noticed += 1
        number = page.noticed
        await self._publish(user, page)
        self._asides.begin("an old notice", lambda: self._forget(user, page, number))

    async def bar(self, user: str) -> None:
        """They may do nothing here."""
        page = self._page(user)
        page.card, page.notice, page.barred = None, None, True
        await self._publish(user, page)

    def pressed(self, user: str) -> None:
        """What was answered before is not of interest any more."""
        page = self._page(user)
        if page.notice:
            page.notice = None
            self._asides.begin("an old notice", lambda: self._publish(user, page))

    def settings(self, user: str) -> Facts:
        page = self._pages.get(user)
        return page.card.settings if page and page.card else ()

    async def close(self) -> None:
        await self._asides.close()

    def _page(self, user: str) -> _Page:
        page = self._pages.pop(user, None) or _Page()
        self._pages[user] = page
        while len(self._pages) > PEOPLE:
            del self._pages[next(iter(self._pages))]
        return page

    async def _forget(self, user: str, page: _Page, number: int) -> None:
        await asyncio.sleep(self._seconds)
        if page.noticed == number and page.notice:
            page.notice = None
            await self._publish(user, page)

    async def _publish(self, user: str, page: _Page) -> None:
        async with page.lock:
            views = list(self._views(page))
            if not views or page.published == views[0]:
                return
            for view in views:
                if await self._taken(user, view, last=view is views[-1]):
                    page.published = views[0]
                    return

    def _views(self, page: _Page) -> Iterator[Block]:
        """The page, then shorter and shorter ones."""
        if page.barred:
            yield barred()
        elif page.card:
            health = (*self._facts(), *page.card.health)
            card = page.card.model_copy(update={"health": health})
            for most in MOST:
                yield home(card, site=page.site, notice=page.notice, most=most)
        elif page.notice:
            yield only(page.notice)

    async def _taken(self, user: str, view: Block, *, last: bool) -> bool:
        """False: it is too much for Slack."""
        try:
            await self._call(user, view)
        except Denied as refusal:
            if refusal.code not in _TOO_MUCH or last:
                raise
            about = {"why": refusal.code, "details": refusal.details}
            log.warning("a home is shown in a shorter form", extra={"data": about})
            return False
        return True

    async def _call(self, user: str, view: Block) -> None:
        """No hash is sent: what is published last is what holds. Told of a conflict all the same, it is said again."""
        try:
            await self._publish_once(user, view)
        except Denied as refusal:
            if refusal.code != _CONFLICT:
                raise
            await self._publish_once(user, view)

    async def _publish_once(self, user: str, view: Block) -> None:
        await asked(
            "publishing a home", lambda: self._client.views_publish(user_id=user, view=view)
        )
