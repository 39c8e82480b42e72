"""What must hold at every moment, whatever goes wrong. It knows what people did and what is on disk, and trusts nobody else.

Each method is told of something just before it takes effect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bot.core.choices import Verb
from bot.core.events import FromPeople, Pressed, Said
from bot.core.people import Person, Thread
from bot.core.projections.records import Record
from bot.core.runs import Run
from bot.core.session import Session
from bot.core.states import PHASES, RUNS, STATUSES, TASKS, Phase, RunState, Status, TaskState
from bot.core.task import Task
from bot.steps.approve.rules import is_yes
from bot.steps.blocked.troubles import BUG
from tests.fakes.forge import FakeForge
from tests.fakes.panes import FakePanes
from tests.fakes.repository import FakeRepository
from tests.fakes.worktree import FakeWorktree

SNEAKED = "docs: sneaked in"
"""The commit of a person on the branch of a task."""
JUST_NOW = 10.0
"""Seconds: some calls that take their time."""
MOST_MOVES = 4
"""States that one decision leads through at most."""


def _reachable(table: Mapping[StrEnum, frozenset[StrEnum]]) -> frozenset[tuple[str, str]]:
    found: set[tuple[StrEnum, StrEnum]] = {(state, state) for state in table}
    for _ in range(MOST_MOVES):
        found |= {(old, new) for old, middle in found for new in table[middle]}
    return frozenset(found)


_STATUSES = _reachable({**STATUSES})
_PHASES = _reachable({**PHASES})
_TASKS = _reachable({**TASKS})
_RUNS = _reachable({**RUNS})


@dataclass(eq=False)
class Watch:
    may: Callable[[FromPeople], bool]
    """Known here by itself: the gate is what is watched."""
    lived: Callable[[], float]
    """The seconds that any life of the bot has had."""
    faults: list[str] = field(default_factory=list[str])
    records: dict[str, Record] = field(default_factory=dict[str, Record])
    """As on disk."""
    done: list[tuple[str, FromPeople]] = field(default_factory=list[tuple[str, FromPeople]])
    """What people did who may, by thread."""
    strangers: set[str] = field(default_factory=set[str])
    """Ids of what others did."""
    answered: set[str] = field(default_factory=set[str])
    """Ids of what was answered where there was no session yet."""
    standing: Mapping[str, FakeWorktree] = field(default_factory=dict[str, FakeWorktree])
    gone: dict[str, float] = field(default_factory=dict[str, float])
    """When worktrees were removed by hand."""
    pulls: dict[int, str] = field(default_factory=dict[int, str])
    """Whose each pull request is."""
    seen: Counter[str] = field(default_factory=Counter[str])
    """What the schedules led to: else nothing is proved by them."""

    def fault(self, what: str) -> None:
        if what not in self.faults:
            self.faults.append(what)

    # people

    def does(self, thread: Thread, event: FromPeople) -> None:
        if self.may(event):
            self.done.append((thread.key, event))
        else:
            self.strangers.add(event.id)

    def begun(self, thread: Thread) -> bool:
        return self._of(thread) is not None

    def acknowledged(self, thread: Thread, event: FromPeople, *, taken: bool, begun: bool) -> None:
        """Whoever is told that it was heard may rely on it. `begun`: there was a session to hear it."""
        if event.id in self.strangers:
            if taken:
                self.fault(f"{event.by} was let in with {event.kind}")
            return
        record = self._of(thread)
        if taken and not begun:
            # it is over with that, also when it comes once more and there is a session by then
            self.answered.add(event.id)
        elif taken and record and event.id not in {*record.heard, *self.answered}:
            self.fault(f"{event.kind} was acknowledged, and is not on disk")

    def _of(self, thread: Thread) -> Record | None:
        return next((r for r in self.records.values() if r.session.thread.key == thread.key), None)

    def _pressed(self, session: Session, *verbs: Verb) -> list[Pressed]:
        return [
            event
            for thread, event in self.done
            if thread == session.thread.key and isinstance(event, Pressed) and event.verb in verbs
        ]

    # the disk

    def saves(self, old: Record | None, new: Record) -> None:
        session = new.session
        self.seen[f"phase {session.phase}"] += 1
        self.seen[f"status {session.status}"] += 1
        if (
            session.control.failure.startswith(BUG)
            or "the log has the details" in session.control.failure
        ):
            self.fault(f"a bug: {session.control.failure}")
        if heard := self.strangers & {*new.heard}:
            self.fault(f"a stranger was heard: {heard}")
        if len({*new.heard}) != len(new.heard):
            self.fault("the same event was heard twice")
        if old is None:
            return
        self._leaves_the_inbox({e.id for e in old.inbox}, {e.id for e in new.inbox})
        for what in _illegal(old.session, session):
            self.fault(f"no legal move: {what}")
        if session.approval.granted and session.approval.granted != old.session.approval.granted:
            self._approved(session, session.approval.granted.digest, session.approval.granted.by)

    def _leaves_the_inbox(self, before: set[str], now: set[str]) -> None:
        """What was acknowledged is decided on: one at a time, and nothing new comes with that."""
        gone, new = before - now, now - before
        if len(gone) > 1 or (gone and new):
            self.fault("what was heard is forgotten before anybody has decided on it")

    def _approved(self, session: Session, digest: str, by: Person) -> None:
        """By somebody who may, and exactly what was shown to them."""
        self.seen["approved"] += 1
        offers = [e.about for e in self._pressed(session, Verb.APPROVE) if e.by.id == by.id]
        words = [
            event
            for thread, event in self.done
            if thread == session.thread.key and isinstance(event, Said) and is_yes(event.text)
        ]
        if not words and digest not in {offer.partition(":")[0] for offer in offers}:
            self.fault(f"approved, and {by} has not pressed the button of that plan")

    # what takes effect

    def starts(self, name: str, cwd: str, panes: FakePanes) -> None:
        self.seen["agents started"] += 1
        if cwd not in self.standing:
            self.fault("an agent is started where there is no worktree")
        found = self._run(name)
        if found is None:
            self.fault("an agent is started that is not written down")
            return
        session, task, run = found
        self._may_act(session, "an agent is started")
        if run.state is not RunState.STARTING or task.run is not run:
            self.fault("an agent is started that is not to be started")
        for other in panes.running():
            if panes.folders[other] == cwd:
                self.fault("two agents work in one worktree")
            elif (rival := self._run(other)) and rival[0].id != session.id and rival[2].alive:
                self.fault("two sessions have agents at work in one repository")

    def vanished(self, path: str) -> None:
        self.gone[path] = self.lived()

    def has_just_gone(self, path: str) -> bool:
        """Between the bot's look and what it does upon it: whoever starts the agent notices, and refuses."""
        new = self.lived() - self.gone.get(path, -JUST_NOW) < JUST_NOW
        return new and path not in self.standing

    def prepares(self, branch: str) -> None:
        found = self._task(branch)
        if found:
            self._may_act(found[0], "a worktree is made")
        elif not any(
            r.session.plan.spec and r.session.plan.spec.workspace.branch == branch
            for r in self.records.values()
        ):
            self.fault("a branch is made that is not written down")

    def tests(self, cwd: str) -> None:
        self.seen["tests run"] += 1
        here = [s for s, task in self.tasks() if task.workspace and task.workspace.path == cwd]
        if here and not any(_is_at_work(session) for session in here):
            self._may_act(here[-1], "tests are run")

    def publishes(self, branch: str) -> None:
        self.seen["branches published"] += 1
        if found := self._task(branch):
            self._may_act(found[0], "a branch is published")
            if found[1].state is not TaskState.INTEGRATING:
                self.fault("a branch is published that is not done")
        else:
            self.fault("a branch of nobody is published")

    def opened(self, forge: FakeForge) -> None:
        """A later session may use the name of a branch that is gone."""
        for pull in forge.pulls.values():
            if pull.number not in self.pulls and (found := self._task(pull.branch)):
                self.pulls[pull.number] = f"{pull.branch} of {found[0].short}"
        for branch, number in Counter(self.pulls.values()).items():
            if number > 1:
                self.fault(f"{branch} has {number} pull requests")

    def merges(self, branch: str) -> None:
        self.seen["pull requests merged"] += 1
        found = self._task(branch)
        if found is None or not self._pressed(found[0], Verb.MERGE_PULL, Verb.MERGE_PULLS):
            self.fault("a pull request is merged unasked")

    def moves_base(self, there: FakeRepository, commit: str) -> None:
        self.seen["bases moved"] += 1
        new = there.ancestors(commit) if commit in there.commits else set[str]()
        if any(there.commits[sha].subject == SNEAKED for sha in new) and not self._looked_at(there):
            self.fault("what nobody has tested is merged")
        if not any(self._pressed(r.session, Verb.MERGE) for r in self.records.values()):
            self.fault("the base is moved unasked")

    def _looked_at(self, there: FakeRepository) -> bool:
        """Whether what a person has added to a branch was there when its task was looked at."""
        heads = {task.work.head for _, task in self.tasks() if task.work}
        seen = {sha for head in heads if head in there.commits for sha in there.ancestors(head)}
        return any(there.commits[sha].subject == SNEAKED for sha in seen)

    def _may_act(self, session: Session, what: str) -> None:
        if session.approval.granted is None:
            self.fault(f"{what} before anybody has approved")
        if session.status is Status.PAUSED or session.over:
            self.fault(f"{what} though the session is {session.status}")

    def _run(self, name: str) -> tuple[Session, Task, Run] | None:
        for session, task in self.tasks():
            for run in task.runs:
                if run.name == name:
                    return session, task, run
        return None

    def _task(self, branch: str) -> tuple[Session, Task] | None:
        """The last one that works on it."""
        found = [
            one for one in self.tasks() if one[1].workspace and one[1].workspace.branch == branch
        ]
        at_work = [one for one in found if _is_at_work(one[0])]
        return (at_work or found or [None])[-1]

    def tasks(self) -> Iterator[tuple[Session, Task]]:
        for record in self.records.values():
            for task in record.session.tasks:
                yield record.session, task


def _is_at_work(session: Session) -> bool:
    return session.approval.granted is not None and session.status is Status.ACTIVE


def _illegal(old: Session, new: Session) -> Iterator[str]:
    if (old.status, new.status) not in _STATUSES:
        yield f"{old.status} → {new.status}"
    if (old.phase, new.phase) not in _PHASES and new.phase is not Phase.INTAKE:
        yield f"{old.phase} → {new.phase}"
    before = {task.id: task for task in old.tasks}
    for task in new.tasks:
        was = before.get(task.id)
        if was is None:
            continue
        if (was.state, task.state) not in _TASKS:
            yield f"{task.key}: {was.state} → {task.state}"
        runs = {run.id: run.state for run in was.runs}
        for run in task.runs:
            if run.id in runs and (runs[run.id], run.state) not in _RUNS:
                yield f"{run.name}: {runs[run.id]} → {run.state}"
