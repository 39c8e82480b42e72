"""Every command that people may type: its word, its help, what answers it, and who may use it.

`parse_command` in `choices` parses what was typed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from bot.core.choices import Command, Word
from bot.core.people import Role


class AnsweredBy(Enum):
    EVERYWHERE = auto()
    """By the desk, whether or not the thread has a session: overview.GeneralAnswers."""
    SESSION = auto()
    """By the session of the thread or the one that is named: steps/control."""
    INTENTS = auto()
    KNOWLEDGE = auto()
    BRANCHES = auto()
    BEGINS = auto()
    """It starts a session, or is passed to the thread's session: session_factory."""


@dataclass(frozen=True)
class CommandRow:
    word: Word
    usage: str
    """As the help shows it, optional arguments in brackets."""
    help: str
    answered_by: AnsweredBy
    role: Role = Role.START
    role_to_set: Role | None = None
    """The role needed if the command has an argument that changes something."""
    setting: tuple[str, ...] = ()
    """The arguments that change something; empty means all."""
    set_by_text: bool = False
    """The text after the argument makes it a change; the argument names a session."""
    own_argument: bool = False
    """The argument names something within the session, not a session."""
    pickable: bool = False
    """It only reports on a session or continues it: if several are possible, the user picks one by a button."""
    from_here: bool = False
    """The operator may use it for sessions of every chat."""
    like_talk: bool = False
    """Free text follows: unless the bot is mentioned, it may well be talk."""
    only_reads: bool = False
    """It is not recorded in the audit log."""
    only_looks: bool = False
    """It does not count as the user's last message: `catch up` still reports what came before."""

    def role_for(self, command: Command) -> Role:
        said = command.text if self.set_by_text else command.argument
        if self.role_to_set and said and (not self.setting or said in self.setting):
            return self.role_to_set
        return self.role


