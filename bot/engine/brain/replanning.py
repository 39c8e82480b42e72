"""A task that was cut too large, cut anew: smaller ones that together do all of it. Without a usable answer there are none."""

from __future__ import annotations

from pydantic import Field

from bot.domain.replanned import Smaller
from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tasks import Acceptance, Task
from bot.domain.world import Usage
from bot.engine.brain.asking import Answer, ask, parsed
from bot.engine.brain.smaller import Proposed, read_by_people, smaller
from bot.engine.brain.standing import (
    basics,
    check_told,
    documents,
    part_of,
    plans,
    shortened,
    states,
)
from bot.ports import Llm

FEWEST, MOST = 2, 5


class ReplanReply(Answer):
    tasks: list[Proposed] = Field(min_length=FEWEST, max_length=MOST)


async def replan(
    llm: Llm, session: Session, task: Task, why: str
) -> tuple[tuple[Smaller, ...], Usage]:
    """Two to five tasks in its place, each after those it waits for. None: a person has to be asked."""
    data = basics(session) | {
        "task": _told(session, task),
        "why": shortened(why, part_of(session, 6)),
        "commits": [commit.subject for commit in task.commits[:50]],
        "last_check": check_told(task.check) if task.check else {},
        "tasks": states(one for one in session.tasks if one.state is not TaskState.REPLACED),
        "documents": documents(session, part_of(session, 6)),
    }

    def parse(text: str) -> tuple[Smaller, ...]:
        found = parsed(ReplanReply)(text)
        _require_all(task, found.tasks)
        return smaller(found.tasks, lambda at, n, said: _criterion(task, at, n, said))

    return await ask(llm, "replan", data, parse, tuple[Smaller, ...], ReplanReply, read_by_people)


def _told(session: Session, task: Task) -> dict[str, object]:
    told = plans(session, [task], part_of(session, 6))[0]
    return told | {
        "type": task.type.value,
        "requirements": list(task.requirements),
        "acceptance": [{"id": one.id, "text": one.text} for one in task.acceptance],
    }


def _require_all(task: Task, proposed: list[Proposed]) -> None:
    """Nothing that was to be so may get lost by cutting."""
    said = {text.casefold() for one in proposed for text in one.acceptance}
    lost = [one.id for one in task.acceptance if not said & _names(one)]
    if lost:
        raise ValueError(f"acceptance: no task serves {', '.join(lost)}")


def _criterion(task: Task, at: int, number: int, said: str) -> Acceptance:
    """One that the task had, or a new one of the so-many-th smaller task."""
    had = (one for one in task.acceptance if said.casefold() in _names(one))
    return next(had, Acceptance(id=f"{task.key}-S{at}-A{number}", text=said))


def _names(criterion: Acceptance) -> set[str]:
    """By its id or, as some models do, word for word."""
    return {criterion.id.casefold(), criterion.text.strip().casefold()}
