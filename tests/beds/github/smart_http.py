"""Git over HTTP, by git's own server program, for those whose token may."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from aiohttp import web

from tests.beds.github.accounts import Token
from tests.beds.github.faults import Fault, GitFaults, Mishap
from tests.beds.github.git import outside
from tests.beds.github.sending import Reply, instead, send
from tests.beds.github.tickets import token_of
from tests.beds.github.world import World

_ADDRESS = re.compile(
    r"/(?P<owner>[^/]+)/(?P<repo>[^/]+?)(?:\.git)?/(?P<what>info/refs|git-upload-pack|git-receive-pack)"
)
_TEXT = {"Content-Type": "text/plain; charset=utf-8"}


@dataclass
class GitCall:
    """A request of git that was seen."""

    what: str
    """`push` or `fetch`."""
    step: str
    """`greeting`, where git learns the refs, or `transfer`."""
    repository: str
    user_agent: str
    login: str = ""
    status: int = 0


class SmartHttp:
    def __init__(self, world: World, faults: GitFaults) -> None:
        self._world = world
        self._faults = faults
        self.calls: list[GitCall] = []

    def takes(self, path: str) -> bool:
        return _ADDRESS.fullmatch(path) is not None

    async def handle(self, request: web.Request, closing: asyncio.Event) -> web.StreamResponse:
        found = _ADDRESS.fullmatch(request.path)
        if found is None:
            return web.Response(status=404)
        service = request.query.get("service", found["what"])
        what = "push" if service == "git-receive-pack" else "fetch"
        step = "greeting" if found["what"] == "info/refs" else "transfer"
        full_name = f"{found['owner']}/{found['repo']}"
        call = GitCall(what, step, full_name, request.headers.get("User-Agent", ""))
        self.calls.append(call)
        header = request.headers.get("Authorization", "")
        token = token_of(self._world.accounts, header)
        if refused := self._refused(call, header, token):
            call.status = refused.status
            return web.Response(status=refused.status, body=refused.body, headers=refused.headers)
        fault = self._faults.next_for(what, step)
        if fault and (
            fault.mishap is Mishap.DROPPED or (fault.mishap is Mishap.HALF and what == "push")
        ):
            return await _break_off(request)
        if (early := await instead(request, fault, closing)) is not None:
            return _challenged(early, fault)
        path = f"/{full_name}.git/{found['what']}"
        reply = await self._served(request, path, token)
        if fault and fault.mishap is Mishap.LOST:
            return await _break_off(request)
        call.status = reply.status
        return await send(request, reply, fault, closing)

    def _refused(self, call: GitCall, header: str, token: Token | None) -> Reply | None:
        """The answer for those who may not; git asks without a token first, and is told to show one."""
        repository = self._world.repositories.get(call.repository)
        if token is None:
            if not header and repository and not repository.private and call.what == "fetch":
                return None
            said = b"Invalid username or token. Password authentication is not supported."
            return Reply(401, said, {**_TEXT, "WWW-Authenticate": 'Basic realm="GitHub"'})
        call.login = token.login
        if repository is None or not token.sees(call.repository):
            return Reply(404, b"Repository not found.", _TEXT)
        if not token.may("contents", "write" if call.what == "push" else "read"):
            said = f"Permission to {call.repository}.git denied to {token.login}."
            return Reply(403, said.encode(), _TEXT)
        return None

    async def _served(self, request: web.Request, path: str, token: Token | None) -> Reply:
        """What git's program answers. Its input comes unpacked, so its length is not told."""
        environment = {
            **outside(),
            "GIT_PROJECT_ROOT": str(self._world.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": request.query_string,
            "REQUEST_METHOD": request.method,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
            "REMOTE_USER": token.login if token else "",
            "REMOTE_ADDR": "127.0.0.1",
            "BED_WORKFLOWS": "yes" if token and token.may("workflows", "write") else "no",
        }
        content = await request.read()
        pipe = asyncio.subprocess.PIPE
        program = await asyncio.create_subprocess_exec(
            "git", "http-backend", stdin=pipe, stdout=pipe, stderr=pipe, env=environment
        )
        try:
            said, _ = await program.communicate(content)
        finally:
            if program.returncode is None:
                program.kill()
                await program.wait()
        return _of_program(said)


async def _break_off(request: web.Request) -> web.Response:
    """The line dies while the answer begins: of a request without any sign of one, curl tries again by itself."""
    await request.read()
    if request.transport is not None:
        request.transport.write(b"HTTP/1.1 200 OK\r\n")
        request.transport.close()
    return web.Response()


def _of_program(said: bytes) -> Reply:
    """Headers as a CGI program writes them, an empty line, the body."""
    head, _, body = said.partition(b"\r\n\r\n")
    lines = [line.partition(": ") for line in head.decode().splitlines()]
    headers = {name: value for name, _, value in lines}
    status = headers.pop("Status", "200 OK").split()[0]
    return Reply(int(status), body, headers)


def _challenged(answer: web.StreamResponse, fault: Fault | None) -> web.StreamResponse:
    """A 401 says how to do better; git asks for a password only then."""
    if fault and fault.status == 401:
        answer.headers["WWW-Authenticate"] = 'Basic realm="GitHub"'
    return answer
