"""What the tests of the played GitHub begin with: a repository with a change to propose, PyGithub, and git itself."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import github
from github.PullRequest import PullRequest
from github.Repository import Repository

from tests.beds.github import GithubBed, Hosted

T = TypeVar("T")
CALC = "def add(a, b):\n    return a + b\n"
TIMEOUT = 30


@dataclass
class Stage:
    """`shop` has `main`, and `agent/a` with one commit on top of it."""

    bed: GithubBed
    shop: Hosted
    folder: Path

    def client(
        self,
        token: str = "",
        *,
        retry: github.GithubRetry | None = None,
        timeout: int = TIMEOUT,
    ) -> github.Github:
        """PyGithub without the patience it has for the real one."""
        return github.Github(
            auth=github.Auth.Token(token or self.bed.token),
            base_url=self.bed.url,
            retry=retry,
            timeout=timeout,
            seconds_between_requests=0,
            seconds_between_writes=0,
        )

    async def ask(self, what: Callable[[Repository], T], token: str = "") -> T:
        """PyGithub blocks, so it works in a thread."""

        def work() -> T:
            with self.client(token) as client:
                return what(client.get_repo("acme/shop"))

        return await asyncio.to_thread(work)

    async def open(
        self, head: str = "agent/a", base: str = "main", *, draft: bool = False
    ) -> PullRequest:
        return await self.ask(
            lambda repo: repo.create_pull(
                title="Add it", body="What", head=head, base=base, draft=draft
            )
        )

    async def settled(self, number: int) -> PullRequest:
        """The pull request once it is known whether it can be merged."""

        def read(repo: Repository) -> PullRequest:
            repo.get_pull(number)
            return repo.get_pull(number)

        return await self.ask(read)

    async def refused(self, what: Callable[[Repository], object]) -> github.GithubException:
        """How GitHub refuses it."""
        try:
            await self.ask(what)
        except github.GithubException as error:
            return error
        raise AssertionError("it was not refused")

    async def git(
        self,
        *arguments: str,
        token: str | None = None,
        cwd: Path | None = None,
        seconds: float = TIMEOUT,
    ) -> Said:
        """Run git as a person does who has a token (an empty one: none)."""
        program = await asyncio.create_subprocess_exec(
            "git",
            *arguments,
            cwd=cwd or self.folder,
            env=environment(self.bed.token if token is None else token),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            said, _ = await asyncio.wait_for(program.communicate(), seconds)
        finally:
            if program.returncode is None:
                os.killpg(program.pid, signal.SIGKILL)  # git has a program of its own for HTTP
                await program.wait()
        return Said(program.returncode or 0, said.decode())

    async def clone(self) -> Path:
        place = self.folder / "clone"
        done = await self.git("clone", "-q", self.shop.clone_url, str(place))
        assert done.code == 0, done.text
        return place


@dataclass(frozen=True)
class Said:
    code: int
    text: str


def environment(token: str) -> dict[str, str]:
    """Nobody's settings, and the token as a header."""
    found = {
        "PATH": os.environ["PATH"],
        "HOME": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        "GIT_AUTHOR_NAME": "Aki",
        "GIT_AUTHOR_EMAIL": "aki@example.com",
        "GIT_COMMITTER_NAME": "Aki",
        "GIT_COMMITTER_EMAIL": "aki@example.com",
    }
    if token:
        shown = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        found |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "http.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {shown}",
        }
    return found


def message(error: github.GithubException) -> str:
    """What GitHub says first."""
    return str(_data(error).get("message"))


def errors(error: github.GithubException) -> list[Any]:
    """What it says in detail."""
    return _data(error)["errors"]


def _data(error: github.GithubException) -> dict[str, Any]:
    given: Callable[[github.GithubException], Any] = attrgetter("data")
    return given(error)
