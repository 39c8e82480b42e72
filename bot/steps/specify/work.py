"""Has the documents written and analysed, decides who must approve them, and commits them on the spec branch."""

from __future__ import annotations

from bot.core.actions import CommitDocuments, WriteDocument
from bot.core.approval import sha256
from bot.core.errors import Refused
from bot.core.events import ChoicesFound, DocumentsCommitted, DocumentWritten
from bot.core.plan import Document, DocumentKind
from bot.core.session import Session
from bot.core.task import Workspace
from bot.core.world import World, performs
from bot.steps.asking import for_its_model
from bot.steps.looking import Looker
from bot.steps.prompt_data import document_text
from bot.steps.specify import questions
from bot.steps.workspaces import explain_taken

MOST_HISTORY = 20


@performs(WriteDocument)
async def write_document(
    world: World, session: Session, order: WriteDocument
) -> DocumentWritten | ChoicesFound:
    today = world.clock.now().date()
    session = await for_its_model(world, session)
    looker = Looker.of(world, session)
    written, usage = await questions.draft_document(
        world.llm, session, order.document, today, looker
    )
    looks = tuple(looker.seen) if looker else ()
    if written.choices:
        return ChoicesFound(
            **world.mark(),
            answers=order.key,
            usage=usage,
            looks=looks,
            revision=order.revision,
            questions=written.choices,
        )
    # people approve the digest of this text, so it is masked before the digest is computed
    text = world.masker.mask(written.text)
    return DocumentWritten(
        **world.mark(),
        answers=order.key,
        usage=usage,
        looks=looks,
        document=Document(
            kind=order.document, revision=order.revision, text=text, sha256=sha256(text)
        ),
        drafts=written.drafts,
        parallelism=written.parallelism,
        score=written.score,
    )


@performs(CommitDocuments)
async def commit_documents(
    world: World, session: Session, order: CommitDocuments
) -> DocumentsCommitted:
    """Commit the documents on the spec branch.

    Idempotent: the worktree is reused, and unchanged files make no second commit.
    """
    spec = session.plan.spec
    if spec is None:
        raise Refused("this session has no specification yet")
    workspace = spec.workspace
    try:
        await world.worktrees.prepare(
            session.repository.path,
            workspace.branch,
            workspace.path,
            session.repository.base_commit,
        )
    except Refused as refusal:
        raise explain_taken(refusal, workspace) from refusal
    await _merge_base(world, session, workspace)
    files = {f"{spec.directory}/{kind.file}": document_text(session, kind) for kind in DocumentKind}
    message = f"docs({spec.id}): specification, revision {order.revision}"
    commit = await world.worktrees.commit_files(workspace.path, files, message)
    return DocumentsCommitted(
        **world.mark(),
        answers=order.key,
        workspace=workspace.model_copy(
            update={"ready": True, "start": session.repository.base_commit}
        ),
        commit=commit,
    )


async def _merge_base(world: World, session: Session, workspace: Workspace) -> None:
    # Agents start from the spec branch, so it must contain the base that the plan was made for, even if the base has
    # moved.
    message = f"chore: bring {session.repository.base_branch} into the plan"
    merged = await world.worktrees.merge(workspace.path, session.repository.base_commit, message)
    if merged.conflicts:
        raise Refused(
            f"{session.repository.base_branch} and the plan's branch {workspace.branch} collide in {', '.join(merged.conflicts)}",
            f"Settle that on the branch {workspace.branch}, then try again.",
        )