_ROWS = (
    CommandRow(
        Word.STATUS,
        "status",
        "how things stand here",
        AnsweredBy.SESSION,
        pickable=True,
        only_reads=True,
        only_looks=True,
    ),
    CommandRow(
        Word.CATCH_UP,
        "catch up",
        "what happened since you spoke last",
        AnsweredBy.SESSION,
        pickable=True,
        only_reads=True,
        only_looks=True,
    ),
    CommandRow(
        Word.INBOX,
        "inbox",
        "everything that waits for somebody",
        AnsweredBy.EVERYWHERE,
        only_reads=True,
    ),
    CommandRow(
        Word.INTENT,
        "intent [list]",
        "what is wished for in this repository; show, approve, reject, run and its name",
        AnsweredBy.INTENTS,
        role_to_set=Role.APPROVE,
        setting=("approve", "reject"),
    ),
    CommandRow(
        Word.REFLECT,
        "reflect",
        "make proposed intents of what agents have noticed",
        AnsweredBy.KNOWLEDGE,
    ),
    CommandRow(
        Word.AUDIT,
        "audit",
        "what is known here that is out of date",
        AnsweredBy.KNOWLEDGE,
    ),
    CommandRow(
        Word.TASKS,
        "tasks",
        "every task, its state and its branch",
        AnsweredBy.SESSION,
        pickable=True,
        only_reads=True,
        only_looks=True,
    ),
    CommandRow(
        Word.STOP,
        "stop",
        "end all agents of this session at once; nothing is lost",
        AnsweredBy.SESSION,
        role=Role.STOP,
        from_here=True,
    ),
    CommandRow(
        Word.RESUME,
        "resume [id]",
        "go on, or try again what has failed",
        AnsweredBy.SESSION,
        from_here=True,
    ),
    CommandRow(
        Word.DISCARD,
        "discard [id]",
        "give a session up; its branches stay",
        AnsweredBy.SESSION,
        role=Role.APPROVE,
    ),
    CommandRow(
        Word.DECISIONS,
        "decisions",
        "what was asked and answered, numbered D1, D2 …",
        AnsweredBy.SESSION,
        pickable=True,
        only_reads=True,
        only_looks=True,
    ),
    CommandRow(
        Word.ASK,
        "ask a question",
        "an answer about the code, the plan or the progress, with the places that prove it",
        AnsweredBy.KNOWLEDGE,
        like_talk=True,
    ),
    CommandRow(
        Word.CONTEXT,
        "context",
        "what was read of the repository, and why",
        AnsweredBy.SESSION,
        pickable=True,
        only_reads=True,
        only_looks=True,
    ),
    CommandRow(
        Word.REOPEN,
        "reopen D1 [answer]",
        "decide anew; without an answer it is asked again",
        AnsweredBy.SESSION,
        own_argument=True,
    ),
    CommandRow(
        Word.SESSIONS,
        "sessions",
        "all sessions",
        AnsweredBy.EVERYWHERE,
        only_reads=True,
    ),
    CommandRow(
        Word.INFO,
        "info [id]",
        "where a session works, and from what",
        AnsweredBy.SESSION,
        pickable=True,
        only_reads=True,
        only_looks=True,
    ),
    CommandRow(
        Word.LOGS,
        "logs [task]",
        "what happened to a task, and where its output is kept",
        AnsweredBy.SESSION,
        own_argument=True,
        pickable=True,
        only_reads=True,
        only_looks=True,
    ),
    CommandRow(
        Word.TAKEOVER,
        "takeover T001",
        "work in an agent's pane yourself; nothing is typed there meanwhile",
        AnsweredBy.SESSION,
        role=Role.APPROVE,
        own_argument=True,
    ),
    CommandRow(
        Word.HANDBACK,
        "handback T001",
        "give it back",
        AnsweredBy.SESSION,
        role=Role.APPROVE,
        own_argument=True,
    ),
    CommandRow(
        Word.USE,
        "use codex for T001",
        "another agent works on a task, on the same branch",
        AnsweredBy.SESSION,
        role=Role.APPROVE,
        own_argument=True,
    ),
    CommandRow(
        Word.CONTINUE,
        "continue [id]",
        "do what the final judgement found missing",
        AnsweredBy.SESSION,
        pickable=True,
        from_here=True,
    ),
    CommandRow(
        Word.USAGE,
        "usage",
        "what the model has cost",
        AnsweredBy.SESSION,
        pickable=True,
        only_reads=True,
        only_looks=True,
    ),
    CommandRow(
        Word.REPO,
        "repo [name]",
        "which repository requests here are about, or bind this channel to one",
        AnsweredBy.EVERYWHERE,
        role_to_set=Role.ADMIN,
    ),
    CommandRow(
        Word.RELINK,
        "relink [id] /path",
        "where a session's repository lies now, after it was moved; the session goes on there",
        AnsweredBy.SESSION,
        role=Role.ADMIN,
    ),
    CommandRow(
        Word.BRANCHES,
        "branches",
        "every branch, with its session and task",
        AnsweredBy.BRANCHES,
        only_reads=True,
    ),
    CommandRow(
        Word.BRANCH,
        "branch feature/x",
        "what it brings, in short and in full; merge or delete it",
        AnsweredBy.BRANCHES,
        like_talk=True,
        only_reads=True,
    ),
    CommandRow(
        Word.SPEC,
        "spec what it is about",
        "write spec, plan and tasks of it, and nothing more",
        AnsweredBy.BEGINS,
        like_talk=True,
    ),
    CommandRow(
        Word.TESTS,
        "tests",
        "which command runs the tests; tests: make check sets it for the repository",
        AnsweredBy.SESSION,
        pickable=True,
        role_to_set=Role.APPROVE,
        set_by_text=True,
    ),
    CommandRow(
        Word.SET_UP,
        "setup",
        "what is run in each new worktree first; setup: none leaves it out in this session",
        AnsweredBy.SESSION,
        role_to_set=Role.APPROVE,
        set_by_text=True,
        pickable=True,
    ),
    CommandRow(
        Word.VERBOSITY,
        "verbosity [quiet, normal, full]",
        "how much is said in this thread",
        AnsweredBy.SESSION,
        own_argument=True,
        only_reads=True,
    ),
    CommandRow(
        Word.MODEL,
        "model [https://… name]",
        "which model is asked, or from now on (its key stands in .env only)",
        AnsweredBy.EVERYWHERE,
        only_reads=True,
    ),
    CommandRow(
        Word.KEYS,
        "keys",
        "which keys are set (never their values)",
        AnsweredBy.EVERYWHERE,
        role=Role.ADMIN,
    ),
    CommandRow(
        Word.HELP,
        "help",
        "this",
        AnsweredBy.EVERYWHERE,
        only_reads=True,
    ),
)
"""In the order of the help."""
COMMANDS = {row.word: row for row in _ROWS}
HELP = tuple((row.usage, row.help) for row in _ROWS)


def words_answered_by(who: AnsweredBy) -> frozenset[Word]:
    return frozenset(row.word for row in _ROWS if row.answered_by is who)
