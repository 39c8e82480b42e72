"""Calls of the client-server API that nio has no word for, or answers without saying what went wrong."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from http import HTTPStatus
from urllib.parse import quote

from aiohttp import ClientResponse
from nio import AsyncClient

from adapters.chat.matrix.answers import Json, ask
from bot.errors import PortError, Refused

_SECONDS = 30.0
_PATH = "/_matrix/client/v3/"
WRONG = "Put the password of the bot's account into MATRIX_PASSWORD."


class PasswordWanted(Refused):
    """Only who knows the password of the account may do this."""


class Wire:
    """`path` follows `/_matrix/client/v3/`; `what` opens the sentence that tells of a problem."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def call(self, what: str, method: str, path: str, body: Json | None = None) -> Json:
        return await ask(what, self._send(method, path, body), _SECONDS)

    async def confirmed(self, what: str, method: str, path: str, body: Json, password: str) -> Json:
        """A call that the homeserver may want the password for. PasswordWanted: it does, and there is none."""
        answer = await _kept(what, self._send(method, path, body))
        session = await _session(answer)
        if session is None:
            return await ask(what, _again(answer))
        if not password:
            raise PasswordWanted(f"{what} needs the password of the bot's account.", WRONG)
        proof = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": self._client.user_id},
            "password": password,
            "session": session,
        }
        answer = await _kept(what, self._send(method, path, {**body, "auth": proof}))
        if await _session(answer) is not None:
            raise PasswordWanted(f"{what} was refused: MATRIX_PASSWORD is not the password.", WRONG)
        return await ask(what, _again(answer))

    def _send(self, method: str, path: str, body: Json | None) -> Awaitable[ClientResponse]:
        token = self._client.access_token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        data = None if body is None else json.dumps(body)
        return self._client.send(method, _PATH + path, data, headers)


def quoted(name: str) -> str:
    return quote(name, safe="")


async def _kept(what: str, call: Awaitable[ClientResponse]) -> ClientResponse:
    """The answer whatever it says, as long as there is one."""
    answers: list[ClientResponse] = []

    async def keeping() -> ClientResponse:
        answers.append(await call)
        return answers[0]

    try:
        await ask(what, keeping(), _SECONDS)
    except PortError:
        if not answers or answers[0].status != HTTPStatus.UNAUTHORIZED:
            raise
    return answers[0]


async def _session(answer: ClientResponse) -> str | None:
    """Of the conversation in which the homeserver wants a proof. None: it wants none."""
    if answer.status != HTTPStatus.UNAUTHORIZED:
        return None
    told = json.loads(await answer.read())
    session = told.get("session") if isinstance(told, dict) else None
    return session if isinstance(session, str) else None


async def _again(answer: ClientResponse) -> ClientResponse:
    """What was answered already: read once more, for what it says."""
    return answer
