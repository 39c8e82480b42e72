"""What must hold once it is calm, and at the very end of a schedule."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bot.core.cards import SummaryCard
from bot.core.session import Session
from bot.core.session_parts import Ending
from bot.core.states import Status, TaskState

if TYPE_CHECKING:
    from tests.simulation.scene import Scene


def stopped(scene: Scene) -> None:
    """Some minutes of calm, in which nobody did anything: who was stopped has no agents, and nobody waits in silence."""
    for record in scene.store.records.values():
        session = record.session
        names = {run.name for task in session.tasks for run in task.runs}
        at_work = names & {*scene.panes.running()}
        if session.status is Status.PAUSED and at_work:
            scene.watch.fault(f"stopped, and {len(at_work)} agents go on")
        alive = {run.name for task in session.tasks for run in task.runs if run.alive}
        if lonely := at_work - alive:
            scene.watch.fault(f"agents that nobody watches: {sorted(lonely)}")


def reached(scene: Scene) -> None:
    sessions = [record.session for record in scene.store.records.values()]
    if len(sessions) < scene.plan.threads:
        scene.watch.fault(f"{scene.plan.threads - len(sessions)} requests were lost")
    for name, times in Counter(scene.panes.started).items():
        if times > 1:
            scene.watch.fault(f"{name} was started {times} times")
    for session in sessions:
        _ended(scene, session)
    _nothing_destroyed(scene)


def _ended(scene: Scene, session: Session) -> None:
    fault = scene.watch.fault
    if session.status not in (Status.COMPLETED, Status.DISCARDED):
        waiting = ", ".join(f"{c.verb}" for c in scene.people.asked(session.thread))
        tasks = [(t.key, t.state.value, t.blocked) for t in session.tasks]
        record = scene.store.records[session.id]
        orders = [one.key for one in record.outbox]
        inbox = [one.kind for one in record.inbox]
        fault(
            f"not over: {session.status} {session.phase} {tasks} {session.control.failure} {session.control.trouble} {session.ending.problem} buttons: {waiting}; orders: {orders}; inbox: {inbox}"
        )
        return
    scene.watch.seen[f"ended {session.status} {session.ending.choice}"] += 1
    if any(scene.panes.running()):
        fault("agents are at work in a session that is over")
    if session.status is not Status.COMPLETED:
        return
    cards = scene.chat.cards(session.thread)
    for key, times in Counter(card.key for card in cards).items():
        if times > 1:
            fault(f"the card {key} stands there {times} times")
    if sum(isinstance(card, SummaryCard) for card in cards) != 1:
        fault("the end was not told exactly once")
    for task in session.in_state(TaskState.COMPLETED):
        if not any(card.key.startswith(f"completed:{task.key}:") for card in cards):
            fault(f"nobody was told that {task.key} is done")
    _nothing_left(scene, session)
    if session.ending.choice in (Ending.MERGE, Ending.PULLS):
        _everything_merged(scene, session)


def _nothing_left(scene: Scene, session: Session) -> None:
    """What still stands was told of, with the reason."""
    told = {removal.path for removal in session.ending.leftovers}
    own = {w.path for task in session.tasks for w in (*task.former_workspaces, task.workspace) if w}
    for path, here in scene.worktrees.standing.items():
        if path in own - told and not _is_used_again(scene, session, path) and here.branch:
            scene.watch.fault(f"{path} was left behind, and nobody told")


def _is_used_again(scene: Scene, session: Session, path: str) -> bool:
    return any(
        task.workspace and task.workspace.path == path
        for other, task in scene.watch.tasks()
        if other.id != session.id
    )


def _everything_merged(scene: Scene, session: Session) -> None:
    """What agents have committed, and was judged done, is in the base."""
    made = {*scene.work.commits.values()}
    there = scene.forge.hub if scene.forge else scene.repository
    files = there.commits[there.heads["main"]].files
    for task in session.in_state(TaskState.COMPLETED):
        unmerged = task.pull_request and not task.pull_request.merged
        done = made & {f"{run.name}.py" for run in task.runs}
        if done and not unmerged and not done & files.keys():
            scene.watch.fault(f"what {task.key} has done is not in the base")


def _nothing_destroyed(scene: Scene) -> None:
    """Only people delete branches. What agents have committed is on a branch, or merged."""
    if any(scene.nature.struck[name] for name in ("branch deleted", "branch moved")):
        return
    there = scene.repository
    kept = {sha for head in there.heads.values() for sha in there.ancestors(head)}
    files = there.commits[there.heads["main"]].files
    if scene.forge:
        files = {**files, **scene.forge.hub.commits[scene.forge.hub.heads["main"]].files}
    for commit, name in scene.work.commits.items():
        if commit not in kept and name not in files:
            scene.watch.fault(f"the commit with {name} is lost")
