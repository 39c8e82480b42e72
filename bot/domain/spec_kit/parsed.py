"""Reading a tasks.md that somebody else wrote: every task line is taken, what is odd becomes a warning."""

from __future__ import annotations

import re

from bot.domain.facts import Fact
from bot.domain.spec_kit.sections import Line, heading, lines

_BOX = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*+]|[0-9]+[.)])[ \t]+\[(?P<done>[ xX✓✔~-]?)\][ \t]*(?P<rest>.*)"
)
_TAG = re.compile(r"[ \t]*(?:\[([^\[\]]+)\](?!\()|［([^［］]+)］|【([^【】]+)】)[ \t]*")
_KEY = re.compile(r"[*_`\[(]*(T[0-9]{1,4}[a-z]?)\b[*_`\])]*[ \t]*[:.：、]?[*_`]*", re.IGNORECASE)
_STORY = re.compile(r"US[ -]?([0-9]{1,3})(?:\s*[-–〜~]\s*(?:US)?([0-9]{1,3}))?", re.IGNORECASE)

_ID = r"[*`]{0,3}T[0-9]{1,4}[a-z]?[*`]{0,3}"
_RANGE = rf"{_ID}(?:\s?(?:[-–—〜～~]|to|through|から)\s?{_ID})?"
_IDS = rf"{_RANGE}(?:(?:\s*[,、，;/&+と]\s*|\s+(?:and|or)\s+|,\s*and\s+|\s*(?:および|及び)\s*){_RANGE}){{0,60}}"
_DEPENDS = re.compile(
    rf"""(?: \b(?:depend(?:s|ent|ing|encies|ency)?(?:\s+on)?|deps?|after|requires?|needs?|blocked\s+by|prerequisites?|waits?\s+for)
           | 依存(?:先|関係|タスク)? | 前提(?:条件|タスク)? )
        [*_]{{0,3}} \s*[:：]?\s* [*_]{{0,3}} \s* (?:(?:the\s+)?(?:tasks?|completion\s+of)\s+)? (?P<behind>{_IDS})
      | (?P<ahead>{_IDS}) \s* (?: (?:が|の)?(?:完了|終了|実装|マージ)?(?:した|の)?(?:後|あと) | (?:が|の)?完了(?:待ち|が必要) | [にへ]依存
          | を(?:前提|待)| が(?:必要|前提) )""",
    re.VERBOSE | re.IGNORECASE,
)
_WIDEST_RANGE = 200


class ParsedTask(Fact):
    """One task line with what stands indented below it."""

    key: str
    text: str
    done: bool = False
    parallel: bool = False
    stories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Bracketed words that are neither [P] nor a story, such as [共通]."""
    depends_on: tuple[str, ...] = ()
    phase: str = ""
    """The ## heading it stands under."""
    line: int = 0
    details: tuple[str, ...] = ()


class ParsedTasks(Fact):
    tasks: tuple[ParsedTask, ...] = ()
    warnings: tuple[str, ...] = ()


def parse_tasks(markdown: str) -> ParsedTasks:
    """Every task line, in the order of the document."""
    reading = _Reading()
    read = list(lines(markdown))
    if not any(_BOX.fullmatch(line.text) for line in read if not line.fenced):
        # Some models put the whole document into a code fence.
        read = [line._replace(fenced=False) for line in read]
    for line in read:
        reading.take(line)
    return reading.result()


