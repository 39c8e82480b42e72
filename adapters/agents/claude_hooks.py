"""What lies in the folder of a Claude Code run: settings that have it call a script, and the script.

Settings given by `--settings` count more than those of a repository, and no repository can turn these hooks off.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

SETTINGS = "settings.json"
SCRIPT = "hook.sh"
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "Notification",
    "Stop",
    "StopFailure",
    "SessionEnd",
)
SECONDS = 10
"""After so long Claude Code gives a hook up."""
_SCREEN = Path(__file__).with_name("screen")

# What is told is a file of its own; the names sort by time. Whatever goes wrong it ends well: any other exit code would
# speak to the agent. A file that is not whole yet is no JSON, and nobody heeds it. The end of a turn comes under its name
# only when the usage is written down, so that who sees the end finds it. Each program more takes an agent's time, and a
# person's who is asked something: there is one for the name and one for the rest.
_SCRIPT = """\
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
        "hooks": {event: [{"hooks": [_hook(spool, event)]}] for event in EVENTS},
    }
    script = _SCRIPT.format(python=shlex.quote(sys.executable), screen=shlex.quote(str(_SCREEN)))
    return {SETTINGS: json.dumps(settings, indent=1), SCRIPT: script}


def _hook(spool: str, event: str) -> dict[str, object]:
    command = f"{shlex.quote(f'{spool}/{SCRIPT}')} {event}"
    return {"type": "command", "command": command, "timeout": SECONDS}
