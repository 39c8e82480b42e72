"""An agent that first does what its play says, then the played agent's work: `agent.py FOLDER --prompt-file F --conversation C`.

FOLDER/play.json names the acts of each run of each task; FOLDER/starts and FOLDER/keys tell what became of them.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Callable, Mapping
from pathlib import Path

LONGEST = 240.0
"""Seconds after which it gives up, should nobody have ended it."""
RULE = "─" * 60


def main() -> int:
    folder, arguments = Path(sys.argv[1]), sys.argv[2:]
    prompt = Path(arguments[arguments.index("--prompt-file") + 1]).read_text(encoding="utf-8")
    found = re.match(r"# Task (T\d+)", prompt)
    stage = Stage(folder, found[1] if found else "?")
    stage.note("starts", os.environ["GWT_RUN"], str(os.getpid()), *arguments[2:])
    for act, *words in stage.play():
        code = ACTS[act](stage, *words)
        if code is not None:
            return code
    sys.path.insert(0, str(Path(__file__).parents[3]))
    from adapters.demo.agent import main as play

    return play(arguments, os.environ, Path.cwd())


class Stage:
    """Where its play lies, and where it notes what it did."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key

    def play(self) -> list[list[str]]:
        """The acts of this run."""
        plays: Mapping[str, list[list[list[str]]]] = json.loads(self._read("play.json") or "{}")
        runs = sum(line.split()[0] == self.key for line in self._read("starts").splitlines()) - 1
        mine = plays.get(self.key, [])
        return mine[runs] if runs < len(mine) else []

    def note(self, name: str, *words: str) -> None:
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(" ".join((self.key, *words)) + "\n")

    def until(self, name: str) -> None:
        """Wait for a file."""
        deadline = time.monotonic() + LONGEST
        while not (self.folder / name).exists():
            if time.monotonic() > deadline:
                raise SystemExit(9)
            time.sleep(0.05)

    def _read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def menu(stage: Stage, wanted: str, deaf_until: str = "") -> None:
    """Draw a menu and wait for its key. Deaf, it notes keys and goes on asking until a file is there."""
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    try:
        _draw(wanted)
        while True:
            key = os.read(0, 1).decode(errors="replace")
            stage.note("keys", key)
            if key in "123" and (not deaf_until or (stage.folder / deaf_until).exists()):
                break
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
    say("\x1b[2J\x1b[H● Chosen. I go on.", "")


def _draw(wanted: str) -> None:
    say("● I would like to run something.", "", RULE, " Bash command", "")
    say(f"   {wanted}", "   Runs it in a shell", "")
    say(" Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and don't ask again", "   3. No", "")
    say(" Esc to cancel · Tab to amend")


def wait(stage: Stage, name: str) -> None:
    say(f"● Waiting for {name}")
    stage.until(name)


def chatter(stage: Stage, name: str) -> None:
    """Say something all the time, until a file is there."""
    begun = time.monotonic()
    while not (stage.folder / name).exists() and time.monotonic() < begun + LONGEST:
        say(f"● Thought {time.monotonic() - begun:.1f}")
        time.sleep(0.2)


def leave(stage: Stage, code: str) -> int:
    say(f"● I leave with {code}")
    return int(code)


def limit(stage: Stage, seconds: str) -> int:
    """As Claude says it, in the event of its end."""
    words = f"Claude AI usage limit reached|{int(time.time() + float(seconds))}"
    say(json.dumps({"type": "result", "is_error": True, "result": words}))
    return 1


def hang(stage: Stage) -> int:
    say("● Thinking…")
    time.sleep(LONGEST)
    return 9


def sleep_deeply(stage: Stage) -> None:
    """It is stopped as by Ctrl-Z, and nothing wakes it."""
    say("● I stand still")
    os.kill(os.getpid(), signal.SIGSTOP)


def breed(stage: Stage) -> None:
    """Children with sessions of their own, one of them deaf to SIGTERM, one left by its parent."""
    deaf = "trap '' TERM HUP INT; for i in $(seq 300); do sleep 1; done"
    orphan = f"setsid sh -c '{deaf.replace(chr(39), chr(34))}' >/dev/null 2>&1 & echo $!"
    child = subprocess.Popen(["sh", "-c", deaf], start_new_session=True)
    told = subprocess.run(["sh", "-c", orphan], stdout=subprocess.PIPE, check=True, text=True)
    stage.note("children", str(child.pid))
    stage.note("children", told.stdout.strip())


def touch(stage: Stage, path: str) -> None:
    """Write where it has no business."""
    Path(path).write_text("an agent was here\n", encoding="utf-8")


def require(stage: Stage, name: str) -> int | None:
    """Leave if a file is not in the worktree."""
    return None if Path(name).exists() else 7


ACTS: Mapping[str, Callable[..., int | None]] = {
    "menu": menu,
    "wait": wait,
    "chatter": chatter,
    "leave": leave,
    "limit": limit,
    "hang": hang,
    "sleep_deeply": sleep_deeply,
    "breed": breed,
    "touch": touch,
    "require": require,
}

if __name__ == "__main__":
    raise SystemExit(main())
