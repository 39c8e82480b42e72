"""Somebody at the terminal of `gwt-bot console`: types, reads what is on the screen and above it. A `Talker` of the stories."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bot.core.session import Session
from tests.stories.conversation import LOOK_EVERY, PATIENCE, Scene
from tests.stories.serving import ROOT, Hold, serving
from tests.stories.terminal import Terminal

SIZE = (160, 50)
_CARD = re.compile(r"^(?=[•▸?✓✗] )", re.MULTILINE)
"""Only titles begin at the left edge with such a mark."""
_KEYS = re.compile(r"(?:(?<= )|^)(?:Enter|[1-9]) (\S.*?)(?=   |$)")
"""What the last line of the screen offers: `Enter Approve   2 Request changes   3 Discard   Ctrl-D leave`."""


class ConsolePerson:
    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    async def asks(self, text: str) -> None:
        await self._until_seen(lambda screen: "Ctrl-D leave" in screen, "a prompt")
        await self._type(text)

    async def says(self, text: str) -> None:
        await self._type(text)

    async def presses(self, label: str, on: str = "") -> None:
        """By its number among what is offered last."""
        offered: list[str] = []

        def is_offered(screen: str) -> bool:
            offered[:] = _KEYS.findall((screen.rstrip().splitlines() or [""])[-1])
            return label in offered

        await self.sees(f"] {label}", on)
        await self._until_seen(is_offered, f"{label} below the line")
        chosen = f"You chose: {label}."
        before = await self.count(chosen)
        await self._type(str(offered.index(label) + 1))

        async def asks_again_or_is_done() -> bool:
            return _asks_again(await self._screen()) or await self.count(chosen) > before

        await self._until(asks_again_or_is_done, chosen)
        if await self.count(chosen) == before:
            await self._type("y")
        await self._until_more(before, chosen)

    async def sees(self, *words: str) -> None:
        await self._until_more(0, *words)

    async def count(self, *words: str) -> int:
        cards = _cards(await asyncio.to_thread(lambda: self._terminal.shown))
        return sum(all(word in card for word in words) for card in cards)

    async def goes_to(self, session: Session) -> None:
        await self._type(f"info {session.short}")
        await self.sees(f"Now in session {session.short}.")

    async def sees_link_to(self, session: Session) -> None:
        """There is nothing to click in a terminal: the name one can go to."""
        await self.sees("→ ", f" session {session.short}")

    async def leaves(self) -> None:
        self._terminal.press("C-d")
        await asyncio.to_thread(self._terminal.until_ended)

    async def _type(self, text: str) -> None:
        await asyncio.to_thread(self._terminal.type, text)

    async def _screen(self) -> str:
        return await asyncio.to_thread(lambda: self._terminal.screen)

    async def _until_more(self, before: int, *words: str) -> None:
        async def more() -> bool:
            return await self.count(*words) > before

        await self._until(more, " … ".join(words))

    async def _until_seen(self, seen: Callable[[str], bool], wanted: str) -> None:
        """On the screen as it is now."""

        async def is_seen() -> bool:
            return seen(await self._screen())

        await self._until(is_seen, wanted)

    async def _until(self, reached: Callable[[], Awaitable[bool]], wanted: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not await reached():  # noqa: ASYNC110 - another process changes it
                    await asyncio.sleep(LOOK_EVERY)
        except TimeoutError:
            shown = self._terminal.shown[-9000:]
            raise AssertionError(f"«{wanted}» never came; there was:\n{shown}") from None


def _asks_again(screen: str) -> bool:
    """The line being typed is the answer to «are you sure?»"""
    lines = [line for line in screen.splitlines() if "[y/N]" in line]
    return bool(lines) and lines[-1].rstrip().endswith("[y/N]")


def _cards(shown: str) -> list[str]:
    """One after the other, however their lines were broken."""
    return [" ".join(card.split()) for card in _CARD.split(shown)]


@asynccontextmanager
async def at_a_terminal(folder: Path, **environ: str) -> AsyncGenerator[Scene, None]:
    """The bot has been started there, and is at work."""
    async with serving(folder, **environ) as bot:
        assert bot.played
        with Terminal(ROOT, bot.environ, SIZE) as terminal:
            terminal.start(sys.executable, "-m", "tests.stories.consoled")
            person = ConsolePerson(terminal)
            yield Scene(person, bot, bot.played, Hold(folder))
            await person.leaves()