class _Reading:
    def __init__(self) -> None:
        self._tasks: list[ParsedTask] = []
        self._without_key: list[int] = []
        self._warnings: list[str] = []
        self._phase = ""
        self._indent = 0
        self._open = False
        """Do indented lines still belong to the last task?"""

    def take(self, line: Line) -> None:
        level, title = heading(line)
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
        self._name_the_nameless()
        self._rename_doubles()
        keys = [task.key for task in self._tasks]
        tasks = [self._with_dependencies(task, keys) for task in self._tasks]
        return ParsedTasks(tasks=tuple(tasks), warnings=tuple(self._warnings))

    def _take_box(self, line: Line, box: re.Match[str]) -> None:
        indent = len(box["indent"].expandtabs(4))
        key, tags, text = _taken_apart(box["rest"])
        if not key and self._open and indent > self._indent:
            # A box without an id below a task is one of its steps.
            self._take_detail(line.text)
            return
        if not key:
            self._without_key.append(len(self._tasks))
        if key and key != _normal(key):
            self._warnings.append(f"line {line.number}: {key} was read as {_normal(key)}")
        if not text:
            self._warnings.append(f"line {line.number}: the task has no text")
        self._tasks.append(
            ParsedTask(
                key=_normal(key),
                text=text,
                done=box["done"] in {"x", "X", "✓", "✔"},
                parallel=any(tag.upper() == "P" for tag in tags),
                stories=tuple(dict.fromkeys(story for tag in tags for story in _stories(tag))),
                tags=tuple(tag for tag in tags if tag.upper() != "P" and not _stories(tag)),
                phase=self._phase,
                line=line.number,
            )
        )
        self._open, self._indent = True, indent

    def _take_detail(self, text: str) -> None:
        if len(text) - len(text.lstrip()) <= self._indent:
            self._open = False
            return
        last = self._tasks[-1]
        self._tasks[-1] = last.model_copy(update={"details": (*last.details, text.strip())})

    def _name_the_nameless(self) -> None:
        for at in self._without_key:
            key = self._free_key()
            self._tasks[at] = self._tasks[at].model_copy(update={"key": key})
            self._warnings.append(
                f"line {self._tasks[at].line}: the task has no id, it became {key}"
            )

    def _rename_doubles(self) -> None:
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
        numbers = [int(re.sub("[^0-9]", "", task.key) or 0) for task in self._tasks]
        return f"T{max(numbers, default=0) + 1:03}"

    def _with_dependencies(self, task: ParsedTask, keys: list[str]) -> ParsedTask:
        """What the line and its details say in prose."""
        said = list(_DEPENDS.finditer(" ".join(task.text.split())))
        if not said:
            # Below a task only a line about dependencies tells of them, not a description that mentions a task.
            notes = (
                _DEPENDS.match(" ".join(text.lstrip("-*+ _").split())) for text in task.details
            )
            said = [note for note in notes if note]
        named = [key for found in said for key in _listed(found["behind"] or found["ahead"], keys)]
        known: list[str] = []
        for key in dict.fromkeys(named):
            if key == task.key:
                self._warnings.append(
                    f"line {task.line}: {key} depends on itself, which was left out"
                )
            else:
                known.append(key)
                if key not in keys:
                    self._warnings.append(
                        f"line {task.line}: {task.key} depends on {key}, which is not there"
                    )
        return task.model_copy(update={"depends_on": tuple(known)})


def _taken_apart(rest: str) -> tuple[str, list[str], str]:
    """Id, tags and text, whichever of id and tags comes first."""
    key = ""
    tags: list[str] = []
    while rest:
        if not key and (found := _KEY.match(rest)):
            key, rest = found[1], rest[found.end() :].lstrip()
        elif found := _TAG.match(rest):
            tags += [part.strip() for part in re.split(r"[,、/]", found[1] or found[2] or found[3])]
            rest = rest[found.end() :]
        else:
            break
    return key, tags, rest.strip().removeprefix("\\")


def _normal(key: str) -> str:
    """T1, t001 → T001."""
    found = re.fullmatch(r"[Tt]([0-9]{1,4})([A-Za-z]?)", key)
    return f"T{int(found[1]):03}{found[2].lower()}" if found else key


def _stories(tag: str) -> list[str]:
    found = _STORY.fullmatch(tag)
    if not found:
        return []
    first, last = int(found[1]), int(found[2] or found[1])
    return [f"US{number}" for number in range(first, min(last, first + _WIDEST_RANGE) + 1)]


def _listed(ids: str, keys: list[str]) -> list[str]:
    """The ids of a list with ranges; of a range, those that exist between its ends."""
    found: list[str] = []
    for part in re.finditer(_RANGE, ids, re.IGNORECASE):
        ends = [_normal(key) for key in re.findall(r"T[0-9]{1,4}[a-z]?", part[0], re.IGNORECASE)]
        found.append(ends[0])
        if len(ends) == 2:
            found += [key for key in keys if _number(ends[0]) < _number(key) < _number(ends[1])] + [
                ends[1]
            ]
    return found


def _number(key: str) -> int:
    return int(re.sub("[^0-9]", "", key) or 0)
