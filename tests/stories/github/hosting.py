"""The sample repository as somebody has it who has cloned it from GitHub, and the bot's settings for that GitHub."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.demo.sample import make_sample
from tests.beds.github import GithubBed, Hosted

SLUG = "acme/shop"
_ALWAYS = {"GITHUB_POLL_SECONDS": "1"}


@dataclass(frozen=True)
class Hosting:
    """One GitHub, one repository on it, and the checkout of somebody who works with it."""

    bed: GithubBed
    there: Hosted
    checkout: Path

    @property
    def environ(self) -> dict[str, str]:
        """For the bot. The token is one of its settings."""
        return {**self.address, "GITHUB_TOKEN": self.bed.token}

    @property
    def address(self) -> dict[str, str]:
        """Without the token."""
        return {**_ALWAYS, "GITHUB_API_URL": self.bed.url}

    def untouched(self) -> dict[str, str]:
        """All there is of the checkout that no bot may change, to be compared with what it was before."""
        files = {
            str(path.relative_to(self.checkout)): path.read_text()
            for path in sorted(self.checkout.rglob("*"))
            if path.is_file() and not {".git", ".worktrees", ".forge"} & set(path.parts)
        }
        told = {
            " ".join(command): git(self.checkout, *command)
            for command in (
                ("rev-parse", "HEAD"),
                ("symbolic-ref", "HEAD"),
                ("status", "--porcelain", "--untracked-files=all"),
                ("for-each-ref",),
                ("worktree", "list"),
                ("config", "--local", "--list"),
            )
        }
        return {**files, **told}


@asynccontextmanager
async def hosting(folder: Path) -> AsyncGenerator[Hosting, None]:
    """The repository is there before the bot is."""
    checkout = folder / "shop"
    make_sample(checkout)
    async with GithubBed(folder / "github") as bed:
        there = bed.repository(SLUG, checkout)
        git(checkout, "remote", "add", "origin", there.clone_url)
        yield Hosting(bed, there, checkout)


def git(at: Path, *arguments: str) -> str:
    command = ["git", "-C", str(at), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()
