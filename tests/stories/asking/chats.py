"""The bot at work in each chat with agents that play: one who may press, and another who may not."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.beds.slack import AKI, MIKA, Message, SlackBed, invariants
from tests.beds.synapse import Homeserver, People
from tests.stories.asking.plays import Plays
from tests.stories.console_person import SIZE, ConsolePerson
from tests.stories.conversation import PATIENCE, Scene, Talker
from tests.stories.matrix_person import MatrixPerson
from tests.stories.matrix_talker import MatrixTalker
from tests.stories.serving import ROOT, Hold, in_matrix, in_slack, serving
from tests.stories.slack_talker import SlackTalker
from tests.stories.terminal import Terminal

STALE = "That button is no longer current"
REFUSED = "may not do that"
SURE = {"Always": "by itself whenever", "Accept": "Take this work as it is", "Merge": "into your"}
"""On Matrix the bot asks once more, on a card of its own."""


class Presser(Talker, Protocol):
    """Somebody whose bot may die, and who is not alone."""

    async def bot_dies(self) -> None:
        """By kill -9."""
        ...

    async def bot_comes_back(self) -> None: ...

    async def presses_late(self, label: str, on: str) -> None:
        """On a screen that still shows the button; that it does nothing is told to whoever pressed, alone."""
        ...

    async def stranger_presses(self, label: str, on: str) -> None:
        """Somebody who may not; they are told."""
        ...


@dataclass(frozen=True)
class Asked:
    """A scene, whoever talks in it, and its agents."""

    scene: Scene
    person: Presser
    plays: Plays


class AtATerminal(ConsolePerson):
    """Nobody else is there, and a terminal shows nothing that is over."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__(terminal)
        self.terminal = terminal

    async def bot_dies(self) -> None:
        self.terminal.kill()

    async def bot_comes_back(self) -> None:
        self.terminal.start(sys.executable, "-m", "tests.stories.consoled")

    async def presses_late(self, label: str, on: str) -> None:
        await self.sees(on)

    async def stranger_presses(self, label: str, on: str) -> None:
        await self.sees(on)


class InAChannel(SlackTalker):
    def __init__(self, bed: SlackBed) -> None:
        super().__init__(bed)
        self.bed = bed
        self.scene: Scene | None = None

    async def bot_dies(self) -> None:
        assert self.scene
        self.scene.bot.kill()
        await self.bed.until(lambda: not self.bed.sockets.open, PATIENCE)

    async def bot_comes_back(self) -> None:
        assert self.scene
        self.scene.bot.start()
        await self.bed.connected(seconds=PATIENCE)

    async def is_told(self, word: str) -> None:
        """Alone."""
        await self._mika.is_told(word)

    async def presses_late(self, label: str, on: str) -> None:
        card = await self._card(on)
        await self.bed.click(MIKA, card.ts, label, version=0)
        await self._mika.is_told(STALE)

    async def stranger_presses(self, label: str, on: str) -> None:
        card = await self._card(on)
        before = len(self._told())
        await self.bed.click(AKI, card.ts, label)
        await self._mika.until(lambda: len(self._told()) > before, REFUSED, PATIENCE)

    def _told(self) -> list[Message]:
        return [told for told in self.bed.ephemerals(AKI) if REFUSED in told.reads]

    async def _card(self, on: str) -> Message:
        return await self._mika.sees(on, seconds=PATIENCE)


class InARoom(MatrixTalker):
    def __init__(self, mika: MatrixPerson, stranger: MatrixPerson) -> None:
        super().__init__(mika)
        self._stranger, self._pressed = stranger, ""
        self._seen: dict[str, str] = {}
        self.scene: Scene | None = None

    async def bot_dies(self) -> None:
        assert self.scene
        self.scene.bot.kill()

    async def bot_comes_back(self) -> None:
        assert self.scene
        self.scene.bot.start()

    async def presses(self, label: str, on: str = "") -> None:
        """The very chip: what an agent asks has options that begin alike."""
        self._pressed = await self._chip(label, on)
        await self._react(self._pressed, on)
        if sure := SURE.get(label.partition(" ")[0]):
            await self._react(await self._chip(label, sure), sure)

    async def presses_late(self, label: str, on: str) -> None:
        """The bot has taken its chip away; anybody can set it again."""
        card = await self._mika.sees(on, seconds=PATIENCE)
        chip = self._seen.get(label, f"{self._pressed.partition(' ')[0]} {label}")
        await self._mika.person.react(self._mika.room, card.event_id, chip)
        await self._mika.sees(STALE, seconds=PATIENCE)

    async def stranger_presses(self, label: str, on: str) -> None:
        key = self._seen[label] = await self._chip(label, on)
        await self._stranger.person.look()
        await self._stranger.person.react(self._mika.room, self._with(key, on), key)
        await self._mika.sees(REFUSED, seconds=PATIENCE)

    async def _react(self, key: str, on: str) -> None:
        await self._mika.person.react(self._mika.room, self._with(key, on), key)

    def _with(self, key: str, on: str) -> str:
        """The newest card that has the chip."""
        cards = [card for card in self._mika.cards if key in card.keys and on in card.text]
        return cards[-1].event_id


@asynccontextmanager
async def at_a_terminal(folder: Path, **environ: str) -> AsyncGenerator[Asked, None]:
    plays = Plays(folder)
    async with serving(folder, **plays.environ, **environ) as bot:
        assert bot.played
        with Terminal(ROOT, bot.environ, SIZE) as terminal:
            person = AtATerminal(terminal)
            await person.bot_comes_back()
            yield Asked(Scene(person, bot, bot.played, Hold(folder)), person, plays)
            await person.leaves()


@asynccontextmanager
async def in_a_channel(
    folder: Path, agent: str = "other", /, **environ: str
) -> AsyncGenerator[Asked, None]:
    """In the end nothing is left that the bot did not hear, or said where it may not."""
    plays = Plays(folder)
    environ = {**plays.environ, **(plays.claude() if agent == "claude" else {}), **environ}
    async with (
        SlackBed() as bed,
        serving(folder, **in_slack(bed, MIKA), **environ) as bot,
    ):
        assert bot.played
        person = InAChannel(bed)
        person.scene = Scene(person, bot, bot.played, Hold(folder))
        await person.bot_comes_back()
        yield Asked(person.scene, person, plays)
        await bed.all_acked()
        invariants.check(bed, unacked=True)
        assert "Traceback" not in bot.out


@asynccontextmanager
async def in_a_room(
    folder: Path, homeserver: Homeserver, people: People, **environ: str
) -> AsyncGenerator[Asked, None]:
    plays = Plays(folder)
    mika, stranger, account = people("mika"), people("stranger"), people("gwt")
    room = await mika.create_room()
    settings = in_matrix(homeserver.url, account.login, room, mika.id)
    async with serving(folder, **settings, **plays.environ, **environ) as bot:
        assert bot.played
        talker = MatrixPerson(mika, account.id, room)
        person = InARoom(talker, MatrixPerson(stranger, account.id, room))
        person.scene = Scene(person, bot, bot.played, Hold(folder))
        await person.bot_comes_back()
        await talker.invites_the_bot()
        await mika.invite(room, stranger.id)
        await stranger.join(room)
        yield Asked(person.scene, person, plays)
        assert "Traceback" not in bot.out
