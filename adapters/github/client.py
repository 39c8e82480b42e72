"""The one way to GitHub's API. Its rule: one request a call, nothing sent twice that changes something, every oddity told.

PyGithub carries the requests. Reading is tried again here; what changes something is looked for by who asked for it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError

from adapters.github.access import Address, Pace
from adapters.github.aside import aside
from adapters.github.connection import sent, translated, with_token
from adapters.github.problem import Answered, judge, not_understood
from adapters.github.quota import Quota
from adapters.github.tokens import Tokens
from bot.errors import PortError, Refused, Unavailable

if TYPE_CHECKING:
    from github import Github

T = TypeVar("T", bound=BaseModel)
log = logging.getLogger("bot.github")
PAGE, PAGES = 100, 5
_REMEMBERED = 500
_READ_TRIES = 3
_NEXT = re.compile(r'rel="next"')


class Client:
    def __init__(self, address: Address, tokens: Tokens, pace: Pace) -> None:
        self.quota = Quota()
        self._address = address
        self._tokens = tokens
        self._pace = pace
        self._open: dict[str, Github] = {}
        self._known: OrderedDict[str, Answered] = OrderedDict()

    async def get(self, slug: str, path: str, shape: type[T], doing: str) -> T:
        """Read one thing. If GitHub says that it is as it was, that costs nothing of the quota."""
        return parsed(await self._read(slug, path, doing), shape)

    async def pages(
        self, slug: str, path: str, shape: type[T], doing: str, *, under: str = ""
    ) -> list[T]:
        """Read the pages of a list, to a bound. `under`: the field they stand in."""
        found: list[T] = []
        joint = "&" if "?" in path else "?"
        for page in range(1, PAGES + 1):
            one = await self._read(slug, f"{path}{joint}per_page={PAGE}&page={page}", doing)
            found += _items(one, shape, under)
            if not _NEXT.search(one.headers.get("link", "")):
                return found
        log.info("a list was cut", extra={"path": path, "items": len(found)})
        return found

    async def raw(self, slug: str, path: str, doing: str) -> Answered:
        """Read something that may stand elsewhere: the answer then says where."""
        answer = await self._send(slug, "GET", path, {}, None)
        if answer.status >= 400:
            raise self._judged(answer, doing)
        return answer

    async def change(
        self, slug: str, verb: str, path: str, body: Mapping[str, object], doing: str
    ) -> Answered:
        """Ask once for something to be done. Unavailable: it may have been done."""
        answer = await self._send(slug, verb, path, {}, body)
        if answer.status >= 300:
            raise self._judged(answer, doing)
        return answer

    async def graphql(
        self, slug: str, query: str, variables: Mapping[str, object], doing: str
    ) -> Answered:
        """Ask what only GraphQL knows. Its errors come with a status that says all is well."""
        body = {"query": query, "variables": variables}
        answer = await self.change(slug, "POST", "graphql", body, doing)
        told = read_json(answer)
        errors = cast("dict[str, object]", told).get("errors") if isinstance(told, dict) else None
        if errors:
            raise judge(Answered(_status_of(errors), answer.headers, _as_rest(errors)), doing)
        return answer

    async def close(self) -> None:
        for one in self._open.values():
            one.close()
        self._open.clear()

    async def _read(self, slug: str, path: str, doing: str) -> Answered:
        for left in reversed(range(_READ_TRIES)):
            try:
                return await self._read_once(slug, path, doing)
            except Unavailable as error:
                if not left or error.retry_after is not None:
                    raise
            await asyncio.sleep(self._pace.again)
        raise AssertionError("unreachable: the last try returns or raises")

    async def _read_once(self, slug: str, path: str, doing: str) -> Answered:
        known = self._known.get(path)
        headers = {"If-None-Match": known.headers["etag"]} if known else {}
        answer = await self._send(slug, "GET", path, headers, None)
        if answer.status == 304 and known is not None:
            self._known.move_to_end(path)
            return known
        if answer.status >= 300:
            raise self._judged(answer, doing)
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
    ) -> Answered:
        token = await self._tokens.token(slug)
        if not token:
            raise Refused("there is no token for GitHub any more", "Set GITHUB_TOKEN.")
        github = self._github(token)
        try:
            answer = await aside(
                lambda: sent(github, verb, path, headers, body), seconds=self._pace.whole
            )
        except Exception as error:
            raise translated(error) from error
        self.quota.note(answer.headers)
        return answer

    def _github(self, token: str) -> Github:
        """One connection for each token: that of an app is another one every hour."""
        if token not in self._open:
            self._open[token] = with_token(token, self._address, self._pace)
        return self._open[token]

    def _judged(self, answer: Answered, doing: str) -> PortError:
        if answer.status == 401:
            # the next call asks again: `gh` or the app may have a newer one
            self._tokens.forget()
        return judge(answer, doing)


def query(path: str, **words: str) -> str:
    return f"{path}?{urlencode(words)}"


def parsed(answer: Answered, shape: type[T]) -> T:
    return _as(read_json(answer), shape)


def read_json(answer: Answered) -> object:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise not_understood("it is not JSON") from error


def _items(answer: Answered, shape: type[T], under: str) -> list[T]:
    told = read_json(answer)
    if under:
        told = cast("dict[str, object]", told).get(under) if isinstance(told, dict) else None
    if not isinstance(told, list):
        raise not_understood("it is no list")
    return [_as(one, shape) for one in cast("list[object]", told)]


def _as(told: object, shape: type[T]) -> T:
    try:
        return shape.model_validate(told)
    except ValidationError as error:
        raise not_understood(f"{error.error_count()} fields are not as expected") from error


def _status_of(errors: object) -> int:
    kinds = {"FORBIDDEN": 403, "NOT_FOUND": 404, "RATE_LIMITED": 429}
    found = re.search("|".join(kinds), str(errors))
    return kinds[found.group()] if found else 422


def _as_rest(errors: object) -> str:
    return json.dumps({"message": "", "errors": errors})
