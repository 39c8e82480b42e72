"""spec.md and plan.md: their sections, what they must contain, which requirements and stories they define, and which
tasks serve those.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from bot.core.facts import Fact
from bot.core.plan import RequirementCoverage

# What spec.md and plan.md must contain, and which ids and stories they define.

# Headings may be followed by "*(mandatory)*" or a translation, or be the translation.
_SPEC = {
    "# Feature Specification: <name>": r"# Feature Specification|# (?:機能)?仕様(?:書)?(?=[:：\s]|$)|# 機能仕様",
    "## User Scenarios & Testing": r"## User Scenarios?(?: (?:&|and) Testing)?|## ユーザーシナリオ|## ユーザシナリオ",
    "## Requirements": r"## Requirements?|## 要件|## 機能要件",
    "## Success Criteria": r"## Success Criteria|## 成功基準|## 成功の基準",
}
_PLAN = {
    "# Implementation Plan: <name>": r"# Implementation Plan|# 実装計画|# 実装プラン",
    "## Summary": r"## Summary|## 概要|## 要約|## サマリー?",
    "## Technical Context": r"## Technical Context|## 技術的?(?:な)?(?:コンテキスト|背景|文脈)",
    "## Project Structure": r"## Project Structure|## プロジェクト(?:の)?構[造成]",
}
_PLACEHOLDER = re.compile(
    r"\[(?:FEATURE(?: NAME)?|###-feature-name|DATE|Brief Title|Entity [0-9]|PROJECT(?: NAME)?|TITLE|\$ARGUMENTS)\]"
)
_MENTIONED = r"\b{prefix}-[0-9]{{3}}[a-z]?\b"
_DEFINED = r"[ \t]*(?:[-*+]|[0-9]+[.)]|\||#{{3,6}})[ \t]+[*_`\[]*({prefix}-[0-9]{{3}}[a-z]?)(?![0-9A-Za-z])"
_STORY = re.compile(
    r"(?:User Story|ユーザーストーリー)\s*([0-9]{1,3})\s*[-–—:：]?\s*(.*?)\s*(?:[(（].*)?",
    re.IGNORECASE,
)


def check_spec(markdown: str) -> list[str]:
    """Return what a spec.md lacks."""
    missing = _missing(markdown, _SPEC)
    if not requirement_ids(markdown):
        missing.append("there is no requirement: - **FR-001**: …")
    if not success_ids(markdown):
        missing.append("there is no success criterion: - **SC-001**: …")
    return missing


def check_plan(markdown: str) -> list[str]:
    """Return what a plan.md lacks."""
    return _missing(markdown, _PLAN)


def requirement_ids(spec: str) -> tuple[str, ...]:
    """Return the requirements that a spec defines, FR-001 …; if it defines none, those it mentions."""
    return _ids(spec, "FR")


def requirement_text(spec: str, id: str) -> str:
    """Return the line of a spec that states a requirement, without its markup; the id if there is none."""
    line = next((line for line in spec.splitlines() if id in line), id)
    return " ".join(line.replace("**", "").lstrip("-*+ \t").split())


def success_ids(spec: str) -> tuple[str, ...]:
    """Return the success criteria that a spec defines, SC-001 …"""
    return _ids(spec, "SC")


def story_titles(spec: str) -> dict[str, str]:
    """Return the user stories of a spec: US1 → its title."""
    found: dict[str, str] = {}
    for line in markdown_lines(spec):
        level, title = heading_of(line)
        story = _STORY.fullmatch(" ".join(title.split())) if level == 3 else None
        if story:
            found.setdefault(f"US{int(story[1])}", story[2])
    return found


def _missing(markdown: str, wanted: dict[str, str]) -> list[str]:
    there = [
        f"{'#' * level} {title}"
        for level, title in map(heading_of, markdown_lines(markdown))
        if level
    ]
    missing = [
        f"the heading “{name}” is missing"
        for name, pattern in wanted.items()
        if not any(re.match(rf"(?:{pattern})(?![A-Za-z])", title, re.IGNORECASE) for title in there)
    ]
    plain = "\n".join(
        re.sub(r"`[^`]*`", "", line.text) for line in markdown_lines(markdown) if not line.fenced
    )
    left = dict.fromkeys(_PLACEHOLDER.findall(plain))
    return missing + [f"the placeholder {placeholder} is still there" for placeholder in left]


def _ids(spec: str, prefix: str) -> tuple[str, ...]:
    plain = [line.text for line in markdown_lines(spec) if not line.fenced]
    defined = [
        found[1] for text in plain if (found := re.match(_DEFINED.format(prefix=prefix), text))
    ]
    mentioned = re.findall(_MENTIONED.format(prefix=prefix), "\n".join(plain))
    return tuple(dict.fromkeys(defined or mentioned))


# Splits a document at its headings. Lines in a code fence or in front matter are no headings.

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_BOX = re.compile(r"[ \t]*[-*+][ \t]+\[[ xX]?\]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class MarkdownLine(NamedTuple):
    number: int
    text: str
    fenced: bool
    """In a code fence or in front matter, including the delimiters."""
    front: bool = False
    """In front matter."""


class Section(Fact):
    title: str
    level: int
    """The heading's level, 1 or 2; 0 for text before the first heading."""
    body: str
    """All lines below the heading, including deeper headings."""


