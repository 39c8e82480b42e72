"""The tasks of a session as Slack's own plan, for workspaces that take one."""

from __future__ import annotations

from collections import Counter

from adapters.chat.slack.drawing.limits import PLAN_TASKS, Block, aside, cut
from adapters.chat.slack.words import on_one_line
from bot.domain.cards import StatusCard, TaskLine
from bot.domain.layout import duration
from bot.domain.states import TaskState

_STATUS: dict[str, str] = {
    TaskState.RUNNING: "in_progress",
    TaskState.VERIFYING: "in_progress",
    TaskState.NEEDS_CONTINUATION: "in_progress",
    TaskState.INTEGRATING: "in_progress",
    TaskState.COMPLETED: "complete",
    TaskState.REPLACED: "complete",
    TaskState.FAILED: "error",
    TaskState.BLOCKED: "error",
    TaskState.CANCELLED: "error",
}
_OVER = (TaskState.COMPLETED, TaskState.REPLACED, TaskState.CANCELLED)
_TITLE = 150
_FACTS = 60
_NOTE = 120
_LEAST = 60
"""Characters a task needs to say anything."""


def plan(card: StatusCard, room: int) -> list[Block]:
    """As many tasks as a plan holds, and a line that counts the rest; none where they have no room."""
    most = min(PLAN_TASKS, room // _LEAST)
    if not card.tasks or most < 1:
        return []
    shown = _most_telling(card.tasks, most)
    share = room // len(shown)
    tasks = [_task(number, task, share) for number, task in enumerate(shown)]
    blocks: list[Block] = [{"type": "plan", "title": _title(card), "tasks": tasks}]
    rest = Counter(on_one_line(task.state) for task in card.tasks)
    rest -= Counter(on_one_line(task.state) for task in shown)
    if rest:
        counts = ", ".join(f"{number} {state}" for state, number in rest.items())
        blocks.append(aside(cut(f"… and {rest.total():,} more: {counts}", _NOTE)))
    return blocks


def _title(card: StatusCard) -> str:
    """How far it is, and how long agents have been at it, all together."""
    wanted = [task for task in card.tasks if task.state != TaskState.REPLACED]
    done = sum(task.state == TaskState.COMPLETED for task in wanted)
    seconds = sum(task.seconds or 0 for task in card.tasks)
    head = f"{done} of {len(wanted)} done"
    return f"{head} · {duration(seconds)} of work" if seconds else head


def _most_telling(tasks: tuple[TaskLine, ...], most: int) -> list[TaskLine]:
    """What is over is left out first."""
    ranked = sorted(range(len(tasks)), key=lambda n: (tasks[n].state in _OVER, n))
    return [tasks[n] for n in sorted(ranked[:most])]


def _task(number: int, task: TaskLine, room: int) -> Block:
    details = " · ".join(fact for fact in (on_one_line(task.state), duration(task.seconds)) if fact)
    details = cut(details, min(_FACTS, room // 3))
    output = cut(on_one_line(task.note), min(_NOTE, room // 3))
    left = room - len(details) - len(output)
    name = cut(on_one_line(f"{task.key} {task.name}"), min(_TITLE, left))
    card: Block = {
        "type": "task_card",
        "task_id": f"task-{number}",
        "title": name or "–",
        "status": _STATUS.get(task.state, "pending"),
    }
    if details:
        card["details"] = _rich_text(details)
    if output:
        card["output"] = _rich_text(output)
    return card


def _rich_text(text: str) -> Block:
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}],
    }
