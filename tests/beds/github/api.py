"""The way of a request through the API: who asks, may they, does it go wrong, and only then what was asked; all is on record."""

from __future__ import annotations

import asyncio
import hashlib
import json
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from tests.beds.github.accounts import Token
from tests.beds.github.faults import Faults
from tests.beds.github.following import catch_up
from tests.beds.github.names import Json, Refusal, not_found
from tests.beds.github.rest import all_routes
from tests.beds.github.rest.asking import Answer, Ask, Route
from tests.beds.github.rest.graphql import answer as answer_graphql
from tests.beds.github.sending import Reply, instead, send
from tests.beds.github.tickets import shown, token_of
from tests.beds.github.validation import wrong_in_answer, wrong_in_request
from tests.beds.github.world import World

_MOST_A_PAGE, _USUALLY = 100, 30


@dataclass
class Call:
    """A request that was seen. Tokens are not kept."""

    method: str
    path: str
    query: dict[str, str]
    user_agent: str
    conditional: bool
    """Whether it asked only for what has changed."""
    body: Json = field(default_factory=dict[str, Any])
    login: str = ""
    status: int = 0
    """0: there was no answer, or not the one that was meant."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Api:
    def __init__(self, world: World, faults: Faults) -> None:
        self._world = world
        self._faults = faults
        self.routes = all_routes()
        """What is answered; a test may plant a wrong one."""
        self._threads = ThreadPoolExecutor(1, "github-bed")
        self.calls: list[Call] = []
        self.complaints: list[str] = []
        self.allowed: list[tuple[str, str]] | None = None
        """Patterns of methods and paths; None: everything."""

    async def handle(
        self, request: web.Request, path: str, closing: asyncio.Event
    ) -> web.StreamResponse:
        content = await request.read()
        headers = request.headers
        call = Call(
            request.method,
            path,
            dict(request.query),
            headers.get("User-Agent", ""),
            "If-None-Match" in headers or "If-Modified-Since" in headers,
        )
        self.calls.append(call)
        if shown(headers.get("Authorization", "")) in (*request.query.values(), *path.split("/")):
            self.complaints.append(f"the token stands in the address of {call}")
        fault = self._faults.next_for(call.method, path)
        if (early := await instead(request, fault, closing)) is not None:
            return early
        loop = asyncio.get_running_loop()
        known = {name.lower(): value for name, value in headers.items()}
        reply = await loop.run_in_executor(self._threads, self._reply, call, known, content)
        return await send(request, reply, fault, closing)

    def close(self) -> None:
        self._threads.shutdown()

    def _reply(self, call: Call, headers: dict[str, str], content: bytes) -> Reply:
        with self._world.lock:
            for repository in self._world.repositories.values():
                catch_up(repository)
            try:
                route, answer = self._answer(call, headers, content)
                reply = self._written(call, route, answer, headers.get("if-none-match", ""))
            except Refusal as refusal:
                reply = self._refused(call, refusal)
            except Exception:  # noqa: BLE001 - a mistake of the bed fails the test, wherever it happens
                self.complaints.append(f"{call}: {traceback.format_exc()}")
                reply = Reply(500, b"{}", {"Content-Type": "application/json"})
        call.status = reply.status
        return reply

    def _answer(
        self, call: Call, headers: dict[str, str], content: bytes
    ) -> tuple[Route | None, Answer]:
        token = self._admit(call, headers.get("authorization", ""))
        try:
            call.body = json.loads(content) if content.strip() else {}
        except ValueError:
            raise Refusal(400, "Problems parsing JSON") from None
        ask = Ask(self._world, token, call.query, call.body, {}, headers.get("accept", ""))
        if call.path == "/graphql":
            return None, answer_graphql(ask)
        for route in self.routes:
            if (names := route.names(call.method, call.path)) is not None:
                ask.names = names
                _demand(ask, route)
                if problems := wrong_in_request(route.method, route.path, call.body):
                    raise Refusal(422, "Invalid request.\n\n" + "\n".join(problems))
                return route, route.do(ask)
        raise not_found()

    def _admit(self, call: Call, header: str) -> Token:
        if not call.user_agent:
            raise Refusal(403, "Request forbidden by administrative rules.")
        if self.allowed is not None and not any(
            fnmatchcase(call.method, method) and fnmatchcase(call.path, path)
            for method, path in self.allowed
        ):
            self.complaints.append(f"{call} is not among what is allowed")
            raise Refusal(403, "Resource not accessible by personal access token")
        if not shown(header):
            raise Refusal(401, "Requires authentication")
        token = token_of(self._world.accounts, header)
        if token is None:
            raise Refusal(401, "Bad credentials")
        call.login = token.login
        quota = self._world.quota
        if call.path != "/rate_limit":
            if not quota.left:
                user = self._world.accounts.user(token.login)
                raise Refusal(403, f"API rate limit exceeded for user ID {user.id}.")
            quota.used += 1
        return token

    def _written(self, call: Call, route: Route | None, answer: Answer, known: str) -> Reply:
        headers = {**self._world.quota.headers, **answer.headers}
        if answer.items is not None:
            answer.body, headers["Link"] = self._page(call, answer)
            if not headers["Link"]:
                del headers["Link"]
        if answer.text is not None or answer.body is None:
            return Reply(answer.status, (answer.text or "").encode(), headers)
        if route:
            shape = "" if route.shape == "any" else route.shape
            if route.shape != "any":
                self._check(call, route.path, shape, answer.status, answer.body)
        body = json.dumps(answer.body).encode()
        headers["Content-Type"] = "application/json; charset=utf-8"
        if call.method == "GET":
            headers["ETag"] = f'W/"{hashlib.sha256(body).hexdigest()}"'
            headers["Cache-Control"] = "private, max-age=60, s-maxage=60"
            if known and headers["ETag"] in known:
                self._world.quota.used -= 1
                del headers["Content-Type"]
                return Reply(304, b"", {**headers, **self._world.quota.headers})
        return Reply(answer.status, body, headers)

    def _refused(self, call: Call, refusal: Refusal) -> Reply:
        path = next((one.path for one in self.routes if one.names(call.method, call.path)), "")
        self._check(call, path, "", refusal.status, refusal.answer)
        headers = {**self._world.quota.headers, **refusal.headers}
        headers["Content-Type"] = "application/json; charset=utf-8"
        return Reply(refusal.status, json.dumps(refusal.answer).encode(), headers)

    def _check(self, call: Call, path: str, shape: str, status: int, answer: object) -> None:
        self.complaints += wrong_in_answer(call.method, path or call.path, shape, status, answer)

    def _page(self, call: Call, answer: Answer) -> tuple[Any, str]:
        """A page of a list, and where the others are."""
        items = answer.items or []
        size = min(_MOST_A_PAGE, max(1, _number(call.query, "per_page", _USUALLY)))
        page = max(1, _number(call.query, "page", 1))
        last = max(1, -(-len(items) // size))
        targets: dict[str, int] = {}
        if page > 1:
            targets |= {"prev": page - 1, "first": 1}
        if page < last:
            targets |= {"next": page + 1, "last": last}
        address = self._world.api + call.path
        links = [
            f'<{address}?{urlencode({**call.query, "page": str(to)})}>; rel="{name}"'
            for name, to in targets.items()
        ]
        shown_here = items[(page - 1) * size : page * size]
        if answer.under:
            return {"total_count": len(items), answer.under: shown_here}, ", ".join(links)
        return shown_here, ", ".join(links)


def _demand(ask: Ask, route: Route) -> None:
    """Whether the token may; who may not even see a repository is told that there is none."""
    if not route.needs:
        return
    _ = ask.repository
    rights = route.needs.split("|")
    if not any(ask.token.may(right, route.level) for right in rights):
        kind = "integration" if ask.token.value.startswith("ghs_") else "personal access token"
        wanted = "; ".join(f"{right}={route.level}" for right in rights)
        headers = {"X-Accepted-GitHub-Permissions": wanted}
        raise Refusal(403, f"Resource not accessible by {kind}", headers=headers)


def _number(query: dict[str, str], name: str, default: int) -> int:
    given = query.get(name, "")
    return int(given) if given.isdecimal() else default
