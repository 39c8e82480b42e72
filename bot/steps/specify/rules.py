"""From answers to spec.md, plan.md and tasks.md: written, checked against each other, mended, and committed."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core import naming
from bot.core.actions import (
    AnalysePlan,
    CommitDocuments,
    Deed,
    LookAtBase,
    Order,
    ScanRepository,
    Show,
    WriteDocument,
)
from bot.core.cards import DocumentCard
from bot.core.events import (
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
from bot.core.plan import DocumentKind
from bot.core.session import Session, Speaker, WordKind
from bot.core.spec_kit import comparison, drafts
from bot.core.states import Phase
from bot.core.task import Task, drafts_of, task_from
from bot.steps import messages, plan
from bot.steps.approve import rules as approve
from bot.steps.blocked import troubles
from bot.steps.talk import rules as talk
from bot.steps.verify import test_command


def decide(session: Session, event: Event) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case BaseSeen():
            yield from _looked_at_base(session, event)
        case Scanned(scan=scan):
            session.scan = scan
            test_command.take_scan(session, scan)
        case DocumentWritten() if _is_current(session, event):
            _take_document(session, event)
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
                approve.spec_written(session, event)
                if session.spec_only
                else approve.approve_low_risk(session, event)
            )
        case WordsJudged():
            yield from _judged(session, event)
        case OrderFailed(what="judge_words"):
            yield from talk.words_not_judged(session, event)
        case OrderFailed():
            yield from troubles.fail_on_refusal(session, event)
        case Said(text=text):
            yield from talk.message_heard(session, event, text)
        case Pressed():
            yield messages.stale_press(session, event)
        case _:
            pass


def _looked_at_base(session: Session, event: BaseSeen) -> Iterator[Deed]:
    """Each revision is made for the base as it is then; the first card says which one that is."""
    session.recheck = False
    base, before = event.base, (session.base_commit, session.upstream)
    session.base_commit, session.base_uncommitted = base.commit, base.uncommitted
    session.upstream, session.brought = base.upstream or session.upstream, event.brought
    if (session.base_commit, session.upstream) != before:
        yield messages.received(session)


def _is_current(session: Session, event: DocumentWritten | PlanAnalysed) -> bool:
    revision = event.document.revision if isinstance(event, DocumentWritten) else event.revision
    return bool(session.spec and revision == session.spec.revision)


def _take_document(session: Session, event: DocumentWritten) -> None:
    session.documents = (*session.documents, event.document)
    if event.document.kind is DocumentKind.TASKS:
        session.tasks = tasks_from(session, event)
        session.parallelism = min(event.parallelism, session.most_at_once)
        session.score = event.score


def tasks_from(session: Session, event: DocumentWritten) -> list[Task]:
    """The drafts as tasks. What was begun in an earlier round stays as it is; ids follow from the session and the
    revision, so that writing twice changes nothing."""
    revision = event.document.revision
    begun = [task for task in session.tasks if task.runs or task.state in plan.SETTLED]
    fresh = [draft for draft in event.drafts if draft.key not in {task.key for task in begun}]
    ids = {task.key: task.id for task in begun}
    ids |= {d.key: naming.derived_id(session.id, "task", d.key, str(revision)) for d in fresh}
    graph = drafts.dependency_graph(event.drafts)
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
    if event.analysis.critical and session.repairs < plan.MAX_REPAIRS:
        session.repairs += 1
        session.previous, session.documents = session.documents, ()
        session.analysed = False
        return
    if session.seen:
        since = session.seen[0].revision
        before, now = session.seen_tasks, drafts_of(session.tasks)
        session.difference = comparison.difference(
            session.seen, session.documents, before, now, since
        )
    yield from ()


def _judged(session: Session, event: WordsJudged) -> Iterator[Deed]:
    words = talk.take_words(session, event.words_id)
    if words is None:
        return
    if event.what is not WordKind.CHANGE:
        yield from talk.answer_words(session, event, words)
        return
    plan.revise(session, words.text)
    title = f"I am planning again with what {words.by} said."
    yield messages.planning_again(session, title, words.text)


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
    yield messages.approval_wanted(session)


# What must be under way until the documents are committed.


def due(session: Session) -> Iterator[Order]:
    if session.spec is None:
        return
    revision = session.spec.revision
    missing = next((kind for kind in DocumentKind if session.document(kind) is None), None)
    if session.recheck:
        yield LookAtBase()
    elif session.scan is None or session.scan.commit != session.base_commit:
        yield ScanRepository()
    elif missing:
        yield WriteDocument(document=missing, revision=revision)
    elif not session.analysed:
        yield AnalysePlan(revision=revision)
    else:
        yield CommitDocuments(revision=revision)
