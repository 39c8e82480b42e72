"""Slack's own sign of how a thread's session stands, with Slack's own stop button: shown where the workspace has it.

Whether it has it, and in which channels, is found out once a start; no card waits for it, and none fails with it.
"""

from __future__ import annotations

import logging
from enum import StrEnum

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.asides import Asides
from adapters.chat.slack.calling import Answer, Denied, asked
from bot.domain.cards import (
    ApprovalCard,
    Card,
    EarlierCard,
    NeedsYouCard,
    OfferCard,
    PartsCard,
    ProblemCard,
    QuestionsCard,
    ReceivedCard,
    StatusCard,
    StoppedCard,
    SummaryCard,
)
from bot.domain.people import Thread
from bot.domain.states import Phase, Status, TaskState

log = logging.getLogger("bot.slack")

_WITHOUT_STOP = "missing_agent_session_stopped_event_subscription"
_NEVER = frozenset(
    {
        "access_denied",
        "feature_not_enabled",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authorized",
        "unknown_method",
    }
)
_NOT_HERE = frozenset({"method_not_supported_for_channel_type"})
_ENDED = (Status.COMPLETED, Status.DISCARDED)
_ASKING = (Phase.CLARIFYING, Phase.APPROVING, Phase.FINISHING)
_AT_WORK = (
    TaskState.RUNNING,
    TaskState.VERIFYING,
    TaskState.INTEGRATING,
    TaskState.NEEDS_CONTINUATION,
    TaskState.READY,
)
_STUCK = (TaskState.FAILED, TaskState.BLOCKED)


class Sign(StrEnum):
    PROCESSING = "processing"
    """Slack offers its stop button."""
    SUSPENDED = "suspended"
    """A person must act."""
    ACTIVE = "active"
    """Nothing is going on."""
    CLOSED = "closed"


class Native:
    """The last sign that was wanted counts; those in between may be skipped."""

    def __init__(self, client: AsyncWebClient, asides: Asides) -> None:
        self._client = client
        self._asides = asides
        self._wanted: dict[str, Sign] = {}
        self._there = True
        self._without: set[str] = set()
        """Channels of a kind that has no such sign."""

    def tell(self, thread: Thread, card: Card) -> None:
        """Let the thread's sign say what the card means. Returns at once."""
        sign = sign_of(card)
        if sign is None or not self._there or thread.channel in self._without:
            return
        busy = thread.key in self._wanted
        self._wanted[thread.key] = sign
        if not busy:
            self._asides.begin("session status", lambda: self._keep_up(thread))

    async def _keep_up(self, thread: Thread) -> None:
        shown: Sign | None = None
        try:
            while self._there and (wanted := self._wanted[thread.key]) is not shown:
                await self._show(thread, wanted)
                shown = wanted
        finally:
            del self._wanted[thread.key]

    async def _show(self, thread: Thread, sign: Sign) -> None:
        try:
            answer = await self._set(thread, sign)
        except Denied as refusal:
            if refusal.code in _NOT_HERE:
                self._without.add(thread.channel)
            elif refusal.code in _NEVER:
                self._give_up(refusal.code)
            else:
                raise
            return
        if _WITHOUT_STOP in _warnings(answer):
            self._give_up(_WITHOUT_STOP)
            # a sign that says "working" with a stop button nobody hears would stand there for an hour
            await self._set(thread, Sign.ACTIVE)

    async def _set(self, thread: Thread, sign: Sign) -> Answer:
        return await asked(
            "showing how a session stands",
            lambda: self._client.agents_sessions_setStatus(
                channel_id=thread.channel, thread_ts=thread.root, status=sign
            ),
        )

    def _give_up(self, why: str) -> None:
        if self._there:
            log.info("no session status in this workspace", extra={"data": {"why": why}})
        self._there = False


def sign_of(card: Card) -> Sign | None:
    """None: the card says nothing about it."""
    match card:
        case ReceivedCard():
            return Sign.PROCESSING
        case QuestionsCard() | ApprovalCard() | PartsCard() | EarlierCard():
            return Sign.PROCESSING if card.decided else Sign.SUSPENDED
        case NeedsYouCard() | OfferCard():
            return Sign.PROCESSING if card.decided else Sign.SUSPENDED
        case StoppedCard():
            return Sign.PROCESSING if card.decided else Sign.ACTIVE
        case ProblemCard():
            return Sign.SUSPENDED if card.choices else None
        case SummaryCard():
            return Sign.CLOSED
        case StatusCard():
            return _of_status(card)
        case _:
            return None


def _of_status(card: StatusCard) -> Sign:
    if card.status in _ENDED:
        return Sign.CLOSED
    if card.status == Status.PAUSED:
        return Sign.ACTIVE
    states = {task.state for task in card.tasks}
    stuck = bool(states & set(_STUCK)) and not states & set(_AT_WORK)
    if card.status == Status.FAILED or card.phase in _ASKING or stuck:
        return Sign.SUSPENDED
    return Sign.PROCESSING


def _warnings(answer: Answer) -> list[str]:
    more = (answer.get("response_metadata") or {}).get("warnings") or []
    return [*str(answer.get("warning") or "").split(","), *more]
