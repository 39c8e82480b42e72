"""Asks the model what is on a branch, in a few words. Without the model, facts alone are told."""

from __future__ import annotations

from pydantic import Field

from bot.core.diffs import shorten_patch
from bot.core.git import BranchDetails
from bot.core.llm import BYTES_PER_TOKEN, Usage
from bot.core.session import Session
from bot.core.text import language_of
from bot.ports import Llm
from bot.steps.asking import Answer, ask, parsed
from bot.steps.prompt_data import brief

PATCH = 200_000
"""Characters of a patch that are looked at."""
SMALLEST_WINDOW = 16_000
LARGEST_SHARE = 60_000
"""Characters that are sent."""


class BranchReply(Answer):
    text: str = Field(min_length=1)


async def summarise_branch(
    llm: Llm, found: BranchDetails, patch: str, window: int, session: Session | None
) -> tuple[str, Usage]:
    """`window`: tokens the model takes at once; `session`: whose work it is."""
    share = min(LARGEST_SHARE, (window or SMALLEST_WINDOW) * BYTES_PER_TOKEN // 3)
    data: dict[str, object] = {
        "branch": found.branch.name,
        "base": found.base,
        "ahead": found.branch.ahead,
        "behind": found.branch.behind,
        "commits": [one.subject for one in found.commits],
        "files": [one.model_dump() for one in found.files],
        "diff": shorten_patch(patch, share),
        "task": _task(found, session),
        "language": language_of(session.intent.body) if session else "",
    }

    def parse(text: str) -> str:
        return brief(parsed(BranchReply)(text).text)

    return await ask(
        llm, "branch", data, parse, lambda: _plain_summary(found), BranchReply, lambda one: one
    )


def _task(found: BranchDetails, session: Session | None) -> dict[str, object] | None:
    for task in session.tasks if session else ():
        if task.workspace and task.workspace.branch == found.branch.name:
            return {"name": task.name, "description": task.description, "state": task.state.value}
    return None


def _plain_summary(found: BranchDetails) -> str:
    commits, files = found.branch.ahead, len(found.files)
    names = ", ".join(one.path for one in found.files[:5])
    return f"{commits} commits change {files} files: {names}. The model had nothing to say of them."
