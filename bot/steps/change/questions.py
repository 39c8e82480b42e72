"""Asks the model which tasks a change touches. Tasks that users name are always touched."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from pydantic import Field

from bot.core.actions import JudgeImpact
from bot.core.errors import Refused
from bot.core.events import ImpactJudged
from bot.core.facts import Fact
from bot.core.naming import task_label
from bot.core.session import Session
from bot.core.states import TaskState
from bot.core.talk import Affected, Change
from bot.core.task import Task
from bot.core.text import cut
from bot.core.world import World
from bot.steps.asking import ModelReply, ResultFields, SessionPrompt, json_parser
from bot.steps.prompt_data import Sentence, common_data, task_plans, token_share

NAMED = "It is named in the words themselves."
NOT_TOLD = (
    "The model could not tell which tasks this touches: only those that are named in it are held."
)
LONGEST_WHY = 300
_KEY = re.compile(
    r"(?<![A-Za-z0-9-])(?:T|t(?=[0-9]{3}))([0-9]{1,4})([a-z]?)(?![A-Za-z0-9]|\.[A-Za-z0-9])"
)  # T2 and t002, but not t2.micro, a cloud's machine type
_LABEL = re.compile(r"(?<![A-Za-z0-9])task-[0-9a-f]{8}-[0-9]{1,4}(?![0-9])", re.IGNORECASE)
_SETTLED_BY_PEOPLE = frozenset({TaskState.REPLACED, TaskState.CANCELLED})


class TouchedTask(ModelReply):
    key: str = Field(min_length=1)
    why: str = ""


class ImpactReply(ModelReply):
    reason: Sentence = ""
    affected: list[TouchedTask]


class Impact(Fact):
    """The tasks that a change touches, in the order of the plan."""

    affected: tuple[Affected, ...]
    reason: str


@dataclass(frozen=True)
class ImpactPrompt(
    SessionPrompt[Impact, JudgeImpact, ImpactJudged],
    name="impact",
    reply=ImpactReply,
    asked_by=JudgeImpact,
):
    """Which tasks a change touches. Keys that are no task's are ignored; a task that is named is always touched."""

    session: Session
    change: Change

    @classmethod
    async def about(cls, world: World, session: Session, order: JudgeImpact) -> Self:
        change = session.change
        if change is None or change.id != order.change_id:
            raise Refused("that change is no longer wanted")
        return cls(session, change)

    def data(self) -> dict[str, object]:
        session, change = self.session, self.change
        return common_data(session, change.text) | {
            "change": change.text,
            "tasks": task_plans(session, self._tasks(), token_share(session, 3)),
        }

    def _tasks(self) -> list[Task]:
        return [task for task in self.session.tasks if task.state is not TaskState.REPLACED]

    def read(self, text: str) -> Impact:
        found = json_parser(ImpactReply, text)
        chosen = {one.key.upper(): one.why for one in found.affected}
        unknown = sorted(chosen.keys() - {task.key.upper() for task in self._tasks()})
        if chosen and len(unknown) == len(chosen):
            raise ValueError(f"affected: there is no task {', '.join(unknown)}")
        return Impact(affected=_touched(self.session, self.change, chosen), reason=found.reason)

    def fallback(self) -> Impact:
        # On fallback hold no tasks but those named: the change counts only once a person has confirmed it, so a task
        # that goes on meanwhile costs one run at most, while holding all would stop every agent because of one garbled
        # reply.
        return Impact(affected=_touched(self.session, self.change, {}), reason=NOT_TOLD)

    def prose(self, found: Impact) -> str:
        return "\n".join([found.reason, *(a.why for a in found.affected if a.why != NAMED)])

    async def event(self, world: World, found: Impact, fields: ResultFields) -> ImpactJudged:
        return ImpactJudged(
            **fields, change_id=self.change.id, affected=found.affected, reason=found.reason
        )


def _touched(session: Session, change: Change, chosen: dict[str, str]) -> tuple[Affected, ...]:
    named = set(_tasks_named(session, change.text))

    def why(task: Task) -> str:
        return cut(chosen.get(task.key.upper(), ""), LONGEST_WHY) or (
            NAMED if task.id in named else ""
        )

    return tuple(
        Affected(task_id=task.id, why=why(task))
        for task in session.tasks
        if task.id in named or (task.key.upper() in chosen and task.state not in _SETTLED_BY_PEOPLE)
    )


def _tasks_named(session: Session, text: str) -> Iterator[str]:
    """Yield the ids of tasks whose key or label is in the text; for a replaced task, those of its replacements."""
    plain = unicodedata.normalize("NFKC", text)
    keys = {_plain_key(*found) for found in _KEY.findall(plain)}
    labels = {label.lower() for label in _LABEL.findall(plain)}
    ahead = [
        task
        for task in session.tasks
        if _key_of(task) in keys or (task.number and task_label(session.id, task.number) in labels)
    ]
    seen: set[str] = set()
    while ahead:
        task = ahead.pop()
        if task.state is not TaskState.REPLACED:
            yield task.id
        elif task.id not in seen:
            seen.add(task.id)
            ahead += [one for id in task.replaced_by if (one := session.task(id))]


def _key_of(task: Task) -> str:
    found = _KEY.fullmatch(task.key)
    return _plain_key(*found.groups()) if found else task.key


def _plain_key(digits: str, letter: str) -> str:
    # T2 is T002.
    return f"{int(digits)}{letter}"
