"""Gathers what a person's question is answered with: the code it is about, and what is known of the tasks it names."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from bot.core.errors import PortError
from bot.core.session import Session
from bot.core.task import Task
from bot.core.world import World
from bot.steps.looking import Looker
from bot.steps.prompt_data import (
    check_data,
    diff_excerpt,
    masked_diff,
    shortened,
    task_data,
    token_share,
)

log = logging.getLogger("bot.perform")

MOST_TASKS = 3
_TASK = re.compile(r"(?<![0-9A-Za-z])T\d{1,4}(?![0-9A-Za-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Evidence:
    """What a question may be answered with, besides what is known of the session itself."""

    looker: Looker | None = None
    code: str = ""
    """Files, definitions and pieces of code that the question seems to be about, with line numbers."""
    tasks: tuple[dict[str, object], ...] = ()
    """The tasks that the question names: what is wanted, what was changed, what the tests printed."""

    def data(self) -> dict[str, object]:
        return {"code": self.code, "named_tasks": list(self.tasks)}

    async def checked(self, reply: str) -> str:
        """Return the reply with a note of what it cites and is not there."""
        wrong = await self.looker.doubts(reply) if self.looker and reply else ()
        return f"{reply}\n\n(Not proven: {'; '.join(wrong)}.)" if wrong else reply


NO_EVIDENCE = Evidence()


async def evidence_for(world: World, session: Session, text: str) -> Evidence:
    """Gather it for a question in a session's thread. What cannot be read is left out."""
    looker = Looker.of(world, session)
    named = {key.upper() for key in _TASK.findall(text)}
    tasks = [task for task in session.tasks if task.key in named][:MOST_TASKS]
    return Evidence(
        looker=looker,
        code=await code_about(looker, text, token_share(session, 4)) if looker else "",
        tasks=tuple([await _task_evidence(world, session, task) for task in tasks]),
    )


async def code_about(looker: Looker, text: str, tokens: int) -> str:
    try:
        found = await looker.repository.find_context(looker.path, looker.commit, text, tokens)
    except PortError as error:
        log.warning("no code", extra={"data": {"why": error.reason}})
        return ""
    return looker.mask(found.text)


async def _task_evidence(world: World, session: Session, task: Task) -> dict[str, object]:
    last = task.verdicts[-1] if task.verdicts else None
    known: dict[str, object] = {
        "blocked_because": task.blocked,
        "verdict": last.model_dump(mode="json", include={"outcome", "reasons", "missing"})
        if last
        else None,
        "last_check": check_data(task.check) if task.check else None,
        "printed_by_tests": shortened(task.check.output, token_share(session, 12))
        if task.check
        else "",
        "diff": await _diff(world, session, task),
        "report": shortened(task.report, token_share(session, 12)),
    }
    return task_data(session, task) | {name: value for name, value in known.items() if value}


async def _diff(world: World, session: Session, task: Task) -> str:
    if task.workspace is None or not task.workspace.ready:
        return ""
    try:
        return diff_excerpt(session, await masked_diff(world, task.workspace))
    except PortError as error:
        log.warning("no diff", extra={"data": {"why": error.reason}})
        return ""
