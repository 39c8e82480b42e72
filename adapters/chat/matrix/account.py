"""The bot's account on a homeserver: an access token, and the one device it stands for."""

from __future__ import annotations

from dataclasses import dataclass, field

from aiohttp import ClientTimeout
from nio import AsyncClient, AsyncClientConfig

from adapters.chat.matrix.answers import ask
from adapters.posting.guarded import new_session
from bot.errors import Refused

_REQUEST_SECONDS = 45
_OWN = (
    "MATRIX_USER and MATRIX_ACCESS_TOKEN must be of the same account. Log in as the bot to get"
    " its token."
)


@dataclass(frozen=True)
class MatrixAccess:
    """Where the account is, and what lets the bot in."""

    homeserver: str
    user_id: str
    """The full id, as in @bot:example.org."""
    access_token: str = field(repr=False)
    password: str = field(default="", repr=False)
    """Only used where the keys of the bot's device, or those it is signed with, have to be made anew."""


async def connect(access: MatrixAccess) -> AsyncClient:
    """A client that is logged in as that account, on the device of the token. Who asks for it closes it.

    It tries nothing again by itself and waits for no limit: who calls decides that.
    """
    homeserver = access.homeserver.rstrip("/")
    client = AsyncClient(
        homeserver,
        access.user_id,
        config=AsyncClientConfig(
            max_limit_exceeded=0,
            max_timeouts=0,
            request_timeout=_REQUEST_SECONDS,
            store_sync_tokens=False,
            encryption_enabled=False,
        ),
    )
    client.client_session = new_session(homeserver, ClientTimeout(total=_REQUEST_SECONDS))
    try:
        await _log_in(client, access)
    except BaseException:
        await client.close()
        raise
    return client


async def tried(access: MatrixAccess) -> str:
    """What the homeserver says of the token. Nothing changes there; the reason is raised where it says no."""
    client = await connect(access)
    await client.close()
    return f"the homeserver lets it in as {client.user_id}, with the device {client.device_id}"


async def _log_in(client: AsyncClient, access: MatrixAccess) -> None:
    client.access_token = access.access_token
    told = await ask("Logging in to Matrix", client.whoami())
    if told.get("user_id") != access.user_id:
        reason = f"The Matrix access token is one of {told.get('user_id')}, not {access.user_id}."
        raise Refused(reason, _OWN)
    if not told.get("device_id"):
        reason = "The Matrix access token belongs to no device."
        raise Refused(reason, _OWN)
    client.restore_login(access.user_id, told["device_id"], access.access_token)
