"""How far the bot has heard: the homeserver's token, on disk for the owner only.

It moves only when everything before it was taken. Another user begins anew; another device of the same user goes on
where the last one stood, because the token counts for the account.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from adapters.chat.matrix.private import replace, unwritten
from bot.errors import Unavailable

log = logging.getLogger(__name__)

_NAME = "sync.json"


class Bookmark:
    """A file in a folder. After a crash it holds the token of before or of after, and nothing else."""

    def __init__(self, folder: Path, user_id: str, device_id: str) -> None:
        self.path = folder / _NAME
        self._user_id, self._device_id = user_id, device_id
        self._since = self._read()

    @property
    def since(self) -> str | None:
        """None: this account was never listened to."""
        return self._since

    def move(self, token: str) -> None:
        """A crash may leave the place before: then some is heard again, and known by its id."""
        if token == self._since:
            return
        told = {"user_id": self._user_id, "device_id": self._device_id, "since": token}
        try:
            replace(self.path, json.dumps(told).encode())
        except OSError as error:
            raise unwritten(self.path, error) from error
        self._since = token

    def _read(self) -> str | None:
        try:
            told: Any = json.loads(self.path.read_bytes())
            user_id, since = str(told["user_id"]), str(told["since"])
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = f"{self.path} cannot be read: {error.strerror or error}."
            raise Unavailable(reason, "Let the bot read it.") from error
        except (ValueError, TypeError, KeyError):
            aside = self.path.with_suffix(".broken")
            self.path.replace(aside)
            log.warning("the place in Matrix is lost", extra={"data": {"kept": str(aside)}})
            return None
        return since if user_id == self._user_id else None
