"""What people can press, and the words they can write to the same effect: every button and every command."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from enum import StrEnum

from bot.core.facts import Fact


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
    REASSIGN = "reassign"
    """Begin a task anew on another branch: the one it had is lost."""
    SKIP = "skip"
    GIVE_UP = "give_up"
    MERGE = "merge"
    KEEP = "keep"
    TRY_AGAIN = "try_again"
    DROP = "drop"
    """Forget a change that was asked for."""
    REPLY = "reply"
    """Answer what a program in a pane asks."""
    ALWAYS = "always"
    """Answer it so whenever it is asked in this session."""
    ACCEPT = "accept"
    """Let it pass as it is."""
    SEND_BACK = "send_back"
    CHECK_AGAIN = "check_again"
    TAKE_AS_DONE = "take_as_done"
    """End an agent that does not end, and look at its work as if it had."""
    NUDGE = "nudge"
    """Ask an agent whether it is done."""
    STOP_TASK = "stop_task"
    """End one agent."""
    USE_AGENT = "use_agent"
    SHIP_AGAIN = "ship_again"
    """Try once more to make a pull request."""
    WATCH_AGAIN = "watch_again"
    """Look at the open pull requests again."""
    MERGE_PULL = "merge_pull"
    MERGE_PULLS = "merge_pulls"
    MERGE_UNCHECKED = "merge_unchecked"
    """Though checks have not appeared."""
    WAIT_LONGER = "wait_longer"
    """For checks that have not appeared."""
    TESTS = "tests"
    """Run the tests with a command of one's own."""
    UNTESTED = "untested"
    """Do not run the tests with what was found."""
    UNNEEDED = "unneeded"
    """The session need not wait for the pull requests that are open."""
    MORE = "more"
    """Do what the final judgement found missing."""
    HINT = "hint"
    """Try once more, and tell the agent something it does not know."""
    LOG = "log"
    """Show one person what happened to a task."""
    TELL = "tell"
    """Answer a command about the session that was picked."""
    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    SETTINGS = "settings"
    """Look at, or set, which model is asked."""
    BEGIN = "begin"
    """Ask for something in a form."""
    SPEC = "spec"
    """Describe in a form what a spec shall be written of."""
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
    """Begin a session that carries an intent out."""


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


_SAID = {
    Verb.DEFAULTS: "defaults",
    Verb.APPROVE: "approve",
    Verb.DISCARD: "discard",
    Verb.STOP: "stop",
    Verb.RESUME: "resume",
}
_NAMING = frozenset({Verb.DISCARD, Verb.STOP, Verb.RESUME})


def typed_equivalent(choice: Choice) -> str:
    """What can be written to the same effect; empty: nothing."""
    if choice.verb is Verb.SHOW_BRANCH:
        return f"{Word.BRANCH} {choice.about}"
    said = _SAID.get(choice.verb, "")
    return f"{said} {choice.about[:8]}" if choice.verb in _NAMING and choice.about else said


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
    """Another agent for a task."""
    HANDBACK = "handback"
    CONTINUE = "continue"
    REOPEN = "reopen"
    DECISIONS = "decisions"
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
    """What stands behind the argument, for the few words that take it."""


