"""Logs the bot in, with encryption wherever it is installed, and assembles encryptor and decryptor."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from nio import AsyncClient
from nio.crypto import ENCRYPTION_ENABLED

from adapters.matrix.client import ClientApi, MatrixAccess, connect
from adapters.matrix.crypto.encrypted_rooms import (
    Decryptor,
    EncryptedRooms,
    Encryptor,
    KeylessDecryptor,
    NotifySender,
    RefusingEncryptor,
)
from bot.core.errors import Refused

# Logging in and out. The libraries for encryption may not be installed; then the bot works only in unencrypted rooms.

_NOT_INSTALLED = "What encryption needs is not installed: I can work in rooms without it only."
_INSTALL = "pip install 'gwt-bot[matrix]'"


async def log_in(access: MatrixAccess, folder: Path) -> LoggedIn:
    """Log in; raise Unavailable, or Refused if the account is not accepted. Pass the result to `log_out`."""
    if not ENCRYPTION_ENABLED:
        return await logged_in_without_keys(access, folder, Refused(_NOT_INSTALLED, _INSTALL))
    # imported here, because its library may be missing
    from adapters.matrix.crypto.device import log_in_with_keys

    return await log_in_with_keys(access, folder)


async def log_out(login: LoggedIn) -> None:
    if login.client.olm is not None:
        from adapters.matrix.crypto.device import close_client

        await close_client(login.client)
    else:
        await login.client.close()


def discard_device_keys(login: LoggedIn, folder: Path) -> None:
    """Move the useless device keys aside: the next login creates new ones, if there is a password."""
    from adapters.matrix.crypto.device import move_keys_aside

    move_keys_aside(login.client, folder / CRYPTO_FOLDER)


# The state of a login: with device keys or without, and why.

log = logging.getLogger(__name__)

CRYPTO_FOLDER = "crypto"
"""Folder inside that of the chat."""


@dataclass(frozen=True)
class LoggedIn:
    """A login. `problem`: why there are no keys; if None, `client.olm` has them."""

    client: AsyncClient
    wire: ClientApi
    rooms: EncryptedRooms
    problem: Refused | None = None
    unsigned: Refused | None = None
    """Why the device is not signed. It still works with clients that do not require a signature."""


def logged_in(client: AsyncClient, folder: Path, unsigned: Refused | None = None) -> LoggedIn:
    wire = ClientApi(client)
    return LoggedIn(client, wire, rooms_of(wire, folder), None, unsigned)


async def logged_in_without_keys(access: MatrixAccess, folder: Path, problem: Refused) -> LoggedIn:
    # Unencrypted rooms work normally without keys.
    data = {"why": problem.reason, "remedy": problem.remedy}
    log.warning("no encrypted rooms", extra={"data": data})
    client = await connect(access)
    wire = ClientApi(client)
    return LoggedIn(client, wire, rooms_of(wire, folder), problem)


def rooms_of(wire: ClientApi, folder: Path) -> EncryptedRooms:
    return EncryptedRooms(wire, folder / "encrypted-rooms.jsonl")


# Encryption of outgoing and decryption of incoming events, once the bot is logged in.


@dataclass(frozen=True)
class RoomEncryption:
    encryptor: Encryptor
    decryptor: Callable[[NotifySender], Decryptor]
    left: ExitStack
    """Resources to close at the end."""


def room_encryption(login: LoggedIn, folder: Path, *, only_encrypted: bool) -> RoomEncryption:
    """Return encryptor and decryptor for a login.

    `only_encrypted`: unencrypted messages in encrypted rooms are ignored.
    """
    if login.problem is not None:
        rooms, me = login.rooms, login.client.user_id
        return RoomEncryption(
            RefusingEncryptor(rooms, login.problem),
            lambda tell: KeylessDecryptor(rooms, me, tell),
            ExitStack(),
        )
    return _with_keys(login, folder / CRYPTO_FOLDER, only_encrypted=only_encrypted)


def _with_keys(entered: LoggedIn, place: Path, *, only_encrypted: bool) -> RoomEncryption:
    # imported here, because their library may be missing
    from adapters.matrix.crypto.decryption import (
        EventDecryptor,
        ReplayGuard,
        RoomDecryptor,
        WaitingMessages,
    )
    from adapters.matrix.crypto.identities import IDENTITIES_FILE, DeviceOwners
    from adapters.matrix.crypto.machine import OlmMachine, RoomEncryptor

    owners = DeviceOwners(place / IDENTITIES_FILE)
    machine, left = OlmMachine(entered.client, entered.wire, owners), ExitStack()
    replays = ReplayGuard(place / "opened.db")
    left.callback(replays.close)
    waiting = WaitingMessages(place / "waiting.json")

    def decryptor(tell: NotifySender) -> Decryptor:
        opener = EventDecryptor(machine, replays)
        return RoomDecryptor(
            machine, opener, waiting, entered.rooms, tell, only_encrypted=only_encrypted
        )

    return RoomEncryption(RoomEncryptor(machine, entered.rooms), decryptor, left)
