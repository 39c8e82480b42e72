"""What an agent is told of a collision: the files, what both sides wanted, and how it is settled."""

from __future__ import annotations

from bot.domain.tasks import Task

MANY = 20
"""Files beyond these are only counted."""


def told_of_task(task: Task, other: Task, files: tuple[str, ...]) -> str:
    """The work of a predecessor collides with what is on its branch already."""
    branch = other.workspace.branch if other.workspace else other.key
    return _told(branch, files, f"Yours, {_intent(task)}", f"The other side, {_intent(other)}")


def told_of_base(task: Task, base: str, files: tuple[str, ...]) -> str:
    """What was merged into the base meanwhile collides with its branch."""
    theirs = (
        "The other side is what was merged into the base branch meanwhile; `git log` tells why."
    )
    return _told(base, files, f"Yours, {_intent(task)}", theirs)


def _told(what: str, files: tuple[str, ...], ours: str, theirs: str) -> str:
    return (
        f"Before anything else run `git merge {what}`. It collides with your branch in {_listed(files)}.\n"
        f"- {ours}\n- {theirs}\n"
        "Resolve the conflicts so that both intentions survive, run the tests, and commit the merge."
    )


def _intent(task: Task) -> str:
    first_line = task.description.strip().partition("\n")[0][:300]
    return f"{task.key} “{task.name}”{f': {first_line}' if first_line else ''}"


def _listed(files: tuple[str, ...]) -> str:
    more = len(files) - MANY
    return ", ".join(files[:MANY]) + (f" and {more} more files" if more > 0 else "")
