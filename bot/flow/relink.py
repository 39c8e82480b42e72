"""The repository is not where it was: the session is paused until it is back, or somebody says where it lies now."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Relink
from bot.domain.events import Commanded, Relinked
from bot.domain.session import Session, Speaker
from bot.domain.states import Status, TaskState
from bot.domain.tasks import Why, Workspace
from bot.flow import pending, telling

HOW = "Write relink and the path where the repository lies now."
ELSEWHERE = "The repository was moved, and your worktree with it. Look at what is there already and go on from it."


def asked(session: Session, event: Commanded) -> Iterator[Deed]:
    path = event.command.text
    if not session.away or session.status is not Status.PAUSED:
        text = f"I miss no repository here: this session works in {session.repository}."
        yield telling.privately(event, text)
    elif not path:
        yield telling.privately(event, HOW)
    else:
        yield Relink(about=event.id, path=path, by=event.by)


def answered(session: Session, event: Relinked) -> Iterator[Deed]:
    if not session.away or session.status is not Status.PAUSED:
        return
    if not event.path:
        yield telling.to(event.by, event.id, event.problem)
        return
    _move(session, event.path)
    session.become(Status.ACTIVE)
    session.say(Speaker.SYSTEM, f"{event.by} says that the repository is at {event.path}", event.at)
    yield pending.stopped(session, telling.decided_by(f"Found at {event.path}", event.by, event.at))
    session.away = ""
    yield from pending.card(session)


def _move(session: Session, path: str) -> None:
    """Everything that is known by its path. CLIs know a conversation by its folder: in a new one it is begun anew."""

    def there(workspace: Workspace) -> Workspace:
        inside = workspace.path.removeprefix(f"{session.repository}/")
        return workspace.model_copy(update={"path": f"{path}/{inside}"})

    for task in session.tasks:
        task.workspace = there(task.workspace) if task.workspace else None
        task.left = tuple(map(there, task.left))
        if task.state is TaskState.NEEDS_CONTINUATION:
            task.next_why = Why.RETRY
            task.next_feedback = "\n\n".join(filter(None, (ELSEWHERE, task.next_feedback)))
    if session.spec:
        moved = there(session.spec.workspace)
        session.spec = session.spec.model_copy(update={"workspace": moved})
    session.repository = path
