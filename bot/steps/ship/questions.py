"""Asks the model for the title and text of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from bot.core.evidence import Check
from bot.core.llm import Usage
from bot.core.pull_text import title_for, title_problem
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.task import PullText, Task
from bot.ports import Llm
from bot.steps.asking import Answer, ask, parsed
from bot.steps.prompt_data import basics, brief, check_data, diff_excerpt, task_data

LONGEST_BODY = 20_000
MANY = 50
"""Commits and files beyond these are only counted."""


class PullReply(Answer):
    title: str = Field(min_length=1)
    body: str = Field(min_length=1)


async def describe(
    llm: Llm, session: Session, task: Task, diff: str, checks: Sequence[Check]
) -> tuple[PullText, Usage]:
    """Title and body for the pull request of a task."""
    data = basics(session) | {
        "task": task_data(session, task),
        "commits": _subjects(task),
        "diff": diff_excerpt(session, diff),
        "checks": [check_data(check) for check in checks],
    }

    def parse(text: str) -> PullText:
        found = parsed(PullReply)(text)
        if problem := title_problem(found.title):
            raise ValueError(f"title: {problem}")
        return PullText(title=found.title, body=brief(found.body, LONGEST_BODY))

    def plain() -> PullText:
        return plain_pull_text(session, task, checks)

    return await ask(llm, "pull_request", data, parse, plain, PullReply, lambda one: one.body)


def plain_pull_text(session: Session, task: Task, checks: Sequence[Check]) -> PullText:
    """What git and the tests say, and nothing else."""
    implementing = task.type is TaskType.IMPLEMENTATION
    title = title_for(session.intent.type if implementing else task.type, task.name)
    return PullText(title=title, body=brief("\n\n".join(_facts(task, checks)), LONGEST_BODY))


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


def _touched(task: Task) -> list[str]:
    """What git says has changed: so far reaches what nobody but the model could say more of."""
    work = task.work
    if work is None:
        return []
    files = dict.fromkeys((*work.created_files, *work.changed_files, *work.deleted_files))
    told = [f"`{path}`" for path in list(files)[:MANY]]
    return [*told, f"… and {len(files) - MANY} more"] if len(files) > MANY else told


def _bullets(texts: Iterator[str] | Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _subjects(task: Task) -> list[str]:
    """The oldest first, as one tells what one did."""
    subjects = [commit.subject for commit in reversed(task.commits)]
    more = len(subjects) - MANY
    return [*subjects[:MANY], f"… and {more} more commits"] if more > 0 else subjects
