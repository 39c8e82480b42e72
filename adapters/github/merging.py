"""Merging a pull request. Its rule: looked at before and after; whatever GitHub says, what became of it is what counts.

The checks of the head are read right before: GitHub itself waits for required ones only.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Sequence

from adapters.github.access import Pace
from adapters.github.answers import MergeTold, PullTold, RepositoryTold
from adapters.github.bodies import title_of
from adapters.github.checks import Checks
from adapters.github.client import Client, parsed
from adapters.github.expected import Expected
from adapters.github.problem import NotDone
from adapters.github.pulls import Pulls
from bot.domain.hosting import ChecksWanted, CiState, MergeTried, Obstacle
from bot.errors import Unavailable

METHODS = ("squash", "merge", "rebase")
_TRIES = 5
_MOST_NAMED = 5
_REMEMBERED = 200
_BASE_MOVED = re.compile(r"base branch was modified", re.IGNORECASE)
_BY_WORDS = (
    (Obstacle.CHECKS_FAILED, r"required .*check.*\bfail"),
    (Obstacle.CHECKS, r"required .*check.*\b(?:in progress|pending|queued|not succeeded)"),
    (Obstacle.CHECKS_MISSING, r"required .*check.*\bexpected"),
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
    def __init__(
        self, client: Client, pulls: Pulls, checks: Checks, pace: Pace, method: str
    ) -> None:
        self._client = client
        self._pulls = pulls
        self._checks = checks
        self._expected = Expected(client, checks)
        self._pace = pace
        self._method = method
        self._refused: OrderedDict[tuple[str, int, str], MergeTried] = OrderedDict()
        """What GitHub's rules had against a head, so that it is not asked again as long as they are not kept."""

    async def merge(
        self, slug: str, number: int, head: str, title: str, wanted: ChecksWanted
    ) -> MergeTried:
        pull = await self._pulls.read(slug, number)
        if (over := _before(pull, head)) is not None:
            return over
        if (unproved := await self._unproved(slug, pull, wanted)) is not None:
            return unproved
        known = self._refused.get((slug, number, head))
        if known is not None and pull.mergeable_state == "blocked":
            return known
        return await self._try(slug, number, head, title)

    async def _unproved(self, slug: str, pull: PullTold, wanted: ChecksWanted) -> MergeTried | None:
        """Why it is not known that the checks of this very head have passed; None: it is."""
        said = await self._checks.of(slug, pull.head.sha)
        if said.state is CiState.FAILED:
            failed = _listed([one.name for one in said.failures])
            return _not(Obstacle.CHECKS_FAILED, f"this check failed: {failed}")
        if said.state is CiState.PENDING:
            return _not(
                Obstacle.CHECKS, f"these checks have not ended yet: {_listed(said.running)}"
            )
        if wanted.anyway:
            return None
        required = await self._expected.required(slug, pull.base.ref)
        if missing := sorted({*required, *wanted.names} - {*said.names}):
            return _not(
                Obstacle.CHECKS_MISSING, f"not all checks have appeared: {_listed(missing)}"
            )
        if said.state is not CiState.NONE and said.readable:
            return None
        if not (why := await self._why_expected(slug, pull, wanted)):
            return None
        if not said.readable:
            return _not(
                Obstacle.CHECKS_MISSING,
                f"the token may not read checks (give it the right checks:read), and {why}",
            )
        return _not(Obstacle.CHECKS_MISSING, f"no check has appeared yet, though {why}")

    async def _why_expected(self, slug: str, pull: PullTold, wanted: ChecksWanted) -> str:
        if wanted.expected:
            return "other pull requests of this session had some"
        if pull.mergeable_state == "unstable":
            return "GitHub knows of one that has not passed"
        return await self._expected.why(slug, pull)

    async def _try(self, slug: str, number: int, head: str, title: str) -> MergeTried:
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
        tried = _not(_obstacle(pull, said), said)
        if tried.obstacle is Obstacle.RULES:
            self._refused[slug, number, head] = tried
            while len(self._refused) > _REMEMBERED:
                self._refused.popitem(last=False)
        return tried


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
    worded = (one for one, words in _BY_WORDS if re.search(words, said, re.IGNORECASE))
    by_words = next(worded, Obstacle.RULES)
    known = _BY_STATE.get(pull.mergeable_state, by_words)
    # "blocked" says by rules, and its words by which
    return by_words if known is Obstacle.RULES else known


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _merged(pull: PullTold) -> MergeTried:
    return MergeTried(merged=True, commit=pull.merge_commit_sha or "")


def _not(obstacle: Obstacle, reason: str) -> MergeTried:
    return MergeTried(merged=False, obstacle=obstacle, reason=reason)
