"""From answers to spec.md, plan.md and tasks.md: written, compared with each other, repaired, and committed."""

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
    ChoicesFound,
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
from bot.core.session import Session, Speaker
from bot.core.spec_kit import comparison, drafts
from bot.core.states import Phase
from bot.core.talk import WordKind
from bot.core.task import Task, drafts_of, task_from
from bot.steps import messages, plan
from bot.steps.approve import rules as approve
from bot.steps.blocked import troubles
from bot.steps.clarify import rules as clarify
from bot.steps.talk import rules as talk
from bot.steps.verify import test_command


def decide(session: Session, event: Event) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case BaseSeen():
            yield from _looked_at_base(session, event)
        case Scanned(scan=scan):
            session.repository.scan = scan
            test_command.take_scan(session, scan)
        case DocumentWritten() if _is_current(session, event):
            _take_document(session, event)
        case ChoicesFound() if session.plan.spec and event.revision == messages.revision(session):
            yield from clarify.ask_while_planning(session, event)
        case PlanAnalysed() if _is_current(session, event):
            yield from _analysed(session, event)
        case DocumentsCommitted() if session.plan.spec:
            session.plan.spec = session.plan.spec.model_copy(
                update={"workspace": event.workspace, "commit": event.commit}
            )
            session.plan.shown_at = event.at
            session.enter(Phase.APPROVING)
            yield from _present(session, event)
            yield from (
                approve.spec_written(session, event)
                if session.request.spec_only
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
    # Each revision is based on the current base; the first card is updated to say which commit that is.
    session.approval.checking_base = False
    base, before = event.base, (session.repository.base_commit, session.repository.upstream)
    session.repository.base_commit, session.repository.uncommitted = base.commit, base.uncommitted
    session.repository.upstream, session.repository.agent_settings = (
        base.upstream or session.repository.upstream,
        event.brought,
    )
    if (session.repository.base_commit, session.repository.upstream) != before:
        yield messages.received(session)


def _is_current(session: Session, event: DocumentWritten | PlanAnalysed) -> bool:
    revision = event.document.revision if isinstance(event, DocumentWritten) else event.revision
    return bool(session.plan.spec and revision == session.plan.spec.revision)


def _take_document(session: Session, event: DocumentWritten) -> None:
    session.plan.documents = (*session.plan.documents, event.document)
    if event.document.kind is DocumentKind.TASKS:
        session.tasks = tasks_from(session, event)
        session.plan.parallelism = min(event.parallelism, session.agents.most_at_once)
        session.plan.score = event.score


def tasks_from(session: Session, event: DocumentWritten) -> list[Task]:
    """Return the drafts as tasks.

    Tasks begun in an earlier round stay; ids are derived from session and revision, so that the result is the same when
    repeated.
    """
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
    """Have critical findings repaired before anybody sees the plan, twice at most."""
    session.plan.analysis = event.analysis.model_copy(update={"score": session.plan.score})
    session.plan.forecast = event.forecast
    session.approval.automatic, session.approval.required = (
        event.policy.alone,
        event.policy.approvers,
    )
    session.approval.others_only = event.policy.others
    session.plan.analysed = True
    session.tests.problem = event.test_problem
    if event.analysis.critical and session.plan.repairs < plan.MAX_REPAIRS:
        session.plan.repairs += 1
        session.plan.previous_documents, session.plan.documents = session.plan.documents, ()
        session.plan.analysed = False
        return
    if session.plan.shown_documents:
        since = session.plan.shown_documents[0].revision
        before, now = session.plan.shown_tasks, drafts_of(session.tasks)
        session.plan.difference = comparison.difference(
            session.plan.shown_documents, session.plan.documents, before, now, since
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
    spec = session.plan.spec
    for document in session.plan.documents:
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


# Orders until the documents are committed.


def due(session: Session) -> Iterator[Order]:
    if session.plan.spec is None:
        return
    revision = session.plan.spec.revision
    missing = next((kind for kind in DocumentKind if session.plan.document(kind) is None), None)
    if session.approval.checking_base:
        yield LookAtBase()
    elif (
        session.repository.scan is None
        or session.repository.scan.commit != session.repository.base_commit
    ):
        yield ScanRepository()
    elif missing:
        yield WriteDocument(document=missing, revision=revision)
    elif not session.plan.analysed:
        yield AnalysePlan(revision=revision)
    else:
        yield CommitDocuments(revision=revision)