def markdown_lines(markdown: str) -> Iterator[MarkdownLine]:
    """Yield the lines of a document, numbered from 1, and whether each is in a code fence or front matter."""
    texts = markdown.removeprefix("\ufeff").splitlines()
    front = _front_matter(texts)
    closers = _closers(texts)
    fence = ""
    for number, text in enumerate(texts, 1):
        if number <= front:
            yield MarkdownLine(number, text, fenced=True, front=True)
        elif fence:
            yield MarkdownLine(number, text, fenced=True)
            fence = "" if _closer(text).startswith(fence) else fence
        else:
            fence = _opener(text)
            if fence and not closers[number].get(fence[0], "").startswith(fence):
                fence = (
                    ""  # it is never closed, so it does not count: nothing below it may get lost
                )
            yield MarkdownLine(number, text, fenced=bool(fence))


def _front_matter(texts: Sequence[str]) -> int:
    """Return the number of lines of the front matter; 0 if it is not closed or contains a task line."""
    if not texts or texts[0].rstrip() != "---":
        return 0
    for number, text in enumerate(texts[1:], 2):
        if text.rstrip() == "---":
            return number
        if _BOX.match(text):
            return 0
    return 0


def _opener(text: str) -> str:
    border = _FENCE.fullmatch(text)
    return border[1] if border and not (border[1][0] == "`" and "`" in border[2]) else ""


def _closer(text: str) -> str:
    border = _FENCE.fullmatch(text)
    return border[1] if border and not border[2].strip() else ""


def _closers(texts: Sequence[str]) -> list[dict[str, str]]:
    """Return for each line number the longest delimiters of each kind that still follow and could close a fence."""
    ahead: dict[str, str] = {}
    found = [ahead]
    for text in reversed(texts):
        closer = _closer(text)
        if closer and len(closer) > len(ahead.get(closer[0], "")):
            ahead = {**ahead, closer[0]: closer}
        found.append(ahead)
    return found[::-1]


def heading_of(line: MarkdownLine) -> tuple[int, str]:
    """Return level and title; level 0 if the line is no heading."""
    found = None if line.fenced else _HEADING.fullmatch(line.text)
    if not found:
        return 0, ""
    title = found[2].rstrip()
    closed = title.rstrip("#")  # "## Title ##" is a heading too, "## C#" keeps its sign
    return len(found[1]), (title if closed[-1:].strip() else closed).strip()


def sections(markdown: str) -> tuple[Section, ...]:
    """Split the document at its # and ## headings. Together the sections contain every line."""
    found: list[tuple[str, int, list[str]]] = [("", 0, [])]
    for line in markdown_lines(markdown):
        level, title = heading_of(line)
        if level in {1, 2}:
            found.append((title, level, []))
        else:
            found[-1][2].append(line.text)
    cut = [
        Section(title=title, level=level, body="\n".join(body).strip("\n"))
        for title, level, body in found
    ]
    return tuple(section for section in cut if section.level or section.body.strip())


# Which tasks serve which requirement, by the ids that tasks name, single or as ranges.

_ID = re.compile(r"FR[ _-]?([0-9]{1,4})([a-z]?)(?![0-9a-z])", re.IGNORECASE)
_TO = re.compile(r"\s?(?:[-–—〜~]|\.{2,3}|to|through|から)\s?", re.IGNORECASE)
_REST_OF_RANGE = re.compile(r"(?<=[0-9])\s?(?:[-–—〜~]|\.{2,3})\s?(?=[0-9])")


class ServesRequirements(Protocol):
    """Anything that names requirements: a draft, a task, or a view of one."""

    @property
    def key(self) -> str: ...
    @property
    def requirements(self) -> tuple[str, ...]: ...


class _Span(NamedTuple):
    """A range of ids; a single id is a range of one."""

    first: tuple[int, str]
    last: tuple[int, str]


def coverage(
    spec_markdown: str, tasks: Sequence[ServesRequirements]
) -> tuple[RequirementCoverage, ...]:
    """Return every requirement of the spec in order, with the tasks that serve it."""
    stated = requirement_ids(spec_markdown)
    serving = [(task.key, served_requirements(task.requirements, stated)) for task in tasks]
    return tuple(
        RequirementCoverage(
            requirement=requirement,
            tasks=tuple(dict.fromkeys(key for key, serves in serving if requirement in serves)),
        )
        for requirement in stated
    )


