"""Both ways through an encrypted room, as they are once the bot is let in: how words are sealed, how they are opened."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from adapters.chat.matrix.crypto.entered import FOLDER, Entered
from adapters.chat.matrix.crypto.seal import NoSeal, Seal
from adapters.chat.matrix.crypto.unseal import NoKeys, Tell, Unseal


@dataclass(frozen=True)
class Ways:
    seal: Seal
    unseal: Callable[[Tell], Unseal]
    left: ExitStack
    """What is closed at the end."""


def ways(entered: Entered, folder: Path, *, only_encrypted: bool) -> Ways:
    """`only_encrypted`: in an encrypted room words in clear are not heard."""
    if entered.problem is not None:
        rooms, me = entered.rooms, entered.client.user_id
        return Ways(
            NoSeal(rooms, entered.problem), lambda tell: NoKeys(rooms, me, tell), ExitStack()
        )
    return _with_keys(entered, folder / FOLDER, only_encrypted=only_encrypted)


def _with_keys(entered: Entered, place: Path, *, only_encrypted: bool) -> Ways:
    # their library may be missing
    from adapters.chat.matrix.crypto.machine import Machine
    from adapters.chat.matrix.crypto.opening import Opener
    from adapters.chat.matrix.crypto.owners import FILE, Owners
    from adapters.chat.matrix.crypto.replays import Replays
    from adapters.chat.matrix.crypto.sealing import Sealing
    from adapters.chat.matrix.crypto.unsealing import Unsealing
    from adapters.chat.matrix.crypto.waiting import WaitingRoom

    owners = Owners(place / FILE)
    machine, left = Machine(entered.client, entered.wire, owners), ExitStack()
    replays = Replays(place / "opened.db")
    left.callback(replays.close)
    waiting = WaitingRoom(place / "waiting.json")

    def unseal(tell: Tell) -> Unseal:
        opener = Opener(machine, replays)
        return Unsealing(
            machine, opener, waiting, entered.rooms, tell, only_encrypted=only_encrypted
        )

    return Ways(Sealing(machine, entered.rooms), unseal, left)
