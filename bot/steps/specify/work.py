"""Has the documents written and analysed, says who must approve them, and commits them on the spec branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from bot.core.actions import AnalysePlan, CommitDocuments, WriteDocument
from bot.core.approval import forecast, sha256
from bot.core.errors import Refused
from bot.core.events import DocumentsCommitted, DocumentWritten, PlanAnalysed
from bot.core.intent import Risk
from bot.core.people import Thread
from bot.core.plan import Document, DocumentKind, Policy
from bot.core.session import Session
from bot.core.states import Status
from bot.core.tampering.runners import reaches_further
from bot.core.task import Workspace
from bot.core.text import sentences
from bot.core.world import Rules, World, performs
from bot.steps.specify import questions
from bot.steps.workspaces import explain_taken

MOST_HISTORY = 20


def finished_sessions(
    world: World, session: Session, wanted: Callable[[Thread], bool] = lambda thread: True
) -> Iterator[Session]:
    """Completed sessions of the same repository, the newest first; each is read only when it is wanted."""
    for listed in world.store.sessions():
        if listed.id == session.id or listed.repository != session.repository:
            continue
        if listed.status != Status.COMPLETED or not wanted(listed.thread):
            continue
        record = world.store.find(listed.id)
        if record:
            yield record.session


@performs(WriteDocument)
async def write_document(world: World, session: Session, order: WriteDocument) -> DocumentWritten:
    today = world.clock.now().date()
    written, usage = await questions.document(world.llm, session, order.document, today)
    text = world.masker.mask(written.text)
    return DocumentWritten(
        **world.mark(),
        answers=order.key,
        usage=usage,
        document=Document(
            kind=order.document, revision=order.revision, text=text, sha256=sha256(text)
        ),
        drafts=world.masker.mask_model(written.drafts),
        parallelism=written.parallelism,
        score=written.score,
    )


@performs(AnalysePlan)
async def analyse_plan(world: World, session: Session, order: AnalysePlan) -> PlanAnalysed:
    analysis, usage = await questions.analyse(world.llm, session)
    return PlanAnalysed(
        **world.mark(),
        answers=order.key,
        usage=usage,
        revision=order.revision,
        analysis=world.masker.mask_model(analysis),
        forecast=forecast(tuple(islice(finished_sessions(world, session), MOST_HISTORY))),
        policy=policy(world.rules, session),
        test_problem=await _test_problem(world, session),
    )


async def _test_problem(world: World, session: Session) -> str:
    """What whoever approves should know of the commands that set up and run the tests. Nothing is started to find out."""
    command, set_up = session.test_command, session.set_up
    why = await world.commands.problem(session.repository, command) if command else ""
    # what stands behind may be made by what stands before it
    first = set_up if set_up.startswith("(") else set_up.partition(" && ")[0]
    why_not = await world.commands.problem(session.repository, first) if set_up else ""
    return sentences(
        f"The tests cannot be run as it is: {why}" if why else "",
        f"The set-up cannot be run as it is: {why_not}" if why_not else "",
    )


def policy(rules: Rules, session: Session) -> Policy:
    """Who must say yes. Nothing starts alone that no person has asked for, or whose risk nobody has judged.

    What runs elsewhere with more rights, CI, git hooks and what is installed, is of high risk whatever the model says.
    """
    risk, trusted = session.intent.risk, session.intent.source in rules.low_risk_sources
    planned = session.change.drafts if session.change else session.tasks
    reaches = any(reaches_further(path) for task in planned for path in task.files)
    high = risk is Risk.HIGH or reaches
    return Policy(
        alone=rules.low_risk_alone and risk is Risk.LOW and trusted and not reaches,
        approvers=max(1, rules.high_risk_approvers) if high else 1,
        others=high and not rules.asker_counts,
    )


@performs(CommitDocuments)
async def commit_documents(
    world: World, session: Session, order: CommitDocuments
) -> DocumentsCommitted:
    """Safe to do twice: the worktree is found again, and files that are the same make no second commit."""
    spec = session.spec
    if spec is None:
        raise Refused("this session has no specification yet")
    workspace = spec.workspace
    try:
        await world.worktrees.prepare(
            session.repository, workspace.branch, workspace.path, session.base_commit
        )
    except Refused as refusal:
        raise explain_taken(refusal, workspace) from refusal
    await _on_the_base(world, session, workspace)
    files = {f"{spec.directory}/{kind.file}": document_text(session, kind) for kind in DocumentKind}
    message = f"docs({spec.id}): specification, revision {order.revision}"
    commit = await world.worktrees.commit_files(workspace.path, files, message)
    return DocumentsCommitted(
        **world.mark(),
        answers=order.key,
        workspace=workspace.model_copy(update={"ready": True, "start": session.base_commit}),
        commit=commit,
    )


async def _on_the_base(world: World, session: Session, workspace: Workspace) -> None:
    """Agents begin where the plan stands: that must hold what the plan was made for, should the base have moved."""
    message = f"chore: bring {session.base_branch} into the plan"
    merged = await world.worktrees.merge(workspace.path, session.base_commit, message)
    if merged.conflicts:
        raise Refused(
            f"{session.base_branch} and the plan's branch {workspace.branch} collide in {', '.join(merged.conflicts)}",
            f"Settle that on the branch {workspace.branch}, then try again.",
        )


def document_text(session: Session, kind: DocumentKind) -> str:
    document = session.document(kind)
    return document.text if document else ""
