"""Stand-ins for agent CLIs: programs of their names that write down how they were started."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from adapters.agents.clis import known_clis
from bot.core.runs import Launch

NAMES = ("claude", "claude-print", "codex", "gemini", "opencode")
OWN_IDS = {
    "codex": "01a1f0b4-a1db-79a3-9c2a-b30e02fa4d96",
    "opencode": "ses_e0f4e98cdffe4UEE4LW3zMzU7T",
}
"""Those that choose the id of a conversation themselves, with one of theirs."""
CONVERSATION = "8a3c6d1e-2f4b-4c8d-9e0f-1a2b3c4d5e6f"
CLIS = known_clis(None)
_PROGRAM = """\
#!/bin/sh
case "$*" in --version) echo "fake-agent 99.2.3 (test)"; exit 0;; esac
seen=$(dirname "$0")/../seen
printf '%s\\n' "$@" > "$seen/arguments"
if [ -t 0 ]; then :; else cat > "$seen/stdin"; fi
env > "$seen/environment"
if [ -f "$seen/say" ]; then cat "$seen/say"; fi
exit "$(cat "$seen/code" 2>/dev/null || echo 0)"
"""


@dataclass(frozen=True)
class Started:
    code: int
    arguments: list[str]
    stdin: str
    environment: dict[str, str]
    shown: str


class Programs:
    """A folder of such programs, and what they saw."""

    def __init__(self, home: Path) -> None:
        home.mkdir(exist_ok=True)
        self.bin = home / "bin"
        self._seen = home / "seen"
        self._prompt = home / "prompt.md"
        self.spool = home / "spool"
        self.bin.mkdir()
        self._seen.mkdir()
        self.spool.mkdir()

    @property
    def environ(self) -> dict[str, str]:
        """As the bot's own environment could be, secrets included."""
        return {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "HOME": str(self.bin.parent),
            "OPENAI_API_KEY": "sk-of-the-bot",
            "ANTHROPIC_API_KEY": "sk-ant-of-claude",
            "CODEX_API_KEY": "key-of-codex",
            "GEMINI_API_KEY": "key-of-gemini",
            "SLACK_BOT_TOKEN": "xoxb-secret",
            "IS_SANDBOX": "1",
            "GWT_BOT_STAGE": "tests",
        }

    def add(self, name: str, program: str = _PROGRAM) -> None:
        path = self.bin / name.removesuffix("-print")
        path.write_text(program, encoding="utf-8")
        path.chmod(0o755)

    def remember(self, agent: str, conversation: str) -> None:
        """As if the CLI had begun that conversation."""
        keeps = CLIS[agent].keeps
        if keeps is not None:
            name = keeps.name.replace("{conversation}", conversation).replace("*", "x")
            name = name.replace("{conversation_begins}", conversation[:8])
            path = self.bin.parent / keeps.default / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def will_say(self, output: str, code: int = 0) -> None:
        (self._seen / "say").write_text(output, encoding="utf-8")
        (self._seen / "code").write_text(str(code), encoding="utf-8")

    def start(self, launch: Launch, prompt: str) -> Started:
        """As the pane does it: tokens replaced, the prompt on standard input where it is wanted."""
        self._prompt.write_text(prompt, encoding="utf-8")
        tokens = {"{prompt}": prompt, "{prompt_file}": str(self._prompt)}
        argv = [tokens.get(word, word) for word in launch.argv]
        for name, content in launch.files.items():
            (self.spool / name).write_text(content, encoding="utf-8")
        stdin = self._prompt if launch.stdin == "prompt" else Path(os.devnull)
        with stdin.open("rb") as source:
            done = subprocess.run(
                argv,
                stdin=source,
                capture_output=True,
                text=True,
                env={"PATH": self.environ["PATH"]} | launch.env,
                check=False,
            )
        return Started(
            code=done.returncode,
            arguments=self._read("arguments").splitlines(),
            stdin=self._read("stdin"),
            environment=dict(
                line.split("=", 1) for line in self._read("environment").splitlines() if "=" in line
            ),
            shown=done.stdout + done.stderr,
        )

    def _read(self, name: str) -> str:
        path = self._seen / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def is_gone(pid: int, *, within: float = 20.0) -> bool:
    """Whether a process ends in time. A dead one that nobody has buried yet counts as gone."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False
