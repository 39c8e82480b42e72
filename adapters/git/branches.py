"""All branches of a repository, whoever made them, for people who look around. Its rule: it only reads, also where a checkout is broken."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from adapters.git.ages import moment
from adapters.git.patches import Patches
from adapters.git.place import Place, first_line
from adapters.git.run import Git
from adapters.git.standing import standing
from adapters.git.tree import Tree, readable
from adapters.git.trust import Trust
from bot.domain.branches import Branch, BranchDetails, BranchList, ChangedFile
from bot.domain.world import Commit
from bot.errors import PortError, Refused

LISTED = 60
"""Branches that are held against the base; agents' are always among them."""
AGENTS = "agent/"
_AT_ONCE = 4
_COMMITS = 20
_FILES = 50
_HEADS = "ref: refs/heads/"
_FORMAT = "%(refname:lstrip=2)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)"


class _Line(NamedTuple):
    name: str
    commit: str
    at: datetime
    subject: str


class Branches:
    def __init__(self, git: Git, trust: Trust) -> None:
        self._git = git
        self._trust = trust
        self._tree = Tree(git)
        self._patches = Patches(git)

    async def listed(self, main: Place) -> BranchList:
        lines = await self._lines(main)
        agents = [line for line in lines if line.name.startswith(AGENTS)]
        others = [line for line in lines if not line.name.startswith(AGENTS)]
        shown = [*agents, *others[: max(0, LISTED - len(agents))]]
        shown.sort(key=lambda line: line.at, reverse=True)
        where = worktrees_of(main)
        turn = asyncio.Semaphore(_AT_ONCE)

        async def held_against_base(line: _Line) -> Branch:
            async with turn:
                return await self._branch(main, line, where)

        branches = await asyncio.gather(*map(held_against_base, shown))
        return BranchList(
            repository=str(main.top),
            base=base_of(main),
            branches=tuple(branches),
            more=len(lines) - len(shown),
        )

    async def details(self, main: Place, name: str) -> BranchDetails:
        line = next((one for one in await self._lines(main, name) if one.name == name), None)
        if line is None:
            raise Refused(f"there is no branch {name} here", "branches lists them.")
        branch = await self._branch(main, line, worktrees_of(main))
        head = await self._tree.commit(main, "HEAD")
        parted = await self._tree.parted(main, head, line.commit) or ""
        lost, only_here = await self.only_on(main, name, line.commit)
        return BranchDetails(
            repository=str(main.top),
            branch=branch,
            base=base_of(main),
            author=await self._told(main, line.commit, "%an"),
            upstream=await self._upstream(main, name),
            parted=parted,
            commits=await self._commits(main, "HEAD.." + line.commit),
            files=await self._files(main, parted, line.commit) if parted else (),
            uncommitted=await self._uncommitted(main, branch.worktree),
            lost=lost,
            only_here=only_here,
        )

    async def tip(self, main: Place, name: str) -> str | None:
        """Of the branch of exactly this name."""
        lines = await self._lines(main, name)
        return next((line.commit for line in lines if line.name == name), None)

    async def patch(self, main: Place, name: str, limit: int) -> str:
        """What it changed since it parted from the base."""
        tip = await self._tree.commit(main, f"refs/heads/{name}")
        parted = await self._tree.parted(main, await self._tree.commit(main, "HEAD"), tip)
        return await self._patches.patch(main, parted, tip, limit) if parted else ""

    async def only_on(self, main: Place, name: str, tip: str) -> tuple[int, tuple[Commit, ...]]:
        """How many commits nothing else keeps, and the newest of them."""
        others = (f"--exclude={name}", "--branches", "--remotes", "--tags")
        count = await self._git.read("rev-list", "--count", tip, "--not", *others, at=main)
        lost = int(count.text)
        return lost, await self._commits(main, tip, "--not", *others) if lost else ()

    async def _lines(self, main: Place, name: str = "") -> list[_Line]:
        answer = await self._git.read(
            *("for-each-ref", "--sort=-committerdate", f"--format={_FORMAT}"),
            f"refs/heads/{name}",
            at=main,
        )
        # a name may hold letters that Python takes for the end of a line
        lines = (line.split("\0") for line in answer.out.decode("utf-8", "replace").split("\n"))
        return [
            _Line(one[0], one[1], moment(one[2]), one[3])
            for one in lines
            if len(one) == 4 and one[2].isdigit()
        ]

    async def _branch(self, main: Place, line: _Line, where: dict[str, str]) -> Branch:
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

    async def _commits(self, main: Place, *which: str) -> tuple[Commit, ...]:
        answer = await self._git.read(
            *("log", "-z", f"--max-count={_COMMITS}", "--format=%H %s"), *which, at=main
        )
        entries = answer.out.decode("utf-8", "replace").split("\0")
        lines = (entry.partition(" ") for entry in entries if entry)
        return tuple(Commit(sha=sha, subject=subject.strip()) for sha, _, subject in lines)

    async def _files(self, main: Place, old: str, new: str) -> tuple[ChangedFile, ...]:
        answer = await self._git.read(
            *("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff"),
            *("--no-textconv", "--ignore-submodules=dirty", old, new),
            at=main,
        )
        counted = (entry.split("\t", 2) for entry in answer.fields[:_FILES])
        return tuple(
            ChangedFile(path=readable(path), added=_number(added), deleted=_number(deleted))
            for added, deleted, path in counted
        )

    async def _uncommitted(self, main: Place, worktree: str) -> int | None:
        """Into other worktrees of people nobody looks: their own configuration could run code."""
        if not worktree:
            return None
        try:
            own = worktree == str(main.top)
            at = main if own else await self._trust.worktree(main, Path(worktree))
            return len(await self._tree.dirt(at))
        except PortError:
            return None

    async def _told(self, main: Place, commit: str, what: str) -> str:
        return (await self._git.read("log", "-1", f"--format={what}", commit, at=main)).text

    async def _upstream(self, main: Place, name: str) -> str:
        answer = await self._git.read(
            *("for-each-ref", "--format=%(upstream:short)", f"refs/heads/{name}"), at=main
        )
        return answer.text


def base_of(main: Place) -> str:
    """The branch the main checkout is on."""
    head = first_line(main.git_dir / "HEAD")
    return head.removeprefix(_HEADS) if head.startswith(_HEADS) else ""


def worktrees_of(main: Place) -> dict[str, str]:
    """Which branch is checked out where; also one that a rebase or a bisect will come back to."""
    where = {entry.branch: entry.path for entry in standing(main) if entry.branch}
    for entry in standing(main):
        where |= dict.fromkeys(_under_way(entry.git_dir), entry.path)
    where |= dict.fromkeys(_under_way(main.git_dir), str(main.top))
    if base := base_of(main):
        where[base] = str(main.top)
    return where


def _under_way(git_dir: Path) -> Iterable[str]:
    for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
        found = first_line(git_dir / name).removeprefix("refs/heads/")
        if found:
            yield found


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None
