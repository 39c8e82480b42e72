"""Which blocks each workspace takes. What it has refused is kept on disk, and tried again after a day: Slack learns, too."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Any

from adapters.chat.slack.drawing.ways import EVERY_KIND, Kind

log = logging.getLogger("bot.slack")
DAY = 24 * 3600.0


class Takes:
    """Without a path it is remembered for this start only. `wall`: the time of day, in seconds."""

    def __init__(self, path: Path | None = None, *, wall: Callable[[], float] = time) -> None:
        self._path = path
        self._wall = wall
        self._refused: dict[tuple[str, Kind], float] = _read(path) if path else {}

    def kinds(self, workspace: str) -> frozenset[Kind]:
        now = self._wall()
        refused = {
            kind
            for (where, kind), at in self._refused.items()
            # a clock that was set back must not keep a block away for longer
            if where == workspace and 0 <= now - at < DAY
        }
        return EVERY_KIND - refused

    def refuse(self, workspace: str, kinds: frozenset[Kind], why: str) -> None:
        """They are not drawn there any more."""
        new = sorted(kinds & self.kinds(workspace))
        if not new:
            return
        self._refused |= dict.fromkeys(((workspace, kind) for kind in new), self._wall())
        about = {"workspace": workspace, "blocks": [kind.value for kind in new], "why": why}
        log.warning("drawn more plainly: a workspace does not take some blocks", extra=_data(about))
        self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        lines = [[where, kind, at] for (where, kind), at in self._refused.items()]
        beside = self._path.with_name(f".{self._path.name}.new")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            beside.touch(mode=0o600)
            beside.write_text(json.dumps(lines), "utf-8")
            beside.replace(self._path)
        except OSError as error:
            # it costs a refused call after the next start, no more
            log.warning("not noted", extra=_data({"why": str(error.strerror)}))


def _read(path: Path) -> dict[tuple[str, Kind], float]:
    """Nothing, where it cannot be read: then it is found out anew."""
    try:
        lines = json.loads(path.read_text(encoding="utf-8"))
        return {(str(where), Kind(kind)): float(at) for where, kind, at in lines}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        log.warning("refusals forgotten", extra=_data({"why": type(error).__name__}))
        return {}


def _data(about: dict[str, Any]) -> dict[str, Any]:
    return {"data": about}
