"""What the bot knows that a press or a command does not tell by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adapters.chat.slack.forms import Facts
from bot.domain.intent import Question
from bot.domain.people import Thread

QuestionsOf = Callable[[Thread, str], Sequence[Question]]
"""The questions on a card, by its thread and key: a select tells but the number of an option."""
SettingsOf = Callable[[str], Facts]
"""What stood among the settings on somebody's home."""


def _no_questions(thread: Thread, key: str) -> Sequence[Question]:
    return ()


def _no_settings(user: str) -> Facts:
    return ()


def _nowhere(thread: Thread) -> bool:
    return False


def _all_seen(thread: Thread, ts: str) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class Known:
    questions: QuestionsOf = _no_questions
    settings: SettingsOf = _no_settings
    at_work_in: Callable[[Thread], bool] = _nowhere
    """Whether the bot has ever shown anything in a thread."""
    unseen: Callable[[Thread, str], tuple[str, ...]] = _all_seen
    """The cards with buttons that stand after a message, by their thread and the message's time."""
    channels: tuple[str, ...] = ()
    """In which people may ask for something."""
    several_repositories: bool = True
    """With one nobody is asked which is meant."""

    def channel_for(self, here: str) -> str:
        """The one a form begins with; empty: whoever fills it in chooses."""
        if here in self.channels:
            return here
        return self.channels[0] if len(self.channels) == 1 else ""
