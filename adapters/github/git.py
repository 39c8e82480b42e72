"""The one place here that starts git. Its rule: an argument list, an environment made from nothing, a limit of time.

Hooks, helpers, editors and every protocol are switched off; a call that must reach something opens one protocol for itself.
What it needs to know of a secret reaches it by its environment alone, never by an argument, an address or a file.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.errors import Unavailable
from bot.machine import files_in, is_odd, unless_it_waits

_FROM_THE_BOT = frozenset(
    {
        "PATH",
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "no_proxy",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "GIT_SSL_CAINFO",
        "TMPDIR",
    }
)
"""No HOME: a .netrc or .gitconfig there may be written by agents of the same user."""

_FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_SSH_COMMAND": "false",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
}

_SWITCHED_OFF = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=true",
    "core.sshCommand=false",
    "credential.helper=",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "http.followRedirects=false",
    "push.followTags=false",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "fetch.recurseSubmodules=no",
    "submodule.recurse=false",
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "pack.useBitmaps=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "transfer.fsckObjects=true",
    # faults of old histories that GitHub takes as well; without these no branch of such a repository could be published
    "fetch.fsck.zeroPaddedFilemode=warn",
    "fetch.fsck.missingSpaceBeforeDate=warn",
    "fetch.fsck.missingSpaceBeforeEmail=warn",
    "fetch.fsck.badTimezone=warn",
    "fetch.fsck.missingEmail=warn",
    "fetch.fsck.zeroPaddedDate=warn",
)

_KEPT = 256 * 1024
_GRACE_SECONDS = 2.0


@dataclass(frozen=True)
class Said:
    """What git said."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out.strip()


class Git:
    """Starts git in a directory that is not a repository's: which one is meant is told by an argument."""

    def __init__(self, environ: Mapping[str, str], *, seconds: float, program: str = "git") -> None:
        self._environment = {name: environ[name] for name in _FROM_THE_BOT if name in environ}
        self._environment.setdefault("PATH", os.defpath)
        self._seconds = seconds
        self._program = program

    async def run(
        self,
        *arguments: str,
        at: Path | None = None,
        opens: str = "",
        secret: Mapping[str, str] | None = None,
        lock: int | None = None,
        ok: Sequence[int] | None = (0,),
        reads: Path | None = None,
    ) -> Said:
        """`reads`: the repository of somebody else that it reads from. `opens`: the one protocol this call may use. `ok`: the exit codes that are no error; none: all are looked at
        by the caller. `secret`: settings that only this process may know. `lock` stays open as long as git lives."""
        switches = [*_SWITCHED_OFF, *([f"protocol.{opens}.allow=always"] if opens else ())]
        command = [word for switch in switches for word in ("-c", switch)]
        where = [f"--git-dir={at}"] if at else []
        environment = self._environment | _FIXED | _as_settings(secret or {})
        process = await self._start([*command, *where, *arguments], environment, lock)
        said = await self._heard(process, arguments[0], reads)
        if ok is not None and said.code not in ok:
            raise Unavailable(f"git {arguments[0]} failed: {last_words(said.err)}")
        return said

    async def _start(
        self, arguments: Sequence[str], environment: Mapping[str, str], lock: int | None
    ) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                self._program,
                "--no-pager",
                *arguments,
                cwd="/",
                env=dict(environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                umask=0o077,
                pass_fds=() if lock is None else (lock,),
            )
        except FileNotFoundError as error:
            raise Unavailable("git is required", "Install git 2.36 or newer.") from error
        except OSError as error:
            raise Unavailable(f"git could not be started: {error.strerror}") from error

    async def _heard(
        self, process: asyncio.subprocess.Process, command: str, reads: Path | None
    ) -> Said:
        assert process.stdout is not None  # noqa: S101 - both were asked to be pipes
        assert process.stderr is not None  # noqa: S101
        try:
            async with asyncio.timeout(self._seconds):
                code, out, err = await unless_it_waits(
                    _talk(process, process.stdout, process.stderr), lambda: _odd_file(reads)
                )
        except TimeoutError as error:
            await _end(process)
            raise Unavailable(
                f"git {command} took longer than {self._seconds:.0f} s",
                "Look whether the network or GitHub is slow. The bot tries again by itself.",
            ) from error
        except BaseException:
            await _end(process)
            raise
        return Said(code, out, err)


async def _talk(
    process: asyncio.subprocess.Process, stdout: asyncio.StreamReader, stderr: asyncio.StreamReader
) -> tuple[int, str, str]:
    out, err = await asyncio.gather(_last(stdout), _last(stderr))
    return await process.wait(), out, err


def _odd_file(repository: Path | None) -> Path | None:
    """What git would wait for in a repository in which agents write."""
    if repository is None:
        return None
    own = repository / ".git"
    return next(filter(is_odd, (own, *files_in(own))), None)


def last_words(err: str) -> str:
    """The line that says most of why it failed."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))]
    chosen = (told or lines or ["it said nothing"])[0]
    return chosen.removeprefix("fatal:").removeprefix("error:").strip()[:300]


def _as_settings(secret: Mapping[str, str]) -> dict[str, str]:
    told = {"GIT_CONFIG_COUNT": str(len(secret))} if secret else {}
    for number, (key, value) in enumerate(secret.items()):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return told


async def _last(pipe: asyncio.StreamReader) -> str:
    """The end of what is said, to a bound."""
    kept = bytearray()
    while chunk := await pipe.read(65536):
        kept += chunk
        del kept[:-_KEPT]
    return kept.decode("utf-8", "replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End git and its children. SIGTERM first: git then takes its lock files away itself."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()
