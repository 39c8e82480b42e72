"""What must hold whatever the model says: a sentence each. Every function yields what is wrong, and mostly nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bot.core.actions import HoldPlace, Order
from bot.core.approval import sha256
from bot.core.cards import ProblemCard
from bot.core.choices import Verb
from bot.core.events import Pressed, Said
from bot.core.naming import is_agent_branch, is_spec_id
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.core.session import Session
from bot.core.states import Phase, RunState, Status, TaskState
from bot.steps.blocked.rules import WAITS_FOR_PREFIX
from bot.steps.execute.rules import MAX_FAILED_RUNS
from bot.steps.plan import MAX_ROUNDS
from bot.steps.verify.rules import MAX_EVIDENCE_ASKS, MAX_REPAIRS
from tests.steps.worst.scene import MAY, Scene

MOST_QUESTIONS = 80
"""Of a session that moves, in one turn: all of a plan, written three times, each answer of it asked for three times."""
MOST_PARTS = 6
DOCUMENTS = ("spec.md", "plan.md", "tasks.md")
Standing = dict[str, tuple[str, str, str]]
"""Of each task that is at work: its run, its pane, its conversation."""


def nothing_broke(scene: Scene) -> Iterator[str]:
    """The bot lives, and no session has met a bug."""
    for thread, card in scene.chat.shown:
        if isinstance(card, ProblemCard) and "bot itself" in card.title:
            yield f"{thread.root}: {card.title}: {card.reason}"
    alive = {actor.session.id for actor in scene.desk.actors()} if scene.desk else set[str]()
    for session in scene.sessions:
        if not session.over and session.id not in alive:
            yield f"{session.short} is not over, and nobody looks after it"


def records_load_again(scene: Scene) -> Iterator[str]:
    """What is on disk is what was decided: read again, it is equal."""
    for id, record in scene.watched.last.items():
        if Record.model_validate_json(scene.watched.records[id]) != record:
            yield f"{id}: the record reads otherwise than it was written"


def branches_are_ours(scene: Scene) -> Iterator[str]:
    """Whatever a task is called, its branch is a valid name of ours, and its worktree lies directly in .worktrees."""
    for name in scene.repository.heads:
        if name != scene.repository.branch and not is_agent_branch(name):
            yield f"{name!r} is no branch of the bot's"
    top = f"{scene.repository.path}/.worktrees/"
    for session in scene.sessions:
        for workspace in session.workspaces:
            if not is_agent_branch(workspace.branch):
                yield f"{workspace.branch!r} is no branch of the bot's"
            if not workspace.path.startswith(top) or "/" in workspace.path.removeprefix(top):
                yield f"{workspace.path!r} is no place for a worktree"


def spec_branches_hold_documents_only(scene: Scene) -> Iterator[str]:
    """The bot itself writes three files, in a folder that only it has named; they are what was shown."""
    commits = scene.repository.commits
    for session in scene.sessions:
        spec = session.plan.spec
        if spec is None or not spec.commit:
            continue
        if not is_spec_id(spec.id):
            yield f"{spec.id!r} is no id of a specification"
        before = commits[spec.workspace.start or session.repository.base_commit].files
        files = commits[spec.commit].files
        changed = {name for name in files if files[name] != before.get(name)}
        wanted = {f"specs/{spec.id}/{name}" for name in DOCUMENTS}
        if foreign := changed - wanted:
            yield f"the branch of {spec.id} holds {sorted(foreign)}"
        for document in session.plan.documents:
            if sha256(document.text) != document.sha256:
                yield f"{document.kind} of {spec.id} is not what its digest says"


def bounds_hold(scene: Scene) -> Iterator[str]:
    """No loop goes on for ever, and no more agents are at work than ten."""
    for session in scene.sessions:
        for task in session.tasks:
            count = task.counters
            if count.failed_checks > MAX_REPAIRS + 1 or count.failed_runs > MAX_FAILED_RUNS:
                yield f"{task.key} failed more often than it may: {count}"
            if count.evidence_asks > MAX_EVIDENCE_ASKS + 1:
                yield f"{task.key} was asked for evidence {count.evidence_asks} times"
        if session.ending.rounds > MAX_ROUNDS:
            yield f"{session.short} was continued {session.ending.rounds} times"
        if session.plan.parallelism > session.agents.most_at_once:
            yield f"{session.short} wants {session.plan.parallelism} at once"
    if len(scene.panes.running()) > scene.rules.most_at_once:
        yield f"{len(scene.panes.running())} agents at once"


def every_pane_is_wanted(scene: Scene) -> Iterator[str]:
    """No agent works on what nobody wants any more, and no two in one worktree."""
    folders = Counter(scene.panes.folders[name] for name in scene.panes.running())
    yield from (f"{number} agents in {folder}" for folder, number in folders.items() if number > 1)
    for name in scene.panes.running():
        found = scene.run_of_pane(name)
        if found is None:
            yield f"{name} belongs to nobody"
            continue
        session, task, run = found
        if run is not task.run or not run.alive or task.state is not TaskState.RUNNING:
            yield f"{name} is at work, and {task.key} of {session.short} is {task.state}, run {run.state}"


def nobody_waits_for_nothing(scene: Scene) -> Iterator[str]:
    """A session that is not over has something under way, or a person has something to press or to say."""
    for record in scene.records:
        session = record.session
        if session.over or session.status is Status.PAUSED or session.control.trouble:
            continue
        orders = [one for one in record.outbox if isinstance(one, Order)]
        if any(not isinstance(order, HoldPlace) for order in orders) or _waits_for_people(session):
            continue
        in_line = session.queue.since and not session.queue.has_place
        if in_line and any(other.queue.has_place for other in scene.sessions):
            continue
        states = ", ".join(f"{t.key} {t.state} ({t.blocked})" for t in session.tasks)
        yield f"{session.short} waits for nothing: {session.status} {session.phase} [{states}]"


def _waits_for_people(session: Session) -> bool:
    match session.phase:
        case Phase.INTAKE:
            return bool(session.request.earlier or session.request.parts or session.request.vague)
        case Phase.CLARIFYING:
            return bool(session.intent.open_questions)
        case Phase.APPROVING:
            return True
        case Phase.EXECUTING:
            held = session.in_state(TaskState.FAILED, TaskState.BLOCKED)
            asked = any(not task.blocked.startswith(WAITS_FOR_PREFIX) for task in held)
            return asked or bool(session.change and session.change.shown_at)
        case Phase.FINISHING:
            return session.ending.choice is None
        case _:
            return False


def sessions_were_asked_for(scene: Scene) -> Iterator[str]:
    """Every session was asked for: by a word in a thread of its own, in one that was over, or by Split."""
    opened = Counter[str]()
    for session in scene.sessions:
        root = scene.ledger.roots.get(session.thread.key)
        if root is None or root.origin is None:
            if not scene.ledger.said(session.thread):
                yield f"{session.short} was begun by nobody"
            continue
        split = scene.ledger.pressed(root.origin, Verb.SPLIT)
        if root.request not in _words(scene, root.origin):
            opened[root.origin.key] += 1
            if opened[root.origin.key] > MOST_PARTS or not split:
                yield f"{session.short} ({root.title!r}) was opened, and nobody asked for it"


def _words(scene: Scene, thread: Thread) -> set[str]:
    """What was said in a thread, or passed on to it by somebody's press."""
    passed_on = {
        session.intent.body
        for session in scene.sessions
        if scene.ledger.pressed(session.thread, Verb.THERE)
    }
    return passed_on | {scene.masker.mask(event.text) for event in scene.ledger.said(thread)}


