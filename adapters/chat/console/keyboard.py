"""Lines typed at a terminal: a history, a toolbar that is alive, and keys that do what K1 of the contract says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.styles import Style

from adapters.chat.console.lines import PROMPT
from bot.domain.cards import Card

Below = Callable[[int, int, str], StyleAndTextTuples]
"""What stands below the line, given the width, the height, and what the keyboard itself has to say."""

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
    def __init__(self, history: Path, below: Below) -> None:
        self._history = history
        self._below = below
        self._draft = ""
        self._leaving = False
        self._talk: PromptSession[str] | None = None
        self._question: PromptSession[str] | None = None

    async def next(self, prompt: str) -> str | None:
        session = self._session(prompt)
        draft, self._draft, self._leaving = self._draft, "", False
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
        if prompt == PROMPT:
            self._talk = self._talk or self._prompting(_Requests.at(self._history))
            return self._talk
        self._question = self._question or self._prompting(InMemoryHistory())
        return self._question

    def _prompting(self, history: FileHistory | InMemoryHistory) -> PromptSession[str]:
        session = PromptSession[str](
            history=history,
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
        return self._below(size.columns, size.rows, _LEAVING if self._leaving else "")

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        typing = ~Condition(lambda: get_app().layout.is_searching)
        keys.add(Keys.Escape, filter=typing)(self._stop)
        keys.add(Keys.ControlC)(self._interrupted)
        keys.add(Keys.SIGINT)(self._interrupted)
        return keys

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


class _Requests(FileHistory):
    """What was asked for. Numbers and `y` are not worth coming back to."""

    @classmethod
    def at(cls, path: Path) -> _Requests:
        path.touch(mode=0o600)
        return cls(path)

    def append_string(self, string: str) -> None:
        if len(string.strip()) > 2:
            super().append_string(string)
