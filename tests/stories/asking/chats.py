"""The bot at work in each chat with agents that play: who may press, who may not, and how often one can press."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from tests.beds.slack import AKI, MIKA, PUBLIC, SlackBed, invariants
from tests.beds.synapse import Homeserver, People
from tests.stories.asking.plays import Plays
from tests.stories.console_person import at_a_terminal
from tests.stories.conversation import PATIENCE, Scene
from tests.stories.matrix_person import MatrixPerson
from tests.stories.matrix_talker import MatrixTalker
from tests.stories.serving import Hold, in_matrix, in_slack, serving
from tests.stories.slack_person import SlackPerson
from tests.stories.slack_talker import SlackTalker

STALE = "That button is no longer current"


class Presser(Protocol):
    """What only a chat with several people has."""

    async def presses_late(self, label: str, on: str) -> None:
        """Somebody who may, on a screen that still shows the button; they alone are told that it does nothing."""
        ...

    async def stranger_presses(self, label: str, on: str) -> None:
        """Somebody who may not. They alone are told."""
        ...


@dataclass(frozen=True)
class Played:
    """A scene, its agents, and who else is there."""

    scene: Scene
    plays: Plays
    others: Presser | None = None
    connected: Callable[[], AbstractAsyncContextManager[None]] | None = None


class SlackPresser:
    def __init__(self, bed: SlackBed, mika: SlackPerson) -> None:
        self._bed, self._mika = bed, mika

    async def presses_late(self, label: str, on: str) -> None:
        card = await self._mika.sees(on)
        await self._bed.click(MIKA, card.ts, label, version=0)
        await self._mika.is_told(STALE)

    async def stranger_presses(self, label: str, on: str) -> None:
        card = await self._mika.sees(on, seconds=PATIENCE)
        await self._bed.click(AKI, card.ts, label)
        told = self._bed.ephemerals
        await self._mika.until(
            lambda: any("may not" in one.reads for one in told(AKI)), "a refusal", PATIENCE
        )


class MatrixPresser:
    def __init__(self, mika: MatrixPerson, stranger: MatrixPerson) -> None:
        self._mika, self._stranger = mika, stranger
        self._chip = ""

    async def presses_late(self, label: str, on: str) -> None:
        """The bot has taken its chip away; the emoji can still be set."""
        card = await self._mika.sees(on, seconds=PATIENCE)
        await self._mika.person.react(self._mika.room, card.event_id, self._chip)
        await self._mika.sees(STALE, seconds=PATIENCE)

    async def stranger_presses(self, label: str, on: str) -> None:
        self._stranger.root = self._mika.root
        await self._mika.until(lambda: bool(self._chips(label, on)), PATIENCE)
        card, self._chip = self._chips(label, on)[-1]
        await self._stranger.person.look()
        await self._stranger.person.react(self._mika.room, card, self._chip)
        await self._mika.sees("may not", seconds=PATIENCE)

    def _chips(self, label: str, on: str) -> list[tuple[str, str]]:
        return [
            (card.event_id, key)
            for card in self._mika.cards
            for key in card.keys
            if on in card.text and key.partition(" ")[2] == label
        ]


@asynccontextmanager
async def in_slack_with_others(folder: Path, **environ: str) -> AsyncGenerator[Played, None]:
    plays = Plays(folder)
    settings = {**in_slack(bed := SlackBed(), MIKA), **plays.environ, **environ}
    async with bed, serving(folder, **{**settings, "SLACK_API_URL": bed.api_url}) as bot:
        assert bot.played
        bot.start()
        await bed.connected(seconds=PATIENCE)
        talker = SlackTalker(bed)
        scene = Scene(talker, bot, bot.played, Hold(folder))
        yield Played(scene, plays, SlackPresser(bed, talker._mika))
        await bed.all_acked()
        invariants.check(bed)
