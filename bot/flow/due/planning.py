"""What must be under way until agents start, and for what people say meanwhile and afterwards."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import tokens
from bot.domain.actions import (
    AnalysePlan,
    CleanUp,
    CommitDocuments,
    FindQuestions,
    JudgeContinuation,
    JudgeWords,
    LookAtBase,
    OpenSession,
    Order,
    PassOn,
    ScanRepository,
    SummariseTalk,
    SumUp,
    Survey,
    WriteDocument,
)
from bot.domain.documents import DocumentKind
from bot.domain.parts import Going
from bot.domain.session import Session
from bot.domain.states import Phase, Status
from bot.domain.words import ChangeStage, Words
from bot.flow import replies, wizard


def understanding(session: Session) -> Iterator[Order]:
    going = session.going
    if not session.base_commit:
        yield Survey()
    elif session.scan is None:
        yield ScanRepository()
    elif not session.asked:
        yield FindQuestions()
    elif going and going.where is Going.SPLIT:
        yield from _opening(session)
    elif going and going.where is Going.ELSEWHERE and session.earlier:
        yield PassOn(session=session.earlier.session)


def _opening(session: Session) -> Iterator[Order]:
    for part in session.parts:
        if part.thread is None:
            yield OpenSession(session=part.session)


def specifying(session: Session) -> Iterator[Order]:
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


def over(session: Session) -> Iterator[Order]:
    """What is still said, and asked for, in the thread of a session that is over."""
    left = session.status is Status.DISCARDED or wizard.is_over(session)
    if left and not session.cleaned:
        yield CleanUp()
    if session.status is Status.COMPLETED and session.result and session.summary is None:
        yield SumUp(number=session.continues + 1)
    if session.status is Status.FAILED:
        return
    if words := replies.next_words(session):
        yield JudgeContinuation(words_id=words.id)
    yield from _opening(session)


def talking(session: Session) -> Iterator[Order]:
    """What people say while the work goes on; and when the talk grows too long for the model."""
    judged = (Phase.SPECIFYING, Phase.APPROVING, Phase.EXECUTING, Phase.FINISHING)
    words = replies.next_words(session)
    if (
        words
        and session.phase in judged
        and session.ending is None
        and may_be_judged(session, words)
    ):
        yield JudgeWords(words_id=words.id)
    if messages := tokens.talk_to_summarise(session, session.context_window):
        yield SummariseTalk(number=session.summarised + 1, messages=messages)


def may_be_judged(session: Session, words: Words) -> bool:
    """Who names the bot is heard at once; the others wait until the change under way has been put to people."""
    change = session.change
    return words.mention or change is None or change.stage is ChangeStage.AWAITING
