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

# The interface of the console's input, and input from a pipe.

PROMPT = "› "
"""The prompt of an ordinary line. Any other prompt is a question."""


SWITCH_LINE = "\t"
"""The line that Tab produces: to branch mode and back."""
ARROW_KEY = "\x1b["
"""Beginning of the sequence that an arrow key sends."""


class ConsoleInput(Protocol):
    by_hand: bool
    """Whether somebody sits at a terminal."""

    async def next_line(self, prompt: str) -> str | None:
        """Return the next line; empty if the person agrees to the proposal, None at the end of input."""
        ...

    def card_shown(self, card: Card) -> None:
        """Record that the person has seen a card of the current thread."""
        ...


class PipeInput:
    """Lines of a pipe or file. Empty ones are skipped: a blank line in a script agrees to nothing."""

    by_hand = False

    def __init__(self, source: TextIO, screen: ConsoleScreen) -> None:
        self._source = source
        self._screen = screen
        self._pending = b""
        self._ended = False

    async def next_line(self, prompt: str) -> str | None:
        if prompt != PROMPT:
            self._screen.write(self._screen.rendered(Words(prompt)))
        while (line := await self._line()) is not None:
            if line.strip():
                return line
        return None

    def card_shown(self, card: Card) -> None:
        """A script does not need to know."""

    async def _line(self) -> str | None:
        while b"\n" not in self._pending and not self._ended:
            chunk = await self._chunk()
            self._pending += chunk
            self._ended = not chunk
        line, found, self._pending = self._pending.partition(b"\n")
        return line.decode("utf-8", "replace") if found or line else None

    async def _chunk(self) -> bytes:
        # No thread blocks on the read, because that would keep the whole program from ending.
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


# Lines typed at a terminal, with a history, a live toolbar, and the keys defined in K1 of the contract.


class ConversationView(Protocol):
    """What the keyboard input needs from the conversation."""

    def toolbar(self, width: int, height: int, notice: str, picked: int) -> StyleAndTextTuples:
        """Return what is shown below the line.

        `notice`: a message of the input itself; `picked`: number chosen with the arrow keys, from 1.
        """
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
        self._selected_index = 0
        self._offered: tuple[Pick, ...] = ()
        self._draft = ""
        self._leaving = False
        self._prompt_task: PromptSession[str] | None = None
        self._question: PromptSession[str] | None = None

    async def next_line(self, prompt: str) -> str | None:
        session = self._session(prompt)
        draft, self._draft, self._leaving, self._selected_index = self._draft, "", False, 0
        try:
            return await session.prompt_async([("bold", prompt)], default=draft)
        except EOFError:
            return None

    def card_shown(self, card: Card) -> None:
        for session in (self._prompt_task, self._question):
            if session:
                session.app.invalidate()

    def _session(self, prompt: str) -> PromptSession[str]:
        # Answers to questions have a history of their own, apart from that of requests.
        if prompt.endswith(PROMPT):
            self._prompt_task = self._prompt_task or self._prompting(
                _RequestHistory.at(self._history)
            )
            return self._prompt_task
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
        return self._view.toolbar(size.columns, size.rows, notice, self._selected())

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        typing = ~Condition(lambda: get_app().layout.is_searching)
        keys.add(Keys.Escape, filter=typing)(self._stop)
        keys.add(Keys.ControlC)(self._handle_interrupt)
        keys.add(Keys.SIGINT)(self._handle_interrupt)
        empty = typing & Condition(lambda: not get_app().current_buffer.text)
        picked = empty & Condition(lambda: self._selected() > 0)
        keys.add(Keys.Down, filter=empty & Condition(lambda: bool(self._view.picks())))(self._down)
        keys.add(Keys.Up, filter=picked)(self._up)
        keys.add(Keys.Enter, filter=picked)(self._take)
        command = Condition(_is_command)
        keys.add(Keys.Tab, filter=typing & ~command)(self._switch)
        return keys

    def _selected(self) -> int:
        # The selection is reset as soon as the choices change or something is typed.
        if self._selected_index and (
            self._view.picks() != self._offered or get_app().current_buffer.text
        ):
            self._selected_index = 0
        return self._selected_index

    def _down(self, event: KeyPressEvent) -> None:
        del event
        chosen, self._offered = self._selected(), self._view.picks()
        self._selected_index = min(chosen + 1, len(self._offered))

    def _up(self, event: KeyPressEvent) -> None:
        # Moving up from the first one selects nothing.
        del event
        self._selected_index -= 1

    def _take(self, event: KeyPressEvent) -> None:
        event.app.exit(result=self._offered[self._selected_index - 1].line)

    def _switch(self, event: KeyPressEvent) -> None:
        # The draft is restored in the other mode.
        self._draft = event.current_buffer.text
        event.current_buffer.reset()
        event.app.exit(result=SWITCH_LINE)

    def _stop(self, event: KeyPressEvent) -> None:
        # Stops at once; the draft is restored afterwards.
        following = event.key_processor.key_buffer[1:]
        if following and following[0].key is not Keys.CPRResponse:
            # Alt and a letter begins with the code of Esc, too, and must not stop anything. The terminal's cursor
            # report, however, may follow an Esc that was really pressed
            return
        self._draft = event.current_buffer.text
        event.current_buffer.reset()
        event.app.exit(result="stop")

    def _handle_interrupt(self, event: KeyPressEvent) -> None:
        # Never quits by surprise: the first press clears the line, the next explains how to leave, the last leaves.
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
    """Completes commands only after a slash, never in a sentence."""

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
    """The history of requests, without numbers and `y`."""

    @classmethod
    def at(cls, path: Path) -> _RequestHistory:
        path.touch(mode=0o600)
        return cls(path)

    def append_string(self, string: str) -> None:
        if len(string.strip()) > 2:
            super().append_string(string)


