"""The only way to people. Everything that is shown is masked here."""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.actions import Show, ShowLogs, Whisper
from bot.core.cards import AnswerCard, Card
from bot.core.errors import Refused
from bot.core.masking import Masker
from bot.core.people import Person, Thread
from bot.core.projections.task_log_views import log_blocks
from bot.core.session import Session
from bot.core.world import CardShown, World, performs
from bot.ports import Chat


@dataclass(frozen=True)
class MaskedChat:
    """A chat that masks everything that is shown through it."""

    chat: Chat
    masker: Masker
    shown: CardShown | None = None
    """Called with what was shown, so that the local page has the threads of all chats."""

    async def show(self, thread: Thread, card: Card) -> None:
        card = self.masker.mask_model(card)
        await self.chat.show(thread, card)
        if self.shown:
            self.shown(thread, card)

    async def open(self, thread: Thread, card: Card) -> Thread:
        card = self.masker.mask_model(card)
        opened = await self.chat.open(thread, card)
        if self.shown:
            self.shown(opened, card)
        return opened

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        await self.chat.whisper(thread, person, self.masker.mask_model(card))

    async def turn_to(self, thread: Thread) -> bool:
        """Tell a chat that shows one thread at a time to switch to this one.

        Return whether the chat is of that kind.
        """
        turn_to = getattr(self.chat, "turn_to", None)
        if turn_to is not None:
            await turn_to(thread)
        return turn_to is not None


def chat_of(world: World, platform: str) -> MaskedChat:
    chat = world.chats.get(platform)
    if chat is None:
        raise Refused(
            f"{platform} is not configured any more", "Configure it again, or use another chat."
        )
    return MaskedChat(chat, world.masker, world.visits.shown)


def is_chat_connected(world: World, platform: str) -> bool:
    return platform in world.chats


async def show(world: World, session: Session, card: Card) -> None:
    """Show a card. Idempotent: a card is recognised by its key and content."""
    await chat_of(world, session.thread.platform).show(session.thread, card)


async def whisper(world: World, session: Session, to: Person, card: Card) -> None:
    """Show a card to one person on their own platform: the operator at the terminal may use commands for sessions of
    other chats.
    """
    there = session.thread
    if to.platform != there.platform:
        there = Thread(platform=to.platform, channel="", root="")
    await chat_of(world, there.platform).whisper(there, to, card)


@performs(Show)
async def perform_show(world: World, session: Session, deed: Show) -> None:
    await show(world, session, deed.card)


@performs(Whisper)
async def perform_whisper(world: World, session: Session, deed: Whisper) -> None:
    await whisper(world, session, deed.to, deed.card)


@performs(ShowLogs)
async def show_logs(world: World, session: Session, deed: ShowLogs) -> None:
    """Show task logs, read from their files: they are too large to be kept in the session."""
    body = log_blocks(await world.logbook.read(session.id), deed.task, deed.level)
    card = AnswerCard(key=f"answer:{deed.about}", title="Logs", body=body)
    if deed.to:
        await whisper(world, session, deed.to, card)
    else:
        await show(world, session, card)
