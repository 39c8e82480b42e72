"""The screen of a session's tasks: which needs which, when what happened, and what is asked now."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from adapters.local.page.charts import Item, Stretch, graph, timeline, without_overlap
from adapters.local.page.frame import STATE_CLASSES, Context, PageParts, counted_tasks
from adapters.local.page.panes import pane_of, panes_of
from bot.core.evidence import Check, Judgement
from bot.core.layout.phrases import state_as_words
from bot.core.runs import Run
from bot.core.session import Session
from bot.core.states import Outcome, RunState, TaskState
from bot.core.task import Task
from bot.core.text import capitalized, duration

MAX_DRAWN = 60
"""With more tasks a graph is no longer read: they are listed."""
MAX_NEWS = 8
_WORDS = {
    TaskState.RUNNING: "at work",
    TaskState.VERIFYING: "being tested",
    TaskState.INTEGRATING: "being merged",
    TaskState.COMPLETED: "done",
    TaskState.BLOCKED: "needs you",
    TaskState.PENDING: "waits",
    TaskState.READY: "next",
}
_JUDGED = {
    Judgement.DONE: "judged: it does what was asked",
    Judgement.CONTINUE: "judged: something is missing",
    Judgement.REPLAN: "judged: it should be planned anew",
    Judgement.BLOCKED: "judged: a person should look",
}


async def tasks(parts: PageParts, session: Session, query: dict[str, str]) -> Context:
    now = parts.data.now()
    shown = counted_tasks(session) or session.tasks
    items = [item_of(task, now) for task in shown]
    drawn = len(items) <= MAX_DRAWN
    wanted = query.get("task", "")
    chosen = next((task for task in session.tasks if wanted in (task.key, task.id)), None)
    panes = panes_of(session)
    # between two agents the last one stays in sight
    first = panes[0] if panes and not session.over else None
    # while nobody works on it, only what was done is drawn
    resting = session.over or not any(pane.live for pane in panes)
    return {
        "rows": items,
        "done": sum(item.state == "done" for item in items),
        "graph": graph(items) if drawn and items else None,
        "timeline": timeline(
            [(item, stretches_of(task, now)) for item, task in zip(items, shown, strict=True)],
            now,
            over=resting,
        )
        if drawn and items
        else None,
        "chosen": _details(session, chosen, now) if chosen else None,
        "asked": [
            parts.card(session.thread, card, session.id) for card in parts.data.waiting(session)
        ],
        "news": news_of(session)[:MAX_NEWS],
        "panes": panes,
        "pane": await pane_of(parts.data, session, first) if first else None,
    }


def item_of(task: Task, now: datetime) -> Item:
    state = STATE_CLASSES.get(task.state, "")
    says, time = _WORDS.get(task.state, state_as_words(task.state).lower()), ""
    run = task.run
    if task.state is TaskState.RUNNING and run and run.alive:
        if run.state is RunState.WAITING_INPUT or run.dialog:
            state, says = "need", "asks you"
        else:
            time = _minutes(now - run.started_at)
    return Item(task.id, task.key, task.name, state, says, task.dependencies, time)


def _minutes(time: timedelta) -> str:
    seconds = max(0, int(time.total_seconds()))
    return duration(seconds) if seconds < 60 else duration(seconds).rpartition(" min")[0] + " min"


def stretches_of(task: Task, now: datetime) -> list[Stretch]:
    """Return what happened to the task and how long it took; whatever is under way lasts until now."""
    return without_overlap([*_runs(task, now), *_checks(task), *_wait(task, now)])


def _runs(task: Task, now: datetime) -> Iterator[Stretch]:
    for run in task.runs:
        end = run.ended_at or now
        time = _minutes(end - run.started_at)
        if run.alive:
            yield Stretch("work", run.started_at, end, "agent at work", time)
        elif run.outcome is Outcome.FINISHED:
            yield Stretch("done", run.started_at, end, "agent", time)
        else:
            yield Stretch("fail", run.started_at, end, f"agent {_how_it_ended(run)}", time)


def _how_it_ended(run: Run) -> str:
    return run.outcome.replace("_", " ") if run.outcome else "ended"


def _checks(task: Task) -> Iterator[Stretch]:
    for check in task.checks:
        kind = "check" if check.passed else "fail"
        begun = check.at - timedelta(seconds=check.seconds)
        yield Stretch(kind, begun, check.at, "tests", check.result)


def _wait(task: Task, now: datetime) -> Iterator[Stretch]:
    run = task.run
    asks = run is not None and run.alive and run.state is RunState.WAITING_INPUT
    if task.idle_since and (asks or task.state is TaskState.BLOCKED):
        time = _minutes(now - task.idle_since)
        yield Stretch("need", task.idle_since, now, "asks you" if asks else "waits for you", time)


class News(NamedTuple):
    at: datetime
    key: str
    says: str
    state: str = ""


def news_of(session: Session) -> list[News]:
    """Return what happened to the tasks, the latest first."""
    found = [one for task in session.tasks for one in _task_news(task)]
    return sorted(found, key=lambda one: one.at, reverse=True)


def _task_news(task: Task) -> Iterator[News]:
    for run in task.runs:
        why = "" if run.number == 1 else f", {run.why.replace('_', ' ')}"
        yield News(run.started_at, task.key, f"{run.agent} started{why}", "work")
        if run.ended_at:
            state = "" if run.outcome is Outcome.FINISHED else "fail"
            yield News(run.ended_at, task.key, f"{run.agent} {_how_it_ended(run)}", state)
    for check in task.checks:
        state = "done" if check.passed else "fail"
        yield News(check.at, task.key, _tested(check), state)
    for verdict in task.verdicts:
        yield News(verdict.at, task.key, _JUDGED[verdict.outcome])
    run = task.run
    if run and run.alive and run.dialog:
        yield News(task.idle_since or run.started_at, task.key, f"asks: {run.dialog.title}", "need")
    if task.completed_at:
        says = "done" if task.state is TaskState.COMPLETED else state_as_words(task.state).lower()
        yield News(task.completed_at, task.key, says, STATE_CLASSES.get(task.state, ""))


def _tested(check: Check) -> str:
    return f"tests {check.result}, on {check.commit[:7]}"


def _details(session: Session, task: Task, now: datetime) -> dict[str, object]:
    verdict = task.verdicts[-1] if task.verdicts else None
    met = {one.criterion: one for one in verdict.criteria} if verdict else {}
    keys = {one.id: one.key for one in session.tasks}
    return {
        "task": task,
        "item": item_of(task, now),
        "blocked": task.blocked,
        "criteria": [(one, met.get(one.id)) for one in task.acceptance],
        "needs": [keys[id] for id in task.dependencies if id in keys],
        "agent": (task.run.agent if task.run else task.agent) or session.agents.default,
        "branch": task.workspace.branch if task.workspace else "",
        "check": capitalized(_tested(task.check)) if task.check else "",
        "failed": bool(task.check and not task.check.passed),
        "output": task.check.output if task.check and not task.check.passed else "",
        "verdict": capitalized(_JUDGED[verdict.outcome]) if verdict else "",
        "missing": verdict.missing if verdict else (),
        "flags": task.flags,
    }
