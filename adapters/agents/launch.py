"""The agents port: whether a CLI can run here, and how it is started."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, tzinfo
from pathlib import Path

from adapters.agents.clis import STAGE_VARIABLE, known_clis
from adapters.agents.entry import (
    CONVERSATION,
    PROMPT,
    PROMPT_FILE,
    SPOOL,
    AgentCli,
    CliPlace,
    EndSignal,
    PromptBy,
)
from adapters.agents.limits import find_limit
from adapters.agents.preflight import (
    VersionUnavailable,
    ask_version,
    conversation_exists,
    is_older,
    logged_in,
    path_of,
    repository_settings,
)
from bot.core.errors import PortError, Refused
from bot.core.runs import AgentReady, Launch, RunEnd, SandboxPaths
from bot.core.states import Outcome
from bot.ports import Sandbox

_PANE_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL")
"""Environment variables a program needs to run; none of them is secret."""
_SCREEN = (sys.executable, "-I", str(Path(__file__).with_name("screen")))


class AgentClis:
    """Implements bot.ports.Agents. `other_command`: the operator's own CLI, known as `other`."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        other_command: str | None = None,
        extra_variables: Iterable[str] = (),
        seconds: float = 20.0,
        user: Callable[[], int] = os.geteuid,
        zone: tzinfo | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        """`zone`: the time zone for limits, None for that of the machine; `sandbox`:

        None lets agents do whatever the bot's user may do.
        """
        self._environ = dict(environ)
        self._extra_variables = tuple(extra_variables)
        """Further variables that the operator passes on to agents."""
        self._clis = known_clis(_other(other_command) if other_command else None)
        self._seconds = seconds
        self._user = user
        self._zone = zone
        self._sandbox = sandbox

    def names(self) -> tuple[str, ...]:
        return tuple(self._clis)

    def cli(self, agent: str) -> AgentCli:
        """Return the entry of an agent; raise Refused if there is none."""
        found = self._clis.get(agent)
        if found is None:
            raise Refused(f"There is no agent called “{agent}”.", remedy=self._choices())
        return found

    async def ready(self, agent: str, repository: str, *, answered: bool = True) -> AgentReady:
        cli = self._clis.get(agent)
        if cli is None:
            return _not_ready(agent, f"There is no agent called “{agent}”.", self._choices())
        obstacle = self._obstacle(cli, repository) or await self._obstacle_of_sandbox(cli)
        if obstacle is not None:
            return obstacle
        found = Path(self._found(cli.command[0]) or cli.command[0])
        why = _reason_not_to_start(cli, found, Path(repository))
        ready = _not_tried(cli, found, why) if why else await self._try_version(cli)
        return self._check_ready(cli, ready, repository, answered) if ready.ok else ready

    def settings(self, agent: str) -> tuple[str, ...]:
        cli = self._clis.get(agent)
        return tuple(dict.fromkeys(one.path for one in cli.settings)) if cli else ()

    def brought(self, agent: str, files: Mapping[str, str]) -> tuple[str, ...]:
        return repository_settings(self.cli(agent), files)

    def flags(self, agent: str) -> str:
        return self.cli(agent).auto_flags

    def uses_marker(self, agent: str) -> bool:
        """Whether its end is recognised only by a marker."""
        return self.cli(agent).told_by is EndSignal.MARKER

    async def launch(
        self,
        agent: str,
        *,
        cwd: str,
        prompt: str,
        conversation: str,
        resume: bool,
        nonce: str,
        spool: str,
    ) -> Launch:
        # In a thread, because it looks for the conversation on disk and creates the home folder of the sandbox.
        cli = self.cli(agent)
        return await asyncio.to_thread(self._launch, cli, cwd, conversation, resume, spool)

    def _launch(
        self, cli: AgentCli, cwd: str, conversation: str, resume: bool, spool: str
    ) -> Launch:
        goes_on = resume and self._can_resume(cli, conversation, cwd)
        words = {CONVERSATION: conversation, PROMPT: PROMPT, PROMPT_FILE: PROMPT_FILE}
        argv = tuple(
            words.get(word) or word.replace(SPOOL, spool)
            for word in (cli.resume if goes_on else cli.command)
        )
        # by its full path, so that a program of that name in the repository is never started instead
        argv = (self._found(argv[0]) or argv[0], *argv[1:])
        if cli.streams is not None:
            argv = (*_SCREEN, cli.streams.value, f"{spool}/report", *argv)
        if self._sandbox:
            argv = self._sandbox.around(argv, cwd, self._lent(cli, spool))
        return Launch(
            argv=argv,
            env=dict(cli.sets) | self._passed_variables(cli),
            files=dict(cli.files(spool)) if cli.files else {},
            stdin="prompt" if cli.prompt_by is PromptBy.STDIN else "terminal",
        )

    def with_limit(self, agent: str, end: RunEnd, screen: str, at: datetime) -> RunEnd:
        # Only the error message of a failed run is read, not the screen, which also shows the agent's work.
        if end.outcome is not Outcome.FAILED or end.limit is not None:
            return end
        limit = find_limit(end.message, self.cli(agent).limits, at, self._zone)
        return end.model_copy(update={"limit": limit}) if limit else end

    def _passed_variables(self, cli: AgentCli) -> dict[str, str]:
        """Return the variables of the bot's environment that the CLI receives."""
        names = (*cli.receives, *self._extra_variables)
        passed = {name: self._environ[name] for name in names if self._environ.get(name)}
        if self._sandbox and cli.as_root and self._user() == 0:
            passed[cli.as_root.variable] = cli.as_root.value
        return passed

    def _lent(self, cli: AgentCli, spool: str) -> SandboxPaths:
        home = Path(self._environ.get("HOME") or "/")

        def paths(places: Iterable[CliPlace]) -> tuple[str, ...]:
            found = (path_of(place, self._environ) for place in places)
            # a place named only by a variable is the home itself if that is not set
            return tuple(str(path) for path in found if path != home)

        return SandboxPaths(
            spool=spool,
            folders=paths(cli.folders),
            copies=paths(cli.copies),
            reads=paths(cli.reads),
            writes=paths(cli.writes),
        )

    def _can_resume(self, cli: AgentCli, conversation: str, cwd: str) -> bool:
        """Whether the conversation can be continued: a run may have ended before it began, and no CLI continues one it
        does not know.
        """
        if not cli.resume or (cli.own_ids and not re.fullmatch(cli.own_ids, conversation)):
            return False
        return cli.keeps is None or conversation_exists(
            cli.keeps, conversation, self._outside_folders(cli, cwd)
        )

    def _outside_folders(self, cli: AgentCli, cwd: str) -> Mapping[str, str]:
        """Return the folders outside of the sandbox in which an agent of this worktree stores its conversations."""
        if self._sandbox is None:
            return self._environ
        folders = tuple(str(path_of(place, self._environ)) for place in cli.folders)
        names = ("HOME", cli.keeps.variable if cli.keeps else "")
        return {
            name: str(self._sandbox.outside(cwd, Path(self._environ[name]), folders))
            for name in names
            if self._environ.get(name)
        }

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
        if self._sandbox or self._environ.get(needed.variable) == needed.value:
            return None
        return _not_ready(
            cli.name,
            f"`{cli.name}` does not work unattended as root.",
            f"Run the bot as another user, put agents into a sandbox (SANDBOX=bwrap), or set "
            f"{needed.variable}={needed.value} if this machine is one.",
        )

    async def _obstacle_of_sandbox(self, cli: AgentCli) -> AgentReady | None:
        try:
            if self._sandbox:
                await self._sandbox.require()
        except PortError as problem:
            return _not_ready(cli.name, problem.reason, problem.remedy)
        return None

    def _check_ready(
        self, cli: AgentCli, ready: AgentReady, repository: str, answered: bool
    ) -> AgentReady:
        """Check the version and login of a CLI that starts, and add its warnings."""
        if is_older(ready.version, cli.oldest):
            problem = f"`{cli.command[0]}` is version {ready.version}, and {cli.oldest} is needed."
            return _not_ready(cli.name, problem, "Install a newer one.")
        if not logged_in(cli.login, self._environ):
            problem = f"Nobody has logged in to `{cli.command[0]}`, as far as can be seen here."
            return _not_ready(cli.name, problem, cli.login.remedy if cli.login else "")
        asks = cli.asks(self._environ, repository, answered) if cli.asks else ()
        return ready.model_copy(update={"warnings": (*ready.warnings, *asks)})

    async def _try_version(self, cli: AgentCli) -> AgentReady:
        program, *arguments = cli.version_command
        environment = {
            name: self._environ[name] for name in _PANE_VARIABLES if name in self._environ
        }
        words: tuple[str, ...] = (self._found(program) or program, *arguments)
        remedy = f"Run `{shlex.join(cli.version_command)}` yourself."
        if self._sandbox:
            words = self._sandbox.around(words)
            remedy += " If it works there, name the folders it needs: SANDBOX_READ."
        try:
            version = await ask_version(words, environment | dict(cli.sets), self._seconds)
        except VersionUnavailable as failure:
            remedy = failure.remedy or remedy
            return _not_ready(cli.name, f"`{program}` {failure.reason}", remedy)
        return AgentReady(agent=cli.name, ok=True, version=version)

    def _found(self, program: str) -> str | None:
        return shutil.which(program, path=self._environ.get("PATH", os.defpath))


