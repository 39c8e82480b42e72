"""The login that took the place of the configured one, because the keys of that device were lost.

It counts as long as the configured token is the same. The new device's name is on disk before it is logged in, so that a
crash between leaves none behind that nobody knows.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from nio import AsyncClient

from adapters.chat.matrix.account import MatrixAccess
from adapters.chat.matrix.answers import NotThere
from adapters.chat.matrix.crypto.wire import Wire
from adapters.chat.matrix.private import read_json, write_json
from bot.errors import Refused

log = logging.getLogger(__name__)

_NAME = "login.json"


@dataclass(frozen=True)
class Login:
    user_id: str
    of: str
    """The digest of the configured token."""
    device_id: str
    access_token: str = field(default="", repr=False)
    replaces: str = ""
    """The dead device, until it is deleted."""


class Renewal:
    def __init__(self, access: MatrixAccess, folder: Path) -> None:
        self._access, self._path = access, folder / _NAME

    def kept(self) -> Login | None:
        login = read_json(self._path, Login)
        mine = (self._access.user_id, self._digest)
        return login if login and (login.user_id, login.of) == mine else None

    async def access(self) -> MatrixAccess:
        """What lets the bot in now."""
        login = self.kept()
        if login is None:
            return self._access
        if not login.access_token:
            login = await self._log_in(login)
        return replace(self._access, access_token=login.access_token)

    def begin(self, dead: str) -> None:
        """From now on another device. `access` logs it in."""
        device = f"GWT{secrets.token_hex(6).upper()}"
        self._keep(Login(self._access.user_id, self._digest, device, replaces=dead))

    async def finish(self, wire: Wire) -> None:
        """Delete the dead device, if there is one: nobody shall send keys to it."""
        login = self.kept()
        if login is None or not login.replaces:
            return
        try:
            await wire.confirmed(
                "Deleting my old device",
                "POST",
                "delete_devices",
                {"devices": [login.replaces]},
                self._access.password,
            )
        except NotThere:
            pass
        except Refused as error:
            log.warning("the old device stays", extra={"data": {"why": error.reason}})
        self._keep(replace(login, replaces=""))

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self._access.access_token.encode()).hexdigest()

    async def _log_in(self, login: Login) -> Login:
        client = AsyncClient(self._access.homeserver.rstrip("/"), self._access.user_id)
        body = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": self._access.user_id},
            "password": self._access.password,
            "device_id": login.device_id,
            "initial_device_display_name": "gwt-bot",
        }
        try:
            told = await Wire(client).call("Logging in anew", "POST", "login", body)
        finally:
            await client.close()
        renewed = replace(login, access_token=str(told["access_token"]))
        self._keep(renewed)
        log.warning("logged in on a new device", extra={"data": {"device": login.device_id}})
        return renewed

    def _keep(self, login: Login) -> None:
        write_json(self._path, asdict(login))
