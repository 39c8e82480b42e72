"""The only place that starts git: with an argument list, a clean environment, limits of time and output, and no program
of the repository.

Hooks, file-system monitors, pagers, editors, signing and all network protocols are disabled for each call. Filters and
merge drivers cannot be disabled: `environment` keeps them out of agents' trees, and `trust` notices when they change.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from adapters.git.environment import (
    FIXED_ENVIRONMENT,
    PROGRAM_KEYS,
    SAFE_SETTINGS,
    describe_programs,
    may_name_programs,
    may_run_repository_code,
    safe_commands,
    settings_environment,
)
from adapters.git.errors import blocking_file, git_error, missing_filter
from adapters.git.layout import GitCheckout
from adapters.processes import INHERITED_UMASK, ProgramOutput, run
from bot.core.errors import Lost, Unavailable
from bot.os_errors import refuse_if_blocked, require_disk_space

OUTPUT_LIMIT = 32 * 1024 * 1024
ERROR_LIMIT = 64 * 1024
GIT_SECONDS = 300.0
GRACE_SECONDS = 2.0
"""Seconds after SIGTERM, in which git removes its lock files."""
FATAL_EXIT_CODE = 128
"""Exit codes from here on mean that git failed."""

_VERSION = re.compile(r"git version (\d+)\.(\d+)")


@dataclass(frozen=True)
class GitOutput:
    """The output of a git command."""

    code: int
    out: bytes
    err: str
    truncated: bool = False

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace").strip()

    @property
    def fields(self) -> list[str]:
        """Return the fields of output requested with -z."""
        return [part.decode("utf-8", "surrogateescape") for part in self.out.split(b"\0") if part]


@dataclass(frozen=True)
class _Call:
    """One start of git. `ok`: exit codes that are answers; `lock`: the descriptor it keeps open."""

    arguments: Sequence[str]
    at: GitCheckout | Path
    ok: Sequence[int] = (0,)
    stdin: bytes = b""
    limit: int = OUTPUT_LIMIT
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    lock: int | None = None


class Git:
    """Starts git.

    `lock`: descriptor of the repository's lock; git keeps it open, so that after a crash of the bot the next one waits
    for a git still running.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        program: str = "git",
        seconds: float = GIT_SECONDS,
        umask: int = INHERITED_UMASK,
    ) -> None:
        source = os.environ if environment is None else environment
        self._path = source.get("PATH", os.defpath)
        self._environment = {"PATH": self._path} | {k: source[k] for k in ("HOME",) if k in source}
        self._program = program
        self._seconds = seconds
        self._umask = umask

    async def read(
        self,
        *arguments: str,
        at: GitCheckout | Path,
        ok: Sequence[int] = (0,),
        stdin: bytes = b"",
        limit: int = OUTPUT_LIMIT,
    ) -> GitOutput:
        """Run a command that changes nothing, not even the index's cache of file times."""
        environment = {"GIT_OPTIONAL_LOCKS": "0"}
        return await self._run(_Call(arguments, at, ok, stdin, limit, environment))

    async def write(
        self,
        *arguments: str,
        at: GitCheckout,
        lock: int,
        ok: Sequence[int] = (0,),
        stdin: bytes = b"",
        protocol: str = "",
    ) -> GitOutput:
        """Run a command that changes something, under the repository's lock.

        `protocol`: the only one it may use, if any.
        """
        extra = {"GIT_ALLOW_PROTOCOL": protocol} if protocol else {}
        return await self._run(_Call(arguments, at, ok, stdin, extra=extra, lock=lock))

    async def run_in_new_folder(self, *arguments: str, at: Path, stdin: bytes = b"") -> GitOutput:
        """Run a command in a new folder; it may copy from repositories on this machine."""
        extra = {"GIT_ALLOW_PROTOCOL": "file"}
        return await self._run(_Call(arguments, at, stdin=stdin, extra=extra))

    async def describe_programs(self, at: GitCheckout) -> tuple[str, ...]:
        """Return sentences for people about the programs that the repository's configuration makes git start."""
        return describe_programs(await self._configured(at), at.main, self._path)

    async def runs_repository_filters(self, at: GitCheckout) -> bool:
        """Whether a filter may run a program of the repository, not only one of the machine."""
        told = await self._configured(at)
        return any(may_run_repository_code(key, told[key], at.main, self._path) for key in told)

    async def query_remote(self, *arguments: str, protocol: str) -> GitOutput:
        """Query another repository from outside of any: no configuration is read, and no login is available."""
        extra = {"GIT_ALLOW_PROTOCOL": protocol, "HOME": "/nonexistent"}
        return await self._run(_Call(arguments, Path("/"), extra=extra))

    async def version(self) -> tuple[int, int]:
        """Return the installed version; an unknown one counts as new."""
        answer = await self.read("version", at=Path("/"))
        found = _VERSION.match(answer.text)
        return (int(found[1]), int(found[2])) if found else (sys.maxsize, 0)

    async def _run(self, call: _Call) -> GitOutput:
        if isinstance(at := call.at, GitCheckout):
            programs = safe_commands(await self._configured(at), at.main, self._path)
            call = replace(call, extra={**call.extra, **settings_environment(programs)})
        return await self._require_answer(call)

    async def _configured(self, at: GitCheckout) -> dict[str, str]:
        """Return the filters and merge drivers that git would run there: key → command."""
        files = (
            at.common / "config",
            at.common / "config.worktree",
            at.git_dir / "config.worktree",
        )
        if not may_name_programs(files):
            return {}
        told = await self._require_answer(
            _Call(("config", "-z", "--get-regexp", PROGRAM_KEYS), at, (0, 1))
        )
        pairs = (entry.partition("\n") for entry in told.fields)
        return {key: command for key, _, command in pairs}

    async def _require_answer(self, call: _Call) -> GitOutput:
        at = call.at
        command = next((word for word in call.arguments if not word.startswith("-")), "")
        answer = await refuse_if_blocked(self._ended(call, command), lambda: blocking_file(at))
        reads = "GIT_OPTIONAL_LOCKS" in call.extra
        if (
            not reads
            and answer.code
            and (answer.code not in call.ok or answer.code >= FATAL_EXIT_CODE)
        ):
            # git reports it in many ways: "couldn't write x.lock", "Aborting commit due to empty commit message"
            top = at.top if isinstance(at, GitCheckout) else at
            require_disk_space(
                f"git {command}", top, *([at.common] if isinstance(at, GitCheckout) else [])
            )
        if answer.code in call.ok or answer.truncated:
            if gone := missing_filter(answer.err, at):
                raise gone
            return answer
        raise git_error(command, answer.err, answer.code, at)

    async def _ended(self, call: _Call, command: str) -> GitOutput:
        switches = [word for setting in SAFE_SETTINGS for word in ("-c", setting)]
        at = call.at
        top = at.top if isinstance(at, GitCheckout) else at
        environment = {**self._environment, **FIXED_ENVIRONMENT, **call.extra}
        if isinstance(at, GitCheckout):
            environment |= at.environment
        try:
            ended = await run(
                (self._program, "--no-pager", "--literal-pathspecs", *switches, *call.arguments),
                cwd=top,
                env=environment,
                stdin=call.stdin,
                out=ProgramOutput(call.limit, stop=True),
                err=ProgramOutput(ERROR_LIMIT),
                umask=self._umask,
                pass_fds=() if call.lock is None else (call.lock,),
                seconds=self._seconds,
                grace=GRACE_SECONDS,
                name=f"git {command}",
                timeout_remedy="Look whether the disk or a git filter is slow.",
            )
        except FileNotFoundError as error:
            if not top.is_dir():
                raise Lost(f"the directory {top} is missing") from error
            raise Unavailable("git is required", "Install git 2.36 or newer.") from error
        except OSError as error:
            raise Unavailable(f"git could not be started: {error.strerror}") from error
        said = ended.err.content().decode("utf-8", "replace")
        return GitOutput(ended.code, ended.out.content(), said, ended.out.omitted > 0)
