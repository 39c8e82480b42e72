"""The story of three tasks and their pull requests, one of which stands on another."""

from __future__ import annotations

from bot.core.session import Session
from bot.core.states import OverallStatus, Status
from tests.beds.github import PullRequest
from tests.stories.conversation.scene import Scene, is_planned, is_so, session, task_of, told, until
from tests.stories.github.hosting import Hosting

MERGE_ALL = "Merge all, in order"


async def three_are_open(scene: Scene, hosting: Hosting) -> Session:
    """From the request to three pull requests that the bot has seen."""
    await is_planned(scene)
    await scene.person.presses("Approve", on="revision 1?")
    await until(lambda: len(hosting.there.pulls) == 3, lambda: told(scene))
    await is_so(
        scene,
        lambda one: all(task.pull_request and task.pull_request.seen for task in one.tasks),
    )
    return session(scene)


async def merges_all_in_order(scene: Scene, hosting: Hosting) -> None:
    """Nothing is left of it in the end but main; and the person's checkout never notices."""
    before, there = hosting.untouched(), hosting.there
    await three_are_open(scene, hosting)
    first, last = pull_of(scene, hosting, "T001"), pull_of(scene, hosting, "T003")
    second = pull_of(scene, hosting, "T002")
    assert [one.draft for one in (first, second, last)] == [False, False, True]
    assert f"Depends on #{first.number}" in (last.body or "")
    for key, pull in (("T001", first), ("T002", second), ("T003", last)):
        _shows_what_was_done(scene, key, pull)
    tested = len(task_of(session(scene), "T003").checks)
    await scene.person.presses(MERGE_ALL, on=f"#{last.number}")
    ended = await ends_complete(scene)
    assert len(task_of(ended, "T003").checks) == tested + 1
    assert all(pull.merged_at and not pull.draft for pull in there.pulls)
    assert [line for line in there.log("main") if f"(#{last.number})" in line]
    assert len(there.pulls) == 3
    nothing_is_left(scene, hosting)
    assert hosting.untouched() == before


def _shows_what_was_done(scene: Scene, key: str, pull: PullRequest) -> None:
    """In the body: which requirement is shown by which check, and the mark."""
    body, task = pull.body or "", task_of(session(scene), key)
    assert pull.base == "main"
    assert "| Required | Evidence |" in body
    assert "passed" in body
    assert f"<!-- gwt-bot task={task.id} -->" in body
    assert task.check
    assert task.check.commit[:12] in body
    assert pull.head_sha == task.check.commit


async def ends_complete(scene: Scene) -> Session:
    ended = await is_so(scene, lambda one: one.status is Status.COMPLETED)
    await scene.person.sees("COMPLETE", "3 of 3 pull requests merged")
    assert ended.ending.result
    assert ended.ending.result.overall_status is OverallStatus.COMPLETE, ended.ending.result
    return ended


def nothing_is_left(scene: Scene, hosting: Hosting) -> None:
    """By git, on both sides."""
    bot = scene.bot
    assert bot.git("branch", "--format=%(refname:short)") == "main"
    assert len(bot.git("worktree", "list").splitlines()) == 1
    assert list(hosting.there.branches) == ["main"]
    for name in ("discount", "receipt", "checkout"):
        assert hosting.there.read("main", f"basket/{name}.py")
        assert hosting.there.read("main", f"tests/test_{name}.py")


def pull_of(scene: Scene, hosting: Hosting, key: str) -> PullRequest:
    """As GitHub has it."""
    known = task_of(session(scene), key).pull_request
    assert known, told(scene)
    return hosting.there.pull(known.number)