def elsewhere_was_chosen(scene: Scene) -> Iterator[str]:
    """Where a request is carried out is for people to say."""
    for session in scene.sessions:
        verbs = (Verb.SPLIT, Verb.WHOLE, Verb.THERE, Verb.HERE)
        pressed = [event for verb in verbs for event in scene.ledger.pressed(session.thread, verb)]
        if session.request.destination and session.request.destination.at not in {
            event.at for event in pressed
        }:
            yield f"{session.short} goes {session.request.destination.where}, and nobody said so"


def few_questions(scene: Scene, asked: int) -> Iterator[str]:
    """However the model answers, it is soon done without."""
    moved = max(1, len(scene.watched.moved))
    if asked > MOST_QUESTIONS * moved:
        yield f"{asked} questions in one turn, of {moved} sessions"


def standing(scene: Scene) -> Standing:
    """Who is at work now."""
    return {
        task.id: (run.id, run.pane_id, run.conversation)
        for session in scene.sessions
        for task in session.in_state(TaskState.RUNNING)
        if (run := task.run) and run.state is RunState.RUNNING
    }


def undisturbed(scene: Scene, before: Standing) -> Iterator[str]:
    """Words, and changes asked for, confirmed or forgotten, leave alone whoever they do not touch."""
    last = scene.ledger.deeds[-1].event if scene.ledger.deeds else None
    calm = isinstance(last, Said) or (
        isinstance(last, Pressed) and last.verb in (Verb.APPROVE, Verb.CHANGE, Verb.DROP)
    )
    if not calm or (last and last.by.id not in MAY):
        return
    now = standing(scene)
    for session in scene.sessions:
        touched = scene.watched.touched[session.id]
        for task in session.tasks:
            if task.id in before and task.id not in touched and before[task.id] != now.get(task.id):
                yield f"{task.key} was disturbed: {task.state} {task.blocked}"


RULES = (
    nothing_broke,
    records_load_again,
    branches_are_ours,
    spec_branches_hold_documents_only,
    bounds_hold,
    every_pane_is_wanted,
    nobody_waits_for_nothing,
    sessions_were_asked_for,
    elsewhere_was_chosen,
)
