"""Worktrees in memory, beside a FakeRepository. They keep the Worktrees port: done twice is done once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from bot.domain.world import Commit, Merged, Removal, Work
from bot.errors import PortError, Refused
from tests.fakes.repository import FakeCommit, FakeRepository


@dataclass
class FakeWorktree:
    repository: FakeRepository
    branch: str
    """Empty: a scratch worktree on no branch."""
    detached: str = ""
    left: dict[str, str] = field(default_factory=dict[str, str])
    """Uncommitted files."""

    @property
    def head(self) -> str:
        return self.repository.heads[self.branch] if self.branch else self.detached


class FakeWorktrees:
    def __init__(self, *repositories: FakeRepository) -> None:
        self._repositories = {repository.path: repository for repository in repositories}
        self.standing: dict[str, FakeWorktree] = {}
        self.owned: dict[str, str] = {}
        """Branches made here: name → path."""
        self.problem: PortError | None = None
        """Raised by every call while it is set."""

    # what agents and people do

    def agent_commits(self, path: str, files: dict[str, str], message: str) -> str:
        here = self.standing[path]
        here.left = {name: text for name, text in here.left.items() if name not in files}
        return here.repository.commit(here.branch, files, message)

    def agent_leaves(self, path: str, files: dict[str, str]) -> None:
        self.standing[path].left |= files

    def vanish(self, path: str) -> None:
        """Somebody removes the directory by hand."""
        del self.standing[path]

    # the port

    async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
        there = await self._asked(repository)
        here = self.standing.get(path)
        if here is not None:
            if here.branch != branch:
                raise Refused("taken", f"The worktree {path} is on {here.branch}.")
            return here.head
        begin = _commit(there, start)
        tip = there.heads.get(branch)
        if tip not in {None, begin.sha} and self.owned.get(branch) != path:
            raise Refused("taken", f"The branch {branch} exists already.")
        if any(other.branch == branch for other in self.standing.values()):
            raise Refused("taken", f"The branch {branch} is checked out elsewhere.")
        there.heads.setdefault(branch, begin.sha)
        self.owned[branch] = path
        self.standing[path] = FakeWorktree(there, branch)
        return there.heads[branch]

    async def merge(self, path: str, branch: str, message: str) -> Merged:
        here = await self._worktree(path)
        other = _commit(here.repository, branch)
        if other.sha in here.repository.ancestors(here.head):
            return Merged(commit=here.head)
        tracked = here.repository.commits[here.head].files
        if dirt := sorted(here.left.keys() & tracked.keys()):
            raise Refused(f"the worktree has uncommitted changes ({dirt[0]})")
        return _merge(here, other.sha, message)

    async def commit_files(self, path: str, files: dict[str, str], message: str) -> str:
        here = await self._worktree(path)
        for name in files:
            if name.startswith("/") or {"..", "", ".git"} & set(name.split("/")):
                raise Refused(f"{name!r} is no path inside the worktree")
        before = here.repository.commits[here.head].files
        if any(before.get(name) != text for name, text in files.items()):
            self.agent_commits(path, files, message)
        return here.head

    async def work(self, path: str, since: str, exclude: Iterable[str] = ()) -> Work:
        here = await self._worktree(path)
        old = _commit(here.repository, since)
        before, now = old.files, here.repository.commits[here.head].files
        patterns = tuple(exclude)
        return Work(
            head=here.head,
            commits=here.repository.between(old.sha, here.head),
            changed_files=tuple(
                sorted(name for name in before.keys() & now.keys() if before[name] != now[name])
            ),
            created_files=tuple(sorted(now.keys() - before.keys())),
            deleted_files=tuple(sorted(before.keys() - now.keys())),
            uncommitted=tuple(sorted(name for name in here.left if not _matches(name, patterns))),
        )

    async def diff(self, path: str, since: str, limit: int) -> str:
        here = await self._worktree(path)
        before = _commit(here.repository, since).files
        now = here.repository.commits[here.head].files
        changed = sorted(name for name in now if now[name] != before.get(name))
        return "".join(f"+++ b/{name}\n+{now[name]}" for name in changed)[:limit]

    async def merge_all(
        self, repository: str, base_branch: str, branches: tuple[str, ...], scratch: str
    ) -> Merged:
        there = await self._asked(repository)
        tip = _branch(there, base_branch)
        others = [_branch(there, name) for name in branches]
        here = self.standing.get(scratch)
        if here is not None and here.branch:
            raise Refused("taken", f"{scratch} is no scratch worktree of the bot's.")
        if here is not None and {tip, *others} <= there.ancestors(here.head):
            return Merged(commit=here.head)
        here = self.standing[scratch] = FakeWorktree(there, "", tip)
        for name, other in zip(branches, others, strict=True):
            merged = _merge(here, other, f"Merge branch '{name}'")
            if merged.conflicts:
                return merged
        return Merged(commit=here.head)

    async def move_base(self, repository: str, base_branch: str, commit: str) -> None:
        there = await self._asked(repository)
        new, old = _commit(there, commit).sha, _branch(there, base_branch)
        if new in there.ancestors(old):
            return
        if old not in there.ancestors(new):
            raise Refused("moved", f"{base_branch} has new commits. Merge once more.")
        if base_branch == there.branch and there.changes:
            raise Refused("the main checkout has uncommitted changes")
        there.heads[base_branch] = new

    async def remove(
        self, repository: str, path: str, branch: str, merged_into: str | None
    ) -> Removal:
        there = await self._asked(repository)
        reason = self._kept(there, path, branch, merged_into)
        tip = there.heads.get(branch)
        if not reason:
            self.standing.pop(path, None)
            if tip is not None and merged_into is None:
                reason = "nothing says that it was merged: the branch is kept"
            elif branch == there.branch:
                reason = "the branch is checked out"
            elif tip is not None:
                del there.heads[branch]
                self.owned.pop(branch, None)
        return Removal(
            branch=branch,
            path=path,
            worktree_gone=path not in self.standing,
            branch_gone=branch not in there.heads,
            reason=reason,
        )

    async def remove_scratch(self, repository: str, path: str) -> None:
        await self._asked(repository)
        here = self.standing.get(path)
        if here is not None and here.branch:
            raise Refused("taken", f"{path} is no scratch worktree of the bot's.")
        self.standing.pop(path, None)

    async def log(self, repository: str, since: str, until: str) -> tuple[Commit, ...]:
        there = await self._asked(repository)
        return there.between(_commit(there, since).sha, _commit(there, until).sha)

    def _kept(self, there: FakeRepository, path: str, branch: str, merged_into: str | None) -> str:
        """Why nothing may be removed."""
        tip, here = there.heads.get(branch), self.standing.get(path)
        if tip is not None and merged_into is not None:
            merged = _commit(there, merged_into).sha
            if tip not in there.ancestors(merged):
                return f"{branch} has commits that are not merged"
        if here is not None and here.left:
            return f"uncommitted changes: {', '.join(sorted(here.left))}"
        return ""

    async def _asked(self, repository: str) -> FakeRepository:
        await asyncio.sleep(0)
        if self.problem is not None:
            raise self.problem
        if repository not in self._repositories:
            raise Refused(f"there is no repository at {repository}")
        return self._repositories[repository]

    async def _worktree(self, path: str) -> FakeWorktree:
        await asyncio.sleep(0)
        if self.problem is not None:
            raise self.problem
        if path not in self.standing:
            raise Refused(f"the worktree {path} is missing", "Recreate it, or give the task up.")
        return self.standing[path]


def _commit(there: FakeRepository, name: str) -> FakeCommit:
    found = there.found(name)
    if found is None:
        raise Refused(f"there is no commit {name!r} in the repository")
    return found


def _branch(there: FakeRepository, name: str) -> str:
    if name not in there.heads:
        raise Refused(f"there is no branch {name} in the repository")
    return there.heads[name]


def _merge(here: FakeWorktree, other: str, message: str) -> Merged:
    """File by file: who changed it since they parted wins; both in different ways is a conflict."""
    there = here.repository
    if other in there.ancestors(here.head):
        return Merged(commit=here.head)
    common = there.ancestors(here.head) & there.ancestors(other)
    parted = next((sha for sha in reversed(there.commits) if sha in common), None)
    nothing: Mapping[str, str] = {}
    before = there.commits[parted].files if parted else nothing
    ours, theirs = there.commits[here.head].files, there.commits[other].files
    changed = {n for n in before.keys() | theirs.keys() if theirs.get(n) != before.get(n)}
    clash = {n for n in changed if ours.get(n) not in {before.get(n), theirs.get(n)}}
    if clash:
        return Merged(conflicts=tuple(sorted(clash)))
    result = {name: text for name, text in ours.items() if name not in changed}
    result |= {name: theirs[name] for name in changed if name in theirs}
    commit = there.make(result, message, (here.head, other))
    if here.branch:
        there.heads[here.branch] = commit
    else:
        here.detached = commit
    return Merged(commit=commit)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(
        fnmatchcase(path, pattern) or path.startswith(pattern.rstrip("/") + "/")
        for pattern in patterns
    )
