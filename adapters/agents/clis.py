"""One entry for each agent CLI: how it starts on one instruction without asking anything, and what it may see."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

CONVERSATION = "{conversation}"
"""Replaced by the id of the conversation."""
PROMPT_FILE = "{prompt_file}"
"""Replaced by the path of the prompt, by whoever starts the pane."""
PROMPT = "{prompt}"
"""Replaced by the prompt itself. Linux takes at most 128 KiB of it."""


class PromptBy(StrEnum):
    """How a CLI is given its prompt."""

    STDIN = "stdin"
    """Its length has no limit there, and a CLI that has read to the end waits for no keyboard."""
    ARGUMENT = "argument"


class ToldBy(StrEnum):
    """What tells that a run is over."""

    EXIT = "exit"
    """The process ends. Started headless, every CLI here does. A hook at the end of a turn could only tell it too
    early: a hook of the repository's own may still send the agent on, and the exit code is not known yet."""
    MARKER = "marker"
    """It prints the marker of the run."""


@dataclass(frozen=True)
class AsRoot:
    """A CLI that does not work as root unless a variable says that nothing can be broken."""

    variable: str
    value: str


@dataclass(frozen=True)
class AgentCli:
    name: str
    kind: str
    """What the saved session calls it."""
    command: tuple[str, ...]
    """Program and options for a new conversation."""
    resume: tuple[str, ...] = ()
    """The same to go on with a conversation. Empty: it chooses its own ids, which are not known beforehand; a further
    run is a new conversation, and the prompt tells what came before."""
    auto_flags: str = ""
    """The options that let it work without asking. They stand in the command, and on the approval card."""
    version: tuple[str, ...] = ()
    """The command that prints its version; empty: the program and `--version`."""
    prompt_by: PromptBy = PromptBy.STDIN
    streams_json: bool = False
    """It prints a JSON event a line, which are turned into readable lines for the pane."""
    told_by: ToldBy = ToldBy.EXIT
    receives: tuple[str, ...] = ()
    """The environment variables of the bot that reach it, beside those every pane has."""
    sets: tuple[tuple[str, str], ...] = ()
    """Variables it always gets."""
    as_root: AsRoot | None = None
    marker: str = ""
    """A file that must be at the top of the repository."""
    stages: tuple[str, ...] = ()
    """It works only where GWT_BOT_STAGE is one of these. Empty: everywhere."""

    @property
    def version_command(self) -> tuple[str, ...]:
        return self.version or (self.command[0], "--version")


NETWORK = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
)
STAGE_VARIABLE = "GWT_BOT_STAGE"

_CLAUDE = (
    "claude",
    "--print",
    "--dangerously-skip-permissions",
    # These would ask a person, and nobody sits at the pane.
    "--disallowed-tools=AskUserQuestion,ExitPlanMode,EnterPlanMode",
    # Its plain output says nothing until the very end.
    "--output-format=stream-json",
    "--verbose",
)
_GEMINI = ("gemini", "--approval-mode=yolo", "--skip-trust")
_PLAYED = (
    sys.executable,
    "-P",  # a folder `adapters` of the repository is not to be taken for ours
    "-m",
    "adapters.played.agent",
    "--prompt-file",
    PROMPT_FILE,
    "--conversation",
    CONVERSATION,
)


CLAUDE = AgentCli(
    name="claude",
    kind="ClaudeCode",
    command=(*_CLAUDE, "--session-id", CONVERSATION),
    resume=(*_CLAUDE, "--resume", CONVERSATION),
    auto_flags="--dangerously-skip-permissions",
    streams_json=True,
    receives=(
        *NETWORK,
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_MAX_RETRIES",
        "IS_SANDBOX",
    ),
    sets=(("DISABLE_AUTOUPDATER", "1"),),
    as_root=AsRoot("IS_SANDBOX", "1"),
)
CODEX = AgentCli(
    name="codex",
    kind="Codex",
    # `exec` needs no background daemon, which would go on working when its pane is gone.
    command=("codex", "exec", "--yolo", "-"),
    auto_flags="--yolo",
    # Not OPENAI_API_KEY: that may be the key of the master model.
    receives=(*NETWORK, "CODEX_API_KEY", "CODEX_HOME"),
)
GEMINI = AgentCli(
    name="gemini",
    kind="Gemini",
    command=(*_GEMINI, "--session-id", CONVERSATION),
    resume=(*_GEMINI, "--resume", CONVERSATION),
    # Without --skip-trust a new folder silently takes it out of the automatic mode.
    auto_flags="--approval-mode=yolo --skip-trust",
    receives=(
        *NETWORK,
        "GEMINI_API_KEY",
        "GEMINI_MODEL",
        "GOOGLE_API_KEY",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
    ),
    sets=(("GEMINI_CLI_NO_RELAUNCH", "true"),),
)
OPENCODE = AgentCli(
    name="opencode",
    kind="OpenCode",
    command=("opencode", "run", "--auto"),
    auto_flags="--auto",
    receives=(
        *NETWORK,
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "ANTHROPIC_API_KEY",
        "OPENROUTER_API_KEY",
    ),
    sets=(("OPENCODE_DISABLE_AUTOUPDATE", "1"),),
)
PLAYED = AgentCli(
    name="played",
    kind="Other",
    command=_PLAYED,
    resume=(*_PLAYED, "--resume"),
    version=(
        sys.executable,
        "-P",
        "-m",
        "adapters.played.agent",
        "--version",
    ),
    prompt_by=PromptBy.ARGUMENT,
    receives=(STAGE_VARIABLE, "GWT_BOT_PLAY", "GWT_BOT_PACE"),
    sets=(("PYTHONPATH", str(Path(__file__).parents[2])),),
    marker=".gwt-sample",
    stages=("demo", "tests"),
)


def known(other: AgentCli | None) -> Mapping[str, AgentCli]:
    """Every CLI by its name, with the one the operator has named."""
    entries = (CLAUDE, CODEX, GEMINI, OPENCODE, PLAYED, *((other,) if other else ()))
    return {cli.name: cli for cli in entries}
