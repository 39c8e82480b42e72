"""Commands that are only played: what each answers is set beforehand. It keeps the Commands port."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from bot.core.checks import Report
from bot.core.errors import PortError
from bot.core.runs import Executed

PASSED = Executed(
    exit_code=0,
    seconds=0.1,
    output="1 passed\n",
    report=Report(tests={"test_greets": "passed"}),
)


class FakeCommands:
    """Answers in order; the last one again and again. A PortError among them is raised."""

    def __init__(self, answers: Iterable[Executed | PortError] = (PASSED,)) -> None:
        self._answers = deque(answers)
        self.at_base: Executed | PortError = PASSED
        """What tests come to in a worktree of the base."""
        self.ran: list[tuple[str, str]] = []
        """Directory and command of every call, but those at the base."""
        self.ran_at_base: list[tuple[str, str]] = []
        self._kept: dict[str, Executed] = {}
        self.missing: set[str] = set()
        """Programs that are not there."""

    def answer(self, *answers: Executed | PortError) -> None:
        """From now on."""
        self._answers = deque(answers)

    async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        self.ran.append((cwd, command))
        await asyncio.sleep(0)
        answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, PortError):
            raise answer
        return answer.model_copy(update={"output_path": log})

    async def test(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        if "/agent-base-" in cwd:
            self.ran_at_base.append((cwd, command))
            await asyncio.sleep(0)
            if isinstance(self.at_base, PortError):
                raise self.at_base
            done = self.at_base.model_copy(update={"output_path": log})
        else:
            done = await self.run(cwd, command, seconds=seconds, log=log)
        self._kept[log] = done
        return done

    async def kept_result(self, log: str) -> Executed | None:
        return self._kept.get(log)

    async def problem(self, cwd: str, command: str) -> str:
        lacking = [word for word in command.split() if word in self.missing]
        return f"There is no program `{lacking[0]}` on the PATH of the bot." if lacking else ""
