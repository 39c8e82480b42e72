"""Small files of the home: bindings of channels to repositories, questions that are under way, the state of the REPL."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from adapters.files import Disk, make_private
from adapters.state_files import JsonFile
from adapters.store.disk import disk_error
from bot.core.errors import Refused
from bot.core.projections.records import E105, AskedQuestions, ReplState

# Which channel works on which repository; replaced atomically.


class BindingsFile:
    """Implements bot.ports.Bindings. An unreadable file counts as missing; then the settings apply."""

    def __init__(self, home: Path, disk: Disk | None = None) -> None:
        self._file = JsonFile(home / "bindings.json", dict[str, str], disk=disk, indent=1)
        self._bound = self._file.read() or {}

    def of(self, place: str) -> str:
        return self._bound.get(place, "")

    def bind(self, place: str, name: str) -> None:
        bound = dict(sorted({**self._bound, place: name}.items()))
        self._file.write(bound)
        self._bound = bound


# Questions that are under way.


class QuestionsFile:
    """Implements bot.ports.Questions. An unreadable file counts as empty."""

    def __init__(self, home: Path, disk: Disk | None = None) -> None:
        self._file = JsonFile(home / "asked.json", AskedQuestions, disk=disk)

    def load(self) -> AskedQuestions:
        return self._file.read() or AskedQuestions()

    def save(self, asked: AskedQuestions) -> None:
        self._file.write(asked)


# repl.json: five keys, replaced atomically. An unreadable file is an error and stays unchanged.


class ReplFile:
    """Implements bot.ports.ReplStates."""

    def __init__(self, home: Path, disk: Disk | None = None) -> None:
        self._path = home / "repl.json"
        self._disk = disk or Disk()

    def load(self) -> ReplState:
        """Return the state. Raises Refused with E105 for an invalid file, which is neither guessed nor repaired."""
        try:
            data = self._disk.read(self._path)
        except FileNotFoundError:
            return ReplState.first()
        except OSError as error:
            raise disk_error(error, self._path) from error
        try:
            return ReplState.model_validate_json(data, strict=True)
        except ValidationError as wrong:
            raise Refused(
                f"{E105}: {self._path} cannot be read: {_first_problem(wrong)}.",
                "Mend it, or move it away: the console then begins with an empty one.",
            ) from wrong

    def save(self, state: ReplState) -> None:
        try:
            make_private(self._path.parent)
            text = json.dumps(state.model_dump(mode="json"), indent=2) + "\n"
            self._disk.replace(self._path, text.encode())
        except OSError as error:
            raise disk_error(error, self._path) from error


def _first_problem(wrong: ValidationError) -> str:
    """Return the first problem, without quoting the file."""
    first = wrong.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "json_invalid":
        return "it is no JSON"
    return f"{where}: {first['msg'].lower()}" if where else first["msg"].lower()
