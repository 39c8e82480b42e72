"""What the tests of the adapter begin with: a repository hosted on a played GitHub, with work of an agent on a branch."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from adapters.github import Access, GitHub
from adapters.github.api import ApiTiming
from bot.core.forge import Pull, PullWanted
from tests.adapters.git.worlds import git, new_repository, write
from tests.beds.github import GithubBed, Hosted

SLUG = "acme/shop"
BRANCH = "agent/login"
FAST = ApiTiming(call=20, whole=60, between_writes=0, again=0.01, git=60)
WORK = {"login.py": "def login(): ...\n"}

ALLOWED = (
    ("GET", "/repos/acme/shop"),
    ("GET", "/repos/acme/shop/pulls"),
    ("POST", "/repos/acme/shop/pulls"),
    ("GET", "/repos/acme/shop/pulls/[0-9]*"),
    ("PATCH", "/repos/acme/shop/pulls/[0-9]*"),
    ("PUT", "/repos/acme/shop/pulls/[0-9]*/merge"),
    ("GET", "/repos/acme/shop/commits/*/check-runs"),
    ("GET", "/repos/acme/shop/commits/*/check-suites"),
    ("GET", "/repos/acme/shop/commits/*/status"),
    ("GET", "/repos/acme/shop/branches/*"),
    ("GET", "/repos/acme/shop/rules/branches/*"),
    ("GET", "/repos/acme/shop/contents/.github/workflows"),
    ("GET", "/repos/acme/shop/git/blobs/*"),
    ("GET", "/repos/acme/shop/actions/workflows"),
    ("GET", "/repos/acme/shop/pulls/[0-9]*/files"),
    ("GET", "/repos/acme/shop/check-runs/*/annotations"),
    ("GET", "/repos/acme/shop/actions/jobs/*/logs"),
    ("GET", "/repos/acme/shop/issues/[0-9]*/comments"),
    ("POST", "/graphql"),
)
"""All that the adapter ever asks of GitHub."""


@dataclass
class Stage:
    bed: GithubBed
    shop: Hosted
    top: Path
    home: Path
    commit: str
    """Of the agent's work on BRANCH."""
    learned: dict[str, str] = field(default_factory=dict[str, str])
    _opened: list[GitHub] = field(default_factory=list[GitHub])

    def github(
        self,
        *,
        pace: ApiTiming = FAST,
        environ: Mapping[str, str] | None = None,
        token: str | None = None,
        **more: str,
    ) -> GitHub:
        """A bot's way to GitHub; a second one is the bot after it was started again."""
        access = Access(
            token=self.bed.token if token is None else token,
            api_url=self.bed.url,
            environ={"PATH": os.environ["PATH"]} if environ is None else environ,
        )
        made = GitHub(self.home, access, on_token=self.learned.__setitem__, pace=pace, **more)
        self._opened.append(made)
        return made

    def wanted(self, **changes: object) -> PullWanted:
        plain = PullWanted(
            branch=BRANCH, commit=self.commit, base="main", title="feat: log in", body="What"
        )
        return plain.model_copy(update=changes)

    async def publish(self, forge: GitHub, commit: str = "") -> None:
        await forge.publish(str(self.top), SLUG, BRANCH, commit or self.commit)

    def lies_there(self) -> None:
        """The work is on GitHub, however it came there."""
        hub = self.bed.world.folder / f"{SLUG}.git"
        git(self.top, "push", "--quiet", str(hub), BRANCH)

    async def opened(self, forge: GitHub) -> Pull:
        await asyncio.to_thread(self.lies_there)
        return await forge.open(SLUG, self.wanted())

    async def with_pull(self, forge: GitHub | None = None) -> tuple[GitHub, Pull]:
        """A bot, and the pull request that it has opened."""
        forge = forge or self.github()
        return forge, await self.opened(forge)

    def works(self, files: Mapping[str, str], branch: str = BRANCH) -> str:
        """The agent commits."""
        known = git(self.top, "for-each-ref", f"refs/heads/{branch}")
        git(self.top, "checkout", "--quiet", *([] if known else ["-b"]), branch)
        write(self.top, files)
        git(self.top, "add", "--all")
        git(self.top, "commit", "--quiet", "-m", "work")
        return git(self.top, "rev-parse", "HEAD")

    async def close(self) -> None:
        for one in self._opened:
            await one.close()


@asynccontextmanager
async def forge_stage(directory: Path, *, prefix: str = "") -> AsyncGenerator[Stage]:
    async with GithubBed(directory / "hub", prefix=prefix) as bed:
        bed.allow(*ALLOWED)
        stage = await asyncio.to_thread(_built, directory, bed)
        yield stage
        await stage.close()


def _built(directory: Path, bed: GithubBed) -> Stage:
    top = new_repository(directory / "repository")
    shop = bed.repository(SLUG, top)
    shop.habits.unknown_reads = 0
    git(top, "remote", "add", "origin", shop.clone_url)
    stage = Stage(bed, shop, top, directory / "home", "")
    return replace(stage, commit=stage.works(WORK))
