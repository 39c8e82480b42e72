"""Everything that can happen to a session. An event is a fact: it carries data and a time, never behaviour.

People's events carry the platform's own id, so that hearing one twice is noticed. A result names the order it
answers, so that the order is not given again while its result still waits to be decided on.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.domain.events.happening import FromPerson, Happening, Result
from bot.domain.events.own import (
    Begun,
    Broke,
    OrderFailed,
    Ticked,
    TroubleBegan,
    TroubleEnded,
    Woken,
)
from bot.domain.events.people import (
    Commanded,
    Continued,
    FromPeople,
    Opened,
    Overheard,
    Pressed,
    Said,
)
from bot.domain.events.planning import (
    AnswersRead,
    BaseSeen,
    ContinuationJudged,
    DocumentsCommitted,
    DocumentWritten,
    ImpactJudged,
    PassedOn,
    PlanAnalysed,
    QuestionsFound,
    Scanned,
    SessionOpened,
    StepChosen,
    Surveyed,
    TalkSummarised,
    WishPart,
    WordsJudged,
    WorkDescribed,
)
from bot.domain.events.working import (
    BranchesListed,
    CheckRan,
    CleanedUp,
    MergedLocally,
    NameTaken,
    PlaceAwaited,
    PlaceGranted,
    RunEnded,
    RunStarted,
    RunStopped,
    SummedUp,
    WorkSeen,
    WorkspaceReady,
)

__all__ = [
    "AnswersRead",
    "BaseSeen",
    "Begun",
    "BranchesListed",
    "Broke",
    "CheckRan",
    "CleanedUp",
    "Commanded",
    "ContinuationJudged",
    "Continued",
    "DocumentWritten",
    "DocumentsCommitted",
    "Event",
    "FromPeople",
    "FromPerson",
    "Happening",
    "ImpactJudged",
    "MergedLocally",
    "NameTaken",
    "Opened",
    "OrderFailed",
    "Overheard",
    "PassedOn",
    "PlaceAwaited",
    "PlaceGranted",
    "PlanAnalysed",
    "Pressed",
    "QuestionsFound",
    "Result",
    "RunEnded",
    "RunStarted",
    "RunStopped",
    "Said",
    "Scanned",
    "SessionOpened",
    "StepChosen",
    "SummedUp",
    "Surveyed",
    "TalkSummarised",
    "Ticked",
    "TroubleBegan",
    "TroubleEnded",
    "WishPart",
    "Woken",
    "WordsJudged",
    "WorkDescribed",
    "WorkSeen",
    "WorkspaceReady",
]

Event = Annotated[
    Said
    | Pressed
    | Commanded
    | Overheard
    | Continued
    | Surveyed
    | Scanned
    | Begun
    | QuestionsFound
    | AnswersRead
    | PlanAnalysed
    | BaseSeen
    | WordsJudged
    | ImpactJudged
    | ContinuationJudged
    | StepChosen
    | SessionOpened
    | PassedOn
    | TalkSummarised
    | WorkDescribed
    | DocumentWritten
    | DocumentsCommitted
    | PlaceGranted
    | PlaceAwaited
    | BranchesListed
    | WorkspaceReady
    | NameTaken
    | RunStarted
    | RunEnded
    | RunStopped
    | WorkSeen
    | CheckRan
    | MergedLocally
    | CleanedUp
    | SummedUp
    | OrderFailed
    | TroubleBegan
    | TroubleEnded
    | Ticked
    | Woken
    | Broke,
    Field(discriminator="kind"),
]
