"""Puts bubblewrap around a command line. Its rule: what cannot be sandboxed is refused, never run without.

Seen are the machine's programs and the worktree; the home folder is one of the worktree's own. An agent is lent besides what its
CLI needs to be logged in, and its run's folder. Not there: the bot's home and `.env`, the main checkout, other worktrees, other
homes, the processes of others, and every socket of the machine's. The network is shared.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from adapters.sandbox import machine
from adapters.sandbox.checkout import checkout
from adapters.sandbox.homes import Homes, copy
from adapters.sandbox.machine import covered, hidden, read_only, writable
from bot.domain.world import Lent
from bot.errors import Refused, Unavailable

log = logging.getLogger("bot.sandbox")
SECONDS = 20.0
NOT_HERE = "The sandbox (SANDBOX=bwrap) does not work here"


class Bubblewrap:
    """Implements bot.ports.Sandbox. `hides`: what must not be seen even where an operator shows a folder around it."""

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
        self._homes = Homes(home / "homes", environ)
        self._reads = [Path(one) for one in reads]
        self._writes = [Path(one) for one in writes]
        self._hides = sorted({home, *hides}, key=lambda path: len(path.parts))
        self._program = shutil.which(program, path=environ.get("PATH", os.defpath)) or ""

    async def require(self) -> None:
        """Raise Unavailable, with how it is mended, where nothing can be run in it."""
        if not self._program:
            raise Unavailable(
                f"{NOT_HERE}: bubblewrap is not installed.",
                "Install it (`apt-get install bubblewrap`, `dnf install bubblewrap`), or set SANDBOX=none.",
            )
        if covered(Path("/usr"), [self._user_home]) or covered(self._user_home, machine.SYSTEM):
            raise Unavailable(
                f"{NOT_HERE}: HOME is {self._user_home}.", "Set HOME to a folder of its own."
            )
        said = await self._tried()
        if said is not None:
            raise Unavailable(f"{NOT_HERE}: {said}", _remedy(said))

    def around(
        self, argv: Sequence[str], cwd: str = "", lent: Lent | None = None, *, writes: str = ""
    ) -> tuple[str, ...]:
        """The command line in a sandbox. Without a worktree it sees no more than programs and an empty home."""
        if not self._program:
            raise Unavailable(f"{NOT_HERE}: bubblewrap is not installed.", "Install bubblewrap.")
        words = [
            *(self._program, *machine.isolation(), *self._system),
            *(self._at_work(argv, cwd, lent) if cwd else self._trying(argv)),
            *(writable(Path(writes)) if writes else ()),
            *("--remount-ro", "/"),
            *self._variables(),
            *("--chdir", cwd or str(self._user_home), "--", *argv),
        ]
        return tuple(words)

    def _at_work(self, argv: Sequence[str], cwd: str, lent: Lent | None) -> list[str]:
        home = self._homes.prepared(cwd, agent=lent is not None)
        return [
            *writable(home, self._user_home),
            *self._shown(argv, cwd),
            *(self._lent(lent, home) if lent else ()),
            *checkout(Path(cwd)),
            *(writable(Path(lent.spool)) if lent and lent.spool else ()),
        ]

    def _trying(self, argv: Sequence[str]) -> list[str]:
        """Whether a program starts: nothing of it is to be found anywhere afterwards."""
        return ["--tmpfs", str(self._user_home), *self._shown(argv, "")]

    def outside(self, cwd: str, path: Path, folders: Iterable[str] = ()) -> Path:
        """Where on the machine lies what an agent of this worktree sees under a path of its home or folders."""
        home = self._homes.of(cwd, agent=True)
        for folder in (Path(one) for one in folders):
            if covered(path, [folder]) and not covered(folder, [self._user_home]):
                return _elsewhere(home, folder) / path.relative_to(folder)
        return (
            home / path.relative_to(self._user_home) if covered(path, [self._user_home]) else path
        )

    async def let_go(self, cwd: str) -> None:
        """What is left is told in the log alone: nobody's work waits for it."""
        if why := await asyncio.to_thread(self._homes.remove, cwd):
            log.warning("a home was left", extra={"data": {"worktree": cwd, "why": why}})

    @cached_property
    def _system(self) -> list[str]:
        return machine.system()

    def _shown(self, argv: Sequence[str], cwd: str) -> list[str]:
        """Programs of the PATH and what the operator shows; what is hidden stays so, wherever it lies."""
        code = [*machine.programs(self._environ), *machine.packages(argv)]
        seen = [one for one in dict.fromkeys(code) if not covered(one.resolve(), machine.SYSTEM)]
        seen = [one for one in seen if not covered(self._user_home, [one])]
        binds = [(one, read_only(one)) for one in (*seen, *self._reads) if one.exists()]
        binds += [(one, writable(one)) for one in self._writes if one.exists()]
        shown = [*machine.SYSTEM, *(path for path, _ in binds)]
        hides = [*self._hides, *((Path(cwd).parent.parent,) if cwd else ())]
        binds = [(path, bind) for path, bind in binds if path not in hides]
        inside = [path for path, _ in binds if covered(path, hides)]
        words = [word for path, bind in binds if path not in inside for word in bind]
        for path in hides:
            if path.exists() and covered(path, shown):
                words += hidden(path)
        return words + [word for path, bind in binds if path in inside for word in bind]

    def _lent(self, lent: Lent, home: Path) -> list[str]:
        words: list[str] = []
        for folder in (Path(one) for one in lent.folders):
            if not covered(folder, [self._user_home]):
                own = _elsewhere(home, folder)
                own.mkdir(mode=0o700, parents=True, exist_ok=True)
                words += writable(own, folder)
        for name in lent.copies:
            self._copy(Path(name), home, lent)
        for name in lent.reads:
            words += ["--ro-bind-try", name, name]
        for name in lent.writes:
            words += ["--bind-try", name, name]
        return words

    def _copy(self, source: Path, home: Path, lent: Lent) -> None:
        for folder in (Path(one) for one in lent.folders):
            if covered(source, [folder]) and not covered(folder, [self._user_home]):
                copy(source, _elsewhere(home, folder), source.relative_to(folder))
                return
        if covered(source, [self._user_home]):
            copy(source, home, source.relative_to(self._user_home))

    def _variables(self) -> list[str]:
        kept = ["--setenv", "HOME", str(self._user_home), "--setenv", "TMPDIR", "/tmp"]  # noqa: S108 - not the bot's
        return [*kept, "--unsetenv", "TMUX", "--unsetenv", "TMUX_PANE"]

    async def _tried(self) -> str | None:
        """What it says when it does not work; None: it does."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self.around(("/bin/sh", "-c", ":")),
                env={name: self._environ[name] for name in ("PATH",) if name in self._environ},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        except (OSError, Refused) as error:
            return str(error)
        try:
            async with asyncio.timeout(SECONDS):
                _, said = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            return f"it did not start a program within {SECONDS:.0f} s."
        told = said.decode("utf-8", "replace").strip() or f"exit code {process.returncode}"
        return None if process.returncode == 0 else told[:300]


def _elsewhere(home: Path, folder: Path) -> Path:
    """For a folder of a CLI's that does not lie in the home folder: beside it, out of the agent's sight."""
    return home.with_name(f"{home.name}{str(folder).replace('/', '+')}")


def _remedy(said: str) -> str:
    if "namespace" in said or "uid map" in said or "Operation not permitted" in said:
        return (
            "Let ordinary users make user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu also "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile for bwrap; in a container "
            "run the bot as another user than root, or with `--security-opt seccomp=unconfined`. Or set SANDBOX=none."
        )
    return "Look at what it says, or set SANDBOX=none."
