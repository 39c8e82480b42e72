"""Does one action in the world and returns the event that came of it. One case per action."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from bot.core.actions import (
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
from bot.core.events import Event
from bot.core.session import Session
from bot.core.world import World
from bot.steps import chat, repository_state
from bot.steps.clarify import work as clarify
from bot.steps.dialogs import work as dialogs
from bot.steps.execute import work as execute
from bot.steps.finish import work as finish
from bot.steps.intake import work as intake
from bot.steps.ship import work as ship
from bot.steps.specify import work as specify
from bot.steps.talk import work as talk
from bot.steps.verify import work as verify

Tell = Callable[[Event], None]


async def perform(world: World, session: Session, action: Action, tell: Tell) -> Event | None:
    if isinstance(action, Planning):
        return await _perform_planning(world, session, action)
    if isinstance(action, Working):
        return await _perform_working(world, session, action, tell)
    if isinstance(action, Shipping):
        return await _perform_shipping(world, session, action, tell)
    return await _perform_once(world, session, action)


async def _perform_planning(world: World, session: Session, order: Planning) -> Event:  # noqa: C901 - one case per order
    match order:
        case Survey():
            return await intake.survey(world, session, order)
        case ScanRepository():
            return await intake.scan(world, session, order)
        case FindQuestions():
            return await clarify.find_questions(world, session, order)
        case ReadAnswers():
            return await clarify.read_answers(world, session, order)
        case WriteDocument():
            return await specify.write_document(world, session, order)
        case AnalysePlan():
            return await specify.analyse_plan(world, session, order)
        case LookAtBase():
            return await repository_state.look_at_base(world, session, order)
        case CommitDocuments():
            return await specify.commit_documents(world, session, order)
        case JudgeWords():
            return await talk.judge_words(world, session, order)
        case JudgeImpact():
            return await talk.judge_impact(world, session, order)
        case JudgeContinuation():
            return await talk.judge_continuation(world, session, order)
        case ChooseStep():
            return await execute.choose_step(world, session, order)
        case OpenSession():
            return await intake.open_session(world, session, order)
        case PassOn():
            return await intake.pass_on(world, session, order)
        case SummariseTalk():
            return await talk.summarise_talk(world, session, order)
        case _:
            assert_never(order)


async def _perform_working(  # noqa: C901 - one case per order
    world: World, session: Session, order: Working, tell: Tell
) -> Event | None:
    match order:
        case HoldPlace():
            return await execute.hold_place(world, session, order, tell)
        case ListBranches():
            return await execute.list_branches(world, session, order)
        case PrepareWorkspace():
            return await execute.prepare_workspace(world, session, order)
        case StartRun():
            return await execute.start_run(world, session, order)
        case AwaitRun():
            return await execute.await_run(world, session, order, tell)
        case AnswerDialog():
            return await dialogs.answer_dialog(world, session, order)
        case LookIn():
            return await dialogs.look_in(world, session, order)
        case WaitUntil():
            return await execute.wait_until(world, order)
        case LookAtWork():
            return await verify.look_at_work(world, session, order)
        case CheckBase():
            return await verify.check_base(world, session, order)
        case RunCheck():
            return await verify.run_check(world, session, order)
        case JudgeWork():
            return await verify.judge_work(world, session, order)
        case ReplanTask():
            return await execute.replan_task(world, session, order)
        case _:
            assert_never(order)


async def _perform_shipping(
    world: World, session: Session, order: Shipping, tell: Tell
) -> Event | None:
    match order:
        case DescribeWork():
            return await ship.describe_work(world, session, order)
        case OpenPull():
            return await ship.open_pull(world, session, order)
        case WatchPulls():
            return await ship.watch_pulls(world, session, order, tell)
        case MergePull():
            return await ship.merge_pull(world, session, order, tell)
        case TakeInBase():
            return await ship.take_in_base(world, session, order)
        case JudgeWhole():
            return await finish.judge_whole(world, session, order)
        case MergeLocally():
            return await finish.merge_locally(world, session, order)
        case CleanUp():
            return await finish.clean_up(world, session, order)
        case SumUp():
            return await finish.sum_up(world, session, order)
        case _:
            assert_never(order)


async def _perform_once(world: World, session: Session, deed: Deed) -> Event | None:
    match deed:
        case Show(card=card):
            return await chat.show(world, session, card)
        case Whisper(to=to, card=card):
            return await chat.whisper(world, session, to, card)
        case ShowLogs():
            return await chat.show_logs(world, session, deed)
        case StopRun():
            return await execute.stop_run(world, session, deed)
        case Relink():
            return await repository_state.relink(world, session, deed)
        case _:
            assert_never(deed)
