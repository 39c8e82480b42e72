"""GitHub as a forge of the bot's: the port, and what each of its calls is done by."""

from __future__ import annotations

from pathlib import Path

from adapters.github.access import Access, Pace, address_of
from adapters.github.checks import Checks
from adapters.github.client import Client
from adapters.github.finding import Finding
from adapters.github.git import Git
from adapters.github.looking import Looking, pull_of
from adapters.github.merging import METHODS, Merging
from adapters.github.notes import Notes
from adapters.github.place import checked
from adapters.github.publishing import Publishing
from adapters.github.pulls import Pulls
from adapters.github.tokens import Learned, Tokens
from bot.domain.hosting import (
    NOTHING_KNOWN,
    ChecksWanted,
    Fetched,
    Hosted,
    MergeTried,
    Pull,
    PullWanted,
)
from bot.domain.naming import is_agent_branch
from bot.errors import Refused, SettingsError


class GitHub:
    """`home`: where mirrors are kept. `learned` is told of every token before it is used, so that it can be hidden.

    `merge_method`: merge, squash or rebase; empty: what the repository allows. `repository`: owner/name; empty: by the
    remote `origin`. Raises SettingsError.
    """

    def __init__(
        self,
        home: Path,
        access: Access,
        *,
        learned: Learned,
        merge_method: str = "",
        repository: str = "",
        pace: Pace | None = None,
    ) -> None:
        if merge_method and merge_method not in METHODS:
            raise SettingsError(f"GITHUB_MERGE_METHOD is none of {', '.join(METHODS)}.")
        pace = pace or Pace()
        address = address_of(access.api_url)
        tokens = Tokens(access, address, pace, learned)
        git = Git(access.environ, seconds=pace.git)
        self.require = tokens.require
        """Raises Refused where what is configured cannot be used. Nobody is asked."""
        self._client = Client(address, tokens, pace)
        self._pulls = Pulls(self._client, pace)
        checks = Checks(self._client, address, pace)
        self._merging = Merging(self._client, self._pulls, checks, pace, merge_method)
        self._looking = Looking(self._client, self._pulls, checks, Notes(self._client), pace)
        self._publishing = Publishing(home, address, tokens, git)
        self._finding = Finding(address, tokens, self._client, git, repository)

    async def find(self, repository: str) -> Hosted | None:
        """Where the repository is hosted; None: not on this GitHub, or nobody has given a token for it."""
        return await self._finding.find(repository)

    async def publish(self, repository: str, slug: str, branch: str, commit: str) -> None:
        """Push the commit to the branch, from a repository of the bot's own."""
        await self._publishing.publish(repository, checked(slug), branch, commit)

    async def open(self, slug: str, wanted: PullWanted) -> Pull:
        """The open pull request of that branch: found, and brought up to date, or made."""
        if not is_agent_branch(wanted.branch):
            raise Refused(f"{wanted.branch[:200]!r} is no branch of an agent")
        return pull_of(await self._pulls.open(checked(slug), wanted))

    async def look(self, slug: str, number: int) -> Pull:
        """How it stands, with what its checks and its readers say."""
        return await self._looking.look(checked(slug), number)

    async def make_ready(self, slug: str, number: int) -> Pull:
        """It is a draft no longer."""
        return pull_of(await self._pulls.make_ready(checked(slug), number))

    async def merge(
        self, slug: str, number: int, head: str, title: str, checks: ChecksWanted = NOTHING_KNOWN
    ) -> MergeTried:
        """Merge it if it stands at `head`, and if the checks of that head have passed."""
        return await self._merging.merge(checked(slug), number, head, title, checks)

    async def tip(self, slug: str, branch: str) -> str:
        """The commit a branch stands at there; empty: there is no such branch."""
        return await self._publishing.tip(checked(slug), branch)

    async def fetch(self, slug: str, branch: str, *, near: str = "") -> Fetched:
        """Copy a branch of GitHub into a repository of the bot's own; what `near` has need not come from there."""
        return await self._publishing.fetch(checked(slug), branch, near)

    async def fetch_head(self, slug: str, number: int) -> Fetched:
        """Copy the head of a pull request, also when its branch is gone."""
        return await self._publishing.fetch_head(checked(slug), number)

    async def unpublish(self, slug: str, branch: str, commit: str) -> str:
        """Remove the branch there if it stands at that commit. Why it was left; empty: it is gone."""
        return await self._publishing.unpublish(checked(slug), branch, commit)

    async def close(self) -> None:
        """Let all connections go."""
        await self._client.close()
