"""What must hold the moment an agent is started or the base is moved: people have said so, to exactly this."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.cards import ApprovalCard
from bot.core.choices import Verb
from bot.core.runs import Launch, Run
from bot.core.session import Session
from bot.core.session_parts import Ending
from bot.core.task import Task
from bot.steps.approve.rules import is_yes
from tests.steps.worst.scene import Scene, agrees


def wrong_start(scene: Scene, name: str, folder: str, launch: Launch) -> Iterator[str]:
    """No agent starts but on a task of a plan that was shown and approved, as that plan says, alone in its worktree."""
    found = scene.run_of_pane(name)
    if found is None:
        yield f"{name} was started for no task"
        return
    session, task, run = found
    given = session.approval.granted
    if given is None:
        yield f"{task.key} was started, and nobody had approved"
        return
    shown = scene.plan(session.thread, given.digest, given.at)
    if shown is None:
        yield f"{task.key} was started, and the plan was never shown"
        return
    if given.revision != (session.plan.spec.revision if session.plan.spec else 0):
        yield f"{task.key} was started by revision {given.revision}, which is not the current one"
    yield from _not_approved(scene, session, shown)
    yield from _otherwise_than_shown(scene, session, task, run, launch, shown)
    others = [other for other in scene.panes.running() if scene.panes.folders[other] == folder]
    if others:
        yield f"{task.key} was started where {others} is at work"


def _not_approved(scene: Scene, session: Session, shown: ApprovalCard) -> Iterator[str]:
    given = session.approval.granted
    said = [d.event for d in scene.ledger.deeds if d.thread == session.thread.key]
    yes = [event for event in said if agrees(event, shown.digest, is_yes)]
    if not any(given and (event.at, event.by) == (given.at, given.by) for event in yes):
        yield f"nobody said yes to revision {shown.revision}, and yet it runs"
    if len({event.by.id for event in yes}) < shown.approvers:
        yield f"revision {shown.revision} runs without its {shown.approvers} approvers"


def _cut_from(session: Session, task: Task) -> Task:
    """A task that is too large is cut into smaller ones, which serve what it was to serve, each with points of its own."""
    whole = next((one for one in session.tasks if task.id in one.replaced_by), None)
    if whole is None:
        return task
    wanted = {one.id for one in whole.acceptance}
    foreign = {one.id for one in task.acceptance if not one.id.startswith(f"{whole.key}-S")}
    return _cut_from(session, whole) if foreign <= wanted else task


def _otherwise_than_shown(
    scene: Scene, session: Session, task: Task, run: Run, launch: Launch, shown: ApprovalCard
) -> Iterator[str]:
    lines = {line.key: line for line in shown.tasks}
    # once what was cut is gone from the plan, its parts stand there themselves
    planned = lines.get(_cut_from(session, task).key) or lines.get(task.key)
    if planned is None:
        yield f"{task.key} was started and is not in the approved plan"
    elif not planned.agent == run.agent == launch.argv[0]:
        yield f"{task.key} was started with {launch.argv[0]} instead of {planned.agent}"
    elif scene.agents.flags(run.agent) != shown.agent_flags:
        yield f"{task.key} was started with other flags than were approved"


def wrong_merge(scene: Scene, commit: str) -> Iterator[str]:
    """The base moves only for a session whose offer somebody has pressed Merge on."""
    for session in scene.sessions:
        pressed = [event.by for event in scene.ledger.pressed(session.thread, Verb.MERGE)]
        if session.ending.choice is Ending.MERGE and session.ending.chosen_by in pressed:
            return
    yield f"{commit[:10]} was merged, and nobody asked for it"
