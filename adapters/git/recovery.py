"""Clears away what a git of the bot's left when it was killed. Its rule: a file goes only if git can make it again.

Called under the repository's lock, so no git of the bot's is alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from adapters.git.place import Place, first_line, is_directory
from adapters.git.run import Git
from adapters.git.standing import Standing, git_at_work_in
from bot.errors import Refused

OLD = 300.0
"""Seconds after which a lock that all share is taken for one that nobody holds: git needs it for an instant."""
SUSPECTS = 32
"""A killed checkout leaves one file half written, or one per worker. More than this is somebody's work."""


@dataclass(frozen=True)
class Entry:
    mode: str
    blob: str


class Recovery:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def clear(
        self,
        main: Place,
        path: Path,
        commit: str,
        entries: list[Standing],
        ignored: tuple[str, ...] = (),
    ) -> None:
        """Remove a half-made or half-removed worktree.

        `ignored` is what the repository ignored there when its removal began: a worktree is clean with it, so it goes
        with it. Refused, with nothing removed, where any other file is somebody's.
        """
        if is_directory(path):
            proven = await self._proven(main, path, commit, entries, ignored)
            _remove(path, proven)
        for entry in entries:
            shutil.rmtree(entry.git_dir)

    async def _proven(
        self,
        main: Place,
        path: Path,
        commit: str,
        entries: list[Standing],
        ignored: tuple[str, ...],
    ) -> list[Path]:
        """All files below `path`, each of which git can make again."""
        files = await asyncio.to_thread(_files, path)
        tree = await self._tree(main, commit)
        pointer = path / ".git"
        own = [pointer] if pointer in files and _is_pointer(pointer, main, entries) else []
        passed = [file for file in files if _covered(str(file.relative_to(path)), ignored)]
        known = {*own, *passed}
        rest = [file for file in files if file not in known]
        foreign = await self._foreign(main.linked(main.git_dir, path), rest, tree)
        if foreign:
            names = ", ".join(str(file.relative_to(path)) for file in foreign[:5])
            raise Refused(
                "taken",
                f"{path} was left half made and holds files that are not the bot's ({names}). "
                "Move them away, and try again.",
            )
        return files

    async def _tree(self, main: Place, commit: str) -> dict[str, Entry]:
        answer = await self._git.read("ls-tree", "-r", "-z", "--full-tree", commit, at=main)
        tree: dict[str, Entry] = {}
        for field in answer.fields:
            facts, _, name = field.partition("\t")
            mode, _, blob = facts.split()
            tree[name] = Entry(mode, blob)
        return tree

    async def _foreign(self, at: Place, files: list[Path], tree: dict[str, Entry]) -> list[Path]:
        """The files that are neither as in the tree nor the beginning of what they should become."""
        named = {file: str(file.relative_to(at.top)) for file in files}
        known = [file for file in files if named[file] in tree]
        foreign = [file for file in files if named[file] not in tree]
        links = [file for file in known if file.is_symlink()]
        plain = [file for file in known if not file.is_symlink()]
        hashes = await self._hashes(at, [named[file] for file in plain])
        suspects = links + [
            file for file, blob in zip(plain, hashes, strict=True) if blob != tree[named[file]].blob
        ]
        if len(suspects) > SUSPECTS + len(links):
            return foreign + suspects
        begun = [await self._begins(at, file, named[file], tree[named[file]]) for file in suspects]
        return foreign + [file for file, ours in zip(suspects, begun, strict=True) if not ours]

    async def _hashes(self, at: Place, names: list[str]) -> list[str]:
        """As git would store them: the repository's own filters and line endings included."""
        if not names:
            return []
        if any("\n" in name for name in names):
            raise Refused("taken", f"{at.top} was left half made. Remove it by hand.")
        told = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        answer = await self._git.read("hash-object", "--stdin-paths", at=at, stdin=told)
        return answer.text.splitlines()

    async def _begins(self, at: Place, file: Path, name: str, entry: Entry) -> bool:
        link, content = _content(file)
        if link:
            wanted = await self._git.read("cat-file", "blob", entry.blob, at=at)
            return content == wanted.out
        wanted = await self._git.read(
            *("cat-file", "--filters", f"--path={name}", entry.blob), at=at
        )
        return wanted.out.startswith(content)


def remove_stale_locks(main: Place, path: Path, git_dir: Path | None, branch: str) -> None:
    """Lock files of a killed git, in the bot's own names only: the branch's, and those of its worktree."""
    locks = [main.common / "refs" / "heads" / f"{branch}.lock"] if branch else []
    if git_dir is not None:
        locks += git_dir.glob("*.lock")  # index, HEAD, ORIG_HEAD, next-index-<pid> …
    left = [lock for lock in locks if lock.exists()]
    # an agent or a person may use git here, too: theirs is alive as long as its lock is
    if left and not git_at_work_in(path, main.top):
        for lock in left:
            lock.unlink(missing_ok=True)


def remove_old_lock(main: Place) -> None:
    """What a git that was killed while it deleted a branch may leave: nobody could delete one any more, people neither.

    It may be a person's, so it goes only when it is old and no git is at work there.
    """
    lock = main.common / "packed-refs.lock"
    with contextlib.suppress(FileNotFoundError):
        age = time.time() - lock.stat().st_mtime
        if age > OLD and not git_at_work_in(main.top):
            lock.unlink()


def _files(path: Path) -> list[Path]:
    """Everything but directories. What is no file and no link (a FIFO, a device) git never made: it counts as a file."""
    found: list[Path] = []
    for directory, inner, names in os.walk(path):
        here = Path(directory)
        links = [name for name in inner if (here / name).is_symlink()]
        found += [here / name for name in (*names, *links)]
    odd = [file for file in found if not _ordinary(file)]
    if odd:
        raise Refused("taken", f"{odd[0]} is no ordinary file. Move it away, and try again.")
    return found


def _content(file: Path) -> tuple[bool, bytes]:
    """Whether it is a symbolic link, and what is in it."""
    if file.is_symlink():
        return True, os.fsencode(file.readlink())
    return False, file.read_bytes()


def _covered(name: str, ignored: tuple[str, ...]) -> bool:
    return any(name == part or (part.endswith("/") and name.startswith(part)) for part in ignored)


def _ordinary(file: Path) -> bool:
    mode = file.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _is_pointer(pointer: Path, main: Place, entries: list[Standing]) -> bool:
    """The `.git` file git wrote, or the beginning of it."""
    if pointer.is_symlink():
        return False
    line = first_line(pointer)
    expected = [f"gitdir: {entry.git_dir}" for entry in entries]
    below = f"gitdir: {main.common / 'worktrees'}/"
    return line.startswith(below) or below.startswith(line) or line in expected


def _remove(path: Path, files: list[Path]) -> None:
    """Exactly these files, then what is empty. What somebody put there meanwhile stays, with its directory."""
    for file in files:
        file.unlink(missing_ok=True)
    for directory, _, _ in os.walk(path, topdown=False):
        with contextlib.suppress(OSError):
            Path(directory).rmdir()
    if path.exists():
        raise Refused("taken", f"{path} holds files that are not the bot's. Move them away.")
