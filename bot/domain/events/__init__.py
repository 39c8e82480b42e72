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
    Relinked,
    Ticked,
    TroubleBegan,
    TroubleEnded,
    Woken,
)
from bot.domain.events.people import (
    Attached,
    Commanded,
    Configured,
    Continued,
    Edited,
    FromPeople,
    Opened,
    Overheard,
    Pressed,
    Said,
    Visited,
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
    BaseChecked,
    BaseTakenIn,
    BranchesListed,
    CheckRan,
    CleanedUp,
    CollisionsSeen,
    DialogAnswered,
    DialogClosed,
    DialogOpened,
    LookedIn,
    MergedLocally,
    NameTaken,
    PlaceAwaited,
    PlaceGranted,
    PullMergeTried,
    PullOpened,
    PullsSeen,
    RunEnded,
    RunStarted,
    RunStopped,
    SettingsChanged,
    SummedUp,
    TaskReplanned,
    TimeCame,
    WholeJudged,
    WorkJudged,
    WorkSeen,
    WorkspaceReady,
)

__all__ = [
    "AnswersRead",
    "Attached",
    "BaseChecked",
    "BaseSeen",
    "BaseTakenIn",
    "Begun",
    "BranchesListed",
    "Broke",
    "CheckRan",
    "CleanedUp",
    "CollisionsSeen",
    "Commanded",
    "Configured",
    "ContinuationJudged",
    "Continued",
    "DialogAnswered",
    "DialogClosed",
    "DialogOpened",
    "DocumentWritten",
    "DocumentsCommitted",
    "Edited",
    "Event",
    "FromPeople",
    "FromPerson",
    "Happening",
    "ImpactJudged",
    "LookedIn",
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
    "PullMergeTried",
    "PullOpened",
    "PullsSeen",
    "QuestionsFound",
    "Relinked",
    "Result",
    "RunEnded",
    "RunStarted",
    "RunStopped",
    "Said",
    "Scanned",
    "SessionOpened",
    "SettingsChanged",
    "StepChosen",
    "SummedUp",
    "Surveyed",
    "TalkSummarised",
    "TaskReplanned",
    "Ticked",
    "TimeCame",
    "TroubleBegan",
    "TroubleEnded",
    "Visited",
    "WholeJudged",
    "WishPart",
    "Woken",
    "WordsJudged",
    "WorkDescribed",
    "WorkJudged",
    "WorkSeen",
    "WorkspaceReady",
]

Event = Annotated[
    Said
    | Edited
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
    | SettingsChanged
    | RunEnded
    | RunStopped
    | WorkSeen
    | DialogOpened
    | DialogClosed
    | DialogAnswered
    | LookedIn
    | WorkJudged
    | TaskReplanned
    | TimeCame
    | PullOpened
    | PullsSeen
    | PullMergeTried
    | BaseTakenIn
    | CollisionsSeen
    | WholeJudged
    | BaseChecked
    | CheckRan
    | MergedLocally
    | CleanedUp
    | SummedUp
    | OrderFailed
    | Relinked
    | TroubleBegan
    | TroubleEnded
    | Ticked
    | Woken
    | Broke,
    Field(discriminator="kind"),
]