def _other(command: str) -> AgentCli:
    """Parse the operator's own command line. Without a placeholder for the prompt it is passed on standard input."""
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
        # people approve the whole command, because it is unknown which words let it work without asking
        auto_flags=command,
        tried=False,
        prompt_by=PromptBy.ARGUMENT if placed else PromptBy.STDIN,
    )


def _reason_not_to_start(cli: AgentCli, program: Path, repository: Path) -> str:
    """Return why it must not be started for a check; empty if it may."""
    if not cli.tried:
        return "It is not one that I know (GWT_AGENT_COMMAND)"
    if any(one.is_relative_to(repository) for one in (program, program.resolve())):
        return f"It lies in the repository ({program})"
    return ""


def _not_tried(cli: AgentCli, program: Path, why: str) -> AgentReady:
    told = f"I have not tried whether `{program.name}` starts. {why}, so it first runs when a plan is approved."
    return AgentReady(agent=cli.name, ok=True, warnings=(told,))


def _misused(cli: AgentCli) -> bool:
    tokens = (PROMPT, PROMPT_FILE)
    return any(token in word and word != token for word in cli.command for token in tokens)


def _not_ready(agent: str, problem: str, remedy: str) -> AgentReady:
    return AgentReady(agent=agent, ok=False, problem=problem, remedy=remedy)
