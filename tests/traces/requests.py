"""Requests as lines of a trace: what is another one each time is numbered as it appears."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tests.traces.values import Json


class Requests:
    """`varying` names what differs from run to run, each by its pattern. What shows the time of day is `now`."""

    def __init__(self, varying: Mapping[str, str]) -> None:
        groups = [f"(?P<{name}>{pattern})" for name, pattern in varying.items()]
        self._varying = re.compile("|".join(groups))
        self._names: dict[str, str] = {}
        self.lines: list[str] = []

    def tell(self, what: str, *values: Json) -> None:
        line = json.dumps([what, *values], ensure_ascii=False, sort_keys=True)
        self.lines.append(self._varying.sub(self._numbered, line))

    def _numbered(self, found: re.Match[str]) -> str:
        kind, known = found.lastgroup or "", self._names
        if kind == "now":
            return "<now>"
        if found[0] not in known:
            count = sum(name.startswith(f"<{kind} ") for name in known.values())
            known[found[0]] = f"<{kind} {count + 1}>"
        return known[found[0]]