STOP_WORDS = frozenset({"stop", "cancel", "halt", "interrupt", "abort", "中断", "停止", "ストップ"})
_WITHOUT_ARGUMENT = {
    *(Word.SESSIONS, Word.KEYS, Word.HELP, Word.DECISIONS, Word.INBOX),
    *(Word.BRANCHES, Word.MODEL, Word.REFLECT, Word.AUDIT, Word.TESTS),
    Word.SET_UP,
}
_WITH_ARGUMENT = frozenset(set(Word) - _WITHOUT_ARGUMENT)
INTENT_WORDS = frozenset({"list", "show", "approve", "reject", "run"})
"""What can be done with intents; all but `list` name one."""
LEVELS = frozenset({"summary", "full"})
"""How much of a log is shown."""
MINE = frozenset({"mine", "all-mine"})
"""Instead of an id: every session one has begun."""
_MARKS = ".!。…"
"""What may stand behind a command."""
_DECISION = re.compile(r"[dD]?0*([1-9][0-9]{0,2})[:.,]?")
_HANDLE = re.compile(r"[tT][0-9]{1,4}|task-[0-9a-f]{1,8}-[0-9]{1,4}|[0-9a-fA-F][0-9a-fA-F-]{0,35}")
_AGENTS = frozenset({"claude", "claude-print", "codex", "gemini", "opencode", "other", "played"})
_USE = re.compile(
    r"use\s+([a-z][a-z0-9-]{1,30})(?:\s+(?:for|on|in)\s+([tT][0-9]{1,4}|task-[0-9a-f]{1,8}-[0-9]{1,4}))?",
    re.IGNORECASE,
)
_BRANCH = re.compile(r"[^\s~^:?*\[\\\x00-\x1f\x7f-]([^\s~^:?*\[\\\x00-\x1f\x7f]){0,249}")
"""What git lets be the name of a branch, more or less: git itself says whether there is one."""
_INTENT = re.compile(r"[^\W_][\w.-]{0,99}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def parse_command(text: str) -> Command | None:
    """The command a text is, if it is nothing but that.

    `stop` counts; `stop using globals` is talk: an argument is the name of a session or a task.
    """
    words = _plain(text).lstrip("/!").split()
    if command := _of_the_shell(text):
        return command
    if " ".join(words[:2]).lower().rstrip(_MARKS) == "catch up":
        words = [Word.CATCH_UP, *words[2:]]
    head = words[0].lower() if words else ""
    if head in _FREELY:
        return _FREELY[head](text)
    if head == Word.INTENT and len(words) > 1:
        return _about_intents(words[1].lower(), words[2:])
    if len(words) == 3:
        return _of_three_words(head, words[1], words[2])
    if not words or len(words) > 3:
        return None
    if len(words) == 1:
        head = head.rstrip(_MARKS)
    word = Word.STOP if head in STOP_WORDS else next((w for w in Word if w == head), None)
    if word is None or word is Word.REOPEN:
        return None
    argument = words[1] if len(words) == 2 else ""
    if argument and not _fits(word, argument):
        return None
    return Command(word=word, argument=argument)


_TESTS = re.compile(r"tests(?:\s*[:：]|(?=\s+`))\s*(\S.{0,999})", re.IGNORECASE)
"""`tests: make check`; without the colon only in backticks, for «tests fail since Monday» is talk."""
_SET_UP = re.compile(r"set-?up\s*[:：]\s*(\S.{0,999})", re.IGNORECASE)


def _of_the_shell(text: str) -> Command | None:
    """`tests: make check` and `setup: npm ci`: what is to be run, as it was written."""
    for word, pattern in ((Word.TESTS, _TESTS), (Word.SET_UP, _SET_UP)):
        if found := pattern.fullmatch(text.strip().lstrip("/!")):
            return Command(word=word, text=found[1])
    return None


def _of_three_words(head: str, argument: str, text: str) -> Command | None:
    if head == Word.LOGS and text.lower() in LEVELS:
        return Command(word=Word.LOGS, argument=argument, text=text.lower())
    if head == Word.MODEL and argument.lower().startswith(("http:", "https:")):
        return Command(word=Word.MODEL, argument=argument, text=text)
    return None


def _other_agent(text: str) -> Command | None:
    """`use codex for T002`; the task may be left out where there is only one it can mean."""
    said = _plain(text).lstrip("/!").rstrip(_MARKS)
    if said.lower() == Word.USE:
        return Command(word=Word.USE)
    found = _USE.fullmatch(said)
    # «use decimals» is talk: without a task only an agent that everybody knows is meant
    if found is None or not (found[2] or found[1].lower() in _AGENTS):
        return None
    return Command(word=Word.USE, argument=found[2] or "", text=found[1])


def _about_intents(what: str, names: list[str]) -> Command | None:
    """`intent run fix-login`; anything else is talk that begins like it."""
    fits = len(names) == (0 if what == "list" else 1)
    if what not in INTENT_WORDS or not fits or not all(map(_INTENT.fullmatch, names)):
        return None
    return Command(word=Word.INTENT, argument=what, text=names[0] if names else "")


def _fits(word: Word, argument: str) -> bool:
    """Whether this can stand behind that word; else it is talk that begins like a command."""
    if word is Word.REPO:
        return bool(_REPOSITORY.fullmatch(argument))
    if word is Word.BRANCH:
        return bool(_BRANCH.fullmatch(argument))
    if word is Word.VERBOSITY:
        return argument.isalpha()
    return word in _WITH_ARGUMENT and is_handle(argument)


def _plain(text: str) -> str:
    """Full-width letters and marks, as Japanese keyboards write them, count as plain ones."""
    return unicodedata.normalize("NFKC", text).strip()


def _reopened(text: str) -> Command | None:
    """`reopen D3`, and behind it the new answer, letter for letter as it was written."""
    _, *behind = text.split(maxsplit=2)
    decision = _DECISION.fullmatch(_plain(behind[0])) if behind else None
    if decision is None:
        return None
    answer = behind[1].strip() if len(behind) == 2 else ""
    return Command(word=Word.REOPEN, argument=f"D{decision[1]}", text=answer)


def _spec(text: str) -> Command:
    """`spec`, and behind it what it shall describe, as it was written."""
    _, *behind = text.strip().split(maxsplit=1)
    return Command(word=Word.SPEC, text=behind[0].strip() if behind else "")


def _relink(text: str) -> Command:
    """`relink /srv/shop`, or with the id of a session before it; a path may have blanks in it."""
    _, *behind = text.strip().split(maxsplit=1)
    path = behind[0].strip() if behind else ""
    first, _, rest = path.partition(" ")
    if is_handle(first) and rest.strip():
        return Command(word=Word.RELINK, argument=first, text=rest.strip())
    return Command(word=Word.RELINK, text=path)


_FREELY: dict[str, Callable[[str], Command | None]] = {
    Word.USE: _other_agent,
    Word.REOPEN: _reopened,
    Word.SPEC: _spec,
    Word.RELINK: _relink,
}
"""What stands behind these is taken as it was written."""


def is_handle(text: str) -> bool:
    """Whether this can name a session or a task: the beginning of an id, T001, task-1a2b3c4d-1.

    An id's beginning without any digit must be longer, else `stop a` would be no talk.
    """
    if text in MINE:
        return True
    if not _HANDLE.fullmatch(text):
        return False
    return any(c.isdigit() for c in text) or len(text) >= 4
