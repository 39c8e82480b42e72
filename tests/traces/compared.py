"""Two recordings side by side: which traces differ, and the first difference of some of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import islice, zip_longest
from pathlib import Path

from tests.traces import kept

SHOWN = 3
"""Traces whose first difference is told."""
ABOVE, BELOW = 3, 2
"""Lines of a trace before the first that differs, and after it."""
WIDEST, LONGEST = 160, 60
"""Characters and lines of what is told of one trace."""


@dataclass(frozen=True)
class Compared:
    """What may differ, because somebody wanted that."""

    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Fields, kinds and ports: the old name and the new one."""
    without: tuple[str, ...] = ()
    """How the names of what is not looked at begin: `saved`, `git.`."""

    def of(self, folder: Path, name: str, *, older: bool = False) -> list[str]:
        lines = kept.read(folder, name)
        if self.without:
            lines = [line for line in lines if not _what(line).startswith(self.without)]
        for old, new in self.renamed.items() if older else ():
            pattern = re.compile(rf'"{re.escape(old)}(?=["=.])')
            lines = [pattern.sub(f'"{new}', line) for line in lines]
        return lines


def compare(before: Path, after: Path, wanted: Compared | None = None) -> tuple[str, int]:
    """What to say, and how many traces differ."""
    wanted = wanted or Compared()
    old, new = kept.read_digests(before), kept.read_digests(after)
    told: list[str] = []
    different: list[str] = []
    where: Counter[str] = Counter()
    for name in sorted(old.keys() & new.keys()):
        if old[name] == new[name]:
            continue
        one, other = wanted.of(before, name, older=True), wanted.of(after, name)
        first = _first(one, other)
        if first is None:
            continue
        different.append(name)
        where[_what(one[first]) if first < len(one) else "the end"] += 1
        if len(different) <= SHOWN:
            told += [f"=== {name}, line {first + 1}", *_shown(one, other, first), ""]
    alone = sorted(old.keys() ^ new.keys())
    told += [f"only in one of them: {', '.join(alone)}"] if alone else []
    told += [f"{count} differ first at {what}" for what, count in where.most_common()]
    told.append(f"{len(old.keys() | new.keys())} traces, {len(different) + len(alone)} different")
    return "\n".join(told), len(different) + len(alone)


def _first(one: list[str], other: list[str]) -> int | None:
    pairs = enumerate(zip_longest(one, other))
    return next((number for number, (a, b) in pairs if a != b), None)


def _shown(one: list[str], other: list[str], first: int) -> Iterator[str]:
    """The lines before it in short, then what differs, each value on a line of its own."""
    yield from (f"  {line[:WIDEST]}" for line in one[max(0, first - ABOVE) : first])
    old, new = (
        [text for line in lines[first : first + 1 + BELOW] for text in _spread(line)]
        for lines in (one, other)
    )
    diff = unified_diff(old, new, "before", "after", lineterm="", n=2)
    yield from (line[:WIDEST] for line in islice(diff, LONGEST))


def _spread(line: str) -> list[str]:
    return (
        json.dumps(json.loads(line), ensure_ascii=False, indent=1).replace("\\n", "\n").split("\n")
    )


def _what(line: str) -> str:
    """What a line tells of: `saved`, `chat.show`."""
    names = [one for one in json.loads(line)[:3] if isinstance(one, str)]
    return names[0] if names else ""
