"""Repositories, branches and worktrees, and the forge that publishes them."""

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
from bot.core.looks import Look


class Repository(Protocol):
    """Reads a repository at one commit, from git objects, never through the checkout."""

    async def base(self, path: str) -> Base:
        """Return where a new session would start. Refused: no repository, no commit, detached head …"""
        ...

    async def top(self, path: str) -> str:
        """Return the top directory of the main checkout that contains `path`, whatever is checked out."""
        ...

    async def require(self, path: str, commit: str) -> None:
        """Raise Away if `path` is no main checkout, or not that of the repository with this commit."""
        ...

    async def last_changed(self, path: str, files: Iterable[str]) -> Mapping[str, datetime | None]:
        """Return when each of these files was last changed, up to the commit checked out; `None` if it does not exist."""
        ...

    async def scan(self, path: str, commit: str) -> Scan: ...

    async def find_context(
        self, path: str, commit: str, request: str, tokens: int
    ) -> RequestContext:
        """Return the files, definitions and tests at that commit that a request is about, in at most `tokens` tokens."""
        ...

    async def look(self, path: str, commit: str, look: Look) -> str:
        """Return what the model gets to see of the repository at that commit, as a text with secrets masked.

        What does not exist or may not be shown is said in it.
        """
        ...

    async def names_known(self, path: str, commit: str, names: Collection[str]) -> frozenset[str]:
        """Return those of the names that occur as a word in some file at that commit."""
        ...

    async def read(self, path: str, commit: str, names: tuple[str, ...]) -> dict[str, str]:
        """Return the contents of these files at a commit.

        Folders and links are only listed; missing names are left out.
        """
        ...

    async def branches(self, path: str) -> tuple[str, ...]:
        """Return every local branch."""
        ...

    async def branch_list(self, path: str) -> BranchList:
        """Return the local branches for display, including every `agent/…`."""
        ...

    async def branch_details(self, path: str, name: str) -> BranchDetails:
        """Return details of a branch. Refused: there is no such branch."""
        ...

    async def branch_patch(self, path: str, name: str, limit: int) -> str:
        """Return what a branch changed since its merge base with the base branch, at most `limit` characters."""
        ...

    async def patch(self, path: str, since: str, until: str, limit: int) -> str:
        """Return the patch from one commit to another, at most `limit` characters. Refused: one of them is gone."""
        ...

    async def tip(self, path: str, branch: str) -> str:
        """Return the head commit of a local branch. Refused: there is no such branch."""
        ...

    async def commit_exists(self, path: str, commit: str) -> bool: ...

    async def programs(self, path: str) -> tuple[str, ...]:
        """Return which programs the repository's git configuration makes git run, and where it is set, one sentence
        each.
        """
        ...

    async def apart(self, path: str, one: str, other: str) -> Divergence:
        """Return how two commits of the repository differ."""
        ...

    async def origin_tip(self, path: str, branch: str) -> str:
        """Return the branch's commit on the remote `origin`; empty if there is none or it cannot be reached.

        Asks only remotes without a login: a local path, or http(s).
        """
        ...

    async def checkout(self, path: str) -> Checkout:
        """Return the state of the main checkout, read without touching its index."""
        ...


