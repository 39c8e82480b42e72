"""Branches and worktrees of tasks. Its rule: one change at a time in a repository, and the main checkout is never touched.

The one exception is `move_base`, which a person has confirmed.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from pathlib import Path

from adapters.git.branches import Branches
from adapters.git.by_hand import ByHand
from adapters.git.copying import Bounds, Copying
from adapters.git.deleting import Deleting
from adapters.git.exclude import keep_out_of_status
from adapters.git.forecast import Forecast
from adapters.git.held import Held, LetGo
from adapters.git.ledger import Ledger
from adapters.git.lock import Locks
from adapters.git.merging import Merges
from adapters.git.moving_base import MovingBase, scratch_place
from adapters.git.named import Named
from adapters.git.patches import Patches
from adapters.git.place import Place, main_checkout
from adapters.git.preparing import Preparing
from adapters.git.proofs import Elsewhere
from adapters.git.recovery import remove_stale_locks
from adapters.git.relinking import Relinking
from adapters.git.removing import Removing
from adapters.git.run import INHERITED, Git
from adapters.git.standing import checked_branch, checked_path
from adapters.git.taking_in import TakingIn
from adapters.git.tree import Tree
from adapters.git.trust import Trust
from adapters.git.writing import checked, write_inside
from bot.domain.world import Collision, Commit, Merged, Removal, Work
from bot.errors import Refused
from bot.machine import of_the_machine


class GitWorktrees:
    """`home` is the bot's own directory, where it notes what it made in which repository. `let_go` is told of each
    worktree that is gone."""

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str] | None = None,
        *,
        umask: int = INHERITED,
        copy_bounds: Bounds | None = None,
        let_go: LetGo | None = None,
    ) -> None:
        self._let_go = let_go
        self._git = Git(environment, umask=umask)
        self._ledger = Ledger(home)
        self._locks = Locks()
        self._tree = Tree(self._git)
        self._patches = Patches(self._git)
        self._trust = Trust(self._git, self._ledger)
        self._merges = Merges(self._git, self._tree)
        self._preparing = Preparing(self._git, self._tree, self._trust)
        self._removing = Removing(self._git, self._tree, self._trust)
        self._deleting = Deleting(Branches(self._git, self._trust), self._removing)
        self._moving_base = MovingBase(self._git, self._tree, self._preparing)
        self._by_hand = ByHand(self._tree)
        self._copying = Copying(self._git, home, copy_bounds or Bounds())
        self._forecast = Forecast(self._git, self._tree)
        self._taking_in = TakingIn(self._git)
        self._relinking = Relinking(self._git, self._ledger)

    async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
        checked_branch(branch)
        async with self._held(repository) as held:
            place = checked_path(held.main, path)
            keep_out_of_status(held.main)
            return await self._preparing.prepare(held, branch, place, start)

    async def hide(self, repository: str, folder: str) -> None:
        async with self._held(repository) as held:
            tracked = await self._git.read(
                *("ls-files", "-z", "--", folder), at=held.main, limit=1024
            )
            if not tracked.out:
                keep_out_of_status(held.main, (f"/{folder}/",))

    async def copy_ignored(
        self, repository: str, path: str, patterns: tuple[str, ...]
    ) -> tuple[str, ...]:
        main = main_checkout(repository)
        at = await self._readable(str(checked_path(main, path)))
        return await self._copying.copy(main, at, patterns)

    async def collisions(self, repository: str, branches: tuple[str, ...]) -> tuple[Collision, ...]:
        main = main_checkout(repository)
        await self._trust.check(main)
        return await self._forecast.collisions(main, branches)

    async def relink(self, former: str, repository: str) -> None:
        main = main_checkout(repository)
        were = self._relinking.take_over(Path(former), main.top, main.common)
        async with self._held(repository) as held:
            await self._relinking.repair(held)
        if let_go := self._let_go:
            for path in were:
                await let_go(path)

    async def take_in(self, repository: str, source: str, commit: str) -> None:
        async with self._held(repository) as held:
            await self._taking_in.take_in(held, Path(source), commit)

    async def let_go(self, repository: str, keep: frozenset[str]) -> None:
        async with self._held(repository) as held:
            await self._taking_in.let_go(held, keep)

    async def with_history(self, repository: str, commit: str, squashed: tuple[str, ...]) -> str:
        async with self._held(repository) as held:
            return await self._taking_in.with_history(held, commit, squashed)

    async def merge(self, path: str, branch: str, message: str, *, plan: str = "") -> Merged:
        folder = "/".join(checked(plan.rstrip("/"))) if plan else ""
        main, place = _located(path)
        async with self._held(str(main.top)) as held:
            at = await self._writable(held, place)
            other = await self._tree.commit(at, branch)
            made = held.made(place)
            return await self._merges.merge(
                at,
                other,
                message,
                lock=held.lock,
                begun=made.merging if made else None,
                note=held.merge_note(place),
                plan=folder,
            )

    async def commit_files(self, path: str, files: dict[str, str], message: str) -> str:
        for name in files:
            checked(name)
        main, place = _located(path)
        async with self._held(str(main.top)) as held:
            at = await self._writable(held, place)
            write_inside(place, files)
            if files:
                await self._commit(at, tuple(files), message, held.lock)
            return await self._tree.commit(at, "HEAD")

    async def work(self, path: str, since: str, exclude: Iterable[str] = ()) -> Work:
        at = await self._readable(path)
        return await self._tree.work(at, await self._tree.commit(at, since), exclude)

    async def changed(self, path: str, since: str, names: tuple[str, ...]) -> dict[str, str]:
        at = await self._readable(path)
        return await Named(self._git).changed(at, await self._tree.commit(at, since), names)

    async def diff(self, path: str, since: str, limit: int, until: str = "HEAD") -> str:
        at = await self._readable(path)
        older, newer = await self._tree.commit(at, since), await self._tree.commit(at, until)
        return await self._patches.patch(at, older, newer, limit)

    async def merge_all(
        self, repository: str, base_branch: str, branches: Mapping[str, str], scratch: str
    ) -> Merged:
        async with self._held(repository) as held:
            place = checked_path(held.main, scratch)
            keep_out_of_status(held.main)
            return await self._moving_base.merge_all(held, base_branch, branches, place)

    async def move_base(self, repository: str, base_branch: str, commit: str) -> None:
        async with self._held(repository) as held:
            await self._moving_base.move(held, base_branch, commit)

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
        folder = "/".join(checked(plan.rstrip("/"))) if plan else ""
        kept = Elsewhere(merged_into, merged_tip, folder)
        async with self._held(repository) as held:
            place = checked_path(held.main, path)
            return await self._removing.remove(held, place, branch, kept)

    async def delete_branch(
        self, repository: str, branch: str, commit: str, lost: int, *, worktree: str = ""
    ) -> None:
        async with self._held(repository) as held:
            place = checked_path(held.main, worktree) if worktree else None
            await self._deleting.delete(held, branch, commit, lost, place)

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
            place = checked_path(held.main, path)
            keep_out_of_status(held.main)
            await self._preparing.scratch(held, place, await self._tree.commit(held.main, commit))
            if restored:
                at = scratch_place(held, place)
                if at is None:
                    raise Refused(f"git made no worktree at {path}")
                await self._preparing.restore(held, at, restored, since)

    async def remove_scratch(self, repository: str, path: str) -> None:
        async with self._held(repository) as held:
            await self._preparing.remove_scratch(held, checked_path(held.main, path))

    async def log(self, repository: str, since: str, until: str) -> tuple[Commit, ...]:
        main = main_checkout(repository)
        await self._trust.check(main)
        older = await self._tree.commit(main, since)
        newer = await self._tree.commit(main, until)
        return await self._tree.commits(main, older, newer)

    @contextlib.asynccontextmanager
    async def _held(self, repository: str) -> AsyncGenerator[Held]:
        main = main_checkout(repository)
        async with self._locks.held(main.common) as lock:
            # looked at under the lock, so a page is never saved over a newer one
            page = await self._trust.page(main)
            try:
                yield Held(main, lock, self._ledger, page, self._let_go)
            except OSError as error:
                where = error.filename or main.top
                refused = Refused(f"{where} cannot be written: {error.strerror}")
                raise of_the_machine(error, main.top) or refused from error

    async def _readable(self, path: str) -> Place:
        main, place = _located(path)
        at = await self._trust.worktree(main, place)
        page = self._ledger.page(main.top)
        await self._by_hand.require_branch(
            main, place, page.worktrees.get(str(place)) if page else None
        )
        return at

    async def _writable(self, held: Held, place: Path) -> Place:
        at = await self._trust.worktree(held.main, place)
        made = held.made(place)
        remove_stale_locks(held.main, place, at.git_dir, made.branch if made else "")
        await self._by_hand.require_branch(held.main, place, made)
        return at

    async def _commit(self, at: Place, names: tuple[str, ...], message: str, lock: int) -> None:
        """Commit these paths and no others, whatever else an agent has staged."""
        told = b"".join(name.encode() + b"\0" for name in names)
        pathspec = ("--pathspec-from-file=-", "--pathspec-file-nul")
        # --sparse: what lies outside of a sparse checkout is committed, too
        await self._git.write("add", "--force", "--sparse", *pathspec, at=at, lock=lock, stdin=told)
        head = await self._tree.commit(at, "HEAD")
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


def _located(path: str) -> tuple[Place, Path]:
    """A worktree lies in `.worktrees` of its main checkout."""
    main = main_checkout(str(Path(path).parent.parent))
    return main, checked_path(main, path)
