"""The known agent CLIs, one entry each: how it works on one instruction without asking, and what it may read."""

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
    EndSignal,
    PromptBy,
    RepositorySetting,
    Streams,
)
from adapters.agents.preflight import claude_startup_questions

# The run folder of Claude Code: settings that make it call a script, and the script. Settings passed by `--settings`
# override those of a repository, and no repository can disable these hooks.

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
"""Time-out after which Claude Code cancels a hook."""
_SCREEN = Path(__file__).with_name("screen")

# Each report is a file of its own; the names sort by time. The script always exits with 0: any other exit code would be
# a message to the agent. An incomplete file is no JSON and ignored. The file for the end of a turn is renamed only
# after the usage is written, so that whoever sees the end finds the usage. Every further program delays the agent, and
# a person who is asked something, so there is one for the name and one for the rest.
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
        # people approve the mode together with the plan; a question in the pane would approve nothing more
        "skipDangerousModePermissionPrompt": True,
        # set here, so that a repository cannot disable hooks
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
    # these tools would ask a person, and nobody sits at the pane
    "--disallowed-tools=AskUserQuestion,ExitPlanMode,EnterPlanMode",
)
_CLAUDE_PANE = (*_CLAUDE, f"--settings={SPOOL}/{HOOK_SETTINGS}")
# its plain output is empty until the very end
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
    "-P",  # a folder `adapters` of the repository must not be imported instead of ours
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
    # the prompt is an argument, because it would be lost if typed too early; behind `--`, because it may begin with
    # anything
    command=(*_CLAUDE_PANE, "--session-id", CONVERSATION, "--", PROMPT),
    resume=(*_CLAUDE_PANE, "--resume", CONVERSATION, "--", PROMPT),
    keeps=CliPlace(*_CLAUDE_HOME, f"projects/*/{CONVERSATION}.jsonl"),
    auto_flags="--dangerously-skip-permissions",
    oldest="2.1.145",  # from that version on it reports at the end of a turn what still runs in the background
    prompt_by=PromptBy.ARGUMENT,
    told_by=EndSignal.HOOK,
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
    # it rewrites this file all the time, and the file also lists servers that are started with every session
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
    # `exec` needs no background daemon, which would go on after its pane is gone
    command=("codex", "exec", "--json", "--yolo", "-"),
    resume=("codex", "exec", "resume", "--json", "--yolo", CONVERSATION, "-"),
    keeps=CliPlace("CODEX_HOME", ".codex", f"sessions/*/*/*/rollout-*{CONVERSATION}.jsonl*"),
    own_ids=r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    auto_flags="--yolo",
    oldest="0.169.0",
    streams=Streams.CODEX,
    # not OPENAI_API_KEY, which may be the key of the master model
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
    # without --skip-trust a new folder silently disables the automatic mode
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
    """Return every CLI by its name, including the one configured by the operator."""
    entries = (CLAUDE, CLAUDE_PRINT, CODEX, GEMINI, OPENCODE, PLAYED)
    return {cli.name: cli for cli in (*entries, *((other,) if other else ()))}
