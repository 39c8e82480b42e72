"""Which channel works on which repository, in one small file: replaced in one step, or left as it was."""

from __future__ import annotations

import json
from pathlib import Path

from adapters.store.disk import Disk, make_private, unavailable


class BindingsFile:
    """Implements bot.ports.Bindings. A file that cannot be read is as good as none: then everything is as set."""

    def __init__(self, home: Path, disk: Disk | None = None) -> None:
        self._path = home / "bindings.json"
        self._disk = disk or Disk()
        self._bound = self._read()

    def of(self, place: str) -> str:
        return self._bound.get(place, "")

    def bind(self, place: str, name: str) -> None:
        bound = {**self._bound, place: name}
        try:
            make_private(self._path.parent)
            self._disk.replace(self._path, json.dumps(bound, indent=1, sort_keys=True).encode())
        except OSError as error:
            raise unavailable(error, self._path) from error
        self._bound = bound

    def _read(self) -> dict[str, str]:
        try:
            told = json.loads(self._disk.read(self._path))
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        except OSError as error:
            raise unavailable(error, self._path) from error
        if not isinstance(told, dict):
            return {}
        return {str(place): str(name) for place, name in told.items()}
