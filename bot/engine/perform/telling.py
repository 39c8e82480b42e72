"""The one way out to people: everything shown is masked here."""

from __future__ import annotations

from bot.domain.actions import ShowLogs
from bot.domain.cards import AnswerCard, Card
from bot.domain.people import Person
from bot.domain.session import Session
from bot.domain.tasklog import told
from bot.engine.world import World
from bot.errors import Refused
from bot.ports import Chat


def chat_of(world: World, platform: str) -> Chat:
    chat = world.chats.get(platform)
    if chat is None:
        raise Refused(
            f"{platform} is not configured any more", "Configure it again, or use another chat."
        )
    return chat


async def show(world: World, session: Session, card: Card) -> None:
    """Safe to do twice: a card is known by its key and its content."""
    await chat_of(world, session.thread.platform).show(
        session.thread, world.masker.mask_model(card)
    )


async def whisper(world: World, session: Session, to: Person, card: Card) -> None:
    await chat_of(world, session.thread.platform).whisper(
        session.thread, to, world.masker.mask_model(card)
    )


async def show_logs(world: World, session: Session, deed: ShowLogs) -> None:
    """From the files: what happened to a task is too much to be carried in the session."""
    body = told(await world.logbook.read(session.id), deed.task, deed.level)
    card = AnswerCard(key=f"answer:{deed.about}", title="Logs", body=body)
    if deed.to:
        await whisper(world, session, deed.to, card)
    else:
        await show(world, session, card)
