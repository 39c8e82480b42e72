"""A document compared with its former self, passage by passage. A passage that only moved is as it was."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from bot.domain.planned import Alteration, Altered
from bot.domain.spec_kit.sections import Line, heading, lines
from bot.domain.spec_kit.shortened import ADDED, GONE, bounded, pair, shortened

_DEEPEST = 3
_METADATA = re.compile(r"(?:[-*+] )?\*\*[^*]{1,40}(?:\*\*[:：]|[:：]\*\*).*")
_DATED = re.compile(
    r"(?:[-*+] )?\*{0,2}(?:created|date|updated|last updated|last modified|作成日|更新日|日付|最終更新日?)"
    r"\*{0,2}[:：]\*{0,2} ?(?:[0-9]{2,4}[-/.年][0-9]{1,2}|[A-Z][a-z]+ [0-9]{1,2},? [0-9]{4}).{0,20}",
    re.IGNORECASE,
)
_RULE = re.compile(r"[-*_](?: ?[-*_]){2,}")
_MARK = re.compile(r" ?\*\([^()]{0,40}\)\*$")
"""Behind a heading: *(mandatory)*."""
_BEHIND = re.compile(r" ?[(（][^()（）]{0,80}[)）]$")


class _Passage(NamedTuple):
    """What stands below one heading, up to the next."""

    titles: tuple[str, ...]
    """Its heading and those above it, outermost first; empty: the opening of the document, its title among the lines."""
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return " › ".join(self.titles) or "opening"

    @property
    def place(self) -> tuple[str, ...]:
        """Its headings without what stands in brackets behind them: a priority, a translation."""
        return tuple(_BEHIND.sub("", title).casefold() for title in self.titles)


class _Pairs(NamedTuple):
    both: list[tuple[_Passage, _Passage]]
    gone: list[_Passage]
    added: list[_Passage]


def altered_passages(where: str, before: str, after: str) -> Iterator[Alteration]:
    """In the order of the new document; what is gone stands last."""
    new = list(_passages(after))
    pairs = _recognised(list(_passages(before)), new)
    former = {id(now): old for old, now in pairs.both}
    for now in new:
        if old := former.get(id(now)):
            if details := list(_changed(old, now)):
                yield Alteration(
                    what=Altered.CHANGED, where=where, name=now.name, details=bounded(details)
                )
        else:
            yield _whole(Altered.ADDED, where, now, ADDED)
    yield from (_whole(Altered.REMOVED, where, old, GONE) for old in pairs.gone)


def _whole(what: Altered, where: str, passage: _Passage, sign: str) -> Alteration:
    details = bounded([shortened(f"{sign} {line}") for line in passage.lines])
    return Alteration(what=what, where=where, name=passage.name, details=details)


def _passages(markdown: str) -> Iterator[_Passage]:
    """The document at its headings down to ###, without what is no content: dates, rules, empty lines.

    A heading with nothing below it but deeper headings is no passage of its own.
    """
    above: tuple[tuple[int, str], ...] = ()
    found: list[str] = []
    for line in lines(markdown):
        level, title = heading(line)
        if level == 1 and not above:
            found.append(_title(title))
        elif 1 <= level <= _DEEPEST:
            yield from _passage(above, found)
            above = (*(one for one in above if one[0] < level), (level, _title(title)))
            found = []
        elif content := _content(line, in_opening=not above):
            found.append(content)
    yield from _passage(above, found)


def _passage(above: tuple[tuple[int, str], ...], found: list[str]) -> Iterator[_Passage]:
    if found:
        yield _Passage(tuple(title for _, title in above), tuple(found))


def _title(title: str) -> str:
    return _MARK.sub("", " ".join(title.split()))


def _content(line: Line, *, in_opening: bool) -> str:
    """The line as it is compared; empty: it says nothing."""
    if line.front:
        return ""
    if line.fenced:
        return line.text.rstrip()
    text = " ".join(line.text.split())
    if text.startswith(("* ", "+ ")):
        text = f"- {text[2:]}"
    silent = _RULE.fullmatch(text) or _DATED.fullmatch(text)
    return "" if silent or (in_opening and _METADATA.fullmatch(text)) else text


def _recognised(before: list[_Passage], after: list[_Passage]) -> _Pairs:
    """Who became whom: what is as it was, then who stands in the same place, then who says the same in another place
    or under another name, then who has the same title."""
    pairs = _Pairs([], before, after)
    for sign in (_itself, _place, _lines, _last_title):
        pairs = _paired(pairs, sign)
    return pairs


def _itself(passage: _Passage) -> object:
    return passage


def _place(passage: _Passage) -> object:
    return passage.place


def _lines(passage: _Passage) -> object:
    return passage.lines


def _last_title(passage: _Passage) -> object:
    """Without numbers: stories are counted anew when one is put before them."""
    return tuple(re.sub("[0-9]+", "#", title) for title in passage.place[-1:])


def _paired(pairs: _Pairs, sign: Callable[[_Passage], object]) -> _Pairs:
    waiting: defaultdict[object, deque[_Passage]] = defaultdict(deque)
    for passage in pairs.gone:
        waiting[sign(passage)].append(passage)
    both, added = [*pairs.both], list[_Passage]()
    for passage in pairs.added:
        there = waiting.get(sign(passage))
        if there:
            both.append((there.popleft(), passage))
        else:
            added.append(passage)
    still = {id(passage) for left in waiting.values() for passage in left}
    return _Pairs(both, [passage for passage in pairs.gone if id(passage) in still], added)


def _changed(old: _Passage, now: _Passage) -> Iterator[str]:
    before, after = old.lines, now.lines
    if old.titles[-1:] != now.titles[-1:]:
        before, after = (*old.titles[-1:], *before), (*now.titles[-1:], *after)
    for what, i, i_end, j, j_end in SequenceMatcher(None, before, after).get_opcodes():
        if what == "equal":
            continue
        both = min(i_end - i, j_end - j)
        for gone, added in zip(before[i : i + both], after[j : j + both], strict=True):
            yield from pair(gone, added)
        yield from (shortened(f"{GONE} {line}") for line in before[i + both : i_end])
        yield from (shortened(f"{ADDED} {line}") for line in after[j + both : j_end])
