"""Which pull requests a session has, and what must be in a branch before it is merged."""

from __future__ import annotations

from bot.domain.session import Session
from bot.domain.tasks import PullRequest, Task
from bot.flow import shared, ship


def with_pull(session: Session) -> list[Task]:
    return [task for task in session.tasks if task.pull_request]


def still_open(session: Session) -> list[Task]:
    """Those that the session waits for."""
    return [
        task
        for task in with_pull(session)
        if task.state not in shared.GONE
        and task.pull_request
        and task.pull_request.open
        and not task.pull_request.unneeded
    ]


def base_missing(session: Session, task: Task, pull: PullRequest) -> tuple[str, ...]:
    """Merges of what its branch was built on, once all of that is merged: squashed, they look like strangers to it."""
    if ship.depends_on(session, task):
        return ()
    own = {other.id for other in shared.on_its_branch(session, task)}
    before = {
        id for other in shared.on_its_branch(session, task) for id in other.dependencies
    } - own
    merges = [_merge_commit(session, session.task(id)) for id in sorted(before)]
    return tuple(one for one in merges if one and one not in pull.taken_in)


def merged_below(session: Session, task: Task) -> list[PullRequest]:
    """The merged pull requests whose work is in its branch, however far below."""
    own = shared.pull_of(session, task)
    todo = [id for other in shared.on_its_branch(session, task) for id in other.dependencies]
    seen: set[str] = set()
    found: dict[int, PullRequest] = {}
    while todo:
        other = session.task(todo.pop(0))
        if other is None or other.id in seen:
            continue
        seen.add(other.id)
        todo += other.dependencies
        pull = shared.pull_of(session, other)
        if pull and pull.merged and (own is None or pull.number != own.number):
            found[pull.number] = pull
    return list(found.values())


def _merge_commit(session: Session, task: Task | None) -> str:
    pull = shared.pull_of(session, task) if task else None
    return pull.seen.merge_commit if pull and pull.merged and pull.seen else ""
