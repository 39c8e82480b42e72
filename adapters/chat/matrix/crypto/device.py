"""The bot's device: its keys are loaded, known to the homeserver, and signed; lost ones are noticed, never limped on with.

Safe to do twice, and to break off anywhere: each step looks first what is there.
"""

from __future__ import annotations

import logging
from pathlib import Path

from nio import AsyncClient

from adapters.chat.matrix.account import MatrixAccess, connect
from adapters.chat.matrix.answers import Json, SignedOut
from adapters.chat.matrix.crypto import store
from adapters.chat.matrix.crypto.entered import FOLDER, Entered, entered, without_keys
from adapters.chat.matrix.crypto.machine import Machine
from adapters.chat.matrix.crypto.owners import FILE, Owners
from adapters.chat.matrix.crypto.renewal import Renewal
from adapters.chat.matrix.crypto.signing import Signing
from adapters.chat.matrix.crypto.unseal import KeysLost
from adapters.chat.matrix.crypto.wire import Wire
from bot.errors import Refused

log = logging.getLogger(__name__)

SEEDS = "seeds.json"
_LOST = "The keys of my Matrix device are lost: I can work in rooms without encryption only."
_REMEDY = (
    "Set MATRIX_PASSWORD and start the bot again: it then makes a new device of its own. Or log the bot's"
    " account in anew and put the new access token into MATRIX_ACCESS_TOKEN."
)


async def enter_with_keys(access: MatrixAccess, folder: Path) -> Entered:
    place = folder / FOLDER
    renewal = Renewal(access, place)
    for _ in range(2):
        try:
            now = await renewal.access()
        except Refused as error:
            return await without_keys(access, folder, Refused(f"{_LOST} {error.reason}", _REMEDY))
        client = await connect(now)
        try:
            if await _has_keys(client, place):
                unsigned = await _sign(client, access, place, renewal)
                return entered(client, folder, unsigned)
        except BaseException:
            await leave(client)
            raise
        await leave(client)
        if not access.password:
            return await without_keys(now, folder, Refused(_LOST, _REMEDY))
        log.warning("a new device is made", extra={"data": {"lost": client.device_id}})
        renewal.begin(client.device_id or "")
    raise Refused("A device that I have just made has keys of somebody else.", _REMEDY)


async def leave(client: AsyncClient) -> None:
    store.close(client)
    await client.close()


async def _has_keys(client: AsyncClient, place: Path) -> bool:
    """Load them, and look whether they are those the homeserver knows. False: they are lost."""
    store.load(client, place)
    wire = Wire(client)
    machine = Machine(client, wire, Owners(place / FILE))
    known = await _known(wire, client.user_id, client.device_id or "")
    own = machine.olm.account.identity_keys
    if known and known != (own["ed25519"], own["curve25519"]):
        return False
    if not known:
        machine.olm.account.shared = False  # any more: somebody has removed the device
    try:
        await machine.upload()
    except KeysLost:
        return False
    return True


def forget(client: AsyncClient, place: Path) -> None:
    """The keys are of no use any more. At the next start they are lost, and that is mended."""
    store.put_aside(place / store.database(client.user_id, client.device_id or ""))


async def _known(wire: Wire, user: str, device: str) -> tuple[str, str] | None:
    """The keys under which others know this device."""
    body: Json = {"device_keys": {user: [device]}}
    told = await wire.call("Asking for my own keys", "POST", "keys/query", body)
    keys = told.get("device_keys", {}).get(user, {}).get(device, {}).get("keys")
    if not isinstance(keys, dict):
        return None
    return str(keys.get(f"ed25519:{device}")), str(keys.get(f"curve25519:{device}"))


async def _sign(
    client: AsyncClient, access: MatrixAccess, place: Path, renewal: Renewal
) -> Refused | None:
    """Why it is not signed, where it is not."""
    wire, kept = Wire(client), renewal.kept()
    signing = Signing(Machine(client, wire, Owners(place / FILE)), place / SEEDS, access.password)
    try:
        await signing.sign(all_is_lost=bool(kept and kept.replaces))
    except SignedOut:
        raise
    except Refused as error:
        data = {"why": error.reason, "remedy": error.remedy}
        log.warning("my device is not signed", extra={"data": data})
        return error
    await renewal.finish(wire)
    return None
