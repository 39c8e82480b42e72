"""What people say and what happens is judged by the model; what it cannot judge is left to the flow's defaults.

All of it only looks: done twice it is the same, and only the last result counts.
"""

from __future__ import annotations

import logging

from bot.domain.actions import (
    ChooseStep,
    DescribeWork,
    JudgeContinuation,
    JudgeImpact,
    JudgeWhole,
    JudgeWords,
    JudgeWork,
    ReplanTask,
    SummariseTalk,
)
from bot.domain.events import (
    ContinuationJudged,
    ImpactJudged,
    StepChosen,
    TalkSummarised,
    TaskReplanned,
    WholeJudged,
    WordsJudged,
    WorkDescribed,
    WorkJudged,
)
from bot.domain.session import Session
from bot.domain.steps import Step
from bot.domain.tasks import PullText, Task
from bot.domain.words import Words
from bot.domain.world import Usage
from bot.engine.brain import final, judging, replanning, texts
from bot.engine.brain.impact import impact
from bot.engine.world import World
from bot.errors import PortError, Refused

log = logging.getLogger("bot.perform")

LONGEST_DIFF = 100_000
"""Characters that are read of a patch; what the model is shown of it is much less."""


async def judge_words(world: World, session: Session, order: JudgeWords) -> WordsJudged:
    words = _words(session, order.words_id)
    found, usage = await judging.judge_words(world.llm, session, words)
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


async def judge_continuation(
    world: World, session: Session, order: JudgeContinuation
) -> ContinuationJudged:
    words = _words(session, order.words_id)
    found, usage = await judging.continuation(world.llm, session, words)
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


async def choose_step(world: World, session: Session, order: ChooseStep) -> StepChosen:
    """Work must not wait for the model: while it cannot be asked the flow takes the default."""
    step, task = _step(session, order.step_id)
    try:
        found, usage = await judging.next_step(world.llm, session, step, task)
    except PortError as trouble:
        log.warning("step not chosen", extra={"data": {"step": step.id, "why": trouble.reason}})
        found, usage = judging.StepReply(choice="", reason=trouble.reason), Usage()
    return StepChosen(
        **world.mark(),
        answers=order.key,
        usage=usage,
        step_id=step.id,
        option=found.choice,
        reason=world.masker.mask(found.reason),
    )


def _step(session: Session, step_id: str) -> tuple[Step, Task | None]:
    """The step, and the task it is about; none: it is about the session."""
    if session.step and session.step.id == step_id:
        return session.step, None
    for task in session.tasks:
        if task.step and task.step.id == step_id:
            return task.step, task
    raise Refused("that choice no longer waits")


async def summarise_talk(world: World, session: Session, order: SummariseTalk) -> TalkSummarised:
    """Nothing may fail over it: should the model refuse, the beginnings of what was said will do."""
    messages = session.conversation[: order.messages]
    try:
        summary, usage = await judging.summarise(world.llm, session, messages)
    except Refused as refusal:
        log.warning("not summarised", extra={"data": {"id": session.id, "why": refusal.reason}})
        summary, usage = judging.plain_summary(messages), Usage()
    return TalkSummarised(
        **world.mark(),
        answers=order.key,
        usage=usage,
        summary=world.masker.mask(summary),
        messages=len(messages),
    )


async def describe_work(world: World, session: Session, order: DescribeWork) -> WorkDescribed:
    """A finished task never waits for its description: without the model or the worktree facts will do."""
    task = session.task(order.task_id)
    if task is None:
        raise Refused("that task is no longer part of the plan")
    try:
        text, usage = await _described(world, session, task)
    except PortError as trouble:
        log.warning("work not described", extra={"data": {"task": task.id, "why": trouble.reason}})
        text, usage = texts.plain_pull_text(session, task, task.checks[-1:]), Usage()
    return WorkDescribed(
        **world.mark(),
        answers=order.key,
        usage=usage,
        task_id=task.id,
        text=world.masker.mask_model(text),
    )


async def _described(world: World, session: Session, task: Task) -> tuple[PullText, Usage]:
    workspace = task.workspace
    if workspace is None:
        raise Refused("it never had a worktree")
    diff = await world.worktrees.diff(workspace.path, workspace.start, LONGEST_DIFF)
    # before it is cut: half a key would not be known for one
    masked = world.masker.mask(diff)
    return await texts.describe(world.llm, session, task, masked, task.checks[-1:])


async def judge_work(world: World, session: Session, order: JudgeWork) -> WorkJudged:
    """While the model does not answer it is waited for; one that cannot be used leaves the verdict to the facts."""
    task = session.task(order.task_id)
    if task is None or task.workspace is None:
        raise Refused("that task is no longer part of the plan")
    where, since = task.workspace.path, task.workspace.start
    # of that commit, whatever is checked out by now: it is what will be published
    diff = await world.worktrees.diff(where, since, LONGEST_DIFF, order.commit)
    # before it is cut: half a key would not be known for one
    masked = world.masker.mask(diff)
    try:
        reply, usage = await texts.judge(world.llm, session, task, masked, task.flags, task.report)
    except Refused as refusal:
        log.warning("not judged", extra={"data": {"task": task.id, "why": refusal.reason}})
        reply, usage = texts.plain_verdict(task), Usage()
    return WorkJudged(
        **world.mark(),
        answers=order.key,
        usage=usage,
        task_id=task.id,
        commit=order.commit,
        verdict=world.masker.mask_model(reply.at(world.clock.now())),
    )


async def replan_task(world: World, session: Session, order: ReplanTask) -> TaskReplanned:
    task = session.task(order.task_id)
    if task is None:
        raise Refused("that task is no longer part of the plan")
    smaller, usage = await replanning.replan(world.llm, session, task, task.replan_reason)
    return TaskReplanned(
        **world.mark(),
        answers=order.key,
        usage=usage,
        task_id=task.id,
        smaller=tuple(world.masker.mask_model(one) for one in smaller),
    )


async def judge_whole(world: World, session: Session, order: JudgeWhole) -> WholeJudged:
    """Facts decide where the model cannot be used: the end never waits for its opinion."""
    try:
        verdict, proposed, usage = await final.judge_whole(world.llm, session, world.clock.now())
    except Refused as refusal:
        log.warning("whole not judged", extra={"data": {"id": session.id, "why": refusal.reason}})
        verdict, proposed, usage = final.plain_verdict(session, world.clock.now()), (), Usage()
    return WholeJudged(
        **world.mark(),
        answers=order.key,
        usage=usage,
        verdict=world.masker.mask_model(verdict),
        proposed=tuple(world.masker.mask_model(one) for one in proposed),
    )
