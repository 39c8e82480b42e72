"""What comes of a task: words for its pull request, the request itself, and the result."""

from __future__ import annotations

from pydantic import AwareDatetime

from bot.domain.facts import Fact
from bot.domain.hosting import Pull
from bot.domain.people import Person


class PullText(Fact):
    """Title (Conventional Commits) and body of a pull request, written from the diff."""

    title: str
    body: str


class PullRequest(Fact):
    """Of a task, or of all tasks that share its branch."""

    number: int
    url: str
    merged: bool = False
    seen: Pull | None = None
    """As the forge showed it last."""
    head: str = ""
    """The commit the bot has put there last."""
    delivered: tuple[str, ...] = ()
    """Keys of failed checks and of notes that its agent was told already."""
    wanted_by: Person | None = None
    """Who wants it merged by the bot."""
    problem: str = ""
    """Why it is not merged yet, though somebody wanted it."""
    checks: tuple[str, ...] = ()
    """The names of checks that its heads have had so far."""
    checks_since: AwareDatetime | None = None
    """Since when checks of its head are waited for."""
    unchecked: str = ""
    """The head for which a person was asked, because checks have not appeared; empty: nobody is asked."""
    times_asked: int = 0
    """How often that was."""
    without_checks: str = ""
    """The head that a person wants merged though checks have not appeared."""
    unneeded: bool = False
    """A person said that the session need not wait for it."""
    taken_in: tuple[str, ...] = ()
    """Merge commits of the base that are in its branch again."""

    @property
    def open(self) -> bool:
        return not self.merged and (self.seen is None or self.seen.open)


class TaskResult(Fact):
    success: bool
    summary: str = ""
    error: str | None = None
