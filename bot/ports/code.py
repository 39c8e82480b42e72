"""Repositories, branches and worktrees, and the forge they are published on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Protocol

from bot.core.context.excerpts import RequestContext
from bot.core.forge import (
    NOTHING_KNOWN,
    ChecksWanted,
    Fetched,
    Hosted,
    MergeTried,
    Pull,
    PullWanted,
)
from bot.core.git import (
    Base,
    BranchDetails,
    BranchList,
    Checkout,
    Collision,
    Commit,
    Divergence,
    Merged,
    Removal,
    Scan,
    Work,
)


class Repository(Protocol):
    """Reading a repository, at one commit, from git objects: never through the checkout."""

    async def base(self, path: str) -> Base:
        """Where a session that begins now would start from. Refused: no repository, no commit, detached head …"""
        ...

    async def top(self, path: str) -> str:
        """The top of the main checkout that `path` lies in, whatever is checked out there."""
        ...

    async def require(self, path: str, commit: str) -> None:
        """Away: at `path` is no main checkout, or not that of the repository that has this commit."""
        ...

    async def last_changed(self, path: str, files: Iterable[str]) -> Mapping[str, datetime | None]:
        """When each of these files was changed last, as of the commit checked out; None: it is not there."""
        ...

    async def scan(self, path: str, commit: str) -> Scan: ...

    async def find_context(
        self, path: str, commit: str, request: str, tokens: int
    ) -> RequestContext:
        """The files, definitions and tests at that commit that a request is about, in at most so many tokens."""
        ...

    async def read(self, path: str, commit: str, names: tuple[str, ...]) -> dict[str, str]:
        """What these files say at a commit; of folders and links only that they are there. Others are left out."""
        ...

    async def branches(self, path: str) -> tuple[str, ...]:
        """Every local branch."""
        ...

    async def branch_list(self, path: str) -> BranchList:
        """Local branches as people look at them, every `agent/…` among them."""
        ...

    async def branch_details(self, path: str, name: str) -> BranchDetails:
        """Refused: there is no such branch."""
        ...

    async def branch_patch(self, path: str, name: str, limit: int) -> str:
        """What a branch changed since it parted from the base, at most `limit` characters of it."""
        ...

    async def tip(self, path: str, branch: str) -> str:
        """The commit a local branch stands at. Refused: there is no such branch."""
        ...

    async def commit_exists(self, path: str, commit: str) -> bool: ...

    async def programs(self, path: str) -> tuple[str, ...]:
        """Which programs of the repository its git configuration has git run, and where: a sentence each."""
        ...

    async def apart(self, path: str, one: str, other: str) -> Divergence:
        """How two commits of the repository differ."""
        ...

    async def origin_tip(self, path: str, branch: str) -> str:
        """Where the remote `origin` has that branch now. Only asked where that needs no login: a path of this machine,
        or http(s). Empty: there is none, or it cannot be reached."""
        ...

    async def checkout(self, path: str) -> Checkout:
        """How the main checkout looks now, read without touching its index."""
        ...


class Worktrees(Protocol):
    """Branches and worktrees of tasks. Nothing here touches the main checkout."""

    async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
        """A worktree at `path` on `branch`, begun at commit `start`. The branch's head.

        Refused with the reason `taken` when the branch or path belongs to somebody else.
        """
        ...

    async def hide(self, repository: str, folder: str) -> None:
        """Keep a folder of the main checkout out of everybody's status, unless the repository tracks some of it."""
        ...

    async def copy_ignored(
        self, repository: str, path: str, patterns: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Copy files of the main checkout that git ignores and a pattern names into the worktree. What was copied."""
        ...

    async def untracked(self, path: str) -> tuple[str, ...]:
        """What git neither tracks nor ignores there; a folder that holds nothing else is one entry, ending in a slash."""
        ...

    async def leave_out(self, path: str, before: tuple[str, ...]) -> None:
        """What is untracked now and was not `before` gets into no commit: git ignores it in this repository from now on.

        A lock file goes instead: ignored it would be missed by people who want to commit theirs.
        """
        ...

    async def merge(self, path: str, branch: str, message: str, *, plan: str = "") -> Merged:
        """Merge a branch or commit into the worktree's branch; aborted on conflict.

        `plan`: the bot's own folder of documents; a conflict in nothing else is settled with the worktree's copy.
        """
        ...

    async def collisions(self, repository: str, branches: tuple[str, ...]) -> tuple[Collision, ...]:
        """Which of these branches would not merge with each other: tried without touching anything."""
        ...

    async def relink(self, former: str, repository: str) -> None:
        """What the bot made while the repository lay at `former` is its own where it lies now. Safe to do twice.

        Refused: what could run code was changed on the way.
        """
        ...

    async def take_in(self, repository: str, source: str, commit: str) -> None:
        """Have a commit of another repository on this machine at hand here, on no branch."""
        ...

    async def let_go(self, repository: str, keep: frozenset[str]) -> None:
        """Commits that were taken in are held no longer once the bot has no worktree here, but for those in `keep`."""
        ...

    async def with_history(self, repository: str, commit: str, squashed: tuple[str, ...]) -> str:
        """A commit on no branch that is as `commit`, and has these others in its history.

        For what was squashed into it: without that, whatever was built on it collides with its own beginnings. `commit`
        itself where it has all of them already.
        """
        ...

    async def commit_files(self, path: str, files: dict[str, str], message: str) -> str:
        """Write files into the worktree and commit exactly these. The head, also when nothing changed."""
        ...

    async def work(self, path: str, since: str, exclude: Iterable[str] = ()) -> Work:
        """What was done in the worktree since a commit."""
        ...

    async def changed(self, path: str, since: str, names: tuple[str, ...]) -> dict[str, str]:
        """Which of these files and folders are not as at a commit, ignored ones too, each with a mark of how it is."""
        ...

    async def diff(self, path: str, since: str, limit: int, until: str = "HEAD") -> str:
        """The patch from one commit to another, at most `limit` characters of it. HEAD: what is checked out just now."""
        ...

    async def merge_all(
        self, repository: str, base_branch: str, branches: Mapping[str, str], scratch: str
    ) -> Merged:
        """Merge branches, one after the other, onto the base's tip in a scratch worktree. The base is not moved.

        Each is named with the commit it was proved at. Refused ("moved") where one stands elsewhere by now.
        """
        ...

    async def move_base(self, repository: str, base_branch: str, commit: str) -> None:
        """Fast-forward the base branch. In the main checkout only if the base is checked out there and clean.

        Refused with the reason when it would touch people's changes.
        """
        ...

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
        """Remove a worktree and, if everything on the branch is in `merged_into`, the branch. Never forced.

        `merged_tip`: a commit that is known to be merged elsewhere, squashed perhaps; a branch that stands there may go.
        `plan`: the branch may also go if it has changed nothing but this folder, and `merged_into` holds the same there.
        """
        ...

    async def delete_branch(
        self, repository: str, branch: str, commit: str, lost: int, *, worktree: str = ""
    ) -> None:
        """Let a branch go that a person has looked at: it stood at `commit`, and `lost` commits were nowhere else.

        `worktree`: of the bot's own, which may go with it. Refused where anything is otherwise, or where it is checked out.
        """
        ...

    async def scratch(
        self,
        repository: str,
        path: str,
        commit: str,
        *,
        restored: Collection[str] = (),
        since: str = "",
    ) -> None:
        """A worktree of the bot's own at a commit, on no branch. What was left of an earlier one goes.

        `restored`: files that are as they were at `since`; what was not there then is not there.
        """
        ...

    async def remove_scratch(self, repository: str, path: str) -> None:
        """Let a scratch worktree of the bot's own go."""
        ...

    async def log(self, repository: str, since: str, until: str) -> tuple[Commit, ...]: ...


class Forge(Protocol):
    """A host of repositories and pull requests. `slug` is the owner/name that was found when the session began."""

    async def find(self, repository: str) -> Hosted | None:
        """Where the repository is hosted; None: nowhere that is known, or nobody has given a token for it."""
        ...

    async def publish(self, repository: str, slug: str, branch: str, commit: str) -> None:
        """Have the branch stand at the commit on the forge.

        Refused: it holds work there that is not in the commit, or the token may not write.
        """
        ...

    async def open(self, slug: str, wanted: PullWanted) -> Pull:
        """The open pull request of that branch: found, and brought up to date, or made."""
        ...

    async def look(self, slug: str, number: int) -> Pull:
        """How it stands, with what its checks and its readers say."""
        ...

    async def make_ready(self, slug: str, number: int) -> Pull:
        """It is a draft no longer."""
        ...

    async def merge(
        self, slug: str, number: int, head: str, title: str, checks: ChecksWanted = NOTHING_KNOWN
    ) -> MergeTried:
        """Merge it if it stands at `head`, and if the checks of that head have passed, as read right before.

        Where checks may still appear it is not merged before they have. It may be merged already: then that is the answer.
        """
        ...

    async def tip(self, slug: str, branch: str) -> str:
        """The commit a branch stands at on the forge; empty: there is no such branch."""
        ...

    async def fetch(self, slug: str, branch: str, *, near: str = "") -> Fetched:
        """Copy a branch of the forge to this machine, into no checkout.

        `near`: a repository on this machine; what its branch of that name has is not copied over the network.
        """
        ...

    async def fetch_head(self, slug: str, number: int) -> Fetched:
        """Copy the head of a pull request, also when its branch is gone."""
        ...

    async def unpublish(self, slug: str, branch: str, commit: str) -> str:
        """Let the branch on the forge go, if it stands at that commit. Why it was left; empty: it is gone."""
        ...