# Completion of a line that begins with a slash: the commands, and their arguments.

CommandHelp = Sequence[tuple[str, str]]
"""As listed by `help`: `resume [id]`, and what it does."""


@dataclass(frozen=True)
class CompletedWord:
    text: str
    """Replaces the word being typed."""
    shown: str
    told: str = ""


def complete_line(
    line: str, words: CommandHelp, tasks: Sequence[str], sessions: Sequence[str]
) -> tuple[CompletedWord, ...]:
    """Return the completions. `tasks` and `sessions`: names that can follow a command."""
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
    # `catch up` is completed as one word.
    return "/" + ("catchup" if told.startswith("catch up") else told.partition(" ")[0])


def _arguments_of(told: str) -> str:
    return "" if told.startswith("catch up") else told.partition(" ")[2]


def _argument_names(told: str, tasks: Sequence[str], sessions: Sequence[str]) -> Sequence[str]:
    behind = _arguments_of(told)
    if "T001" in behind or "task" in behind:
        return tasks
    return sessions if "id" in behind else ()


# The demo plays the person: its lines are shown as if typed, and marked as the demo's.

WELCOME_CARD = "welcome"
"""The key of the card that lists what is unfinished."""
MAX_CHOICES = 20
"""The most choices it makes. A demo that needs more would not end."""
_DEMO_THREAD = Thread(platform="console", channel="terminal", root="auto")


class DemoInput:
    """Asks for `request`, then accepts what each card proposes until the session has ended."""

    by_hand = False

    def __init__(self, request: str, delay: float, out: TextIO | None = None) -> None:
        self._request = request
        self._delay = delay
        self._screen = ConsoleScreen(out)
        self._asked = False
        self._over = False
        self._press_count = 0
        self.completed = False
        """Whether the demo ended successfully."""
        self._open = OpenCards()
        self._pressed: Card | None = None
        self._news = asyncio.Event()

    async def next_line(self, prompt: str) -> str | None:
        if prompt != PROMPT:
            return self._type(prompt, "y")
        if not self._asked:
            self._asked = True
            return self._type(prompt, self._request)
        while not self._over and self._press_count < MAX_CHOICES:
            card = self._open.newest(_DEMO_THREAD)
            number = _proposed_number(card) if card and card != self._pressed else 0
            if not number:
                self._news.clear()
                await self._news.wait()
                continue
            await asyncio.sleep(self._delay)
            if card == self._open.newest(_DEMO_THREAD):
                self._pressed = card
                self._press_count += 1
                return self._type(prompt, str(number))
        return None

    def card_shown(self, card: Card) -> None:
        # unfinished work from an earlier start continues, and nothing new is requested
        self._asked = self._asked or card.key == WELCOME_CARD
        self._open.note_shown(_DEMO_THREAD, card)
        self._over = self._over or ends_thread(card)
        if isinstance(card, SummaryCard):
            self.completed = card.result.overall_status is OverallStatus.COMPLETE
        self._news.set()

    def _type(self, prompt: str, line: str) -> str:
        words = Words.assemble((prompt, "bold"), line, ("   typed by the demo", "dim italic"))
        self._screen.write(self._screen.rendered(words))
        return line


def _proposed_number(card: Card) -> int:
    # 0 if nothing is proposed; then the demo waits for another card.
    choice = primary_choice(card)
    return lay_out(card).choices.index(choice) + 1 if choice else 0
