"""The forge port on GitHub: delegates each call to the part that does it."""

from __future__ import annotations

from pathlib import Path

from adapters.github.api import GIVE_TOKEN, Access, Address, ApiTiming, parse_address
from adapters.github.checks import Checks
from adapters.github.client import Client, RepositoryData
from adapters.github.git import RemoteGit, checked_slug, is_slug, read_remote, slug_from_remote
from adapters.github.merging import METHODS, PullMerger
from adapters.github.publishing import BranchPublisher
from adapters.github.pulls import PullComments, PullReader, Pulls, to_pull
from adapters.github.tokens import OnToken, Tokens
from bot.core.errors import Refused, SettingsError
from bot.core.forge import (
    NOTHING_KNOWN,
    ChecksWanted,
    Fetched,
    Hosted,
    MergeTried,
    Pull,
    PullWanted,
)
from bot.core.naming import is_agent_branch


class GitHub:
    """The forge port.

    `home`: folder for mirrors; `learned`: called with every token before it is used, so that it can be masked;
    `merge_method`: merge, squash or rebase, empty for what the repository allows; `repository`: owner/name, empty for
    the remote `origin`. Raises SettingsError.
    """

    def __init__(
        self,
        home: Path,
        access: Access,
        *,
        on_token: OnToken,
        merge_method: str = "",
        repository: str = "",
        pace: ApiTiming | None = None,
    ) -> None:
        if merge_method and merge_method not in METHODS:
            raise SettingsError(f"GITHUB_MERGE_METHOD is none of {', '.join(METHODS)}.")
        pace = pace or ApiTiming()
        address = parse_address(access.api_url)
        tokens = Tokens(access, address, pace, on_token)
        git = RemoteGit(access.environ, seconds=pace.git)
        self.require = tokens.require
        """Raises Refused if the configuration cannot be used; makes no request."""
        self._client = Client(address, tokens, pace)
        self._pulls = Pulls(self._client, pace)
        checks = Checks(self._client, address, pace)
        self._merger = PullMerger(self._client, self._pulls, checks, pace, merge_method)
        self._reader = PullReader(
            self._client, self._pulls, checks, PullComments(self._client), pace
        )
        self._publisher = BranchPublisher(home, address, tokens, git)
        self._finder = RepositoryFinder(address, tokens, self._client, git, repository)

    async def find(self, repository: str) -> Hosted | None:
        """Return where the repository is hosted, or None if it is not on this GitHub or there is no token for it."""
        return await self._finder.find(repository)

    async def publish(self, repository: str, slug: str, branch: str, commit: str) -> None:
        """Push the commit to the branch, from a repository of the bot."""
        await self._publisher.publish(repository, checked_slug(slug), branch, commit)

    async def open(self, slug: str, wanted: PullWanted) -> Pull:
        """Find and update the open pull request of that branch, or create it."""
        if not is_agent_branch(wanted.branch):
            raise Refused(f"{wanted.branch[:200]!r} is no branch of an agent")
        return to_pull(await self._pulls.open(checked_slug(slug), wanted))

    async def look(self, slug: str, number: int) -> Pull:
        """Return its state, with its checks and comments."""
        return await self._reader.look(checked_slug(slug), number)

    async def make_ready(self, slug: str, number: int) -> Pull:
        """Mark the pull request as no longer a draft."""
        return to_pull(await self._pulls.make_ready(checked_slug(slug), number))

    async def merge(
        self, slug: str, number: int, head: str, title: str, checks: ChecksWanted = NOTHING_KNOWN
    ) -> MergeTried:
        """Merge the pull request if its head is `head` and the checks of that commit have passed."""
        return await self._merger.merge(checked_slug(slug), number, head, title, checks)

    async def tip(self, slug: str, branch: str) -> str:
        """Return the branch's commit on GitHub; empty if there is no such branch."""
        return await self._publisher.tip(checked_slug(slug), branch)

    async def fetch(self, slug: str, branch: str, *, near: str = "") -> Fetched:
        """Copy a branch from GitHub into a repository of the bot; objects available in `near` are not transferred."""
        return await self._publisher.fetch(checked_slug(slug), branch, near)

    async def fetch_head(self, slug: str, number: int) -> Fetched:
        """Copy the head of a pull request, even if its branch is gone."""
        return await self._publisher.fetch_head(checked_slug(slug), number)

    async def delete_remote_branch(self, slug: str, branch: str, commit: str) -> str:
        """Delete the branch on GitHub if it is at that commit. Return why it was kept, or an empty string."""
        return await self._publisher.delete_remote_branch(checked_slug(slug), branch, commit)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()


# Where a repository is hosted, and whether pull requests can be created there: checked once, before any work.


class RepositoryFinder:
    def __init__(
        self, address: Address, tokens: Tokens, client: Client, git: RemoteGit, repository: str
    ) -> None:
        self._address = address
        self._tokens = tokens
        self._client = client
        self._git = git
        self._configured_name = repository.strip().removesuffix(".git")

    async def find(self, repository: str) -> Hosted | None:
        slug = self._configured_name or slug_from_remote(
            await read_remote(self._git, repository), self._address
        )
        if not slug:
            return None
        try:
            checked_slug(slug)
            token = await self._tokens.token(slug)
            if not token:
                return None
            told = await self._client.get(
                slug, f"/repos/{slug}", RepositoryData, f"show the repository {slug}"
            )
        except Refused as refused:
            page = self._address.page(slug) if is_slug(slug) else ""
            return Hosted(slug=slug, url=page, problem=refused.reason, remedy=refused.remedy)
        return self._hosted(slug, told, token)

    def _hosted(self, slug: str, told: RepositoryData, token: str) -> Hosted:
        # after a rename the old name still redirects, but a push would not follow
        slug = told.full_name if is_slug(told.full_name) else slug
        problem, remedy = repository_problem(
            told, tells_rights=self._tokens.reports_permissions(token)
        )
        return Hosted(slug=slug, url=told.html_url, problem=problem, remedy=remedy)


def repository_problem(told: RepositoryData, *, tells_rights: bool) -> tuple[str, str]:
    if told.archived or told.disabled:
        state = "archived" if told.archived else "disabled"
        return f"{told.full_name} is {state} on GitHub", "Make it writable there again."
    if tells_rights and told.permissions is not None and not told.permissions.push:
        return f"the token may not write to {told.full_name}", GIVE_TOKEN
    return "", ""
