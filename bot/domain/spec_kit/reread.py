"""A tasks.md read back as drafts: what `render_tasks` wrote, or what a person or another tool made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.domain.spec_kit.drafts import TaskDraft
from bot.domain.spec_kit.parsed import ParsedTask, parse_tasks

_NEEDS = re.compile(r" \(depends on T[0-9]{3,4}[a-z]?(?:, T[0-9]{3,4}[a-z]?)*\)$")
_WORD = re.compile(r"[\w@+~.\[\]/-]+")
_PATH = re.compile(r"[/.][\w@+~-]|\w/|^[A-Z][a-z]+file$|^[A-Z]{4,}$")
_NAMED_PATH = re.compile(r"(?<![\w@./:-])[\w@.-]+(?:/[\w@.-]+)*/[\w@-]+\.[A-Za-z0-9]{1,8}(?![\w/])")
_STEP = re.compile(r"^(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\[.?\][ \t]+)?")
_DETAIL = re.compile(
    r"(?:[-*+][ \t]+)?\**(?P<kind>What|Accepted when|Acceptance|Serves|Requirements?|完了条件|受け入れ条件|要件)\**[ \t]*[:：]\**[ \t]*(?P<said>.*)",
    re.IGNORECASE,
)
_ACCEPTED = frozenset({"accepted when", "acceptance", "完了条件", "受け入れ条件"})
_SERVED = frozenset({"serves", "requirement", "requirements", "要件"})


def drafts_from(markdown: str) -> tuple[TaskDraft, ...]:
    """The tasks of the document, in its order. What the format has no place for is as in any new draft."""
    return tuple(_draft(task) for task in parse_tasks(markdown).tasks)


def _draft(task: ParsedTask) -> TaskDraft:
    title, files = _title_and_files(task.text)
    details = list(_details(task.details))
    what = [said for kind, said in details if kind == "what"]
    return TaskDraft(
        key=task.key,
        title=title,
        description="\n".join(what),
        # One of several stories serves more than any of them.
        story=task.stories[0] if len(task.stories) == 1 else "",
        parallel=task.parallel,
        depends_on=task.depends_on,
        files=files,
        acceptance=tuple(said for kind, said in details if kind in _ACCEPTED),
        requirements=tuple(
            id.strip()
            for kind, said in details
            if kind in _SERVED
            for id in re.split("[,、，]", said)
            if id.strip()
        ),
    )


def _title_and_files(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without the note on dependencies and the paths at its end; paths it mentions before are files, too."""
    said = _NEEDS.sub("", text)
    title, _, tail = said.rpartition(" in ")
    paths = tail.split(", ")
    if not title.strip() or not all(map(_is_path, paths)):
        title, paths = said, []
    return title, tuple(dict.fromkeys([*_NAMED_PATH.findall(title), *paths]))


def _is_path(text: str) -> bool:
    return bool(_WORD.fullmatch(text) and _PATH.search(text))


def _details(details: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What each line below a task tells: acceptance, requirements, or else what is to be done."""
    for line in details:
        found = _DETAIL.fullmatch(line)
        if found:
            yield found["kind"].lower(), found["said"]
        else:
            yield "what", _STEP.sub("", line)
