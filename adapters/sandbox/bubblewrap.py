"""The sandbox port: wraps a command line in bubblewrap.

A command that cannot be sandboxed is refused, never run without. Visible are the machine's programs, the worktree, and
a home folder for the worktree; for an agent also its run's folder and what its CLI needs to be logged in. Not visible:
the bot's home and `.env`, the main checkout, other worktrees, other homes, processes of others, and all sockets of the
machine. The network is shared.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import shutil
import stat
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from adapters.files import UnsyncedDisk, open_folder_below
from adapters.processes import ProgramTimeout, run, run_blocking
from adapters.sandbox import mounts
from adapters.sandbox.mounts import checkout_mounts, hidden, is_covered, read_only, writable
from bot.core.errors import Refused, Unavailable
from bot.core.runs import SandboxPaths

log = logging.getLogger("bot.sandbox")
TRIAL_SECONDS = 20.0
GIT_SECONDS = 10.0
NOT_HERE = "The sandbox (SANDBOX=bwrap) does not work here"


class Bubblewrap:
    """Implements bot.ports.Sandbox.

    `hides`: paths that stay invisible even if the operator shares a folder around them.
    """

    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str],
        *,
        reads: Iterable[str] = (),
        writes: Iterable[str] = (),
        hides: Iterable[Path] = (),
        program: str = "bwrap",
    ) -> None:
        self._environ = dict(environ)
        self._user_home = Path(environ.get("HOME") or "/")
        self._homes = SandboxHomes(home / "homes", environ)
        self._reads = [Path(one) for one in reads]
        self._writes = [Path(one) for one in writes]
        self._hides = sorted({home, *hides}, key=lambda path: len(path.parts))
        self._program = shutil.which(program, path=environ.get("PATH", os.defpath)) or ""

    async def require(self) -> None:
        """Raise Unavailable, with the remedy, if nothing can be run in it."""
        if not self._program:
            raise Unavailable(
                f"{NOT_HERE}: bubblewrap is not installed.",
                "Install it (`apt-get install bubblewrap`, `dnf install bubblewrap`), or set SANDBOX=none.",
            )
        if is_covered(Path("/usr"), [self._user_home]) or is_covered(
            self._user_home, mounts.SYSTEM_FOLDERS
        ):
            raise Unavailable(
                f"{NOT_HERE}: HOME is {self._user_home}.", "Set HOME to a folder of its own."
            )
        said = await self._probe_error()
        if said is not None:
            raise Unavailable(f"{NOT_HERE}: {said}", _remedy(said))

    def around(
        self,
        argv: Sequence[str],
        cwd: str = "",
        paths: SandboxPaths | None = None,
        *,
        writes: str = "",
    ) -> tuple[str, ...]:
        """Return the command line in a sandbox. Without a worktree it sees only programs and an empty home."""
        if not self._program:
            raise Unavailable(f"{NOT_HERE}: bubblewrap is not installed.", "Install bubblewrap.")
        words = [
            *(self._program, *mounts.isolation_options(), *self._system),
            *(self._at_work(argv, cwd, paths) if cwd else self._probe_options(argv)),
            *(writable(Path(writes)) if writes else ()),
            *("--remount-ro", "/"),
            *self._variables(),
            *("--chdir", cwd or str(self._user_home), "--", *argv),
        ]
        return tuple(words)

    def _at_work(self, argv: Sequence[str], cwd: str, lent: SandboxPaths | None) -> list[str]:
        home = self._homes.prepared(cwd, agent=lent is not None)
        return [
            *writable(home, self._user_home),
            *self._visible_mounts(argv, cwd),
            *(self._lent(lent, home) if lent else ()),
            *checkout_mounts(Path(cwd)),
            *(writable(Path(lent.spool)) if lent and lent.spool else ()),
        ]

    def _probe_options(self, argv: Sequence[str]) -> list[str]:
        # To try whether a program starts; nothing it writes is kept.
        return ["--tmpfs", str(self._user_home), *self._visible_mounts(argv, "")]

    def outside(self, cwd: str, path: Path, folders: Iterable[str] = ()) -> Path:
        """Return where a path of the home or folders that an agent of this worktree sees really is."""
        home = self._homes.home_for(cwd, agent=True)
        for folder in (Path(one) for one in folders):
            if is_covered(path, [folder]) and not is_covered(folder, [self._user_home]):
                return _outside_folder(home, folder) / path.relative_to(folder)
        return (
            home / path.relative_to(self._user_home)
            if is_covered(path, [self._user_home])
            else path
        )

    async def let_go(self, cwd: str) -> None:
        """Remove the homes of a worktree. Errors are only logged, because nobody's work depends on it."""
        if why := await asyncio.to_thread(self._homes.remove, cwd):
            log.warning("a home was left", extra={"data": {"worktree": cwd, "why": why}})

    @cached_property
    def _system(self) -> list[str]:
        return mounts.system_mounts()

    def _visible_mounts(self, argv: Sequence[str], cwd: str) -> list[str]:
        """Return the mounts for programs on the PATH and paths shared by the operator; hidden paths stay hidden
        everywhere.
        """
        code = [*mounts.program_folders(self._environ), *mounts.program_targets(argv)]
        seen = [
            one
            for one in dict.fromkeys(code)
            if not is_covered(one.resolve(), mounts.SYSTEM_FOLDERS)
        ]
        seen = [one for one in seen if not is_covered(self._user_home, [one])]
        binds = [(one, read_only(one)) for one in (*seen, *self._reads) if one.exists()]
        binds += [(one, writable(one)) for one in self._writes if one.exists()]
        shown = [*mounts.SYSTEM_FOLDERS, *(path for path, _ in binds)]
        hides = [*self._hides, *((Path(cwd).parent.parent,) if cwd else ())]
        binds = [(path, bind) for path, bind in binds if path not in hides]
        inside = [path for path, _ in binds if is_covered(path, hides)]
        words = [word for path, bind in binds if path not in inside for word in bind]
        for path in hides:
            if path.exists() and is_covered(path, shown):
                words += hidden(path)
        return words + [word for path, bind in binds if path in inside for word in bind]

    def _lent(self, lent: SandboxPaths, home: Path) -> list[str]:
        words: list[str] = []
        for folder in (Path(one) for one in lent.folders):
            if not is_covered(folder, [self._user_home]):
                own = _outside_folder(home, folder)
                own.mkdir(mode=0o700, parents=True, exist_ok=True)
                words += writable(own, folder)
        for name in lent.copies:
            self._copy(Path(name), home, lent)
        for name in lent.reads:
            words += ["--ro-bind-try", name, name]
        for name in lent.writes:
            words += ["--bind-try", name, name]
        return words

    def _copy(self, source: Path, home: Path, lent: SandboxPaths) -> None:
        for folder in (Path(one) for one in lent.folders):
            if is_covered(source, [folder]) and not is_covered(folder, [self._user_home]):
                copy_into_home(source, _outside_folder(home, folder), source.relative_to(folder))
                return
        if is_covered(source, [self._user_home]):
            copy_into_home(source, home, source.relative_to(self._user_home))

    def _variables(self) -> list[str]:
        kept = ["--setenv", "HOME", str(self._user_home), "--setenv", "TMPDIR", "/tmp"]  # noqa: S108 - not the bot's
        return [*kept, "--unsetenv", "TMUX", "--unsetenv", "TMUX_PANE"]

    async def _probe_error(self) -> str | None:
        """Return the error message of a test run, or None if the sandbox works."""
        try:
            ended = await run(
                self.around(("/bin/sh", "-c", ":")),
                env={name: self._environ[name] for name in ("PATH",) if name in self._environ},
                seconds=TRIAL_SECONDS,
            )
        except ProgramTimeout:
            return f"it did not start a program within {TRIAL_SECONDS:.0f} s."
        except (OSError, Refused) as error:
            return str(error)
        told = ended.err.text().strip() or f"exit code {ended.code}"
        return None if ended.code == 0 else told[:300]


