"""What two branches of a FakeRepository have of each other, and what names a file. Pure functions, for the fake worktrees."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from bot.core.errors import Refused
from tests.fakes.repository import FakeCommit, FakeRepository


def commit_of(there: FakeRepository, name: str) -> FakeCommit:
    found = there.found(name)
    if found is None:
        raise Refused(f"there is no commit {name!r} in the repository")
    return found


def unmerged(
    there: FakeRepository,
    branch: str,
    tip: str,
    merged_into: str | None,
    merged_tip: str,
    plan: str,
) -> str:
    """Why the branch has to stay."""
    if merged_tip in there.commits and tip in there.ancestors(merged_tip):
        return ""
    if merged_into is None:
        return f"{branch} has moved since it was merged" if merged_tip else ""
    merged = commit_of(there, merged_into)
    if tip in there.ancestors(merged.sha):
        return ""
    if not plan:
        return f"{branch} has commits that are not merged"
    lost = changes(there, merged.sha, tip)
    lost = {n for n in lost if not is_below(n, plan) or lost[n] != merged.files.get(n)}
    return f"{branch} has files that are not merged: {', '.join(sorted(lost))}" if lost else ""


def parted(there: FakeRepository, one: str, other: str) -> Mapping[str, str]:
    """The files of the last commit two have in common."""
    common = there.ancestors(one) & there.ancestors(other)
    parted = next((sha for sha in reversed(there.commits) if sha in common), None)
    nothing: Mapping[str, str] = {}
    return there.commits[parted].files if parted else nothing


def changes(there: FakeRepository, one: str, other: str) -> dict[str, str | None]:
    """What `other` has made of its files since it parted from `one`."""
    before, now = parted(there, one, other), there.commits[other].files
    names = before.keys() | now.keys()
    return {name: now.get(name) for name in names if now.get(name) != before.get(name)}


def clashes(there: FakeRepository, one: str, other: str) -> tuple[str, ...]:
    """Files both have changed, in different ways."""
    ours, theirs = changes(there, other, one), changes(there, one, other)
    both = ours.keys() & theirs.keys()
    return tuple(sorted(name for name in both if ours[name] != theirs[name]))


def is_below(path: str, directory: str) -> bool:
    return path.startswith(directory.rstrip("/") + "/")


def is_named(path: str, patterns: tuple[str, ...]) -> bool:
    """As in .gitignore, as far as tests need it."""
    name = path.rpartition("/")[2]
    return any(
        matches(path, (pattern.removesuffix("/**"),))
        or ("/" not in pattern and fnmatchcase(name, pattern))
        for pattern in patterns
    )


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(
        fnmatchcase(path, pattern) or path.startswith(pattern.rstrip("/") + "/")
        for pattern in patterns
    )
