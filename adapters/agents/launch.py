"""The agent CLIs as the bot needs them: can this one run here, and how is it started?"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from adapters.agents.clis import (
    CONVERSATION,
    PROMPT,
    PROMPT_FILE,
    STAGE_VARIABLE,
    AgentCli,
    PromptBy,
    ToldBy,
    known,
)
from bot.domain.world import AgentReady, Launch
from bot.errors import Refused

_PANE = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL")
"""What a program needs to be itself; nothing secret is among it."""
_SCREEN = (sys.executable, "-I", str(Path(__file__).with_name("screen.py")))
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


class AgentClis:
    """Implements bot.ports.Agents. `other_command` is an operator's own CLI, known as `other`."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        other_command: str | None = None,
        passed_on: Iterable[str] = (),
        seconds: float = 20.0,
        user: Callable[[], int] = os.geteuid,
    ) -> None:
        self._environ = dict(environ)
        self._passed_on = tuple(passed_on)
        """Names of further variables that the operator lets agents have."""
        self._clis = known(_other(other_command) if other_command else None)
        self._seconds = seconds
        self._user = user

    def names(self) -> tuple[str, ...]:
        return tuple(self._clis)

    def cli(self, agent: str) -> AgentCli:
        """The entry of an agent, with its flags and its kind."""
        found = self._clis.get(agent)
        if found is None:
            raise Refused(f"There is no agent called “{agent}”.", remedy=self._choices())
        return found

    async def ready(self, agent: str, repository: str) -> AgentReady:
        cli = self._clis.get(agent)
        if cli is None:
            return _not_ready(agent, f"There is no agent called “{agent}”.", self._choices())
        obstacle = self._obstacle(cli, repository)
        return obstacle or await self._try_version(cli)

    def flags(self, agent: str) -> str:
        return self.cli(agent).auto_flags

    def marked(self, agent: str) -> bool:
        """Never: started headless, every CLI ends by itself."""
        return self.cli(agent).told_by is not ToldBy.EXIT

    def launch(
        self, agent: str, *, prompt: str, conversation: str, resume: bool, nonce: str, spool: str
    ) -> Launch:
        cli = self.cli(agent)
        command = cli.resume if resume and cli.resume else cli.command
        argv = tuple(conversation if word == CONVERSATION else word for word in command)
        # By its full path: a program of that name in the repository is never taken for it.
        argv = (self._found(argv[0]) or argv[0], *argv[1:])
        if cli.streams_json:
            argv = (*_SCREEN, *argv)
        passed = {
            name: self._environ[name]
            for name in (*cli.receives, *self._passed_on)
            if self._environ.get(name)
        }
        stdin = "prompt" if cli.prompt_by is PromptBy.STDIN else "terminal"
        return Launch(argv=argv, env=dict(cli.sets) | passed, stdin=stdin)

    def _choices(self) -> str:
        return f"Choose one of: {', '.join(self._clis)}."

    def _obstacle(self, cli: AgentCli, repository: str) -> AgentReady | None:
        if cli.stages and self._environ.get(STAGE_VARIABLE) not in cli.stages:
            return _not_ready(
                cli.name,
                "The played agent works only in the demo and in tests.",
                "Choose a real coding agent, or run `gwt-bot demo`.",
            )
        if cli.marker and not (Path(repository) / cli.marker).is_file():
            return _not_ready(
                cli.name,
                f"The played agent works only in the demo's sample repository, not in {repository}.",
                "Choose a real coding agent for this repository.",
            )
        if _misused(cli):
            return _not_ready(
                cli.name,
                "The prompt's place has to be a word of its own in the agent's command.",
                f"Write `--file {PROMPT_FILE}` rather than `--file={PROMPT_FILE}`.",
            )
        if self._found(cli.command[0]) is None:
            return _not_ready(
                cli.name,
                f"The program `{cli.command[0]}` is not on the PATH.",
                "Install it, or name another agent: GWT_AGENT.",
            )
        return self._obstacle_of_root(cli)

    def _obstacle_of_root(self, cli: AgentCli) -> AgentReady | None:
        needed = cli.as_root
        if needed is None or self._user() != 0:
            return None
        if self._environ.get(needed.variable) == needed.value:
            return None
        return _not_ready(
            cli.name,
            f"`{cli.name}` does not work unattended as root.",
            f"Run the bot as another user, or set {needed.variable}={needed.value} if this machine "
            "is a sandbox.",
        )

    async def _try_version(self, cli: AgentCli) -> AgentReady:
        program, *arguments = cli.version_command
        try:
            process = await asyncio.create_subprocess_exec(
                self._found(program) or program,
                *arguments,
                env=self._clean() | dict(cli.sets),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            reason = f"`{program}` cannot be started: {error.strerror}."
            return _not_ready(
                cli.name, reason, "Install it again, or name another agent: GWT_AGENT."
            )
        output = await self._answer(process)
        if output is None:
            reason = f"`{program}` did not tell its version within {self._seconds:g} seconds."
            return _not_ready(
                cli.name, reason, f"Run `{shlex.join(cli.version_command)}` yourself."
            )
        if process.returncode != 0:
            reason = f"`{program}` fails: {_last_line(output) or f'exit code {process.returncode}'}"
            return _not_ready(
                cli.name, reason, f"Run `{shlex.join(cli.version_command)}` yourself."
            )
        found = _VERSION.search(output)
        return AgentReady(agent=cli.name, ok=True, version=found.group() if found else "")

    async def _answer(self, process: asyncio.subprocess.Process) -> str | None:
        """What it printed; None when it took too long, and was ended with all its children."""
        told = False
        try:
            output, _ = await asyncio.wait_for(process.communicate(), self._seconds)
            told = True
        except TimeoutError:
            return None
        else:
            return output.decode("utf-8", "replace")
        finally:
            if not told:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()

    def _clean(self) -> dict[str, str]:
        return {name: self._environ[name] for name in _PANE if name in self._environ}

    def _found(self, program: str) -> str | None:
        return shutil.which(program, path=self._environ.get("PATH", os.defpath))


def _other(command: str) -> AgentCli:
    """An operator's own command line. Without a place for the prompt, it gets it on standard input."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        reason = f"The command of the agent `other` cannot be read: {error}."
        raise Refused(reason, remedy="Put both ends of every quotation.") from error
    placed = any(word in (PROMPT, PROMPT_FILE) for word in words)
    return AgentCli(
        name="other",
        kind="Other",
        command=words or ("",),
        # All of it is what people approve: there is no telling which of its words let it work without asking.
        auto_flags=command,
        prompt_by=PromptBy.ARGUMENT if placed else PromptBy.STDIN,
    )


def _misused(cli: AgentCli) -> bool:
    tokens = (PROMPT, PROMPT_FILE)
    return any(token in word and word != token for word in cli.command for token in tokens)


def _not_ready(agent: str, problem: str, remedy: str) -> AgentReady:
    return AgentReady(agent=agent, ok=False, problem=problem, remedy=remedy)


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or [""])[-1][:300]
