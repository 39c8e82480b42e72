"""Has the model read the request, and the answers to its questions."""

from __future__ import annotations

from itertools import islice

from bot.core.actions import FindQuestions, ReadAnswers
from bot.core.errors import Refused
from bot.core.events import AnswersRead, QuestionsFound, WishPart
from bot.core.people import Earlier, Thread
from bot.core.plan import DocumentKind
from bot.core.session import Session
from bot.core.world import World, performs
from bot.steps.clarify import questions
from bot.steps.clarify.questions import EarlierSession
from bot.steps.specify.work import document_text, finished_sessions

MOST_EARLIER = 10
LONGEST_EXCERPT = 600
"""Of the specification of an earlier session."""


@performs(FindQuestions)
async def find_questions(world: World, session: Session, order: FindQuestions) -> QuestionsFound:
    earlier = _earlier_sessions(world, session)
    found, usage = await questions.understand(world.llm, session, earlier)
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


def _earlier_sessions(world: World, session: Session) -> tuple[EarlierSession, ...]:
    """Finished sessions that a request may go on with. One that was sent here, or is a part, goes on with none."""
    if session.going is not None or session.intent.parent is not None:
        return ()
    same = finished_sessions(world, session, lambda thread: _is_near(thread, session.thread))
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
    return document_text(past, DocumentKind.SPEC)[:LONGEST_EXCERPT]


@performs(ReadAnswers)
async def read_answers(world: World, session: Session, order: ReadAnswers) -> AnswersRead:
    words = next((words for words in session.words if words.id == order.words_id), None)
    if words is None:
        raise Refused("those words no longer wait to be read")
    given, usage = await questions.read_answers(world.llm, session, words)
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
