"""Looking at a pull request: how it stands, what robots and people say. Its rule: what has not changed costs nothing."""

from __future__ import annotations

import asyncio

from adapters.github.access import Pace
from adapters.github.answers import PullTold
from adapters.github.checks import Checks
from adapters.github.client import Client
from adapters.github.notes import Notes
from adapters.github.pulls import Pulls
from bot.domain.hosting import MergeState, Pull

MOST_CHECKS = 200
_THINKING_TRIES = 4
_STATES = {
    "clean": MergeState.CLEAN,
    "has_hooks": MergeState.CLEAN,
    "dirty": MergeState.CONFLICT,
    "behind": MergeState.BEHIND,
    "blocked": MergeState.BLOCKED,
    "unstable": MergeState.UNSTABLE,
    "draft": MergeState.DRAFT,
}


class Looking:
    def __init__(
        self, client: Client, pulls: Pulls, checks: Checks, notes: Notes, pace: Pace
    ) -> None:
        self._client = client
        self._pulls = pulls
        self._checks = checks
        self._notes = notes
        self._pace = pace

    async def look(self, slug: str, number: int) -> Pull:
        self._client.quota.keep_reserve()
        told = await self._thought_about(slug, number)
        said = await self._checks.of(slug, told.head.sha)
        notes = await self._notes.of(slug, number)
        checks = {"ci": said.state, "checks": said.names[:MOST_CHECKS], "failures": said.failures}
        return Pull.model_validate(pull_of(told).model_dump() | checks | {"notes": notes})

    async def _thought_about(self, slug: str, number: int) -> PullTold:
        """GitHub begins to think about whether it can be merged when it is first asked."""
        told = await self._pulls.read(slug, number)
        for _ in range(_THINKING_TRIES - 1):
            if told.mergeable is not None or not told.is_open:
                break
            await asyncio.sleep(self._pace.again)
            told = await self._pulls.read(slug, number)
        return told


def pull_of(told: PullTold) -> Pull:
    """What a single answer says of it."""
    return Pull(
        number=told.number,
        url=told.html_url,
        branch=told.head.ref,
        head=told.head.sha,
        base=told.base.ref,
        open=told.is_open,
        merged=told.is_merged,
        # of an open one it is a mere try of GitHub's
        merge_commit=(told.merge_commit_sha or "") if told.is_merged else "",
        draft=told.draft,
        merge_state=_merge_state(told),
    )


def _merge_state(told: PullTold) -> MergeState:
    if not told.is_open:
        return MergeState.UNKNOWN
    if told.mergeable is False:
        return MergeState.CONFLICT
    if told.draft:
        return MergeState.DRAFT
    return _STATES.get(told.mergeable_state, MergeState.UNKNOWN)
