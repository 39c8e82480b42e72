"""The agent CLIs that can serve as the master model, one entry each, and how to read the answer of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from adapters.llm.errors import read_problem

# Parse the JSON a CLI prints: its answer, or why there is none. No part of it is assumed to exist. No I/O.

_JsonObject = Mapping[str, object]
_NOTHING: _JsonObject = {}


@dataclass(frozen=True)
class CliAnswer:
    """The result of one run of a CLI."""

    text: str = ""
    failure: str = ""
    """The CLI's own error message; empty if it succeeded."""
    status: int = 0
    """The HTTP status the CLI reports; 0 if none."""
    stopped: str = ""
    """Why the model stopped, if reported."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    model: str = ""
    context_window: int = 0


def read_claude(output: str) -> CliAnswer:
    """Parse Claude Code's output:

    `--output-format=json` prints one object; with some settings it is the last of a list.
    """
    found = [said for said in _objects(output) if said.get("type") == "result"]
    if not found:
        return CliAnswer()
    said = found[-1]
    usage = _part(said, "usage")
    prompt = sum(
        _number(usage, name)
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    used = _part(said, "modelUsage")
    model = next(iter(used), "")
    return CliAnswer(
        text="" if said.get("is_error") else _text(said, "result"),
        failure=_failure_of_claude(said) if said.get("is_error") else "",
        status=_number(said, "api_error_status"),
        stopped=_text(said, "stop_reason"),
        prompt_tokens=prompt,
        reply_tokens=_number(usage, "output_tokens"),
        model=model,
        context_window=_number(_part(used, model), "contextWindow"),
    )


def _failure_of_claude(said: _JsonObject) -> str:
    errors = said.get("errors")
    listed = "; ".join(map(str, cast("list[object]", errors))) if isinstance(errors, list) else ""
    return _text(said, "result") or listed or _text(said, "subtype") or "no reason was given"


def read_codex(output: str) -> CliAnswer:
    """Parse Codex's output: `exec --json` prints one event per line; the last message is the answer."""
    text = failure = ""
    ended, usage = False, _NOTHING
    for said in _objects(output):
        match said.get("type"):
            case "item.completed" if _part(said, "item").get("type") == "agent_message":
                text = _text(_part(said, "item"), "text")
            case "turn.completed":
                ended, usage, failure = True, _part(said, "usage"), ""
            case "turn.failed":
                failure = _inner_message(_text(_part(said, "error"), "message"))
            case "error":
                # also sent for every retry; only the end of the turn decides
                failure = _inner_message(_text(said, "message"))
            case _:
                pass
    if text and not ended:
        failure = failure or "its turn did not come to an end"
    return CliAnswer(
        text="" if failure else text,
        failure=failure,
        prompt_tokens=_number(usage, "input_tokens"),
        reply_tokens=_number(usage, "output_tokens"),
    )


def _inner_message(message: str) -> str:
    # Some messages are the endpoint's own error object, as text.
    inner = next(_objects(message), None)
    return read_problem(0, inner, {}).message if inner else message or "no reason was given"


def _objects(output: str) -> Iterator[_JsonObject]:
    """Yield every JSON object that is on a line of its own, or in a list on one. Other lines are skipped."""
    for line in output.splitlines():
        if not line.lstrip().startswith(("{", "[")):
            continue
        try:
            found: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        listed = cast("list[object]", found) if isinstance(found, list) else [found]
        yield from (cast("_JsonObject", one) for one in listed if isinstance(one, dict))


def _part(said: _JsonObject, name: str) -> _JsonObject:
    found = said.get(name)
    return cast("_JsonObject", found) if isinstance(found, dict) else {}


def _text(said: _JsonObject, name: str) -> str:
    found = said.get(name)
    return found if isinstance(found, str) else ""


def _number(said: _JsonObject, name: str) -> int:
    found = said.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


# How each CLI answers one question with its tools disabled. Only data.

RULES_FILE = "{rules_file}"
"""Replaced by the path of the file with the system text."""

PLAIN_VARIABLES = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "SHELL"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
"""Environment variables a program needs to run, find its login, and reach the network."""


@dataclass(frozen=True)
class MasterCli:
    name: str
    """As in the setting LLM_PROVIDER."""
    command: tuple[str, ...]
    """Program and options for one question; the data is passed on standard input."""
    model_option: str
    read: Callable[[str], CliAnswer]
    """Parses its output."""
    receives: tuple[str, ...]
    """Environment variables of the bot it receives beside the plain ones: its own login, no others."""
    sets: tuple[tuple[str, str], ...]
    """Variables it gets unless the environment sets them."""
    login: str
    """The command a person types to log in."""
    expands: str = ""
    """Characters that make the CLI read files into a question. They are replaced by equivalent JSON escapes."""


CLAUDE_CODE = MasterCli(
    name="claude-code",
    command=(
        "claude",
        "--print",
        "--output-format=json",
        # an empty `--tools=` disables all tools
        "--tools=",
        # MCP servers of the user's own settings would bring tools back
        "--strict-mcp-config",
        "--no-session-persistence",
        "--system-prompt-file",
        RULES_FILE,
    ),
    model_option="--model",
    read=read_claude,
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
        # no hooks, plugins, skills, and no CLAUDE.md that somebody put beside or above the folder
        ("CLAUDE_CODE_SAFE_MODE", "1"),
        # the bot retries by itself, and reports it
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ),
    login="`claude`, then `/login`",
    # `@/any/path` in a user's text would show the model that file, even without tools
    expands="@",
)


_CODEX_DISABLED_FEATURES = (
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
"""Features that could run, reach or start something. Versions that do not know one of them ignore it."""

CODEX = MasterCli(
    name="codex",
    command=(
        *("codex", "exec", "--json", "--ephemeral", "--skip-git-repo-check"),
        *("--sandbox", "read-only"),
        # servers and tools of the user's own settings are ignored; the login is stored elsewhere
        *("--ignore-user-config", "--ignore-rules"),
        *("-c", f'model_instructions_file="{RULES_FILE}"'),
        *("-c", "project_doc_max_bytes=0"),
        *("-c", 'web_search="disabled"'),
        *("-c", "agents.enabled=false"),
        *("-c", "skills.include_instructions=false"),
        *("-c", "include_environment_context=false"),
        *("-c", "include_permissions_instructions=false"),
        *("-c", "include_collaboration_mode_instructions=false"),
        *(
            word
            for feature in _CODEX_DISABLED_FEATURES
            for word in ("-c", f"features.{feature}=false")
        ),
        "-",
    ),
    model_option="--model",
    read=read_codex,
    # not OPENAI_API_KEY, which may belong to something else
    receives=("CODEX_API_KEY", "CODEX_HOME"),
    sets=(),
    login="`codex login`",
)
