"""Has the model judge what people say. It only looks: done twice it is the same, and only the last result counts."""

from __future__ import annotations

import logging

from bot.core.actions import JudgeContinuation, JudgeImpact, JudgeWords, SummariseTalk
from bot.core.errors import Refused
from bot.core.events import ContinuationJudged, ImpactJudged, TalkSummarised, WordsJudged
from bot.core.llm import Usage
from bot.core.session import Session, Words
from bot.core.world import World, performs
from bot.steps.change.questions import impact
from bot.steps.talk import questions

log = logging.getLogger("bot.perform")


@performs(JudgeWords)
async def judge_words(world: World, session: Session, order: JudgeWords) -> WordsJudged:
    words = _words(session, order.words_id)
    found, usage = await questions.judge_words(world.llm, session, words)
    found = world.masker.mask_model(found)
    return WordsJudged(
        **world.mark(),
        answers=order.key,
        usage=usage,
        words_id=words.id,
        what=found.kind,
        reply=found.reply,
        reason=found.reason,
    )


@performs(JudgeImpact)
async def judge_impact(world: World, session: Session, order: JudgeImpact) -> ImpactJudged:
    change = session.change
    if change is None or change.id != order.change_id:
        raise Refused("that change is no longer wanted")
    found, usage = await impact(world.llm, session, change)
    return ImpactJudged(
        **world.mark(),
        answers=order.key,
        usage=usage,
        change_id=change.id,
        affected=world.masker.mask_model(found.affected),
        reason=world.masker.mask(found.reason),
    )


@performs(JudgeContinuation)
async def judge_continuation(
    world: World, session: Session, order: JudgeContinuation
) -> ContinuationJudged:
    words = _words(session, order.words_id)
    found, usage = await questions.continuation(world.llm, session, words)
    found = world.masker.mask_model(found)
    return ContinuationJudged(
        **world.mark(),
        answers=order.key,
        usage=usage,
        words_id=words.id,
        what=found.verdict,
        reason=found.reason,
        reply=found.reply,
    )


def _words(session: Session, words_id: str) -> Words:
    found = next((words for words in session.words if words.id == words_id), None)
    if found is None:
        raise Refused("what was said no longer waits to be judged")
    return found


@performs(SummariseTalk)
async def summarise_talk(world: World, session: Session, order: SummariseTalk) -> TalkSummarised:
    """Nothing may fail over it: should the model refuse, the beginnings of what was said will do."""
    messages = session.conversation[: order.messages]
    try:
        summary, usage = await questions.summarise(world.llm, session, messages)
    except Refused as refusal:
        log.warning("not summarised", extra={"data": {"id": session.id, "why": refusal.reason}})
        summary, usage = questions.plain_summary(messages), Usage()
    return TalkSummarised(
        **world.mark(),
        answers=order.key,
        usage=usage,
        summary=world.masker.mask(summary),
        messages=len(messages),
    )
