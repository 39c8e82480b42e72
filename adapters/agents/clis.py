"""The known agent CLIs, one entry each: how it works on one instruction without asking anything, and what it may see."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from adapters.agents import limits
from adapters.agents.entry import (
    CONVERSATION,
    CONVERSATION_BEGINS,
    PROMPT,
    PROMPT_FILE,
    SPOOL,
    AgentCli,
    AsRoot,
    CliLogin,
    CliPlace,
    PromptBy,
    RepositorySetting,
    Streams,
    ToldBy,
)
from adapters.agents.preflight import claude_startup_questions

# The folder of a Claude Code run: settings that make it call a script, and the script.
#
# Settings given by `--settings` count more than those of a repository, and no repository can turn
# these hooks off.

HOOK_SETTINGS = "settings.json"
HOOK_SCRIPT = "hook.sh"
HOOK_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "Notification",
    "Stop",
    "StopFailure",
    "SessionEnd",
)
HOOK_SECONDS = 10
"""After so long Claude Code gives a hook up."""
_SCREEN = Path(__file__).with_name("screen")

# What is told is a file of its own; the names sort by time. Whatever goes wrong it ends well: any other exit code would
# speak to the agent. A file that is not whole yet is no JSON, and nobody heeds it. The end of a turn comes under its name
# only when the usage is written down, so that who sees the end finds it. Each program more takes an agent's time, and a
# person's who is asked something: there is one for the name and one for the rest.
_SCRIPT_TEXT = """\
#!/bin/sh
umask 077
exec 2>/dev/null
cd -- "${{0%/*}}" || exit 0
told=$(date +%s%N)-$$-$1.json
case $1 in
  Stop | StopFailure | SessionEnd)
    cat >"./.$told" || exit 0
    {python} -I -S {screen} used "./.$told" started report >&2 </dev/null
    mv "./.$told" "./$told" ;;
  *) cat >"./$told" ;;
