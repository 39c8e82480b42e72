"""Reading a tasks.md that somebody else wrote: every task line is taken, what is odd becomes a warning."""

from __future__ import annotations

import re
import unicodedata

from bot.domain.facts import Fact
from bot.domain.spec_kit.prose import (
    Keys,
    begins_with_needs,
    needs,
    needs_of_a_note,
    normal,
    number,
)
from bot.domain.spec_kit.sections import Line, heading, lines

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
# Behind the id stands no other word, and nothing that makes it part of a sentence: T001-T003, T001を直す.
_KEY = re.compile(
    r"""(?: [^\w\s\[(【［\\]{1,4}[ \t\u3000]+ )? [*_`~\[(【［]*
        ([TＴ][0-9０-９]{1,4}[a-z]?)(?![0-9０-９A-Za-z]|[-–〜～~.][0-9T]|[のがをにはとへでもや])
        [*_`~\])】］]* (?: [ \t\u3000]*[:.：、][*_`]* | [ \t\u3000]+[-–—|](?=[ \t\u3000]) )? [ \t\u3000]*""",
    re.VERBOSE | re.IGNORECASE,
)
_STORY = re.compile(r"US[ -]?([0-9]{1,3})(?:\s?[-–〜~]\s?(?:US)?([0-9]{1,3}))?", re.IGNORECASE)
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
        self._details: list[list[str]] = []
        self._without_key: list[int] = []
        self._warnings: list[str] = []
        self._phase = ""
        self._highest = 0
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
        self._highest = max((number(task.key) for task in self._tasks), default=0)
        self._name_the_nameless()
        self._rename_doubles()
        there = {task.key for task in self._tasks}
        keys = Keys.of(there)
        tasks = [
            self._with_dependencies(
                task.model_copy(update={"details": tuple(details)}), there, keys
            )
            for task, details in zip(self._tasks, self._details, strict=True)
        ]
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
        if key and key != normal(key):
            self._warnings.append(f"line {line.number}: {key} was read as {normal(key)}")
        if not text:
            self._warnings.append(f"line {line.number}: the task has no text")
        self._details.append([])
        self._tasks.append(
            ParsedTask(
                key=normal(key),
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
        self._highest += 1
        return f"T{self._highest:03}"

    def _with_dependencies(self, task: ParsedTask, there: set[str], keys: Keys) -> ParsedTask:
        """What the line says in prose, else what its details say."""
        named = needs(task.text, keys) or [
            key for detail in task.details for key in needs_of_a_note(detail, keys)
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


def _taken_apart(rest: str) -> tuple[str, list[str], str]:
    """Id, tags and text, whichever of id and tags comes first."""
    key = ""
    tags: list[str] = []
    at = 0
    while at < len(rest):
        found = None if key or begins_with_needs(rest, at) else _KEY.match(rest, at)
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
