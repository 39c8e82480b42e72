"""Entry point of every Slack payload.

A payload is acknowledged only after it was accepted, in the order of its thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import payloads
from adapters.slack.access import PLATFORM, Identity, SharedChannels, WorkspaceMembers
from adapters.slack.blocks import forms
from adapters.slack.blocks.text import on_one_line
from adapters.slack.client import SlackAccess, slack_errors
from adapters.slack.connection import ChannelMarks
from adapters.slack.deliveries import (
    Delivery,
    FormOpening,
    FormRequest,
    HomeVisit,
    IncompleteForm,
    MessageEdit,
    MessagesTabOpened,
    NotForBot,
    Payload,
    PayloadMeaning,
    Talk,
    WindowClosed,
    get_object,
    get_text,
    parse_timestamp,
)
from adapters.slack.files import Attachments
from adapters.slack.payloads import PayloadContext
from adapters.slack.views import PersonalViews
from bot.core.cards import Card, RootCard
from bot.core.choices import Command, Word
from bot.core.errors import PortError, Refused
from bot.core.events import Commanded, FromPeople, Said
from bot.core.people import Person, Thread
from bot.core.text import cut, sentences
from bot.ports import Deliver

log = logging.getLogger("bot.slack")
_FORM_GRACE = 3.0
Ack = Mapping[str, Any]
"""Body of the acknowledgement; mostly empty."""


@dataclass
class _ThreadTurn:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


def _do_nothing(thread: Thread) -> None:
    return


class SlackReceiver:
    """Processes payloads.

    `known`: context that a press alone does not carry; `talked`: called for every thread in which people talk;
    `wishes`: starts what forms request; `brought`: adds attachments to messages.
    """

    def __init__(
        self,
        access: SlackAccess,
        client: AsyncWebClient,
        us: Identity,
        people: WorkspaceMembers,
        deliver: Deliver,
        *,
        now: Callable[[], datetime],
        screens: PersonalViews,
        form_requests: FormRequests,
        marks: ChannelMarks | None = None,
        shared: SharedChannels | None = None,
        known: PayloadContext | None = None,
        on_talk: Callable[[Thread], None] = _do_nothing,
        attachments: Attachments | None = None,
    ) -> None:
        self._client = client
        self._us = us
        self._people = people
        self._deliver = deliver
        self._now = now
        self._screens = screens
        self._form_requests = form_requests
        self._marks = marks
        self._shared = shared or SharedChannels()
        self._known = known or PayloadContext()
        self._on_talk = on_talk
        self._attachments = attachments or Attachments()
        self._turns: dict[str, _ThreadTurn] = {}
        self._opening: set[asyncio.Task[None]] = set()
        # everything is answered in before_authorize, before Bolt would look up the sender or search listeners: its own
        # auth call would fail silently and drop the event
        self.app = AsyncApp(
            name="gwt",
            client=client,
            signing_secret=access.signing_secret,
            logger=_bolt_log(),
            before_authorize=self._receive,
        )

    async def handle_payload(self, body: Payload) -> Ack:
        """Process a payload and return the acknowledgement.

        Raises PortError if it was not accepted and must be delivered again.
        """
        self._shared.note(body, self._us.team)
        with self._mark_context(body):
            match interpret_payload(body, self._us, self._now(), self._known):
                case Delivery(what=MessageEdit()) as edit if not self._known.at_work_in(
                    edit.thread
                ):
                    log.debug("an edit where the bot is not at work")
                case Delivery() as delivery:
                    self._on_talk(delivery.thread)
                    return await self._process_in_order(delivery)
                case IncompleteForm(errors=errors):
                    return _form_errors(errors)
                case NotForBot(why=why, talked=talked):
                    # messages between people are frequent and of no interest in the log
                    level = logging.DEBUG if message_key(body) else logging.INFO
                    log.log(level, "nothing for the bot", extra={"data": {"why": why}})
                    if talked:
                        self._on_talk(talked)
                case looking:
                    self._screens.handle_screen_event(looking)
        return {}

    async def close(self) -> None:
        """Finish opening forms, within a time limit, and close the rest."""
        if self._opening:
            await asyncio.wait(self._opening, timeout=_FORM_GRACE)
        for opening in self._opening:
            opening.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)
        await self._form_requests.close()
        await self._people.close()

    async def _receive(
        self, body: dict[str, Any], next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        if get_text(body, "type") == "url_verification":
            return await next_()
        self._screens.health.heard()
        try:
            ack = await self.handle_payload(body)
        except PortError as problem:
            log.warning("not taken", extra={"data": {"reason": problem.reason}})
            return BoltResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
        return BoltResponse(status=HTTPStatus.OK, body=dict(ack) if ack else "")

    def _mark_context(self, body: Payload) -> AbstractContextManager[None]:
        message = message_key(body)
        if self._marks is None or message is None:
            return nullcontext()
        return self._marks.processing(*message)

    async def _process_in_order(self, delivery: Delivery) -> Ack:
        # Deliveries of one thread are processed in order of arrival, however long the look-up of a person takes.
        self._screens.prepare(delivery)
        async with self._turn(delivery.queue_key):
            try:
                ack = await self._process(delivery)
            except PortError:
                self._screens.fail(delivery)
                raise
        return ack

    async def _process(self, delivery: Delivery) -> Ack:
        known = await self._people.person(delivery.user, delivery.home)
        by = self._shared.mark_outsider(delivery.thread, known)
        let = await self._deliver_event(delivery.thread, await self._event(delivery, by))
        self._screens.finish(delivery, accepted=let)
        if isinstance(delivery.what, FormRequest):
            errors = (
                await self._form_requests.begin(delivery, delivery.what, by)
                if let
                else wrong_channel_error()
            )
            return _form_errors(errors) if errors else {}
        if let and isinstance(delivery.what, FormOpening):
            opening = asyncio.create_task(self._open_form(delivery.what))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)
        return {}

    async def _event(self, delivery: Delivery, by: Person) -> FromPeople:
        event = delivery.event(by)
        if not isinstance(event, Said):
            return event
        files = await self._attachments.fetch_all(delivery, by)
        ts = delivery.what.ts if isinstance(delivery.what, Talk) else ""
        unseen = self._known.unseen(delivery.thread, ts) if ts else ()
        return event.model_copy(update={"files": files, "unseen": unseen})

    async def _deliver_event(self, thread: Thread, event: FromPeople) -> bool:
        try:
            return await self._deliver(thread, event)
        except Refused as refused:
            # the person could not be answered, and delivering the event again would not change that
            log.warning("could not be answered", extra={"data": {"reason": refused.reason}})
            return False

    async def _open_form(self, opening: FormOpening) -> None:
        # A trigger id is valid for three seconds, and once.
        try:
            with slack_errors("opening a form"):
                await self._client.views_open(trigger_id=opening.trigger, view=opening.form)
        except PortError as problem:
            log.warning("a form was not opened", extra={"data": {"reason": problem.reason}})

    @asynccontextmanager
    async def _turn(self, line: str) -> AsyncGenerator[None, None]:
        # There is no await before the lock is requested, so turns are in the order of arrival.
        turn = self._turns.setdefault(line, _ThreadTurn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                self._turns.pop(line, None)


def _form_errors(errors: Mapping[str, str]) -> Ack:
    """Return the acknowledgement that keeps a form open and shows the errors beside its fields."""
    return {"response_action": "errors", "errors": dict(errors)}


def _bolt_log() -> logging.Logger:
    # Bolt warns about settings in the environment that it does not use; only its errors, our own bugs, matter.
    bolt = logging.getLogger("bot.slack.bolt")
    bolt.setLevel(logging.ERROR)
    return bolt


# The meaning of each payload, by Slack's own names. Payloads not listed here are ignored.


class SlackEvent(StrEnum):
    """The event types the bot handles; the manifest subscribes to them."""

    MESSAGE = "message"
    MENTION = "app_mention"
    STOPPED = "agent_session_stopped"
    HOME = "app_home_opened"


_MESSAGES = frozenset({SlackEvent.MESSAGE, SlackEvent.MENTION})


def interpret_payload(
    body: Payload, us: Identity, now: datetime, known: PayloadContext
) -> PayloadMeaning:
    """Return what a payload means for the bot. `now` is used if Slack gives no time."""
    match get_text(body, "type"):
        case "event_callback":
            return _event_callback(body, us, now)
        case "block_actions":
            return payloads.block_actions(body, us, now, known)
        case "view_submission":
            return payloads.view_submission(body, us, now, known)
        case "view_closed" if get_text(get_object(body, "view"), "id"):
            return WindowClosed(get_text(get_object(body, "view"), "id"))
        case "message_action":
            return payloads.message_action(body, us, now)
        case "shortcut":
            return payloads.global_shortcut(body, us, now, known)
        case "" if get_text(body, "command"):
            return payloads.slash_command(body, us, now, known)
        case other:
            return NotForBot(f"{other} is not listened to")


def message_key(body: Payload) -> tuple[str, str] | None:
    """Return channel and timestamp of the message an event is about, or None if it is not about a message."""
    event = get_object(body, "event")
    channel, ts = get_text(event, "channel"), get_text(event, "ts")
    return (channel, ts) if get_text(event, "type") in _MESSAGES and channel and ts else None


def as_message_event(message: Payload, channel: str, us: Identity) -> Payload:
    """Wrap a message from the history as an event, so that it has the same meaning and the same id."""
    event = {**message, "type": "message", "channel": channel}
    return {"type": "event_callback", "team_id": us.team, "event": event}


def _event_callback(body: Payload, us: Identity, now: datetime) -> PayloadMeaning:
    event = get_object(body, "event")
    if not _is_our_workspace(body, us):
        return NotForBot("it happened in another workspace")
    match get_text(event, "type"):
        case SlackEvent.MESSAGE | SlackEvent.MENTION:
            return payloads.message_event(event, us, now)
        case SlackEvent.STOPPED:
            return payloads.agent_session_stopped(body, event, us, now)
        case SlackEvent.HOME:
            return _app_home_opened(body, event, us, now)
        case other:
            return NotForBot(f"{other} is not listened to")


def _app_home_opened(body: Payload, event: Payload, us: Identity, now: datetime) -> PayloadMeaning:
    """Handle a user's opening of one of the bot's two tabs."""
    user, once = get_text(event, "user"), get_text(body, "event_id") or get_text(event, "event_ts")
    if not (user and once):
        return NotForBot("not a whole visit")
    if get_text(event, "tab") == "messages" and get_text(event, "channel"):
        return MessagesTabOpened(user, get_text(event, "channel"))
    if get_text(event, "tab") != "home":
        return NotForBot("not a tab of ours")
    return Delivery(
        id=f"{PLATFORM}:{us.team}:home:{once}",
        at=parse_timestamp(get_text(event, "event_ts"), now),
        thread=payloads.slack_thread(us, "", "", direct=False),
        user=user,
        what=HomeVisit(),
    )


def _is_our_workspace(body: Payload, us: Identity) -> bool:
    # An app installed in several workspaces receives the events of all of them through one socket.
    told = body.get("authorizations")
    listed = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    teams = {get_text(one, "team_id") for one in listed}
    return us.team in teams | {get_text(body, "team_id"), get_text(body, "context_team_id")}


# Requests submitted in a form: a thread is created for each, once, and the request is delivered there like any message.

OpenThread = Callable[[Thread, Card], Awaitable[Thread]]
FORM_TIMEOUT = 2.0
"""Seconds. Slack waits three seconds for the answer to a form."""
MAX_FORMS = 200
_LONGEST_TITLE = 80
_SEND_AGAIN = "This takes longer than it should. Please send it again in a moment: it begins once, however often it is sent."
_WRONG_CHANNEL = "You may not start anything there. Choose a channel I am set up for, or ask whoever runs this bot."


class FormRequests:
    """Starts sessions requested in forms.

    `open_` creates a thread in a channel; the same card creates the same thread.
    """

    def __init__(
        self, open_: OpenThread, deliver: Deliver, *, timeout: float = FORM_TIMEOUT
    ) -> None:
        self._open = open_
        self._deliver = deliver
        self._timeout = timeout
        self._starting: dict[str, asyncio.Task[bool]] = {}

    async def begin(
        self, delivery: Delivery, request: FormRequest, by: Person
    ) -> Mapping[str, str]:
        """Start the request; return an empty mapping once it is accepted, or else the errors to show in the form, which
        stays open.

        The form holds the only copy of the text, so it is not closed before the text is on disk. After a time-out the
        next try joins the work under way.
        """
        task = self._starting.get(request.form)
        if task is None or (task.done() and _has_failed(task)):
            task = asyncio.create_task(self._begin(delivery, request, by), name="slack: a wish")
            self._remember(request.form, task)
        try:
            async with asyncio.timeout(self._timeout):
                taken = await asyncio.shield(task)
        except TimeoutError:
            return {forms.WHAT: _SEND_AGAIN}
        except PortError as problem:
            log.warning("a wish was not begun", extra={"data": {"reason": problem.reason}})
            return {forms.WHAT: sentences(problem.reason, problem.remedy)}
        return {} if taken else wrong_channel_error()

    async def close(self) -> None:
        for task in self._starting.values():
            task.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)

    async def _begin(self, delivery: Delivery, request: FormRequest, by: Person) -> bool:
        title = cut(on_one_line(request.text.partition("\n")[0]), _LONGEST_TITLE) or "A feature"
        root = RootCard(
            key=f"root:{request.form}", session="", title=title, request=request.text, by=str(by)
        )
        thread = await self._open(delivery.thread, root)
        return await self._deliver(thread, _event_of(delivery, request, by))

    def _remember(self, form: str, task: asyncio.Task[bool]) -> None:
        # A form submitted twice, before or after the first was finished, creates only one thread.
        self._starting[form] = task
        old = [name for name, one in self._starting.items() if one.done() and name != form]
        for name in old[: max(0, len(self._starting) - MAX_FORMS)]:
            del self._starting[name]


def _event_of(delivery: Delivery, request: FormRequest, by: Person) -> Said | Commanded:
    if request.spec:
        command = Command(word=Word.SPEC, text=request.text)
        return Commanded(id=delivery.id, at=delivery.at, by=by, command=command)
    return Said(id=delivery.id, at=delivery.at, by=by, text=request.text, mention=True)


def wrong_channel_error() -> Mapping[str, str]:
    """Return the form error for a channel in which the person may not request anything."""
    return {forms.CHANNEL: _WRONG_CHANNEL}


def _has_failed(task: asyncio.Task[bool]) -> bool:
    return task.cancelled() or task.exception() is not None
