"""Loads, publishes and signs the keys of the bot's device, and replaces lost keys.

Every step checks what is already there, so it may be repeated or interrupted anywhere.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from nio import AsyncClient
from nio.store import SqliteStore

from adapters.files import Disk, create_file, make_private, move_aside
from adapters.matrix.client import ClientApi, Json, MatrixAccess, NotFound, SignedOut, connect
from adapters.matrix.crypto.encrypted_rooms import KeysLost
from adapters.matrix.crypto.identities import (
    IDENTITIES_FILE,
    SEED_BYTES,
    DeviceOwners,
    SigningKey,
    base64_decoded,
    base64_encoded,
    canonical_json,
    is_signed,
    with_signature,
)
from adapters.matrix.crypto.machine import OlmMachine
from adapters.matrix.crypto.setup import CRYPTO_FOLDER, LoggedIn, logged_in, logged_in_without_keys
from adapters.state_files import JsonFile, cannot_write
from bot.core.errors import Refused

log = logging.getLogger(__name__)

SEEDS_FILE = "seeds.json"
_KEYS_LOST = "The keys of my Matrix device are lost: I can work in rooms without encryption only."
_KEYS_LOST_REMEDY = (
    "Set MATRIX_PASSWORD and start the bot again: it then makes a new device of its own. Or log the bot's"
    " account in anew and put the new access token into MATRIX_ACCESS_TOKEN."
)


async def log_in_with_keys(access: MatrixAccess, folder: Path) -> LoggedIn:
    place = folder / CRYPTO_FOLDER
    renewal = LoginRenewal(access, place)
    for _ in range(2):
        try:
            now = await renewal.current_access()
        except Refused as error:
            return await logged_in_without_keys(
                access, folder, Refused(f"{_KEYS_LOST} {error.reason}", _KEYS_LOST_REMEDY)
            )
        client = await connect(now)
        try:
            if await _has_keys(client, place):
                unsigned = await _sign(client, access, place, renewal)
                return logged_in(client, folder, unsigned)
        except BaseException:
            await close_client(client)
            raise
        await close_client(client)
        if not access.password:
            return await logged_in_without_keys(now, folder, Refused(_KEYS_LOST, _KEYS_LOST_REMEDY))
        log.warning("a new device is made", extra={"data": {"lost": client.device_id}})
        renewal.replace_device(client.device_id or "")
    raise Refused("A device that I have just made has keys of somebody else.", _KEYS_LOST_REMEDY)


async def close_client(client: AsyncClient) -> None:
    close_store(client)
    await client.close()


async def _has_keys(client: AsyncClient, place: Path) -> bool:
    """Load the keys and check that they are the ones the homeserver knows; return False if they are lost."""
    load_keys(client, place)
    wire = ClientApi(client)
    machine = OlmMachine(client, wire, DeviceOwners(place / IDENTITIES_FILE))
    known = await _published_keys(wire, client.user_id, client.device_id or "")
    own = machine.olm.account.identity_keys
    if known and known != (own["ed25519"], own["curve25519"]):
        return False
    if not known:
        machine.olm.account.shared = False  # no longer shared: somebody has removed the device
    try:
        await machine.upload_keys()
    except KeysLost:
        return False
    return True


def move_keys_aside(client: AsyncClient, place: Path) -> None:
    """Move the useless keys aside. The next start finds them lost and creates new ones."""
    move_aside(place / database_name(client.user_id, client.device_id or ""))


async def _published_keys(wire: ClientApi, user: str, device: str) -> tuple[str, str] | None:
    """Return the keys the homeserver publishes for this device, or None."""
    body: Json = {"device_keys": {user: [device]}}
    told = await wire.call("Asking for my own keys", "POST", "keys/query", body)
    keys = told.get("device_keys", {}).get(user, {}).get(device, {}).get("keys")
    if not isinstance(keys, dict):
        return None
    return str(keys.get(f"ed25519:{device}")), str(keys.get(f"curve25519:{device}"))


async def _sign(
    client: AsyncClient, access: MatrixAccess, place: Path, renewal: LoginRenewal
) -> Refused | None:
    """Sign the device; return the reason if that is not possible."""
    wire, kept = ClientApi(client), renewal.stored_login()
    signing = CrossSigning(
        OlmMachine(client, wire, DeviceOwners(place / IDENTITIES_FILE)),
        place / SEEDS_FILE,
        access.password,
    )
    try:
        await signing.ensure_signed(keys_lost=bool(kept and kept.replaces))
    except SignedOut:
        raise
    except Refused as error:
        data = {"why": error.reason, "remedy": error.remedy}
        log.warning("my device is not signed", extra={"data": data})
        return error
    await renewal.delete_lost_device(wire)
    return None


# The keys of the device are in a nio database, readable only by its owner and encrypted with a random key stored next
# to it. It is in the bot's home, whose lock admits one process: two processes on one device would spoil its keys for
# good.

_STORE_KEY = "store.key"


def load_keys(client: AsyncClient, folder: Path) -> None:
    """Load the device keys of a logged-in client; create new ones if none can be read."""
    path = folder / database_name(client.user_id, client.device_id or "")
    try:
        make_private(folder)
        key = _store_key(folder / _STORE_KEY)
        try:
            _open_store(client, path, key)
        except (ValueError, sqlite3.DatabaseError) as error:
            close_store(client)
            move_aside(path)
            log.warning("the keys cannot be read", extra={"data": {"why": str(error)}})
            _open_store(client, path, key)
    except OSError as error:
        raise cannot_write(path, error) from error


def close_store(client: AsyncClient) -> None:
    if client.store is not None:
        client.store.database.close()
        client.store = client.olm = None


def database_name(user_id: str, device_id: str) -> str:
    # Hashed, because ids may contain any character.
    return f"{hashlib.sha256(f'{user_id} {device_id}'.encode()).hexdigest()[:16]}.db"


def _open_store(client: AsyncClient, path: Path, key: str) -> None:
    _prepare_file(path)
    client.store_path = str(path.parent)
    client.config = replace(
        client.config,
        encryption_enabled=True,
        store=SqliteStore,
        store_name=path.name,
        pickle_key=key,
    )
    client.load_store()


def _prepare_file(path: Path) -> None:
    # SQLite would create a file that others can read; its auxiliary files take the mode of this one.
    with suppress(FileExistsError):
        create_file(path).close()
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA schema_version").fetchone()


def _store_key(path: Path) -> str:
    try:
        key = path.read_text().strip()
    except FileNotFoundError:
        key = ""
    if not key:
        key = secrets.token_urlsafe(32)
        Disk().replace(path, key.encode())
    return key


# The login that replaced the configured one because the keys of that device were lost. It is valid as long as the
# configured token stays the same. The name of the new device is on disk before it logs in, so that a crash in between
# leaves no unknown device behind.

_LOGIN_FILE = "login.json"


@dataclass(frozen=True)
class RenewedLogin:
    user_id: str
    of: str
    """Hash of the configured token."""
    device_id: str
    access_token: str = field(default="", repr=False)
    replaces: str = ""
    """The lost device, until it is deleted."""


class LoginRenewal:
    def __init__(self, access: MatrixAccess, folder: Path) -> None:
        self._access = access
        self._file = JsonFile(folder / _LOGIN_FILE, RenewedLogin)

    def stored_login(self) -> RenewedLogin | None:
        login = self._file.read()
        mine = (self._access.user_id, self._digest)
        return login if login and (login.user_id, login.of) == mine else None

    async def current_access(self) -> MatrixAccess:
        """Return the access that is valid now, logging in the new device if necessary."""
        login = self.stored_login()
        if login is None:
            return self._access
        if not login.access_token:
            login = await self._log_in(login)
        return replace(self._access, access_token=login.access_token)

    def replace_device(self, lost_device: str) -> None:
        """Record that a new device replaces the lost one. `access` logs it in."""
        device = f"GWT{secrets.token_hex(6).upper()}"
        self._keep(RenewedLogin(self._access.user_id, self._digest, device, replaces=lost_device))

    async def delete_lost_device(self, wire: ClientApi) -> None:
        """Delete the lost device, if there is one, so that nobody sends keys to it."""
        login = self.stored_login()
        if login is None or not login.replaces:
            return
        try:
            await wire.call_with_password(
                "Deleting my old device",
                "POST",
                "delete_devices",
                {"devices": [login.replaces]},
                self._access.password,
            )
        except NotFound:
            pass
        except Refused as error:
            log.warning("the old device stays", extra={"data": {"why": error.reason}})
        self._keep(replace(login, replaces=""))

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self._access.access_token.encode()).hexdigest()

    async def _log_in(self, login: RenewedLogin) -> RenewedLogin:
        client = AsyncClient(self._access.homeserver.rstrip("/"), self._access.user_id)
        body = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": self._access.user_id},
            "password": self._access.password,
            "device_id": login.device_id,
            "initial_device_display_name": "gwt-bot",
        }
        try:
            told = await ClientApi(client).call("Logging in anew", "POST", "login", body)
        finally:
            await client.close()
        renewed = replace(login, access_token=str(told["access_token"]))
        self._keep(renewed)
        log.warning("logged in on a new device", extra={"data": {"device": login.device_id}})
        return renewed

    def _keep(self, login: RenewedLogin) -> None:
        self._file.write(login)


# Cross-signing: the account vouches for the bot's device, so that people's clients give it their keys. The seeds are on
# disk before the homeserver learns of the keys, so that they are the same after a crash. Keys that somebody else has
# made are never replaced; a bot that lost all of them, and knows the password, creates new ones.

_KEY_NAMES = ("master", "self_signing", "user_signing")
_FOREIGN_KEYS = "The bot's Matrix account has cross-signing keys that I did not make, and they have not signed my device."


@dataclass(frozen=True)
class CrossSigningKeys:
    master: SigningKey
    self_signing: SigningKey
    user_signing: SigningKey
    replaces: str
    """Public part of the lost key that these replace; empty if there was none."""


@dataclass(frozen=True)
class PublishedKeys:
    """The keys that the homeserver publishes for the account."""

    master: str
    """Public part of the master key; empty if there is none."""
    self_signing: str
    device: Json


@dataclass(frozen=True)
class _Seeds:
    """The file format. A file that lacks a field is moved aside, never overwritten."""

    user_id: str
    master: str = field(repr=False)
    self_signing: str = field(repr=False)
    user_signing: str = field(repr=False)
    replaces: str = ""


class CrossSigning:
    """Signs one device of one account. `seeds`: the file with the secret keys."""

    def __init__(self, machine: OlmMachine, seeds: Path, password: str) -> None:
        self._machine, self._password = machine, password
        self._file = JsonFile(seeds, _Seeds)
        self._me = machine.olm.user_id

    async def ensure_signed(self, *, keys_lost: bool = False) -> None:
        """Make sure that the device is signed.

        Raises Refused with a remedy if it cannot be. `keys_lost`: the bot was set up before, and all its keys are
        gone.
        """
        there, keys = await self._published(), self._kept()
        if keys is None and not there.master:
            keys = self._made()
        elif keys is None and keys_lost and self._password:
            log.warning("cross-signing keys are lost: new ones are made, and people will see that")
            keys = self._made(there.master)
        if keys is None or there.master not in ("", keys.replaces, keys.master.public):
            if not self._is_signed(there):
                raise Refused(_FOREIGN_KEYS, self._remedy())
            return  # signed by hand, with the keys of a person
        if (there.master, there.self_signing) != (keys.master.public, keys.self_signing.public):
            await self._publish(keys)
        if not self._is_signed_by(there, keys.self_signing.public):
            await self._sign_device(keys)

    async def _published(self) -> PublishedKeys:
        olm = self._machine.olm
        body: Json = {"device_keys": {self._me: [olm.device_id]}}
        told = await self._machine.wire.call("Asking for my own keys", "POST", "keys/query", body)
        return PublishedKeys(
            _public_part(told, "master_keys", self._me),
            _public_part(told, "self_signing_keys", self._me),
            told.get("device_keys", {}).get(self._me, {}).get(olm.device_id, {}),
        )

    def _is_signed(self, there: PublishedKeys) -> bool:
        return bool(there.self_signing) and self._is_signed_by(there, there.self_signing)

    def _is_signed_by(self, there: PublishedKeys, public: str) -> bool:
        return is_signed({**there.device, **self._device()}, self._me, f"ed25519:{public}", public)

    def _device(self) -> Json:
        # Built from local keys, never from what the homeserver reports.
        olm = self._machine.olm
        keys = olm.account.identity_keys
        return {
            "algorithms": olm._algorithms,  # as uploaded by nio
            "device_id": olm.device_id,
            "keys": {
                f"curve25519:{olm.device_id}": keys["curve25519"],
                f"ed25519:{olm.device_id}": keys["ed25519"],
            },
            "user_id": self._me,
        }

    def _kept(self) -> CrossSigningKeys | None:
        told = self._file.read()
        if told is None or told.user_id != self._me:
            return None
        keys = (SigningKey(base64_decoded(getattr(told, name))) for name in _KEY_NAMES)
        return CrossSigningKeys(*keys, replaces=told.replaces)

    def _made(self, replaces: str = "") -> CrossSigningKeys:
        seeds = [secrets.token_bytes(SEED_BYTES) for _ in _KEY_NAMES]
        kept = dict(zip(_KEY_NAMES, map(base64_encoded, seeds), strict=True))
        self._file.write(_Seeds(user_id=self._me, replaces=replaces, **kept))
        return CrossSigningKeys(*map(SigningKey, seeds), replaces=replaces)

    async def _publish(self, keys: CrossSigningKeys) -> None:
        # The device signs the master key, too, as other clients do.
        olm = self._machine.olm
        master = self._described(keys.master, "master")
        signature = olm.account.sign(canonical_json(master).decode())
        body: Json = {
            "master_key": with_signature(master, self._me, f"ed25519:{olm.device_id}", signature),
            "self_signing_key": keys.master.signed(
                self._described(keys.self_signing, "self_signing"), self._me
            ),
            "user_signing_key": keys.master.signed(
                self._described(keys.user_signing, "user_signing"), self._me
            ),
        }
        await self._machine.wire.call_with_password(
            "Making cross-signing keys", "POST", "keys/device_signing/upload", body, self._password
        )
        log.info("cross-signing keys are made", extra={"data": {"user": self._me}})

    def _described(self, key: SigningKey, usage: str) -> Json:
        return {"user_id": self._me, "usage": [usage], "keys": {key.id: key.public}}

    async def _sign_device(self, keys: CrossSigningKeys) -> None:
        olm = self._machine.olm
        signed = keys.self_signing.signed(self._device(), self._me)
        body: Json = {self._me: {olm.device_id: signed}}
        told = await self._machine.wire.call(
            "Signing my device", "POST", "keys/signatures/upload", body
        )
        if told.get("failures"):
            raise Refused("The homeserver did not take the signature of my device.")
        log.info("the device is signed", extra={"data": {"device": olm.device_id}})

    def _remedy(self) -> str:
        olm = self._machine.olm
        return (
            f"Either put the file with the bot's own seeds back ({self._file.path}), or verify this session by"
            f" text in the client where the keys were made: session {olm.device_id}, key"
            f" {olm.account.identity_keys['ed25519']}. Until then clients that give keys to verified devices"
            " only do not let the bot read along."
        )


def _public_part(told: Json, kind: str, user: str) -> str:
    keys = told.get(kind, {}).get(user, {}).get("keys", {})
    return next((str(one) for one in keys.values()), "")
