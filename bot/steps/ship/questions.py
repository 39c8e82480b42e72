"""Asks the model for the title and text of a pull request."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from pydantic import Field

from bot.core.actions import DescribeWork
from bot.core.errors import PortError, Refused
from bot.core.events import WorkDescribed
from bot.core.evidence import Check
from bot.core.pull_text import title_for, title_problem
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.task import PullText, Task
from bot.core.text import cut, first_few
from bot.core.world import World
from bot.steps.asking import ModelReply, ResultFields, SessionPrompt, json_parser
from bot.steps.prompt_data import check_data, common_data, diff_excerpt, masked_diff, task_data

LONGEST_BODY = 20_000
MAX_LISTED = 50
"""Commits and files beyond this number are only counted."""


log = logging.getLogger("bot.perform")


class PullReply(ModelReply):
    title: str = Field(min_length=1)
    body: str = Field(min_length=1)


@dataclass(frozen=True)
class PullRequestPrompt(
    SessionPrompt[PullText, DescribeWork, WorkDescribed],
    name="pull_request",
    reply=PullReply,
    asked_by=DescribeWork,
):
    """Writes title and body of a task's pull request. The model is not asked if there is no diff."""

    session: Session
    task: Task
    diff: str | None
    checks: Sequence[Check]

    @classmethod
    async def about(cls, world: World, session: Session, order: DescribeWork) -> Self:
        task = session.task(order.task_id)
        if task is None:
            raise Refused("that task is no longer part of the plan")
        diff = None
        try:
            diff = await masked_diff(world, task.workspace) if task.workspace else None
        except PortError as trouble:
            log.warning("no diff", extra={"data": {"task": task.id, "why": trouble.reason}})
        return cls(session, task, diff, task.checks[-1:])

    def known(self) -> PullText | None:
        return self.fallback() if self.diff is None else None

    def data(self) -> dict[str, object]:
        return common_data(self.session) | {
            "task": task_data(self.session, self.task),
            "commits": _subjects(self.task),
            "diff": diff_excerpt(self.session, self.diff or ""),
            "checks": [check_data(check) for check in self.checks],
        }

    def read(self, text: str) -> PullText:
        found = json_parser(PullReply, text)
        if problem := title_problem(found.title):
            raise ValueError(f"title: {problem}")
        return PullText(title=found.title, body=cut(found.body, LONGEST_BODY))

    def fallback(self) -> PullText:
        return plain_pull_text(self.session, self.task, self.checks)

    def unasked(self, trouble: PortError) -> PullText:
        """A finished task never waits for its description."""
        return self.fallback()

    def prose(self, found: PullText) -> str:
        return found.body

    async def event(self, world: World, found: PullText, fields: ResultFields) -> WorkDescribed:
        return WorkDescribed(**fields, task_id=self.task.id, text=found)


def plain_pull_text(session: Session, task: Task, checks: Sequence[Check]) -> PullText:
    """Return a text made only of what git and the tests show."""
    implementing = task.type is TaskType.IMPLEMENTATION
    title = title_for(session.intent.type if implementing else task.type, task.name)
    return PullText(title=title, body=cut("\n\n".join(_facts(task, checks)), LONGEST_BODY))


def _facts(task: Task, checks: Sequence[Check]) -> Iterator[str]:
    yield f"## {task.key}: {task.name}"
    if task.description:
        yield task.description
    if task.acceptance:
        yield "### Done when\n\n" + _bullets(one.text for one in task.acceptance)
    if subjects := _subjects(task):
        yield "### Commits\n\n" + _bullets(subjects)
    if touched := _touched(task):
        yield "### Impact\n\nIt touches:\n\n" + _bullets(touched)
    if checks:
        told = (check_data(check) for check in checks)
        yield "### Checks\n\n" + _bullets(
            f"`{one['command']}` {one['result']} on {one['commit']}" for one in told
        )


def _touched(task: Task) -> Sequence[str]:
    """Return the changed files; only the model could say more about them."""
    work = task.work
    if work is None:
        return []
    files = dict.fromkeys((*work.created_files, *work.changed_files, *work.deleted_files))
    return first_few([f"`{path}`" for path in files], MAX_LISTED)


def _bullets(texts: Iterator[str] | Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _subjects(task: Task) -> Sequence[str]:
    """Return the commits' subjects, oldest first."""
    return first_few([commit.subject for commit in reversed(task.commits)], MAX_LISTED, "commit")
