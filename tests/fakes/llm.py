"""A model that says what the test wrote down for it, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.errors import PortError
from bot.core.llm import ModelRole, Reply, Tool, Turn, Usage

Line = str | Reply | PortError
"""What the model answers: a text, a whole reply, or an error it raises."""


@dataclass(frozen=True)
class Call:
    """One question the model was asked."""

    system: str
    data: str
    schema: dict[str, object] | None
    turns: tuple[Turn, ...] = ()
    tools: tuple[Tool, ...] = ()
    role: ModelRole = ModelRole.MAIN

    @property
    def correction(self) -> str:
        """What the model was told last, after an answer of its own; empty at the first try."""
        return self.turns[-1].then if self.turns else ""

    def fields(self) -> dict[str, Any]:
        """The data as it was sent, with the correction beside it."""
        return {**json.loads(self.data), "correction": self.correction}


class ScriptedLlm:
    """The `Llm` port from a script: lines in their order, or a function of the call."""

    def __init__(
        self,
        script: Iterable[Line] | Callable[[Call], Line] = (),
        *,
        mask: Callable[[str], str] = str,
    ) -> None:
        self._mask = mask
        self._answer = script if callable(script) else None
        self._lines: list[Line] = [] if callable(script) else list(script)
        self.calls: list[Call] = []
        self._free = asyncio.Event()
        self._free.set()

    @property
    def count(self) -> int:
        """How many times it was asked, also those it never answered."""
        return len(self.calls)

    def then(self, *lines: Line) -> None:
        """Add lines to the end of the script."""
        self._lines.extend(lines)

    def hold(self) -> None:
        """Let calls hang from now on, until `release`."""
        self._free.clear()

    def release(self) -> None:
        self._free.set()

    async def complete(
        self,
        system: str,
        data: str,
        *,
        schema: dict[str, object] | None,
        turns: Sequence[Turn] = (),
        tools: Sequence[Tool] = (),
        role: ModelRole = ModelRole.MAIN,
    ) -> Reply:
        masked = [Turn(answer=self._mask(one.answer), then=self._mask(one.then)) for one in turns]
        call = Call(self._mask(system), self._mask(data), schema, tuple(masked), tuple(tools), role)
        self.calls.append(call)
        await asyncio.sleep(0)
        await self._free.wait()
        line = self._answer(call) if self._answer else self._next()
        if isinstance(line, PortError):
            raise line
        return line if isinstance(line, Reply) else _reply(call, line)

    def _next(self) -> Line:
        assert self._lines, f"the script has no line for call {self.count}: {self.calls[-1]}"
        return self._lines.pop(0)


def _reply(call: Call, text: str) -> Reply:
    usage = Usage(
        calls=1, prompt_tokens=_tokens(call.system + call.data), reply_tokens=_tokens(text)
    )
    return Reply(text=text, usage=usage, model="scripted")


def _tokens(text: str) -> int:
    return math.ceil(len(text.encode()) / 3)
