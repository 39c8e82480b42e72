"""SlackChat implements the chat port; it assembles the parts that listen to Slack and post there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

from adapters.posting import PostingLedger, WriteTurns
from adapters.slack.access import Identity, SharedChannels, WorkspaceMembers, check_installation
from adapters.slack.assistant import SessionTitles
from adapters.slack.client import ConnectionHealth, SlackAccess, new_client, session_for
from adapters.slack.connection import ChannelMarks, HttpMode, SocketMode, SocketTiming
from adapters.slack.files import Attachments, SlackFiles
from adapters.slack.history import EarlierConversation, MissedMessages
from adapters.slack.incoming import FormRequests, SlackReceiver
from adapters.slack.messages import SupportedBlocks
from adapters.slack.outgoing import BETWEEN_EDITS, SlackGateway
from adapters.slack.payloads import PayloadContext
from adapters.slack.views import NOTICE_SECONDS, PersonalViews
from bot.core.cards import Card
from bot.core.errors import Unavailable
from bot.core.people import Person, Thread
from bot.ports import Deliver, MayAsk, nobody_may_ask

log = logging.getLogger("bot.slack")

CHANNEL_BURST = 20
"""Size of the burst of messages per channel; after it Slack allows one message per second."""
LONGEST_PAUSE = 30.0


class SlackChat:
    """Use with `async with`: entering checks that Slack accepts the bot; a Slack that does not answer does not prevent
    the start.

    `places`: the channels of the allow-list, by full id.
    """

    def __init__(
        self,
        access: SlackAccess,
        folder: Path,
        places: Iterable[str],
        *,
        rhythm: SocketTiming | None = None,
        turns: WriteTurns | None = None,
        shared: Collection[str] = (),
        may_ask: MayAsk = nobody_may_ask,
        several_repositories: bool = True,
        between_edits: float = BETWEEN_EDITS,
        notice: float = NOTICE_SECONDS,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._between_edits, self._notice, self._now = between_edits, notice, now
        self._several_repositories = several_repositories
        self._access = access
        self._folder = folder
        self._places = frozenset(places)
        self._shared = frozenset(shared)
        self._may_ask = may_ask
        self._timing = rhythm or SocketTiming()
        self._turns = turns or WriteTurns(burst=CHANNEL_BURST, seconds=1.0)
        self._identity: Identity | None = None
        self.health = ConnectionHealth(by_socket=access.by_socket)

    async def __aenter__(self) -> Self:
        # without storage the bot must not start
        self._ledger = await asyncio.to_thread(PostingLedger, self._folder / "cards.jsonl")
        self._session = session_for(self._access)
        try:
            self._client = new_client(self._access, self._session)
            self._views = PersonalViews(self._client, self.health, notice=self._notice)
            self._titles = SessionTitles(self._client, self._ledger)
            self._gateway = SlackGateway(
                self._client,
                self._ledger,
                self._turns,
                supported_blocks=await asyncio.to_thread(
                    SupportedBlocks, self._folder / "refused.json"
                ),
                screens=self._views,
                edit_interval=self._between_edits,
                now=self._now,
            )
            await self._connect()
        except Unavailable as trouble:
            log.warning("Slack is not there yet, I keep trying: %s", trouble.reason)
        except BaseException:
            await self._session.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._views.close()
        await self._titles.close()
        await self._gateway.close()
        await self._session.close()

    async def listen(self, deliver: Deliver) -> None:
        """Deliver messages until cancelled. Raises Refused if Slack no longer accepts the app."""
        us = await self._wait_for_identity()
        seen = await asyncio.to_thread(ChannelMarks, self._folder / "heard.json")
        reception = self._reception(us, seen, deliver)
        missed = MissedMessages(
            self._client,
            us,
            seen,
            reception.handle_payload,
            channels=self._channels(us),
            direct=f"{us.team}:dm" in self._places,
            threads=self._ledger.threads,
        )
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(missed.run(), name="slack: missed")
                group.create_task(self._ear(reception, missed).listen(), name="slack: listening")
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from problems.exceptions[0].__cause__
        finally:
            await reception.close()

    async def show(self, thread: Thread, card: Card) -> None:
        await self._gateway.show(thread, card)
        self._titles.set_from_card(thread, card)

    async def open(self, thread: Thread, card: Card) -> Thread:
        return await self._gateway.open(thread, card)

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        await self._gateway.whisper(thread, person, card)

    def _reception(self, us: Identity, seen: ChannelMarks, deliver: Deliver) -> SlackReceiver:
        people = WorkspaceMembers(self._client, us.team, monotonic=monotonic)
        earlier = EarlierConversation(self._client, us, people, self._ledger.has_cards)
        files = SlackFiles(self._client, self._ledger.has_cards)
        return SlackReceiver(
            self._access,
            self._client,
            us,
            people,
            deliver,
            now=lambda: datetime.now(UTC),
            screens=self._views,
            form_requests=FormRequests(self._gateway.open, deliver),
            marks=seen,
            shared=SharedChannels(self._shared),
            known=PayloadContext(
                questions=self._ledger.questions,
                settings=self._views.home.settings,
                at_work_in=self._ledger.has_cards,
                unseen=self._unseen,
                channels=tuple(self._channels(us)),
                several_repositories=self._several_repositories,
            ),
            on_talk=self._gateway.note_talk,
            attachments=Attachments((files.fetch, earlier.fetch), self._may_ask),
        )

    def _unseen(self, thread: Thread, ts: str) -> tuple[str, ...]:
        # a message's timestamp, given by Slack, is also its position in the channel, for the bot's messages as for all
        # others
        return self._ledger.unseen(thread, lambda card: float(card) > float(ts))

    def _ear(self, reception: SlackReceiver, missed: MissedMessages) -> SocketMode | HttpMode:
        if not self._access.by_socket:
            return HttpMode(self._access, reception.app)
        return SocketMode(
            self._client,
            self._access.app_token,
            reception.app,
            on_gap=missed.note_gap,
            timing=self._timing,
            health=self.health,
        )

    async def _wait_for_identity(self) -> Identity:
        """Return the bot's identity, retrying for as long as Slack does not answer."""
        pause = 1.0
        while True:
            try:
                return self._identity or await self._connect()
            except Unavailable as trouble:
                log.warning("Slack is not there yet", extra={"data": {"why": trouble.reason}})
                await asyncio.sleep(max(pause, trouble.retry_after or 0))
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _connect(self) -> Identity:
        us = await check_installation(self._client, self._access, self._places)
        self._identity = us
        return us

    def _channels(self, us: Identity) -> list[str]:
        """Return the allowed channels of this workspace, which are read again after a gap."""
        listed = (place.partition(":") for place in sorted(self._places))
        return [channel for team, _, channel in listed if team == us.team and channel != "dm"]
