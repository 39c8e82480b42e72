"""Where everything from Slack comes in: nothing is acknowledged before it has been taken, in the order of its thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.access import SlackAccess, asking
from adapters.chat.slack.brought import Brought
from adapters.chat.slack.delivery import (
    Body,
    Delivery,
    Edit,
    Incomplete,
    Nothing,
    Opening,
    Talk,
    Wish,
    word,
)
from adapters.chat.slack.heard import heard, message_in
from adapters.chat.slack.known import Known
from adapters.chat.slack.people import People
from adapters.chat.slack.preflight import Identity
from adapters.chat.slack.screens import Screens
from adapters.chat.slack.seen import Seen
from adapters.chat.slack.shared import Shared
from adapters.chat.slack.wishes import Wishes, not_there
from bot.domain.events import FromPeople, Said
from bot.domain.people import Person, Thread
from bot.errors import PortError, Refused
from bot.ports import Deliver

log = logging.getLogger("bot.slack")
_LAST_MOMENT = 3.0
Ack = Mapping[str, Any]
"""What is sent along with an acknowledgement; mostly nothing."""


@dataclass
class _Turn:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


def _not_told(thread: Thread) -> None:
    return


class Reception:
    """`known`: what a press alone does not tell. `talked` is told where people talk, to the bot or not. `wishes` begins
    what is asked for in forms; `brought` adds to what is said."""

    def __init__(
        self,
        access: SlackAccess,
        client: AsyncWebClient,
        us: Identity,
        people: People,
        deliver: Deliver,
        *,
        now: Callable[[], datetime],
        screens: Screens,
        wishes: Wishes,
        seen: Seen | None = None,
        shared: Shared | None = None,
        known: Known | None = None,
        talked: Callable[[Thread], None] = _not_told,
        brought: Brought | None = None,
    ) -> None:
        self._client = client
        self._us = us
        self._people = people
        self._deliver = deliver
        self._now = now
        self._screens = screens
        self._wishes = wishes
        self._seen = seen
        self._shared = shared or Shared()
        self._known = known or Known()
        self._talked = talked
        self._brought = brought or Brought()
        self._turns: dict[str, _Turn] = {}
        self._opening: set[asyncio.Task[None]] = set()
        # everything is answered before bolt would look up who sent it, or search through listeners:
        # its own first question to Slack fails silently, and drops the event
        self.app = AsyncApp(
            name="gwt",
            client=client,
            signing_secret=access.signing_secret,
            logger=_bolt_log(),
            before_authorize=self._receive,
        )

    async def take(self, body: Body) -> Ack:
        """Returns when it was taken or is nothing; a PortError: it was not, and shall come again."""
        self._shared.note(body, self._us.team)
        with self._marking(body):
            match heard(body, self._us, self._now(), self._known):
                case Delivery(what=Edit()) as edit if not self._known.at_work_in(edit.thread):
                    log.debug("an edit where the bot is not at work")
                case Delivery() as delivery:
                    self._talked(delivery.thread)
                    return await self._in_turn(delivery)
                case Incomplete(errors=errors):
                    return _given_back(errors)
                case Nothing(why=why, talked=talked):
                    # of every word people say to each other nobody wants to read
                    level = logging.DEBUG if message_in(body) else logging.INFO
                    log.log(level, "nothing for the bot", extra={"data": {"why": why}})
                    if talked:
                        self._talked(talked)
                case looking:
                    self._screens.look(looking)
        return {}

    async def close(self) -> None:
        """Forms that are being opened are still opened."""
        if self._opening:
            await asyncio.wait(self._opening, timeout=_LAST_MOMENT)
        for opening in self._opening:
            opening.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)
        await self._wishes.close()
        await self._people.close()

    async def _receive(
        self, body: dict[str, Any], next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        if word(body, "type") == "url_verification":
            return await next_()
        self._screens.health.heard()
        try:
            ack = await self.take(body)
        except PortError as problem:
            log.warning("not taken", extra={"data": {"reason": problem.reason}})
            return BoltResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
        return BoltResponse(status=HTTPStatus.OK, body=dict(ack) if ack else "")

    def _marking(self, body: Body) -> AbstractContextManager[None]:
        message = message_in(body)
        if self._seen is None or message is None:
            return nullcontext()
        return self._seen.taking(*message)

    async def _in_turn(self, delivery: Delivery) -> Ack:
        """Whoever came first is asked for first, however long that takes."""
        self._screens.begin(delivery)
        async with self._turn(delivery.line):
            try:
                ack = await self._taken(delivery)
            except PortError:
                self._screens.fail(delivery)
                raise
        return ack

    async def _taken(self, delivery: Delivery) -> Ack:
        known = await self._people.person(delivery.user, delivery.home)
        by = self._shared.seen_in(delivery.thread, known)
        let = await self._hand_over(delivery.thread, await self._event(delivery, by))
        self._screens.end(delivery, let=let)
        if isinstance(delivery.what, Wish):
            errors = await self._wishes.begin(delivery, delivery.what, by) if let else not_there()
            return _given_back(errors) if errors else {}
        if let and isinstance(delivery.what, Opening):
            opening = asyncio.create_task(self._open(delivery.what))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)
        return {}

    async def _event(self, delivery: Delivery, by: Person) -> FromPeople:
        event = delivery.event(by)
        if not isinstance(event, Said):
            return event
        files = await self._brought.beside(delivery, by)
        ts = delivery.what.ts if isinstance(delivery.what, Talk) else ""
        unseen = self._known.unseen(delivery.thread, ts) if ts else ()
        return event.model_copy(update={"files": files, "unseen": unseen})

    async def _hand_over(self, thread: Thread, event: FromPeople) -> bool:
        try:
            return await self._deliver(thread, event)
        except Refused as refused:
            # somebody could not be answered: hearing it again would not change that
            log.warning("could not be answered", extra={"data": {"reason": refused.reason}})
            return False

    async def _open(self, opening: Opening) -> None:
        """The press is good for three seconds, and once."""
        try:
            with asking("opening a form"):
                await self._client.views_open(trigger_id=opening.trigger, view=opening.form)
        except PortError as problem:
            log.warning("a form was not opened", extra={"data": {"reason": problem.reason}})

    @asynccontextmanager
    async def _turn(self, line: str) -> AsyncGenerator[None, None]:
        """The lock is asked for without a pause in between, so turns are in the order of arrival."""
        turn = self._turns.setdefault(line, _Turn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                self._turns.pop(line, None)


def _given_back(errors: Mapping[str, str]) -> Ack:
    """A form that stays open, with what is wrong beside its fields."""
    return {"response_action": "errors", "errors": dict(errors)}


def _bolt_log() -> logging.Logger:
    """Bolt warns of settings it finds in the environment and does not use; what matters are our own bugs."""
    bolt = logging.getLogger("bot.slack.bolt")
    bolt.setLevel(logging.ERROR)
    return bolt
