"""Worktrees in memory, beside a FakeRepository. They keep the Worktrees port: done twice is done once."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Collection, Iterable, Mapping

from adapters.git.layout import LOCK_FILES
from bot.core.errors import Lost, PortError, Refused
from bot.core.git import Collision, Commit, Merged, Removal, Work
from tests.fakes.histories import clashes, commit_of, is_named, matches, unmerged
from tests.fakes.repository import FakeRepository, git_patch
from tests.fakes.worktree import FakeWorktree


class FakeWorktrees:
    def __init__(self, *repositories: FakeRepository) -> None:
        self._repositories = {repository.path: repository for repository in repositories}
        self.standing: dict[str, FakeWorktree] = {}
        self.owned: dict[str, str] = {}
        """Branches made here: name → path."""
        self.vanished: dict[str, FakeWorktree] = {}
        """Removed by hand, not by `remove`."""
        self.problem: PortError | None = None
        """Raised by every call while it is set."""
        for repository in repositories:
            repository.where = lambda: {
                here.branch: path for path, here in self.standing.items() if here.branch
            }

    # what agents and people do

    def agent_commits(self, path: str, files: dict[str, str], message: str) -> str:
        here = self.standing[path]
        here.left = {name: text for name, text in here.left.items() if name not in files}
        return here.repository.commit(here.branch, files, message)

    def agent_leaves(self, path: str, files: dict[str, str]) -> None:
        self.standing[path].left |= files

    def vanish(self, path: str) -> None:
        """Somebody removes the directory by hand."""
        self.vanished[path] = self.standing.pop(path)

    # the port

    async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
        there = await self._asked(repository)
        if known := self.standing.get(path) or self.vanished.get(path):
            known.require_branch()
        here = self.standing.get(path)
        if here is not None:
            if here.branch != branch:
                raise Refused("taken", f"The worktree {path} is on {here.branch}.")
            return here.head
        begin = commit_of(there, start)
        tip = there.heads.get(branch)
        if tip not in {None, begin.sha} and self.owned.get(branch) != path:
            raise Refused("taken", f"The branch {branch} exists already.")
        if any(other.branch == branch for other in self.standing.values()):
            raise Refused("taken", f"The branch {branch} is checked out elsewhere.")
        there.heads.setdefault(branch, begin.sha)
        self.owned[branch] = path
        before = self.vanished.pop(path, None)
        origin = before.origin if before and before.branch == branch else begin.sha
        self.standing[path] = FakeWorktree(there, branch, origin=origin)
        return there.heads[branch]

    async def hide(self, repository: str, folder: str) -> None:
        there = await self._asked(repository)
        there.hidden.add(folder)

    async def copy_ignored(
        self, repository: str, path: str, patterns: tuple[str, ...]
    ) -> tuple[str, ...]:
        there = await self._asked(repository)
        here = await self._worktree(path)
        taken = {*here.copied, *here.left, *there.commits[here.head].files}
        names = sorted(n for n in there.ignored if n not in taken and is_named(n, patterns))
        here.copied |= {name: there.ignored[name] for name in names}
        return tuple(names)

    async def untracked(self, path: str) -> tuple[str, ...]:
        here = await self._worktree(path)
        tracked = here.repository.commits[here.head].files
        tops = {name.partition("/")[0] + "/" for name in tracked if "/" in name}
        entries = (
            top + slash if slash and top + slash not in tops else name
            for name in here.left
            if name not in tracked
            for top, slash, _ in (name.partition("/"),)
        )
        return tuple(sorted({*entries}))

    async def ignore_new_files(self, path: str, before: tuple[str, ...]) -> None:
        here = await self._worktree(path)
        for entry in {*await self.untracked(path)}:
            if entry in before and not entry.endswith(("node_modules/", ".venv/", "venv/")):
                continue
            found = [name for name in here.left if name == entry or name.startswith(entry)]
            gone = {name: here.left.pop(name) for name in found}
            if entry.rpartition("/")[2] not in LOCK_FILES:
                here.copied |= gone

    async def collisions(self, repository: str, branches: tuple[str, ...]) -> tuple[Collision, ...]:
        there = await self._asked(repository)
        known = [name for name in dict.fromkeys(branches) if name in there.heads]
        pairs = itertools.combinations(known, 2)
        found = {pair: clashes(there, *(there.heads[name] for name in pair)) for pair in pairs}
        return tuple(
            Collision(one=one, other=other, files=files)
            for (one, other), files in found.items()
            if files
        )

    async def relink(self, former: str, repository: str) -> None:
        await asyncio.sleep(0)
        there = next(one for one in self._repositories.values() if one.path == repository)
        self._repositories[repository] = there

        def here(path: str) -> str:
            return path.replace(f"{former}/", f"{repository}/", 1)

        self.standing = {here(path): worktree for path, worktree in self.standing.items()}
        self.vanished = {here(path): worktree for path, worktree in self.vanished.items()}
        self.owned = {name: here(path) for name, path in self.owned.items()}

    async def import_commit(self, repository: str, source: str, commit: str) -> None:
        there, elsewhere = await self._asked(repository), await self._asked(source)
        if commit not in elsewhere.commits:
            raise Refused(f"there is no commit {commit!r} in {source}")
        wanted = elsewhere.ancestors(commit) - there.commits.keys()
        there.commits |= {sha: it for sha, it in elsewhere.commits.items() if sha in wanted}

    async def let_go(self, repository: str, keep: frozenset[str]) -> None:
        """In memory nothing is ever tidied away."""
        await self._asked(repository)

    async def with_squashed_history(
        self, repository: str, commit: str, squashed: tuple[str, ...]
    ) -> str:
        there = await self._asked(repository)
        made = commit_of(there, commit)
        known = there.ancestors(made.sha)
        parents = tuple(one for one in squashed if commit_of(there, one).sha not in known)
        if not parents:
            return made.sha
        same = (one.sha for one in there.commits.values() if one.parents == (commit, *parents))
        return next(same, None) or there.make(made.files, "what was squashed", (commit, *parents))

    async def merge(self, path: str, branch: str, message: str, *, plan: str = "") -> Merged:
        here = await self._worktree(path)
        other = commit_of(here.repository, branch)
        if other.sha in here.repository.ancestors(here.head):
            return Merged(commit=here.head)
        tracked = here.repository.commits[here.head].files
        if dirt := sorted(here.left.keys() & tracked.keys()):
            raise Refused(f"the worktree has uncommitted changes ({dirt[0]})")
        return here.merge(other.sha, message, plan)

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
        old = commit_of(here.repository, since)
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
            uncommitted=tuple(sorted(name for name in here.left if not matches(name, patterns))),
        )

    async def changed(self, path: str, since: str, names: tuple[str, ...]) -> dict[str, str]:
        here = await self._worktree(path)
        before = commit_of(here.repository, since).files
        now = {**commit_of(here.repository, here.head).files, **here.copied, **here.left}
        return {name: now.get(name, "gone") for name in names if now.get(name) != before.get(name)}

    async def diff(self, path: str, since: str, limit: int, until: str = "HEAD") -> str:
        here = await self._worktree(path)
        before = commit_of(here.repository, since).files
        now = commit_of(here.repository, here.head if until == "HEAD" else until).files
        changed = sorted(n for n in {*before, *now} if now.get(n) != before.get(n))
        return "".join(git_patch(n, before.get(n), now.get(n)) for n in changed)[:limit]

    async def merge_all(
        self, repository: str, base_branch: str, branches: Mapping[str, str], scratch: str
    ) -> Merged:
        there = await self._asked(repository)
        tip = _branch(there, base_branch)
        others = [_branch(there, name) for name in branches]
        if moved := [
            name for name, at in zip(branches, others, strict=True) if branches[name] != at
        ]:
            raise Refused("moved", f"{moved[0]} stands elsewhere by now. Look at it again.")
        here = self.standing.get(scratch)
        if here is not None and here.branch:
            raise Refused("taken", f"{scratch} is no scratch worktree of the bot's.")
        if here is not None and {tip, *others} <= there.ancestors(here.head):
            return Merged(commit=here.head)
        here = self.standing[scratch] = FakeWorktree(there, "", tip)
        for name, other in zip(branches, others, strict=True):
            merged = here.merge(other, f"Merge branch '{name}'")
            if merged.conflicts:
                return merged
        return Merged(commit=here.head)

    async def move_base(self, repository: str, base_branch: str, commit: str) -> None:
        there = await self._asked(repository)
        new, old = commit_of(there, commit).sha, _branch(there, base_branch)
        if new in there.ancestors(old):
            return
        if old not in there.ancestors(new):
            raise Refused("moved", f"{base_branch} has new commits. Merge once more.")
        if base_branch == there.branch and there.changes:
            raise Refused("the main checkout has uncommitted changes")
        there.heads[base_branch] = new

    async def remove(
        self,
        repository: str,
        path: str,
        branch: str,
        merged_into: str | None,
        merged_tip: str = "",
        *,
        plan: str = "",
    ) -> Removal:
        there = await self._asked(repository)
        tip = there.heads.get(branch)
        reason = unmerged(there, branch, tip, merged_into, merged_tip, plan) if tip else ""
        reason = reason or self._dirt(path)
        if not reason:
            self.standing.pop(path, None)
            self.vanished.pop(path, None)
            if tip is not None and merged_into is None and not merged_tip:
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

    async def delete_branch(
        self, repository: str, branch: str, commit: str, lost: int, *, worktree: str = ""
    ) -> None:
        there = await self._asked(repository)
        if branch not in there.heads:
            return
        if there.heads[branch] != commit:
            raise Refused(f"{branch} has moved since you looked", "Look at it again.")
        if len(there.only_on(branch)) > lost:
            raise Refused(f"commits of {branch} are nowhere else by now", "Look at it again.")
        where = {**there.where(), there.branch: there.path}.get(branch, "")
        if where and where != worktree:
            raise Refused(f"{branch} is checked out in {where}", "Check something else out there.")
        if where and (dirt := self._dirt(where)):
            raise Refused(f"its worktree {where} cannot go: {dirt}")
        self.standing.pop(where, None)
        self.owned.pop(branch, None)
        del there.heads[branch]

    async def scratch(
        self,
        repository: str,
        path: str,
        commit: str,
        *,
        restored: Collection[str] = (),
        since: str = "",
    ) -> None:
        await self.remove_scratch(repository, path)
        there = await self._asked(repository)
        here = self.standing[path] = FakeWorktree(there, "", commit_of(there, commit).sha)
        here.restored = dict.fromkeys(restored, since)

    async def remove_scratch(self, repository: str, path: str) -> None:
        await self._asked(repository)
        here = self.standing.get(path)
        if here is not None and here.branch:
            raise Refused("taken", f"{path} is no scratch worktree of the bot's.")
        self.standing.pop(path, None)

    async def log(self, repository: str, since: str, until: str) -> tuple[Commit, ...]:
        there = await self._asked(repository)
        return there.between(commit_of(there, since).sha, commit_of(there, until).sha)

    def _dirt(self, path: str) -> str:
        here = self.standing.get(path)
        return f"uncommitted changes: {', '.join(sorted(here.left))}" if here and here.left else ""

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
            raise Lost(f"the worktree {path} is missing", "Recreate it, or give the task up.")
        self.standing[path].require_branch()
        return self.standing[path]


def _branch(there: FakeRepository, name: str) -> str:
    if name not in there.heads:
        raise Refused(f"there is no branch {name} in the repository")
    return there.heads[name]
