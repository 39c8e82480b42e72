"""Where a person's lines come from: the keyboard, a pipe, or the demo, which plays the person."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.styles import Style
from rich.text import Text as Words

from adapters.console.rendering import ConsoleScreen
from adapters.console.typed import OpenCards, Pick, ends_thread, primary_choice
from bot.core.cards import Card, SummaryCard
from bot.core.layout import lay_out
from bot.core.people import Thread
from bot.core.states import OverallStatus

# What the console asks of its input, and lines from a pipe.

PROMPT = "› "
"""What stands before a line that nothing was asked for. Any other prompt is a question."""


SWITCH_LINE = "\t"
"""The line that Tab is: to branch mode and back."""
ARROW_KEY = "\x1b["
"""What an arrow key sends begins so."""


class ConsoleInput(Protocol):
    by_hand: bool
    """Somebody sits at a terminal."""

    async def next(self, prompt: str) -> str | None:
        """The next line; empty: the person agrees to what is proposed. None: there are no more."""
        ...

    def saw(self, card: Card) -> None:
        """The person has seen a card of the current thread."""
        ...


class PipeInput:
    """Lines of a pipe or a file. Empty ones are skipped: nobody agrees to anything by a blank line in a script."""

    by_hand = False

    def __init__(self, source: TextIO, screen: ConsoleScreen) -> None:
        self._source = source
        self._screen = screen
        self._pending = b""
        self._ended = False

    async def next(self, prompt: str) -> str | None:
        if prompt != PROMPT:
            self._screen.write(self._screen.rendered(Words(prompt)))
        while (line := await self._line()) is not None:
            if line.strip():
                return line
        return None

    def saw(self, card: Card) -> None:
        """A script does not look."""

    async def _line(self) -> str | None:
        while b"\n" not in self._pending and not self._ended:
            chunk = await self._chunk()
            self._pending += chunk
            self._ended = not chunk
        line, found, self._pending = self._pending.partition(b"\n")
        return line.decode("utf-8", "replace") if found or line else None

    async def _chunk(self) -> bytes:
        """What can be read now. No thread waits for it: it would keep the whole program from ending."""
        try:
            descriptor = self._source.fileno()
        except OSError:  # a text in memory, which has none
            return self._source.readline().encode()
        # a regular file or /dev/null cannot be waited for, and need not
        with suppress(PermissionError):
            await _wait_until_readable(descriptor)
        return await asyncio.to_thread(os.read, descriptor, 65536)


async def _wait_until_readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


# Lines typed at a terminal: a history, a live toolbar, and keys that do what K1 of the contract
# says.


class ConversationView(Protocol):
    """What the keyboard knows of the conversation."""

    def below(self, width: int, height: int, notice: str, picked: int) -> StyleAndTextTuples:
        """What stands below the line. `notice`: what the keyboard itself has to say; `picked`: by arrow keys, from 1."""
        ...

    def picks(self) -> tuple[Pick, ...]: ...

    def completions(self, line: str) -> tuple[CompletedWord, ...]: ...


_STYLE = Style.from_dict(
    {
        "bottom-toolbar": "noreverse",
        "faint": "dim",
        "running": "ansicyan",
        "verifying": "ansicyan",
        "integrating": "ansicyan",
        "needscontinuation": "ansimagenta",
        "completed": "ansigreen",
        "failed": "ansired",
        "blocked": "ansired",
    }
)
_LEAVING_NOTICE = "Ctrl-C once more leaves. Agents go on."


class TerminalInput:
    by_hand = True

    def __init__(self, history: Path, view: ConversationView) -> None:
        self._history = history
        self._view = view
        self._picked = 0
        self._offered: tuple[Pick, ...] = ()
        self._draft = ""
        self._leaving = False
        self._talk: PromptSession[str] | None = None
        self._question: PromptSession[str] | None = None

    async def next(self, prompt: str) -> str | None:
        session = self._session(prompt)
        draft, self._draft, self._leaving, self._picked = self._draft, "", False, 0
        try:
            return await session.prompt_async([("bold", prompt)], default=draft)
        except EOFError:
            return None

    def saw(self, card: Card) -> None:
        for session in (self._talk, self._question):
            if session:
                session.app.invalidate()

    def _session(self, prompt: str) -> PromptSession[str]:
        """Answers to questions are kept out of the history of what was asked for."""
        if prompt.endswith(PROMPT):
            self._talk = self._talk or self._prompting(_RequestHistory.at(self._history))
            return self._talk
        self._question = self._question or self._prompting(InMemoryHistory())
        return self._question

    def _prompting(self, history: FileHistory | InMemoryHistory) -> PromptSession[str]:
        session = PromptSession[str](
            history=history,
            completer=_CommandCompleter(self._view),
            complete_while_typing=Condition(_is_command),
            reserve_space_for_menu=8,
            bottom_toolbar=self._toolbar,
            key_bindings=self._keys(),
            style=_STYLE,
        )
        # how long a lone Esc may still be the beginning of another key
        session.app.ttimeoutlen = 0.05
        session.app.timeoutlen = 0.1
        return session

    def _toolbar(self) -> StyleAndTextTuples:
        size = get_app().output.get_size()
        notice = _LEAVING_NOTICE if self._leaving else ""
        return self._view.below(size.columns, size.rows, notice, self._chosen())

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        typing = ~Condition(lambda: get_app().layout.is_searching)
        keys.add(Keys.Escape, filter=typing)(self._stop)
        keys.add(Keys.ControlC)(self._interrupted)
        keys.add(Keys.SIGINT)(self._interrupted)
        empty = typing & Condition(lambda: not get_app().current_buffer.text)
        picked = empty & Condition(lambda: self._chosen() > 0)
        keys.add(Keys.Down, filter=empty & Condition(lambda: bool(self._view.picks())))(self._down)
        keys.add(Keys.Up, filter=picked)(self._up)
        keys.add(Keys.Enter, filter=picked)(self._take)
        command = Condition(_is_command)
        keys.add(Keys.Tab, filter=typing & ~command)(self._switch)
        return keys

    def _chosen(self) -> int:
        """Nothing, as soon as something else is offered or something is typed."""
        if self._picked and (self._view.picks() != self._offered or get_app().current_buffer.text):
            self._picked = 0
        return self._picked

    def _down(self, event: KeyPressEvent) -> None:
        del event
        chosen, self._offered = self._chosen(), self._view.picks()
        self._picked = min(chosen + 1, len(self._offered))

    def _up(self, event: KeyPressEvent) -> None:
        """Above the first one nothing is chosen any more."""
        del event
        self._picked -= 1

    def _take(self, event: KeyPressEvent) -> None:
        event.app.exit(result=self._offered[self._picked - 1].line)

    def _switch(self, event: KeyPressEvent) -> None:
        """What was being typed is there again on the other side."""
        self._draft = event.current_buffer.text
        event.current_buffer.reset()
        event.app.exit(result=SWITCH_LINE)

    def _stop(self, event: KeyPressEvent) -> None:
        """At once; what was being typed is there again afterwards."""
        following = event.key_processor.key_buffer[1:]
        if following and following[0].key is not Keys.CPRResponse:
            # Alt and a letter: it begins with the code of Esc, and must not stop anything. What the
            # terminal itself says about its cursor may come right behind an Esc that somebody pressed
            return
        self._draft = event.current_buffer.text
        event.current_buffer.reset()
        event.app.exit(result="stop")

    def _interrupted(self, event: KeyPressEvent) -> None:
        """Never ends anything by surprise: first the line is cleared, then it says how to leave, then it leaves."""
        if event.current_buffer.text:
            event.current_buffer.reset()
            self._leaving = False
        elif self._leaving:
            event.app.exit(result=None)
        else:
            self._leaving = True
            event.app.invalidate()


def _is_command() -> bool:
    return get_app().current_buffer.text.startswith("/")


class _CommandCompleter(Completer):
    """Only behind a stroke: whoever writes a sentence is left alone."""

    def __init__(self, view: ConversationView) -> None:
        self._view = view

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        del complete_event
        line = document.text_before_cursor
        begun = -len(line.rpartition(" ")[2])
        for one in self._view.completions(line):
            yield Completion(one.text, begun, display=one.shown, display_meta=one.told)


class _RequestHistory(FileHistory):
    """What was asked for. Numbers and `y` are not worth coming back to."""

    @classmethod
    def at(cls, path: Path) -> _RequestHistory:
        path.touch(mode=0o600)
        return cls(path)

    def append_string(self, string: str) -> None:
        if len(string.strip()) > 2:
            super().append_string(string)


# What a line that begins with a slash may become: the commands there are, and what can stand
# behind them.

CommandHelp = Sequence[tuple[str, str]]
"""As `help` lists them: `resume [id]`, and what it does."""


@dataclass(frozen=True)
class CompletedWord:
    text: str
    """Instead of the word being typed."""
    shown: str
    told: str = ""


def complete_line(
    line: str, words: CommandHelp, tasks: Sequence[str], sessions: Sequence[str]
) -> tuple[CompletedWord, ...]:
    """`tasks` and `sessions` are the names that can stand behind a command."""
    if not line.startswith("/"):
        return ()
    head, behind, begun = line.partition(" ")
    if not behind:
        return tuple(_commands_beginning(head, words))
    names = next(
        (
            _argument_names(told, tasks, sessions)
            for told, _ in words
            if _command_word(told) == head
        ),
        (),
    )
    return tuple(CompletedWord(name, name) for name in names if name.startswith(begun.strip()))


def _commands_beginning(begun: str, words: CommandHelp) -> Iterator[CompletedWord]:
    for told, meaning in words:
        word = _command_word(told)
        if word.startswith(begun.lower()):
            takes = _arguments_of(told)
            yield CompletedWord(f"{word} " if takes else word, f"{word} {takes}".rstrip(), meaning)


def _command_word(told: str) -> str:
    """`catch up` is written in one."""
    return "/" + ("catchup" if told.startswith("catch up") else told.partition(" ")[0])


def _arguments_of(told: str) -> str:
    return "" if told.startswith("catch up") else told.partition(" ")[2]


def _argument_names(told: str, tasks: Sequence[str], sessions: Sequence[str]) -> Sequence[str]:
    behind = _arguments_of(told)
    if "T001" in behind or "task" in behind:
        return tasks
    return sessions if "id" in behind else ()


# The demo plays the person: its lines are shown as they are typed, and marked as the demo's.

WELCOME_CARD = "welcome"
"""The key of the card that lists what is unfinished."""
MOST_CHOICES = 20
"""Choices it takes. A story that wants more is not coming to its end."""
_DEMO_THREAD = Thread(platform="console", channel="terminal", root="auto")


class DemoInput:
    """Asks for `request`, then takes what every card proposes, until the session is over."""

    by_hand = False

    def __init__(self, request: str, delay: float, out: TextIO | None = None) -> None:
        self._request = request
        self._delay = delay
        self._screen = ConsoleScreen(out)
        self._asked = False
        self._over = False
        self._pressed_so_far = 0
        self.completed = False
        """The story came to a good end."""
        self._open = OpenCards()
        self._pressed: Card | None = None
        self._news = asyncio.Event()

    async def next(self, prompt: str) -> str | None:
        if prompt != PROMPT:
            return self._type(prompt, "y")
        if not self._asked:
            self._asked = True
            return self._type(prompt, self._request)
        while not self._over and self._pressed_so_far < MOST_CHOICES:
            card = self._open.newest(_DEMO_THREAD)
            number = _proposed_number(card) if card and card != self._pressed else 0
            if not number:
                self._news.clear()
                await self._news.wait()
                continue
            await asyncio.sleep(self._delay)
            if card == self._open.newest(_DEMO_THREAD):
                self._pressed = card
                self._pressed_so_far += 1
                return self._type(prompt, str(number))
        return None

    def saw(self, card: Card) -> None:
        # there is work from an earlier time: it goes on, and nothing is asked for anew
        self._asked = self._asked or card.key == WELCOME_CARD
        self._open.take(_DEMO_THREAD, card)
        self._over = self._over or ends_thread(card)
        if isinstance(card, SummaryCard):
            self.completed = card.result.overall_status is OverallStatus.COMPLETE
        self._news.set()

    def _type(self, prompt: str, line: str) -> str:
        words = Words.assemble((prompt, "bold"), line, ("   typed by the demo", "dim italic"))
        self._screen.write(self._screen.rendered(words))
        return line


def _proposed_number(card: Card) -> int:
    """The number of what Enter would press; 0: nothing is proposed, so it waits until something is."""
    choice = primary_choice(card)
    return lay_out(card).choices.index(choice) + 1 if choice else 0
