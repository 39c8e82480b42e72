"""What there is to know of an agent CLI. One entry is one CLI; no code asks which one it has before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from adapters.agents.limits import LimitWords

CONVERSATION = "{conversation}"
"""Replaced by the id of the conversation."""
CONVERSATION_BEGINS = "{conversation_begins}"
"""Its first eight characters, in the name of a file."""
SPOOL = "{spool}"
"""Replaced by the run's folder, also inside a word."""
PROMPT_FILE = "{prompt_file}"
"""Replaced by the path of the prompt, by whoever starts the pane."""
PROMPT = "{prompt}"
"""Replaced by the prompt itself, or, where it is too long for an argument, by the wish to read its file."""


class PromptBy(StrEnum):
    """How a CLI is given its prompt."""

    STDIN = "stdin"
    """Its length has no limit there, and a CLI that has read to the end waits for no keyboard."""
    ARGUMENT = "argument"


class ToldBy(StrEnum):
    """What tells that a run is over."""

    EXIT = "exit"
    """The process ends, as it does with every CLI that is started on one instruction without a screen of its own."""
    HOOK = "hook"
    """A program the CLI calls at the end of a turn leaves word in the run's folder. The process lives on."""
    MARKER = "marker"
    """It prints the marker of the run."""


class Streams(StrEnum):
    """Whose JSON events it prints, one a line. They are turned into readable lines for the pane."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    OPENCODE = "opencode"


@dataclass(frozen=True)
class AsRoot:
    """A CLI that does not work as root unless a variable says that nothing can be broken."""

    variable: str
    value: str


@dataclass(frozen=True)
class CliPlace:
    """A folder or file of a CLI's own: below a folder that a variable names, or else below the home folder."""

    variable: str
    default: str
    name: str = ""
    """A path below it, in which `{conversation}` and `*` may stand."""


@dataclass(frozen=True)
class CliLogin:
    """How it can be known, without asking anybody, that somebody has logged in."""

    variables: tuple[str, ...]
    """One of them set is enough."""
    places: tuple[CliPlace, ...]
    """One of these files there is enough, with one of `keys` in it."""
    remedy: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class RepositorySetting:
    """A file of a repository by which it can have the CLI run something, before anybody has looked at it."""

    path: str
    keys: tuple[str, ...] = ()
    """What in it makes it so: words, one of which stands in the file. Empty: that it is there."""
    does: str = "can run commands"


HookFiles = Callable[[str], Mapping[str, str]]
"""From the run's folder: what has to lie in it when the CLI starts."""
Warnings = Callable[[Mapping[str, str], str, bool], tuple[str, ...]]
"""From the environment, the main checkout, and whether somebody is there: what a person may be asked at the first start."""


@dataclass(frozen=True)
class AgentCli:
    name: str
    kind: str
    """What the saved session calls it."""
    command: tuple[str, ...]
    """Program and options for a new conversation."""
    resume: tuple[str, ...] = ()
    """The same to go on with a conversation. Empty: every run is a new one, and the prompt tells what came before."""
    keeps: CliPlace | None = None
    """Where a conversation lies: one that is not there cannot be gone on with. None: not to be known."""
    own_ids: str = ""
    """The shape of the ids where it chooses them itself: a pattern. An id of another shape is not one of its own."""
    auto_flags: str = ""
    """The options that let it work without asking. They stand in the command, and on the approval card."""
    tried: bool = True
    """Whether it is asked for its version before anybody has approved anything. What an operator's own command does
    with `--version` is not known, so it is not started."""
    version: tuple[str, ...] = ()
    """The command that prints its version; empty: the program and `--version`."""
    oldest: str = ""
    """The oldest version that has these options."""
    prompt_by: PromptBy = PromptBy.STDIN
    streams: Streams | None = None
    told_by: ToldBy = ToldBy.EXIT
    files: HookFiles | None = None
    receives: tuple[str, ...] = ()
    """The environment variables of the bot that reach it, beside those every pane has."""
    sets: tuple[tuple[str, str], ...] = ()
    """Variables it always gets."""
    as_root: AsRoot | None = None
    login: CliLogin | None = None
    asks: Warnings | None = None
    settings: tuple[RepositorySetting, ...] = ()
    folders: tuple[CliPlace, ...] = ()
    """Where in the sandbox it keeps what it keeps, beside the home folder."""
    copies: tuple[CliPlace, ...] = ()
    """Files it gets copies of in the sandbox: what is changed in them there is thrown away."""
    reads: tuple[CliPlace, ...] = ()
    """What of the user's own settings it may read there."""
    writes: tuple[CliPlace, ...] = ()
    """Logins that it renews in place."""
    limits: tuple[LimitWords, ...] = ()
    """How it says that its account has nothing left for now."""
    marker: str = ""
    """A file that must be at the top of the repository."""
    stages: tuple[str, ...] = ()
    """It works only where GWT_BOT_STAGE is one of these. Empty: everywhere."""

    @property
    def version_command(self) -> tuple[str, ...]:
        return self.version or (self.command[0], "--version")
