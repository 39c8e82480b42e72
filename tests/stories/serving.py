"""The bot at work as `gwt-bot serve`, in a process of its own that can be killed, on a sample repository."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.demo.agent import UNTIL_PREFIX
from adapters.demo.model import PlayedModel
from adapters.demo.sample import make_sample
from bot.cli.assemble import create_panes, socket_name
from bot.core.session import Session
from bot.settings import Settings
from tests.beds import slack
from tests.beds.synapse import Login
from tests.stories.cradle import Life
from tests.stories.served import stage
from tests.stories.sessions_on_disk import SessionsOnDisk

ROOT = Path(__file__).parents[2]
TEAM = slack.TEAM
PROGRAM = "tests.stories.served"
FRESH = "FROM_ITS_FIRST_LINE"
"""Variable: a life that reads all its modules itself, where it matters what it costs."""
WHEN_LOADED = (FRESH, "LD_PRELOAD", "PYTHONTRACEMALLOC")
"""What cannot be told to one that is born."""
PATIENCE = 120.0
"""Seconds anything may take on a busy machine."""


@dataclass(frozen=True)
class Pane:
    """One in which an agent lives."""

    run: str
    id: str
    pid: int


class Hold:
    """Agents that are started with this pace stand still, so that they can be looked at, until they are released."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "go"

    @property
    def pace(self) -> dict[str, str]:
        return {"GWT_BOT_PACE": f"{UNTIL_PREFIX}{self._path}"}

    def release(self) -> None:
        self._path.touch()


class Serving:
    """One home, one repository; as many lives of the bot as wanted."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.home, self.shop = folder / "home", folder / "shop"
        self._out = folder / "out"
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PYTHONWARNINGS": "error",
            "GWT_HOME": str(self.home),
            "GWT_REPOSITORY": str(self.shop),
            "GWT_AGENT": "played",
            "PROGRESS_SECONDS": "1",
            **environ,
        }
        self._process: subprocess.Popen[bytes] | Life | None = None
        self._on_disk = SessionsOnDisk(self.home)
        self.model = ""
        """Where the model is played."""
        self.played: BreakableModel | None = None
        """It, for those who want it to behave badly."""

    @property
    def out(self) -> str:
        """What the program has said on its terminal, in all its lives."""
        return self._out.read_text() if self._out.exists() else ""

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Of the life that is going on, or was the last."""
        assert self._process
        return self._process.pid

    @property
    def exit_code(self) -> int:
        """Of the last life. Negative: the signal that ended it."""
        assert self._process
        return self._process.wait(0)

    def start(self, **environ: str) -> None:
        assert not self.alive
        wanted = {**self.environ, **environ}
        if any(name in wanted for name in WHEN_LOADED):
            self._process = self._from_its_first_line(wanted)
        else:
            self._process = Life([PROGRAM], wanted, self._out)

    def _from_its_first_line(self, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with self._out.open("ab") as out:
            return subprocess.Popen(
                [sys.executable, "-m", PROGRAM],
                cwd=ROOT,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    def kill(self) -> None:
        """As the kernel does when memory runs out."""
        assert self._process
        self._process.kill()
        assert self._process.wait() == -signal.SIGKILL, self.out

    async def end(self) -> int:
        """As an operator does. The exit code."""
        assert self._process
        self._process.terminate()
        return await self.over()

    async def over(self) -> int:
        """Wait for the program to end by itself."""
        assert self._process
        return await asyncio.to_thread(self._process.wait, PATIENCE)

    def sessions(self) -> list[Session]:
        """As they are on disk, oldest first."""
        return [record.session for record in self._on_disk.records()]

    def open_orders(self) -> list[str]:
        """What is still to be heard and to be done, in all sessions."""
        records = self._on_disk.records()
        return [repr(one) for record in records for one in (*record.inbox, *record.outbox)]

    def runs(self) -> int:
        """How often agents were started, in all sessions."""
        return sum(len(task.runs) for session in self.sessions() for task in session.tasks)

    def agents(self) -> tuple[str, ...]:
        """The runs that have a pane on this home's server."""
        command = ("tmux", "-L", socket_name(self.home), "list-sessions", "-F", "#{session_name}")
        # as a person would look: a second bot on that server would be in the way of the first
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return tuple(name for name in done.stdout.split() if name.startswith("run-"))

    def panes(self) -> tuple[Pane, ...]:
        """Of this home's server, those in which agents are alive."""
        wanted = "#{session_name} #{pane_id} #{pane_pid} #{pane_dead}"
        command = ("tmux", "-L", socket_name(self.home), "list-panes", "-a", "-F", wanted)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = (line.split() for line in done.stdout.splitlines() if line.startswith("run-"))
        return tuple(Pane(run, id, int(pid)) for run, id, pid, dead in found if dead == "0")

    async def until(self, seen: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not seen():  # noqa: ASYNC110 - another process changes it
                await asyncio.sleep(0.2)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.shop), *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    async def clean(self) -> None:
        if self.alive:
            self.kill()
        settings = Settings.model_construct(gwt_home=self.home)
        panes = create_panes(settings, str, stage())
        await panes.kill_server()
        await panes.close()


class BreakableModel(PlayedModel):
    """Cuts every connection while it is `down`."""

    down = False

    def answer(self, system: str, user: str, schema: Mapping[str, object] | None) -> str:
        if self.down:
            raise ConnectionError
        return super().answer(system, user, schema)


@asynccontextmanager
async def serving(folder: Path, **environ: str) -> AsyncGenerator[Serving, None]:
    """The model is played in this process, so that it outlives the bot."""
    make_sample(folder / "shop")
    async with BreakableModel({**os.environ, **stage()}, delay=0) as model:
        settings = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_MODEL": "played-model",
            "OPENAI_API_KEY": "played",
            **environ,
        }
        bot = Serving(folder, {name: value for name, value in settings.items() if value})
        bot.model, bot.played = model.base_url, model
        try:
            yield bot
        finally:
            await bot.clean()


def in_slack(bed: slack.SlackBed, *people: str) -> dict[str, str]:
    """Settings for the played Slack, in which these people may do everything in two channels and by direct message."""
    return {
        "SLACK_API_URL": bed.api_url,
        "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
        "SLACK_APP_TOKEN": slack.APP_TOKEN,
        "SLACK_USERS": ",".join(f"{TEAM}:{person}" for person in people),
        "SLACK_CHANNELS": f"{TEAM}:{slack.PUBLIC},{TEAM}:{slack.SECOND},{TEAM}:dm",
        "SLACK_SHARED_CHANNELS": f"{TEAM}:{slack.PUBLIC}",
    }


def in_matrix(url: str, account: Login, room: str, *people: str) -> dict[str, str]:
    """Settings for a homeserver, on which these people may do everything in one room."""
    return {
        "MATRIX_HOMESERVER": url,
        "MATRIX_USER": account.user_id,
        "MATRIX_ACCESS_TOKEN": account.access_token,
        "MATRIX_USERS": ",".join(people),
        "MATRIX_ROOMS": room,
    }
