"""Asks the model what is on a branch, in a few words. Without a model, only facts are shown."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from bot.core.diffs import shorten_patch
from bot.core.git import BranchDetails
from bot.core.languages import language_of
from bot.core.llm import BYTES_PER_TOKEN, ModelRole
from bot.core.session import Session
from bot.core.text import cut
from bot.steps.asking import ModelReply, Prompt, json_parser
from bot.steps.prompt_data import LONGEST_REPLY

MAX_PATCH_CHARS = 200_000
"""Characters of a patch that are read."""
SMALLEST_WINDOW = 16_000
MAX_SENT_CHARS = 60_000
"""Characters that are sent at most."""


class BranchReply(ModelReply):
    text: str = Field(min_length=1)


@dataclass(frozen=True)
class BranchPrompt(Prompt[str], name="branch", reply=BranchReply, role=ModelRole.SMALL):
    """`window`: tokens the model takes at once; `session`: whose work it is."""

    found: BranchDetails
    patch: str
    window: int
    session: Session | None

    def data(self) -> dict[str, object]:
        found, session = self.found, self.session
        share = min(MAX_SENT_CHARS, (self.window or SMALLEST_WINDOW) * BYTES_PER_TOKEN // 3)
        return {
            "branch": found.branch.name,
            "base": found.base,
            "ahead": found.branch.ahead,
            "behind": found.branch.behind,
            "commits": [one.subject for one in found.commits],
            "files": [one.model_dump() for one in found.files],
            "diff": shorten_patch(self.patch, share),
            "task": _task(found, session),
            "language": language_of(session.intent.body) if session else "",
        }

    def read(self, text: str) -> str:
        return cut(json_parser(BranchReply, text).text, LONGEST_REPLY)

    def fallback(self) -> str:
        commits, files = self.found.branch.ahead, len(self.found.files)
        names = ", ".join(one.path for one in self.found.files[:5])
        return f"{commits} commits change {files} files: {names}. The model had nothing to say of them."

    def prose(self, found: str) -> str:
        return found


def _task(found: BranchDetails, session: Session | None) -> dict[str, object] | None:
    for task in session.tasks if session else ():
        if task.workspace and task.workspace.branch == found.branch.name:
            return {"name": task.name, "description": task.description, "state": task.state.value}
    return None
