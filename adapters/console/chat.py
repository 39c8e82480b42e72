"""The chat port on a terminal or a pipe: lines become events, cards become text. Nothing is decided here."""

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

# How a console is used: interactively or by a script, on which project, and whether it waits after each line.

WaitUntilIdle = Callable[[Thread], Awaitable[ThreadStanding]]
"""Returns when the thread's session cannot continue without a person."""


@dataclass(frozen=True)
class ConsoleOptions:
    scripted: bool = False
    """Lines come from a script, even on a terminal; nobody is asked in between."""
    repository: str = ""
    """The folder that requests are about, if one was named."""
    copy_of: str = ""
    """The project that the folder is a temporary copy of."""
    waits: bool = False
    """Each line is read only when the work of the previous one is finished."""
    finishes: bool = True
    """At the end of a script, wait for the work it started."""
    leaves: bool = True
    """Leave after the last line of a script; otherwise keep showing cards."""
    only_own: bool = False
    """Show only the session of the current thread."""
    until_over: bool = False
    """Leave as soon as the current session has ended."""
    words: tuple[tuple[str, str], ...] = ()
    """All commands, each with its arguments and its help."""
    own: str = ""
    """Name of a separate conversation, such as that of a project, apart from the terminal's."""

    @property
    def channel(self) -> str:
        if not self.own:
            return TERMINAL_CHANNEL
        return f"{TERMINAL_CHANNEL}:{hashlib.sha256(self.own.encode()).hexdigest()[:8]}"


class _PersonLeft(Exception):  # noqa: N818 - what happened, not an error
    """The person has left, or the pipe has ended."""


