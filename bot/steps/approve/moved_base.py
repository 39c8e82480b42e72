"""What it means for a plan, and for tasks that have not started, that the base branch has moved since planning.

The approval was given for the code as it was. New commits that touch nothing in the plan are accepted without asking
again, as a busy branch moves all the time. See docs/decisions/0032.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from pydantic import AwareDatetime

from bot.core.actions import Deed
from bot.core.events import BaseSeen, OrderFailed
from bot.core.session import Session
from bot.core.sheets import Tone
from bot.core.task import Task
from bot.core.text import counted, sentences
from bot.steps import messages, plan
from bot.steps.verify import test_command

RECHECK_AFTER = timedelta(minutes=5)
"""For this long after an approval the base is not checked again before the first task starts."""
MAX_NAMED_FILES = 5
"""Files named in one message."""


def require_base_check(session: Session, at: AwareDatetime) -> None:
    """Have the base checked again before the first task starts: the session may have waited in the queue for hours
    while others were merged.
    """
    begun = any(task.runs for task in _unsettled(session))
    approved = session.approval.granted.at if session.approval.granted else None
    if session.pulls.host and not begun and (approved is None or at - approved > RECHECK_AFTER):
        session.approval.checking_base = True


def base_move_text(session: Session, event: BaseSeen) -> str:
    """Return how the base has moved, in words; empty if it has not."""
    old, new = session.repository.base_commit, event.base.commit
    if old == new:
        return ""
    return f"{messages.branch_of(session)} moved from {old[:10]} to {new[:10]}"


def concerns_plan(session: Session, event: BaseSeen) -> bool:
    """Whether the new commits touch files of the plan, or what the repository makes agents do."""
    return event.brought != session.repository.agent_settings or bool(
        _shared_with_plan(session, event)
    )


def why_base_unknown(event: BaseSeen) -> str:
    """Return why the base's position is unknown; empty if it is known."""
    upstream = event.base.upstream
    return upstream.problem if upstream else ""


def accept_new_base(session: Session, event: BaseSeen) -> None:
    """Make the new base commit the session's start.

    The spec branch, from which tasks start, is updated before they do.
    """
    session.repository.base_commit = event.base.commit
    if event.scan:
        session.repository.scan = test_command.with_approved_command(session, event.scan)
    if session.plan.spec:
        session.plan.spec = session.plan.spec.model_copy(update={"commit": ""})


def base_moved_news(session: Session, event: BaseSeen, where: str) -> Deed:
    """Return the message about the moved base, one for each new commit."""
    came = f"{counted(event.commits, 'commit')}, none of which changes a file of this plan."
    if touched := _shared_with_plan(session, event):
        came = f"{counted(event.commits, 'commit')}. Also changed there: {_some_paths(touched)}. The agents are told."
    return messages.news(f"base:{event.base.commit[:10]}", f"{where}. I build on that.", came)


def base_unknown_news(session: Session, why: str, at: AwareDatetime) -> Deed:
    known = f"I go on from {session.repository.base_commit[:10]}, as it was seen last."
    title = f"I cannot see where {messages.branch_of(session)} stands now."
    return messages.news(f"base-unseen:{int(at.timestamp())}", title, sentences(why), known)


def decide(session: Session, event: BaseSeen | OrderFailed) -> Iterator[Deed]:
    """Decide on the check made right before the first task starts.

    The plan is approved already, so nobody is asked again.
    """
    session.approval.checking_base = False
    if isinstance(event, BaseSeen):
        yield from _seen(session, event)
    else:
        yield base_unknown_news(session, sentences(event.reason, event.remedy), event.at)


def _seen(session: Session, event: BaseSeen) -> Iterator[Deed]:
    session.repository.upstream = event.base.upstream or session.repository.upstream
    where = base_move_text(session, event)
    if why := why_base_unknown(event):
        yield base_unknown_news(session, why, event.at)
    elif where and event.brought != session.repository.agent_settings:
        yield messages.news(
            f"base:{event.base.commit[:10]}",
            f"{where}, and brings settings that agents obey. Nobody has approved those.",
            f"I build on {session.repository.base_commit[:10]}, as approved. Before an agent meets them I ask.",
            tone=Tone.NEEDS_YOU,
        )
    elif where:
        for task in _unsettled(session):
            _tell_agent(session, task, event)
        yield base_moved_news(session, event, where)
        accept_new_base(session, event)


def _tell_agent(session: Session, task: Task, event: BaseSeen) -> None:
    # The agent sees the new code in any case; it should know that the plan was made for other code.
    if touched := _paths_in(task.files, event.files):
        now = (
            f"Since this was planned, {session.repository.base_branch} has changed {_some_paths(touched)}. "
            "Look at the files as they are now, and do not undo what was changed there."
        )
        task.next_run.instructions = "\n\n".join(
            part for part in (task.next_run.instructions, now) if part
        )


def _unsettled(session: Session) -> list[Task]:
    return [task for task in session.tasks if task.state not in plan.SETTLED]


def _shared_with_plan(session: Session, event: BaseSeen) -> tuple[str, ...]:
    wanted = [path for task in _unsettled(session) for path in task.files]
    return _paths_in(wanted, event.files)


def _paths_in(wanted: Iterable[str], changed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the changed files that are named or lie in a named folder."""
    names = {path.removeprefix("./").rstrip("/") for path in wanted}
    return tuple(
        path
        for path in changed
        if path in names or any(parent in names for parent in _parents(path))
    )


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _some_paths(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - MAX_NAMED_FILES} more" if len(paths) > MAX_NAMED_FILES else ""
    return f"{', '.join(paths[:MAX_NAMED_FILES])}{more}"
