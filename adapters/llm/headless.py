"""Asks an installed agent CLI once: in an empty folder, with its tools off and nothing of the bot's in its environment."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from adapters.llm.answers import Calls, MaskText, usage_of
from adapters.llm.clis import PLAIN, RULES_FILE, CliAnswer, MasterCli
from adapters.llm.errors import cli_error, cut_off_error
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.llm import Reply

_AGAIN = "The bot tries again by itself."
_LAST_WORDS = 2000


class CliLlm:
    """The `Llm` port over an agent CLI, one process for each question. `environ` is the bot's own environment."""

    def __init__(
        self,
        cli: MasterCli,
        environ: Mapping[str, str],
        *,
        mask: MaskText,
        model: str = "",
        timeout: float = 120.0,
        log: logging.Logger | None = None,
    ) -> None:
        self._cli = cli
        self._environ = environ
        self._model = model
        self._timeout = timeout
        self._calls = Calls(mask, log)

    async def complete(self, system: str, data: str, *, schema: dict[str, object] | None) -> Reply:
        """One answer to `system` about `data`; every call is logged, whatever comes of it."""

        async def ask(system: str, data: str) -> Reply:
            rules = _with_schema(system, schema)
            ended = await self._in_time(rules, _escaped(data, self._cli.expands))
            return self._reply(ended, asked=rules + data)

        return await self._calls.record(self._cli.name, system, data, ask)

    async def _in_time(self, rules: str, data: str) -> ProgramResult:
        try:
            # A folder of our own: nothing lies there that could tell the CLI anything.
            with TemporaryDirectory(prefix="gwt-question-", ignore_cleanup_errors=True) as folder:
                async with asyncio.timeout(self._timeout):
                    return await self._run(Path(folder), rules, data)
        except TimeoutError as error:
            raise Unavailable(
                f"{self._cli.name} did not answer within {self._timeout:g} seconds", _AGAIN
            ) from error
        except TooMuchSaidError as error:
            raise Unavailable(f"{self._cli.name} said more than can be read", _AGAIN) from error
        except OSError as error:
            raise Unavailable(
                f"the question to {self._cli.name} cannot be written down: {error.strerror or error}",
                f"Make room on the disk of the temporary files. {_AGAIN}",
            ) from error

    async def _run(self, folder: Path, rules: str, data: str) -> ProgramResult:
        argv = self._argv(folder / "rules.md")
        (folder / "rules.md").write_text(rules, encoding="utf-8")
        (folder / "empty").mkdir()
        try:
            return await run_on(
                data, argv, cwd=str(folder / "empty"), environment=self._environment()
            )
        except OSError as error:
            raise Unavailable(
                f"`{self._cli.command[0]}` cannot be started: {error.strerror}",
                f"Install it again. {_AGAIN}",
            ) from error

    def _argv(self, rules: Path) -> list[str]:
        program, *options = (word.replace(RULES_FILE, str(rules)) for word in self._cli.command)
        found = shutil.which(program, path=self._environ.get("PATH", os.defpath))
        if found is None:
            raise Unavailable(
                f"AI settings are required: LLM_PROVIDER is {self._cli.name}, but `{program}` is not on the PATH",
                "Install it and log in to it, or choose another LLM_PROVIDER; the bot goes on as soon as it is there.",
            )
        chosen = [self._cli.model_option, self._model] if self._model else []
        # Before the options: the last of them may be the place of the prompt.
        first = [options.pop(0)] if options and not options[0].startswith("-") else []
        return [found, *first, *chosen, *options]

    def _environment(self) -> dict[str, str]:
        passed = {
            name: self._environ[name]
            for name in (*PLAIN, *self._cli.receives)
            if self._environ.get(name)
        }
        return {"LANG": "C.UTF-8", "TERM": "dumb", **dict(self._cli.sets), **passed}

    def _reply(self, ended: ProgramResult, *, asked: str) -> Reply:
        told = self._cli.read(ended.said)
        self._refuse_failure(told, ended)
        if told.stopped in {"max_tokens", "refusal"}:
            raise _unfit(self._cli.name, told.stopped)
        text = told.text.strip()
        if not text:
            raise Unavailable(f"{self._cli.name} answered with nothing", _AGAIN)
        return Reply(
            text=text,
            usage=usage_of(
                asked, text, prompt_tokens=told.prompt_tokens, reply_tokens=told.reply_tokens
            ),
            model=told.model or self._model or self._cli.name,
        )

    def _refuse_failure(self, told: CliAnswer, ended: ProgramResult) -> None:
        if not told.failure and ended.code == 0:
            return
        unsaid = f"exit code {ended.code}"
        said = told.failure or (ended.complained or ended.said).strip()[-_LAST_WORDS:] or unsaid
        raise cli_error(self._cli.name, self._cli.login, self._calls.mask(said), status=told.status)


