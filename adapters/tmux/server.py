"""The bot's own tmux server, and the control client that sends commands to it.

The server outlives the bot. If it dies, the next command starts a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import shutil
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import libtmux

from adapters.descendants import KnownProcess, wait_until_gone
from adapters.processes import ProgramTimeout, run, start_connected
from bot.core.errors import Refused, Unavailable

# The server: its start with a clean environment, and its options.

BOT_SESSION = "gwt-bot"
"""The bot's own session, because a control client must be attached to one."""
TERM = "screen-256color"
SIZE = ("-x", "200", "-y", "50")
OLDEST_TMUX = (3, 2)
INSTALL_REMEDY = (
    "Install tmux 3.2 or newer (Debian and Ubuntu: apt install tmux; macOS: brew install tmux)."
)
MAX_ATTEMPTS = 8
SHUTDOWN_SECONDS = 5.0
RETRY_DELAYS = (0.0, 0.2)
"""Seconds before a failed command is repeated."""

# The screen of a dead pane is kept for the transcript. Nothing is taken from the environment of attached clients, and
# no program's output can reach a clipboard or rename a window.
_OPTIONS = (
    ("-s", "exit-empty", "off"),
    ("-s", "set-clipboard", "off"),
    ("-s", "default-terminal", TERM),
    ("-g", "update-environment", ""),
    ("-g", "history-limit", "50000"),
    ("-g", "status", "off"),
    ("-gw", "remain-on-exit", "on"),
    ("-gw", "automatic-rename", "off"),
    ("-gw", "allow-rename", "off"),
)


