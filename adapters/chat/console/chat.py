"""The chat port on a terminal or a pipe: lines become events, cards become text. Nothing here decides anything."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TextIO, TypedDict
from uuid import NAMESPACE_URL, uuid4, uuid5

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.patch_stdout import patch_stdout

from adapters.chat.console import progress, typed
from adapters.chat.console.keyboard import TerminalLines
from adapters.chat.console.lines import PROMPT, Lines, PipeLines
from adapters.chat.console.prose import on_one_line
from adapters.chat.console.screen import Screen
from adapters.chat.console.transcript import Transcript
from bot.domain.cards import Card
from bot.domain.choices import Choice, Command, Word
from bot.domain.events import Commanded, Pressed, Said
from bot.domain.people import Person, Thread
from bot.errors import Unavailable
from bot.ports import Deliver


class _Left(Exception):  # noqa: N818 - what happened, not an error
    """The person has gone, or the pipe has ended."""


class ConsoleChat:
    """One person, one current thread."""

    def __init__(
        self, home: Path, person: Person, *, lines: Lines | None = None, out: TextIO | None = None
    ) -> None:
        self._folder = home / "console"
        self._person = person
        # None follows sys.stdout, which is replaced while a line is being typed
        self._screen = Screen(None if out is sys.stdout else out)
        self._lines = lines or self._lines_of_stdin()

    @property
    def person(self) -> Person:
        """Who sits at it."""
        return self._person

    @property
    def thread(self) -> Thread:
        """The one that is talked in now."""
        return self._transcript.current.thread

    async def listen(self, deliver: Deliver) -> None:
        """Hear every line until the person leaves or the pipe ends."""
        with self._above_the_line():
            await self._transcript.remind()
            try:
                while True:
                    await self._take(await self._next(PROMPT), deliver)
            except _Left:
                if self.by_hand:
                    await self._transcript.say("Agents go on without you. Come back any time.")

    async def show(self, thread: Thread, card: Card) -> None:
        await self._transcript.put(thread, card)
        if thread == self._transcript.current.thread:
            self._lines.saw(card)

    async def open(self, thread: Thread, card: Card) -> Thread:
        """The thread that the card begins. Its name follows from the card's key, so twice is once.

        The person stays where they are (`turn_to` is for going there), unless nothing is left to do there.
        """
        root = uuid5(NAMESPACE_URL, f"{thread.platform}:{thread.channel}:{card.key}")
        opened = thread.model_copy(update={"root": str(root)})
        if self._transcript.current.has_ended and thread == self._transcript.current.thread:
            await self._transcript.follow_to(opened, card)
        else:
            await self.show(opened, card)
        return opened

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        if person == self._person:
            await self._transcript.put_aside(thread, card)
            self._lines.saw(card)

    async def tell(self, *sentences: str) -> None:
        """What the program itself has to say, outside of any session."""
        for sentence in sentences:
            await self._transcript.say(sentence)

    async def turn_to(self, thread: Thread) -> None:
        """From now on this is the thread that is talked in."""
        await self._transcript.turn_to(thread)

    @cached_property
    def _transcript(self) -> Transcript:
        return Transcript(self._folder, self._person, self._screen)

    @property
    def by_hand(self) -> bool:
        """Somebody sits at a terminal; otherwise lines come from a pipe."""
        return isinstance(self._lines, TerminalLines)

    def _lines_of_stdin(self) -> Lines:
        if sys.stdin.isatty() and self._screen.terminal:
            return TerminalLines(self._folder / "history", self.below)
        return PipeLines(sys.stdin, self._screen)

    def _above_the_line(self) -> AbstractContextManager[None]:
        """Whatever is written appears above the line being typed, and never inside it."""
        return patch_stdout(raw=True) if self.by_hand else nullcontext()

    def below(self, width: int, height: int, notice: str = "") -> StyleAndTextTuples:
        """What stands below the line being typed, as long as it is being typed."""
        seen = self._transcript
        return progress.toolbar(seen.status, seen.open_card, width, height, notice)

    async def _next(self, prompt: str) -> str:
        line = await self._lines.next(prompt)
        if line is None:
            raise _Left
        return line

    async def _take(self, line: str, deliver: Deliver) -> None:
        try:
            await self._hear(line, deliver)
        except Unavailable as problem:
            reason = f"This was not taken: {problem.reason.rstrip('.')}. {problem.remedy}".rstrip()
            await self._transcript.say(reason, style="bold red")

    async def _hear(self, line: str, deliver: Deliver) -> None:
        current = self._transcript.current
        if not line.strip() and self._transcript.just_changed:
            await self._transcript.say("That came just now. Press Enter again if you agree.")
            return
        match typed.meaning(line, self._transcript.open_card):
            case typed.Leaving():
                raise _Left
            case Command() as command:
                await deliver(current.thread, Commanded(**self._mark(), command=command))
            case typed.Press(choice=choice, text=text):
                await self._press(choice, text, deliver)
            case typed.Talk(text=text):
                await deliver(current.for_talk(), Said(**self._mark(), text=text))
            case typed.Nothing(why=why):
                await self._transcript.say(why)

    async def _press(self, choice: Choice, text: str, deliver: Deliver) -> None:
        """Ask what the choice wants to know first. Stop counts here, too."""
        thread = self._transcript.current.thread
        if choice.asks and not text:
            text = (await self._next(f"{on_one_line(choice.asks)} ")).strip()
            if not text:
                await self._transcript.say("Nothing was changed.")
                return
        answer = (
            await self._next(f"{on_one_line(choice.confirm)} [y/N] ") if choice.confirm else "y"
        )
        if typed.stops(text) or typed.stops(answer):
            await deliver(thread, Commanded(**self._mark(), command=Command(word=Word.STOP)))
        elif typed.agrees(answer):
            await self._transcript.say(f"You chose: {on_one_line(choice.label)}.")
            await deliver(
                thread,
                Pressed(**self._mark(), verb=choice.verb, about=choice.about, text=text),
            )
        else:
            await self._transcript.say("Nothing was changed.")

    def _mark(self) -> _Mark:
        return {"id": uuid4().hex, "at": datetime.now(UTC), "by": self._person}


class _Mark(TypedDict):
    """What every event of a person carries."""

    id: str
    at: datetime
    by: Person
