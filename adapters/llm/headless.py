"""Asks an installed agent CLI once: in an empty folder, with its tools disabled and nothing of the bot's environment."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.llm.answers import CUT_OFF, CallLog, MaskText, Question, usage_of, whole_answer
from adapters.llm.clis import PLAIN_VARIABLES, RULES_FILE, CliAnswer, MasterCli
from adapters.llm.errors import cli_error, cut_off_error
from adapters.processes import ProgramOutput, ProgramResult, ProgramTimeout, run
from bot.core.errors import Refused, Unavailable
from bot.core.llm import ModelRole, Reply, Tool, Turn

_AGAIN = "The bot tries again by itself."
_ERROR_EXCERPT = 2000
_LIMIT = 16 * 1024 * 1024
"""Bytes of output after which the program counts as endless."""


class CliLlm:
    """The `Llm` port over an agent CLI, one process per question. `environ`: the bot's own environment."""

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
        self._calls = CallLog(mask, log)

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
        """Return the answer to `system` about `data` and the turns; every call is logged, whatever its result."""

        async def ask(question: Question) -> Reply:
            return await whole_answer(self._ask, question, schema, tools)

        question = Question(system, data, tuple(turns))
        return await self._calls.record(self._cli.name, question, ask)

    async def _ask(
        self, question: Question, schema: dict[str, object] | None, tools: Sequence[Tool]
    ) -> Reply:
        rules = _with_schema(question.system, schema)
        data = question.data + _described_turns(question.turns)
        ended = await self._ended(rules, _escaped(data, self._cli.expands))
        return self._reply(ended, asked=rules + data)

    async def _ended(self, rules: str, data: str) -> ProgramResult:
        try:
            # an empty folder, so that no file can influence the CLI
            with TemporaryDirectory(prefix="gwt-question-", ignore_cleanup_errors=True) as folder:
                ended = await self._run(Path(folder), rules, data)
        except ProgramTimeout as error:
            raise Unavailable(
                f"{self._cli.name} did not answer within {self._timeout:g} seconds", _AGAIN
            ) from error
        except OSError as error:
            raise Unavailable(
                f"the question to {self._cli.name} cannot be written down: {error.strerror or error}",
                f"Make room on the disk of the temporary files. {_AGAIN}",
            ) from error
        if ended.out.exceeds_limit or ended.err.exceeds_limit:
            raise Unavailable(f"{self._cli.name} said more than can be read", _AGAIN)
        return ended

    async def _run(self, folder: Path, rules: str, data: str) -> ProgramResult:
        argv = self._argv(folder / "rules.md")
        (folder / "rules.md").write_text(rules, encoding="utf-8")
        (folder / "empty").mkdir()
        try:
            return await run(
                argv,
                cwd=folder / "empty",
                env=self._environment(),
                stdin=data.encode("utf-8", "replace"),
                out=ProgramOutput(_LIMIT, stop=True),
                err=ProgramOutput(_LIMIT, stop=True),
                seconds=self._timeout,
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
        # inserted before the options, because the last of them may take the prompt
        first = [options.pop(0)] if options and not options[0].startswith("-") else []
        return [found, *first, *chosen, *options]

    def _environment(self) -> dict[str, str]:
        passed = {
            name: self._environ[name]
            for name in (*PLAIN_VARIABLES, *self._cli.receives)
            if self._environ.get(name)
        }
        return {"LANG": "C.UTF-8", "TERM": "dumb", **dict(self._cli.sets), **passed}

    def _reply(self, ended: ProgramResult, *, asked: str) -> Reply:
        told = self._cli.read(ended.out.text())
        self._refuse_failure(told, ended)
        text, cut_off = told.text, told.stopped == "max_tokens"
        if told.stopped == "refusal":
            raise Refused(f"{self._cli.name} declines to answer", "Put the request differently.")
        if cut_off and not text.strip():
            raise cut_off_error(self._cli.name)
        if not text.strip():
            raise Unavailable(f"{self._cli.name} answered with nothing", _AGAIN)
        return Reply(
            text=text,
            usage=usage_of(
                asked, text, prompt_tokens=told.prompt_tokens, reply_tokens=told.reply_tokens
            ),
            model=told.model or self._model or self._cli.name,
            finish_reason=CUT_OFF if cut_off else "stop",
            context_window=told.context_window,
        )

    def _refuse_failure(self, told: CliAnswer, ended: ProgramResult) -> None:
        if not told.failure and ended.code == 0:
            return
        unsaid = f"exit code {ended.code}"
        said = (
            told.failure
            or (ended.err.text() or ended.out.text()).strip()[-_ERROR_EXCERPT:]
            or unsaid
        )
        raise cli_error(self._cli.name, self._cli.login, self._calls.mask(said), status=told.status)


def _with_schema(system: str, schema: dict[str, object] | None) -> str:
    if schema is None:
        return system
    wanted = json.dumps(schema, ensure_ascii=False)
    return f"{system}\n\nAnswer with one JSON object that fits this JSON Schema, and with nothing else:\n{wanted}\n"


def _described_turns(turns: Sequence[Turn]) -> str:
    """Return the turns as lines of JSON, in which `_escaped` may replace characters."""
    if not turns:
        return ""
    lines = (
        json.dumps({"you_answered": one.answer, "then": one.then}, ensure_ascii=False)
        for one in turns
    )
    return "\n\nSince then, in this order. Do now what the last one says.\n" + "\n".join(lines)


def _escaped(data: str, characters: str) -> str:
    """Return the same JSON with these characters escaped; they can occur only in its strings."""
    for sign in characters:
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    return data
