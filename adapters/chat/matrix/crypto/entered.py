"""How the bot stands with its homeserver once it is let in: with the keys of a device, or without, and why."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from nio import AsyncClient

from adapters.chat.matrix.account import MatrixAccess, connect
from adapters.chat.matrix.crypto.rooms import EncryptedRooms
from adapters.chat.matrix.crypto.wire import Wire
from bot.errors import Refused

log = logging.getLogger(__name__)

FOLDER = "crypto"
"""Beneath the folder of the chat."""


@dataclass(frozen=True)
class Entered:
    """Logged in. `problem`: why there are no keys; without one `client.olm` has them."""

    client: AsyncClient
    wire: Wire
    rooms: EncryptedRooms
    problem: Refused | None = None
    unsigned: Refused | None = None
    """Why nobody vouches for the device. It works all the same, with clients that do not mind."""


def entered(client: AsyncClient, folder: Path, unsigned: Refused | None = None) -> Entered:
    wire = Wire(client)
    return Entered(client, wire, rooms_of(wire, folder), None, unsigned)


async def without_keys(access: MatrixAccess, folder: Path, problem: Refused) -> Entered:
    """In rooms without encryption nothing is missing."""
    data = {"why": problem.reason, "remedy": problem.remedy}
    log.warning("no encrypted rooms", extra={"data": data})
    client = await connect(access)
    wire = Wire(client)
    return Entered(client, wire, rooms_of(wire, folder), problem)


def rooms_of(wire: Wire, folder: Path) -> EncryptedRooms:
    return EncryptedRooms(wire, folder / "encrypted-rooms.jsonl")
