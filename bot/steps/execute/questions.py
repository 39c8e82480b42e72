"""Asks the model which step to take next, and how to split a task that was too large."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, Self

from pydantic import Field

from bot.core.actions import ChooseStep, ReplanTask
from bot.core.errors import PortError, Refused
from bot.core.events import StepChosen, TaskReplanned
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.task import Acceptance, SmallerTask, Step, Task
from bot.core.text import cut
from bot.core.world import World
from bot.steps.asking import ModelReply, ResultFields, SessionPrompt, json_parser
from bot.steps.prompt_data import (
    ReplyText,
    Sentence,
    ShortLine,
    check_data,
    common_data,
    document_excerpts,
    shortened,
    task_plans,
    task_states,
    token_share,
)

HISTORY = 20


class StepReply(ModelReply):
    """`choice` is empty if the model gave no valid reply."""

    choice: str
    reason: Sentence = ""


@dataclass(frozen=True)
class NextStepPrompt(
    SessionPrompt[StepReply, ChooseStep, StepChosen],
    name="next_step",
    reply=StepReply,
    asked_by=ChooseStep,
):
    """Chooses one of the possible next steps, or none. `task`: its subject; None: the session."""

    session: Session
    step: Step
    task: Task | None

    @classmethod
    async def about(cls, world: World, session: Session, order: ChooseStep) -> Self:
        if session.execution.choice and session.execution.choice.id == order.step_id:
            return cls(session, session.execution.choice, None)
        for task in session.tasks:
            if task.choice and task.choice.id == order.step_id:
                return cls(session, task.choice, task)
        raise Refused("that choice no longer waits")

    def known(self) -> StepReply | None:
        match self.step.options:
            case (only,):
                return StepReply(choice=only.id, reason="There is no other.")
            case _:
                return None

    def data(self) -> dict[str, object]:
        session, step, task = self.session, self.step, self.task
        return common_data(session) | {
            "happened": shortened(step.happened, token_share(session, 6)),
            "options": [option.model_dump() for option in step.options],
            "default": step.default,
            "history": list(task.past_choices[-HISTORY:]) if task else [],
            "task": _trouble_data(session, task) if task else {},
            "tasks": task_states(session.tasks),
        }

    def read(self, text: str) -> StepReply:
        found = json_parser(StepReply, text)
        if self.step.option(found.choice) is None:
            known = ", ".join(option.id for option in self.step.options)
            raise ValueError(f"choice: {found.choice!r} is none of {known}")
        return found.model_copy(update={"reason": cut(found.reason, 500)})

    def fallback(self) -> StepReply:
        return StepReply(choice="")

    def unasked(self, trouble: PortError) -> StepReply:
        """Work must not wait for the model: while it cannot be asked the flow takes the default."""
        return StepReply(choice="", reason=trouble.reason)

    def prose(self, found: StepReply) -> str:
        return found.reason

    async def event(self, world: World, found: StepReply, fields: ResultFields) -> StepChosen:
        return StepChosen(**fields, step_id=self.step.id, option=found.choice, reason=found.reason)


def _trouble_data(session: Session, task: Task) -> dict[str, object]:
    """Return the task's data with the end of the output of tests and agent, which usually says what went wrong."""
    tail = token_share(session, 12) * 3
    told = task_plans(session, [task], token_share(session, 6))[0]
    if task.check:
        told["last_check"] = check_data(task.check) | {"output": task.check.output[-tail:]}
    if task.run:
        outcome = task.run.outcome.value if task.run.outcome else ""
        told["last_run"] = {"outcome": outcome, "message": task.run.message[-tail:]}
    return told


# Tasks that the model proposes later: checked, and sorted so that each comes after its dependencies.

MOST_FILES = 50
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class ProposedTask(ModelReply):
    """A proposed task. The numbers in `after` start at 1."""

    name: ShortLine = Field(min_length=1)
    description: ReplyText = ""
    acceptance: list[Sentence] = Field(min_length=1, max_length=30)
    files: list[str] = Field(default_factory=list[str])
    type: Literal["implementation", "documentation", "investigation"] = "implementation"
    after: list[int] = Field(default_factory=list[int], max_length=30)


def validated_tasks(
    proposed: Sequence[ProposedTask], criterion: Callable[[int, int, str], Acceptance]
) -> tuple[SmallerTask, ...]:
    """Return the proposed tasks.

    Raises ValueError if they cannot be carried out. `criterion` makes an acceptance criterion from the task's number,
    its own number and its text.
    """
    names = [one.name.casefold() for one in proposed]
    if len(set(names)) < len(names):
        raise ValueError("tasks: two of them have the same name")
    order = _ordered(proposed)
    place = {at: new for new, at in enumerate(order)}
    return tuple(
        SmallerTask(
            name=one.name,
            description=one.description,
            acceptance=tuple(
                criterion(new + 1, n, text) for n, text in enumerate(_criteria(one.acceptance), 1)
            ),
            files=tuple(_repository_paths(one.files)),
            type=TaskType(one.type),
            after=tuple(sorted({place[number - 1] for number in one.after})),
        )
        for new, one in enumerate(proposed[at] for at in order)
    )


