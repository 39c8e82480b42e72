"""Slack's features for agents, in workspaces that have them: session status with a stop button, session titles,
suggested prompts.
"""

from __future__ import annotations

import hashlib
import logging
from enum import StrEnum

from slack_sdk.web.async_client import AsyncWebClient

from adapters.posting import PlacedCard, PostingLedger
from adapters.slack.blocks.text import on_one_line
from adapters.slack.client import BackgroundTasks, SlackAnswer, SlackDenied, call_slack
from bot.core.cards import (
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
from bot.core.errors import Refused, Unavailable
from bot.core.people import Thread
from bot.core.states import Phase, Status, TaskState
from bot.core.text import cut

# Slack's own status of a thread's session, with its stop button. Whether the workspace supports it, and in which
# channels, is found out once per start; no card waits for it, and no card fails because of it.

log = logging.getLogger("bot.slack")

_STOP_NOT_SUBSCRIBED = "missing_agent_session_stopped_event_subscription"
_NOT_IN_WORKSPACE_ERRORS = frozenset(
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
_WITHOUT_STATUS_ERRORS = frozenset({"method_not_supported_for_channel_type"})
_ENDED_STATUSES = (Status.COMPLETED, Status.DISCARDED)
_ASKING_PHASES = (Phase.CLARIFYING, Phase.APPROVING, Phase.FINISHING)
_WORKING_STATES = (
    TaskState.RUNNING,
    TaskState.VERIFYING,
    TaskState.INTEGRATING,
    TaskState.NEEDS_CONTINUATION,
    TaskState.READY,
)
_PROBLEM_STATES = (TaskState.FAILED, TaskState.BLOCKED)


class AgentStatus(StrEnum):
    PROCESSING = "processing"
    """The agent works; Slack shows its stop button."""
    SUSPENDED = "suspended"
    """A person must act."""
    ACTIVE = "active"
    """Nothing is going on."""
    CLOSED = "closed"


class AgentStatuses:
    """Keep Slack's session status of each thread current.

    Only the last requested status counts; earlier ones may be skipped.
    """

    def __init__(self, client: AsyncWebClient, background: BackgroundTasks) -> None:
        self._client = client
        self._background = background
        self._wanted: dict[str, AgentStatus] = {}
        self._supported = True
        self._without: set[str] = set()
        """Channels of a kind that does not support a session status."""

    def show_for_card(self, thread: Thread, card: Card) -> None:
        """Show the status that follows from the card, in the background."""
        sign = agent_status_of(card)
        if sign is None or not self._supported or thread.channel in self._without:
            return
        busy = thread.key in self._wanted
        self._wanted[thread.key] = sign
        if not busy:
            self._background.start("session status", lambda: self._keep_up(thread))

    async def _keep_up(self, thread: Thread) -> None:
        shown: AgentStatus | None = None
        try:
            while self._supported and (wanted := self._wanted[thread.key]) is not shown:
                await self._show(thread, wanted)
                shown = wanted
        finally:
            del self._wanted[thread.key]

    async def _show(self, thread: Thread, sign: AgentStatus) -> None:
        try:
            answer = await self._set(thread, sign)
        except SlackDenied as refusal:
            if refusal.code in _WITHOUT_STATUS_ERRORS:
                self._without.add(thread.channel)
            elif refusal.code in _NOT_IN_WORKSPACE_ERRORS:
                self._disable(refusal.code)
            else:
                raise
            return
        if _STOP_NOT_SUBSCRIBED in _warnings(answer):
            self._disable(_STOP_NOT_SUBSCRIBED)
            # a status "working" whose stop button is not delivered to the bot would stay for an hour
            await self._set(thread, AgentStatus.ACTIVE)

    async def _set(self, thread: Thread, sign: AgentStatus) -> SlackAnswer:
        return await call_slack(
            "showing how a session stands",
            lambda: self._client.agents_sessions_setStatus(
                channel_id=thread.channel, thread_ts=thread.root, status=sign
            ),
        )

    def _disable(self, why: str) -> None:
        if self._supported:
            log.info("no session status in this workspace", extra={"data": {"why": why}})
        self._supported = False


def agent_status_of(card: Card) -> AgentStatus | None:
    """Return the session status that follows from the card, or None if the card does not change it."""
    match card:
        case ReceivedCard():
            return AgentStatus.PROCESSING
        case QuestionsCard() | ApprovalCard() | PartsCard() | EarlierCard():
            return AgentStatus.PROCESSING if card.decided else AgentStatus.SUSPENDED
        case NeedsYouCard() | OfferCard():
            return AgentStatus.PROCESSING if card.decided else AgentStatus.SUSPENDED
        case StoppedCard():
            return AgentStatus.PROCESSING if card.decided else AgentStatus.ACTIVE
        case ProblemCard():
            return AgentStatus.SUSPENDED if card.choices else None
        case SummaryCard():
            return AgentStatus.CLOSED
        case StatusCard():
            return _status_of_session(card)
        case _:
            return None


def _status_of_session(card: StatusCard) -> AgentStatus:
    if card.status in _ENDED_STATUSES:
        return AgentStatus.CLOSED
    if card.status == Status.PAUSED:
        return AgentStatus.ACTIVE
    states = {task.state for task in card.tasks}
    stuck = bool(states & set(_PROBLEM_STATES)) and not states & set(_WORKING_STATES)
    if card.status == Status.FAILED or card.phase in _ASKING_PHASES or stuck:
        return AgentStatus.SUSPENDED
    return AgentStatus.PROCESSING


def _warnings(answer: SlackAnswer) -> list[str]:
    more = (answer.get("response_metadata") or {}).get("warnings") or []
    return [*str(answer.get("warning") or "").split(","), *more]


# The title of a session in Slack's list of sessions: set once per title, so that a title a person has set since is not
# overwritten.

LONGEST_TITLE = 200
TITLE_KEY = "session title"
_SESSION_UNKNOWN_ERRORS = frozenset({"session_not_found", "channel_not_found", "not_in_channel"})


class SessionTitles:
    """Set session titles. A title that was set is recorded, so that it is not set again after a restart."""

    def __init__(self, client: AsyncWebClient, ledger: PostingLedger) -> None:
        self._client = client
        self._ledger = ledger
        self._background = BackgroundTasks()
        self._supported = True
        self._under_way: set[str] = set()

    def set_from_card(self, thread: Thread, card: Card) -> None:
        """Set the title from a status card, in the background.

        Other cards are ignored: only the status card carries the title.
        """
        title = cut(on_one_line(card.title), LONGEST_TITLE) if isinstance(card, StatusCard) else ""
        if not title or not self._supported or thread.key in self._under_way:
            return
        digest = hashlib.sha256(title.encode()).hexdigest()
        placed = self._ledger.find(thread, TITLE_KEY)
        if placed is None or placed.digest != digest:
            self._under_way.add(thread.key)
            self._background.start("a title", lambda: self._set_title(thread, title, digest))

    async def close(self) -> None:
        await self._background.close()

    async def _set_title(self, thread: Thread, title: str, digest: str) -> None:
        try:
            await call_slack(
                "naming a session",
                lambda: self._client.agents_sessions_rename(
                    channel_id=thread.channel, thread_ts=thread.root, title=title
                ),
            )
        except SlackDenied as refusal:
            # if Slack does not know the session yet, the next card tries again
            self._supported = refusal.code in _SESSION_UNKNOWN_ERRORS
            log.info("a session has no title here", extra={"data": {"why": refusal.code}})
        else:
            self._note(thread, digest)
        finally:
            self._under_way.discard(thread.key)

    def _note(self, thread: Thread, digest: str) -> None:
        try:
            self._ledger.record_posted(
                PlacedCard(thread=thread, key=TITLE_KEY, revision=1, digest=digest)
            )
        except Unavailable as full:
            log.warning("not noted", extra={"data": {"why": full.reason}})


# Suggested prompts in direct conversations with the bot, set once per start and channel.

PROMPTS = (
    ("Ask for a feature", "Add "),
    ("What waits for me?", "inbox"),
    ("What is running?", "sessions"),
    ("What do you understand?", "help"),
)
"""Title and message of each prompt. The manifest repeats them for the time before the bot runs."""
MAX_REMEMBERED_CHANNELS = 1_000


class SuggestedPrompts:
    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._supported = True
        self._suggested: dict[str, None] = {}

    async def suggest(self, channel: str) -> None:
        """Set the suggested prompts in a one-to-one conversation with the bot."""
        if not self._supported or channel in self._suggested:
            return
        self._suggested[channel] = None
        while len(self._suggested) > MAX_REMEMBERED_CHANNELS:
            del self._suggested[next(iter(self._suggested))]
        prompts = [{"title": title, "message": message} for title, message in PROMPTS]
        try:
            # no thread is named: for an agent, Slack would accept the call and do nothing
            await call_slack(
                "suggesting prompts",
                lambda: self._client.assistant_threads_setSuggestedPrompts(
                    channel_id=channel, prompts=prompts
                ),
            )
        except Refused as refused:
            self._supported = False
            log.info("no suggested prompts here", extra={"data": {"why": refused.reason}})
