"""Which screen is at which address of the page. Screens only read."""

from __future__ import annotations

from collections.abc import Callable

from adapters.local.chat import PLATFORM
from adapters.local.page import lists
from adapters.local.page.board import board
from adapters.local.page.buttons import Button
from adapters.local.page.changes import Changes
from adapters.local.page.data import Changed
from adapters.local.page.frame import LISTS, Context, PageParts, choices_on
from adapters.local.page.log import log
from adapters.local.page.panes import follow, panes
from adapters.local.page.plan import plan
from adapters.local.page.result import result
from adapters.local.page.tasks import tasks
from bot.core.cards import Card
from bot.core.people import Thread
from bot.core.session import Session

Found = tuple[str, Context]
"""A template and what it is given."""
Say = Callable[[str, str], None]
"""Sends an event with its data to the page that asked."""
Query = dict[str, str]


class Screens:
    def __init__(self, parts: PageParts, changed: Changed) -> None:
        self._parts = parts
        self._changes = Changes(parts, changed)

    async def close(self) -> None:
        await self._changes.close()

    async def at(self, path: str, query: Query) -> Found | None:
        """Return the screen at this path, or `None` if there is none."""
        first, _, rest = path.strip("/").partition("/")
        match first, rest:
            case (("" | "board"), ""):
                spent = lists.spend(await self._parts.data.finished(), self._parts.data.now())
                shown = {**board(self._parts, query), "spend": spent}
                return "board.html", {**self._parts.frame("board"), **shown}
            case "new", "":
                return "new.html", {**self._parts.frame("new"), **self._new_request()}
            case (("inbox" | "intents" | "branches" | "history" | "doctor"), ""):
                return f"{first}.html", {
                    **self._parts.frame(first),
                    **await self._list(first, query),
                }
            case "s", _:
                session_id, _, tab = rest.partition("/")
                return await self._session_screen(session_id, tab or "thread", query)
            case _:
                return None

    async def _list(self, name: str, query: Query) -> Context:
        match name:
            case "inbox":
                return await lists.inbox(self._parts)
            case "intents":
                return await lists.intents(self._parts)
            case "branches":
                return await lists.branches(self._parts)
            case "history":
                return await lists.history(self._parts, query)
            case _:
                return lists.doctor(self._parts, query)

    def _new_request(self) -> Context:
        data = self._parts.data
        return {"repositories": data.repositories(), "example": data.example}

    async def _session_screen(self, id: str, tab: str, query: Query) -> Found | None:
        session = self._parts.data.session(id)
        if session is None:
            return None
        match tab:
            case "thread":
                shown = self._thread(session)
            case "plan":
                shown = await plan(self._parts, session, query)
            case "tasks":
                shown = await tasks(self._parts, session, query)
            case "panes":
                shown = await panes(self._parts, session, query)
            case "changes":
                shown = await self._changes.screen(session, query)
            case "result":
                shown = result(self._parts, session, await self._changes.size(session))
            case "log":
                shown = await log(self._parts, session, query)
            case _:
                return None
        frame = {**self._parts.frame("", session.id), **self._parts.head(session, tab)}
        return f"{tab}.html", {**frame, **shown}

    def _thread(self, session: Session) -> Context:
        shown = {card.key: card for card in self._parts.chat.cards(session.thread)}
        if session.thread.platform != PLATFORM:
            shown |= {card.key: card for card in self._parts.data.waiting(session)}
        return {
            "cards": [self._parts.card(session.thread, one, session.id) for one in shown.values()]
        }

    def card(self, thread: Thread, card: Card) -> Context:
        return self._parts.card(thread, card)

    def thread_of(self, session_id: str) -> Thread | None:
        """Return the thread in which this session can be talked to from here."""
        session = self._parts.data.session(session_id)
        return session.thread if session and session.thread.platform == PLATFORM else None

    def still_offers(self, button: Button) -> bool:
        """Whether the card of this button still has it."""
        if button.card in LISTS:
            return True
        session = self._parts.data.session(button.session) if button.session else None
        waiting = self._parts.data.waiting(session) if session else ()
        card = next((one for one in waiting if one.key == button.card), None)
        card = card or self._parts.chat.card(button.thread, button.card)
        return card is not None and button.choice in choices_on(card)

    async def follow_pane(self, pane: str, say: Say) -> None:
        """Send the screen of a pane (`session/run`) whenever it changes, until cancelled."""
        await follow(self._parts.data, pane, say)