class TmuxServer:
    """Sends commands to the server by one control client; starts both if they are missing."""

    def __init__(
        self,
        socket_name: str,
        cwd: Path,
        environment: Mapping[str, str],
        *,
        on_notification: Callable[[str], None],
        on_lost: Callable[[], None],
    ) -> None:
        self._socket_name = socket_name
        self._cwd = cwd
        self._environment = dict(environment)
        self._on_notification = on_notification
        self._on_lost = on_lost
        self._client: ControlClient | None = None
        self._connecting = asyncio.Lock()
        self._always: list[tuple[str, ...]] = []
        self._pid = 0

    async def require(self) -> None:
        """Raise Unavailable if tmux is missing or too old."""
        code, output = await self._run_process(self._program(), "-V")
        version = re.search(r"(\d+)\.(\d+)", output)
        if code != 0 or (version and (int(version[1]), int(version[2])) < OLDEST_TMUX):
            raise Unavailable(
                f"tmux is required in version 3.2 or newer; this is {output.strip()!r}.",
                INSTALL_REMEDY,
            )

    async def run(self, *command: str) -> list[str]:
        """Send a command that may be repeated; it is, if the connection breaks."""
        for pause in RETRY_DELAYS:
            try:
                return await self.run_once(*command)
            except TmuxHangs:
                raise
            except TmuxLost:
                await asyncio.sleep(pause)  # the server may just be exiting
        return await self.run_once(*command)

    async def run_once(self, *command: str) -> list[str]:
        """Send a command that must not be repeated."""
        return await (await self._connected()).run(*command)

    async def run_if_alive(self, pane_id: str, *command: str) -> bool:
        """Send a command once, only if the program in the pane is alive: tmux 3.3a crashes, with every agent in it,
        when it pastes into a dead pane.
        """
        return await (await self._connected()).run_if("#{==:#{pane_dead},0}", pane_id, *command)

    async def run_for_every_client(self, *command: str) -> None:
        """Send a command that affects only the control client, now and for each client that replaces it."""
        if command not in self._always:
            self._always.append(command)
            await self.run(*command)

    async def close(self) -> None:
        """Detach. The server and everything in it go on."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def kill(self) -> None:
        """End the server and wait until it is gone: otherwise it would remove the socket of a new one."""
        code, output = await self._run("display-message", "-p", "#{pid} #{socket_path}")
        if code == 0:
            pid, socket = output.strip().split(" ", 1)
            process = KnownProcess(int(pid))
            await (
                self._detach_stale()
            )  # left by a bot that was killed; the server would wait for it
            await self._run("kill-server")
            await wait_until_gone([process], SHUTDOWN_SECONDS)
            await asyncio.to_thread(Path(socket).unlink, missing_ok=True)  # tmux leaves it behind
        await self.close()

    async def close_session(self, name: str) -> None:
        """Close a session, if it exists."""
        with contextlib.suppress(TmuxRejected):
            await self.run("kill-session", "-t", f"={name}")

    def reap_children(self) -> None:
        """Send SIGCHLD to the server, so that it reaps its children: before 3.6 it can miss one and keep a zombie."""
        if self._pid and self._client and self._client.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGCHLD)

    async def _connected(self) -> ControlClient:
        if self._client and self._client.alive:
            return self._client
        async with self._connecting:
            if self._client and self._client.alive:
                return self._client
            return await self._connect()

    async def _connect(self) -> ControlClient:
        await self.close()
        await self._start()
        client = await ControlClient.attach(
            self._tmux(),
            BOT_SESSION,
            self._environment,
            self._cwd,
            on_notification=self._on_notification,
            on_lost=self._on_lost,
        )
        self._client = client
        try:
            answer = await client.run("display-message", "-p", "#{pid} #{socket_path}")
        except TmuxRejected as gone:
            await self.close()
            raise TmuxLost("The tmux server is going away.") from gone
        pid, socket = answer[0].split(" ", 1)
        self._pid = int(pid)
        await asyncio.to_thread(self._set_up, socket)
        for command in self._always:
            await client.run(*command)
        return client

    async def _start(self) -> None:
        """Create the bot's session, on an existing server or a new one, without any other control client."""
        self._cwd.mkdir(mode=0o700, parents=True, exist_ok=True)
        output = ""
        for attempt in range(MAX_ATTEMPTS):
            # two words, so that tmux runs it without a shell
            code, output = await self._run(
                "new-session", "-d", "-s", BOT_SESSION, *SIZE, "cat", "-"
            )
            if code == 0:
                return
            if "duplicate session" in output:
                await self._detach_stale()
                return
            await asyncio.sleep(0.05 * 2**attempt)  # the socket of a server that is just exiting
        raise Unavailable(f"tmux cannot be started: {output.strip()}", INSTALL_REMEDY)

    async def _detach_stale(self) -> None:
        # An orphaned control client can keep a server from ending; one bot owns the server, so none of them is in use.
        listing = (
            "list-clients",
            "-t",
            f"={BOT_SESSION}",
            "-F",
            "#{client_control_mode} #{client_pid}",
        )
        _, output = await self._run(*listing)
        for control, _, pid in (line.partition(" ") for line in output.splitlines()):
            if control == "1" and pid.isdigit():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(int(pid), signal.SIGKILL)

    def _set_up(self, socket: str) -> None:
        server = libtmux.Server(
            socket_path=socket, config_file=os.devnull, tmux_bin=self._program()
        )
        words = itertools.chain.from_iterable(("set-option", *option, ";") for option in _OPTIONS)
        if problems := server.cmd(*words).stderr:
            raise Unavailable(f"tmux refuses an option: {' '.join(problems)}", INSTALL_REMEDY)

    def _tmux(self) -> tuple[str, ...]:
        return (self._program(), "-L", self._socket_name, "-f", os.devnull)

    def _program(self) -> str:
        found = shutil.which("tmux", path=self._environment.get("PATH"))
        if found is None:
            raise Unavailable("tmux is required, and there is none on the PATH.", INSTALL_REMEDY)
        return found

    async def _run(self, *command: str) -> tuple[int, str]:
        return await self._run_process(*self._tmux(), *command)

    async def _run_process(self, *argv: str) -> tuple[int, str]:
        # With the allow-listed environment, because a server takes that of the process which starts it.
        try:
            ended = await run(
                argv,
                env=self._environment,
                cwd=self._cwd if self._cwd.is_dir() else None,
                merge=True,
                seconds=ANSWER_SECONDS,
            )
        except ProgramTimeout as error:
            raise TmuxHangs(self._socket_name) from error
        except OSError as error:
            raise Unavailable(f"tmux cannot be run: {error}", INSTALL_REMEDY) from error
        return ended.code, ended.out.text()


# The control client: one long-lived process that answers commands in order, without a fork per command. No output of an
# agent may be part of an answer: a screen could contain a line that looks like the end of the answer.

CONDITION_FALSE = "not-so"
MAX_LINE_BYTES = 1 << 20
ANSWER_SECONDS = 10.0
"""Seconds; an answer normally takes a millisecond. After this time the server counts as hanging."""


class TmuxLost(Unavailable):
    """The client or its server died before it answered."""


class TmuxHangs(TmuxLost):
    """tmux hangs. The command is not repeated at once, because each try would take as long."""

    def __init__(self, socket: str = "") -> None:
        server = f"the tmux server `tmux -L {socket}`" if socket else "the bot's tmux server"
        super().__init__(
            "tmux does not answer.",
            f"The bot tries again by itself. If it stays so, look why {server} hangs; where you end it, its agents end, "
            "too, and are started again.",
        )


class TmuxRejected(Refused):
    """tmux refused; the reason is its own message."""


def quote_argument(argument: str) -> str:
    """Quote one argument for a tmux command line."""
    if "\n" in argument or "\0" in argument:
        raise Refused("A tmux argument cannot hold a line break.")
    return "'" + argument.replace("'", "'\\''") + "'"


