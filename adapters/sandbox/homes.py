"""Home folders of those in the sandbox: each worktree has one for its agents and one for its commands, which lasts.

Whoever works there can put links and pipes into it, so what the bot writes there goes through no link.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from bot.errors import Refused

LARGEST = 16 << 20
"""Bytes of a file that is copied."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Homes:
    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = {name: environ[name] for name in ("PATH", "HOME") if name in environ}

    def of(self, cwd: str, *, agent: bool) -> Path:
        """Agents and commands have one each: a login that an agent needs is no business of the tests."""
        key = hashlib.sha256(cwd.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return self._root / key / ("agent" if agent else "commands")

    def prepared(self, cwd: str, *, agent: bool) -> Path:
        home = self.of(cwd, agent=agent)
        for folder in (self._root, home.parent, home):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (home / ".gitconfig").is_symlink() and not (home / ".gitconfig").exists():
            write(home, Path(".gitconfig"), self._identity)
        return home

    def remove(self, cwd: str) -> str:
        """Both of a worktree that is gone, through no link. Why they were left; empty: they are gone."""
        homes = self.of(cwd, agent=True).parent
        if homes.is_symlink() or not homes.is_dir():
            return ""
        if pid := _lives_in(homes):
            return f"process {pid} lives there"
        try:
            _open_up(homes)
            shutil.rmtree(homes)
        except (OSError, RecursionError) as error:
            return str(error)
        return ""

    @cached_property
    def _identity(self) -> bytes:
        """Under whose name commits are made. Nothing else of somebody's ~/.gitconfig: tokens can stand there."""
        lines = ["[user]"]
        for key in ("name", "email"):
            told = subprocess.run(
                ["git", "config", "--global", "--get", f"user.{key}"],
                cwd="/",
                env=self._environ,
                capture_output=True,
                check=False,
            )
            value = told.stdout.decode("utf-8", "replace").strip()
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            lines += [f'\t{key} = "{quoted}"'] if value else []
        return ("\n".join(lines) + "\n").encode()


def _lives_in(homes: Path) -> int:
    """A process in a sandbox sees them as somebody's home folder: only what is mounted for it tells. 0: nobody does."""
    marks = (f"/{homes.parent.name}/{homes.name}/", f"/{homes.parent.name}/{homes.name} ")
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            mounted = (process / "mountinfo").read_text(encoding="utf-8", errors="replace")
            if any(mark in mounted for mark in marks):
                return int(process.name)
    return 0


def _open_up(homes: Path) -> None:
    """Caches come read-only (Go's modules), and what is in such a folder cannot be removed."""
    for _, names, _, folder in os.fwalk(homes):
        for name in names:
            with contextlib.suppress(NotADirectoryError, FileNotFoundError):  # a link is no folder
                below = os.open(name, _FOLDER | os.O_PATH, dir_fd=folder)
                try:
                    Path(f"/proc/self/fd/{below}").chmod(0o700)
                finally:
                    os.close(below)


def copy(source: Path, home: Path, name: Path) -> None:
    """A file of the user's, as it is now. Whatever is changed in the copy is not changed in the file."""
    try:
        with source.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return
            content = file.read(LARGEST)
    except OSError:
        return
    write(home, name, content)


def write(home: Path, name: Path, content: bytes) -> None:
    """Below the home, whole or not at all, and through no link."""
    folder = os.open(home, _FOLDER)
    try:
        for part in name.parent.parts:
            folder = _into(folder, part)
        new = f".{name.name}.new"
        _remove(folder, new)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(new, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
        os.rename(new, name.name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        raise Refused(
            f"{home / name} cannot be written: {error.strerror}",
            f"Remove {home}: it is made anew.",
        ) from error
    finally:
        os.close(folder)


def _into(folder: int, part: str) -> int:
    """The folder below, made where it lacks; the one above is let go."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, 0o700, dir_fd=folder)
    below = os.open(part, _FOLDER, dir_fd=folder)
    os.close(folder)
    return below


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
