"""Reads a tasks.md, also one written by a person or another tool: every task line is accepted, and oddities become
warnings.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from bot.core.facts import Fact
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.spec_kit.spec import MarkdownLine, heading_of, markdown_lines

# Task lines as drafts: as `render_tasks` wrote them, or as a person or another tool changed them.

_NEEDS = re.compile(r" \(depends on T[0-9]{3,4}[a-z]?(?:, T[0-9]{3,4}[a-z]?)*\)$")
_WORD = re.compile(r"[\w@+~.\[\]/-]+")
_PATH = re.compile(r"[/.][\w@+~-]|\w/|^[A-Z][a-z]+file$|^[A-Z]{4,}$")
_NAMED_PATH = re.compile(r"(?<![\w@./:-])[\w@.-]+(?:/[\w@.-]+)*/[\w@-]+\.[A-Za-z0-9]{1,8}(?![\w/])")
_STEP = re.compile(r"^(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\[.?\][ \t]+)?")
_DETAIL = re.compile(
    r"(?:[-*+][ \t]+)?\**(?P<kind>What|Accepted when|Acceptance|Serves|Requirements?|Read first|完了条件|受け入れ条件|要件)\**[ \t]*[:：]\**[ \t]*(?P<said>.*)",
    re.IGNORECASE,
)
_ACCEPTED = frozenset({"accepted when", "acceptance", "完了条件", "受け入れ条件"})
_SERVED = frozenset({"serves", "requirement", "requirements", "要件"})


def drafts_from(markdown: str) -> tuple[TaskDraft, ...]:
    """Return the tasks of the document in order. Fields that the format lacks have their defaults."""
    return tuple(_draft(task) for task in parse_tasks(markdown).tasks)


def _draft(task: ParsedTask) -> TaskDraft:
    title, files = _title_and_files(task.text)
    details = list(_details(task.details))
    what = [said for kind, said in details if kind == "what"]
    return TaskDraft(
        key=task.key,
        title=title,
        description="\n".join(what),
        # a task of several stories belongs to no single one
        story=task.stories[0] if len(task.stories) == 1 else "",
        parallel=task.parallel,
        depends_on=task.depends_on,
        files=files,
        read_first=_listed(details, {"read first"}),
        acceptance=tuple(said for kind, said in details if kind in _ACCEPTED),
        requirements=_listed(details, _SERVED),
    )


def _listed(details: Iterable[tuple[str, str]], kinds: Collection[str]) -> tuple[str, ...]:
    """Return what the details of these kinds list, separated by commas."""
    said = (part for kind, text in details if kind in kinds for part in re.split("[,、，]", text))
    return tuple(part.strip() for part in said if part.strip())


def _title_and_files(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text without its dependency note and trailing paths, and all paths that it names."""
    said = _NEEDS.sub("", text)
    title, _, tail = said.rpartition(" in ")
    paths = tail.split(", ")
    if not title.strip() or not all(map(_is_path, paths)):
        title, paths = said, []
    return title, tuple(dict.fromkeys([*_NAMED_PATH.findall(title), *paths]))


def _is_path(text: str) -> bool:
    return bool(_WORD.fullmatch(text) and _PATH.search(text))


