"""Tells what happens in a schedule, a line each: what people do, what befalls the world, how sessions change."""

from __future__ import annotations

from collections.abc import Callable

from bot.core.events import FromPeople
from bot.core.people import Thread
from bot.core.projections.records import Record
from tests.simulation.scene import Scene

Say = Callable[[str], None]


def of(scene: Scene, say: Say) -> None:
    last: dict[str, object] = {}

    def tell(what: str) -> None:
        say(f"{scene.loop.time():9.1f} life {scene.life.number}: {what}")

    def saved(record: Record) -> None:
        line = _line(record)
        if last.get(record.session.id) != line:
            last[record.session.id] = line
            tell(line)

    def sent(thread: Thread, event: FromPeople) -> None:
        about = event.model_dump(exclude={"at", "by", "kind"}, exclude_defaults=True, mode="json")
        tell(f"{event.by} in {thread.root}: {event.kind} {about}")

    scene.saved, scene.sent, scene.befell = saved, sent, lambda name: tell(f"*** {name}")


def _line(record: Record) -> str:
    session = record.session
    tasks = ", ".join(
        f"{task.key} {task.state}{f' run {task.run.number} {task.run.state}' if task.run else ''}"
        for task in session.tasks
    )
    inbox = " ".join(event.kind for event in record.inbox)
    outbox = " ".join(action.key[:24] for action in record.outbox)
    return f"{session.short} {session.status}/{session.phase} [{tasks}] in: {inbox} out: {outbox}"
