"""Checks of a pull request that somebody wants merged have not appeared: after a while a person is asked."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show
from bot.domain.cards import Decided, NeedsYouCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.tasks import PullRequest, Task
from bot.flow.pulls.showing import about_one


def ask(task: Task, pull: PullRequest, reason: str) -> Iterator[Deed]:
    asking = {"unchecked": pull.head, "times_asked": pull.times_asked + 1, "problem": reason}
    asked = pull.model_copy(update=asking)
    task.pull_request = asked
    yield _card(task, asked)


def asked_no_more(task: Task, pull: PullRequest, decided: Decided) -> Iterator[Deed]:
    """It was answered, or its answer does not matter any more."""
    if pull.unchecked:
        yield _card(task, pull, decided)
        task.pull_request = pull.model_copy(update={"unchecked": "", "problem": ""})


def _card(task: Task, pull: PullRequest, decided: Decided | None = None) -> Show:
    about = about_one(task)
    choices = (
        Choice(label="Wait longer", verb=Verb.WAIT_LONGER, about=about, style=Style.PRIMARY),
        Choice(
            label="Merge without them",
            verb=Verb.MERGE_UNCHECKED,
            about=about,
            confirm=f"Merge #{pull.number} though its checks have not appeared?",
        ),
    )
    return Show(
        card=NeedsYouCard(
            # asked anew it is another card: an edited one notifies nobody
            key=f"unchecked:{task.key}:{pull.number}:{pull.times_asked}",
            title=f"{task.key}: checks of #{pull.number} have not appeared",
            reason=pull.problem,
            choices=() if decided else choices,
            decided=decided,
        )
    )