def _details(details: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each line below a task with its kind: acceptance, requirements, or else "what"."""
    for line in details:
        found = _DETAIL.fullmatch(line)
        if found:
            yield found["kind"].lower(), found["said"]
        else:
            yield "what", _STEP.sub("", line)


# The task lines of a document, and the indented lines below each.

_BULLET = r"(?:[-*+•・‣◦●○–—－＊＋]|[0-9０-９]{1,9}[.)．）、])[ \t\u3000]*"
_BOX = re.compile(
    rf"""(?P<indent>[ \t\u3000]*(?:>[ \t]*){{0,9}})
        (?: {_BULLET} | (?=[\[［☐☑☒⬜✅][^\[\]［］]{{0,3}}[\]］]?[ \t\u3000]*[*_`\[(]{{0,4}}[TＴ][0-9０-９]) )
        (?: [\[［][ \t\u3000]*(?P<done>[xXｘＸ✓✔☑✅済~/>!?-]?)\ufe0f?[ \t\u3000]*[\]］]
          | (?P<symbol>[☐☑☒⬜✅])\ufe0f?(?=[ \t\u3000]*[*_`\[(]{{0,4}}[TＴ][0-9０-９]) )
        [ \t\u3000]* (?P<rest>.*)""",
    re.VERBOSE,
)
_DONE = frozenset("xXｘＸ✓✔☑✅済")
_TAG = re.compile(r"[ \t\u3000]*(?:\[([^\[\]]+)\](?!\()|［([^［］]+)］|【([^【】]+)】)[ \t\u3000]*")
# the id must not be part of a sentence or a range: T001-T003, T001を直す
_KEY = re.compile(
    r"""(?: [^\w\s\[(【［\\]{1,4}[ \t\u3000]+ )? [*_`~\[(【［]*
        ([TＴ][0-9０-９]{1,4}[a-z]?)(?![0-9０-９A-Za-z]|[-–〜～~.][0-9T]|[のがをにはとへでもや])
        [*_`~\])】］]* (?: [ \t\u3000]*[:.：、][*_`]* | [ \t\u3000]+[-–—|](?=[ \t\u3000]) )? [ \t\u3000]*""",
    re.VERBOSE | re.IGNORECASE,
)
_STORY = re.compile(r"US[ -]?([0-9]{1,3})(?:\s?[-–〜~]\s?(?:US)?([0-9]{1,3}))?", re.IGNORECASE)
_WIDEST_RANGE = 200


class ParsedTask(Fact):
    """One task line with the indented lines below it."""

    key: str
    text: str
    done: bool = False
    parallel: bool = False
    stories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Bracketed words other than [P] and a story, such as [共通]."""
    depends_on: tuple[str, ...] = ()
    phase: str = ""
    """The ## heading above it."""
    line: int = 0
    details: tuple[str, ...] = ()


class ParsedTasks(Fact):
    tasks: tuple[ParsedTask, ...] = ()
    warnings: tuple[str, ...] = ()


def parse_tasks(markdown: str) -> ParsedTasks:
    """Return every task line in the order of the document."""
    reading = _TaskParser()
    read = list(markdown_lines(markdown))
    if not any(_BOX.fullmatch(line.text) for line in read if not line.fenced):
        # some models put the whole document into a code fence
        read = [line._replace(fenced=False) for line in read]
    for line in read:
        reading.take(line)
    return reading.result()


class _TaskParser:
    def __init__(self) -> None:
        self._tasks: list[ParsedTask] = []
        self._details: list[list[str]] = []
        self._without_key: list[int] = []
        self._warnings: list[str] = []
        self._phase = ""
        self._highest = 0
        self._indent = 0
        self._open = False
        """Whether indented lines still belong to the last task."""

    def take(self, line: MarkdownLine) -> None:
        level, title = heading_of(line)
        if level:
            self._phase = title if level <= 2 else self._phase
            self._open = False
            return
        box = None if line.fenced else _BOX.fullmatch(line.text)
        if box:
            self._take_box(line, box)
        elif self._open and line.text.strip():
            self._take_detail(line.text)

    def result(self) -> ParsedTasks:
        self._highest = max((key_number(task.key) for task in self._tasks), default=0)
        self._assign_missing_keys()
        self._rename_duplicates()
        there = {task.key for task in self._tasks}
        keys = TaskKeys.of(there)
        tasks = [
            self._with_dependencies(
                task.model_copy(update={"details": tuple(details)}), there, keys
            )
            for task, details in zip(self._tasks, self._details, strict=True)
        ]
        return ParsedTasks(tasks=tuple(tasks), warnings=tuple(self._warnings))

    def _take_box(self, line: MarkdownLine, box: re.Match[str]) -> None:
        indent = len(box["indent"].expandtabs(4))
        key, tags, text = _split_task_line(box["rest"])
        if not key and self._open and indent > self._indent:
            # a checkbox without an id below a task is one of its steps
            self._take_detail(line.text)
            return
        if not key:
            self._without_key.append(len(self._tasks))
        if key and key != normal_key(key):
            self._warnings.append(f"line {line.number}: {key} was read as {normal_key(key)}")
        if not text:
            self._warnings.append(f"line {line.number}: the task has no text")
        self._details.append([])
        self._tasks.append(
            ParsedTask(
                key=normal_key(key),
                text=text,
                done=(box["done"] or box["symbol"] or " ") in _DONE,
                parallel=any(_plain(tag) == "P" for tag in tags),
                stories=tuple(dict.fromkeys(story for tag in tags for story in _stories(tag))),
                tags=tuple(tag for tag in tags if _plain(tag) != "P" and not _stories(tag)),
                phase=self._phase,
                line=line.number,
            )
        )
        self._open, self._indent = True, indent

    def _take_detail(self, text: str) -> None:
        within = text.expandtabs(4)
        if len(within) - len(within.lstrip()) <= self._indent:
            self._open = False
            return
        self._details[-1].append(text.strip())

    def _assign_missing_keys(self) -> None:
        for at in self._without_key:
            key = self._free_key()
            self._tasks[at] = self._tasks[at].model_copy(update={"key": key})
            self._warnings.append(
                f"line {self._tasks[at].line}: the task has no id, it became {key}"
            )

    def _rename_duplicates(self) -> None:
        seen: set[str] = set()
        for at, task in enumerate(self._tasks):
            if task.key in seen:
                key = self._free_key()
                self._tasks[at] = task.model_copy(update={"key": key})
                self._warnings.append(
                    f"line {task.line}: {task.key} is there twice, the second became {key}"
                )
            seen.add(self._tasks[at].key)

    def _free_key(self) -> str:
        self._highest += 1
        return f"T{self._highest:03}"

    def _with_dependencies(self, task: ParsedTask, there: set[str], keys: TaskKeys) -> ParsedTask:
        # The line itself takes precedence over its details.
        named = dependencies_in(task.text, keys) or [
            key for detail in task.details for key in dependencies_in_note(detail, keys)
        ]
        known: list[str] = []
        for key in dict.fromkeys(named):
            if key == task.key:
                self._warnings.append(
                    f"line {task.line}: {key} depends on itself, which was left out"
                )
                continue
            known.append(key)
            if key not in there:
                self._warnings.append(
                    f"line {task.line}: {task.key} depends on {key}, which is not there"
                )
        return task.model_copy(update={"depends_on": tuple(known)})


def _split_task_line(rest: str) -> tuple[str, list[str], str]:
    """Split into id, tags and text, in whichever order id and tags come."""
    key = ""
    tags: list[str] = []
    at = 0
    while at < len(rest):
        found = None if key or begins_with_dependency(rest, at) else _KEY.match(rest, at)
        if found:
            key = unicodedata.normalize("NFKC", found[1])
        elif found := _TAG.match(rest, at):
            inner = found[1] or found[2] or found[3]
            tags += [part.strip() for part in re.split(r"[,、/・]", inner)]
        else:
            break
        at = found.end()
    return key, tags, rest[at:].strip().removeprefix("\\")


def _plain(tag: str) -> str:
    return unicodedata.normalize("NFKC", tag).upper()


def _stories(tag: str) -> list[str]:
    found = _STORY.fullmatch(_plain(tag))
    if not found:
        return []
    first, last = int(found[1]), int(found[2] or found[1])
    return [f"US{story}" for story in range(first, min(last, first + _WIDEST_RANGE) + 1)]


# Which tasks must come first according to a text, in English or Japanese: «after T001», «T001-T003の後に».

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
"""No real line names more ids; limits the time a hostile one can take."""


class TaskKeys(NamedTuple):
    """The existing ids by number: a range stands for those between its ends."""

    ordered: Sequence[str]
    numbers: Sequence[int]

    @classmethod
    def of(cls, keys: Iterable[str]) -> TaskKeys:
        ordered = sorted(keys, key=key_number)
        return cls(ordered, [key_number(key) for key in ordered])

    def between(self, first: str, last: str) -> Sequence[str]:
        start = bisect_right(self.numbers, key_number(first))
        return self.ordered[start : bisect_left(self.numbers, key_number(last))]


def dependencies_in(text: str, keys: TaskKeys) -> list[str]:
    """Return the ids that must be complete first according to the text."""
    line = " ".join(text.split())
    return [
        key
        for found in _IDS.finditer(line)
        if _is_said_to_come_first(line, found)
        for key in _ids_in_list(found[0], keys)
    ]


def dependencies_in_note(text: str, keys: TaskKeys) -> list[str]:
    """Like `dependencies_in` for a line below a task.

    It must begin with the statement, as descriptions may mention other tasks.
    """
    line = " ".join(text.lstrip("-*+ _").split())
    found = _IDS.search(line)
    if found is None:
        return []
    begins = _BEFORE.match(line[: found.start()]) or begins_with_dependency(line)
    return list(_ids_in_list(found[0], keys)) if begins else []


def begins_with_dependency(text: str, at: int = 0) -> bool:
    """Whether the text begins with a statement like «T001の後に»; then T001 is not the task's own id."""
    found = _IDS.match(text, at)
    return bool(found and _BEHIND.match(text, found.end()))


def normal_key(key: str) -> str:
    """Return T1 or t001 as T001."""
    found = re.fullmatch(r"[Tt]([0-9]{1,4})([A-Za-z]?)", key)
    return f"T{int(found[1]):03}{found[2].lower()}" if found else key


def key_number(key: str) -> int:
    return int(re.sub("[^0-9]", "", key) or 0)


def _is_said_to_come_first(line: str, found: re.Match[str]) -> bool:
    start = max(0, found.start() - _LONGEST_BEFORE)
    return bool(_BEFORE.search(line[start : found.start()]) or _BEHIND.match(line, found.end()))


def _ids_in_list(ids: str, keys: TaskKeys) -> Iterator[str]:
    """Yield the ids of a list with ranges; of a range, the existing ones between its ends."""
    for part in islice(_ONE_RANGE.finditer(ids), _MOST_IN_A_LIST):
        ends = [normal_key(key) for key in re.findall(r"T[0-9]{1,4}[a-z]?", part[0], re.IGNORECASE)]
        yield ends[0]
        if len(ends) == 2:
            yield from keys.between(*ends)
            yield ends[1]
