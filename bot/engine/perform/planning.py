"""Questions and documents: the model is asked, its answer is checked, the files are committed on the spec branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from bot.domain.actions import (
    AnalysePlan,
    CommitDocuments,
    FindQuestions,
    ReadAnswers,
    WriteDocument,
)
from bot.domain.approval import sha256
from bot.domain.documents import Document, DocumentKind
from bot.domain.events import (
    AnswersRead,
    DocumentsCommitted,
    DocumentWritten,
    PlanAnalysed,
    QuestionsFound,
    WishPart,
)
from bot.domain.forecast import forecast
from bot.domain.intent import Risk
from bot.domain.parts import Earlier
from bot.domain.people import Thread
from bot.domain.planned import Policy
from bot.domain.session import Session
from bot.domain.states import Status
from bot.domain.tampering.settings import reaches_further
from bot.domain.tasks import Workspace
from bot.engine import brain
from bot.engine.brain import EarlierSession
from bot.engine.repositories import Repositories
from bot.engine.world import Rules, World
from bot.errors import Refused

MOST_EARLIER = 10
MOST_HISTORY = 20
LONGEST_EXCERPT = 600
"""Of the specification of an earlier session."""


async def find_questions(world: World, session: Session, order: FindQuestions) -> QuestionsFound:
    earlier = _earlier(world, session)
    found, usage = await brain.understand(world.llm, session, earlier)
    found = world.masker.mask_model(found)
    there = next((one for one in earlier if one.id == found.continues), None)
    return QuestionsFound(
        **world.mark(),
        answers=order.key,
        usage=usage,
        title=found.title,
        type=found.type,
        risk=found.risk,
        risk_reasons=tuple(found.risk_reasons),
        questions=found.asked(session),
        vague=found.vague,
        dry_run=found.dry_run,
        parts=tuple(WishPart(title=part.title, body=part.body) for part in found.parts),
        earlier=Earlier(session=there.id, title=there.title, reason=found.continues_reason)
        if there
        else None,
    )


def _earlier(world: World, session: Session) -> tuple[EarlierSession, ...]:
    """Finished sessions that a request may go on with. One that was sent here, or is a part, goes on with none."""
    if session.going is not None or session.intent.parent is not None:
        return ()
    same = _finished(world, session, lambda thread: _is_near(thread, session.thread))
    known = (past for past in same if past.documents and _is_known(past, session))
    return tuple(
        EarlierSession(id=past.id, title=past.title, spec=_excerpt(past))
        for past in islice(known, MOST_EARLIER)
    )


def _is_near(there: Thread, here: Thread) -> bool:
    return (there.platform, there.workspace) == (here.platform, here.workspace)


def _is_known(past: Session, session: Session) -> bool:
    """What was said in one channel is told in no other; to oneself alone, all of one's own."""
    here, there = session.thread, past.thread
    if here.direct:
        return past.owner.id == session.owner.id
    return here.place == there.place and not there.direct


def _excerpt(past: Session) -> str:
    return _text(past, DocumentKind.SPEC)[:LONGEST_EXCERPT]


def _finished(
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


async def read_answers(world: World, session: Session, order: ReadAnswers) -> AnswersRead:
    words = next((words for words in session.words if words.id == order.words_id), None)
    if words is None:
        raise Refused("those words no longer wait to be read")
    given, usage = await brain.read_answers(world.llm, session, words)
    given = world.masker.mask_model(given)
    return AnswersRead(
        **world.mark(),
        answers=order.key,
        usage=usage,
        words_id=order.words_id,
        found=given.found,
        defaults=given.defaults,
        unclear=given.unclear,
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
        score=written.score,
    )


async def analyse_plan(world: World, session: Session, order: AnalysePlan) -> PlanAnalysed:
    analysis, usage = await brain.analyse(world.llm, session)
    return PlanAnalysed(
        **world.mark(),
        answers=order.key,
        usage=usage,
        revision=order.revision,
        analysis=world.masker.mask_model(analysis),
        forecast=forecast(tuple(islice(_finished(world, session), MOST_HISTORY))),
        policy=policy(world.rules, session),
        test_problem=await _test_problem(world, session),
    )


async def _test_problem(world: World, session: Session) -> str:
    """What whoever approves should know of the command that runs the tests. Nothing is started to find out."""
    if not session.test_command:
        return ""
    why = await world.commands.problem(session.repository, session.test_command)
    if why:
        return f"The tests cannot be run as it is: {why}"
    set_up = session.scan.set_up if session.scan else ""
    if not set_up or Repositories(world).set_up_for(session.repository):
        return ""
    return f"The tests may need `{set_up}` in each new worktree: with GWT_SET_UP={set_up} it is run there."


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
    await _on_the_base(world, session, workspace)
    files = {f"{spec.directory}/{kind.file}": _text(session, kind) for kind in DocumentKind}
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


def explained(refusal: Refused, workspace: Workspace) -> Refused:
    """`taken` is a word between programs; people get a sentence."""
    if refusal.reason != "taken":
        return refusal
    reason = f"The branch {workspace.branch} or its worktree is there already, and is not mine."
    return Refused(reason, refusal.remedy)


def _text(session: Session, kind: DocumentKind) -> str:
    document = session.document(kind)
    return document.text if document else ""
