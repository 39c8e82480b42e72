"""Reads a repository. Its rule: nothing is changed, and contents come from one commit, not from the checkout."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from adapters.git.ages import last_changed
from adapters.git.branches import Branches
from adapters.git.checkout import Checkouts
from adapters.git.exclude import is_registry
from adapters.git.failures import recognised, unreadable
from adapters.git.ledger import Ledger
from adapters.git.named import Named
from adapters.git.origin import origin_tip
from adapters.git.place import (
    WAY_BACK,
    Place,
    is_directory,
    main_checkout,
    resolved,
    under_way,
)
from adapters.git.run import INHERITED, Git
from adapters.git.scan import SECONDS, scanned
from adapters.git.standing import WORKTREES, require_folder
from adapters.git.tree import Tree
from adapters.git.trust import Trust
from bot.domain.branches import BranchDetails, BranchList
from bot.domain.world import Apart, Base, Checkout, Scan
from bot.errors import Away, Refused, Unavailable

OLDEST = (2, 36)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class GitRepository:
    """`home` is the bot's own directory, where it notes what it made in which repository."""

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str] | None = None,
        *,
        umask: int = INHERITED,
        scan_seconds: float = SECONDS,
    ) -> None:
        self._scan_seconds = scan_seconds
        self._git = Git(environment, umask=umask)
        self._ledger = Ledger(home)
        self._trust = Trust(self._git, self._ledger)
        self._checkouts = Checkouts(self._git)
        self._branches = Branches(self._git, self._trust)
        self._tree = Tree(self._git)

    async def base(self, path: str) -> Base:
        await self._require_git()
        main = await self._main_checkout_of(Path(path))
        await self._trust.check(main)
        branch = await self._branch(main)
        commit = await self._head(main)
        blocking = await self._git.read(
            *("show-ref", "--verify", "--quiet", "refs/heads/agent"), at=main, ok=(0, 1)
        )
        if blocking.code == 0:
            raise Refused(
                "the repository has a branch named agent, so no branch agent/… can be made",
                "Rename it: git branch -m agent <new name>",
            )
        require_folder(main.top / WORKTREES)
        return Base(
            repository=str(main.top),
            branch=branch,
            commit=commit,
            uncommitted=await self._uncommitted(main),
            under_way=under_way(main),
        )

    async def top(self, path: str) -> str:
        return str((await self._main_checkout_of(Path(path))).top)

    async def require(self, path: str, commit: str) -> None:
        # its configuration is not compared first: that of another repository differs, and this runs nothing of it
        if not await self._is_commit(main_checkout(path), commit):
            raise Away(f"repository not found at {path}: another one stands there", WAY_BACK)

    async def last_changed(self, path: str, files: Iterable[str]) -> Mapping[str, datetime | None]:
        main = main_checkout(path)
        await self._trust.check(main)
        return await last_changed(self._git, main, files)

    async def scan(self, path: str, commit: str) -> Scan:
        main = main_checkout(path)
        deadline = asyncio.get_running_loop().time() + self._scan_seconds
        try:
            async with asyncio.timeout_at(deadline):
                await self._trust.check(main)
                known = await self._is_commit(main, commit)
            if known:
                return await scanned(self._git, main, commit, deadline)
        except TimeoutError as error:
            raise Unavailable(
                f"the repository's files could not be listed in {self._scan_seconds:g} s",
                "Look whether the disk is slow, or try again when the machine has less to do.",
            ) from error
        raise Refused(f"the commit {commit} is not in the repository")

    async def branches(self, path: str) -> tuple[str, ...]:
        main = main_checkout(path)
        await self._trust.check(main)
        answer = await self._git.read(
            *("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"), at=main
        )
        return tuple(line for line in answer.text.split("\n") if line)

    async def branch_list(self, path: str) -> BranchList:
        return await self._branches.listed(await self._main_checkout(path))

    async def branch_details(self, path: str, name: str) -> BranchDetails:
        return await self._branches.details(await self._main_checkout(path), name)

    async def branch_patch(self, path: str, name: str, limit: int) -> str:
        return await self._branches.patch(await self._main_checkout(path), name, limit)

    async def tip(self, path: str, branch: str) -> str:
        main = main_checkout(path)
        await self._trust.check(main)
        answer = await self._git.read(
            *("rev-parse", "--verify", "--quiet", "--end-of-options"),
            f"refs/heads/{branch}^{{commit}}",
            at=main,
            ok=(0, 1, 128),
        )
        if answer.code:
            raise Refused(
                f"there is no branch {branch} any more",
                "Make it again, or discard this session and ask anew.",
            )
        return answer.text

    async def commit_exists(self, path: str, commit: str) -> bool:
        main = main_checkout(path)
        await self._trust.check(main)
        return await self._is_commit(main, commit)

    async def apart(self, path: str, one: str, other: str) -> Apart:
        main = main_checkout(path)
        await self._trust.check(main)
        return await self._tree.apart(main, one, other)

    async def origin_tip(self, path: str, branch: str) -> str:
        main = main_checkout(path)
        await self._trust.check(main)
        return await origin_tip(self._git, main, branch)

    async def read(self, path: str, commit: str, names: tuple[str, ...]) -> dict[str, str]:
        main = main_checkout(path)
        await self._trust.check(main)
        if not await self._is_commit(main, commit):
            raise Refused(f"the commit {commit} is not in the repository")
        return await Named(self._git).at(main, commit, names)

    async def programs(self, path: str) -> tuple[str, ...]:
        return await self._git.programs(main_checkout(path))

    async def checkout(self, path: str) -> Checkout:
        main = main_checkout(path)
        await self._trust.check(main)
        return await self._checkouts.look(main)

    async def _require_git(self) -> None:
        major, minor = await self._git.version()
        if (major, minor) < OLDEST:
            raise Unavailable(
                f"git 2.36 or newer is required, this is git {major}.{minor}",
                "Install a newer git.",
            )

    async def _main_checkout(self, path: str) -> Place:
        """People look around from wherever the repository is said to be, also below its top."""
        main = await self._main_checkout_of(Path(path))
        await self._trust.check(main)
        await self._head(main)
        return main

    async def _main_checkout_of(self, path: Path) -> Place:
        """From anywhere inside a repository, also inside one of its linked worktrees, to the main checkout."""
        if not is_directory(path):
            raise Refused(f"there is no directory {path}", "Name the directory of a repository.")
        path = self._outside_worktrees(resolved(path))
        if len(str(path).splitlines()) > 1:
            raise Refused(
                f"there is a line break in the path {str(path)!r}",
                "Rename that folder: neither git's answers nor tmux's commands can be read with it.",
            )
        asked = await self._git.read(
            *("rev-parse", "--path-format=absolute"),
            *("--is-bare-repository", "--is-inside-git-dir", "--git-dir", "--git-common-dir"),
            at=path,
            ok=(0, 128),
        )
        if asked.code:
            raise unreadable(path, asked.err)
        bare, inside, git_dir, common = asked.text.splitlines()
        if git_dir != common:
            return main_checkout(await self._first_worktree(path))
        if bare == "true":
            raise _bare(path)
        if inside == "true":
            raise Refused(f"{path} lies inside a .git directory", "Name the checkout itself.")
        top = await self._git.read(
            "rev-parse", "--path-format=absolute", "--show-toplevel", at=path
        )
        return main_checkout(top.text)

    def _outside_worktrees(self, path: Path) -> Path:
        """Where a worktree of the bot's belongs is known: its `.git` file, which agents can write, is not asked."""
        for parent in path.parents:
            if parent.name == WORKTREES and self._ledger.page(parent.parent) is not None:
                return parent.parent
        return path

    async def _first_worktree(self, path: Path) -> str:
        """git lists the main checkout first."""
        answer = await self._git.read("worktree", "list", "--porcelain", "-z", at=path)
        first = answer.out.decode("utf-8", "surrogateescape").split("\0\0")[0].split("\0")
        if "bare" in first:
            raise _bare(path)
        return first[0].removeprefix("worktree ")

    async def _branch(self, main: Place) -> str:
        answer = await self._git.read("symbolic-ref", "--quiet", "HEAD", at=main, ok=(0, 1))
        if answer.code or not answer.text.startswith("refs/heads/"):
            if begun := under_way(main):
                raise Refused(
                    f"{begun} is under way in {main.top}, so it is on no branch",
                    "Finish it or give it up, and try again.",
                )
            raise Refused(
                "the repository is on no branch (detached HEAD)",
                "Check a branch out: git switch <branch>",
            )
        return answer.text.removeprefix("refs/heads/")

    async def _head(self, main: Place) -> str:
        answer = await self._git.read(
            *("rev-parse", "--verify", "--quiet", "HEAD^{commit}"), at=main, ok=(0, 1, 128)
        )
        if answer.code:
            if known := recognised(answer.err, main):
                raise known
            raise Refused("the repository has no commits yet", "Make a first commit.")
        return answer.text

    async def _uncommitted(self, main: Place) -> int:
        answer = await self._git.read(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"), at=main
        )
        # `.worktrees/` is told here only as long as no worktree has ever been prepared
        return sum(
            entry[3:] != ".worktrees/" and not is_registry(entry[3:]) for entry in answer.fields
        )

    async def _is_commit(self, main: Place, commit: str) -> bool:
        if not _COMMIT.fullmatch(commit):
            return False
        answer = await self._git.read(
            *("cat-file", "--batch-check"), at=main, stdin=f"{commit}\n".encode()
        )
        return answer.text.startswith(f"{commit} commit ")


def _bare(path: Path) -> Refused:
    return Refused(
        f"the repository of {path} is bare: it has no checkout to work from",
        "Clone it, and name the clone.",
    )
