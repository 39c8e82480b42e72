"""Runs a repository's own commands (its tests, its set-up): they get no secrets, none of their processes survives, and
output is limited.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from adapters.commands.test_reports import TestReports
from adapters.descendants import end_marked
from adapters.files import UnsyncedDisk
from adapters.processes import OMITTED, ProgramOutput, RunningProgram, run_uninterrupted, running
from bot.core.checks import readable_output
from bot.core.errors import Refused, Unavailable
from bot.core.runs import Executed
from bot.os_errors import require_disk_space
from bot.ports import Sandbox

ALLOWED_VARIABLES = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TERM|XDG_CACHE_HOME"
    r"|VIRTUAL_ENV|PYENV_ROOT|CONDA_PREFIX|CARGO_HOME|RUSTUP_HOME|RUSTUP_TOOLCHAIN|GOPATH|GOROOT|GOCACHE|GOMODCACHE"
    r"|JAVA_HOME|GRADLE_USER_HOME|MAVEN_HOME|M2_HOME|DOTNET_ROOT|NVM_DIR|NVM_BIN|VOLTA_HOME|PNPM_HOME|BUN_INSTALL"
    r"|GEM_HOME|GEM_PATH|RBENV_ROOT|SSL_CERT_FILE|SSL_CERT_DIR|NIX_[A-Z_]+_CERT_FILE"
)
"""Variables of the bot's environment that a build may need. No token, no agent socket, no display."""
HEAD_BYTES, TAIL_BYTES = 256 * 1024, 512 * 1024
LOG_LIMIT = 1024 * 1024
SHOWN_BYTES = 16 * 1024
MARKER_VARIABLE = "GWT_COMMAND"
"""Inherited by every descendant, even if it has left the process group."""
GRACE_SECONDS = 2.0
RESULT_SUFFIX = ".json"
"""Appended to the name of a test run's log, for the file with its report."""
MAX_RESULT_BYTES = 64 << 20


