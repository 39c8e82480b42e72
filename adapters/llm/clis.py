"""One entry for each agent CLI that can be the master model: how it answers one question with its tools off. Data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adapters.llm.told import Told, told_by_claude, told_by_codex

RULES_FILE = "{rules_file}"
"""Replaced by the path of the file that holds the system text."""

PLAIN = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "SHELL"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
"""What a program needs to be itself, to find its login, and to reach the network."""


@dataclass(frozen=True)
class MasterCli:
    name: str
    """As the setting LLM_PROVIDER calls it."""
    command: tuple[str, ...]
    """Program and options for one question; the data comes on its standard input."""
    model_option: str
    read: Callable[[str], Told]
    """What its output says."""
    receives: tuple[str, ...]
    """The variables of the bot's environment that reach it, beside the plain ones: its own login, nobody else's."""
    sets: tuple[tuple[str, str], ...]
    """Variables it gets where the environment does not say otherwise."""
    login: str
    """What a person types to log in."""
    expands: str = ""
    """Signs before which it reads files into a question. They are written as JSON's escapes, which say the same."""


CLAUDE_CODE = MasterCli(
    name="claude-code",
    command=(
        "claude",
        "--print",
        "--output-format=json",
        # `--tools=` with nothing behind it: none of them.
        "--tools=",
        # Servers of the user's own settings would bring tools back.
        "--strict-mcp-config",
        "--no-session-persistence",
        "--system-prompt-file",
        RULES_FILE,
    ),
    model_option="--model",
    read=told_by_claude,
    receives=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "CLAUDE_CODE_MAX_RETRIES",
    ),
    sets=(
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        # No hooks, plugins, skills, and no CLAUDE.md that somebody put beside or above the folder.
        ("CLAUDE_CODE_SAFE_MODE", "1"),
        # The bot tries again by itself, and says so.
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ),
    login="`claude`, then `/login`",
    # `@/any/path` in somebody's words would show the model that file, tools or no tools.
    expands="@",
)


_CODEX_OFF = (
    "shell_tool",
    "unified_exec",
    "multi_agent",
    "multi_agent_v2",
    "apps",
    "plugins",
    "hooks",
    "goals",
    "view_image",
    "image_generation",
    "skill_search",
    "tool_suggest",
    "sleep_tool",
)
"""What could run, reach or start something. A version that does not know one of them passes it over."""

CODEX = MasterCli(
    name="codex",
    command=(
        *("codex", "exec", "--json", "--ephemeral", "--skip-git-repo-check"),
        *("--sandbox", "read-only"),
        # Servers and tools of the user's own settings stay out; the login is kept elsewhere.
        *("--ignore-user-config", "--ignore-rules"),
        *("-c", f'model_instructions_file="{RULES_FILE}"'),
        *("-c", "project_doc_max_bytes=0"),
        *("-c", 'web_search="disabled"'),
        *("-c", "agents.enabled=false"),
        *("-c", "skills.include_instructions=false"),
        *("-c", "include_environment_context=false"),
        *("-c", "include_permissions_instructions=false"),
        *("-c", "include_collaboration_mode_instructions=false"),
        *(word for feature in _CODEX_OFF for word in ("-c", f"features.{feature}=false")),
        "-",
    ),
    model_option="--model",
    read=told_by_codex,
    # Not OPENAI_API_KEY: it may be the key of something else.
    receives=("CODEX_API_KEY", "CODEX_HOME"),
    sets=(),
    login="`codex login`",
)
