"""Everything a session can want done. Each action is safe to do twice: it is done again after a crash.

Orders follow from the state (`bot/flow/due.py`): while the state demands one it is under way, and when the state
no longer does it is called off. Deeds follow from an event, once each.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.domain.actions.deeds import Deed, Relink, Show, ShowLogs, StopRun, Whisper
from bot.domain.actions.planning import (
    AnalysePlan,
    ChooseStep,
    CommitDocuments,
    FindQuestions,
    JudgeContinuation,
    JudgeImpact,
    JudgeWords,
    LookAtBase,
    OpenSession,
    PassOn,
    Planning,
    ReadAnswers,
    ScanRepository,
    SummariseTalk,
    Survey,
    WriteDocument,
)
from bot.domain.actions.shipping import (
    CleanUp,
    DescribeWork,
    JudgeWhole,
    MergeLocally,
    MergePull,
    OpenPull,
    Shipping,
    SumUp,
    TakeInBase,
    WatchPulls,
)
from bot.domain.actions.wish import Wish
from bot.domain.actions.working import (
    AnswerDialog,
    AwaitRun,
    CheckBase,
    HoldPlace,
    JudgeWork,
    ListBranches,
    LookAtWork,
    LookIn,
    PrepareWorkspace,
    ReplanTask,
    RunCheck,
    StartRun,
    WaitUntil,
    Working,
)

__all__ = [
    "Action",
    "AnalysePlan",
    "AnswerDialog",
    "AwaitRun",
    "CheckBase",
    "ChooseStep",
    "CleanUp",
    "CommitDocuments",
    "Deed",
    "DescribeWork",
    "FindQuestions",
    "HoldPlace",
    "JudgeContinuation",
    "JudgeImpact",
    "JudgeWhole",
    "JudgeWords",
    "JudgeWork",
    "ListBranches",
    "LookAtBase",
    "LookAtWork",
    "LookIn",
    "MergeLocally",
    "MergePull",
    "OpenPull",
    "OpenSession",
    "Order",
    "PassOn",
    "Planning",
    "PrepareWorkspace",
    "ReadAnswers",
    "Relink",
    "ReplanTask",
    "RunCheck",
    "ScanRepository",
    "Shipping",
    "Show",
    "ShowLogs",
    "StartRun",
    "StopRun",
    "SumUp",
    "SummariseTalk",
    "Survey",
    "TakeInBase",
    "WaitUntil",
    "WatchPulls",
    "Whisper",
    "Wish",
    "Working",
    "WriteDocument",
]

Order = Planning | Working | Shipping
"""Work that the state demands."""

Action = Annotated[Order | Deed, Field(discriminator="kind")]
