"""While agents are at work: the live status, news of what happened, the stop."""

from __future__ import annotations

from bot.core.actions import Deed, Show
from bot.core.cards import CardDecision
from bot.core.events import CollisionsSeen, RunStopped
from bot.core.evidence import Check
from bot.core.git import Collision
from bot.core.session import Session
from bot.core.session_parts import Trouble
from bot.core.sheets import Tone
from bot.core.states import Phase, Status, TaskState
from bot.core.task import Counters, Task
from bot.steps import messages
from bot.steps.blocked import troubles
from bot.steps.control import commands
from bot.steps.execute import next_step
from bot.steps.ship import rules as ship
from tests.looks.catalogue.entry import Entry, entry
from tests.looks.catalogue.sample import (
    BRANCHES,
    NAMES,
    NOW,
    at,
    at_work,
    check,
    delivered,
    done,
    heard,
    running,
    task,
)

TAIL = """\
● Update(src/settings/Switch.tsx)
  ⎿  Updated with 18 additions and 2 removals
● Bash(npm test -- Switch)
  ⎿  ✓ src/settings/Switch.test.tsx (4 tests) 212ms
● Now the label for screen readers …"""
OTHER_TAIL = """\
● Bash(npm test -- theme)
  ⎿  ✗ src/theme.test.ts > survives a reload
     expected 'light' to be 'dark'"""
FAILED = """\
 FAIL  src/theme.test.ts > survives a reload
AssertionError: expected 'light' to be 'dark'
 ❯ src/theme.test.ts:41:22
 Tests  1 failed | 11 passed (12)"""


def entries() -> tuple[Entry, ...]:
    return (*_status(), *_news(), *_stopped())


def _status() -> tuple[Entry, ...]:
    busy = at_work(done("T001"), running("T002"), running("T003", 2), task("T004"))
    tails = {"T002-r1": TAIL, "T003-r1": OTHER_TAIL}
    quiet = at_work(done("T001"), running("T002"), running("T003", 2), task("T004"))
    delivering = at_work(delivered("T001", 41), delivered("T002", 42, draft=True), _mended())
    stuck = Trouble(order="judge", reason="The LLM endpoint does not answer (503).")
    waits = at_work(queue__position=2, queue__waiting=3, status=Status.QUEUED)
    return (
        _stands("planning", heard(phase=Phase.SPECIFYING)),
        _stands("queued", waits),
        _stands("begins", at_work(running("T001", 0.2), queue__waiting=2)),
        entry("status/running, with screens", messages.status(busy, NOW, tails)),
        _stands("running", quiet),
        _stands("being mended, with pull requests", delivering),
        _stands("waits for a person", at_work(done("T001"), _blocked(), task("T004"))),
        _stands("in trouble", at_work(done("T001"), running("T002"), control__troubles=(stuck,))),
        _stands("paused", at_work(done("T001"), _continued(), status=Status.PAUSED)),
        _stands("sixty tasks", _many(60)),
        _stands("finished", at_work(*map(done, NAMES), phase=Phase.DONE, status=Status.COMPLETED)),
    )


def _stands(state: str, session: Session) -> Entry:
    return entry(f"status/{state}", messages.status(session, NOW))


def _mended() -> Task:
    return running("T003", 12, counters=Counters(failed_checks=1))


def _continued() -> Task:
    return running("T002", state=TaskState.NEEDS_CONTINUATION)


def _blocked() -> Task:
    return running("T002", state=TaskState.BLOCKED, blocked="its worktree is gone")


def _many(count: int) -> Session:
    tasks = [
        task(
            "T001" if n else "T002", TaskState.COMPLETED if n < 20 else TaskState.PENDING
        ).model_copy(
            update={
                "id": f"id-{n}",
                "key": f"T{n + 1:03d}",
                "name": f"Move page {n + 1} to the new theme",
            }
        )
        for n in range(count)
    ]
    return at_work(*tasks)


def _news() -> tuple[Entry, ...]:
    session = at_work(running("T002"), running("T003"))
    collision = Collision(one=BRANCHES["T002"], other=BRANCHES["T003"], files=("src/theme.ts",))
    collided = CollisionsSeen(id="c", at=NOW, collisions=(collision,))
    alive = RunStopped(id="r", at=NOW, answers="r", run_id="T002-r1", survivors=(4711,))
    return (
        entry("news/no questions", _without_questions()),
        entry("news/task is done", ship.complete(session, _shipped(), alive)),
        entry("news/tests failed, once more", _tried_again()),
        entry(
            "news/planning anew",
            messages.news("n", "I am planning again with your changes.", "“Use tabs.”"),
        ),
        entry("news/work would collide", next_step.report_conflicts(session, collided)),
        entry("news/survivors", troubles.survivors(session, alive)),
        entry("news/bug", messages.news("b", troubles.BUG, "KeyError: 'T009'", tone=Tone.FAILURE)),
    )


def _without_questions() -> Show:
    return messages.news("q", "I have no questions, so I am writing the plan.")


def _shipped() -> Task:
    return done("T002", state=TaskState.INTEGRATING)


def _tried_again() -> list[Deed]:
    one = running("T003", state=TaskState.VERIFYING, checks=[_failed()])
    session = at_work(one, task("T004"))
    event = RunStopped(id="e", at=NOW, answers="e", run_id="T003-r1")
    return list(
        next_step.offer_steps(
            session,
            one,
            event,
            "check_failed",
            "the tests fail (exit code 1, repair 1 of 3)",
            next_step.AGAIN,
        )
    )


def _failed() -> Check:
    return check(1, FAILED)


def _stopped() -> tuple[Entry, ...]:
    paused = at_work(
        status=Status.PAUSED, control__stops=1, control__stopped_by="Mika", control__stopped_runs=2
    )
    idle = at_work(status=Status.PAUSED, control__stops=1, control__stopped_by="Mika")
    resumed = CardDecision(what="Resumed", by="Mika", at=at(6))
    return (
        entry("stopped/two agents ended", commands.stopped_card(paused)),
        entry("stopped/none was running", commands.stopped_card(idle)),
        entry("stopped/resumed", commands.stopped_card(paused, resumed)),
    )
