"""Do one action in the world and say what came of it. One case per action, in the order of actions.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from bot.domain.actions import (
    Action,
    AnalysePlan,
    AnswerDialog,
    AwaitRun,
    CheckBase,
    ChooseStep,
    CleanUp,
    CommitDocuments,
    Deed,
    DescribeWork,
    FindQuestions,
    HoldPlace,
    JudgeContinuation,
    JudgeImpact,
    JudgeWhole,
    JudgeWords,
    JudgeWork,
    ListBranches,
    LookAtBase,
    LookAtWork,
    LookIn,
    MergeLocally,
    MergePull,
    OpenPull,
    OpenSession,
    PassOn,
    Planning,
    PrepareWorkspace,
    ReadAnswers,
    Relink,
    ReplanTask,
    RunCheck,
    ScanRepository,
    Shipping,
    Show,
    ShowLogs,
    StartRun,
    StopRun,
    SummariseTalk,
    SumUp,
    Survey,
    TakeInBase,
    WaitUntil,
    WatchPulls,
    Whisper,
    Working,
    WriteDocument,
)
from bot.domain.events import Event
from bot.domain.session import Session
from bot.engine.perform import (
    checking,
    ending,
    heeding,
    judging,
    moving,
    opening,
    planning,
    running,
    shipping,
    surveying,
    telling,
    testing,
    upstream,
)
from bot.engine.world import World

Tell = Callable[[Event], None]


async def perform(world: World, session: Session, action: Action, tell: Tell) -> Event | None:
    if isinstance(action, Planning):
        return await _planned(world, session, action)
    if isinstance(action, Working):
        return await _carried_out(world, session, action, tell)
    if isinstance(action, Shipping):
        return await _shipped(world, session, action, tell)
    return await _done_once(world, session, action)


async def _planned(world: World, session: Session, order: Planning) -> Event:  # noqa: C901 - one case per order
    match order:
        case Survey():
            return await surveying.survey(world, session, order)
        case ScanRepository():
            return await surveying.scan(world, session, order)
        case FindQuestions():
            return await planning.find_questions(world, session, order)
        case ReadAnswers():
            return await planning.read_answers(world, session, order)
        case WriteDocument():
            return await planning.write_document(world, session, order)
        case AnalysePlan():
            return await planning.analyse_plan(world, session, order)
        case LookAtBase():
            return await upstream.look_at_base(world, session, order)
        case CommitDocuments():
            return await planning.commit_documents(world, session, order)
        case JudgeWords():
            return await judging.judge_words(world, session, order)
        case JudgeImpact():
            return await judging.judge_impact(world, session, order)
        case JudgeContinuation():
            return await judging.judge_continuation(world, session, order)
        case ChooseStep():
            return await judging.choose_step(world, session, order)
        case OpenSession():
            return await opening.open_session(world, session, order)
        case PassOn():
            return await opening.pass_on(world, session, order)
        case SummariseTalk():
            return await judging.summarise_talk(world, session, order)
        case _:
            assert_never(order)


async def _carried_out(  # noqa: C901 - one case per order
    world: World, session: Session, order: Working, tell: Tell
) -> Event | None:
    match order:
        case HoldPlace():
            return await surveying.hold_place(world, session, order, tell)
        case ListBranches():
            return await surveying.list_branches(world, session, order)
        case PrepareWorkspace():
            return await running.prepare_workspace(world, session, order)
        case StartRun():
            return await running.start_run(world, session, order)
        case AwaitRun():
            return await running.await_run(world, session, order, tell)
        case AnswerDialog():
            return await running.answer_dialog(world, session, order)
        case LookIn():
            return await heeding.look_in(world, session, order)
        case WaitUntil():
            return await running.wait_until(world, order)
        case LookAtWork():
            return await checking.look_at_work(world, session, order)
        case CheckBase():
            return await testing.check_base(world, session, order)
        case RunCheck():
            return await checking.run_check(world, session, order)
        case JudgeWork():
            return await judging.judge_work(world, session, order)
        case ReplanTask():
            return await judging.replan_task(world, session, order)
        case _:
            assert_never(order)


async def _shipped(world: World, session: Session, order: Shipping, tell: Tell) -> Event | None:
    match order:
        case DescribeWork():
            return await judging.describe_work(world, session, order)
        case OpenPull():
            return await shipping.open_pull(world, session, order)
        case WatchPulls():
            return await shipping.watch_pulls(world, session, order, tell)
        case MergePull():
            return await shipping.merge_pull(world, session, order, tell)
        case TakeInBase():
            return await shipping.take_in_base(world, session, order)
        case JudgeWhole():
            return await judging.judge_whole(world, session, order)
        case MergeLocally():
            return await ending.merge_locally(world, session, order)
        case CleanUp():
            return await ending.clean_up(world, session, order)
        case SumUp():
            return await ending.sum_up(world, session, order)
        case _:
            assert_never(order)


async def _done_once(world: World, session: Session, deed: Deed) -> Event | None:
    match deed:
        case Show(card=card):
            return await telling.show(world, session, card)
        case Whisper(to=to, card=card):
            return await telling.whisper(world, session, to, card)
        case ShowLogs():
            return await telling.show_logs(world, session, deed)
        case StopRun():
            return await running.stop_run(world, session, deed)
        case Relink():
            return await moving.relink(world, session, deed)
        case _:
            assert_never(deed)
