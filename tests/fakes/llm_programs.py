"""Stand-ins for the CLIs that answer as the model: programs of their names that do what the next file says, and write down what they saw."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import psutil

NAMES = ("claude", "codex")

_PROGRAM = r'''#!{python} -IS
import json, os, subprocess, sys, time
from pathlib import Path

ASLEEP = [sys.executable, "-IS", "-c", "import time; time.sleep(600)"]
HOME, NAME = Path({home!r}), {name!r}


def behaviour():
    """The next one; the last stays."""
    files = sorted((HOME / "next").iterdir())
    said = json.loads(files[0].read_text())
    if len(files) > 1:
        files[0].unlink()
    return said


def write_down(data):
    argv = sys.argv[1:]
    rules = next((w for w in argv if "rules.md" in w), "").partition("=")[2].strip('"')
    rules = rules or next((w for w in argv if "rules.md" in w), "")
    seen = dict(argv=argv, data=data, environ=dict(os.environ), cwd=os.getcwd(),
                around=os.listdir("."), rules=Path(rules).read_text() if rules else "")
    part = HOME / f"{{os.getpid()}}.part"
    part.write_text(json.dumps(seen))
    part.rename(HOME / "seen" / str(os.getpid()))


def answer(do, data):
    text = data if do["do"] == "echo" else do["text"]
    failed = do["do"] == "fail"
    if NAME == "claude":
        said = {{"type": "result", "subtype": "success", "is_error": failed, "result": text,
                "usage": do.get("usage"), "modelUsage": {{"model-of-claude": {{}}}}, **do.get("more", {{}})}}
        print(json.dumps(said))
    elif failed:
        print(json.dumps({{"type": "error", "message": text}}))
        print(json.dumps({{"type": "turn.failed", "error": {{"message": text}}}}))
    else:
        print(json.dumps({{"type": "thread.started", "thread_id": "x"}}))
        print(json.dumps({{"type": "item.completed", "item": {{"type": "agent_message", "text": text}}}}))
        print(json.dumps({{"type": "turn.completed", "usage": do.get("usage")}}))
    return 1 if failed else do.get("code", 0)


def children(*apart):
    """Those that are apart have left the family."""
    started = [subprocess.Popen(ASLEEP, start_new_session=one) for one in apart]
    part = HOME / "children.part"
    part.write_text(json.dumps([os.getpid(), *(one.pid for one in started)]))
    part.rename(HOME / "children")


data = sys.stdin.read()
do = behaviour()
write_down(data)
match do["do"]:
    case "hang":
        children(False, True)
        time.sleep(600)
    case "leave":
        children(False)
        sys.exit(answer(do, data))
    case "print":
        sys.stderr.write(do.get("complaint", ""))
        sys.stdout.write(do["text"])
        sys.exit(do["code"])
    case "flood":
        while True:
            sys.stdout.write("x" * 65536)
    case "die":
        sys.stdout.write(do["text"])
        sys.stdout.flush()
        os.kill(os.getpid(), 9)
    case "ask":
        input("Sure? [y/N] ")
    case _:
        sys.exit(answer(do, data))
'''


@dataclass(frozen=True)
class Seen:
    """One question, as the program got it."""

    argv: list[str]
    data: str
    environ: Mapping[str, str]
    cwd: str
    around: list[str]
    """What else was in its folder."""
    rules: str
    """The system text."""


@dataclass(frozen=True)
class Known:
    """A process that may have ended long ago."""

    pid: int

    @property
    def lives(self) -> bool:
        """One that only waits to be buried does not."""
        try:
            return psutil.Process(self.pid).status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False


class LlmPrograms:
    """A folder with both of them."""

    def __init__(self, home: Path) -> None:
        self.bin = home / "bin"
        self._home = home
        for folder in (self.bin, home / "next", home / "seen"):
            folder.mkdir(parents=True)
        for name in NAMES:
            self.install(name, _PROGRAM.format(python=sys.executable, home=str(home), name=name))

    def install(self, name: str, program: str) -> None:
        path = self.bin / name
        path.write_text(program, encoding="utf-8")
        path.chmod(0o755)

    def then(self, *behaviours: Mapping[str, object]) -> None:
        """What the next starts do; the last of these stays."""
        for old in (self._home / "next").iterdir():
            old.unlink()
        for number, behaviour in enumerate(behaviours):
            (self._home / "next" / f"{number:03}").write_text(json.dumps(behaviour))

    @property
    def seen(self) -> list[Seen]:
        """In the order in which they came."""
        files = sorted((self._home / "seen").iterdir(), key=lambda one: one.stat().st_mtime_ns)
        return [Seen(**cast("dict[str, Any]", json.loads(one.read_text()))) for one in files]

    async def family(self) -> list[Known]:
        """The program and the children it has started; once all are there."""
        file = self._home / "children"
        await until(file.exists)
        return [Known(pid) for pid in cast("list[int]", json.loads(file.read_text()))]


async def until(reached: Callable[[], bool], seconds: float = 120) -> None:
    async with asyncio.timeout(seconds):
        while not reached():  # noqa: ASYNC110 - files and processes tell nobody
            await asyncio.sleep(0.02)


def says(text: str, **more: object) -> Mapping[str, object]:
    return {"do": "say", "text": text, **more}


def fails(text: str, **more: object) -> Mapping[str, object]:
    """An error, told in the CLI's own way."""
    return {"do": "fail", "text": text, "more": more}


def prints(text: str, code: int = 0, complaint: str = "") -> Mapping[str, object]:
    """Anything on its output, `complaint` on its error output."""
    return {"do": "print", "text": text, "code": code, "complaint": complaint}


def does(what: str, text: str = "") -> Mapping[str, object]:
    return {"do": what, "text": text}
