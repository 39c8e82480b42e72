"""Do one action in the world and say what came of it. One case per action, in the order of actions.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from bot.domain.actions import (
    Action,
    AwaitRun,
    CleanUp,
    CommitDocuments,
    FindQuestions,
    HoldPlace,
    ListBranches,
    LookAtWork,
    MergeLocally,
    PrepareWorkspace,
    RunCheck,
    ScanRepository,
    Show,
    StartRun,
    StopRun,
    Survey,
    Whisper,
    WriteDocument,
)
from bot.domain.events import Event
from bot.domain.session import Session
from bot.engine.perform import checking, ending, planning, running, surveying, telling
from bot.engine.world import World

Tell = Callable[[Event], None]


async def perform(world: World, session: Session, action: Action, tell: Tell) -> Event | None:  # noqa: C901 - one case per action
    match action:
        case Survey():
            return await surveying.survey(world, session, action)
        case ScanRepository():
            return await surveying.scan(world, session, action)
        case FindQuestions():
            return await planning.find_questions(world, session, action)
        case WriteDocument():
            return await planning.write_document(world, session, action)
        case CommitDocuments():
            return await planning.commit_documents(world, session, action)
        case HoldPlace():
            return await surveying.hold_place(world, session, action, tell)
        case ListBranches():
            return await surveying.list_branches(world, session, action)
        case PrepareWorkspace():
            return await running.prepare_workspace(world, session, action)
        case StartRun():
            return await running.start_run(world, session, action)
        case AwaitRun():
            return await running.await_run(world, session, action)
        case LookAtWork():
            return await checking.look_at_work(world, session, action)
        case RunCheck():
            return await checking.run_check(world, session, action)
        case MergeLocally():
            return await ending.merge_locally(world, session, action)
        case CleanUp():
            return await ending.clean_up(world, session, action)
        case Show(card=card):
            return await telling.show(world, session, card)
        case Whisper(to=to, card=card):
            return await telling.whisper(world, session, to, card)
        case StopRun():
            return await running.stop_run(world, session, action)
        case _:
            assert_never(action)
