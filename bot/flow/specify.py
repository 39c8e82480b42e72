"""From answers to spec.md, plan.md and tasks.md, committed on the spec branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.domain import naming, spec_kit
from bot.domain.actions import Deed, Show
from bot.domain.cards import DocumentCard
from bot.domain.events import (
    DocumentsCommitted,
    DocumentWritten,
    Event,
    OrderFailed,
    Pressed,
    Said,
)
from bot.domain.session import DocumentKind, Session, Speaker
from bot.domain.spec_kit import TaskDraft
from bot.domain.states import Phase
from bot.domain.tasks import Acceptance, Strategy, Task, TaskType
from bot.flow import mishaps, replies, telling


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case DocumentWritten() if _is_current(session, event):
            session.documents = (*session.documents, event.document)
            if event.document.kind is DocumentKind.TASKS:
                session.tasks = tasks_from(session, event)
                session.parallelism = event.parallelism
        case DocumentsCommitted() if session.spec:
            session.spec = session.spec.model_copy(
                update={"workspace": event.workspace, "commit": event.commit}
            )
            session.documents_shown_at = event.at
            session.enter(Phase.APPROVING)
            yield from _present(session, event)
        case OrderFailed():
            yield from mishaps.give_way(session, event)
        case Said(text=text):
            yield from replies.noted(session, event, text)
        case Pressed():
            yield telling.stale(session, event)
        case _:
            pass


def _is_current(session: Session, event: DocumentWritten) -> bool:
    return bool(session.spec and event.document.revision == session.spec.revision)


def tasks_from(session: Session, event: DocumentWritten) -> list[Task]:
    """The drafts as tasks. Their ids follow from the session and the revision, so that writing twice changes nothing."""
    revision = event.document.revision
    ids = {d.key: naming.derived_id(session.id, "task", d.key, str(revision)) for d in event.drafts}
    graph = spec_kit.graph(event.drafts)
    return [
        Task(
            id=ids[draft.key],
            key=draft.key,
            number=number,
            name=draft.title,
            description=draft.description,
            type=TaskType(draft.type),
            dependencies=tuple(ids[key] for key in sorted(graph[draft.key])),
            requirements=draft.requirements,
            acceptance=_acceptance(draft),
            files=draft.files,
            worktree_strategy=Strategy.SHARED if draft.worktree == "shared" else Strategy.NEW,
            created_at=event.at,
        )
        for number, draft in enumerate(event.drafts, 1)
    ]


def _acceptance(draft: TaskDraft) -> tuple[Acceptance, ...]:
    lines: Sequence[str] = draft.acceptance
    return tuple(Acceptance(id=f"{draft.key}-A{n}", text=text) for n, text in enumerate(lines, 1))


def _present(session: Session, event: DocumentsCommitted) -> Iterator[Deed]:
    spec = session.spec
    for document in session.documents:
        yield Show(
            card=DocumentCard(
                key=f"document:{document.kind}:{document.revision}",
                document=document.kind,
                spec_id=spec.id if spec else "",
                revision=document.revision,
                text=document.text,
            )
        )
    names = ", ".join(task.name for task in session.tasks)
    session.say(Speaker.ASSISTANT, f"Planned {len(session.tasks)} tasks: {names}", event.at)
    yield telling.approval_wanted(session)
