"""Cards that wait for a person."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from bot.domain.cards.shown import Decided, Shown
from bot.domain.choices import Choice
from bot.domain.facts import Fact
from bot.domain.intent import Question
from bot.domain.people import Thread
from bot.domain.planned import Analysis, Difference, Forecast
from bot.domain.world import Usage


class QuestionsCard(Shown):
    kind: Literal["questions"] = "questions"
    questions: tuple[Question, ...]
    decided: Decided | None = None


class PlannedTask(Fact):
    key: str
    name: str
    after: tuple[str, ...] = ()
    agent: str = ""
    done: bool = False
    """In an earlier round; it stays as it is."""


class ApprovalCard(Shown):
    kind: Literal["approval"] = "approval"
    spec_id: str
    revision: int
    digest: str
    offer: str = ""
    """What its buttons are about."""
    base: str
    tasks: tuple[PlannedTask, ...]
    parallelism: int
    agent_flags: str = ""
    test_command: str = ""
    test_source: str = ""
    test_problem: str = ""
    """Why that will not work here."""
    test_unseen: str = ""
    """That only its exit code can be seen."""
    usage: Usage
    risk: str = ""
    risk_reasons: tuple[str, ...] = ()
    brought: tuple[str, ...] = ()
    """What the repository has its agents do, before anybody has looked at it."""
    analysis: Analysis | None = None
    forecast: Forecast | None = None
    difference: Difference | None = None
    """What this revision changes; none: it is the first."""
    dry_run: bool = False
    """Only the plan was asked for: its button says «Run it»."""
    kept: str = ""
    """Only a spec was wanted, and this is where it lies: nobody is waited for."""
    approvers: int = 1
    asker: str = ""
    """Who asked for it, where their own yes does not count."""
    approved_by: tuple[str, ...] = ()
    """Who has approved already, while more people must."""
    change: str = ""
    """It is a change while tasks run: what was asked for."""
    stops: tuple[str, ...] = ()
    """Of such a change: the tasks it holds, and why, a line each."""
    held: bool = True
    """Whether those are held already; else they go on until it is confirmed."""
    goes_on: tuple[str, ...] = ()
    """And those that never notice."""
    edits_only: bool = False
    """It edits existing tasks and nothing else: one button confirms it."""
    expires: AwareDatetime | None = None
    decided: Decided | None = None


class WherePart(Fact):
    title: str
    body: str
    thread: Thread | None = None
    """Where it is; none: it is not opened yet."""


class PartsCard(Shown):
    """The wish is too large for one plan: these are its parts."""

    kind: Literal["parts"] = "parts"
    parts: tuple[WherePart, ...]
    decided: Decided | None = None


class EarlierCard(Shown):
    """The request seems to go on with a finished session."""

    kind: Literal["earlier"] = "earlier"
    session: str
    title: str
    reason: str
    decided: Decided | None = None


class NeedsYouCard(Shown):
    """Only a person can decide this."""

    kind: Literal["needs_you"] = "needs_you"
    title: str
    reason: str
    output: str = ""
    affected: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    decided: Decided | None = None


class OfferCard(Shown):
    """All tasks are done and no GitHub is configured: what shall become of the work?"""

    kind: Literal["offer"] = "offer"
    base: str
    branches: tuple[str, ...]
    problem: str = ""
    """Why the last try did not work."""
    decided: Decided | None = None


class PullLine(Fact):
    task: str
    number: int
    url: str = ""
    title: str
    state: str
    problem: str = ""
    """Why the last try to merge it did not work."""


class PullsCard(Shown):
    """The pull requests of a session: one message, edited in place."""

    kind: Literal["pulls"] = "pulls"
    base: str
    repository: str
    pulls: tuple[PullLine, ...]
    choices: tuple[Choice, ...] = ()
    decided: Decided | None = None


class StoppedCard(Shown):
    kind: Literal["stopped"] = "stopped"
    by: str
    reason: str = ""
    """Why the bot has stopped by itself."""
    stopped_runs: int
    survivors: tuple[int, ...] = ()
    session: str
    decided: Decided | None = None
