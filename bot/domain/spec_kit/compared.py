"""What a new revision changes: of spec.md and plan.md the sections, of the tasks every field. tasks.md follows from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bot.domain.documents import Document, DocumentKind
from bot.domain.planned import Alteration, Altered, Difference
from bot.domain.spec_kit.drafts import TaskDraft
from bot.domain.spec_kit.passages import altered_passages
from bot.domain.spec_kit.shortened import ADDED, GONE, bounded, pair, shortened


class TaskView(NamedTuple):
    """What of a task is compared, whether it is only proposed or carried out already."""

    key: str
    name: str
    description: str = ""
    acceptance: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    """Keys."""
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
    """What is not as it was in the revision `since`."""
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
    for key in sorted({*before, *after}, key=_place):
        old, new = before.get(key), after.get(key)
        there = new or old
        details = list(_details(old or TaskView(key, ""), new or TaskView(key, "")))
        if there is None or (old and new and not details):
            continue
        what = Altered.CHANGED if old and new else Altered.ADDED if new else Altered.REMOVED
        # What goes is not told piece by piece.
        shown = () if what is Altered.REMOVED else bounded(details)
        yield Alteration(what=what, where=key, name=_line(there.name), details=shown)


def _place(key: str) -> tuple[int, str]:
    found = re.search("[0-9]+", key)
    return (int(found[0]) if found else 0), key


def _details(old: TaskView, new: TaskView) -> Iterator[str]:
    if old.name and _line(old.name) != _line(new.name):
        yield shortened(f"name: {_line(old.name)} → {_line(new.name)}")
    yield from _prose("description", old.description, new.description)
    yield from _items("acceptance", old.acceptance, new.acceptance)
    yield from _items("files", old.files, new.files)
    yield from _items("requirements", old.requirements, new.requirements)
    if set(old.depends_on) != set(new.depends_on):
        needs = " → ".join(_keys(view.depends_on) for view in (old, new) if view.name)
        yield shortened(f"depends on: {needs}")
    if old.agent != new.agent:
        agents = " → ".join(view.agent or "any" for view in (old, new) if view.name)
        yield shortened(f"agent: {agents}")


def _prose(field: str, old: str, new: str) -> Iterator[str]:
    gone, added = _line(old), _line(new)
    if gone == added:
        return
    if gone and added:
        yield from pair(gone, added, before=f"{field}: ")
    else:
        yield shortened(f"{field}: {ADDED if added else GONE} {added or gone}")


def _items(field: str, old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    gone, added = dict.fromkeys(map(_line, old)), dict.fromkeys(map(_line, new))
    yield from (shortened(f"{field}: {GONE} {item}") for item in gone if item not in added)
    yield from (shortened(f"{field}: {ADDED} {item}") for item in added if item not in gone)


def _keys(keys: Sequence[str]) -> str:
    return ", ".join(sorted(keys, key=_place)) or "nothing"


def _line(text: str) -> str:
    return " ".join(text.split())