class ConsoleChat:
    """A console with one person and one current thread."""

    def __init__(
        self,
        home: Path,
        person: Person,
        *,
        lines: ConsoleInput | None = None,
        out: TextIO | None = None,
        options: ConsoleOptions | None = None,
    ) -> None:
        self._folder = home / "console"
        self._person = person
        self._options = options or ConsoleOptions()
        # None follows sys.stdout, which is replaced while a line is being typed
        self._screen = ConsoleScreen(None if out is sys.stdout else out)
        self._lines = lines or self._lines_of_stdin()
        self._branches = BranchPrompt()
        self._closed = asyncio.Event()
        self.standings: dict[str, ThreadStanding] = {}
        """The last standing of each session used here, by thread."""
        self.turned = False
        """Whether the bot has switched to another session."""
        self.elsewhere: Thread | None = None
        """The thread of that session if it is in another chat, where the conversation goes on."""
        self.errors = 0
        """Number of lines without effect."""
        self.refused = False
        """Whether the last answer was a refusal."""
        self.moved = False
        """Whether something was requested or decided."""

    @property
    def options(self) -> ConsoleOptions:
        return self._options

    def set_repository(self, repository: str) -> None:
        """Set the folder that requests are about."""
        self._options = replace(self._options, repository=repository)

    @property
    def person(self) -> Person:
        """The person at the console."""
        return self._person

    @property
    def thread(self) -> Thread:
        """The current thread."""
        return self._transcript.current.thread

    async def listen(self, deliver: Deliver, wait: WaitUntilIdle | None = None) -> None:
        """Handle every line until the person leaves or the pipe ends.

        `rest` is awaited after each line if the options say so.
        """
        with self._printing_above_prompt():
            await self._transcript.show_reminder()
            try:
                while True:
                    await self._handle_line_safely(await self._next(self._branches.prompt), deliver)
                    if wait and self._options.waits:
                        await self.wait_until_idle(wait)
            except _PersonLeft:
                if self.is_interactive and not self._closed.is_set():
                    await self._transcript.print_message(
                        "Agents go on without you. Come back any time."
                    )
            if not (self.is_interactive or self._options.leaves):
                await asyncio.Event().wait()

    async def wait_until_idle(self, wait: WaitUntilIdle) -> ThreadStanding:
        """Wait until the current session cannot continue without a person, and its cards were shown."""
        while True:
            thread = self.elsewhere or self.thread
            standing = self.standings[thread.key] = await wait(thread)
            if thread == (self.elsewhere or self.thread):
                return standing

    async def deliver_event(self, thread: Thread, event: FromPeople, deliver: Deliver) -> None:
        """Deliver an event that was not typed."""
        await self._deliver(thread, event, deliver)

    def begin_thread(self) -> Thread:
        """Start a new thread for a new session and make it current."""
        return self._transcript.current.begin()

    def request(self, text: str) -> Said:
        """Return a request event with this console's options."""
        return Said(
            **self.mark(),
            text=text,
            repository=self._options.repository,
            copy_of=self._options.copy_of,
            unattended=self._options.scripted,
        )

    @property
    def has_ended(self) -> bool:
        """Whether the current session has ended while it was shown."""
        return self._closed.is_set()

    async def show(self, thread: Thread, card: Card) -> None:
        if self._options.only_own and thread != self.thread:
            return
        await self._transcript.show_card(thread, card)
        if thread == self._transcript.current.thread:
            self._lines.card_shown(card)
            self._note_end(card)

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Return the thread started by the card; its id is derived from the card's key, so that repeating is safe.

        The person stays in the current thread (`turn_to` switches), unless its session has ended.
        """
        root = uuid5(NAMESPACE_URL, f"{thread.platform}:{thread.channel}:{card.key}")
        opened = thread.model_copy(update={"root": str(root)})
        if self._transcript.current.has_ended and thread == self._transcript.current.thread:
            await self._transcript.switch_with_card(opened, card)
        else:
            await self.show(opened, card)
        return opened

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        if person == self._person and (
            thread == self.thread or not self._options.only_own or not thread.root
        ):
            self.refused = isinstance(card, AnswerCard) and card.tone is Tone.FAILURE
            await self._transcript.show_private(thread, card)
            self._lines.card_shown(card)

    async def print_sentences(self, *sentences: str) -> None:
        """Print sentences of the program itself, outside of any session."""
        for sentence in sentences:
            await self._transcript.print_message(sentence)

    async def turn_to(self, thread: Thread) -> None:
        """Make this the current thread."""
        self.turned = True
        if thread.platform == self.thread.platform:
            await self._transcript.turn_to(thread)
        elif self._options.only_own:
            self.elsewhere = thread

    @cached_property
    def _transcript(self) -> Transcript:
        return Transcript(self._folder, self._person, self._screen, self._options.channel)

    @property
    def is_interactive(self) -> bool:
        """Whether somebody sits at a terminal; otherwise lines come from a pipe."""
        return self._lines.by_hand

    def _lines_of_stdin(self) -> ConsoleInput:
        if sys.stdin.isatty() and self._screen.terminal and not self._options.scripted:
            return TerminalInput(self._folder / "history", self)
        return PipeInput(sys.stdin, self._screen)

    def _printing_above_prompt(self) -> AbstractContextManager[None]:
        """Print above the line being typed, never inside it."""
        return patch_stdout(raw=True) if self.is_interactive else nullcontext()

    def toolbar(
        self, width: int, height: int, notice: str = "", picked: int = 0
    ) -> StyleAndTextTuples:
        """Return what is shown below the line being typed."""
        seen = self._transcript
        if chosen := picks_list(self.picks(), picked, width, height):
            return chosen
        return progress.toolbar(
            seen.status, seen.open_card, width, height, notice, branches=self._branches.on
        )

    def picks(self) -> tuple[Pick, ...]:
        """Return what the arrow keys choose from."""
        return picks_on(self._transcript.open_card)

    def completions(self, line: str) -> tuple[CompletedWord, ...]:
        """Return the completions of a line that begins with a slash."""
        status = self._transcript.status
        tasks = tuple(task.key for task in status.tasks) if status else ()
        return complete_line(line, self._options.words, tasks, self._transcript.sessions)

    def _note_end(self, card: Card) -> None:
        if self._options.until_over and ends_thread(card):
            self._closed.set()

    async def _next(self, prompt: str) -> str:
        line = await self._line_or_end(prompt)
        if line is None:
            raise _PersonLeft
        return line

    async def _line_or_end(self, prompt: str) -> str | None:
        """Return the next line; None at the end of input, or when the awaited session has ended."""
        if not self._options.until_over:
            return await self._lines.next_line(prompt)
        line = asyncio.ensure_future(self._lines.next_line(prompt))
        over = asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait({line, over}, return_when=asyncio.FIRST_COMPLETED)
            return line.result() if line.done() else None
        finally:
            for task in (line, over):
                task.cancel()
            await asyncio.gather(line, over, return_exceptions=True)

    async def _handle_line_safely(self, line: str, deliver: Deliver) -> None:
        try:
            await self._handle_line(line, deliver)
        except PortError as problem:
            self.errors += 1
            reason = sentences(f"I could not take that: {problem.reason}", problem.remedy)
            await self._transcript.print_message(reason, style="bold red")

    async def _deliver(self, thread: Thread, event: FromPeople, deliver: Deliver) -> None:
        if not await deliver(thread, event):
            self.errors += 1
        elif not isinstance(event, Commanded):
            self.moved = True

    async def _handle_line(self, line: str, deliver: Deliver) -> None:
        current = self._transcript.current
        if line == SWITCH_LINE:
            await self._switch(deliver)
            return
        if not self.is_interactive and ARROW_KEY in line:
            await self._reject_line(
                "Choosing with arrow keys needs a terminal. Write the number instead."
            )
            return
        if not line.strip() and self._transcript.just_changed:
            await self._transcript.print_message(
                "That came just now. Press Enter again if you agree."
            )
            return
        match self._branches.interpret(line, self._transcript.open_card):
            case typed.Leaving():
                raise _PersonLeft
            case Command() as command:
                await self._deliver(
                    current.thread, Commanded(**self.mark(), command=command), deliver
                )
            case typed.PressedChoice() as press:
                await self._press(press, deliver)
            case typed.FreeText(text=text):
                await self._deliver(current.thread_for_text(), self.request(text), deliver)
            case typed.NoMeaning(why=why):
                await self._reject_line(why)

    async def _reject_line(self, why: str) -> None:
        self.errors += 1
        await self._transcript.print_message(why)

    async def _switch(self, deliver: Deliver) -> None:
        """Switch to branch mode or back. Agents are not affected."""
        if command := self._branches.switch():
            event = Commanded(**self.mark(), command=command)
            await self._deliver(self._transcript.current.thread, event, deliver)
        else:
            await self._transcript.print_message("Back in the conversation.")

    async def _press(self, press: typed.PressedChoice, deliver: Deliver) -> None:
        """Ask what the choice needs first, then press it. A stop command is also accepted as an answer."""
        thread, choice, text = self._transcript.current.thread, press.choice, press.text
        if choice.asks and not text:
            text = (await self._next(f"{on_one_line(choice.asks)} ")).strip()
            if not text:
                await self._transcript.print_message("Nothing was changed.")
                return
        answer = (
            await self._next(f"{on_one_line(choice.confirm)} [y/N] ") if choice.confirm else "y"
        )
        if typed.is_stop(text) or typed.is_stop(answer):
            stop = Commanded(**self.mark(), command=Command(word=Word.STOP))
            await self._deliver(thread, stop, deliver)
        elif typed.is_yes(answer):
            chosen = ", ".join(press.answers.values()) or choice.label
            await self._transcript.print_message(f"You chose: {on_one_line(chosen)}.")
            pressed = Pressed(
                **self.mark(),
                verb=choice.verb,
                about=choice.about,
                text=text,
                answers=press.answers,
            )
            await self._deliver(thread, pressed, deliver)
        else:
            await self._transcript.print_message("Nothing was changed.")

    def mark(self) -> EventMark:
        return {"id": uuid4().hex, "at": datetime.now(UTC), "by": self._person}


class EventMark(TypedDict):
    """The fields of every event of a person."""

    id: str
    at: datetime
    by: Person


# Branch mode: Tab switches to the branches and back; agents are not affected. The bot itself shows the branches: here a
# line only becomes one of its commands.

_LIST_COMMAND = "branches"
_SHOW_COMMAND = "branch"


class BranchPrompt:
    def __init__(self) -> None:
        self.on = False

    @property
    def prompt(self) -> str:
        return f"{_LIST_COMMAND} {PROMPT}" if self.on else PROMPT

    def switch(self) -> Command | None:
        """Switch the mode; return the command that lists branches, or None when back in the conversation."""
        listed = None if self.on else parse_command(_LIST_COMMAND)
        self.on = listed is not None
        return listed

    def interpret(self, line: str, card: Card | None) -> typed.LineMeaning:
        """Return the meaning of a line: as in the conversation, but in branch mode a word is the name of a branch, and
        sentences are rejected.
        """
        meant = typed.interpret_line(line, card)
        if not (self.on and isinstance(meant, typed.FreeText)):
            return meant
        if command := parse_command(f"{_SHOW_COMMAND} {meant.text}"):
            return command
        return typed.NoMeaning("Write the name of a branch. Tab leads back to the conversation.")
