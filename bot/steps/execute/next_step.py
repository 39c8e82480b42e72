"""The next step of a task, and which tasks start now.

The legal options are computed here; the model chooses among them, and is not asked if there is only one. Without a
valid reply the default is taken, so that work never waits for the model. A task that repeats itself is shown to a
person.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from functools import partial

from bot.core import naming
from bot.core.actions import ChooseStep, Deed
from bot.core.events import CollisionsSeen, EventBase, OrderFailed, StepChosen
from bot.core.git import Collision
from bot.core.runs import Run, Why
from bot.core.session import Session
from bot.core.sheets import Tone
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import Status, TaskState
from bot.core.task import Option, Step, Task
from bot.steps import messages, plan
from bot.steps.blocked import rules as blocked
from bot.steps.blocked.rules import other_agent_choices

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


def may_be_split(session: Session, task: Task) -> bool:
    """Whether the task may be split.

    A task and its parts may be split three times in total, but never if users have seen its pull request or others
    build on it.
    """
    first = task.original or task.id
    cuts = [t for t in session.in_state(TaskState.REPLACED) if (t.original or t.id) == first]
    seen = task.pull_request is not None and task.pull_request.open
    built_upon = any(other.runs for other in session.tasks if task.id in other.dependencies)
    fixed = seen or built_upon or task.type is TaskType.INTEGRATION
    return len(cuts) < MAX_REPLANS and not fixed


def other_agents(session: Session, task: Task) -> Iterator[Option]:
    """Yield an option for each other agent that is allowed in this session."""
    for agent in session.agents.allowed:
        if agent != (task.agent or session.agents.default):
            says = f"A new conversation on the same branch with another agent, {agent}."
            yield Option(id=f"{OTHER_AGENT}{agent}", says=says)


def offer_steps(
    session: Session, task: Task, event: EventBase, kind: str, happened: str, *options: Option
) -> Iterator[Deed]:
    """Ask which step to take after something happened to a task; take it at once if there is only one.

    `kind` names the event in one word for the task's history.
    """
    if reason := why_stuck(task.past_choices, kind, happened):
        yield from blocked.block(session, task, f"{happened} {reason}", event)
        return
    id = f"{task.id}:{len(task.runs)}.{len(task.checks)}:{kind}"
    task.choice = Step(id=id, happened=happened, options=options, default=options[0].id)
    task.past_choices = (*task.past_choices, f"{kind}: {happened}")[-REMEMBERED:]
    if len(options) == 1:
        yield from _take_option(session, task, task.choice, options[0], "", event)


def step_chosen(session: Session, event: StepChosen | OrderFailed) -> Iterator[Deed]:
    """Take the chosen option, or the default if the choice is not valid."""
    wanted = event.option if isinstance(event, StepChosen) else ""
    for task in session.tasks:
        if task.choice and _is_reply_to(event, task.choice):
            yield from _chosen_for(session, task, task.choice, wanted, event)
    if session.execution.choice and _is_reply_to(event, session.execution.choice):
        _set_order(session, session.execution.choice, wanted)


def _is_reply_to(event: StepChosen | OrderFailed, step: Step) -> bool:
    return event.answers == ChooseStep(step_id=step.id).key


def _chosen_for(
    session: Session, task: Task, step: Step, wanted: str, event: StepChosen | OrderFailed
) -> Iterator[Deed]:
    option = step.option(wanted)
    reason = event.reason if option or not event.reason else _no_answer(event.reason)
    option = option or step.option(step.default) or step.options[0]
    yield from _take_option(session, task, step, option, reason, event)


def _no_answer(why: str) -> str:
    return f"The model gave no answer ({why}), so the usual step is taken."


def _take_option(
    session: Session, task: Task, step: Step, option: Option, reason: str, event: EventBase
) -> Iterator[Deed]:
    task.past_choices = (*task.past_choices[:-1], f"{_kind(step)}>{option.id}: {step.happened}")
    if option.id == ASK.id:
        yield from blocked.block(session, task, f"{step.happened} {reason}".strip(), event)
        return
    run = task.run
    if option.id == CUT.id:
        task.choice, task.replan_reason = None, step.happened
    else:
        _try_again(task, option)
    yield messages.news(
        f"step:{task.key}:{step.id.partition(':')[2]}",
        f"{task.key}: {step.happened}",
        *(line for line in (_option_in_words(option), reason) if line),
        tone=Tone.FAILURE,
        output=_failure_output(task, run),
    )
    yield from offer_other_agent(session, task)


def _try_again(task: Task, option: Option) -> None:
    task.become(TaskState.NEEDS_CONTINUATION)
    if option.id.startswith(OTHER_AGENT):
        task.agent = option.id.removeprefix(OTHER_AGENT)
    elif option.id != FRESH.id:
        return
    task.next_run.why = Why.RETRY
    task.next_run.feedback = (
        f"{task.next_run.feedback}\n\nThe approach taken so far did not work out: try another one."
    )


def _kind(step: Step) -> str:
    return step.id.rpartition(":")[2]


def _option_in_words(option: Option) -> str:
    if option.id == FRESH.id:
        return "A new try with another approach."
    if option.id == CUT.id:
        return "It is cut into smaller tasks."
    if option.id.startswith(OTHER_AGENT):
        return f"A new try by {option.id.removeprefix(OTHER_AGENT)}."
    return "Sent back to its agent."


def _failure_output(task: Task, run: Run | None) -> str:
    if task.check and not task.check.passed and task.next_run.why is not Why.NO_EVIDENCE:
        return task.check.output[-blocked.SHOWN_OUTPUT :]
    return run.message if run else ""


def start_tasks(session: Session, event: EventBase) -> None:
    """Set tasks ready whose dependencies are done, and start those that may start, as many at once as the plan says."""
    if not (session.queue.has_place and session.status is Status.ACTIVE):
        return
    for task in session.in_state(TaskState.PENDING):
        if plan.dependencies_done(session, task):
            task.become(TaskState.READY)
    ready = _preferred_first(session, session.in_state(TaskState.READY))
    waiting = [*session.in_state(TaskState.NEEDS_CONTINUATION), *ready]
    waiting = list(without_overlap(session, filter(partial(_can_start, session), waiting)))
    room = session.plan.parallelism - len(session.in_state(TaskState.RUNNING, TaskState.VERIFYING))
    if room > 0 and _needs_choice(session, waiting, room):
        _ask_which_first(session, waiting, event)
        waiting = [task for task in waiting if task.state is TaskState.NEEDS_CONTINUATION]
    elif session.execution.choice and len(waiting) <= room:
        session.execution.choice = None
    for task in waiting[: max(room, 0)]:
        _start(session, task, event)


def _can_start(session: Session, task: Task) -> bool:
    if task.workspace is None or task.taken_by or task.base_to_merge:
        return False
    return plan.may_start(session, task) and not plan.is_account_exhausted(session, task)


def _preferred_first(session: Session, ready: list[Task]) -> list[Task]:
    """Return the preferred tasks first, the others in the order of the plan."""
    order = {id: place for place, id in enumerate(session.execution.preferred)}
    return sorted(ready, key=lambda task: order.get(task.id, len(order)))


def _needs_choice(session: Session, waiting: list[Task], room: int) -> bool:
    """Whether more tasks may start than there is room for, and which of them is undecided."""
    ready = [task for task in waiting if task.state is TaskState.READY]
    resumed = len(waiting) - len(ready)
    undecided = [task for task in ready if task.id not in session.execution.preferred]
    return len(ready) > room - resumed > 0 and bool(undecided)


def _ask_which_first(session: Session, waiting: list[Task], event: EventBase) -> None:
    ready = [task for task in waiting if task.state is TaskState.READY]
    options = [Option(id=task.key, says=f"Start {task.key} {task.name} first.") for task in ready]
    if session.plan.parallelism < session.agents.most_at_once:
        more = f"Start one more at once than planned ({session.plan.parallelism + 1})."
        options.append(Option(id=MORE, says=more))
    id = ":".join(["start", *(task.key for task in ready)])
    if session.execution.choice is None or session.execution.choice.id != id:
        happened = f"{len(ready)} tasks could start, and there is room for fewer."
        session.execution.choice = Step(
            id=id, happened=happened, options=tuple(options), default=ready[0].key
        )


def _set_order(session: Session, step: Step, choice: str) -> None:
    session.execution.choice = None
    keys = [option.id for option in step.options if option.id != MORE]
    if choice == MORE and step.option(MORE):
        session.plan.parallelism += 1
    first = choice if choice in keys else step.default
    wanted = [first, *(key for key in keys if key != first)]
    ids = {task.key: task.id for task in session.tasks}
    known = tuple(
        id for id in session.execution.preferred if id not in {ids.get(key) for key in wanted}
    )
    session.execution.preferred = (*known, *(ids[key] for key in wanted if key in ids))


def _start(session: Session, task: Task, event: EventBase) -> None:
    """Add a new run with all its names, before anything of it exists."""
    former = task.run
    number = len(task.runs) + 1
    run_id = naming.derived_id(session.id, task.id, "run", str(number))
    agent = task.agent or session.agents.default
    resumes = former is not None and task.next_run.why is not Why.RETRY and former.agent == agent
    task.runs.append(
        Run(
            id=run_id,
            number=number,
            agent=agent,
            conversation=former.conversation
            if former and resumes
            else naming.derived_id(run_id, "cli"),
            resumes=resumes,
            why=task.next_run.why,
            feedback=_whole_feedback(task),
            nonce=naming.derived_nonce(session.id, run_id),
            started_at=event.at,
            auto_flag=approved_flags(session, agent) or None,
        )
    )
    task.become(TaskState.RUNNING)
    task.started_at = task.started_at or event.at
    task.completed_at = None
    task.next_run.why, task.next_run.feedback, task.next_run.instructions = Why.FIRST, "", ""


def _whole_feedback(task: Task) -> str:
    # An agent may remember nothing, so it is told what to merge until it is merged.
    told = "\n\n".join(
        part for part in (task.next_run.instructions, task.next_run.feedback) if part
    )
    first = "" if task.next_run.to_merge in told else task.next_run.to_merge
    return "\n\n".join(part for part in (first, told) if part)


def approved_flags(session: Session, agent: str) -> str:
    """Return the flags with which a person has approved the agent."""
    return (
        session.agents.flags
        if agent == session.agents.default
        else session.agents.others.get(agent, "")
    )


# Detects a task that repeats itself: too many steps, the same pattern again, or the same words three times. Then a
# person is asked.

MOST_STEPS = 12
REMEMBERED = MOST_STEPS
REPEAT_LIMIT = 3
COUNTED_ELSEWHERE = frozenset({"check_failed"})
"""Events that may repeat in the same words, because another limit counts them."""
ALIKE_FROM = 0.8
MOST_COMPARED = 600
"""Characters of a description that are compared."""


def why_stuck(past: Sequence[str], kind: str, happened: str) -> str:
    """Return why no further step is taken, in a sentence; empty if the task may go on.

    Entries of `past` look like `kind>choice: what happened`.
    """
    if len(past) >= MOST_STEPS:
        return f"These are {MOST_STEPS} steps already."
    if _repeats([*(_pattern(entry) for entry in past), kind]):
        return "The same has happened in the same order before."
    if kind not in COUNTED_ELSEWHERE and _said_before(past, kind, happened):
        return f"The same has happened {REPEAT_LIMIT} times."
    return ""


def _pattern(entry: str) -> str:
    return entry.partition(":")[0].partition(">")[0]


def _repeats(kinds: Sequence[str]) -> bool:
    """Whether two different events alternate twice: A, B, A, B."""
    last = kinds[-4:]
    return len(last) == 4 and last[:2] == last[2:] and last[0] != last[1]


def _said_before(past: Sequence[str], kind: str, happened: str) -> bool:
    same = [entry.partition(": ")[2] for entry in past if _pattern(entry) == kind]
    window = [*same, happened][-REPEAT_LIMIT:]
    if len(window) < REPEAT_LIMIT:
        return False
    return all(_ratio(one, happened) >= ALIKE_FROM for one in window[:-1])


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one[:MOST_COMPARED], other[:MOST_COMPARED], autojunk=False).ratio()


# Tasks that would change the same files do not run at the same time; users learn early of branches that conflict all
# the same.


def without_overlap(session: Session, waiting: Iterable[Task]) -> Iterator[Task]:
    """Yield the tasks that may start beside those that run and beside each other.

    A task that has run before may overlap in files, as its changes exist already; but two tasks never work in one
    worktree.
    """
    busy = session.in_state(TaskState.RUNNING, TaskState.VERIFYING)
    merging = [task for task in session.tasks if task.base_to_merge]
    for task in waiting:
        together = any(_share_worktree(task, other) for other in (*busy, *merging))
        if not together and (task.runs or not any(overlaps(task, other) for other in busy)):
            busy.append(task)
            yield task


def _share_worktree(task: Task, other: Task) -> bool:
    one, two = task.workspace, other.workspace
    return one is not None and two is not None and one.path == two.path


def overlaps(task: Task, other: Task) -> bool:
    """Whether both have declared the same file, by name or by pattern.

    A task that declares nothing overlaps with none.
    """
    return any(_same_path(one, two) for one in task.files for two in other.files)


def _same_path(one: str, two: str) -> bool:
    one, two = one.strip("./ "), two.strip("./ ")
    if not one or not two:
        return False
    inside = two.startswith(f"{one.rstrip('/*')}/") or one.startswith(f"{two.rstrip('/*')}/")
    return one == two or inside or fnmatchcase(one, two) or fnmatchcase(two, one)


def report_conflicts(session: Session, event: CollisionsSeen) -> Iterator[Deed]:
    """Report new conflicts between branches, each pair once."""
    known = {_pair(collision) for collision in session.execution.collisions}
    new = [collision for collision in event.collisions if _pair(collision) not in known]
    if not new:
        return
    session.execution.collisions = (*session.execution.collisions, *new)
    keys = {t.workspace.branch: t.key for t in session.tasks if t.workspace}
    lines = tuple(
        f"{keys.get(c.one, c.one)} and {keys.get(c.other, c.other)}: {', '.join(c.files[:6])}"
        for c in new
    )
    yield messages.news(
        f"collisions:{len(session.execution.collisions)}",
        "Work in progress would conflict when it is merged",
        *lines,
        "The agent that finishes later will be told to resolve it. Say so in the thread if you want it done differently.",
        tone=Tone.PROGRESS,
    )


def _pair(collision: Collision) -> frozenset[str]:
    return frozenset((collision.one, collision.other))


# Another agent is offered after two failures; the first one goes on meanwhile.

FAILURES_BEFORE_OFFER = 2
"""Failed runs or tests before another agent is offered."""


def offer_other_agent(session: Session, task: Task) -> Iterator[Deed]:
    """Offer another agent after repeated failures; the task's own agent goes on meanwhile."""
    counted = task.counters
    failures = max(counted.failed_runs, counted.failed_checks)
    others = other_agent_choices(session, task)
    if failures != FAILURES_BEFORE_OFFER or not others or task.state not in plan.MOVING:
        return
    agent = task.agent or session.agents.default
    yield messages.problem(
        f"other-agent:{task.key}:{len(task.runs)}",
        f"{task.key} has failed twice with {agent}",
        f"{agent} tries again. Another agent can take over on the same branch, if you let it.",
        "",
        *others,
    )
