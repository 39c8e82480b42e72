"""What a new revision changes: the passages of spec.md and plan.md, and every field of the tasks.

A passage that only moved is unchanged; tasks.md is not compared, as it follows from the tasks.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from bot.core.plan import Alteration, Altered, Difference, Document, DocumentKind
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.spec_kit.spec import MarkdownLine, heading_of, markdown_lines
from bot.core.text import cut, first_few

# The difference between two revisions of a plan.


class TaskView(NamedTuple):
    """The fields of a task that are compared, for a draft as for a task being carried out."""

    key: str
    name: str
    description: str = ""
    acceptance: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    """Keys of tasks."""
    agent: str = ""


def view_of_draft(draft: TaskDraft) -> TaskView:
    return TaskView(
        key=draft.key,
        name=draft.title,
        description=draft.description,
        acceptance=draft.acceptance,
        files=draft.files,
        requirements=draft.requirements,
        depends_on=draft.depends_on,
        agent=draft.agent,
    )


def difference(
    before: Sequence[Document],
    after: Sequence[Document],
    tasks_before: Sequence[TaskView | TaskDraft],
    tasks_after: Sequence[TaskView | TaskDraft],
    since: int,
) -> Difference:
    """Return what has changed since the revision `since`."""
    changed = [
        alteration
        for kind in (DocumentKind.SPEC, DocumentKind.PLAN)
        for alteration in altered_passages(kind.file, _text(before, kind), _text(after, kind))
    ]
    return Difference(
        since=since,
        sections=tuple(changed),
        tasks=tuple(_altered_tasks(_views(tasks_before), _views(tasks_after))),
    )


def _text(documents: Sequence[Document], kind: DocumentKind) -> str:
    return next((document.text for document in documents if document.kind is kind), "")


def _views(tasks: Sequence[TaskView | TaskDraft]) -> dict[str, TaskView]:
    views = (view_of_draft(one) if isinstance(one, TaskDraft) else one for one in tasks)
    return {view.key: view for view in views}


def _altered_tasks(before: dict[str, TaskView], after: dict[str, TaskView]) -> Iterator[Alteration]:
    for key in sorted({*before, *after}, key=_place_in_plan):
        old, new = before.get(key), after.get(key)
        there = new or old
        details = list(_details(old or TaskView(key, ""), new or TaskView(key, "")))
        if there is None or (old and new and not details):
            continue
        what = Altered.CHANGED if old and new else Altered.ADDED if new else Altered.REMOVED
        # the content of what is removed is not listed
        shown = () if what is Altered.REMOVED else first_few(details, MOST_LINES - 1, "line")
        yield Alteration(what=what, where=key, name=_line(there.name), details=shown)


def _place_in_plan(key: str) -> tuple[int, str]:
    found = re.search("[0-9]+", key)
    return (int(found[0]) if found else 0), key


def _details(old: TaskView, new: TaskView) -> Iterator[str]:
    if old.name and _line(old.name) != _line(new.name):
        yield cut(f"name: {_line(old.name)} → {_line(new.name)}", LONGEST_LINE)
    yield from _text_changes("description", old.description, new.description)
    yield from _item_changes("acceptance", old.acceptance, new.acceptance)
    yield from _item_changes("files", old.files, new.files)
    yield from _item_changes("requirements", old.requirements, new.requirements)
    if set(old.depends_on) != set(new.depends_on):
        needs = " → ".join(_keys(view.depends_on) for view in (old, new) if view.name)
        yield cut(f"depends on: {needs}", LONGEST_LINE)
    if old.agent != new.agent:
        agents = " → ".join(view.agent or "any" for view in (old, new) if view.name)
        yield cut(f"agent: {agents}", LONGEST_LINE)


def _text_changes(field: str, old: str, new: str) -> Iterator[str]:
    gone, added = _line(old), _line(new)
    if gone == added:
        return
    if gone and added:
        yield from changed_pair(gone, added, before=f"{field}: ")
    else:
        yield cut(f"{field}: {ADDED if added else REMOVED} {added or gone}", LONGEST_LINE)


def _item_changes(field: str, old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    gone, added = dict.fromkeys(map(_line, old)), dict.fromkeys(map(_line, new))
    yield from (
        cut(f"{field}: {REMOVED} {item}", LONGEST_LINE) for item in gone if item not in added
    )
    yield from (cut(f"{field}: {ADDED} {item}", LONGEST_LINE) for item in added if item not in gone)


def _keys(keys: Sequence[str]) -> str:
    return ", ".join(sorted(keys, key=_place_in_plan)) or "nothing"


def _line(text: str) -> str:
    return " ".join(text.split())


# A document compared with its former version, passage by passage.

_DEEPEST = 3
_METADATA = re.compile(r"(?:[-*+] )?\*\*[^*]{1,40}(?:\*\*[:：]|[:：]\*\*).*")
_DATED = re.compile(
    r"(?:[-*+] )?\*{0,2}(?:created|date|updated|last updated|last modified|作成日|更新日|日付|最終更新日?)"
    r"\*{0,2}[:：]\*{0,2} ?(?:[0-9]{2,4}[-/.年][0-9]{1,2}|[A-Z][a-z]+ [0-9]{1,2},? [0-9]{4}).{0,20}",
    re.IGNORECASE,
)
_RULE = re.compile(r"[-*_](?: ?[-*_]){2,}")
_MARK = re.compile(r" ?\*\([^()]{0,40}\)\*$")
"""A marker after a heading: *(mandatory)*."""
_BEHIND = re.compile(r" ?[(（][^()（）]{0,80}[)）]$")


class _Passage(NamedTuple):
    """The text below one heading, up to the next."""

    titles: tuple[str, ...]
    """Its heading and those above it, outermost first.

    Empty for the opening of the document, whose title is among the lines.
    """
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return " › ".join(self.titles) or "opening"

    @property
    def place(self) -> tuple[str, ...]:
        """Its headings without a trailing parenthesis, such as a priority or a translation."""
        return tuple(_BEHIND.sub("", title).casefold() for title in self.titles)


class _Pairs(NamedTuple):
    both: list[tuple[_Passage, _Passage]]
    gone: list[_Passage]
    added: list[_Passage]


def altered_passages(where: str, before: str, after: str) -> Iterator[Alteration]:
    """Yield the changes in the order of the new document, removed passages last."""
    new = list(_passages(after))
    pairs = _match_passages(list(_passages(before)), new)
    former = {id(now): old for old, now in pairs.both}
    for now in new:
        if old := former.get(id(now)):
            if details := list(_changed(old, now)):
                yield Alteration(
                    what=Altered.CHANGED,
                    where=where,
                    name=now.name,
                    details=first_few(details, MOST_LINES - 1, "line"),
                )
        else:
            yield _whole_passage(Altered.ADDED, where, now, ADDED)
    yield from (_whole_passage(Altered.REMOVED, where, old, REMOVED) for old in pairs.gone)


def _whole_passage(what: Altered, where: str, passage: _Passage, sign: str) -> Alteration:
    details = first_few(
        [cut(f"{sign} {line}", LONGEST_LINE) for line in passage.lines], MOST_LINES - 1, "line"
    )
    return Alteration(what=what, where=where, name=passage.name, details=details)


def _passages(markdown: str) -> Iterator[_Passage]:
    """Split a document at its headings down to ###, leaving out lines without content: dates, rules, empty lines.

    A heading with only deeper headings below it is not a passage.
    """
    above: tuple[tuple[int, str], ...] = ()
    found: list[str] = []
    for line in markdown_lines(markdown):
        level, title = heading_of(line)
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


def _content(line: MarkdownLine, *, in_opening: bool) -> str:
    """Return the line normalised for comparison; empty if it has no content."""
    if line.front:
        return ""
    if line.fenced:
        return line.text.rstrip()
    text = " ".join(line.text.split())
    if text.startswith(("* ", "+ ")):
        text = f"- {text[2:]}"
    silent = _RULE.fullmatch(text) or _DATED.fullmatch(text)
    return "" if silent or (in_opening and _METADATA.fullmatch(text)) else text


def _match_passages(before: list[_Passage], after: list[_Passage]) -> _Pairs:
    """Match old and new passages: first identical ones, then those in the same place, then those with the same lines
    elsewhere or under another name, then those with the same title.
    """
    pairs = _Pairs([], before, after)
    for sign in (_content_key, _place_key, _lines_key, _title_key):
        pairs = _paired(pairs, sign)
    return pairs


def _content_key(passage: _Passage) -> object:
    return passage


def _place_key(passage: _Passage) -> object:
    return passage.place


def _lines_key(passage: _Passage) -> object:
    return passage.lines


def _title_key(passage: _Passage) -> object:
    # Without numbers: stories are renumbered when one is inserted before them.
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
            yield from changed_pair(gone, added)
        yield from (cut(f"{REMOVED} {line}", LONGEST_LINE) for line in before[i + both : i_end])
        yield from (cut(f"{ADDED} {line}", LONGEST_LINE) for line in after[j + both : j_end])


# Changed lines, short enough to be read at a glance. Shortening never hides what changed.

ADDED = "+"
REMOVED = "−"
MOST_LINES = 6
LONGEST_LINE = 160
_CONTEXT_CHARS = 40
"""Characters kept before the point where two lines differ."""


def changed_pair(gone: str, added: str, before: str = "") -> Iterator[str]:
    """Yield a line's old and new form. Long ones start shortly before the point where they differ."""
    at = _first_difference(gone, added)
    for sign, text in ((REMOVED, gone), (ADDED, added)):
        line = f"{before}{sign} {text}"
        if len(line) > LONGEST_LINE and at > _CONTEXT_CHARS:
            line = f"{before}{sign} …{text[at - _CONTEXT_CHARS :]}"
        yield cut(line, LONGEST_LINE)


def _first_difference(one: str, other: str) -> int:
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)
