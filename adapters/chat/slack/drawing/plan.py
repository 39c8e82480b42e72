"""The tasks of a session as Slack's own plan, for workspaces that take one."""

from __future__ import annotations

from adapters.chat.slack.drawing.limits import PLAN_TASKS, Block, cut
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
    TaskState.FAILED: "error",
    TaskState.BLOCKED: "error",
    TaskState.CANCELLED: "error",
}
_TITLE = 150
_DETAILS = 200


def plan(card: StatusCard, room: int) -> list[Block]:
    """All tasks, or none where they have no room: then they are drawn as lines."""
    if not card.tasks or len(card.tasks) > PLAN_TASKS:
        return []
    done = sum(task.state == TaskState.COMPLETED for task in card.tasks)
    share = room // len(card.tasks)
    if share < _TITLE + _DETAILS:
        return []
    title = f"{done} of {len(card.tasks)} done"
    tasks = [_task(number, task) for number, task in enumerate(card.tasks)]
    return [{"type": "plan", "title": title, "tasks": tasks}]


def _task(number: int, task: TaskLine) -> Block:
    name = on_one_line(f"{task.key} {task.name}")
    facts = (on_one_line(task.state), duration(task.seconds), on_one_line(task.note))
    details = cut(" · ".join(fact for fact in facts if fact), _DETAILS)
    card: Block = {
        "type": "task_card",
        "task_id": f"task-{number}",
        "title": cut(name, _TITLE) or "–",
        "status": _STATUS.get(task.state, "pending"),
    }
    if details:
        card["details"] = _rich_text(details)
    return card


def _rich_text(text: str) -> Block:
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}],
    }
