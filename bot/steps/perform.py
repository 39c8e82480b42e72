"""Carries out one action and returns the resulting event."""

from __future__ import annotations

from types import ModuleType

from bot.core.actions import Action
from bot.core.events import Event
from bot.core.session import Session
from bot.core.world import PERFORMERS, Tell, World
from bot.steps import chat, repository_state
from bot.steps.change import questions as change
from bot.steps.clarify import questions as clarify
from bot.steps.dialogs import work as dialogs
from bot.steps.execute import questions as next_step
from bot.steps.execute import work as execute
from bot.steps.finish import questions as final
from bot.steps.finish import work as finish
from bot.steps.intake import work as intake
from bot.steps.ship import questions as pull_text
from bot.steps.ship import work as ship
from bot.steps.specify import work as specify
from bot.steps.talk import questions as talk
from bot.steps.verify import questions as verdict
from bot.steps.verify import work as verify

MODULES: tuple[ModuleType, ...] = (
    *(chat, repository_state, intake, clarify, specify, execute, next_step, dialogs),
    *(verify, verdict, ship, pull_text, finish, final, change, talk),
)
"""The modules with functions marked `@performs` and with questions about sessions. Importing them registers both."""


async def perform(world: World, session: Session, action: Action, tell: Tell) -> Event | None:
    return await PERFORMERS[type(action)](world, session, action, tell)
