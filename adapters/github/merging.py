"""Merging a pull request. Its rule: looked at before and after; whatever GitHub says, what became of it is what counts."""

from __future__ import annotations

import asyncio
import re

from adapters.github.access import Pace
from adapters.github.answers import MergeTold, PullTold, RepositoryTold
from adapters.github.bodies import title_of
from adapters.github.client import Client, parsed
from adapters.github.problem import NotDone
from adapters.github.pulls import Pulls
from bot.domain.hosting import MergeTried, Obstacle
from bot.errors import Unavailable

METHODS = ("squash", "merge", "rebase")
_TRIES = 5
_BASE_MOVED = re.compile(r"base branch was modified", re.IGNORECASE)
_BY_WORDS = (
    (Obstacle.DRAFT, r"draft|work in progress"),
    (Obstacle.BEHIND, r"not up[ -]to[ -]date|out[ -]of[ -]date|behind"),
    (Obstacle.CONFLICT, r"conflict|not mergeable|can't be rebased"),
)
_BY_STATE = {
    "draft": Obstacle.DRAFT,
    "behind": Obstacle.BEHIND,
    "dirty": Obstacle.CONFLICT,
    "blocked": Obstacle.RULES,
}


class Merging:
    def __init__(self, client: Client, pulls: Pulls, pace: Pace, method: str) -> None:
        self._client = client
        self._pulls = pulls
        self._pace = pace
        self._method = method

    async def merge(self, slug: str, number: int, head: str, title: str) -> MergeTried:
        pull = await self._pulls.read(slug, number)
        if (over := _before(pull, head)) is not None:
            return over
        method = self._method or await self._allowed(slug)
        for left in reversed(range(_TRIES)):
            try:
                return await self._put(slug, number, head, title, method)
            except NotDone as refused:
                if refused.answer.status not in {405, 409, 422}:
                    raise
                said = refused.answer.message
                if not (left and _BASE_MOVED.search(said)):
                    return await self._why_not(slug, number, head, refused)
            except Unavailable:
                # it may be merged, though nobody has told us
                pull = await self._pulls.read(slug, number)
                if not pull.is_merged:
                    raise
                return _merged(pull)
            await asyncio.sleep(self._pace.again)
        raise AssertionError("unreachable: the last try returns or raises")

    async def _put(self, slug: str, number: int, head: str, title: str, method: str) -> MergeTried:
        body: dict[str, object] = {"sha": head, "merge_method": method}
        if method != "rebase" and title.strip():
            numbered = f"(#{number})"
            plain = title_of(title.strip().removesuffix(numbered))
            body["commit_title"] = f"{plain} {numbered}"
        if method == "squash":
            # GitHub would gather the messages of all commits, and with them whatever agents mention and close
            body["commit_message"] = ""
        path = f"/repos/{slug}/pulls/{number}/merge"
        doing = f"merge the pull request #{number}"
        answer = await self._client.change(slug, "PUT", path, body, doing)
        told = parsed(answer, MergeTold)
        return MergeTried(merged=told.merged, commit=told.sha or "")

    async def _allowed(self, slug: str) -> str:
        """Squash, where the repository allows it; it may keep to itself what it allows."""
        doing = "show the repository"
        told = await self._client.get(slug, f"/repos/{slug}", RepositoryTold, doing)
        allowed = {
            "squash": told.allow_squash_merge,
            "merge": told.allow_merge_commit,
            "rebase": told.allow_rebase_merge,
        }
        return next((method for method in METHODS if allowed[method] is not False), "squash")

    async def _why_not(self, slug: str, number: int, head: str, refused: NotDone) -> MergeTried:
        said = refused.answer.message
        pull = await self._pulls.read(slug, number)
        if (over := _before(pull, head)) is not None:
            return over
        if refused.answer.status == 409:
            return _not(Obstacle.MOVED, said)
        if _BASE_MOVED.search(said):
            raise Unavailable(
                "the base branch moves all the time", "The bot tries again by itself."
            )
        return _not(_obstacle(pull, said), said)


def _before(pull: PullTold, head: str) -> MergeTried | None:
    """What needs no try."""
    if pull.is_merged:
        return _merged(pull)
    if not pull.is_open:
        return _not(Obstacle.CLOSED, "the pull request is closed")
    if pull.head.sha != head:
        return _not(Obstacle.MOVED, f"it stands at {pull.head.sha[:12]} now, not at {head[:12]}")
    if pull.draft:
        return _not(Obstacle.DRAFT, "the pull request is a draft")
    if pull.mergeable is False:
        return _not(Obstacle.CONFLICT, f"it conflicts with {pull.base.ref}")
    return None


def _obstacle(pull: PullTold, said: str) -> Obstacle:
    """By what GitHub knows of it; where it is still thinking, by its words."""
    if pull.mergeable is False:
        return Obstacle.CONFLICT
    known = _BY_STATE.get(pull.mergeable_state)
    if known is not None:
        return known
    for obstacle, words in _BY_WORDS:
        if re.search(words, said, re.IGNORECASE):
            return obstacle
    return Obstacle.RULES


def _merged(pull: PullTold) -> MergeTried:
    return MergeTried(merged=True, commit=pull.merge_commit_sha or "")


def _not(obstacle: Obstacle, reason: str) -> MergeTried:
    return MergeTried(merged=False, obstacle=obstacle, reason=reason)