esac
exit 0
"""


def claude_hooks(spool: str) -> Mapping[str, str]:
    settings = {
        # People approve the mode with the plan; a question in the pane would approve nothing more.
        "skipDangerousModePermissionPrompt": True,
        # Said here, a repository's own wish to have no hooks does not count.
        "disableAllHooks": False,
        "hooks": {event: [{"hooks": [_hook(spool, event)]}] for event in HOOK_EVENTS},
    }
    script = _SCRIPT_TEXT.format(
        python=shlex.quote(sys.executable), screen=shlex.quote(str(_SCREEN))
    )
    return {HOOK_SETTINGS: json.dumps(settings, indent=1), HOOK_SCRIPT: script}


def _hook(spool: str, event: str) -> dict[str, object]:
    command = f"{shlex.quote(f'{spool}/{HOOK_SCRIPT}')} {event}"
    return {"type": "command", "command": command, "timeout": HOOK_SECONDS}


NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
STAGE_VARIABLE = "GWT_BOT_STAGE"

_CLAUDE = (
    "claude",
    "--dangerously-skip-permissions",
    # These would ask a person, and nobody sits at the pane.
    "--disallowed-tools=AskUserQuestion,ExitPlanMode,EnterPlanMode",
)
_CLAUDE_PANE = (*_CLAUDE, f"--settings={SPOOL}/{HOOK_SETTINGS}")
# Its plain output says nothing until the very end.
_CLAUDE_PRINT = (*_CLAUDE, "--print", "--output-format=stream-json", "--verbose")
_CLAUDE_HOME = ("CLAUDE_CONFIG_DIR", ".claude")
_CLAUDE_READS = (
    *("settings.json", "CLAUDE.md", "agents", "commands", "hooks", "output-styles", "plugins"),
    *("rules", "skills"),
)
_CODEX_HOME = ("CODEX_HOME", ".codex")
_GEMINI = ("gemini", "--approval-mode=yolo", "--skip-trust", "--output-format=stream-json")
_OPENCODE = ("opencode", "run", "--auto", "--format=json")
_PLAYED = (
    sys.executable,
    "-P",  # a folder `adapters` of the repository is not to be taken for ours
    "-m",
    "adapters.demo.agent",
    "--prompt-file",
    PROMPT_FILE,
    "--conversation",
    CONVERSATION,
)


CLAUDE = AgentCli(
    name="claude",
    kind="ClaudeCode",
    # The prompt as an argument: typed too early it is lost. Behind `--`, for it may begin with anything.
    command=(*_CLAUDE_PANE, "--session-id", CONVERSATION, "--", PROMPT),
    resume=(*_CLAUDE_PANE, "--resume", CONVERSATION, "--", PROMPT),
    keeps=CliPlace(*_CLAUDE_HOME, f"projects/*/{CONVERSATION}.jsonl"),
    auto_flags="--dangerously-skip-permissions",
    oldest="2.1.145",  # from then on it tells at the end of a turn what still runs in the background
    prompt_by=PromptBy.ARGUMENT,
    told_by=ToldBy.HOOK,
    files=claude_hooks,
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
    login=CliLogin(
        variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        places=(
            CliPlace(*_CLAUDE_HOME, ".credentials.json"),
            CliPlace("CLAUDE_CONFIG_DIR", "", ".claude.json"),
        ),
        keys=("claudeAiOauth", "oauthAccount", "primaryApiKey"),
        remedy="Run `claude` once in a terminal and log in, or set ANTHROPIC_API_KEY.",
    ),
    asks=claude_startup_questions,
    settings=(
        RepositorySetting(
            ".claude/settings.json",
            ("hooks", "apiKeyHelper", "statusLine", "env", "awsAuthRefresh", "otelHeadersHelper"),
        ),
        RepositorySetting(
            ".claude/settings.json", ("ask",), "can have it ask a person for permission"
        ),
        RepositorySetting(
            ".claude/settings.json",
            ("Stop",),
            "can keep it at work when it has told its end (claude-print waits for that)",
        ),
        RepositorySetting(".claude/settings.local.json", ("hooks", "env", "apiKeyHelper")),
        RepositorySetting(".mcp.json", does="starts tool servers"),
    ),
    folders=(CliPlace("CLAUDE_CONFIG_DIR", ".claude"),),
    # It writes the first one anew all the time, and servers that are started with every session stand in it, too.
    copies=(CliPlace("CLAUDE_CONFIG_DIR", "", ".claude.json"),),
    reads=tuple(CliPlace(*_CLAUDE_HOME, name) for name in _CLAUDE_READS),
    writes=(CliPlace(*_CLAUDE_HOME, ".credentials.json"),),
    limits=limits.CLAUDE_LIMITS,
)
CLAUDE_PRINT = AgentCli(
    name="claude-print",
    kind="ClaudeCode",
    command=(*_CLAUDE_PRINT, "--session-id", CONVERSATION),
    resume=(*_CLAUDE_PRINT, "--resume", CONVERSATION),
    keeps=CLAUDE.keeps,
    auto_flags=CLAUDE.auto_flags,
    oldest=CLAUDE.oldest,
    streams=Streams.CLAUDE,
    receives=CLAUDE.receives,
    sets=CLAUDE.sets,
    as_root=CLAUDE.as_root,
    login=CLAUDE.login,
    settings=CLAUDE.settings,
    folders=CLAUDE.folders,
    copies=CLAUDE.copies,
    reads=CLAUDE.reads,
    writes=CLAUDE.writes,
    limits=CLAUDE.limits,
)
CODEX = AgentCli(
    name="codex",
    kind="Codex",
    # `exec` needs no background daemon, which would go on working when its pane is gone.
    command=("codex", "exec", "--json", "--yolo", "-"),
    resume=("codex", "exec", "resume", "--json", "--yolo", CONVERSATION, "-"),
    keeps=CliPlace("CODEX_HOME", ".codex", f"sessions/*/*/*/rollout-*{CONVERSATION}.jsonl*"),
    own_ids=r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    auto_flags="--yolo",
    oldest="0.169.0",
    streams=Streams.CODEX,
    # Not OPENAI_API_KEY: that may be the key of the master model.
    receives=(*NETWORK, "CODEX_API_KEY", "CODEX_HOME"),
    login=CliLogin(
        variables=("CODEX_API_KEY",),
        places=(
            CliPlace("CODEX_HOME", ".codex", "auth.json"),
            CliPlace("CODEX_HOME", ".codex", "config.toml"),
        ),
        keys=("OPENAI_API_KEY", "tokens", "model_provider"),
        remedy="Run `codex login`, or set CODEX_API_KEY.",
    ),
    settings=(
        RepositorySetting(".codex/config.toml"),
        RepositorySetting(".codex/hooks.json"),
        RepositorySetting(".env", ("CODEX_", "OPENAI_"), "changes its environment"),
    ),
    folders=(CliPlace(*_CODEX_HOME),),
    copies=(CliPlace(*_CODEX_HOME, "config.toml"),),
    reads=tuple(
        CliPlace(*_CODEX_HOME, name) for name in ("AGENTS.md", "prompts", "rules", "skills")
    ),
    writes=(CliPlace(*_CODEX_HOME, "auth.json"),),
    limits=limits.CODEX_LIMITS,
)
GEMINI = AgentCli(
    name="gemini",
    kind="Gemini",
    command=(*_GEMINI, "--session-id", CONVERSATION),
    resume=(*_GEMINI, "--resume", CONVERSATION),
    keeps=CliPlace("", ".gemini", f"tmp/*/chats/session-*{CONVERSATION_BEGINS}.json*"),
    # Without --skip-trust a new folder silently takes it out of the automatic mode.
    auto_flags="--approval-mode=yolo --skip-trust",
    oldest="0.61.0",
    streams=Streams.GEMINI,
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
    login=CliLogin(
        variables=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"),
        places=(
            CliPlace("", ".gemini", "settings.json"),
            CliPlace("", ".gemini", "oauth_creds.json"),
        ),
        keys=("selectedType", "refresh_token"),
        remedy="Run `gemini` once in a terminal and choose how to log in, or set GEMINI_API_KEY.",
    ),
    settings=(
        RepositorySetting(
            ".gemini/settings.json", ("hooks", "mcpServers", "tools", "discoveryCommand")
        ),
        RepositorySetting(".gemini/.env", does="changes its environment"),
        RepositorySetting(".env", ("GEMINI_", "GOOGLE_"), "changes its environment"),
        RepositorySetting(".gemini/extensions", does="adds extensions"),
    ),
    copies=tuple(
        CliPlace("", ".gemini", name)
        for name in ("settings.json", "installation_id", "projects.json")
    ),
    reads=tuple(CliPlace("", ".gemini", name) for name in ("GEMINI.md", "commands", "extensions")),
    writes=tuple(
        CliPlace("", ".gemini", name) for name in ("oauth_creds.json", "google_accounts.json")
    ),
    limits=limits.GEMINI_LIMITS,
)
OPENCODE = AgentCli(
    name="opencode",
    kind="OpenCode",
    command=_OPENCODE,
    resume=(*_OPENCODE, "--session", CONVERSATION),
    own_ids=r"ses_\w{8,60}",
    auto_flags="--auto",
    oldest="1.18.0",
    streams=Streams.OPENCODE,
    receives=(
        *NETWORK,
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "ANTHROPIC_API_KEY",
        "OPENROUTER_API_KEY",
    ),
    sets=(("OPENCODE_DISABLE_AUTOUPDATE", "1"),),
    login=CliLogin(
        variables=("ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"),
        places=(
            CliPlace("XDG_DATA_HOME", ".local/share", "opencode/auth.json"),
            CliPlace("OPENCODE_CONFIG", ""),
            CliPlace("OPENCODE_CONFIG_DIR", ".config/opencode", "opencode.json"),
            CliPlace("OPENCODE_CONFIG_DIR", ".config/opencode", "opencode.jsonc"),
        ),
        keys=("key", "apiKey", "refresh", "provider"),
        remedy="Run `opencode auth login`.",
    ),
    settings=(
        RepositorySetting("opencode.json", ("plugin", "mcp", "command", "permission", "lsp")),
        RepositorySetting("opencode.jsonc", ("plugin", "mcp", "command", "permission", "lsp")),
        RepositorySetting(".opencode/plugin"),
        RepositorySetting(".opencode/plugins"),
        RepositorySetting(".opencode/tool"),
    ),
    reads=(CliPlace("OPENCODE_CONFIG_DIR", ".config/opencode"), CliPlace("OPENCODE_CONFIG", "")),
    writes=(CliPlace("XDG_DATA_HOME", ".local/share", "opencode/auth.json"),),
    limits=limits.OPENCODE_LIMITS,
)
PLAYED = AgentCli(
    name="played",
    kind="Other",
    command=_PLAYED,
    resume=(*_PLAYED, "--resume"),
    version=(*_PLAYED[:4], "--version"),
    prompt_by=PromptBy.ARGUMENT,
    receives=(STAGE_VARIABLE, "GWT_BOT_PLAY", "GWT_BOT_PACE"),
    sets=(("PYTHONPATH", str(Path(__file__).parents[2])),),
    marker=".gwt-sample",
    stages=("demo", "tests"),
)


def known_clis(other: AgentCli | None) -> Mapping[str, AgentCli]:
    """Every CLI by its name, with the one the operator has named."""
    entries = (CLAUDE, CLAUDE_PRINT, CODEX, GEMINI, OPENCODE, PLAYED)
    return {cli.name: cli for cli in (*entries, *((other,) if other else ()))}
