"""The description of an agent CLI: one entry per CLI, and no code depends on which one it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from adapters.agents.limits import LimitWords

CONVERSATION = "{conversation}"
"""Replaced by the id of the conversation."""
CONVERSATION_BEGINS = "{conversation_begins}"
"""Replaced by its first eight characters, in the name of a file."""
SPOOL = "{spool}"
"""Replaced by the run's folder, also inside a word."""
PROMPT_FILE = "{prompt_file}"
"""Replaced by the path of the prompt file when the pane is started."""
PROMPT = "{prompt}"
"""Replaced by the prompt or, if that is too long for an argument, by the request to read its file."""


class PromptBy(StrEnum):
    """How a CLI receives its prompt."""

    STDIN = "stdin"
    """No limit of length, and a CLI that has read to the end waits for no keyboard."""
    ARGUMENT = "argument"


class EndSignal(StrEnum):
    """How the end of a run is recognised."""

    EXIT = "exit"
    """The process ends, as with every CLI that is started on one instruction without a screen of its own."""
    HOOK = "hook"
    """A hook program called by the CLI at the end of a turn writes to the run's folder. The process goes on."""
    MARKER = "marker"
    """The CLI prints the marker of the run."""


class Streams(StrEnum):
    """The format of the JSON events it prints, one per line. They are converted into readable lines for the pane."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    OPENCODE = "opencode"


@dataclass(frozen=True)
class AsRoot:
    """For a CLI that refuses to work as root unless a variable declares the environment safe."""

    variable: str
    value: str


@dataclass(frozen=True)
class CliPlace:
    """A folder or file of a CLI: below the folder named by a variable or, without it, below the home folder."""

    variable: str
    default: str
    name: str = ""
    """A path below it, which may contain `{conversation}` and `*`."""


@dataclass(frozen=True)
class CliLogin:
    """How to recognise, without asking anybody, that somebody has logged in."""

    variables: tuple[str, ...]
    """It is enough that one of them is set."""
    places: tuple[CliPlace, ...]
    """It is enough that one of these files exists and contains one of `keys`."""
    remedy: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class RepositorySetting:
    """A file in a repository that can make the CLI run something before anybody has looked at it."""

    path: str
    keys: tuple[str, ...] = ()
    """Words, any of which in the file makes it so. Empty: its existence is enough."""
    does: str = "can run commands"


HookFiles = Callable[[str], Mapping[str, str]]
"""Takes the run's folder; returns the files that must be in it when the CLI starts."""
Warnings = Callable[[Mapping[str, str], str, bool], tuple[str, ...]]
"""Takes the environment, the main checkout, and whether a person is present; returns what the CLI may ask at its first
start.
"""


@dataclass(frozen=True)
class AgentCli:
    name: str
    kind: str
    """Its name in the saved session."""
    command: tuple[str, ...]
    """Program and options for a new conversation."""
    resume: tuple[str, ...] = ()
    """Program and options to continue a conversation.

    Empty: every run starts a new one, and the prompt repeats what came before.
    """
    keeps: CliPlace | None = None
    """Where conversations are stored, because only an existing one can be continued. None: unknown."""
    own_ids: str = ""
    """Pattern of the conversation ids if the CLI chooses them itself; other ids are not its own."""
    auto_flags: str = ""
    """The options that let it work without asking, as in the command and on the approval card."""
    tried: bool = True
    """Whether it is asked for its version before anybody has approved anything.

    It is unknown what an operator's own command does with `--version`, so it is not started.
    """
    version: tuple[str, ...] = ()
    """The command that prints its version; empty: the program with `--version`."""
    oldest: str = ""
    """The oldest version that supports these options."""
    prompt_by: PromptBy = PromptBy.STDIN
    streams: Streams | None = None
    told_by: EndSignal = EndSignal.EXIT
    files: HookFiles | None = None
    receives: tuple[str, ...] = ()
    """The environment variables of the bot it receives, beside those of every pane."""
    sets: tuple[tuple[str, str], ...] = ()
    """Variables that are always set."""
    as_root: AsRoot | None = None
    login: CliLogin | None = None
    asks: Warnings | None = None
    settings: tuple[RepositorySetting, ...] = ()
    folders: tuple[CliPlace, ...] = ()
    """Folders it may write in the sandbox, beside the home folder."""
    copies: tuple[CliPlace, ...] = ()
    """Files it gets as copies in the sandbox; changes to them are discarded."""
    reads: tuple[CliPlace, ...] = ()
    """The user's own settings it may read in the sandbox."""
    writes: tuple[CliPlace, ...] = ()
    """Logins that it renews in place."""
    limits: tuple[LimitWords, ...] = ()
    """How it reports that its account has reached a usage limit."""
    marker: str = ""
    """A file that must exist at the top of the repository."""
    stages: tuple[str, ...] = ()
    """Works only if GWT_BOT_STAGE is one of these. Empty: always."""

    @property
    def version_command(self) -> tuple[str, ...]:
        return self.version or (self.command[0], "--version")
