"""The client of GitHub's API, and the fields of its answers that the bot uses.

PyGithub sends the requests. Reads are retried here; a request that changes something is never repeated automatically:
its caller first looks for the effect.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, ValidationError

from adapters.github.api import (
    Address,
    ApiAnswer,
    ApiTiming,
    Quota,
    as_port_error,
    error_for,
    in_own_thread,
    invalid_answer_error,
    send_request,
    with_token,
)
from adapters.github.tokens import Tokens
from bot.core.errors import PortError, Refused, Unavailable

if TYPE_CHECKING:
    from github import Github


T = TypeVar("T", bound=BaseModel)
log = logging.getLogger("bot.github")
PAGE_SIZE, MAX_PAGES = 100, 5
_REMEMBERED = 500
_READ_TRIES = 3
_NEXT = re.compile(r'rel="next"')


class Client:
    def __init__(self, address: Address, tokens: Tokens, pace: ApiTiming) -> None:
        self.quota = Quota()
        self._address = address
        self._tokens = tokens
        self._pace = pace
        self._connections: dict[str, Github] = {}
        self._known: OrderedDict[str, ApiAnswer] = OrderedDict()

    async def get(self, slug: str, path: str, shape: type[T], doing: str) -> T:
        """Read one resource. If GitHub answers that it is unchanged, it does not count against the quota."""
        return parse_answer(await self._read(slug, path, doing), shape)

    async def get_pages(
        self, slug: str, path: str, shape: type[T], doing: str, *, under: str = ""
    ) -> list[T]:
        """Read the pages of a list, up to a limit. `under`: the field with the items."""
        found: list[T] = []
        joint = "&" if "?" in path else "?"
        for page in range(1, MAX_PAGES + 1):
            one = await self._read(slug, f"{path}{joint}per_page={PAGE_SIZE}&page={page}", doing)
            found += _items(one, shape, under)
            if not _NEXT.search(one.headers.get("link", "")):
                return found
        log.info("a list was cut", extra={"path": path, "items": len(found)})
        return found

    async def get_raw(self, slug: str, path: str, doing: str) -> ApiAnswer:
        """Read a resource without following redirects: the answer may name another address."""
        answer = await self._send(slug, "GET", path, {}, None)
        if answer.status >= 400:
            raise self._error_of(answer, doing)
        return answer

    async def change(
        self, slug: str, verb: str, path: str, body: Mapping[str, object], doing: str
    ) -> ApiAnswer:
        """Send one request that changes something. After Unavailable it may have taken effect."""
        answer = await self._send(slug, verb, path, {}, body)
        if answer.status >= 300:
            raise self._error_of(answer, doing)
        return answer

    async def graphql(
        self, slug: str, query: str, variables: Mapping[str, object], doing: str
    ) -> ApiAnswer:
        """Send a GraphQL query. Its errors arrive with status 200."""
        body = {"query": query, "variables": variables}
        answer = await self.change(slug, "POST", "graphql", body, doing)
        told = read_json(answer)
        errors = cast("dict[str, object]", told).get("errors") if isinstance(told, dict) else None
        if errors:
            raise error_for(ApiAnswer(_status_of(errors), answer.headers, _as_rest(errors)), doing)
        return answer

    async def close(self) -> None:
        for one in self._connections.values():
            one.close()
        self._connections.clear()

    async def _read(self, slug: str, path: str, doing: str) -> ApiAnswer:
        for left in reversed(range(_READ_TRIES)):
            try:
                return await self._read_once(slug, path, doing)
            except Unavailable as error:
                if not left or error.retry_after is not None:
                    raise
            await asyncio.sleep(self._pace.again)
        raise AssertionError("unreachable: the last try returns or raises")

    async def _read_once(self, slug: str, path: str, doing: str) -> ApiAnswer:
        known = self._known.get(path)
        headers = {"If-None-Match": known.headers["etag"]} if known else {}
        answer = await self._send(slug, "GET", path, headers, None)
        if answer.status == 304 and known is not None:
            self._known.move_to_end(path)
            return known
        if answer.status >= 300:
            raise self._error_of(answer, doing)
        read_json(answer)
        if "etag" in answer.headers:
            self._known[path] = answer
            self._known.move_to_end(path)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return answer

    async def _send(
        self,
        slug: str,
        verb: str,
        path: str,
        headers: dict[str, str],
        body: Mapping[str, object] | None,
    ) -> ApiAnswer:
        token = await self._tokens.token(slug)
        if not token:
            raise Refused("there is no token for GitHub any more", "Set GITHUB_TOKEN.")
        github = self._github(token)
        try:
            answer = await in_own_thread(
                lambda: send_request(github, verb, path, headers, body), seconds=self._pace.whole
            )
        except Exception as error:
            raise as_port_error(error) from error
        self.quota.note(answer.headers)
        return answer

    def _github(self, token: str) -> Github:
        # One client per token; that of an app changes every hour.
        if token not in self._connections:
            self._connections[token] = with_token(token, self._address, self._pace)
        return self._connections[token]

    def _error_of(self, answer: ApiAnswer, doing: str) -> PortError:
        if answer.status == 401:
            # the next call looks it up again, because `gh` or the app may have a newer one
            self._tokens.forget()
        return error_for(answer, doing)


def path_with_query(path: str, **words: str) -> str:
    return f"{path}?{urlencode(words)}"


def parse_answer(answer: ApiAnswer, shape: type[T]) -> T:
    return _validated(read_json(answer), shape)


def read_json(answer: ApiAnswer) -> object:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise invalid_answer_error("it is not JSON") from error


def _items(answer: ApiAnswer, shape: type[T], under: str) -> list[T]:
    told = read_json(answer)
    if under:
        told = cast("dict[str, object]", told).get(under) if isinstance(told, dict) else None
    if not isinstance(told, list):
        raise invalid_answer_error("it is no list")
    return [_validated(one, shape) for one in cast("list[object]", told)]


def _validated(told: object, shape: type[T]) -> T:
    try:
        return shape.model_validate(told)
    except ValidationError as error:
        raise invalid_answer_error(f"{error.error_count()} fields are not as expected") from error


def _status_of(errors: object) -> int:
    kinds = {"FORBIDDEN": 403, "NOT_FOUND": 404, "RATE_LIMITED": 429}
    found = re.search("|".join(kinds), str(errors))
    return kinds[found.group()] if found else 422


def _as_rest(errors: object) -> str:
    return json.dumps({"message": "", "errors": errors})


# The fields of GitHub's answers that the bot needs. All others are ignored.


class ApiModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class BranchEnd(ApiModel):
    """Head or base of a pull request."""

    ref: str
    sha: str
    label: str | None = None
    """owner:branch."""

    def is_branch_of(self, owner: str, branch: str) -> bool:
        """Whether it is that branch of the owner; a fork may have a branch of the same name."""
        if self.ref != branch:
            return False
        return self.label is None or self.label.lower() == f"{owner}:{branch}".lower()


class PullData(ApiModel):
    number: int
    node_id: str
    html_url: str
    state: str
    title: str
    body: str | None = None
    head: BranchEnd
    base: BranchEnd
    draft: bool = False
    merged_at: datetime | None = None
    merge_commit_sha: str | None = None
    mergeable: bool | None = None
    """None also in lists: GitHub computes it only on request."""
    mergeable_state: str = "unknown"

    @property
    def is_open(self) -> bool:
        return self.state == "open"

    @property
    def is_merged(self) -> bool:
        return self.merged_at is not None


class MergeData(ApiModel):
    merged: bool
    sha: str | None = None


class Permissions(ApiModel):
    push: bool = True


class RepositoryData(ApiModel):
    full_name: str
    html_url: str
    archived: bool = False
    disabled: bool = False
    permissions: Permissions | None = None
    allow_squash_merge: bool | None = None
    allow_merge_commit: bool | None = None
    allow_rebase_merge: bool | None = None


class User(ApiModel):
    login: str
    type: str = "User"

    @property
    def is_robot(self) -> bool:
        return self.type == "Bot" or self.login.endswith("[bot]")


class PullComment(ApiModel):
    """A comment on a pull request or one of its lines, or a review."""

    id: int
    user: User | None = None
    body: str | None = None
    author_association: str = "NONE"
    html_url: str = ""
    created_at: datetime | None = None
    submitted_at: datetime | None = None
    state: str = ""
    """Only for reviews."""
    path: str = ""
    line: int | None = None
    original_line: int | None = None
    in_reply_to_id: int | None = None

    @property
    def when(self) -> float:
        told = self.created_at or self.submitted_at
        return told.timestamp() if told else 0.0


class CheckOutput(ApiModel):
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations_count: int = 0


class CheckApp(ApiModel):
    slug: str = ""


class CheckRun(ApiModel):
    id: int
    name: str
    status: str
    conclusion: str | None = None
    html_url: str | None = None
    output: CheckOutput = CheckOutput()
    app: CheckApp | None = None


class CheckSuite(ApiModel):
    """All check runs of one app on a commit; for GitHub Actions, those of one workflow."""

    id: int
    status: str | None = None
    conclusion: str | None = None
    latest_check_runs_count: int = 0
    app: CheckApp | None = None


class Annotation(ApiModel):
    path: str = ""
    start_line: int | None = None
    annotation_level: str | None = None
    message: str | None = None


class CommitStatus(ApiModel):
    id: int
    context: str
    state: str
    description: str | None = None
    target_url: str | None = None


class CommitStatuses(ApiModel):
    statuses: tuple[CommitStatus, ...]


class StatusChecks(ApiModel):
    contexts: tuple[str, ...] = ()


class BranchProtection(ApiModel):
    required_status_checks: StatusChecks | None = None


class BranchData(ApiModel):
    protection: BranchProtection | None = None


class StatusCheck(ApiModel):
    context: str


class RuleParameters(ApiModel):
    required_status_checks: tuple[StatusCheck, ...] = ()


class BranchRule(ApiModel):
    """A rule for a branch, from any ruleset."""

    type: str
    parameters: RuleParameters | None = None


class FolderEntry(ApiModel):
    """An entry of a folder."""

    name: str
    path: str
    sha: str
    size: int = 0
    type: str = "file"


class Blob(ApiModel):
    content: str
    encoding: str = "base64"


class Workflow(ApiModel):
    path: str
    state: str = "active"


class FileOfPull(ApiModel):
    filename: str