class Worktrees(Protocol):
    """Branches and worktrees of tasks. Nothing here touches the main checkout."""

    async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
        """Create a worktree at `path` on `branch`, starting at commit `start`, and return the branch's head.

        Refused with the reason `taken` if somebody else uses the branch or path.
        """
        ...

    async def hide(self, repository: str, folder: str) -> None:
        """Exclude a folder of the main checkout from git's status, unless the repository tracks some of it."""
        ...

    async def copy_ignored(
        self, repository: str, path: str, patterns: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Copy ignored files of the main checkout that match a pattern into the worktree. Return what was copied."""
        ...

    async def untracked(self, path: str) -> tuple[str, ...]:
        """Return what git neither tracks nor ignores.

        A folder with nothing else in it is one entry that ends in a slash.
        """
        ...

    async def ignore_new_files(self, path: str, before: tuple[str, ...]) -> None:
        """Have git ignore, in this repository from now on, what is untracked now and was not `before`.

        Lock files are deleted instead: if ignored, people who want to commit theirs would miss them.
        """
        ...

    async def merge(self, path: str, branch: str, message: str, *, plan: str = "") -> Merged:
        """Merge a branch or commit into the worktree's branch; abort on conflict.

        `plan`: the bot's own folder of documents; conflicts only within it are resolved with the worktree's copy.
        """
        ...

    async def collisions(self, repository: str, branches: tuple[str, ...]) -> tuple[Collision, ...]:
        """Return which of these branches would conflict with each other, without touching anything."""
        ...

    async def relink(self, former: str, repository: str) -> None:
        """Take over what the bot made while the repository was at `former`, and repair its worktrees.

        Idempotent. Refused: something that could run code was changed meanwhile.
        """
        ...

    async def import_commit(self, repository: str, source: str, commit: str) -> None:
        """Fetch a commit of another repository on this machine, without a branch."""
        ...

    async def let_go(self, repository: str, keep: frozenset[str]) -> None:
        """Release fetched commits, except those in `keep`, once the bot has no worktree here."""
        ...

    async def with_squashed_history(
        self, repository: str, commit: str, squashed: tuple[str, ...]
    ) -> str:
        """Return a commit on no branch with the content of `commit` and these others in its history; `commit` itself if
        it has them already.

        For squash merges: work based on the original commits would otherwise conflict with its own beginnings.
        """
        ...

    async def commit_files(self, path: str, files: dict[str, str], message: str) -> str:
        """Write files into the worktree and commit exactly these. Return the head, even if nothing changed."""
        ...

    async def work(self, path: str, since: str, exclude: Iterable[str] = ()) -> Work:
        """Return what was done in the worktree since a commit."""
        ...

    async def changed(self, path: str, since: str, names: tuple[str, ...]) -> dict[str, str]:
        """Return which of these files and folders, including ignored ones, differ from a commit, each with a hash of
        its state.
        """
        ...

    async def diff(self, path: str, since: str, limit: int, until: str = "HEAD") -> str:
        """Return the patch from one commit to another, at most `limit` characters. HEAD is what is checked out now."""
        ...

    async def merge_all(
        self, repository: str, base_branch: str, branches: Mapping[str, str], scratch: str
    ) -> Merged:
        """Merge branches one after the other onto the base's tip in a scratch worktree, without moving the base.

        Each branch comes with the commit it was verified at. Refused ("moved") if one is at another commit by now.
        """
        ...

    async def move_base(self, repository: str, base_branch: str, commit: str) -> None:
        """Fast-forward the base branch; in the main checkout only if the base is checked out there and clean.

        Refused with the reason if it would touch people's changes.
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
        """Remove a worktree and, if `merged_into` contains everything on it, the branch.

        Never forced. `merged_tip`: a commit known to be merged elsewhere (perhaps squashed); a branch at it may go.
        `plan`: the branch may also go if it only changed this folder and `merged_into` has the same there.
        """
        ...

    async def delete_branch(
        self, repository: str, branch: str, commit: str, lost: int, *, worktree: str = ""
    ) -> None:
        """Delete a branch that a person has reviewed: it was at `commit`, and `lost` commits were nowhere else.

        `worktree`: one of the bot's own, which may be removed with it. Refused if anything differs, or if it is checked
        out.
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
        """Create a worktree of the bot's own at a commit, on no branch, replacing an earlier one.

        `restored`: files that are set back to `since`; those that did not exist then are removed.
        """
        ...

    async def remove_scratch(self, repository: str, path: str) -> None:
        """Remove a scratch worktree of the bot's own."""
        ...

    async def log(self, repository: str, since: str, until: str) -> tuple[Commit, ...]: ...


class Forge(Protocol):
    """A host of repositories and pull requests. `slug` is the owner/name found when the session started."""

    async def find(self, repository: str) -> Hosted | None:
        """Return where the repository is hosted; `None` if on no known host, or if there is no token for it."""
        ...

    async def publish(self, repository: str, slug: str, branch: str, commit: str) -> None:
        """Push the branch at this commit.

        Refused: the forge's branch has work that the commit does not contain, or the token may not write.
        """
        ...

    async def open(self, slug: str, wanted: PullWanted) -> Pull:
        """Find and update the open pull request of that branch, or create it."""
        ...

    async def look(self, slug: str, number: int) -> Pull:
        """Return its state, with its checks and comments."""
        ...

    async def make_ready(self, slug: str, number: int) -> Pull:
        """Mark the pull request as no longer a draft."""
        ...

    async def merge(
        self, slug: str, number: int, head: str, title: str, checks: ChecksWanted = NOTHING_KNOWN
    ) -> MergeTried:
        """Merge the pull request if it is at `head` and the checks of that head, read immediately before, have passed.

        If checks may still appear, it is not merged before they have. An earlier merge counts as success.
        """
        ...

    async def tip(self, slug: str, branch: str) -> str:
        """Return the commit of a branch on the forge; empty if there is no such branch."""
        ...

    async def fetch(self, slug: str, branch: str, *, near: str = "") -> Fetched:
        """Copy a branch of the forge to this machine, into no checkout.

        `near`: a local repository; what its branch of that name has is not downloaded.
        """
        ...

    async def fetch_head(self, slug: str, number: int) -> Fetched:
        """Copy the head of a pull request, even if its branch is gone."""
        ...

    async def delete_remote_branch(self, slug: str, branch: str, commit: str) -> str:
        """Delete the branch on the forge if it is at that commit. Return why it was kept; empty if it is gone."""
        ...
