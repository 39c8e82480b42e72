"""Whether checks of a pull request are still to appear. Its rule: whatever speaks for it counts, what may not be read does not.

A check does not exist before some robot has made it. A commit without any has passed, or CI has not begun.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import quote

from pydantic import BaseModel, RootModel

from adapters.github.answers import (
    Blob,
    BranchTold,
    Entry,
    FileOfPull,
    PullTold,
    Rule,
    Workflow,
)
from adapters.github.checks import Checks
from adapters.github.client import PAGE, PAGES, Client, query
from adapters.github.problem import NotDone
from adapters.github.workflows import runs_for

T = TypeVar("T", bound=BaseModel)
FOLDER = ".github/workflows"
_LARGEST = 512 * 1024
_MOST_FILES = 100
_REMEMBERED = 500
_EARLIER = 3


class _Pulls(RootModel[tuple[PullTold, ...]]):
    pass


@dataclass
class Expected:
    client: Client
    checks: Checks
    _texts: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])
    """Of workflows, by the hash of their content."""

    async def required(self, slug: str, base: str) -> frozenset[str]:
        """The names of the checks without which the base takes nothing."""
        branch = quote(base, safe="")
        told = await self._get(slug, f"/repos/{slug}/branches/{branch}", BranchTold, "branch")
        protection = told.protection if told else None
        checks = protection.required_status_checks if protection else None
        rules = await self._pages(slug, f"/repos/{slug}/rules/branches/{branch}", Rule)
        asked = [
            one.context
            for rule in rules
            if rule.parameters and rule.type == "required_status_checks"
            for one in rule.parameters.required_status_checks
        ]
        return frozenset((*(checks.contexts if checks else ()), *asked))

    async def why(self, slug: str, pull: PullTold) -> str:
        """What says that there will be checks; empty: nothing does."""
        if workflow := await self._workflow(slug, pull):
            return f"{workflow} runs for it"
        earlier = await self._earlier(slug, pull)
        for one in earlier:
            if await self.checks.any(slug, one.head.sha):
                return f"#{one.number} had some"
        # what runs on the base alone, as for its pages, says nothing where pull requests never had any
        if not earlier and await self.checks.any(slug, pull.base.sha):
            return f"{pull.base.ref} has some"
        return ""

    async def _workflow(self, slug: str, pull: PullTold) -> str:
        """GitHub runs those of the merged whole: a file may have come with either side."""
        entries = {
            entry.path: entry
            for commit in (pull.base.sha, pull.head.sha)
            for entry in await self._pages(
                slug, query(f"/repos/{slug}/contents/{FOLDER}", ref=commit), Entry
            )
            if entry.type == "file" and entry.name.endswith((".yml", ".yaml"))
        }
        if not entries:
            return ""
        off = {one.path for one in await self._registered(slug) if one.state != "active"}
        changed = await self._pages(slug, f"/repos/{slug}/pulls/{pull.number}/files", FileOfPull)
        files = [one.filename for one in changed] if len(changed) < PAGE * PAGES else None
        for path, entry in sorted(entries.items())[:_MOST_FILES]:
            if path not in off and runs_for(await self._text(slug, entry), pull, files):
                return path
        return ""

    async def _registered(self, slug: str) -> list[Workflow]:
        """In a fork, for example, all of them may be switched off."""
        return await self._pages(
            slug, f"/repos/{slug}/actions/workflows", Workflow, under="workflows"
        )

    async def _text(self, slug: str, entry: Entry) -> str:
        """Empty where it cannot be read: then it counts as one that may run."""
        if entry.sha not in self._texts:
            path = f"/repos/{slug}/git/blobs/{entry.sha}"
            fits = entry.size <= _LARGEST
            told = await self._get(slug, path, Blob, "workflow") if fits else None
            content = told.content if told and told.encoding == "base64" else ""
            self._texts[entry.sha] = base64.b64decode(content).decode("utf-8", "replace")
            while len(self._texts) > _REMEMBERED:
                self._texts.popitem(last=False)
        return self._texts[entry.sha]

    async def _earlier(self, slug: str, pull: PullTold) -> list[PullTold]:
        """The last ones that were merged."""
        words = {"state": "closed", "sort": "updated", "direction": "desc", "per_page": "10"}
        path = query(f"/repos/{slug}/pulls", base=pull.base.ref, **words)
        told = await self._get(slug, path, _Pulls, "pull requests")
        merged = [one for one in told.root if one.is_merged] if told else []
        return merged[:_EARLIER]

    async def _get(self, slug: str, path: str, shape: type[T], what: str) -> T | None:
        """None: there is no such thing, or the token may not read it."""
        try:
            return await self.client.get(slug, path, shape, f"show the {what}")
        except NotDone as refused:
            if refused.answer.status not in {403, 404}:
                raise
            return None

    async def _pages(self, slug: str, path: str, shape: type[T], *, under: str = "") -> list[T]:
        try:
            return await self.client.pages(slug, path, shape, "show its rules", under=under)
        except NotDone as refused:
            if refused.answer.status not in {403, 404}:
                raise
            return []
