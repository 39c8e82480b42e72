"""A suite to try models on: small repositories with requests, what these leave open, and changes that are right or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import unified_diff
from enum import StrEnum

from pydantic import Field

from bot.core.facts import Fact
from bot.core.tampering.languages import belongs_to_tests


class Label(StrEnum):
    """What a judge should find out about a change."""

    RIGHT = "right"
    WRONG = "wrong"
    INCOMPLETE = "incomplete"
    CHEATING = "cheating"


class Edit(Fact):
    """One replacement in a file."""

    path: str
    old: str = ""
    """It occurs exactly once. Empty: `new` is put at the end of the file, which is made if it is not there."""
    new: str = ""


class Topic(Fact):
    """A point of a request, and how it is recognised in what a model writes."""

    about: str
    words: tuple[str, ...]
    """Regular expressions. Any of them is enough."""
    answer: str = ""
    """The decision that the plan and the right change follow, of a point that is open."""

    def is_in(self, text: str) -> bool:
        return any(re.search(one, text, re.IGNORECASE) for one in self.words)


class WrongChange(Fact):
    """A change that is not right, as edits of the right one."""

    label: Label
    why: str
    edits: tuple[Edit, ...]


class SuiteRequest(Fact):
    """A request, and what is known about it."""

    id: str
    text: str
    criteria: tuple[str, ...]
    """What must be so when it is done."""
    open: tuple[Topic, ...] = ()
    """What ought to be asked."""
    settled: tuple[Topic, ...]
    """What the request or the repository answers, so that it must not be asked."""
    must: tuple[Topic, ...]
    """What a plan has to cover."""
    right: tuple[Edit, ...]
    wrong: tuple[WrongChange, ...]
    check: str
    """A program that ends with 0 on the right change only."""


class Commit(Fact):
    message: str
    files: dict[str, str] = Field(default_factory=dict[str, str])
    edits: tuple[Edit, ...] = ()


class SuiteRepository(Fact):
    name: str
    tests: tuple[str, ...]
    """The command that runs its tests."""
    checks: tuple[str, ...]
    """The command that runs a request's check: the program follows as its last argument."""
    history: tuple[Commit, ...]
    requests: tuple[SuiteRequest, ...]

    @property
    def trees(self) -> list[tuple[str, dict[str, str]]]:
        """Return the message of each commit and all files as of then."""
        tree: dict[str, str] = {}
        found: list[tuple[str, dict[str, str]]] = []
        for commit in self.history:
            tree = edited({**tree, **commit.files}, commit.edits)
            found.append((commit.message, tree))
        return found

    def touched(self, request: SuiteRequest) -> tuple[str, ...]:
        """Return the files that the right change edits, without new files, tests and documents."""
        there = self.trees[-1][1]
        return tuple(
            path
            for path in dict.fromkeys(edit.path for edit in request.right)
            if path in there and not belongs_to_tests(path) and not path.endswith(".md")
        )

    def changes(self, request: SuiteRequest) -> list[tuple[Label, str, dict[str, str]]]:
        """Return the label of each change, what it is like, and all files after it."""
        right = edited(self.trees[-1][1], request.right)
        others = [(one.label, one.why, edited(right, one.edits)) for one in request.wrong]
        return [(Label.RIGHT, "", right), *others]


def edited(tree: Mapping[str, str], edits: Iterable[Edit]) -> dict[str, str]:
    """Return the files after the edits. Raises ValueError if a text is not there exactly once."""
    found = dict(tree)
    for edit in edits:
        text = found.get(edit.path, "")
        if not edit.old:
            found[edit.path] = text + edit.new
            continue
        if (times := text.count(edit.old)) != 1:
            raise ValueError(f"{edit.path} has {times} times: {edit.old!r}")
        found[edit.path] = text.replace(edit.old, edit.new)
    return found


def is_executable(text: str) -> bool:
    return text.startswith("#!")


def patch_of(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the differences between two trees as git writes them."""
    changed = [path for path in sorted({**before, **after}) if before.get(path) != after.get(path)]
    return "".join(_file_patch(path, before.get(path), after.get(path, "")) for path in changed)


def _file_patch(path: str, before: str | None, after: str) -> str:
    mode = f"new file mode {'100755' if is_executable(after) else '100644'}\n"
    head = f"diff --git a/{path} b/{path}\n" + (mode if before is None else "")
    of = "/dev/null" if before is None else f"a/{path}"
    old, new = (before or "").splitlines(keepends=True), after.splitlines(keepends=True)
    return head + "".join(unified_diff(old, new, of, f"b/{path}"))


def covered(topics: Sequence[Topic], texts: Sequence[str]) -> list[Topic]:
    """Return the topics that any of the texts is about."""
    return [topic for topic in topics if any(map(topic.is_in, texts))]
