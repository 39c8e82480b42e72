"""Which tasks a text says must come first, in English or Japanese prose: «after T001», «T001-T003の後に»."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

_ID = r"[*`]{0,3}(?<![0-9A-Za-z])T[0-9]{1,4}[a-z]?(?![0-9A-Za-z])[*`]{0,3}"
_RANGE = rf"{_ID}(?:\s?(?:[-–—〜～~]|to|through|から)\s?{_ID})?"
_BETWEEN = r"(?:\s*[,、，;/&+と]\s*|\s+(?:and|or)\s+|,\s*and\s+|\s*(?:および|及び)\s*)"
_IDS = re.compile(rf"{_RANGE}(?:{_BETWEEN}{_RANGE})*", re.IGNORECASE)
_ONE_RANGE = re.compile(_RANGE, re.IGNORECASE)
_BEFORE = re.compile(
    r"""(?: \b(?:depend(?:s|ent|ing|encies|ency)?(?:\s+on)?|deps?|after|requires?|needs?|blocked\s+by|prerequisites?|waits?\s+for)
          | 依[存赖](?:先|関係|タスク)? | 前提(?:条件|タスク)? )
        [*_]{0,3} \s*[:：]?\s* [*_]{0,3} \s* (?:(?:the\s+)?(?:tasks?|completion\s+of)\s+)? \Z""",
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST_BEFORE = 60
_BEHIND = re.compile(
    r"""\s* (?: (?:が|の)?(?:完了|終了|実装|マージ)?(?:した|の)?(?:後|あと) | (?:が|の)?完了が必要 | (?:の)?(?:完了)?待ち | [にへ]依存
              | を(?:前提|待)| が(?:必要|前提) )""",
    re.VERBOSE,
)
_MOST_IN_A_LIST = 500
"""No line of a plan names more; a hostile one shall not take long."""


class Keys(NamedTuple):
    """The ids there are, by their numbers: a range takes those between its ends."""

    ordered: Sequence[str]
    numbers: Sequence[int]

    @classmethod
    def of(cls, keys: Iterable[str]) -> Keys:
        ordered = sorted(keys, key=number)
        return cls(ordered, [number(key) for key in ordered])

    def between(self, first: str, last: str) -> Sequence[str]:
        start = bisect_right(self.numbers, number(first))
        return self.ordered[start : bisect_left(self.numbers, number(last))]


def needs(text: str, keys: Keys) -> list[str]:
    """The ids the text says must be complete first, as it names them."""
    line = " ".join(text.split())
    return [
        key
        for found in _IDS.finditer(line)
        if _is_said_to_come_first(line, found)
        for key in _listed(found[0], keys)
    ]


def needs_of_a_note(text: str, keys: Keys) -> list[str]:
    """The same of a line below a task, which must begin with it: a description may well mention other tasks."""
    line = " ".join(text.lstrip("-*+ _").split())
    found = _IDS.search(line)
    if found is None:
        return []
    begins = _BEFORE.match(line[: found.start()]) or begins_with_needs(line)
    return list(_listed(found[0], keys)) if begins else []


def begins_with_needs(text: str, at: int = 0) -> bool:
    """Whether it begins with «T001の後に»: then that is no id of its own."""
    found = _IDS.match(text, at)
    return bool(found and _BEHIND.match(text, found.end()))


def normal(key: str) -> str:
    """T1, t001 → T001."""
    found = re.fullmatch(r"[Tt]([0-9]{1,4})([A-Za-z]?)", key)
    return f"T{int(found[1]):03}{found[2].lower()}" if found else key


def number(key: str) -> int:
    return int(re.sub("[^0-9]", "", key) or 0)


def _is_said_to_come_first(line: str, found: re.Match[str]) -> bool:
    start = max(0, found.start() - _LONGEST_BEFORE)
    return bool(_BEFORE.search(line[start : found.start()]) or _BEHIND.match(line, found.end()))


def _listed(ids: str, keys: Keys) -> Iterator[str]:
    """The ids of a list with ranges; of a range, those that exist between its ends."""
    for part in islice(_ONE_RANGE.finditer(ids), _MOST_IN_A_LIST):
        ends = [normal(key) for key in re.findall(r"T[0-9]{1,4}[a-z]?", part[0], re.IGNORECASE)]
        yield ends[0]
        if len(ends) == 2:
            yield from keys.between(*ends)
            yield ends[1]
