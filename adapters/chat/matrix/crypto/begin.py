"""The bot comes to its homeserver, with encryption wherever it can be had."""

from __future__ import annotations

from pathlib import Path

from nio.crypto import ENCRYPTION_ENABLED

from adapters.chat.matrix.account import MatrixAccess
from adapters.chat.matrix.crypto.entered import FOLDER, Entered, without_keys
from bot.errors import Refused

_REASON = "What encryption needs is not installed: I can work in rooms without it only."
_REMEDY = "pip install 'gwt-bot[matrix]'"


async def enter(access: MatrixAccess, folder: Path) -> Entered:
    """Unavailable, and Refused where the account is not let in at all. What it gives is given back to `leave`."""
    if not ENCRYPTION_ENABLED:
        return await without_keys(access, folder, Refused(_REASON, _REMEDY))
    # its library may be missing
    from adapters.chat.matrix.crypto.device import enter_with_keys

    return await enter_with_keys(access, folder)


async def leave(entered: Entered) -> None:
    if entered.client.olm is not None:
        from adapters.chat.matrix.crypto.device import leave

        await leave(entered.client)
    else:
        await entered.client.close()


def forget(entered: Entered, folder: Path) -> None:
    """The keys of the device are of no use any more: whoever enters next makes others, if there is a password."""
    from adapters.chat.matrix.crypto.device import forget

    forget(entered.client, folder / FOLDER)
