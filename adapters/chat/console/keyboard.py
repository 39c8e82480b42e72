"""Lines typed at a terminal: a history, a toolbar that is alive, and keys that do what K1 of the contract says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

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

from adapters.chat.console.completing import Completed
from adapters.chat.console.lines import PROMPT, SWITCH
from adapters.chat.console.picks import Pick
from bot.domain.cards import Card


class View(Protocol):
    """What the keyboard knows of the conversation."""

    def below(self, width: int, height: int, notice: str, picked: int) -> StyleAndTextTuples:
        """What stands below the line. `notice`: what the keyboard itself has to say; `picked`: by arrow keys, from 1."""
        ...

    def picks(self) -> tuple[Pick, ...]: ...

    def completions(self, line: str) -> tuple[Completed, ...]: ...


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
_LEAVING = "Ctrl-C once more leaves. Agents go on."


class TerminalLines:
    by_hand = True

    def __init__(self, history: Path, view: View) -> None:
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
            self._talk = self._talk or self._prompting(_Requests.at(self._history))
            return self._talk
        self._question = self._question or self._prompting(InMemoryHistory())
        return self._question

    def _prompting(self, history: FileHistory | InMemoryHistory) -> PromptSession[str]:
        session = PromptSession[str](
            history=history,
            completer=_Commands(self._view),
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
        notice = _LEAVING if self._leaving else ""
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
        event.app.exit(result=SWITCH)

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


class _Commands(Completer):
    """Only behind a stroke: whoever writes a sentence is left alone."""

    def __init__(self, view: View) -> None:
        self._view = view

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        del complete_event
        line = document.text_before_cursor
        begun = -len(line.rpartition(" ")[2])
        for one in self._view.completions(line):
            yield Completion(one.text, begun, display=one.shown, display_meta=one.told)


class _Requests(FileHistory):
    """What was asked for. Numbers and `y` are not worth coming back to."""

    @classmethod
    def at(cls, path: Path) -> _Requests:
        path.touch(mode=0o600)
        return cls(path)

    def append_string(self, string: str) -> None:
        if len(string.strip()) > 2:
            super().append_string(string)
