"""A tmux control client: one long-lived process, commands answered in order, no fork per command.

Nothing an agent can print may stand in an answer: a screen could hold a line that looks like the end of the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.errors import Refused, Unavailable

NOT_SO = "not-so"
LONGEST_LINE = 1 << 20
PATIENCE = 10.0
"""Seconds for an answer that takes a millisecond: after them the server hangs, and whoever waits is told."""


class Lost(Unavailable):
    """The client or its server died before it answered."""


class Silent(Lost):
    """tmux hangs. It is not asked again at once: each time would take as long, and nobody would be told."""

    def __init__(self, socket: str = "") -> None:
        server = f"the tmux server `tmux -L {socket}`" if socket else "the bot's tmux server"
        super().__init__(
            "tmux does not answer.",
            f"The bot tries again by itself. If it stays so, look why {server} hangs; where you end it, its agents end, "
            "too, and are started again.",
        )


class Rejected(Refused):
    """tmux said no. The reason is its own words."""


def quoted(argument: str) -> str:
    """One argument as tmux reads it from a command line."""
    if "\n" in argument or "\0" in argument:
        raise Refused("A tmux argument cannot hold a line break.")
    return "'" + argument.replace("'", "'\\''") + "'"


class ControlClient:
    """Attached to one session; answers come in the order of the questions."""

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
        heard: Callable[[str], None],
        lost: Callable[[], None],
    ) -> ControlClient:
        """Attach to the session, without output and without a say in its size."""
        process = await asyncio.create_subprocess_exec(
            *tmux,
            *("-C", "attach-session", "-t", f"={session}", "-f", "ignore-size,no-output"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(environment),
            cwd=cwd,
            limit=LONGEST_LINE,
            # Ctrl-C in the bot's terminal is not meant for its tmux client
            start_new_session=True,
        )
        client = cls(process, heard, lost)
        try:
            await client._answer_to(client._greeting)
        except BaseException:
            await client.close()
            raise
        return client

    @property
    def alive(self) -> bool:
        return not self._reading.done()

    async def ask(self, *command: str) -> list[str]:
        """The lines of one command's answer. Lost: nobody knows whether it was carried out."""
        return await self._answer_to(self._send(command))

    async def ask_if(self, condition: str, target: str, *command: str) -> bool:
        """Carry out the command if the condition holds for the target, with nothing in between. Has it?"""
        then = " ".join(quoted(argument) for argument in command)
        asked = self._send(
            ("if-shell", "-F", "-t", target, condition, then, f"display-message -p {NOT_SO}")
        )
        carried_out = self._expect()  # whichever of the two it is, it has an answer of its own
        try:
            await self._answer_to(asked)
        except Rejected:
            self._waiting.remove(carried_out)
            raise
        return await self._answer_to(carried_out) != [NOT_SO]

    def _send(self, command: Sequence[str]) -> asyncio.Future[list[str]]:
        line = " ".join(quoted(argument) for argument in command)
        if not self.alive or self._process.stdin is None:
            raise Lost("The tmux control client is gone.")
        self._process.stdin.write(line.encode() + b"\n")
        return self._expect()

    def _expect(self) -> asyncio.Future[list[str]]:
        answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        return answer

    async def close(self) -> None:
        """Let the client go. The server and its sessions live on."""
        self._lost = _nobody
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(1.0):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            with contextlib.suppress(TimeoutError):  # a server that hangs holds its output open
                async with asyncio.timeout(1.0):
                    await self._process.wait()
        self._reading.cancel()
        await asyncio.wait({self._reading})

    async def _answer_to(self, answer: asyncio.Future[list[str]]) -> list[str]:
        try:
            async with asyncio.timeout(PATIENCE):
                return await answer
        except TimeoutError as error:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            # its output does not end with it: a server that hangs holds the other end
            self._reading.cancel()
            raise Silent from error

    async def _read(self) -> None:
        try:
            await self._blocks()
        except ValueError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()  # a line beyond every bound: the stream cannot be read any further
        finally:
            for answer in (self._greeting, *self._waiting):
                if not answer.done():
                    answer.set_exception(Lost("The tmux server or its control client ended."))
                    answer.exception()  # who waited hears it; nobody may be waiting any more
            self._waiting.clear()
            self._lost()

    async def _blocks(self) -> None:
        """Blocks are closed by the very time, number and flags that opened them; what stands outside is news."""
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
        """Flag 0 marks what the client did not ask for on its input: attaching itself."""
        asked = not tag.endswith(" 0")
        if asked and not self._waiting:
            return
        answer = self._waiting.popleft() if asked else self._greeting
        if answer.done():
            return
        if failed:
            answer.set_exception(Rejected("\n".join(lines) or "tmux refused."))
        else:
            answer.set_result(lines)


def _nobody() -> None:
    """Who closes the client himself need not hear that it ended."""
