"""A repository in memory: commits, branches and the main checkout as small structures. It keeps the Repository port."""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.core.context.excerpts import RequestContext, compose
from bot.core.context.outline import names
from bot.core.context.ranking import SourceFile, rank
from bot.core.context.words import words
from bot.core.errors import Away, PortError, Refused
from bot.core.git import (
    Base,
    Branch,
    BranchDetails,
    BranchList,
    BuildSystem,
    ChangedFile,
    Checkout,
    Commit,
    Divergence,
    Scan,
)
from bot.core.looks import Look, LookTool, excerpt, hits_found, listed, missing, outlined

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class FakeCommit:
    sha: str
    parents: tuple[str, ...]
    files: Mapping[str, str]
    subject: str


@dataclass
class FakeRepository:
    """One repository with one commit. What people do to it are ordinary methods, the port's are coroutines."""

    path: str = "/repository"
    branch: str = "main"
    files: Mapping[str, str] = field(default_factory=lambda: {"README.md": "hello\n"})
    test_command: str = "make test"
    where: Callable[[], Mapping[str, str]] = dict
    """Which branch is checked out in which worktree."""
    started: tuple[str, ...] = ()
    """What its git configuration has git run, as it is told."""
    problem: PortError | None = None
    """Raised by every call of the port while it is set."""

    def __post_init__(self) -> None:
        self.commits: dict[str, FakeCommit] = {}
        self.heads: dict[str, str] = {}
        self.origin: dict[str, str] = {}
        """Where the remote `origin` has its branches, if it can be reached."""
        self.changes: dict[str, str] = {}
        """Uncommitted files of the main checkout."""
        self.ignored: dict[str, str] = {}
        """Files of the main checkout that git ignores."""
        self.hidden: set[str] = set()
        """Folders of the main checkout that no status shows."""
        self.ages: dict[str, datetime] = {}
        """When files were changed last, where a test wants it to count."""
        self.commit(self.branch, dict(self.files), "first")

    # what people do

    def commit(
        self, branch: str, files: Mapping[str, str], subject: str, *more_parents: str
    ) -> str:
        """A commit on a branch: `files` are laid over what is there."""
        old = self.heads.get(branch)
        nothing: Mapping[str, str] = {}
        before = self.commits[old].files if old else nothing
        self.heads[branch] = self.make(
            {**before, **files}, subject, (old,) if old else (), more_parents
        )
        return self.heads[branch]

    def make(
        self,
        files: Mapping[str, str],
        subject: str,
        parents: tuple[str, ...],
        more_parents: tuple[str, ...] = (),
    ) -> str:
        """A commit on no branch."""
        everyone = (*parents, *more_parents)
        told = repr((len(self.commits), everyone, sorted(files.items()), subject))
        sha = hashlib.sha1(told.encode(), usedforsecurity=False).hexdigest()
        self.commits[sha] = FakeCommit(sha, everyone, dict(files), subject)
        return sha

    # the port

    async def base(self, path: str) -> Base:
        await self._asked(path)
        if "agent" in self.heads:
            raise Refused(
                "the repository has a branch named agent, so no branch agent/… can be made"
            )
        return Base(
            repository=self.path,
            branch=self.branch,
            commit=self.heads[self.branch],
            uncommitted=len(self.changes),
        )

    async def read(self, path: str, commit: str, names: tuple[str, ...]) -> dict[str, str]:
        await self._asked(path)
        found = self.found(commit)
        if found is None:
            raise Refused(f"the commit {commit} is not in the repository")
        return {name: found.files[name] for name in names if name in found.files}

    async def top(self, path: str) -> str:
        await self._asked(path)
        return self.path

    async def require(self, path: str, commit: str) -> None:
        await self._asked(path)
        if commit not in self.commits:
            raise Away(f"repository not found at {path}: another one stands there")

    async def last_changed(self, path: str, files: Iterable[str]) -> Mapping[str, datetime | None]:
        await self._asked(path)
        there = self.commits[self.heads[self.branch]].files
        return {name: self.ages.get(name, EPOCH) if name in there else None for name in files}

    async def scan(self, path: str, commit: str) -> Scan:
        await self._asked(path)
        found = self.found(commit)
        if found is None:
            raise Refused(f"the commit {commit} is not in the repository")
        return Scan(
            commit=commit,
            conventions=found.files.get("CLAUDE.md", ""),
            directory_tree="\n".join(sorted(found.files)),
            build_system=BuildSystem.MAKE if self.test_command else BuildSystem.OTHER,
            test_command=self.test_command,
            files=len(found.files),
        )

    async def find_context(
        self, path: str, commit: str, request: str, tokens: int
    ) -> RequestContext:
        await self._asked(path)
        found = self.found(commit)
        if found is None:
            raise Refused(f"the commit {commit} is not in the repository")
        files = [
            SourceFile(
                name, f" {' '.join(stem for one in names(text, name) for stem in words(one))} "
            )
            for name, text in found.files.items()
        ]
        ranked = rank(request, files, [])
        return compose(request, commit, ranked, [], found.files, tokens=tokens, searched=len(files))

    async def look(self, path: str, commit: str, look: Look) -> str:
        await self._asked(path)
        found = self.found(commit)
        if found is None:
            raise Refused(f"the commit {commit} is not in the repository")
        files = found.files
        match look.tool:
            case LookTool.LIST:
                return listed(look.path, files)
            case LookTool.SEARCH:
                lines = [
                    f"{name}:{number}: {line.strip()}"
                    for name, text in sorted(files.items())
                    for number, line in enumerate(text.splitlines(), 1)
                    if look.text in line
                ]
                return hits_found(look.text, lines, [])
            case LookTool.OUTLINE | LookTool.READ | LookTool.TESTS if look.path not in files:
                return missing(look.path, files)
            case LookTool.OUTLINE:
                return outlined(look.path, files[look.path])
            case LookTool.READ:
                return excerpt(look, files[look.path])
            case LookTool.TESTS:
                return f"No test is known to change together with {look.path}."
            case LookTool.HISTORY:
                return "No commit was found."

    async def names_known(self, path: str, commit: str, names: Collection[str]) -> frozenset[str]:
        await self._asked(path)
        found = self.found(commit)
        text = "\n".join(found.files.values()) if found else ""
        return frozenset(name for name in names if re.search(rf"\b{re.escape(name)}\b", text))

    async def branches(self, path: str) -> tuple[str, ...]:
        await self._asked(path)
        return tuple(sorted(self.heads))

    async def branch_list(self, path: str) -> BranchList:
        await self._asked(path)
        branches = sorted(map(self._branch, self.heads), key=lambda one: one.at, reverse=True)
        return BranchList(repository=self.path, base=self.branch, branches=tuple(branches))

    async def branch_details(self, path: str, name: str) -> BranchDetails:
        await self._asked(path)
        if name not in self.heads:
            raise Refused(f"there is no branch {name} here", "branches lists them.")
        base, tip = self.heads[self.branch], self.heads[name]
        before, now = self.commits[base].files, self.commits[tip].files
        changed = sorted(n for n in {*before, *now} if before.get(n) != now.get(n))
        lost = self.only_on(name)
        return BranchDetails(
            repository=self.path,
            branch=self._branch(name),
            base=self.branch,
            author="Person",
            parted=base,
            commits=self.between(base, tip),
            files=tuple(ChangedFile(path=n, added=1, deleted=0) for n in changed),
            uncommitted=len(self.changes) if name == self.branch else None,
            lost=len(lost),
            only_here=lost[:20],
        )

    async def branch_patch(self, path: str, name: str, limit: int) -> str:
        found = await self.branch_details(path, name)
        return "".join(f"+++ b/{file.path}\n+new\n" for file in found.files)[:limit]

    async def patch(self, path: str, since: str, until: str, limit: int) -> str:
        await self._asked(path)
        for name in (since, until):
            if name not in self.commits:
                raise Refused(f"there is no commit {name!r} in the repository")
        before, now = self.commits[since].files, self.commits[until].files
        changed = sorted(n for n in {*before, *now} if now.get(n) != before.get(n))
        return "".join(git_patch(n, before.get(n), now.get(n)) for n in changed)[:limit]

    async def tip(self, path: str, branch: str) -> str:
        await self._asked(path)
        if branch not in self.heads:
            raise Refused(f"there is no branch {branch} any more")
        return self.heads[branch]

    async def commit_exists(self, path: str, commit: str) -> bool:
        await self._asked(path)
        return commit in self.commits

    async def programs(self, path: str) -> tuple[str, ...]:
        await self._asked(path)
        return self.started

    async def apart(self, path: str, one: str, other: str) -> Divergence:
        await self._asked(path)
        before, now = self.found(one), self.found(other)
        if before is None or now is None:
            raise Refused(f"there is no commit {one!r} or {other!r} in the repository")
        names = {*before.files, *now.files}
        return Divergence(
            ahead=len(self.between(before.sha, now.sha)),
            behind=len(self.between(now.sha, before.sha)),
            files=tuple(sorted(n for n in names if before.files.get(n) != now.files.get(n))),
        )

    async def origin_tip(self, path: str, branch: str) -> str:
        await self._asked(path)
        return self.origin.get(branch, "")

    async def checkout(self, path: str) -> Checkout:
        await self._asked(path)
        changed = tuple(f"{name}:{_mark(text)}" for name, text in sorted(self.changes.items()))
        return Checkout(branch=self.branch, commit=self.heads[self.branch], changed=changed)

    # for the fake worktrees

    def found(self, name: str) -> FakeCommit | None:
        """A commit by its hash or by the name of a branch."""
        return self.commits.get(self.heads.get(name, name))

    def ancestors(self, sha: str) -> set[str]:
        """The commit and all that came before it."""
        seen: set[str] = set()
        waiting = [sha]
        while waiting:
            here = waiting.pop()
            if here not in seen:
                seen.add(here)
                waiting += self.commits[here].parents
        return seen

    def only_on(self, name: str) -> tuple[Commit, ...]:
        """What no other branch has."""
        others = [self.ancestors(tip) for branch, tip in self.heads.items() if branch != name]
        kept = {sha for reached in others for sha in reached}
        tip = self.heads[name]
        return tuple(
            Commit(sha=sha, subject=self.commits[sha].subject)
            for sha in reversed(self.commits)
            if sha in self.ancestors(tip) - kept
        )

    def _branch(self, name: str) -> Branch:
        base, tip = self.heads[self.branch], self.heads[name]
        own = {self.branch: self.path}
        return Branch(
            name=name,
            commit=tip,
            at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=[*self.commits].index(tip)),
            subject=self.commits[tip].subject,
            ahead=len(self.between(base, tip)),
            behind=len(self.between(tip, base)),
            worktree={**self.where(), **own}.get(name, ""),
        )

    def between(self, since: str, until: str) -> tuple[Commit, ...]:
        """What `until` has and `since` has not, newest first."""
        new = self.ancestors(until) - self.ancestors(since)
        order = [sha for sha in reversed(self.commits) if sha in new]
        return tuple(Commit(sha=sha, subject=self.commits[sha].subject) for sha in order)

    async def _asked(self, path: str) -> None:
        await asyncio.sleep(0)
        if self.problem is not None:
            raise self.problem
        if path != self.path and not path.startswith(f"{self.path}/"):
            raise Refused(f"{path} is not inside a git repository")


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def git_patch(name: str, before: str | None, now: str | None) -> str:
    """What git shows of a file that was changed, made or removed."""
    old, new = ((text or "").splitlines() for text in (before, now))
    kind = "new" if before is None else "deleted" if now is None else ""
    modes = [f"{kind} file mode 100644"] if kind else []
    heads = ["--- /dev/null" if before is None else f"--- a/{name}"]
    heads += ["+++ /dev/null" if now is None else f"+++ b/{name}"]
    hunks = [*difflib.unified_diff(old, new, lineterm="")][2:]
    lines = [f"diff --git a/{name} b/{name}", *modes, *(heads if hunks else ()), *hunks]
    return "".join(f"{line}\n" for line in lines)