class ShellCommands:
    """Runs commands.

    `environment`: the bot's own, of which only ALLOWED variables are passed on; `mask` hides secrets.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        mask: Callable[[str], str],
        *,
        umask: int = -1,
        sandbox: Sandbox | None = None,
    ) -> None:
        kept = {
            key: value for key, value in environment.items() if ALLOWED_VARIABLES.fullmatch(key)
        }
        self._environment = kept | {"CI": "1"}
        self._mask = mask
        self._umask = umask
        """-1 keeps the bot's own."""
        self._sandbox = sandbox

    async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        return await self._run(cwd, command, seconds, log, None)

    async def test(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        reported = TestReports(log, cwd)
        try:
            told = await asyncio.to_thread(reported.prepare, command)
            executed = await self._run(cwd, told, seconds, log, reported)
            report = await asyncio.to_thread(reported.read)
            executed = executed.model_copy(update={"report": report})
            await asyncio.to_thread(self._write_result, executed, Path(f"{log}{RESULT_SUFFIX}"))
        except OSError as error:
            raise Unavailable(
                f"The test report of {log} failed: {error.strerror}", "Make room on the disk."
            ) from error
        finally:
            await asyncio.to_thread(reported.remove)
        return executed

    async def kept_result(self, log: str) -> Executed | None:
        return await asyncio.to_thread(_saved_result, Path(f"{log}{RESULT_SUFFIX}"))

    async def _run(
        self, cwd: str, command: str, seconds: float, log: str, reported: TestReports | None
    ) -> Executed:
        marks = {MARKER_VARIABLE: marker_for(cwd, log)}
        # processes left by a bot that was killed would work in the same directory
        await end_marked(marks, grace=GRACE_SECONDS)
        output = ProgramOutput(HEAD_BYTES, TAIL_BYTES, listen=reported.listen if reported else None)
        began = time.monotonic()
        async with self._started(cwd, command, marks, output, reported) as program:
            try:
                code = await _exit_code(program, seconds)
                if reported:
                    await reported.wait_for_report()
            finally:
                # not cancellable: survivors would work in a worktree that is passed on
                await run_uninterrupted(end_marked(marks, program.pid, grace=GRACE_SECONDS))
            took = time.monotonic() - began
        if code:
            await asyncio.to_thread(
                require_disk_space, command, Path(cwd), Path(tempfile.gettempdir())
            )
        said = readable_output(output.text()) if reported else output.text()
        shown = await asyncio.to_thread(self._write_log, said, log)
        return Executed(exit_code=code, seconds=took, output=shown, output_path=log)

    async def problem(self, cwd: str, command: str) -> str:
        path = self._environment.get("PATH", os.defpath)
        return self._mask(await asyncio.to_thread(program_problem, command, cwd, path))

    @asynccontextmanager
    async def _started(
        self,
        cwd: str,
        command: str,
        marks: Mapping[str, str],
        output: ProgramOutput,
        reported: TestReports | None,
    ) -> AsyncGenerator[RunningProgram]:
        words: tuple[str, ...] = ("/bin/sh", "-c", command)
        there = await asyncio.to_thread(os.path.isdir, cwd)
        if self._sandbox and there:
            words = self._sandbox.around(words, cwd, writes=reported.place if reported else "")
        environment = {**self._environment, **(reported.environment if reported else {}), **marks}
        async with AsyncExitStack() as stack:
            program = running(words, cwd=cwd, env=environment, out=output, umask=self._umask)
            try:
                started = await stack.enter_async_context(program)
            except (FileNotFoundError, NotADirectoryError) as error:
                if not there:
                    raise Refused(
                        f"the directory {cwd} is missing", "Recreate the worktree."
                    ) from error
                raise Unavailable(f"{words[0]} is required") from error
            except ValueError as error:
                raise Refused("the command has a NUL character in it") from error
            except OSError as error:
                if error.errno == errno.E2BIG:
                    raise Refused("the command is too long") from error
                raise Unavailable(f"the command could not be started: {error.strerror}") from error
            yield started

    def _write_result(self, executed: Executed, path: Path) -> None:
        # Masked like everything else, because names of tests can contain anything.
        _write_private(path, self._mask(executed.model_dump_json()).encode("utf-8", "replace"))

    def _write_log(self, said: str, log: str) -> str:
        """Write the log, and return its end for display."""
        text = self._mask(said)
        content = _bounded(text.encode("utf-8", "replace"), LOG_LIMIT)
        try:
            _write_private(Path(log), content)
        except OSError as error:
            raise Unavailable(f"{log} cannot be written: {error.strerror}") from error
        return text.encode("utf-8", "replace")[-SHOWN_BYTES:].decode("utf-8", "ignore")


def marker_for(cwd: str, log: str) -> str:
    """Return a marker that is the same after a restart, so that processes left by the same command are found."""
    return hashlib.sha256(f"{cwd}\0{log}".encode()).hexdigest()


async def _exit_code(program: RunningProgram, seconds: float) -> int | None:
    try:
        async with asyncio.timeout(seconds):
            await program.over.wait()
    except TimeoutError:
        return None
    return program.code


def _bounded(content: bytes, limit: int) -> bytes:
    # Cut again here, because masking can make a text longer.
    if len(content) <= limit:
        return content
    half = limit // 2 - len(OMITTED) - 20
    gap = OMITTED.format(len(content) - 2 * half).encode()
    return content[:half] + gap + content[-half:]


def _saved_result(path: Path) -> Executed | None:
    try:
        with path.open("rb") as file:
            return Executed.model_validate_json(file.read(MAX_RESULT_BYTES))
    except (OSError, ValueError):
        return None  # removed by the limits or incomplete: the tests are run once more


def _write_private(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    UnsyncedDisk().replace(path, content)  # a lost result is produced by running again


# Which programs a command line starts, and whether they exist. Nothing is started to find out.

_SEPARATORS = frozenset({"&&", "||", ";", "|", "&", "(", ")", "{", "}", "|&", ";;"})
_SHELL_WORDS = frozenset(
    {"if", "then", "else", "elif", "while", "until", "do", "!", "time", "exec"}
)
"""Words after which another command begins."""
_SHELL_BUILTINS = frozenset(
    {
        *("cd", "echo", "printf", "test", "[", "[[", "true", "false", "set", "unset", "export"),
        *("eval", "exit", "trap", "ulimit", "umask", "wait", "read", ":", ".", "command", "type"),
        *("for", "case", "in", "esac", "fi", "done", "function", "return", "shift", "local", "env"),
    }
)


def program_problem(command: str, folder: str, path: str) -> str:
    """Return why the command cannot run in that folder; empty if its programs seem to exist."""
    try:
        wanted = list(_programs(command))
    except ValueError as error:
        return f"`{command}` is no command of a shell: {error}."
    for within, program in wanted:
        if "/" in program:
            file = Path(folder, within, program)
            if not file.exists():
                return f"There is no {Path(within, program)} in {folder}."
            if not os.access(file, os.X_OK):
                return f"{Path(within, program)} is not executable: `git update-index --chmod=+x {Path(within, program)}`."
        elif shutil.which(program, path=path) is None:
            return f"There is no program `{program}` on the PATH of the bot."
    return ""


def _programs(command: str) -> Iterator[tuple[str, str]]:
    """Yield each program with the folder a preceding `cd` leads to.

    What only the shell can resolve, such as a variable, is left out.
    """
    folders, expected = [""], True
    for word in _words(command):
        if word in _SEPARATORS:
            expected = True
            if word == "(":
                folders.append(folders[-1])
            elif word == ")" and len(folders) > 1:
                folders.pop()
        elif expected is None:
            folders[-1] = str(Path(folders[-1], word))
            expected = False
        elif not expected or word in _SHELL_WORDS or _is_assignment(word):
            continue
        else:
            expected = None if word == "cd" else False
            if word not in _SHELL_BUILTINS and not set(word) & set("$`*?~<>\"'"):
                yield folders[-1], word


def _words(command: str) -> Iterator[str]:
    reader = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    reader.commenters = "#"
    yield from reader


def _is_assignment(word: str) -> bool:
    name, separator, _ = word.partition("=")
    return bool(separator) and name.isidentifier()
