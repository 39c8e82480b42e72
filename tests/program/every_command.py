"""Commands of the program, one after the other, each in a child of one process that has loaded them all: a start costs a second.

Argument: a JSON list of commands, each a list of words, of which SESSION stands for the first session there is. Where `|` is the
first, the output goes where nobody reads. It says of each its exit code and what it said to its terminal.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import cast

from bot.__main__ import main

LONGEST = 60
"""Seconds for one command: who takes longer is ended, and has -14 as its exit code."""


def run(words: list[str]) -> tuple[int, str]:
    unread = words[0] == "|"
    with tempfile.TemporaryFile() as said:
        if not (child := os.fork()):
            _become(words[unread:], said.fileno(), unread=unread)
        _, status = os.waitpid(child, 0)
        said.seek(0)
        return os.waitstatus_to_exitcode(status), said.read().decode()


def _become(words: list[str], said: int, *, unread: bool) -> None:
    read, write = os.pipe()
    os.close(read)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(write if unread else said, 1)
    os.dup2(said, 2)
    sys.argv = ["gwt-bot", *words]
    signal.alarm(LONGEST)
    main()


def _session() -> str:
    made = sorted(Path(os.environ["GWT_HOME"]).glob("sessions/*/*.journal"))
    return made[0].name.split(".")[0] if made else "00"


if __name__ == "__main__":
    os.umask(0)
    commands = cast("list[list[str]]", json.loads(sys.argv[1]))
    told = (run([_session() if one == "SESSION" else one for one in words]) for words in commands)
    sys.stdout.write(json.dumps([*told]))
