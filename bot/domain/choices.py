"""What people can press, and the words they can say to the same effect."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum

from bot.domain.facts import Fact


class Verb(StrEnum):
    """What pressing a button asks for. What it is about travels beside it."""

    DEFAULTS = "defaults"
    ANSWER = "answer"
    APPROVE = "approve"
    CHANGE = "change"
    DISCARD = "discard"
    STOP = "stop"
    RESUME = "resume"
    RETRY = "retry"
    SKIP = "skip"
    GIVE_UP = "give_up"
    MERGE = "merge"
    KEEP = "keep"
    TRY_AGAIN = "try_again"


class Style(StrEnum):
    PRIMARY = "primary"
    NORMAL = "normal"
    DANGER = "danger"


class Choice(Fact):
    """A button. `about` binds it to what was shown (a digest, a task, a question): a stale press does nothing."""

    label: str
    verb: Verb
    about: str = ""
    style: Style = Style.NORMAL
    asks: str = ""
    """A text is wanted with it; this is the question."""
    confirm: str = ""
    """It cannot be undone; this is the question before it counts."""


class Word(StrEnum):
    """The commands, the same in every chat."""

    STATUS = "status"
    SESSIONS = "sessions"
    RESUME = "resume"
    DISCARD = "discard"
    STOP = "stop"
    TASKS = "tasks"
    USAGE = "usage"
    INFO = "info"
    LOGS = "logs"
    KEYS = "keys"
    HELP = "help"


class Command(Fact):
    word: Word
    argument: str = ""


STOP_WORDS = frozenset({"stop", "cancel", "halt", "interrupt", "abort", "中断", "停止", "ストップ"})
_WITH_ARGUMENT = frozenset(set(Word) - {Word.SESSIONS, Word.KEYS, Word.HELP})
MINE = frozenset({"mine", "all-mine"})
"""Instead of an id: every session one has begun."""
_HANDLE = re.compile(r"[tT][0-9]{1,4}|task-[0-9a-f]{1,8}-[0-9]{1,4}|[0-9a-fA-F][0-9a-fA-F-]{0,35}")


def command_in(text: str) -> Command | None:
    """The command a text is, if it is nothing but that.

    `stop` counts; `stop using globals` is talk: an argument is the name of a session or a task.
    """
    # full-width letters and marks, as Japanese keyboards write them, count as plain ones
    words = unicodedata.normalize("NFKC", text).strip().lstrip("/!").split()
    if not words or len(words) > 2:
        return None
    head = words[0].lower() if len(words) == 2 else words[0].lower().rstrip(".!。…")
    word = Word.STOP if head in STOP_WORDS else next((w for w in Word if w == head), None)
    if word is None:
        return None
    argument = words[1] if len(words) == 2 else ""
    if argument and not (word in _WITH_ARGUMENT and is_handle(argument)):
        return None
    return Command(word=word, argument=argument)


def is_handle(text: str) -> bool:
    """Whether this can name a session or a task: the beginning of an id, T001, task-1a2b3c4d-1.

    An id's beginning without any digit must be longer, else `stop a` would be no talk.
    """
    if text in MINE:
        return True
    if not _HANDLE.fullmatch(text):
        return False
    return any(c.isdigit() for c in text) or len(text) >= 4
