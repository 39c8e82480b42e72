"""The chat port on a terminal or a pipe: lines become events, cards become text. Nothing here decides anything."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TextIO, TypedDict
from uuid import NAMESPACE_URL, uuid4, uuid5

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.patch_stdout import patch_stdout

from adapters.console import progress, typed
from adapters.console.input import (
    ARROW_KEY,
    PROMPT,
    SWITCH_LINE,
    CompletedWord,
    ConsoleInput,
    PipeInput,
    TerminalInput,
    complete_line,
)
from adapters.console.progress import picks_list
from adapters.console.rendering import ConsoleScreen, on_one_line
from adapters.console.transcript import TERMINAL_CHANNEL, Transcript
from adapters.console.typed import Pick, ends_thread, picks_on
from bot.core.cards import AnswerCard, Card
from bot.core.choices import Command, Word, parse_command
from bot.core.console import ThreadStanding
from bot.core.errors import PortError
from bot.core.events import Commanded, FromPeople, Pressed, Said
from bot.core.people import Person, Thread
from bot.core.sheets import Tone
from bot.core.text import sentences
from bot.ports import Deliver

# How a console is used: by hand or by a script, on which project, and whether each line is waited
# for.

WaitForRest = Callable[[Thread], Awaitable[ThreadStanding]]
"""Returns when nothing moves in the session of that thread without a person."""


@dataclass(frozen=True)
class ConsoleOptions:
    scripted: bool = False
    """Lines come from a script, whatever stdin is; nobody is asked in between."""
    repository: str = ""
    """The folder that requests are about, where somebody named one."""
    copy_of: str = ""
    """What that folder is a temporary copy of."""
    waits: bool = False
    """The next line is read only when what the last one began is finished."""
    finishes: bool = True
    """At the end of a script, what it began is waited for."""
    leaves: bool = True
    """With the last line of a script; else it goes on showing."""
    only_own: bool = False
    """Sessions that it does not talk in are nothing it shows."""
    until_over: bool = False
    """Leaves as soon as the session at hand has ended."""
    words: tuple[tuple[str, str], ...] = ()
    """The commands there are, each with what stands behind it and what it does."""
    own: str = ""
    """Named after something: a project's own conversation, apart from the terminal's."""

    @property
    def channel(self) -> str:
        if not self.own:
            return TERMINAL_CHANNEL
        return f"{TERMINAL_CHANNEL}:{hashlib.sha256(self.own.encode()).hexdigest()[:8]}"


class _PersonLeft(Exception):  # noqa: N818 - what happened, not an error
    """The person has gone, or the pipe has ended."""


class ConsoleChat:
    """One person, one current thread."""

    def __init__(
        self,
        home: Path,
        person: Person,
        *,
        lines: ConsoleInput | None = None,
        out: TextIO | None = None,
        manner: ConsoleOptions | None = None,
    ) -> None:
        self._folder = home / "console"
        self._person = person
        self._manner = manner or ConsoleOptions()
        # None follows sys.stdout, which is replaced while a line is being typed
        self._screen = ConsoleScreen(None if out is sys.stdout else out)
        self._lines = lines or self._lines_of_stdin()
        self._branches = BranchPrompt()
        self._over = asyncio.Event()
        self.standings: dict[str, ThreadStanding] = {}
        """How the sessions that were talked in came to rest last, by thread."""
        self.turned = False
        """Whether the bot has led to a session."""
        self.elsewhere: Thread | None = None
        """Where that session is, if it is in another chat: there it goes on, and is talked in."""
        self.errors = 0
        """Lines that did nothing."""
        self.refused = False
        """Whether the last answer said why something cannot be done."""
        self.moved = False
        """Whether something was asked for or decided on."""

    @property
    def manner(self) -> ConsoleOptions:
        return self._manner

    def works_on(self, repository: str) -> None:
        """From now on requests are about this folder."""
        self._manner = replace(self._manner, repository=repository)

    @property
    def person(self) -> Person:
        """Who sits at it."""
        return self._person

    @property
    def thread(self) -> Thread:
        """The one that is talked in now."""
        return self._transcript.current.thread

    async def listen(self, deliver: Deliver, rest: WaitForRest | None = None) -> None:
        """Hear every line until the person leaves or the pipe ends. `rest` is waited for where each line is."""
        with self._above_the_line():
            await self._transcript.remind()
            try:
                while True:
                    await self._take(await self._next(self._branches.prompt), deliver)
                    if rest and self._manner.waits:
                        await self.rested(rest)
            except _PersonLeft:
                if self.by_hand and not self._over.is_set():
                    await self._transcript.say("Agents go on without you. Come back any time.")
            if not (self.by_hand or self._manner.leaves):
                await asyncio.Event().wait()

    async def rested(self, rest: WaitForRest) -> ThreadStanding:
        """Until nothing moves where this console talks now, and what was shown of it has been seen."""
        while True:
            thread = self.elsewhere or self.thread
            standing = self.standings[thread.key] = await rest(thread)
            if thread == (self.elsewhere or self.thread):
                return standing

    async def do(self, thread: Thread, event: FromPeople, deliver: Deliver) -> None:
        """One deed that was not typed."""
        await self._taken(thread, event, deliver)

    def begin(self) -> Thread:
        """A thread for a session of its own; from now on it is talked in."""
        return self._transcript.current.begin()

    def request(self, text: str) -> Said:
        """What was asked for, as this console says it."""
        return Said(
            **self.mark(),
            text=text,
            repository=self._manner.repository,
            copy_of=self._manner.copy_of,
            unattended=self._manner.scripted,
        )

    @property
    def has_ended(self) -> bool:
        """The session at hand has come to its end while it was looked at."""
        return self._over.is_set()

    async def show(self, thread: Thread, card: Card) -> None:
        if self._manner.only_own and thread != self.thread:
            return
        await self._transcript.put(thread, card)
        if thread == self._transcript.current.thread:
            self._lines.saw(card)
            self._end(card)

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
        if person == self._person and (
            thread == self.thread or not self._manner.only_own or not thread.root
        ):
            self.refused = isinstance(card, AnswerCard) and card.tone is Tone.FAILURE
            await self._transcript.put_aside(thread, card)
            self._lines.saw(card)

    async def tell(self, *sentences: str) -> None:
        """What the program itself has to say, outside of any session."""
        for sentence in sentences:
            await self._transcript.say(sentence)

    async def turn_to(self, thread: Thread) -> None:
        """From now on this is the thread that is talked in."""
        self.turned = True
        if thread.platform == self.thread.platform:
            await self._transcript.turn_to(thread)
        elif self._manner.only_own:
            self.elsewhere = thread

    @cached_property
    def _transcript(self) -> Transcript:
        return Transcript(self._folder, self._person, self._screen, self._manner.channel)

    @property
    def by_hand(self) -> bool:
        """Somebody sits at a terminal; otherwise lines come from a pipe."""
        return self._lines.by_hand

    def _lines_of_stdin(self) -> ConsoleInput:
        if sys.stdin.isatty() and self._screen.terminal and not self._manner.scripted:
            return TerminalInput(self._folder / "history", self)
        return PipeInput(sys.stdin, self._screen)

    def _above_the_line(self) -> AbstractContextManager[None]:
        """Whatever is written appears above the line being typed, and never inside it."""
        return patch_stdout(raw=True) if self.by_hand else nullcontext()

    def below(
        self, width: int, height: int, notice: str = "", picked: int = 0
    ) -> StyleAndTextTuples:
        """What stands below the line being typed, as long as it is being typed."""
        seen = self._transcript
        if chosen := picks_list(self.picks(), picked, width, height):
            return chosen
        return progress.toolbar(
            seen.status, seen.open_card, width, height, notice, branches=self._branches.on
        )

    def picks(self) -> tuple[Pick, ...]:
        """What the arrow keys choose from."""
        return picks_on(self._transcript.open_card)

    def completions(self, line: str) -> tuple[CompletedWord, ...]:
        """What a line that begins with a stroke may become."""
        status = self._transcript.status
        tasks = tuple(task.key for task in status.tasks) if status else ()
        return complete_line(line, self._manner.words, tasks, self._transcript.sessions)

    def _end(self, card: Card) -> None:
        if self._manner.until_over and ends_thread(card):
            self._over.set()

    async def _next(self, prompt: str) -> str:
        line = await self._line_or_end(prompt)
        if line is None:
            raise _PersonLeft
        return line

    async def _line_or_end(self, prompt: str) -> str | None:
        """None also where all that was wanted is over."""
        if not self._manner.until_over:
            return await self._lines.next(prompt)
        line = asyncio.ensure_future(self._lines.next(prompt))
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({line, over}, return_when=asyncio.FIRST_COMPLETED)
            return line.result() if line.done() else None
        finally:
            for task in (line, over):
                task.cancel()
            await asyncio.gather(line, over, return_exceptions=True)

    async def _take(self, line: str, deliver: Deliver) -> None:
        try:
            await self._hear(line, deliver)
        except PortError as problem:
            self.errors += 1
            reason = sentences(f"I could not take that: {problem.reason}", problem.remedy)
            await self._transcript.say(reason, style="bold red")

    async def _taken(self, thread: Thread, event: FromPeople, deliver: Deliver) -> None:
        if not await deliver(thread, event):
            self.errors += 1
        elif not isinstance(event, Commanded):
            self.moved = True

    async def _hear(self, line: str, deliver: Deliver) -> None:
        current = self._transcript.current
        if line == SWITCH_LINE:
            await self._switch(deliver)
            return
        if not self.by_hand and ARROW_KEY in line:
            await self._wrong(
                "Choosing with arrow keys needs a terminal. Write the number instead."
            )
            return
        if not line.strip() and self._transcript.just_changed:
            await self._transcript.say("That came just now. Press Enter again if you agree.")
            return
        match self._branches.meaning(line, self._transcript.open_card):
            case typed.Leaving():
                raise _PersonLeft
            case Command() as command:
                await self._taken(
                    current.thread, Commanded(**self.mark(), command=command), deliver
                )
            case typed.PressedChoice() as press:
                await self._press(press, deliver)
            case typed.FreeText(text=text):
                await self._taken(current.for_talk(), self.request(text), deliver)
            case typed.NoMeaning(why=why):
                await self._wrong(why)

    async def _wrong(self, why: str) -> None:
        self.errors += 1
        await self._transcript.say(why)

    async def _switch(self, deliver: Deliver) -> None:
        """To branch mode and back. Agents do not notice."""
        if command := self._branches.switch():
            event = Commanded(**self.mark(), command=command)
            await self._taken(self._transcript.current.thread, event, deliver)
        else:
            await self._transcript.say("Back in the conversation.")

    async def _press(self, press: typed.PressedChoice, deliver: Deliver) -> None:
        """Ask what the choice wants to know first. Stop counts here, too."""
        thread, choice, text = self._transcript.current.thread, press.choice, press.text
        if choice.asks and not text:
            text = (await self._next(f"{on_one_line(choice.asks)} ")).strip()
            if not text:
                await self._transcript.say("Nothing was changed.")
                return
        answer = (
            await self._next(f"{on_one_line(choice.confirm)} [y/N] ") if choice.confirm else "y"
        )
        if typed.stops(text) or typed.stops(answer):
            stop = Commanded(**self.mark(), command=Command(word=Word.STOP))
            await self._taken(thread, stop, deliver)
        elif typed.agrees(answer):
            chosen = ", ".join(press.answers.values()) or choice.label
            await self._transcript.say(f"You chose: {on_one_line(chosen)}.")
            pressed = Pressed(
                **self.mark(),
                verb=choice.verb,
                about=choice.about,
                text=text,
                answers=press.answers,
            )
            await self._taken(thread, pressed, deliver)
        else:
            await self._transcript.say("Nothing was changed.")

    def mark(self) -> EventMark:
        return {"id": uuid4().hex, "at": datetime.now(UTC), "by": self._person}


class EventMark(TypedDict):
    """What every event of a person carries."""

    id: str
    at: datetime
    by: Person


# The console's other side: Tab leads to the branches and back; agents never notice. The bot
# itself tells what there is to see of branches: here a line only becomes one of its commands.

_LIST_COMMAND = "branches"
_SHOW_COMMAND = "branch"


class BranchPrompt:
    def __init__(self) -> None:
        self.on = False

    @property
    def prompt(self) -> str:
        return f"{_LIST_COMMAND} {PROMPT}" if self.on else PROMPT

    def switch(self) -> Command | None:
        """What is asked for with it: the list. None: back in the conversation."""
        listed = None if self.on else parse_command(_LIST_COMMAND)
        self.on = listed is not None
        return listed

    def meaning(self, line: str, card: Card | None) -> typed.LineMeaning:
        """As in the conversation; but a word is a branch, and sentences belong to the other side."""
        meant = typed.meaning_of(line, card)
        if not (self.on and isinstance(meant, typed.FreeText)):
            return meant
        if command := parse_command(f"{_SHOW_COMMAND} {meant.text}"):
            return command
        return typed.NoMeaning("Write the name of a branch. Tab leads back to the conversation.")
