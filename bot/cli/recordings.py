"""Keeps every answer of a model by the digest of its question, so that a run can go on, or be replayed without a model.

A file of lines: what was asked for the run, then an answer a line, in the order in which they came.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from adapters.state_files import JsonLines, cannot_read
from bot.core.errors import Refused, Unavailable
from bot.core.facts import Fact
from bot.core.llm import ModelRole, Reply, Tool, Turn, estimate_tokens
from bot.core.retry import a_few_times
from bot.ports import Llm

TRIES = 4


class RecordedRun(Fact):
    """The first line of each run: the models, which are a part of each question, and their windows, on which prompts depend."""

    models: dict[ModelRole, str] = Field(default_factory=dict[ModelRole, str])
    windows: dict[ModelRole, int] = Field(default_factory=dict[ModelRole, int])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.models.values()))


class RecordedAnswer(Fact):
    question: str
    reply: Reply


class _Line(Fact):
    """Exactly one of them is set."""

    run: RecordedRun | None = None
    answer: RecordedAnswer | None = None


class RecordedLlm:
    """Implements bot.ports.Llm. Without an `llm` only what is recorded is answered.

    `run`: without it the last one that is recorded. `most`: so many tokens may be spent, 0 means any number. `mask`: for
    what is written down.
    """

    def __init__(
        self,
        path: Path,
        llm: Llm | None = None,
        run: RecordedRun | None = None,
        *,
        most: int = 0,
        mask: Callable[[str], str] = str,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.path = path
        self._file = JsonLines(path, _Line)
        self._llm, self._most, self._mask, self._sleep = llm, most, mask, sleep
        self._away = False
        lines, torn = _read(path, required=llm is None)
        if torn and llm:
            self._file.rewrite(lines)
        runs = [one.run for one in lines if one.run]
        self.run = run or (runs[-1] if runs else RecordedRun())
        self._begun = self.run in runs[-1:]
        answers = [one.answer for one in lines if one.answer]
        self._answers = {one.question: one.reply for one in answers}
        self.kept = len(self._answers)
        self.new = self.reused = self.spent = 0
        """Answers that were asked for, those that were there, and the tokens of the former."""

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
        question = _digest(system, data, schema, turns, tools, self.run.models.get(role, ""))
        if known := self._answers.get(question):
            self.reused += 1
            return known
        if self._llm is None:
            raise _lacking(self.path)
        if self._most and self.spent >= self._most:
            raise Unavailable(f"--most {self._most:,} tokens are spent")
        llm, tries = self._llm, 1 if self._away else TRIES
        try:
            reply = await a_few_times(
                lambda: llm.complete(
                    system, data, schema=schema, turns=turns, tools=tools, role=role
                ),
                self._sleep,
                tries,
            )
        except Unavailable:
            self._away = True  # it was waited for in vain: the next ones need not be
            raise
        self._away = False
        reply = reply.model_copy(update={"text": self._mask(reply.text)})
        self._answers[question] = reply
        if not self._begun:
            self._begun = True
            self._file.append(_Line(run=self.run))
        self._file.append(_Line(answer=RecordedAnswer(question=question, reply=reply)))
        self.new += 1
        self.spent += reply.usage.tokens or estimate_tokens(system + data + reply.text)
        return reply


def _lacking(path: Path) -> Refused:
    return Refused(
        f"{path} does not hold the answer to a question of this run",
        "It was stopped early, or recorded with other options, commits or prompts. Run without --replay, with "
        f"--answers {path}: what it holds is taken from there, and only the rest is asked.",
    )


def _digest(
    system: str,
    data: str,
    schema: Mapping[str, object] | None,
    turns: Sequence[Turn],
    tools: Sequence[Tool],
    model: str,
) -> str:
    said = [[one.answer, one.then] for one in turns]
    offered = [one.model_dump() for one in tools]
    whole = json.dumps([model, system, data, schema, said, offered], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _read(path: Path, *, required: bool) -> tuple[list[_Line], bool]:
    """Return the lines, and whether a crash has torn off the last one. Any other that cannot be read is refused."""
    try:
        # not splitlines(), which also splits at signs that may stand within an answer
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError as error:
        if required:
            raise Refused(f"there is no recording {path}") from error
        return [], False
    except OSError as error:
        raise cannot_read(path, error) from error
    found: list[_Line] = []
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                found.append(_Line.model_validate_json(line))
        except ValidationError as error:
            if number == len(lines):
                return found, True
            raise Refused(
                f"line {number} of {path} is damaged, or the file is no recording of answers",
                f"Remove that line, and run without --replay, with --answers {path}: only what lacks is asked.",
            ) from error
    if required and not any(one.run for one in found):
        raise Refused(f"{path} is no recording: the line that names the model is missing")
    return found, False
