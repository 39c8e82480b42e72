"""From answers to spec.md, plan.md and tasks.md: written, held against each other, mended, and committed on the spec branch."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import naming, spec_kit
from bot.domain.actions import Deed, Show
from bot.domain.cards import DocumentCard
from bot.domain.documents import DocumentKind
from bot.domain.drafted import drafts_of, task_from
from bot.domain.events import (
    BaseSeen,
    DocumentsCommitted,
    DocumentWritten,
    Event,
    OrderFailed,
    PlanAnalysed,
    Pressed,
    Said,
    Scanned,
    WordsJudged,
)
from bot.domain.session import Session, Speaker
from bot.domain.states import Phase
from bot.domain.tasks import Task
from bot.domain.words import WordKind
from bot.flow import approve, mishaps, place, replies, revise, telling, testing, wizard


def decide(session: Session, event: Event) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case BaseSeen():
            yield from _looked_at_base(session, event)
        case Scanned(scan=scan):
            session.scan = scan
            testing.scanned(session, scan)
        case DocumentWritten() if _is_current(session, event):
            _take(session, event)
        case PlanAnalysed() if _is_current(session, event):
            yield from _analysed(session, event)
        case DocumentsCommitted() if session.spec:
            session.spec = session.spec.model_copy(
                update={"workspace": event.workspace, "commit": event.commit}
            )
            session.documents_shown_at = event.at
            session.enter(Phase.APPROVING)
            yield from _present(session, event)
            yield from (
                wizard.written(session, event)
                if session.spec_only
                else approve.alone(session, event)
            )
        case WordsJudged():
            yield from _judged(session, event)
        case OrderFailed(what="judge_words"):
            yield from replies.not_judged(session, event)
        case OrderFailed():
            yield from mishaps.give_way(session, event)
        case Said(text=text):
            yield from replies.heard(session, event, text)
        case Pressed():
            yield telling.stale(session, event)
        case _:
            pass


def _looked_at_base(session: Session, event: BaseSeen) -> Iterator[Deed]:
    """Each revision is made for the base as it is then; the first card says which one that is."""
    session.recheck = False
    base, before = event.base, (session.base_commit, session.upstream)
    session.base_commit, session.base_uncommitted = base.commit, base.uncommitted
    session.upstream, session.brought = base.upstream or session.upstream, event.brought
    if (session.base_commit, session.upstream) != before:
        yield telling.received(session)


def _is_current(session: Session, event: DocumentWritten | PlanAnalysed) -> bool:
    revision = event.document.revision if isinstance(event, DocumentWritten) else event.revision
    return bool(session.spec and revision == session.spec.revision)


def _take(session: Session, event: DocumentWritten) -> None:
    session.documents = (*session.documents, event.document)
    if event.document.kind is DocumentKind.TASKS:
        session.tasks = tasks_from(session, event)
        session.parallelism = min(event.parallelism, session.most_at_once)
        session.score = event.score


def tasks_from(session: Session, event: DocumentWritten) -> list[Task]:
    """The drafts as tasks. What was begun in an earlier round stays as it is; ids follow from the session and the
    revision, so that writing twice changes nothing."""
    revision = event.document.revision
    begun = [task for task in session.tasks if task.runs or task.state in place.SETTLED]
    fresh = [draft for draft in event.drafts if draft.key not in {task.key for task in begun}]
    ids = {task.key: task.id for task in begun}
    ids |= {d.key: naming.derived_id(session.id, "task", d.key, str(revision)) for d in fresh}
    graph = spec_kit.graph(event.drafts)
    return [
        *begun,
        *(
            task_from(
                draft,
                id=ids[draft.key],
                number=number,
                dependencies=tuple(ids[key] for key in sorted(graph[draft.key]) if key in ids),
                at=event.at,
            )
            for number, draft in enumerate(fresh, len(begun) + 1)
        ),
    ]


def _analysed(session: Session, event: PlanAnalysed) -> Iterator[Deed]:
    """What is critical is mended before anybody sees it, twice at most."""
    session.analysis = event.analysis.model_copy(update={"score": session.score})
    session.forecast = event.forecast
    session.alone, session.approvers = event.policy.alone, event.policy.approvers
    session.others_approve = event.policy.others
    session.analysed = True
    session.test_problem = event.test_problem
    if event.analysis.critical and session.repairs < revise.MAX_REPAIRS:
        session.repairs += 1
        session.previous, session.documents = session.documents, ()
        session.analysed = False
        return
    if session.seen:
        since = session.seen[0].revision
        before, now = session.seen_tasks, drafts_of(session.tasks)
        session.difference = spec_kit.difference(
            session.seen, session.documents, before, now, since
        )
    yield from ()


def _judged(session: Session, event: WordsJudged) -> Iterator[Deed]:
    words = replies.judged(session, event.words_id)
    if words is None:
        return
    if event.what is not WordKind.CHANGE:
        yield from replies.answered(session, event, words)
        return
    revise.anew(session, words.text)
    title = f"I am planning again with what {words.by} said."
    yield telling.planning_again(session, title, words.text)


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
