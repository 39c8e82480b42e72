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

# What is told is a file of its own, put there whole; the names sort by time. Whatever goes wrong it ends well: any other
# exit code would speak to the agent. The usage is written down first, so that who sees the end finds it.
_SCRIPT = """\
#!/bin/sh
umask 077
exec 2>/dev/null
cd -- "${{0%/*}}" || exit 0
told=$(mktemp ./.hook.XXXXXX) || exit 0
cat >"$told" || exit 0
case $1 in
  Stop | StopFailure | SessionEnd) {python} -I {screen} used "$told" started report >&2 </dev/null ;;
esac
mv "$told" "./$(date +%s%N)-$$-$1.json"
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