def _with_schema(system: str, schema: dict[str, object] | None) -> str:
    if schema is None:
        return system
    wanted = json.dumps(schema, ensure_ascii=False)
    return f"{system}\n\nAnswer with one JSON object that fits this JSON Schema, and with nothing else:\n{wanted}\n"


def _escaped(data: str, signs: str) -> str:
    """The same JSON without these signs: they can stand in its strings only."""
    for sign in signs:
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    return data


def _unfit(cli: str, stopped: str) -> PortError:
    """What was cut off is never mended: a plan that lost its last task would look like a plan."""
    if stopped == "refusal":
        return Refused(f"{cli} declines to answer", "Put the request differently.")
    return cut_off_error(cli)


# Runs a program on one text. Its output is bounded, and nothing of it lives on, however it ends.

_LIMIT = 16 * 1024 * 1024
"""Bytes a program may say before it is taken for one that never ends."""
_LAST_WORDS_SECONDS = 1.0
_BURIAL_SECONDS = 5.0


class TooMuchSaidError(Exception):
    """It said more than any answer can be."""


@dataclass(frozen=True)
class ProgramResult:
    """What a program has left behind."""

    code: int
    said: str
    complained: str


async def run_on(
    text: str, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str]
) -> ProgramResult:
    """Run it in a session of its own with `text` on its standard input. Raises OSError where it cannot be started."""
    transport, talk = await asyncio.get_running_loop().subprocess_exec(
        _Talk, *argv, cwd=cwd, env=dict(environment), start_new_session=True
    )
    try:
        talk.say(transport, text.encode("utf-8", "replace"))
        await talk.over.wait()
        if talk.too_much:
            raise TooMuchSaidError
        # What it left running would keep its output open, and is of no use to anybody.
        _kill_group(transport.get_pid())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                await talk.silent.wait()
    finally:
        await _end(transport, talk)
    return ProgramResult(transport.get_returncode() or 0, talk.text(1), talk.text(2))


class _Talk(asyncio.SubprocessProtocol):
    """Listens to the program. A pipe that stays open somewhere must not keep us waiting for its end."""

    def __init__(self) -> None:
        self._kept = {1: bytearray(), 2: bytearray()}
        self._open = {1, 2}
        self.too_much = False
        self.over = asyncio.Event()
        """Set once there is no sense in waiting any longer."""
        self.gone = asyncio.Event()
        self.silent = asyncio.Event()
        """Set once nobody can say anything any more."""

    def say(self, transport: asyncio.SubprocessTransport, text: bytes) -> None:
        """All there is, and then the end: a program that asks something finds nobody."""
        inlet = transport.get_pipe_transport(0)
        if isinstance(inlet, asyncio.WriteTransport):
            inlet.write(text)
            inlet.write_eof()

    def text(self, stream: int) -> str:
        return self._kept[stream].decode("utf-8", "replace")

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._kept[fd] += data
        if len(self._kept[fd]) > _LIMIT:
            self.too_much = True
            self.over.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self.silent.set()

    def process_exited(self) -> None:
        self.gone.set()
        self.over.set()


async def _end(transport: asyncio.SubprocessTransport, talk: _Talk) -> None:
    """Kill it and all that came of it. It has nothing to put away: it was only asked a question."""
    pid = transport.get_pid()
    if transport.get_returncode() is None:
        # Collected first: a process that ends takes the trace to its children with it.
        family = _family(pid)
        _kill_group(pid)
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()
    transport.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_BURIAL_SECONDS):
            await talk.gone.wait()


def _family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
