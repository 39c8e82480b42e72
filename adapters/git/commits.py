"""Queries about commits, patches and branches. It only reads, and always passes full names to git."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from adapters.git.errors import recognised_error
from adapters.git.layout import GitCheckout, first_line, worktree_entries
from adapters.git.run import Git
from adapters.git.trust import Trust
from bot.core.errors import PortError, Refused
from bot.core.git import Branch, BranchDetails, BranchList, ChangedFile, Commit, Divergence, Work

# Commits, ancestry, and the state of a checkout.

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
STATUS_LIMIT = 4 * 1024 * 1024
NAMES_LIMIT = 256 * 1024
"""Bytes of names of the files that differ between two commits."""


class Commits:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def commit(self, at: GitCheckout, name: str) -> str:
        """Return the commit of a name (a full hash, a branch, HEAD); raise Refused if there is none."""
        found = await self.commit_or_none(at, name)
        if found is None:
            raise Refused(f"there is no commit {name!r} in the repository")
        return found

    async def commit_or_none(self, at: GitCheckout, name: str) -> str | None:
        if not name:
            return None
        answer = await self._git.read(
            *("rev-parse", "--verify", "--quiet", "--end-of-options"),
            f"{_full_ref(name)}^{{commit}}",
            at=at,
            ok=(0, 1, 128),
        )
        if answer.code and (known := recognised_error(answer.err, at)):
            raise known
        return answer.text if answer.code == 0 else None

    async def tip(self, at: GitCheckout, branch: str) -> str | None:
        return await self.commit_or_none(at, f"refs/heads/{branch}")

    async def is_ancestor(self, at: GitCheckout, newer: str, older: str) -> bool:
        """Whether `older` is `newer` or an ancestor of it."""
        answer = await self._git.read(
            *("merge-base", "--is-ancestor", older, newer), at=at, ok=(0, 1)
        )
        return answer.code == 0

    async def merge_base(self, at: GitCheckout, one: str, other: str) -> str | None:
        """Return the merge base of two commits, or None."""
        answer = await self._git.read("merge-base", one, other, at=at, ok=(0, 1))
        return answer.text if answer.code == 0 else None

    async def commits(self, at: GitCheckout, since: str, until: str) -> tuple[Commit, ...]:
        answer = await self._git.read("log", "-z", "--format=%H %s", f"{since}..{until}", at=at)
        entries = answer.out.decode("utf-8", "replace").split("\0")
        lines = (entry.partition(" ") for entry in entries if entry)
        return tuple(Commit(sha=sha, subject=subject.strip()) for sha, _, subject in lines)

    async def apart(self, at: GitCheckout, one: str, other: str) -> Divergence:
        one, other = await self.commit(at, one), await self.commit(at, other)
        told = await self._git.read(
            "rev-list", "--count", "--left-right", f"{one}...{other}", at=at
        )
        behind, ahead = map(int, told.text.split())
        differ = await self._git.read(
            *("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty"),
            *(one, other),
            at=at,
            limit=NAMES_LIMIT,
        )
        files = differ.fields[: -1 if differ.truncated else None]
        return Divergence(ahead=ahead, behind=behind, files=tuple(map(readable, files)))

    async def uncommitted_paths(
        self, at: GitCheckout, *, tracked_only: bool = False
    ) -> tuple[str, ...]:
        """Return the paths with uncommitted changes, including untracked files."""
        answer = await self._git.read(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"),
            "--untracked-files=no" if tracked_only else "--untracked-files=all",
            at=at,
            limit=STATUS_LIMIT,
        )
        return tuple(readable(entry[3:]) for entry in answer.fields)

    async def hidden_paths(self, at: GitCheckout) -> tuple[str, ...]:
        """Return tracked files that git was told to ignore, so that no status shows their changes.

        Files that do not exist, as in a sparse checkout, are left out.
        """
        answer = await self._git.read("ls-files", "-v", "-z", at=at)
        return tuple(_hidden(at.top, answer.fields))

    async def ignored_paths(self, at: GitCheckout) -> tuple[str, ...]:
        """Return the ignored paths of a checkout; a directory ignored as a whole is one entry."""
        answer = await self._git.read(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"),
            *("--untracked-files=normal", "--ignored=traditional"),
            at=at,
        )
        return tuple(readable(entry[3:]) for entry in answer.fields if entry.startswith("!! "))

    async def untracked_paths(self, at: GitCheckout) -> tuple[str, ...]:
        """Return the paths that are neither tracked nor ignored; a directory with nothing else is one entry."""
        answer = await self._git.read(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"),
            "--untracked-files=normal",
            at=at,
            limit=STATUS_LIMIT,
        )
        return tuple(entry[3:] for entry in answer.fields if entry.startswith("?? "))

    async def work(self, at: GitCheckout, since: str, exclude: Iterable[str]) -> Work:
        head = await self.commit(at, "HEAD")
        changes = await self._changes(at, since, head)
        patterns = tuple(exclude)
        dirt = dict.fromkeys((*await self.uncommitted_paths(at), *await self.hidden_paths(at)))
        return Work(
            head=head,
            commits=await self.commits(at, since, head),
            changed_files=tuple(path for kind, path in changes if kind not in "AD"),
            created_files=tuple(path for kind, path in changes if kind == "A"),
            deleted_files=tuple(path for kind, path in changes if kind == "D"),
            uncommitted=tuple(path for path in dirt if not _matches(path, patterns)),
        )

    async def changed_paths(self, at: GitCheckout, old: str, new: str) -> list[tuple[str, str]]:
        """Return kind (A, D, M, T) and exact path of everything that differs between two commits."""
        return await self._changes(at, old, new, raw=True)

    async def _changes(
        self, at: GitCheckout, old: str, new: str, *, raw: bool = False
    ) -> list[tuple[str, str]]:
        answer = await self._git.read(
            *("diff-tree", "-r", "-z", "--no-renames", "--name-status", "--no-ext-diff"),
            *("--ignore-submodules=dirty", old, new),
            at=at,
        )
        fields = answer.fields
        pairs = zip(fields[::2], fields[1::2], strict=True)
        return [(kind, path if raw else readable(path)) for kind, path in pairs]


def _hidden(top: Path, listed: Iterable[str]) -> Iterator[str]:
    # S marks files to skip; small letters mark files assumed unchanged.
    for entry in listed:
        if (entry[0] == "S" or entry[0].islower()) and os.path.lexists(top / entry[2:]):
            yield readable(entry[2:])


def _full_ref(name: str) -> str:
    # Always the full ref: git would prefer a tag or a planted file of that name to the branch.
    if name == "HEAD" or name.startswith("refs/") or _HASH.fullmatch(name):
        return name
    return f"refs/heads/{name}"


def readable(path: str) -> str:
    """Return a path for people and state files, with invalid UTF-8 replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether the path matches a pattern: a path, a directory, or a path with * and ?."""
    return any(
        fnmatchcase(path, pattern) or path.startswith(pattern.rstrip("/") + "/")
        for pattern in patterns
    )


# All branches of a repository, whoever created them, for people who look around. It works even where a checkout is
# broken.

MAX_BRANCHES = 60
"""The most branches compared with the base; those of agents are always among them."""
AGENT_PREFIX = "agent/"
_AT_ONCE = 4
_MOST_COMMITS = 20
_MOST_FILES = 50
_HEADS = "ref: refs/heads/"
_FORMAT = "%(refname:lstrip=2)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)"


class _BranchLine(NamedTuple):
    name: str
    commit: str
    at: datetime
    subject: str


class Branches:
    def __init__(self, git: Git, trust: Trust) -> None:
        self._git = git
        self._trust = trust
        self._commit_reader = Commits(git)
        self._patches = Patches(git)

    async def listed(self, main: GitCheckout) -> BranchList:
        lines = await self._lines(main)
        agents = [line for line in lines if line.name.startswith(AGENT_PREFIX)]
        others = [line for line in lines if not line.name.startswith(AGENT_PREFIX)]
        shown = [*agents, *others[: max(0, MAX_BRANCHES - len(agents))]]
        shown.sort(key=lambda line: line.at, reverse=True)
        where = worktrees_by_branch(main)
        turn = asyncio.Semaphore(_AT_ONCE)

        async def held_against_base(line: _BranchLine) -> Branch:
            async with turn:
                return await self._branch(main, line, where)

        branches = await asyncio.gather(*map(held_against_base, shown))
        return BranchList(
            repository=str(main.top),
            base=base_branch(main),
            branches=tuple(branches),
            more=len(lines) - len(shown),
        )

    async def details(self, main: GitCheckout, name: str) -> BranchDetails:
        line = next((one for one in await self._lines(main, name) if one.name == name), None)
        if line is None:
            raise Refused(f"there is no branch {name} here", "branches lists them.")
        branch = await self._branch(main, line, worktrees_by_branch(main))
        head = await self._commit_reader.commit(main, "HEAD")
        parted = await self._commit_reader.merge_base(main, head, line.commit) or ""
        lost, only_here = await self.unmerged_commits(main, name, line.commit)
        return BranchDetails(
            repository=str(main.top),
            branch=branch,
            base=base_branch(main),
            author=await self._log_field(main, line.commit, "%an"),
            upstream=await self._upstream(main, name),
            parted=parted,
            commits=await self._commits(main, "HEAD.." + line.commit),
            files=await self._files(main, parted, line.commit) if parted else (),
            uncommitted=await self._uncommitted(main, branch.worktree),
            lost=lost,
            only_here=only_here,
        )

    async def tip(self, main: GitCheckout, name: str) -> str | None:
        """Return the commit of the branch with exactly this name, or None."""
        lines = await self._lines(main, name)
        return next((line.commit for line in lines if line.name == name), None)

    async def patch(self, main: GitCheckout, name: str, limit: int) -> str:
        """Return the patch of the branch since its merge base."""
        tip = await self._commit_reader.commit(main, f"refs/heads/{name}")
        parted = await self._commit_reader.merge_base(
            main, await self._commit_reader.commit(main, "HEAD"), tip
        )
        return await self._patches.patch(main, parted, tip, limit) if parted else ""

    async def unmerged_commits(
        self, main: GitCheckout, name: str, tip: str
    ) -> tuple[int, tuple[Commit, ...]]:
        """Return the number of commits reachable only from this branch, and the newest of them."""
        others = (f"--exclude={name}", "--branches", "--remotes", "--tags")
        count = await self._git.read("rev-list", "--count", tip, "--not", *others, at=main)
        lost = int(count.text)
        return lost, await self._commits(main, tip, "--not", *others) if lost else ()

    async def _lines(self, main: GitCheckout, name: str = "") -> list[_BranchLine]:
        answer = await self._git.read(
            *("for-each-ref", "--sort=-committerdate", f"--format={_FORMAT}"),
            f"refs/heads/{name}",
            at=main,
        )
        # not splitlines: a name may contain characters that Python takes for a line end
        lines = (line.split("\0") for line in answer.out.decode("utf-8", "replace").split("\n"))
        return [
            _BranchLine(one[0], one[1], commit_time(one[2]), one[3])
            for one in lines
            if len(one) == 4 and one[2].isdigit()
        ]

    async def _branch(self, main: GitCheckout, line: _BranchLine, where: dict[str, str]) -> Branch:
        counted = await self._git.read(
            *("rev-list", "--left-right", "--count", f"HEAD...{line.commit}"), at=main
        )
        behind, ahead = (int(number) for number in counted.text.split())
        return Branch(
            name=line.name,
            commit=line.commit,
            at=line.at,
            subject=line.subject,
            ahead=ahead,
            behind=behind,
            worktree=where.get(line.name, ""),
        )

    async def _commits(self, main: GitCheckout, *which: str) -> tuple[Commit, ...]:
        answer = await self._git.read(
            *("log", "-z", f"--max-count={_MOST_COMMITS}", "--format=%H %s"), *which, at=main
        )
        entries = answer.out.decode("utf-8", "replace").split("\0")
        lines = (entry.partition(" ") for entry in entries if entry)
        return tuple(Commit(sha=sha, subject=subject.strip()) for sha, _, subject in lines)

    async def _files(self, main: GitCheckout, old: str, new: str) -> tuple[ChangedFile, ...]:
        answer = await self._git.read(
            *("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff"),
            *("--no-textconv", "--ignore-submodules=dirty", old, new),
            at=main,
        )
        counted = (entry.split("\t", 2) for entry in answer.fields[:_MOST_FILES])
        return tuple(
            ChangedFile(path=readable(path), added=_number(added), deleted=_number(deleted))
            for added, deleted, path in counted
        )

    async def _uncommitted(self, main: GitCheckout, worktree: str) -> int | None:
        # Other worktrees of people are not inspected, because their own configuration could run code.
        if not worktree:
            return None
        try:
            own = worktree == str(main.top)
            at = main if own else await self._trust.checked_worktree(main, Path(worktree))
            return len(await self._commit_reader.uncommitted_paths(at))
        except PortError:
            return None

    async def _log_field(self, main: GitCheckout, commit: str, what: str) -> str:
        return (await self._git.read("log", "-1", f"--format={what}", commit, at=main)).text

    async def _upstream(self, main: GitCheckout, name: str) -> str:
        answer = await self._git.read(
            *("for-each-ref", "--format=%(upstream:short)", f"refs/heads/{name}"), at=main
        )
        return answer.text


def base_branch(main: GitCheckout) -> str:
    """Return the branch checked out in the main checkout; empty if its head is detached."""
    head = first_line(main.git_dir / "HEAD")
    return head.removeprefix(_HEADS) if head.startswith(_HEADS) else ""


def worktrees_by_branch(main: GitCheckout) -> dict[str, str]:
    """Return the worktree path by branch, including branches that a rebase or bisect will return to."""
    where = {entry.branch: entry.path for entry in worktree_entries(main) if entry.branch}
    for entry in worktree_entries(main):
        where |= dict.fromkeys(_branch_under_way(entry.git_dir), entry.path)
    where |= dict.fromkeys(_branch_under_way(main.git_dir), str(main.top))
    if base := base_branch(main):
        where[base] = str(main.top)
    return where


def _branch_under_way(git_dir: Path) -> Iterable[str]:
    for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
        found = first_line(git_dir / name).removeprefix("refs/heads/")
        if found:
            yield found


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None


# The patch between two commits. Text is always shown as text: an attribute or setting of the repository can declare any
# file binary, and would hide its changes from whoever reads the patch.

MAX_HIDDEN_FILES = 200
"""The most files declared binary that are inspected. Real binaries cost an inspection, too."""
_PATCH_COMMAND = (
    *("diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color"),
    *("--submodule=short", "--ignore-submodules=dirty"),
)


class Patches:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def patch(self, at: GitCheckout, old: str, new: str, limit: int) -> str:
        """Return at most `limit` characters: first what git shows by default, then the files declared binary."""
        # a character is four bytes at most
        room = max(limit, 0) * 4 + 1
        shown = (await self._git.read(*_PATCH_COMMAND, old, new, at=at, limit=room)).out
        for path in await self._called_binary(at, old, new) if len(shown) < room else ():
            shown += await self._as_text(at, old, new, path, room - len(shown))
            if len(shown) >= room:
                break
        return shown.decode("utf-8", "replace")[: max(limit, 0)]

    async def _called_binary(self, at: GitCheckout, old: str, new: str) -> list[str]:
        answer = await self._git.read(
            *("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff"),
            *("--no-textconv", "--ignore-submodules=dirty", old, new),
            at=at,
        )
        counted = (entry.split("\t", 2) for entry in answer.fields)
        return [one[2] for one in counted if one[:2] == ["-", "-"]][:MAX_HIDDEN_FILES]

    async def _as_text(self, at: GitCheckout, old: str, new: str, path: str, room: int) -> bytes:
        """Return the patch of the file as text; empty if it really is binary."""
        answer = await self._git.read(
            *_PATCH_COMMAND, "--text", old, new, "--", path, at=at, limit=room
        )
        return b"" if b"\0" in answer.out else answer.out


# When files were last changed, as of the checked-out commit, for a limited number of files.

MAX_DATED_FILES = 100
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


async def last_changed(
    git: Git, main: GitCheckout, files: Iterable[str]
) -> dict[str, datetime | None]:
    """Return the time of the last change per file; None if there is no such file."""
    asked = [name for name in dict.fromkeys(files) if _is_a_path(name)][:MAX_DATED_FILES]
    lines = "".join(f"HEAD:{name}\n" for name in asked)
    answer = await git.read(*("cat-file", "--batch-check"), at=main, stdin=lines.encode())
    found = [one.endswith(" missing") for one in answer.text.splitlines()]
    missing = {name for name, gone in zip(asked, found, strict=False) if gone}
    return {
        name: None if name in missing else await _last_change(git, main, name) for name in asked
    }


def commit_time(seconds: str) -> datetime:
    """Convert git's commit time, which its author can set to anything; a time too far in the future is limited."""
    return datetime.fromtimestamp(min(int(seconds), int(_LATEST.timestamp())), UTC)


async def _last_change(git: Git, main: GitCheckout, name: str) -> datetime | None:
    answer = await git.read(
        *("log", "-1", "--format=%ct", "HEAD", "--", name), at=main, ok=(0, 128)
    )
    return commit_time(answer.text) if answer.code == 0 and answer.text else None


def _is_a_path(name: str) -> bool:
    """Whether the name is a printable path inside the repository."""
    parts = name.split("/")
    return bool(name) and name.isprintable() and name[0] != "/" and ".." not in parts
