"""The agent CLIs that can be the master model, one entry each, and how the answer of each is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from adapters.llm.errors import read_problem

# Reads what a CLI prints as JSON: its answer, or why there is none. Nothing is believed to be
# there. Pure.

_JsonObject = Mapping[str, object]
_NOTHING: _JsonObject = {}


@dataclass(frozen=True)
class CliAnswer:
    """All that matters of one run."""

    text: str = ""
    failure: str = ""
    """In the CLI's own words; empty: it did not fail."""
    status: int = 0
    """The HTTP status its own endpoint gave it; 0: not told."""
    stopped: str = ""
    """Why the model stopped, where it is told."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    model: str = ""
    context_window: int = 0


def read_claude(output: str) -> CliAnswer:
    """`--output-format=json` prints one object; with some settings it is the last of a list."""
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
    """`exec --json` prints an event a line; the last message is the answer."""
    text = failure = ""
    ended, usage = False, _NOTHING
    for said in _objects(output):
        match said.get("type"):
            case "item.completed" if _part(said, "item").get("type") == "agent_message":
                text = _text(_part(said, "item"), "text")
            case "turn.completed":
                ended, usage, failure = True, _part(said, "usage"), ""
            case "turn.failed":
                failure = _unwrapped(_text(_part(said, "error"), "message"))
            case "error":
                # Also told of each try that is made again; only the end of the turn decides.
                failure = _unwrapped(_text(said, "message"))
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


def _unwrapped(message: str) -> str:
    """Some messages are the endpoint's own error object, as text."""
    inner = next(_objects(message), None)
    return read_problem(0, inner, {}).message if inner else message or "no reason was given"


def _objects(output: str) -> Iterator[_JsonObject]:
    """Every JSON object that stands on a line of its own, or in a list on one. Other lines are somebody's remarks."""
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


# How each answers one question with its tools off. Data.

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
    read: Callable[[str], CliAnswer]
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
    read=read_codex,
    # Not OPENAI_API_KEY: it may be the key of something else.
    receives=("CODEX_API_KEY", "CODEX_HOME"),
    sets=(),
    login="`codex login`",
)
