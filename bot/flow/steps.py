"""The next step: what is legal is worked out here, the model chooses among it, and what it says is held against the list.

Where only one thing is legal nobody is asked. Without a usable answer the plain default is taken, so that work never
waits for the model. Who goes in circles is brought before a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bot.domain import naming
from bot.domain.actions import ChooseStep, Deed
from bot.domain.events import Happening, OrderFailed, StepChosen
from bot.domain.session import Session
from bot.domain.sheets import Tone
from bot.domain.states import Status, TaskState
from bot.domain.steps import Option, Step
from bot.domain.tasks import Run, Task, TaskType, Why
from bot.flow import blocked, circles, other_agent, overlap, place, telling

MORE = "more"
AGAIN = Option(
    id="again", says="Tell its agent what happened; it goes on in the same conversation."
)
FRESH = Option(
    id="fresh", says="A new conversation on the same branch, told to try another approach."
)
CUT = Option(id="cut", says="Cut the task into smaller ones, which are done in its place.")
ASK = Option(id="ask", says="Stop here and ask a person.")
OTHER_AGENT = "agent:"
MAX_REPLANS = 3


def may_be_cut(session: Session, task: Task) -> bool:
    """A task, and what it was cut into, may be cut three times in all; never what people see or others build upon already."""
    first = task.original or task.id
    cuts = [t for t in session.in_state(TaskState.REPLACED) if (t.original or t.id) == first]
    seen = task.pull_request is not None and task.pull_request.open
    built_upon = any(other.runs for other in session.tasks if task.id in other.dependencies)
    fixed = seen or built_upon or task.type is TaskType.INTEGRATION
    return len(cuts) < MAX_REPLANS and not fixed


def other_agents(session: Session, task: Task) -> Iterator[Option]:
    """Those that somebody has let work here."""
    for agent in session.let_agents:
        if agent != (task.agent or session.agent):
            says = f"A new conversation on the same branch with another agent, {agent}."
            yield Option(id=f"{OTHER_AGENT}{agent}", says=says)


def offer(
    session: Session, task: Task, event: Happening, kind: str, happened: str, *options: Option
) -> Iterator[Deed]:
    """Something happened to a task: what shall be done about it? `kind` names it in one word, for its history."""
    if reason := circles.seen(task.past, kind, happened):
        yield from blocked.block(session, task, f"{happened} {reason}", event)
        return
    id = f"{task.id}:{len(task.runs)}.{len(task.checks)}:{kind}"
    task.step = Step(id=id, happened=happened, options=options, default=options[0].id)
    task.past = (*task.past, f"{kind}: {happened}")[-circles.REMEMBERED :]
    if len(options) == 1:
        yield from _take(session, task, task.step, options[0], "", event)


def chosen(session: Session, event: StepChosen | OrderFailed) -> Iterator[Deed]:
    """An option of the list, or its default."""
    wanted = event.option if isinstance(event, StepChosen) else ""
    for task in session.tasks:
        if task.step and _answers(event, task.step):
            yield from _chosen_for(session, task, task.step, wanted, event)
    if session.step and _answers(event, session.step):
        _order(session, session.step, wanted)


def _answers(event: StepChosen | OrderFailed, step: Step) -> bool:
    return event.answers == ChooseStep(step_id=step.id).key


def _chosen_for(
    session: Session, task: Task, step: Step, wanted: str, event: StepChosen | OrderFailed
) -> Iterator[Deed]:
    option = step.option(wanted)
    reason = event.reason if option or not event.reason else _no_answer(event.reason)
    option = option or step.option(step.default) or step.options[0]
    yield from _take(session, task, step, option, reason, event)


def _no_answer(why: str) -> str:
    return f"The model gave no answer ({why}), so the usual step is taken."


def _take(
    session: Session, task: Task, step: Step, option: Option, reason: str, event: Happening
) -> Iterator[Deed]:
    task.past = (*task.past[:-1], f"{_kind(step)}>{option.id}: {step.happened}")
    if option.id == ASK.id:
        yield from blocked.block(session, task, f"{step.happened} {reason}".strip(), event)
        return
    run = task.run
    if option.id == CUT.id:
        task.step, task.replan_reason = None, step.happened
    else:
        _try_again(task, option)
    yield telling.news(
        f"step:{task.key}:{step.id.partition(':')[2]}",
        f"{task.key}: {step.happened}",
        *(line for line in (_doing(option), reason) if line),
        tone=Tone.FAILURE,
        output=_output(task, run),
    )
    yield from other_agent.offered(session, task)


def _try_again(task: Task, option: Option) -> None:
    task.become(TaskState.NEEDS_CONTINUATION)
    if option.id.startswith(OTHER_AGENT):
        task.agent = option.id.removeprefix(OTHER_AGENT)
    elif option.id != FRESH.id:
        return
    task.next_why = Why.RETRY
    task.next_feedback = (
        f"{task.next_feedback}\n\nThe approach taken so far did not work out: try another one."
    )


def _kind(step: Step) -> str:
    return step.id.rpartition(":")[2]


def _doing(option: Option) -> str:
    if option.id == FRESH.id:
        return "A new try with another approach."
    if option.id == CUT.id:
        return "It is cut into smaller tasks."
    if option.id.startswith(OTHER_AGENT):
        return f"A new try by {option.id.removeprefix(OTHER_AGENT)}."
    return "Sent back to its agent."


def _output(task: Task, run: Run | None) -> str:
    """Of what went wrong."""
    if task.check and not task.check.passed and task.next_why is not Why.NO_EVIDENCE:
        return task.check.output[-blocked.SHOWN_OUTPUT :]
    return run.message if run else ""


def advance(session: Session, event: Happening) -> None:
    """Free what has become free; start what may start, as many at once as the plan says."""
    if not (session.has_place and session.status is Status.ACTIVE):
        return
    for task in session.in_state(TaskState.PENDING):
        if place.is_free(session, task):
            task.become(TaskState.READY)
    ready = _in_order(session, session.in_state(TaskState.READY))
    waiting = [*session.in_state(TaskState.NEEDS_CONTINUATION), *ready]
    waiting = list(overlap.apart(session, filter(partial(_can_start, session), waiting)))
    room = session.parallelism - len(session.in_state(TaskState.RUNNING, TaskState.VERIFYING))
    if room > 0 and _is_a_choice(session, waiting, room):
        _put(session, waiting, event)
        waiting = [task for task in waiting if task.state is TaskState.NEEDS_CONTINUATION]
    elif session.step and len(waiting) <= room:
        session.step = None
    for task in waiting[: max(room, 0)]:
        _start(session, task, event)


def _can_start(session: Session, task: Task) -> bool:
    if task.workspace is None or task.taken_by or task.taking_in:
        return False
    return place.may_begin(session, task) and not place.keeps_waiting(session, task)


def _in_order(session: Session, ready: list[Task]) -> list[Task]:
    """Who was chosen to be first; the others in the order of the plan."""
    order = {id: place for place, id in enumerate(session.preferred)}
    return sorted(ready, key=lambda task: order.get(task.id, len(order)))


def _is_a_choice(session: Session, waiting: list[Task], room: int) -> bool:
    """More may start than there is room for, and nobody has said yet which."""
    ready = [task for task in waiting if task.state is TaskState.READY]
    resumed = len(waiting) - len(ready)
    undecided = [task for task in ready if task.id not in session.preferred]
    return len(ready) > room - resumed > 0 and bool(undecided)


def _put(session: Session, waiting: list[Task], event: Happening) -> None:
    ready = [task for task in waiting if task.state is TaskState.READY]
    options = [Option(id=task.key, says=f"Start {task.key} {task.name} first.") for task in ready]
    if session.parallelism < session.most_at_once:
        more = f"Start one more at once than planned ({session.parallelism + 1})."
        options.append(Option(id=MORE, says=more))
    id = ":".join(["start", *(task.key for task in ready)])
    if session.step is None or session.step.id != id:
        happened = f"{len(ready)} tasks could start, and there is room for fewer."
        session.step = Step(id=id, happened=happened, options=tuple(options), default=ready[0].key)


def _order(session: Session, step: Step, choice: str) -> None:
    session.step = None
    keys = [option.id for option in step.options if option.id != MORE]
    if choice == MORE and step.option(MORE):
        session.parallelism += 1
    first = choice if choice in keys else step.default
    wanted = [first, *(key for key in keys if key != first)]
    ids = {task.key: task.id for task in session.tasks}
    known = tuple(id for id in session.preferred if id not in {ids.get(key) for key in wanted})
    session.preferred = (*known, *(ids[key] for key in wanted if key in ids))


def _start(session: Session, task: Task, event: Happening) -> None:
    """A new run, with all its names, before anything of it exists."""
    former = task.run
    number = len(task.runs) + 1
    run_id = naming.derived_id(session.id, task.id, "run", str(number))
    agent = task.agent or session.agent
    resumes = former is not None and task.next_why is not Why.RETRY and former.agent == agent
    task.runs.append(
        Run(
            id=run_id,
            number=number,
            agent=agent,
            conversation=former.conversation
            if former and resumes
            else naming.derived_id(run_id, "cli"),
            resumes=resumes,
            why=task.next_why,
            feedback=_told(task),
            nonce=naming.derived_nonce(session.id, run_id),
            started_at=event.at,
            auto_flag=flags_of(session, agent) or None,
        )
    )
    task.become(TaskState.RUNNING)
    task.started_at = task.started_at or event.at
    task.completed_at = None
    task.next_why, task.next_feedback, task.told = Why.FIRST, "", ""


def _told(task: Task) -> str:
    """An agent may remember nothing: what it has to merge is told until it is merged."""
    told = "\n\n".join(part for part in (task.told, task.next_feedback) if part)
    first = "" if task.to_merge in told else task.to_merge
    return "\n\n".join(part for part in (first, told) if part)


def flags_of(session: Session, agent: str) -> str:
    """How a person has let it work."""
    return session.agent_flags if agent == session.agent else session.other_agents.get(agent, "")
