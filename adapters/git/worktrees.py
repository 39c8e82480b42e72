"""The port for branches and worktrees of tasks: creating, merging and removing them.

Changes in one repository happen one at a time, under its lock. The main checkout is never touched, except by
`move_base`, which a person has confirmed.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import tempfile
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from adapters.git.commits import Branches, Commits, Patches
from adapters.git.environment import COMMITTER_MAIL, COMMITTER_NAME
from adapters.git.layout import (
    GitCheckout,
    checked_branch,
    checked_worktree_path,
    exclude_from_status,
    is_directory,
    main_checkout,
    new_untracked,
)
from adapters.git.ledger import GitLedger, LockedRepository, OnRemoved, RepositoryLocks
from adapters.git.merging import BaseUpdate, MergeForecast, Merges, scratch_checkout
from adapters.git.repository import NamedFiles
from adapters.git.run import INHERITED_UMASK, Git
from adapters.git.trust import Trust
from adapters.git.worktree_files import CopyLimits, IgnoredFileCopier, checked_parts, write_inside
from adapters.git.worktree_removal import (
    BranchDeletion,
    KeptElsewhere,
    WorktreeRemoval,
    remove_stale_locks,
)
from adapters.git.worktree_setup import ManualChanges, MovedRepository, WorktreeSetup
from bot.core.errors import Refused, Unavailable
from bot.core.git import Collision, Commit, Merged, Removal, Work
from bot.os_errors import as_unavailable


class GitWorktrees:
    """The worktrees port.

    `home`: the bot's own directory, which records what it created; `let_go`: called for each removed worktree.
    """

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str] | None = None,
        *,
        umask: int = INHERITED_UMASK,
        copy_bounds: CopyLimits | None = None,
        on_removed: OnRemoved | None = None,
    ) -> None:
        self._on_removed = on_removed
        self._git = Git(environment, umask=umask)
        self._ledger = GitLedger(home)
        self._locks = RepositoryLocks()
        self._commits = Commits(self._git)
        self._patches = Patches(self._git)
        self._trust = Trust(self._git, self._ledger)
        self._merges = Merges(self._git, self._commits)
        self._setup = WorktreeSetup(self._git, self._commits, self._trust)
        self._removal = WorktreeRemoval(self._git, self._commits, self._trust)
        self._branch_deletion = BranchDeletion(Branches(self._git, self._trust), self._removal)
        self._base_update = BaseUpdate(self._git, self._commits, self._setup)
        self._manual_changes = ManualChanges(self._commits)
        self._copier = IgnoredFileCopier(self._git, home, copy_bounds or CopyLimits())
        self._forecast = MergeForecast(self._git, self._commits)
        self._commit_import = CommitImport(self._git)
        self._moved_repository = MovedRepository(self._git, self._ledger)

    async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
        checked_branch(branch)
        async with self._held(repository) as held:
            place = checked_worktree_path(held.main, path)
            exclude_from_status(held.main)
            return await self._setup.prepare(held, branch, place, start)

    async def hide(self, repository: str, folder: str) -> None:
        async with self._held(repository) as held:
            tracked = await self._git.read(
                *("ls-files", "-z", "--", folder), at=held.main, limit=1024
            )
            if not tracked.out:
                exclude_from_status(held.main, (f"/{folder}/",))

    async def copy_ignored(
        self, repository: str, path: str, patterns: tuple[str, ...]
    ) -> tuple[str, ...]:
        main = main_checkout(repository)
        at = await self._readable(str(checked_worktree_path(main, path)))
        return await self._copier.copy(main, at, patterns)

    async def untracked(self, path: str) -> tuple[str, ...]:
        return await self._commits.untracked_paths(await self._readable(path))

    async def ignore_new_files(self, path: str, before: tuple[str, ...]) -> None:
        main, place = _locate_worktree(path)
        async with self._held(str(main.top)) as held:
            at = await self._writable(held, place)
            new, locks = new_untracked(await self._commits.untracked_paths(at), before)
            if locks:
                await self._git.write("clean", "-fq", "--", *locks, at=at, lock=held.lock)
            exclude_from_status(held.main, new)

    async def collisions(self, repository: str, branches: tuple[str, ...]) -> tuple[Collision, ...]:
        main = main_checkout(repository)
        await self._trust.check(main)
        return await self._forecast.predict_conflicts(main, branches)

    async def relink(self, former: str, repository: str) -> None:
        main = main_checkout(repository)
        were = self._moved_repository.move_record(Path(former), main.top, main.common)
        async with self._held(repository) as held:
            await self._moved_repository.repair(held)
        if let_go := self._on_removed:
            for path in were:
                await let_go(path)

    async def import_commit(self, repository: str, source: str, commit: str) -> None:
        async with self._held(repository) as held:
            await self._commit_import.import_commit(held, Path(source), commit)

    async def let_go(self, repository: str, keep: frozenset[str]) -> None:
        async with self._held(repository) as held:
            await self._commit_import.remove_imports(held, keep)

    async def with_squashed_history(
        self, repository: str, commit: str, squashed: tuple[str, ...]
    ) -> str:
        async with self._held(repository) as held:
            return await self._commit_import.with_squashed_parents(held, commit, squashed)

    async def merge(self, path: str, branch: str, message: str, *, plan: str = "") -> Merged:
        folder = "/".join(checked_parts(plan.rstrip("/"))) if plan else ""
        main, place = _locate_worktree(path)
        async with self._held(str(main.top)) as held:
            at = await self._writable(held, place)
            other = await self._commits.commit(at, branch)
            made = held.worktree_record(place)
            return await self._merges.merge(
                at,
                other,
                message,
                lock=held.lock,
                unfinished=made.merging if made else None,
                record=held.merge_recorder(place),
                plan=folder,
            )

    async def commit_files(self, path: str, files: dict[str, str], message: str) -> str:
        for name in files:
            checked_parts(name)
        main, place = _locate_worktree(path)
        async with self._held(str(main.top)) as held:
            at = await self._writable(held, place)
            write_inside(place, files)
            if files:
                await self._commit(at, tuple(files), message, held.lock)
            return await self._commits.commit(at, "HEAD")

    async def work(self, path: str, since: str, exclude: Iterable[str] = ()) -> Work:
        at = await self._readable(path)
        return await self._commits.work(at, await self._commits.commit(at, since), exclude)

    async def changed(self, path: str, since: str, names: tuple[str, ...]) -> dict[str, str]:
        at = await self._readable(path)
        return await NamedFiles(self._git).changed_since(
            at, await self._commits.commit(at, since), names
        )

    async def diff(self, path: str, since: str, limit: int, until: str = "HEAD") -> str:
        at = await self._readable(path)
        older, newer = await self._commits.commit(at, since), await self._commits.commit(at, until)
        return await self._patches.patch(at, older, newer, limit)

    async def merge_all(
        self, repository: str, base_branch: str, branches: Mapping[str, str], scratch: str
    ) -> Merged:
        async with self._held(repository) as held:
            place = checked_worktree_path(held.main, scratch)
            exclude_from_status(held.main)
            return await self._base_update.merge_all(held, base_branch, branches, place)

    async def move_base(self, repository: str, base_branch: str, commit: str) -> None:
        async with self._held(repository) as held:
            await self._base_update.fast_forward(held, base_branch, commit)

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
        checked_branch(branch)
        folder = "/".join(checked_parts(plan.rstrip("/"))) if plan else ""
        kept = KeptElsewhere(merged_into, merged_tip, folder)
        async with self._held(repository) as held:
            place = checked_worktree_path(held.main, path)
            return await self._removal.remove(held, place, branch, kept)

    async def delete_branch(
        self, repository: str, branch: str, commit: str, lost: int, *, worktree: str = ""
    ) -> None:
        async with self._held(repository) as held:
            place = checked_worktree_path(held.main, worktree) if worktree else None
            await self._branch_deletion.delete(held, branch, commit, lost, place)

    async def scratch(
        self,
        repository: str,
        path: str,
        commit: str,
        *,
        restored: Collection[str] = (),
        since: str = "",
    ) -> None:
        async with self._held(repository) as held:
            place = checked_worktree_path(held.main, path)
            exclude_from_status(held.main)
            await self._setup.create_scratch(
                held, place, await self._commits.commit(held.main, commit)
            )
            if restored:
                at = scratch_checkout(held, place)
                if at is None:
                    raise Refused(f"git made no worktree at {path}")
                await self._setup.restore(held, at, restored, since)

    async def remove_scratch(self, repository: str, path: str) -> None:
        async with self._held(repository) as held:
            await self._setup.remove_scratch(held, checked_worktree_path(held.main, path))

    async def log(self, repository: str, since: str, until: str) -> tuple[Commit, ...]:
        main = main_checkout(repository)
        await self._trust.check(main)
        older = await self._commits.commit(main, since)
        newer = await self._commits.commit(main, until)
        return await self._commits.commits(main, older, newer)

    @contextlib.asynccontextmanager
    async def _held(self, repository: str) -> AsyncGenerator[LockedRepository]:
        main = main_checkout(repository)
        async with self._locks.hold(main.common) as lock:
            # checked under the lock, so that a newer record is never overwritten
            page = await self._trust.checked_record(main)
            try:
                yield LockedRepository(main, lock, self._ledger, page, self._on_removed)
            except OSError as error:
                where = error.filename or main.top
                refused = Refused(f"{where} cannot be written: {error.strerror}")
                raise as_unavailable(error, main.top) or refused from error

    async def _readable(self, path: str) -> GitCheckout:
        main, place = _locate_worktree(path)
        at = await self._trust.checked_worktree(main, place)
        page = self._ledger.page(main.top)
        await self._manual_changes.require_branch(
            main, place, page.worktrees.get(str(place)) if page else None
        )
        return at

    async def _writable(self, held: LockedRepository, place: Path) -> GitCheckout:
        at = await self._trust.checked_worktree(held.main, place)
        made = held.worktree_record(place)
        remove_stale_locks(held.main, place, at.git_dir, made.branch if made else "")
        await self._manual_changes.require_branch(held.main, place, made)
        return at

    async def _commit(
        self, at: GitCheckout, names: tuple[str, ...], message: str, lock: int
    ) -> None:
        """Commit exactly these paths, whatever else an agent has staged."""
        told = b"".join(name.encode() + b"\0" for name in names)
        pathspec = ("--pathspec-from-file=-", "--pathspec-file-nul")
        # --sparse: paths outside of a sparse checkout are committed, too
        await self._git.write("add", "--force", "--sparse", *pathspec, at=at, lock=lock, stdin=told)
        head = await self._commits.commit(at, "HEAD")
        same = await self._git.read(
            *("diff-index", "--cached", "--quiet", "--ignore-submodules=dirty", head, "--", *names),
            at=at,
            ok=(0, 1),
        )
        if same.code == 0:
            return
        await self._git.write(
            *("commit", "--quiet", "--only", "--no-verify", "--no-gpg-sign", "-m", message),
            *pathspec,
            at=at,
            lock=lock,
            stdin=told,
        )


def _locate_worktree(path: str) -> tuple[GitCheckout, Path]:
    # A worktree is always in `.worktrees` of its main checkout.
    main = main_checkout(str(Path(path).parent.parent))
    return main, checked_worktree_path(main, path)


# Imports commits from another repository on this machine: exactly the requested commit, checked, below refs/gwt-bot and
# on no branch.

IMPORT_REFS = "refs/gwt-bot/"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OBJECTS_ONLY = (
    "--no-tags",
    "--no-prune",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    "--no-write-fetch-head",
    "--no-write-commit-graph",
)


class CommitImport:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def import_commit(self, held: LockedRepository, source: Path, commit: str) -> None:
        if not _COMMIT.fullmatch(commit):
            raise Refused(f"{commit!r} is no commit's full hash")
        if commit in await self._imported_commits(held):
            return
        if not source.is_absolute() or not is_directory(source):
            raise Refused(f"there is no repository at {source}")
        await self._git.write(
            *("fetch", "--quiet", *_OBJECTS_ONLY, "--end-of-options", source.as_uri(), commit),
            at=held.main,
            lock=held.lock,
            protocol="file",
        )
        await self._keep(held, commit)

    async def with_squashed_parents(
        self, held: LockedRepository, commit: str, squashed: Sequence[str]
    ) -> str:
        """Return a commit that also has the squashed commits as parents.

        Its content does not depend on the time, so that repeating gives the same commit.
        """
        for one in (commit, *squashed):
            if not _COMMIT.fullmatch(one):
                raise Refused(f"{one!r} is no commit's full hash")
        at, tree = held.main, Commits(self._git)
        parents = [one for one in squashed if not await tree.is_ancestor(at, commit, one)]
        if not parents:
            return commit
        shown = await self._git.read("show", "--no-patch", "--format=%T %ct", commit, at=at)
        root, seconds = shown.text.split()
        by = f"{COMMITTER_NAME} <{COMMITTER_MAIL}> {seconds} +0000"
        lines = [f"tree {root}", *(f"parent {one}" for one in (commit, *parents))]
        lines += [
            f"author {by}",
            f"committer {by}",
            "",
            f"chore: note what was squashed into {commit[:10]}",
        ]
        made = await self._git.write(
            *("hash-object", "-t", "commit", "-w", "--stdin"),
            at=at,
            lock=held.lock,
            stdin="".join(f"{line}\n" for line in lines).encode(),
        )
        await self._keep(held, made.text)
        return made.text

    async def remove_imports(self, held: LockedRepository, keep: frozenset[str]) -> None:
        """Remove imported commits once the bot has no worktree here.

        Merged ones are on a branch; those in `keep` belong to plans not yet carried out.
        """
        if held.has_worktrees:
            return
        kept = [commit for commit in await self._imported_commits(held) if commit not in keep]
        if not kept:
            return
        orders = "".join(f"delete {IMPORT_REFS}{commit} {commit}\n" for commit in kept)
        await self._git.write(
            *("update-ref", "--no-deref", "--stdin"),
            at=held.main,
            lock=held.lock,
            stdin=orders.encode(),
        )

    async def _keep(self, held: LockedRepository, commit: str) -> None:
        # --no-deref: an agent may have planted a symbolic ref here that points to a branch
        await self._git.write(
            *("update-ref", "--no-deref", IMPORT_REFS + commit, commit),
            at=held.main,
            lock=held.lock,
        )

    async def _imported_commits(self, held: LockedRepository) -> list[str]:
        """Return the imported commits, each of which has a ref of its own."""
        answer = await self._git.read(
            *("for-each-ref", "--format=%(objectname) %(refname) %(symref)", IMPORT_REFS),
            at=held.main,
        )
        lines = [line.split(" ") for line in answer.out.decode("utf-8", "replace").splitlines()]
        return [line[0] for line in lines if line[1:] == [IMPORT_REFS + line[0], ""]]


# A temporary copy of a project: whatever is done in it, the project itself is not changed.

_OWN_SETTINGS = ("user.name", "user.email")


async def temporary_copy(project: Path, environment: Mapping[str, str]) -> Path:
    """Return a copy of the checked-out commit, without uncommitted changes; for a folder without git, an empty one."""
    try:
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="gwt-bot-"))
    except OSError as error:
        where = tempfile.gettempdir()
        reason = f"No temporary folder can be made in {where}: {error.strerror}."
        raise Unavailable(reason, "Say by TMPDIR where one can.") from error
    git = Git(environment)
    top = await git.read("rev-parse", "--show-toplevel", at=project, ok=(0, 128))
    begun = await git.read("rev-parse", "--verify", "--quiet", "HEAD", at=project, ok=(0, 1, 128))
    if top.code or begun.code:
        await git.run_in_new_folder(
            "init", "--quiet", "--template=", "--initial-branch=main", at=folder
        )
        await git.run_in_new_folder("commit", "--quiet", "--allow-empty", "-m", "Begin", at=folder)
        return folder
    options = ("--quiet", "--no-hardlinks", "--template=", "--no-recurse-submodules")
    await git.run_in_new_folder("clone", *options, "--", top.text, str(folder), at=folder)
    for name in _OWN_SETTINGS:
        if value := (await git.read("config", name, at=project, ok=(0, 1))).text:
            await git.run_in_new_folder("config", name, value, at=folder)
    return folder
