"""Where a repository is hosted, and whether pull requests can be made there. Its rule: asked once, before any work."""

from __future__ import annotations

from adapters.github.access import Address
from adapters.github.answers import RepositoryTold
from adapters.github.client import Client
from adapters.github.git import Git
from adapters.github.place import checked, is_slug, read_remote, slug_of
from adapters.github.problem import GIVE_TOKEN
from adapters.github.tokens import Tokens
from bot.domain.hosting import Hosted
from bot.errors import Refused


class Finding:
    def __init__(
        self, address: Address, tokens: Tokens, client: Client, git: Git, repository: str
    ) -> None:
        self._address = address
        self._tokens = tokens
        self._client = client
        self._git = git
        self._named = repository.strip().removesuffix(".git")

    async def find(self, repository: str) -> Hosted | None:
        slug = self._named or slug_of(await read_remote(self._git, repository), self._address)
        if not slug:
            return None
        try:
            checked(slug)
            token = await self._tokens.token(slug)
            if not token:
                return None
            told = await self._client.get(
                slug, f"/repos/{slug}", RepositoryTold, f"show the repository {slug}"
            )
        except Refused as refused:
            page = self._address.page(slug) if is_slug(slug) else ""
            return Hosted(slug=slug, url=page, problem=refused.reason, remedy=refused.remedy)
        return self._hosted(slug, told, token)

    def _hosted(self, slug: str, told: RepositoryTold, token: str) -> Hosted:
        # after a renaming the old name still leads there, but a push would not follow
        slug = told.full_name if is_slug(told.full_name) else slug
        problem, remedy = problem_of(told, tells_rights=self._tokens.tells_rights(token))
        return Hosted(slug=slug, url=told.html_url, problem=problem, remedy=remedy)


def problem_of(told: RepositoryTold, *, tells_rights: bool) -> tuple[str, str]:
    if told.archived or told.disabled:
        state = "archived" if told.archived else "disabled"
        return f"{told.full_name} is {state} on GitHub", "Make it writable there again."
    if tells_rights and told.permissions is not None and not told.permissions.push:
        return f"the token may not write to {told.full_name}", GIVE_TOKEN
    return "", ""
