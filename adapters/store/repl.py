"""repl.json: five keys, replaced in one step. A file that cannot be read is an error, and stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from adapters.store.disk import Disk, make_private, unavailable
from bot.domain.repl.state import E105, ReplState
from bot.errors import Refused


class ReplFile:
    """Implements bot.ports.ReplStates."""

    def __init__(self, home: Path, disk: Disk | None = None) -> None:
        self._path = home / "repl.json"
        self._disk = disk or Disk()

    def load(self) -> ReplState:
        """Raises Refused with E105 for a file that was broken: nothing is guessed, nothing is mended."""
        try:
            data = self._disk.read(self._path)
        except FileNotFoundError:
            return ReplState.first()
        except OSError as error:
            raise unavailable(error, self._path) from error
        try:
            return ReplState.model_validate_json(data, strict=True)
        except ValidationError as wrong:
            raise Refused(
                f"{E105}: {self._path} cannot be read: {_where(wrong)}.",
                "Mend it, or move it away: the console then begins with an empty one.",
            ) from wrong

    def save(self, state: ReplState) -> None:
        try:
            make_private(self._path.parent)
            text = json.dumps(state.model_dump(mode="json"), indent=2) + "\n"
            self._disk.replace(self._path, text.encode())
        except OSError as error:
            raise unavailable(error, self._path) from error


def _where(wrong: ValidationError) -> str:
    """What is wrong first, without a word of what stands there."""
    first = wrong.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "json_invalid":
        return "it is no JSON"
    return f"{where}: {first['msg'].lower()}" if where else first["msg"].lower()
