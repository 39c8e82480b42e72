"""A machine with things worth stealing and breaking, and one worktree on it in which somebody hostile works."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import psutil

from adapters.git import GitWorktrees
from adapters.sandbox import Bubblewrap
from bot.core.runs import SandboxPaths
from tests.adapters.git.worlds import PEOPLE, git, new_repository, write

CANARY = "canary-that-nobody-in-there-may-read"
SECONDS = 60.0


@dataclass(frozen=True)
class Said:
    code: int
    text: str


class Jail:
    """`top`: a repository in a user's home, with a worktree of the bot's for us and one for somebody else."""

    def __init__(self, beside: Path) -> None:
        self.folder = folder = beside / "machine"
        self.user_home = folder / "user"
        self.bot_home = self.user_home / ".gwt"
        self.top = self.user_home / "src" / "repository"
        self.work = self.top / ".worktrees" / "agent-work"
        self.other = self.top / ".worktrees" / "agent-other"
        self.spool = self.bot_home / "spool" / "run-1"
        self.mark = beside / "ESCAPED"
        self.socket = beside / "service.sock"
        self.tmux = beside / "tmux.sock"
        self.path = PEOPLE["PATH"]
        self.bot = 0
        """The process that stands for the bot."""

    def sandbox(self, *, reads: Sequence[Path] = (), writes: Sequence[Path] = ()) -> Bubblewrap:
        return Bubblewrap(
            self.bot_home,
            self.environment,
            reads=map(str, reads),
            writes=map(str, writes),
            hides=(self.top,),
        )

    @cached_property
    def _sandbox(self) -> Bubblewrap:
        return self.sandbox()

    @property
    def environment(self) -> dict[str, str]:
        """As a run's: nothing secret is in it. The names are there to make attacks easy."""
        return PEOPLE | {
            "PATH": self.path,
            "HOME": str(self.user_home),
            "TOP": str(self.top),
            "OTHER": str(self.other),
            "BOT_HOME": str(self.bot_home),
            "USER_HOME": str(self.user_home),
            "MARK": str(self.mark),
            "SOCKET": str(self.socket),
            "TMUX_SOCKET": str(self.tmux),
            "BOT": str(self.bot),
            "PYTHON": sys.executable,
        }

    @property
    def lent(self) -> SandboxPaths:
        return SandboxPaths(spool=str(self.spool))

    async def build(self) -> None:
        new_repository(self.top, {"code.py": "1\n", "b.txt": "b\n"})
        first = git(self.top, "rev-parse", "HEAD")
        worktrees = GitWorktrees(self.bot_home)
        for name, path in (("work", self.work), ("other", self.other)):
            await worktrees.prepare(str(self.top), f"agent/{name}", str(path), first)
        git(self.top, "gc", "--quiet")
        write(
            self.folder,
            {
                "user/.ssh/id_ed25519": CANARY,
                "user/.bashrc": "true\n",
                "user/.claude/settings.json": "{}\n",
                "user/.gitconfig": f"[user]\nname = Mika\n[github]\ntoken = {CANARY}\n",
                "user/.gwt/.env": f"GITHUB_TOKEN={CANARY}\n",
                "user/.gwt/sessions/one.json": CANARY,
                "user/.gwt/spool/run-2/prompt.md": CANARY,
                "user/src/repository/.env": CANARY,
                "user/src/repository/.worktrees/agent-other/notes.txt": CANARY,
                "somebody/.netrc": CANARY,
            },
        )
        self.spool.mkdir(parents=True)

    async def run(self, script: str, *, sandboxed: bool = True) -> Said:
        """As an agent's shell would."""
        words: tuple[str, ...] = ("/bin/sh", "-c", script)
        if sandboxed:
            words = self._sandbox.around(words, str(self.work), self.lent)
        return await self.ran(words)

    async def ran(self, words: Sequence[str]) -> Said:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=self.work,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        async with asyncio.timeout(SECONDS):
            told, _ = await process.communicate()
        return Said(process.returncode or 0, told.decode("utf-8", "replace"))

    def outside(self) -> dict[str, str]:
        """How everything stands that is none of its business."""
        kept = [path for path in self._files() if not self._is_its_own(path)]
        return {str(path): _content(path) for path in sorted(kept)} | {
            "main": git(self.top, "rev-parse", "refs/heads/main"),
            "stored": git(self.top, "log", "--format=%H %s", "--stat", "refs/heads/main"),
            "the bot lives": str(_lives(self.bot)),
        }

    def _files(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_symlink() or path.is_file()]

    def _is_its_own(self, path: Path) -> bool:
        common = self.top / ".git"
        admin = common / "worktrees" / "agent-work"
        guarded = (
            *(self.work / ".git", admin / "commondir", admin / "gitdir"),
            *((common / "objects/info").rglob("*")),
            *((common / "objects/pack").rglob("*")),
        )
        own = (
            *(self.work, self.spool, admin, self.bot_home / "homes"),
            *(common / "objects", common / "refs/heads/agent", common / "logs/refs/heads/agent"),
        )
        return path not in guarded and any(folder in path.parents for folder in own)


@asynccontextmanager
async def peopled(jail: Jail) -> AsyncGenerator[Jail]:
    """With a tmux server and another service at work on the machine."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        jail.mark.touch()
        writer.close()

    await _tmux(jail, "new-session", "-d", "sleep", "600")
    try:
        async with await asyncio.start_unix_server(serve, jail.socket), bot_of(jail):
            yield jail
    finally:
        jail.socket.unlink(missing_ok=True)
        await _tmux(jail, "kill-server")


@asynccontextmanager
async def bot_of(jail: Jail) -> AsyncGenerator[None]:
    """A process with a secret."""
    secret = {"PATH": PEOPLE["PATH"], "TOKEN": CANARY}
    bot = await asyncio.create_subprocess_exec("sleep", "600", env=secret)
    jail.bot = bot.pid
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            bot.kill()
        await bot.wait()


async def _tmux(jail: Jail, *command: str) -> None:
    words = ("tmux", "-S", str(jail.tmux), "-f", "/dev/null", *command)
    process = await asyncio.create_subprocess_exec(*words, env=PEOPLE)
    assert await process.wait() == 0


def cannot() -> str:
    """Why bubblewrap does not work on this machine; empty: it does."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    tried = subprocess.run(
        [
            "bwrap",
            "--unshare-user",
            "--unshare-pid",
            "--ro-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "true",
        ],
        capture_output=True,
        check=False,
    )
    return tried.stderr.decode().strip() if tried.returncode else ""


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_STOPPED)
    except psutil.NoSuchProcess:
        return False


def _content(path: Path) -> str:
    if path.is_symlink():
        return f"→ {path.readlink()}"
    return path.read_bytes().hex()