def served_requirements(named: Iterable[str], stated: Sequence[str]) -> frozenset[str]:
    """Return the stated requirements that are named: as FR-001, fr-1 or in FR-001–FR-003."""
    spans = [span for text in named for span in _spans(text)]
    numbers = {requirement: _number(requirement) for requirement in stated}
    return frozenset(
        requirement
        for requirement, number in numbers.items()
        if number and any(span.first <= number <= span.last for span in spans)
    )


def _spans(text: str) -> list[_Span]:
    plain = _REST_OF_RANGE.sub("–FR-", unicodedata.normalize("NFKC", text))
    found = list(_ID.finditer(plain))
    spans = [_Span(_id(one), _id(one)) for one in found]
    spans += [
        _Span(_id(one), _id(other))
        for one, other in pairwise(found)
        if _TO.fullmatch(plain, one.end(), other.start())
    ]
    return spans


def _number(requirement: str) -> tuple[int, str] | None:
    found = _ID.fullmatch(requirement)
    return _id(found) if found else None


def _id(found: re.Match[str]) -> tuple[int, str]:
    return int(found[1]), found[2].lower()


# Writes answers into spec.md: a line per decision, under the day on which it was taken.

_CLARIFICATIONS = "Clarifications"


class _Clarification(NamedTuple):
    number: int
    question: str
    answer: str

    @property
    def bullet(self) -> str:
        return f"- Q: {self.question} → A: {self.answer} (D{self.number})"

    def matches_line(self, line: str) -> bool:
        """Whether the line is about this decision; for a line without a number, about the same question."""
        text = " ".join(line.split())
        if not text.startswith(("- Q:", "* Q:")):
            return False
        number = re.search(r"\(D([0-9]{1,4})\)$", text)
        if number:
            return int(number[1]) == self.number
        return text[2:].startswith(f"Q: {self.question} → A:")


def with_clarifications(
    spec_markdown: str, date: str, answers: Sequence[tuple[int, str, str]]
) -> str:
    """Return the spec with decisions added: number, question, answer.

    Idempotent. An existing decision is replaced in its place; new ones go under the day.
    """
    taken = {number: _Clarification(number, _line(q), _line(a)) for number, q, a in answers}
    text, fresh = _updated_answers(
        [line.text for line in markdown_lines(spec_markdown)], list(taken.values())
    )
    if not fresh:
        return "\n".join(text) + "\n" if text != _texts(spec_markdown) else spec_markdown
    return _with_new_answers(text, date, [one.bullet for one in fresh])


def _updated_answers(
    text: list[str], answers: Sequence[_Clarification]
) -> tuple[list[str], list[_Clarification]]:
    """Return the lines with updated answers, and the answers that have no line yet."""
    start, end = _section_extent(text, 2, _CLARIFICATIONS)
    if start < 0:
        return text, list(answers)
    kept = text[: start + 1]
    open_ones = {one.number: one for one in answers}
    for line in text[start + 1 : end]:
        about = next((one for one in answers if one.matches_line(line)), None)
        if about is None:
            kept.append(line)
        elif open_ones.pop(about.number, None):
            kept.append(about.bullet)
    return [*kept, *text[end:]], list(open_ones.values())


def _with_new_answers(text: list[str], date: str, bullets: list[str]) -> str:
    start, end = _section_extent(text, 2, _CLARIFICATIONS)
    if start < 0:
        # answers come before what they explain, after title and metadata, as in the template
        first = _section_extent(text, 2, "")[0]
        at = first if first >= 0 else len(text)
        return _inserted(
            text, at, [f"## {_CLARIFICATIONS}", "", f"### Session {date}", "", *bullets]
        )
    day, day_end = _section_extent(text, 3, f"Session {date}", start, end)
    if day < 0:
        return _inserted(text, end, [f"### Session {date}", "", *bullets])
    while day_end > day + 1 and not text[day_end - 1].strip():
        day_end -= 1
    gap = [""] if day_end == day + 1 else []
    return "\n".join([*text[:day_end], *gap, *bullets, *text[day_end:]]).rstrip("\n") + "\n"


def _section_extent(
    text: Sequence[str], level: int, title: str, after: int = -1, before: int = 10**9
) -> tuple[int, int]:
    """Return the section's first line (from 0) and the line after its last; -1 if there is none."""
    start = -1
    at = 0
    for at, line in enumerate(markdown_lines("\n".join(text))):
        found, name = heading_of(line)
        if start >= 0 and 0 < found <= level:
            return start, at
        if start < 0 and found == level and after < at < before and name.startswith(title):
            start = at
    return start, min(at + 1, before)


def _inserted(text: list[str], at: int, block: list[str]) -> str:
    head = "\n".join(text[:at]).rstrip("\n")
    tail = "\n".join(text[at:]).strip("\n")
    return "\n\n".join(part for part in (head, "\n".join(block), tail) if part) + "\n"


def _texts(markdown: str) -> list[str]:
    return [line.text for line in markdown_lines(markdown)]


def _line(text: str) -> str:
    return " ".join(text.split())
