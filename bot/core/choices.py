"""The buttons that people can press and the commands that they can type."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from enum import StrEnum

from bot.core.facts import Fact


class Verb(StrEnum):
    """What a button asks for. What it refers to is in `about`."""

    DEFAULTS = "defaults"
    ANSWER = "answer"
    APPROVE = "approve"
    CHANGE = "change"
    DISCARD = "discard"
    STOP = "stop"
    RESUME = "resume"
    RETRY = "retry"
    REASSIGN = "reassign"
    """Start a task anew on another branch: its own branch is lost."""
    SKIP = "skip"
    GIVE_UP = "give_up"
    MERGE = "merge"
    KEEP = "keep"
    TRY_AGAIN = "try_again"
    DROP = "drop"
    """Discard a requested change."""
    REPLY = "reply"
    """Answer the question of a program in a pane."""
    ALWAYS = "always"
    """Answer in the same way whenever the question comes up in this session."""
    ACCEPT = "accept"
    """Accept the work as it is."""
    SEND_BACK = "send_back"
    CHECK_AGAIN = "check_again"
    TAKE_AS_DONE = "take_as_done"
    """End an agent that does not end by itself, and take its work as finished."""
    NUDGE = "nudge"
    """Ask an agent whether it is done."""
    STOP_TASK = "stop_task"
    """End one agent."""
    USE_AGENT = "use_agent"
    SHIP_AGAIN = "ship_again"
    """Retry making a pull request."""
    WATCH_AGAIN = "watch_again"
    """Watch the open pull requests again."""
    MERGE_PULL = "merge_pull"
    MERGE_PULLS = "merge_pulls"
    MERGE_UNCHECKED = "merge_unchecked"
    """Merge although checks have not appeared."""
    WAIT_LONGER = "wait_longer"
    """Keep waiting for checks that have not appeared."""
    TESTS = "tests"
    """Run the tests with another command."""
    UNTESTED = "untested"
    """Do not run the test command that was found."""
    UNNEEDED = "unneeded"
    """Do not wait for the open pull requests."""
    MORE = "more"
    """Do what the final verdict found missing."""
    HINT = "hint"
    """Retry a task with a hint for the agent."""
    LOG = "log"
    """Show one person the log of a task."""
    TELL = "tell"
    """Answer a command about the session that was picked."""
    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    SETTINGS = "settings"
    """Show or change which model is asked."""
    BEGIN = "begin"
    """Open the form for a new request."""
    SPEC = "spec"
    """Open the form for a new spec."""
    SHOW_BRANCH = "show_branch"
    MERGE_BRANCH = "merge_branch"
    DELETE_BRANCH = "delete_branch"
    SPLIT = "split"
    WHOLE = "whole"
    THERE = "there"
    HERE = "here"
    INTENT_APPROVE = "intent_approve"
    INTENT_REJECT = "intent_reject"
    INTENT_RUN = "intent_run"
    """Start a session that carries out an intent."""


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
    """The question that asks for a text; empty if no text is wanted."""
    confirm: str = ""
    """The question to confirm a choice that cannot be undone."""


_TYPED_FORMS = {
    Verb.DEFAULTS: "defaults",
    Verb.APPROVE: "approve",
    Verb.DISCARD: "discard",
    Verb.STOP: "stop",
    Verb.RESUME: "resume",
}
_VERBS_WITH_ID = frozenset({Verb.DISCARD, Verb.STOP, Verb.RESUME})


def typed_equivalent(choice: Choice) -> str:
    """Return what can be typed instead of pressing the button, or an empty string."""
    if choice.verb is Verb.SHOW_BRANCH:
        return f"{Word.BRANCH} {choice.about}"
    said = _TYPED_FORMS.get(choice.verb, "")
    return f"{said} {choice.about[:8]}" if choice.verb in _VERBS_WITH_ID and choice.about else said


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
    TAKEOVER = "takeover"
    USE = "use"
    """Use another agent for a task."""
    HANDBACK = "handback"
    CONTINUE = "continue"
    REOPEN = "reopen"
    ASK = "ask"
    DECISIONS = "decisions"
    CONTEXT = "context"
    CATCH_UP = "catchup"
    INBOX = "inbox"
    INTENT = "intent"
    REFLECT = "reflect"
    AUDIT = "audit"
    REPO = "repo"
    RELINK = "relink"
    BRANCHES = "branches"
    BRANCH = "branch"
    SPEC = "spec"
    TESTS = "tests"
    SET_UP = "setup"
    VERBOSITY = "verbosity"
    MODEL = "model"
    KEYS = "keys"
    HELP = "help"


class Command(Fact):
    word: Word
    argument: str = ""
    text: str = ""
    """What follows the argument, for the few commands that take it."""


STOP_WORDS = frozenset({"stop", "cancel", "halt", "interrupt", "abort", "中断", "停止", "ストップ"})
_WITHOUT_ARGUMENT = {
    *(Word.SESSIONS, Word.KEYS, Word.HELP, Word.DECISIONS, Word.INBOX),
    *(Word.BRANCHES, Word.MODEL, Word.REFLECT, Word.AUDIT, Word.TESTS),
    Word.SET_UP,
}
_WITH_ARGUMENT = frozenset(set(Word) - _WITHOUT_ARGUMENT)
INTENT_WORDS = frozenset({"list", "show", "approve", "reject", "run"})
"""What can be done with intents. All but `list` need a name."""
LEVELS = frozenset({"summary", "full"})
"""How much of a log is shown."""
OWN_SESSIONS = frozenset({"mine", "all-mine"})
"""Instead of an id: every session that the user started."""
_END_PUNCTUATION = ".!。…"
"""Punctuation that may follow a command."""
_DECISION = re.compile(r"[dD]?0*([1-9][0-9]{0,2})[:.,]?")
_HANDLE = re.compile(r"[tT][0-9]{1,4}|task-[0-9a-f]{1,8}-[0-9]{1,4}|[0-9a-fA-F][0-9a-fA-F-]{0,35}")
_AGENTS = frozenset({"claude", "claude-print", "codex", "gemini", "opencode", "other", "played"})
_USE = re.compile(
    r"use\s+([a-z][a-z0-9-]{1,30})(?:\s+(?:for|on|in)\s+([tT][0-9]{1,4}|task-[0-9a-f]{1,8}-[0-9]{1,4}))?",
    re.IGNORECASE,
)
_BRANCH = re.compile(r"[^\s~^:?*\[\\\x00-\x1f\x7f-]([^\s~^:?*\[\\\x00-\x1f\x7f]){0,249}")
"""Roughly the branch names that git allows; git itself checks whether the branch exists."""
_INTENT = re.compile(r"[^\W_][\w.-]{0,99}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def parse_command(text: str) -> Command | None:
    """Return the command if the text is nothing else.

    `stop` is one; `stop using globals` is talk, as an argument must name a session or a task.
    """
    words = _normalized(text).lstrip("/!").split()
    if command := _parse_shell_command(text):
        return command
    if " ".join(words[:2]).lower().rstrip(_END_PUNCTUATION) == "catch up":
        words = [Word.CATCH_UP, *words[2:]]
    head = words[0].lower() if words else ""
    if head in _FREE_TEXT_PARSERS:
        return _FREE_TEXT_PARSERS[head](text)
    if head == Word.INTENT and len(words) > 1:
        return _parse_intent(words[1].lower(), words[2:])
    if len(words) == 3:
        return _parse_three_words(head, words[1], words[2])
    if not words or len(words) > 3:
        return None
    if len(words) == 1:
        head = head.rstrip(_END_PUNCTUATION)
    word = Word.STOP if head in STOP_WORDS else next((w for w in Word if w == head), None)
    if word is None or word is Word.REOPEN:
        return None
    argument = words[1] if len(words) == 2 else ""
    if argument and not _is_valid_argument(word, argument):
        return None
    return Command(word=word, argument=argument)


_TESTS = re.compile(r"tests(?:\s*[:：]|(?=\s+`))\s*(\S.{0,999})", re.IGNORECASE)
"""`tests: make check`. Without the colon only in backticks: «tests fail since Monday» is talk."""
_SET_UP = re.compile(r"set-?up\s*[:：]\s*(\S.{0,999})", re.IGNORECASE)


def _parse_shell_command(text: str) -> Command | None:
    """Parse `tests: make check` and `setup: npm ci`. The shell command is kept as it was written."""
    for word, pattern in ((Word.TESTS, _TESTS), (Word.SET_UP, _SET_UP)):
        if found := pattern.fullmatch(text.strip().lstrip("/!")):
            return Command(word=word, text=found[1])
    return None


def _parse_three_words(head: str, argument: str, text: str) -> Command | None:
    if head == Word.LOGS and text.lower() in LEVELS:
        return Command(word=Word.LOGS, argument=argument, text=text.lower())
    if head == Word.MODEL and argument.lower().startswith(("http:", "https:")):
        return Command(word=Word.MODEL, argument=argument, text=text)
    return None


def _parse_use(text: str) -> Command | None:
    """Parse `use codex for T002`. The task may be left out if only one can be meant."""
    said = _normalized(text).lstrip("/!").rstrip(_END_PUNCTUATION)
    if said.lower() == Word.USE:
        return Command(word=Word.USE)
    found = _USE.fullmatch(said)
    # «use decimals» is talk: without a task the agent must be a well-known one
    if found is None or not (found[2] or found[1].lower() in _AGENTS):
        return None
    return Command(word=Word.USE, argument=found[2] or "", text=found[1])


def _parse_intent(what: str, names: list[str]) -> Command | None:
    """Parse `intent run fix-login`. Anything else that begins like it is talk."""
    fits = len(names) == (0 if what == "list" else 1)
    if what not in INTENT_WORDS or not fits or not all(map(_INTENT.fullmatch, names)):
        return None
    return Command(word=Word.INTENT, argument=what, text=names[0] if names else "")


def _is_valid_argument(word: Word, argument: str) -> bool:
    """Whether this argument can follow that word; if not, the text is talk."""
    if word is Word.REPO:
        return bool(_REPOSITORY.fullmatch(argument))
    if word is Word.BRANCH:
        return bool(_BRANCH.fullmatch(argument))
    if word is Word.VERBOSITY:
        return argument.isalpha()
    return word in _WITH_ARGUMENT and is_handle(argument)


def _normalized(text: str) -> str:
    """Return the text with full-width letters and punctuation, as Japanese keyboards type them, made ASCII."""
    return unicodedata.normalize("NFKC", text).strip()


def _parse_reopen(text: str) -> Command | None:
    """Parse `reopen D3` and an optional new answer, which is kept as it was written."""
    _, *behind = text.split(maxsplit=2)
    decision = _DECISION.fullmatch(_normalized(behind[0])) if behind else None
    if decision is None:
        return None
    answer = behind[1].strip() if len(behind) == 2 else ""
    return Command(word=Word.REOPEN, argument=f"D{decision[1]}", text=answer)


def _parse_spec(text: str) -> Command:
    """Parse `spec` and what the spec shall describe, which is kept as it was written."""
    _, *behind = text.strip().split(maxsplit=1)
    return Command(word=Word.SPEC, text=behind[0].strip() if behind else "")


def _parse_ask(text: str) -> Command:
    """Parse `ask` and a question, which is kept as it was written."""
    _, *behind = text.strip().split(maxsplit=1)
    return Command(word=Word.ASK, text=behind[0].strip() if behind else "")


def _parse_relink(text: str) -> Command:
    """Parse `relink /srv/shop`, optionally with a session's id before the path. A path may contain spaces."""
    _, *behind = text.strip().split(maxsplit=1)
    path = behind[0].strip() if behind else ""
    first, _, rest = path.partition(" ")
    if is_handle(first) and rest.strip():
        return Command(word=Word.RELINK, argument=first, text=rest.strip())
    return Command(word=Word.RELINK, text=path)


_FREE_TEXT_PARSERS: dict[str, Callable[[str], Command | None]] = {
    Word.USE: _parse_use,
    Word.REOPEN: _parse_reopen,
    Word.SPEC: _parse_spec,
    Word.ASK: _parse_ask,
    Word.RELINK: _parse_relink,
}
"""Commands whose text is kept as it was written."""


def is_handle(text: str) -> bool:
    """Whether this can name a session or a task: the beginning of an id, T001, task-1a2b3c4d-1.

    Without a digit it needs four characters, or else `stop a` would be a command.
    """
    if text in OWN_SESSIONS:
        return True
    if not _HANDLE.fullmatch(text):
        return False
    return any(c.isdigit() for c in text) or len(text) >= 4
