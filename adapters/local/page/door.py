"""Who may use the page: one-use codes, tokens, the headers of a browser, and on Linux the program that connects.

The address alone opens nothing: a code is given over the local socket, works once within a minute, and is exchanged for
a token that only the tab knows. What a browser sends along by itself (cookies) is never used, so no other page can act.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import secrets
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from weakref import WeakKeyDictionary

from aiohttp import web

from adapters.local.server import belongs_to_agent

CODE_SECONDS = 60.0
MAX_CODES = 16
MAX_TOKENS = 100
"""Tabs that may be open at once. The oldest has to be opened anew."""
MAX_BODY_BYTES = 256 * 1024
_OPEN_PATHS = ("/", "/open")
_STATIC = "/static/"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
log = logging.getLogger("bot.local")


class Codes:
    """The codes and tokens in force. Only hashes are kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[str, float] = {}
        self._tokens: dict[str, float] = {}

    def new_code(self) -> str:
        code = secrets.token_urlsafe(32)
        self._codes[_hash(code)] = self._clock() + CODE_SECONDS
        while len(self._codes) > MAX_CODES:
            del self._codes[next(iter(self._codes))]
        return code

    def exchange(self, code: str) -> str | None:
        """Return a token for the code, which is used up by that."""
        if self._codes.pop(_hash(code), 0.0) < self._clock():
            return None
        token = secrets.token_urlsafe(32)
        self._tokens[_hash(token)] = self._clock()
        while len(self._tokens) > MAX_TOKENS:
            del self._tokens[next(iter(self._tokens))]
        return token

    def knows(self, token: str) -> bool:
        return _hash(token) in self._tokens


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


class Door:
    """The checks that every request has to pass, as a middleware."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self.hosts: set[str] = set()
        """What a browser may call us, e.g. `127.83.4.211:40213`."""
        self._connections: WeakKeyDictionary[asyncio.Transport, bool] = WeakKeyDictionary()

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self._check_headers(request)
        await self._check_peer(request)
        if not _needs_no_token(request.path):
            self._check_token(request)
        return await handler(request)

    def _check_headers(self, request: web.Request) -> None:
        # A name that an attacker's DNS leads here (rebinding) is not ours, and neither is another port of this machine,
        # which browsers call "same-site".
        host = request.headers.get("Host", "")
        if host not in self.hosts:
            raise web.HTTPMisdirectedRequest(text="This is not the address of the page.")
        if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise web.HTTPForbidden(text="Another page asked for this.")
        origin = request.headers.get("Origin")
        if origin not in (None, f"http://{host}"):
            raise web.HTTPForbidden(text="Another page asked for this.")
        if request.method == "GET":
            return
        if request.method != "POST":
            raise web.HTTPMethodNotAllowed(request.method, ["GET", "POST"])
        if origin is None or request.content_type != "application/json":
            raise web.HTTPForbidden(text="Only the page itself may send this.")

    def _check_token(self, request: web.Request) -> None:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind != "Bearer" or not self._codes.knows(token):
            raise web.HTTPUnauthorized(text="Open the page again: gwt-bot web")

    async def _check_peer(self, request: web.Request) -> None:
        """Ask the kernel once a connection who is at its other end."""
        transport = request.transport
        if transport is None:
            raise web.HTTPForbidden(text="The connection has ended.")
        if (allowed := self._connections.get(transport)) is None:
            peer = transport.get_extra_info("peername")
            here = transport.get_extra_info("sockname")
            allowed = await asyncio.to_thread(may_connect, peer, here)
            self._connections[transport] = allowed
        if not allowed:
            log.warning("shown out of the page", extra={"data": {"path": request.path}})
            raise web.HTTPForbidden(text="Only the owner of the bot may look at the page.")


def _needs_no_token(path: str) -> bool:
    return path in _OPEN_PATHS or path.startswith(_STATIC)


# Which program is at the other end of a connection on this machine, as Linux tells.

_CONNECTIONS = Path("/proc/net/tcp")
_LOCAL, _REMOTE, _UID, _INODE = 1, 2, 7, 9


def may_connect(peer: tuple[str, int], here: tuple[str, int]) -> bool:
    """Whether the program at `peer` runs as our user and was not started by an agent.

    Where the kernel does not tell, the token alone decides. So it does for a program that hides its descriptors, such as
    the tunnel of an SSH server.
    """
    try:
        found = _owner_of(peer, here)
    except OSError:
        return True
    if found is None:
        return False
    uid, inode = found
    if uid != os.getuid():
        return False
    pid = _process_with(inode, uid)
    return pid is None or not belongs_to_agent(pid)


def _owner_of(peer: tuple[str, int], here: tuple[str, int]) -> tuple[int, str] | None:
    """Return uid and inode of the peer's end of the connection: the row whose remote address is ours."""
    wanted = [_in_hex(peer), _in_hex(here)]
    with _CONNECTIONS.open() as rows:
        next(rows)
        for row in rows:
            fields = row.split()
            if fields[_LOCAL : _REMOTE + 1] == wanted:
                return int(fields[_UID]), fields[_INODE]
    return None


def _in_hex(address: tuple[str, int]) -> str:
    parts = address[0].split(".")
    return "".join(f"{int(part):02X}" for part in reversed(parts)) + f":{address[1]:04X}"


def _process_with(inode: str, uid: int) -> int | None:
    """Return the process of this user that holds the socket."""
    wanted = f"socket:[{inode}]"
    with os.scandir("/proc") as processes:
        for process in processes:
            if process.name.isdigit() and _holds(process, wanted, uid):
                return int(process.name)
    return None


def _holds(process: os.DirEntry[str], wanted: str, uid: int) -> bool:
    try:
        if process.stat().st_uid != uid:
            return False
        with os.scandir(f"/proc/{process.name}/fd") as descriptors:
            return any(os.readlink(one.path) == wanted for one in descriptors)  # noqa: PTH115 - thousands of them
    except OSError:
        return False  # it has ended, or hides its descriptors