class ControlClient:
    """A client attached to one session; answers arrive in the order of the commands."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        heard: Callable[[str], None],
        lost: Callable[[], None],
    ) -> None:
        self._process = process
        self._heard = heard
        self._lost = lost
        self._waiting: deque[asyncio.Future[list[str]]] = deque()
        self._greeting: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def attach(
        cls,
        tmux: Sequence[str],
        session: str,
        environment: Mapping[str, str],
        cwd: Path,
        *,
        on_notification: Callable[[str], None],
        on_lost: Callable[[], None],
    ) -> ControlClient:
        """Attach to the session, without receiving output and without affecting its size."""
        process = await start_connected(
            (*tmux, "-C", "attach-session", "-t", f"={session}", "-f", "ignore-size,no-output"),
            env=environment,
            cwd=cwd,
            max_line_length=MAX_LINE_BYTES,
        )
        client = cls(process, on_notification, on_lost)
        try:
            await client._answer_to(client._greeting)
        except BaseException:
            await client.close()
            raise
        return client

    @property
    def alive(self) -> bool:
        return not self._reading.done()

    async def run(self, *command: str) -> list[str]:
        """Return the lines of a command's answer. After TmuxLost it is unknown whether it was executed."""
        return await self._answer_to(self._send(command))

    async def run_if(self, condition: str, target: str, *command: str) -> bool:
        """Execute the command only if the condition holds for the target, atomically; return whether it did."""
        then = " ".join(quote_argument(argument) for argument in command)
        asked = self._send(
            (
                "if-shell",
                "-F",
                "-t",
                target,
                condition,
                then,
                f"display-message -p {CONDITION_FALSE}",
            )
        )
        carried_out = self._expect()  # each of the two commands produces an answer of its own
        try:
            await self._answer_to(asked)
        except TmuxRejected:
            self._waiting.remove(carried_out)
            raise
        return await self._answer_to(carried_out) != [CONDITION_FALSE]

    def _send(self, command: Sequence[str]) -> asyncio.Future[list[str]]:
        line = " ".join(quote_argument(argument) for argument in command)
        if not self.alive or self._process.stdin is None:
            raise TmuxLost("The tmux control client is gone.")
        self._process.stdin.write(line.encode() + b"\n")
        return self._expect()

    def _expect(self) -> asyncio.Future[list[str]]:
        answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        return answer

    async def close(self) -> None:
        """Close the client. The server and its sessions go on."""
        self._lost = _ignore_end
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(1.0):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            with contextlib.suppress(TimeoutError):  # a server that hangs keeps its output open
                async with asyncio.timeout(1.0):
                    await self._process.wait()
        self._reading.cancel()
        await asyncio.wait({self._reading})

    async def _answer_to(self, answer: asyncio.Future[list[str]]) -> list[str]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await answer
        except TimeoutError as error:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            # its output does not end with it if a hanging server holds the other end
            self._reading.cancel()
            raise TmuxHangs from error

    async def _read(self) -> None:
        try:
            await self._blocks()
        except ValueError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()  # a line above the limit: the stream cannot be read any further
        finally:
            for answer in (self._greeting, *self._waiting):
                if not answer.done():
                    answer.set_exception(TmuxLost("The tmux server or its control client ended."))
                    answer.exception()  # marks the exception as retrieved, because nobody may be waiting any more
            self._waiting.clear()
            self._lost()

    async def _blocks(self) -> None:
        # A block ends with the time, number and flags it began with; lines outside of blocks are notifications.
        assert self._process.stdout is not None  # noqa: S101 - it was asked for as a pipe
        tag: str | None = None
        lines: list[str] = []
        async for raw in self._process.stdout:
            line = raw.decode(errors="replace").rstrip("\n")
            if tag is None and line.startswith("%begin "):
                tag, lines = line.removeprefix("%begin "), []
            elif tag is None:
                self._heard(line)
            elif line in {f"%end {tag}", f"%error {tag}"}:
                self._settle(tag, lines, failed=line.startswith("%error "))
                tag = None
            else:
                lines.append(line)

    def _settle(self, tag: str, lines: list[str], *, failed: bool) -> None:
        # Flag 0 marks answers to commands the client did not send, such as the attaching itself.
        asked = not tag.endswith(" 0")
        if asked and not self._waiting:
            return
        answer = self._waiting.popleft() if asked else self._greeting
        if answer.done():
            return
        if failed:
            answer.set_exception(TmuxRejected("\n".join(lines) or "tmux refused."))
        else:
            answer.set_result(lines)


def _ignore_end() -> None:
    """Ignore the end of the client after a deliberate close."""
