"""A task, its runs, its workspace and its pull request. Tasks change by their methods only; everything they hold is replaced."""

from bot.domain.tasks.planned import Acceptance, Strategy, TaskType, Workspace
from bot.domain.tasks.runs import LookFor, Quiet, Run, Why
from bot.domain.tasks.shipped import PullRequest, PullText, TaskResult
from bot.domain.tasks.task import Counters, Hold, Task

__all__ = [
    "Acceptance",
    "Counters",
    "Hold",
    "LookFor",
    "PullRequest",
    "PullText",
    "Quiet",
    "Run",
    "Strategy",
    "Task",
    "TaskResult",
    "TaskType",
    "Why",
    "Workspace",
]