def _outside_folder(home: Path, folder: Path) -> Path:
    # For a CLI's folder outside of the home folder: next to the sandbox home, out of the agent's sight.
    return home.with_name(f"{home.name}{str(folder).replace('/', '+')}")


def _remedy(said: str) -> str:
    if "namespace" in said or "uid map" in said or "Operation not permitted" in said:
        return (
            "Let ordinary users make user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu also "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile for bwrap; in a container "
            "run the bot as another user than root, or with `--security-opt seccomp=unconfined`. Or set SANDBOX=none."
        )
    return "Look at what it says, or set SANDBOX=none."


# Home folders inside the sandbox: each worktree has a persistent one for its agents and one for its commands. Programs
# there can create links and pipes in it, so the bot writes there without following links.

MAX_COPY_BYTES = 16 << 20
"""Bytes of a file that is copied."""


class SandboxHomes:
    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = {name: environ[name] for name in ("PATH", "HOME") if name in environ}

    def home_for(self, cwd: str, *, agent: bool) -> Path:
        # Separate homes for agents and commands: tests must not see the login of an agent.
        key = hashlib.sha256(cwd.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return self._root / key / ("agent" if agent else "commands")

    def prepared(self, cwd: str, *, agent: bool) -> Path:
        home = self.home_for(cwd, agent=agent)
        for folder in (self._root, home.parent, home):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (home / ".gitconfig").is_symlink() and not (home / ".gitconfig").exists():
            write_into_home(home, Path(".gitconfig"), self._identity)
        return home

    def remove(self, cwd: str) -> str:
        """Remove both homes of a removed worktree, without following links.

        Return why they were kept, or an empty string.
        """
        homes = self.home_for(cwd, agent=True).parent
        if homes.is_symlink() or not homes.is_dir():
            return ""
        if pid := _process_using(homes):
            return f"process {pid} lives there"
        try:
            _make_removable(homes)
            shutil.rmtree(homes)
        except (OSError, RecursionError) as error:
            return str(error)
        return ""

    @cached_property
    def _identity(self) -> bytes:
        # The identity for commits. Nothing else of ~/.gitconfig is copied, because it may contain tokens.
        lines = ["[user]"]
        for key in ("name", "email"):
            command = ("git", "config", "--global", "--get", f"user.{key}")
            _, told, _ = run_blocking(command, cwd="/", env=self._environ, seconds=GIT_SECONDS)
            value = told.decode("utf-8", "replace").strip()
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            lines += [f'\t{key} = "{quoted}"'] if value else []
        return ("\n".join(lines) + "\n").encode()


def _process_using(homes: Path) -> int:
    """Return the pid of a process that uses the homes, found by its mounts because inside a sandbox they have another
    path; 0 if there is none.
    """
    marks = (f"/{homes.parent.name}/{homes.name}/", f"/{homes.parent.name}/{homes.name} ")
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            mounted = (process / "mountinfo").read_text(encoding="utf-8", errors="replace")
            if any(mark in mounted for mark in marks):
                return int(process.name)
    return 0


def _make_removable(homes: Path) -> None:
    # Some caches are read-only (Go's modules), and files in such a folder cannot be removed.
    for _, names, _, folder in os.fwalk(homes):
        for name in names:
            with contextlib.suppress(NotADirectoryError, FileNotFoundError):  # a link is no folder
                flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
                below = os.open(name, flags, dir_fd=folder)
                try:
                    Path(f"/proc/self/fd/{below}").chmod(0o700)
                finally:
                    os.close(below)


def copy_into_home(source: Path, home: Path, name: Path) -> None:
    """Copy a file of the user into the home; changes to the copy do not affect the original."""
    try:
        with source.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return
            content = file.read(MAX_COPY_BYTES)
    except OSError:
        return
    write_into_home(home, name, content)


def write_into_home(home: Path, name: Path, content: bytes) -> None:
    """Write a file below the home, atomically and without following links."""
    try:
        with open_folder_below(home, name.parent.parts, make=0o700) as folder:
            UnsyncedDisk().replace(Path(name.name), content, folder=folder)
    except OSError as error:
        raise Refused(
            f"{home / name} cannot be written: {error.strerror}",
            f"Remove {home}: it is made anew.",
        ) from error


def _remove_entry(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
