"""Merges a pull request once its checks have passed, and waits for expected ones.

The pull request is read before and after: its state counts, whatever the answer says. The checks of the head are read
right before, because GitHub itself waits only for required ones.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast
from urllib.parse import quote

from pydantic import BaseModel, RootModel
from ruamel.yaml import YAML, YAMLError

from adapters.github.api import ApiRefused, ApiTiming
from adapters.github.checks import Checks
from adapters.github.client import (
    MAX_PAGES,
    PAGE_SIZE,
    Blob,
    BranchData,
    BranchRule,
    Client,
    FileOfPull,
    FolderEntry,
    MergeData,
    PullData,
    RepositoryData,
    Workflow,
    parse_answer,
    path_with_query,
)
from adapters.github.pulls import Pulls, safe_title
from bot.core.errors import Unavailable
from bot.core.forge import ChecksWanted, CiState, MergeTried, Obstacle

METHODS = ("squash", "merge", "rebase")
_TRIES = 5
_MOST_NAMED = 5
_REMEMBERED_REFUSALS = 200
_BASE_MOVED = re.compile(r"base branch was modified", re.IGNORECASE)
_OBSTACLE_BY_MESSAGE = (
    (Obstacle.CHECKS_FAILED, r"required .*check.*\bfail"),
    (Obstacle.CHECKS, r"required .*check.*\b(?:in progress|pending|queued|not succeeded)"),
    (Obstacle.CHECKS_MISSING, r"required .*check.*\bexpected"),
    (Obstacle.DRAFT, r"draft|work in progress"),
    (Obstacle.BEHIND, r"not up[ -]to[ -]date|out[ -]of[ -]date|behind"),
    (Obstacle.CONFLICT, r"conflict|not mergeable|can't be rebased"),
)
_OBSTACLE_BY_STATE = {
    "draft": Obstacle.DRAFT,
    "behind": Obstacle.BEHIND,
    "dirty": Obstacle.CONFLICT,
    "blocked": Obstacle.RULES,
}


class PullMerger:
    def __init__(
        self, client: Client, pulls: Pulls, checks: Checks, pace: ApiTiming, method: str
    ) -> None:
        self._client = client
        self._pulls = pulls
        self._checks = checks
        self._expected = ExpectedChecks(client, checks)
        self._pace = pace
        self._method = method
        self._refused_merges: OrderedDict[tuple[str, int, str], MergeTried] = OrderedDict()
        """Heads that GitHub's rules do not allow to be merged, so that it is not asked again while the rules are not
        met.
        """

    async def merge(
        self, slug: str, number: int, head: str, title: str, wanted: ChecksWanted
    ) -> MergeTried:
        pull = await self._pulls.read(slug, number)
        if (over := _known_result(pull, head)) is not None:
            return over
        if (unproved := await self._checks_obstacle(slug, pull, wanted)) is not None:
            return unproved
        known = self._refused_merges.get((slug, number, head))
        if known is not None and pull.mergeable_state == "blocked":
            return known
        return await self._try(slug, number, head, title)

    async def _checks_obstacle(
        self, slug: str, pull: PullData, wanted: ChecksWanted
    ) -> MergeTried | None:
        """Return why it is not certain that the checks of this commit have passed, or None if it is."""
        said = await self._checks.results(slug, pull.head.sha)
        if said.state is CiState.FAILED:
            failed = _listed([one.name for one in said.failures])
            return _not_merged(Obstacle.CHECKS_FAILED, f"this check failed: {failed}")
        if said.state is CiState.PENDING:
            return _not_merged(
                Obstacle.CHECKS, f"these checks have not ended yet: {_listed(said.running)}"
            )
        if wanted.anyway:
            return None
        required = await self._expected.required_checks(slug, pull.base.ref)
        if missing := sorted({*required, *wanted.names} - {*said.names}):
            return _not_merged(
                Obstacle.CHECKS_MISSING, f"not all checks have appeared: {_listed(missing)}"
            )
        if said.state is not CiState.NONE and said.readable:
            return None
        if not (why := await self._why_expected(slug, pull, wanted)):
            return None
        if not said.readable:
            return _not_merged(
                Obstacle.CHECKS_MISSING,
                f"the token may not read checks (give it the right checks:read), and {why}",
            )
        return _not_merged(Obstacle.CHECKS_MISSING, f"no check has appeared yet, though {why}")

    async def _why_expected(self, slug: str, pull: PullData, wanted: ChecksWanted) -> str:
        if wanted.expected:
            return "other pull requests of this session had some"
        if pull.mergeable_state == "unstable":
            return "GitHub knows of one that has not passed"
        return await self._expected.reason_to_wait(slug, pull)

    async def _try(self, slug: str, number: int, head: str, title: str) -> MergeTried:
        method = self._method or await self._allowed_method(slug)
        for left in reversed(range(_TRIES)):
            try:
                return await self._put(slug, number, head, title, method)
            except ApiRefused as refused:
                if refused.answer.status not in {405, 409, 422}:
                    raise
                said = refused.answer.message
                if not (left and _BASE_MOVED.search(said)):
                    return await self._why_not(slug, number, head, refused)
            except Unavailable:
                # it may be merged although the answer was lost
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
            plain = safe_title(title.strip().removesuffix(numbered))
            body["commit_title"] = f"{plain} {numbered}"
        if method == "squash":
            # GitHub would collect the messages of all commits, with every mention and closing keyword an agent wrote
            body["commit_message"] = ""
        path = f"/repos/{slug}/pulls/{number}/merge"
        doing = f"merge the pull request #{number}"
        answer = await self._client.change(slug, "PUT", path, body, doing)
        told = parse_answer(answer, MergeData)
        return MergeTried(merged=told.merged, commit=told.sha or "")

    async def _allowed_method(self, slug: str) -> str:
        # Squash if the repository allows it; the token may not be able to see what is allowed.
        doing = "show the repository"
        told = await self._client.get(slug, f"/repos/{slug}", RepositoryData, doing)
        allowed = {
            "squash": told.allow_squash_merge,
            "merge": told.allow_merge_commit,
            "rebase": told.allow_rebase_merge,
        }
        return next((method for method in METHODS if allowed[method] is not False), "squash")

    async def _why_not(self, slug: str, number: int, head: str, refused: ApiRefused) -> MergeTried:
        said = refused.answer.message
        pull = await self._pulls.read(slug, number)
        if (over := _known_result(pull, head)) is not None:
            return over
        if refused.answer.status == 409:
            return _not_merged(Obstacle.MOVED, said)
        if _BASE_MOVED.search(said):
            raise Unavailable(
                "the base branch moves all the time", "The bot tries again by itself."
            )
        tried = _not_merged(_obstacle(pull, said), said)
        if tried.obstacle is Obstacle.RULES:
            self._refused_merges[slug, number, head] = tried
            while len(self._refused_merges) > _REMEMBERED_REFUSALS:
                self._refused_merges.popitem(last=False)
        return tried


def _known_result(pull: PullData, head: str) -> MergeTried | None:
    """Return the result that is certain without trying to merge, or None."""
    if pull.is_merged:
        return _merged(pull)
    if not pull.is_open:
        return _not_merged(Obstacle.CLOSED, "the pull request is closed")
    if pull.head.sha != head:
        return _not_merged(
            Obstacle.MOVED, f"it stands at {pull.head.sha[:12]} now, not at {head[:12]}"
        )
    if pull.draft:
        return _not_merged(Obstacle.DRAFT, "the pull request is a draft")
    if pull.mergeable is False:
        return _not_merged(Obstacle.CONFLICT, f"it conflicts with {pull.base.ref}")
    return None


def _obstacle(pull: PullData, said: str) -> Obstacle:
    """Return the obstacle by the state GitHub reports or, while that is unknown, by its message."""
    if pull.mergeable is False:
        return Obstacle.CONFLICT
    worded = (one for one, words in _OBSTACLE_BY_MESSAGE if re.search(words, said, re.IGNORECASE))
    by_words = next(worded, Obstacle.RULES)
    known = _OBSTACLE_BY_STATE.get(pull.mergeable_state, by_words)
    # "blocked" only says that there is a rule; the message says which
    return by_words if known is Obstacle.RULES else known


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _merged(pull: PullData) -> MergeTried:
    return MergeTried(merged=True, commit=pull.merge_commit_sha or "")


def _not_merged(obstacle: Obstacle, reason: str) -> MergeTried:
    return MergeTried(merged=False, obstacle=obstacle, reason=reason)


# Whether checks of a pull request are still expected. A check does not exist before some system has created it: a
# commit without checks has either passed, or CI has not started. So every sign of a coming check counts, and what the
# token may not read does not.

T = TypeVar("T", bound=BaseModel)
WORKFLOW_FOLDER = ".github/workflows"
_MAX_WORKFLOW_BYTES = 512 * 1024
_MOST_FILES = 100
_REMEMBERED_WORKFLOWS = 500
_EARLIER_PULLS = 3


class _Pulls(RootModel[tuple[PullData, ...]]):
    pass


@dataclass
class ExpectedChecks:
    client: Client
    checks: Checks
    _texts: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])
    """Texts of workflows, by the hash of their content."""

    async def required_checks(self, slug: str, base: str) -> frozenset[str]:
        """Return the names of the checks that the base branch requires."""
        branch = quote(base, safe="")
        told = await self._get(slug, f"/repos/{slug}/branches/{branch}", BranchData, "branch")
        protection = told.protection if told else None
        checks = protection.required_status_checks if protection else None
        rules = await self._pages(slug, f"/repos/{slug}/rules/branches/{branch}", BranchRule)
        asked = [
            one.context
            for rule in rules
            if rule.parameters and rule.type == "required_status_checks"
            for one in rule.parameters.required_status_checks
        ]
        return frozenset((*(checks.contexts if checks else ()), *asked))

    async def reason_to_wait(self, slug: str, pull: PullData) -> str:
        """Return why checks are expected; empty if nothing suggests it."""
        if workflow := await self._workflow(slug, pull):
            return f"{workflow} runs for it"
        earlier = await self._earlier_pulls(slug, pull)
        for one in earlier:
            if await self.checks.has_checks(slug, one.head.sha):
                return f"#{one.number} had some"
        # checks that run only on the base, as for its pages, mean nothing if earlier pull requests had none
        if not earlier and await self.checks.has_checks(slug, pull.base.sha):
            return f"{pull.base.ref} has some"
        return ""

    async def _workflow(self, slug: str, pull: PullData) -> str:
        # GitHub runs the workflows of the merge result, whose files may come from either side.
        entries = {
            entry.path: entry
            for commit in (pull.base.sha, pull.head.sha)
            for entry in await self._pages(
                slug,
                path_with_query(f"/repos/{slug}/contents/{WORKFLOW_FOLDER}", ref=commit),
                FolderEntry,
            )
            if entry.type == "file" and entry.name.endswith((".yml", ".yaml"))
        }
        if not entries:
            return ""
        off = {one.path for one in await self._registered_workflows(slug) if one.state != "active"}
        changed = await self._pages(slug, f"/repos/{slug}/pulls/{pull.number}/files", FileOfPull)
        files = [one.filename for one in changed] if len(changed) < PAGE_SIZE * MAX_PAGES else None
        for path, entry in sorted(entries.items())[:_MOST_FILES]:
            if path not in off and workflow_runs_for(await self._text(slug, entry), pull, files):
                return path
        return ""

    async def _registered_workflows(self, slug: str) -> list[Workflow]:
        # In a fork, for example, all workflows may be disabled.
        return await self._pages(
            slug, f"/repos/{slug}/actions/workflows", Workflow, under="workflows"
        )

    async def _text(self, slug: str, entry: FolderEntry) -> str:
        """Return the text of a workflow; empty if it cannot be read, so that it counts as one that may run."""
        if entry.sha not in self._texts:
            path = f"/repos/{slug}/git/blobs/{entry.sha}"
            fits = entry.size <= _MAX_WORKFLOW_BYTES
            told = await self._get(slug, path, Blob, "workflow") if fits else None
            content = told.content if told and told.encoding == "base64" else ""
            self._texts[entry.sha] = base64.b64decode(content).decode("utf-8", "replace")
            while len(self._texts) > _REMEMBERED_WORKFLOWS:
                self._texts.popitem(last=False)
        return self._texts[entry.sha]

    async def _earlier_pulls(self, slug: str, pull: PullData) -> list[PullData]:
        """Return the pull requests merged last."""
        words = {"state": "closed", "sort": "updated", "direction": "desc", "per_page": "10"}
        path = path_with_query(f"/repos/{slug}/pulls", base=pull.base.ref, **words)
        told = await self._get(slug, path, _Pulls, "pull requests")
        merged = [one for one in told.root if one.is_merged] if told else []
        return merged[:_EARLIER_PULLS]

    async def _get(self, slug: str, path: str, shape: type[T], what: str) -> T | None:
        """Return the resource, or None if it does not exist or the token may not read it."""
        try:
            return await self.client.get(slug, path, shape, f"show the {what}")
        except ApiRefused as refused:
            if refused.answer.status not in {403, 404}:
                raise
            return None

    async def _pages(self, slug: str, path: str, shape: type[T], *, under: str = "") -> list[T]:
        try:
            return await self.client.get_pages(slug, path, shape, "show its rules", under=under)
        except ApiRefused as refused:
            if refused.answer.status not in {403, 404}:
                raise
            return []


# Whether a workflow of GitHub Actions runs for a pull request. No I/O. A workflow that cannot be parsed may run. An
# agent may have written the file, so only its `on` is read, up to a limit.

_ON = re.compile(r"""^(?:on|true|["']on["'])[ \t]*:""", re.MULTILINE | re.IGNORECASE)
_NEXT_KEY = re.compile(r"^[^\s#]", re.MULTILINE)
_LONGEST_TRIGGER = 8_000
_MAX_BRACKETS = 100
"""The YAML library takes time quadratic in their number."""
_PULL_EVENTS = frozenset({"pull_request", "pull_request_target"})
_WHILE_OPEN = frozenset({"opened", "synchronize", "reopened", "ready_for_review"})
_FAILS = (YAMLError, ValueError, TypeError, RecursionError, AttributeError, re.error)


def workflow_runs_for(text: str, pull: PullData, files: Sequence[str] | None) -> bool:
    """Whether the workflow may run for the pull request. `files`: the files it changes, or None if unknown."""
    try:
        told = _events(text)
        events = [told] if isinstance(told, str) else told
        if isinstance(events, list):
            return any(name in {"push", *_PULL_EVENTS} for name in cast("list[object]", events))
        if not isinstance(events, dict):
            return True
        return any(
            _event_matches(str(name), filters, pull, files)
            for name, filters in cast("dict[object, object]", events).items()
        )
    except _FAILS:
        return True


def _events(text: str) -> object:
    found = _ON.search(text)
    if found is None:
        return None
    following = _NEXT_KEY.search(text, text.find("\n", found.end()) + 1 or len(text))
    block = text[found.end() : following.start() if following else len(text)]
    if len(block) > _LONGEST_TRIGGER or sum(block.count(one) for one in "[{") > _MAX_BRACKETS:
        return None
    return YAML(typ="safe", pure=True).load(f"it:{block}")["it"]


def _event_matches(name: str, filters: object, pull: PullData, files: Sequence[str] | None) -> bool:
    if name != "push" and name not in _PULL_EVENTS:
        return False
    given = cast("dict[str, object]", filters) if isinstance(filters, dict) else {}
    branches, tags = ({what, f"{what}-ignore"} & set(given) for what in ("branches", "tags"))
    if name == "push" and tags and not branches:
        return False  # with only a filter for tags no branch matches
    if name in _PULL_EVENTS and "types" in given and not _WHILE_OPEN & set(_list(given["types"])):
        return False
    branch = pull.head.ref if name == "push" else pull.base.ref
    if "branches" in given and not matches_patterns(_list(given["branches"]), branch):
        return False
    if "branches-ignore" in given and matches_patterns(_list(given["branches-ignore"]), branch):
        return False
    if not files:
        return True
    if "paths" in given:
        return any(matches_patterns(_list(given["paths"]), file) for file in files)
    ignored = _list(given.get("paths-ignore", []))
    return not ignored or not all(matches_patterns(ignored, file) for file in files)


def _list(told: object) -> list[str]:
    if isinstance(told, list):
        return [str(one) for one in cast("list[object]", told)]
    return [str(told)]


def matches_patterns(patterns: Iterable[str], name: str) -> bool:
    """Whether the name matches, by GitHub's rules: patterns apply in order, and one that begins with ! revokes an
    earlier match.
    """
    found = False
    for pattern in patterns:
        plain = pattern.removeprefix("!")
        if re.fullmatch(_as_regex(plain), name):
            found = plain == pattern
    return found


def _as_regex(pattern: str) -> str:
    """Translate a pattern: `*` stops at a slash, `**` does not; `?` and `+` apply to the character before them."""
    parts = re.findall(r"\*\*/?|\*|[?+]|\[[^\]]*\]|\\.|.", pattern, re.DOTALL)
    meant = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "?", "+": "+"}
    return "".join(
        meant.get(part) or (part if part.startswith(("[", "\\")) else re.escape(part))
        for part in parts
    )