def _ordered(proposed: Sequence[ProposedTask]) -> list[int]:
    """Return the positions in the given order, as far as dependencies allow.

    Raises ValueError for unknown or circular ones.
    """
    for number, one in enumerate(proposed, 1):
        unknown = [other for other in one.after if not 1 <= other <= len(proposed)]
        if unknown or number in one.after:
            raise ValueError(f"after: task {number} cannot wait for {(unknown or [number])[0]}")
    order: list[int] = []
    left = list(range(len(proposed)))
    while left:
        free = [at for at in left if all(number - 1 in order for number in proposed[at].after)]
        if not free:
            circle = ", ".join(str(at + 1) for at in left)
            raise ValueError(f"after: the tasks {circle} wait for each other in a circle")
        order.append(free[0])
        left.remove(free[0])
    return order


def _criteria(criteria: Sequence[str]) -> list[str]:
    found = [text for text in dict.fromkeys(criteria) if text]
    if not found:
        raise ValueError("acceptance: a task must say when it is done")
    return found


def _repository_paths(paths: Sequence[str]) -> list[str]:
    # Paths outside of the repository are dropped: they only help to avoid running tasks at the same time.
    found: list[str] = []
    for path in dict.fromkeys(one.strip().removeprefix("./") for one in paths):
        parts = PurePosixPath(path).parts
        if path and path[0] not in "/~" and not {"..", ".git"} & set(parts):
            found += [path] if not _CONTROL.search(path) else []
    return found[:MOST_FILES]


def task_texts(tasks: Sequence[SmallerTask]) -> str:
    return "\n".join(text for one in tasks for text in (one.name, one.description))


# A task that was too large is split into smaller ones that together do all of it. Without a valid reply there are none.

FEWEST, MOST = 2, 5


class ReplanReply(ModelReply):
    tasks: list[ProposedTask] = Field(min_length=FEWEST, max_length=MOST)


@dataclass(frozen=True)
class ReplanPrompt(
    SessionPrompt[tuple[SmallerTask, ...], ReplanTask, TaskReplanned],
    name="replan",
    reply=ReplanReply,
    asked_by=ReplanTask,
):
    """Two to five tasks in its place, each after those it waits for. None: a person has to be asked."""

    session: Session
    task: Task
    why: str

    @classmethod
    async def about(cls, world: World, session: Session, order: ReplanTask) -> Self:
        task = session.task(order.task_id)
        if task is None:
            raise Refused("that task is no longer part of the plan")
        return cls(session, task, task.replan_reason)

    def data(self) -> dict[str, object]:
        session, task = self.session, self.task
        planned = (one for one in session.tasks if one.state is not TaskState.REPLACED)
        return common_data(session) | {
            "task": _task_to_cut(session, task),
            "why": shortened(self.why, token_share(session, 6)),
            "commits": [commit.subject for commit in task.commits[:50]],
            "last_check": check_data(task.check) if task.check else {},
            "tasks": task_states(planned),
            "documents": document_excerpts(session, token_share(session, 6)),
        }

    def read(self, text: str) -> tuple[SmallerTask, ...]:
        found = json_parser(ReplanReply, text)
        _require_all_criteria(self.task, found.tasks)
        return validated_tasks(found.tasks, lambda at, n, said: _criterion(self.task, at, n, said))

    def fallback(self) -> tuple[SmallerTask, ...]:
        return ()

    def prose(self, found: tuple[SmallerTask, ...]) -> str:
        return task_texts(found)

    async def event(
        self, world: World, found: tuple[SmallerTask, ...], fields: ResultFields
    ) -> TaskReplanned:
        return TaskReplanned(**fields, task_id=self.task.id, smaller=found)


def _task_to_cut(session: Session, task: Task) -> dict[str, object]:
    told = task_plans(session, [task], token_share(session, 6))[0]
    return told | {
        "type": task.type.value,
        "requirements": list(task.requirements),
        "acceptance": [{"id": one.id, "text": one.text} for one in task.acceptance],
    }


def _require_all_criteria(task: Task, proposed: list[ProposedTask]) -> None:
    """Raise ValueError if the split loses an acceptance criterion."""
    said = {text.casefold() for one in proposed for text in one.acceptance}
    lost = [one.id for one in task.acceptance if not said & _criterion_names(one)]
    if lost:
        raise ValueError(f"acceptance: no task serves {', '.join(lost)}")


def _criterion(task: Task, at: int, number: int, said: str) -> Acceptance:
    """Return the task's own criterion of that text or id, or else a new one."""
    had = (one for one in task.acceptance if said.casefold() in _criterion_names(one))
    return next(had, Acceptance(id=f"{task.key}-S{at}-A{number}", text=said))


def _criterion_names(criterion: Acceptance) -> set[str]:
    # Some models repeat the text of a criterion instead of its id.
    return {criterion.id.casefold(), criterion.text.strip().casefold()}
