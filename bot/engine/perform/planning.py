"""Questions and documents: the model is asked, its answer is checked, the files are committed on the spec branch."""

from __future__ import annotations

from bot.domain.actions import CommitDocuments, FindQuestions, WriteDocument
from bot.domain.approval import sha256
from bot.domain.events import DocumentsCommitted, DocumentWritten, QuestionsFound
from bot.domain.session import Document, DocumentKind, Session
from bot.domain.tasks import Workspace
from bot.engine import brain
from bot.engine.world import World
from bot.errors import Refused


async def find_questions(world: World, session: Session, order: FindQuestions) -> QuestionsFound:
    found, usage = await brain.questions(world.llm, session)
    found = world.masker.mask_model(found)
    return QuestionsFound(
        **world.mark(),
        answers=order.key,
        usage=usage,
        title=found.title,
        type=found.type,
        risk=found.risk,
        questions=found.numbered(),
    )


async def write_document(world: World, session: Session, order: WriteDocument) -> DocumentWritten:
    today = world.clock.now().date()
    written, usage = await brain.document(world.llm, session, order.document, today)
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
    )


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
        raise explained(refusal, workspace) from refusal
    files = {f"{spec.directory}/{kind.file}": _text(session, kind) for kind in DocumentKind}
    message = f"docs({spec.id}): specification, revision {order.revision}"
    commit = await world.worktrees.commit_files(workspace.path, files, message)
    return DocumentsCommitted(
        **world.mark(),
        answers=order.key,
        workspace=workspace.model_copy(update={"ready": True, "start": session.base_commit}),
        commit=commit,
    )


def explained(refusal: Refused, workspace: Workspace) -> Refused:
    """`taken` is a word between programs; people get a sentence."""
    if refusal.reason != "taken":
        return refusal
    reason = f"The branch {workspace.branch} or its worktree is there already, and is not mine."
    return Refused(reason, refusal.remedy)


def _text(session: Session, kind: DocumentKind) -> str:
    document = session.document(kind)
    return document.text if document else ""
