"""Open pull requests: their checks and their readers are heard, each word once; they are merged by a button, or by people there."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.choices import Verb
from bot.domain.events import BaseTakenIn, OrderFailed, PullMergeTried, PullsSeen
from bot.domain.sentences import sentences
from bot.domain.session import Session
from bot.flow import blocked
from bot.flow.pulls.hearing import attend, seen, taken_in
from bot.flow.pulls.merging import merge_order, merge_tried, not_merged, pressed, ready_to_merge
from bot.flow.pulls.showing import card, trouble, waiting
from bot.flow.pulls.standing import merged_below, still_open, with_pull

VERBS = frozenset(
    {
        Verb.MERGE_PULL,
        Verb.MERGE_PULLS,
        Verb.MERGE_UNCHECKED,
        Verb.WAIT_LONGER,
        Verb.UNNEEDED,
        Verb.WATCH_AGAIN,
    }
)
"""The buttons about pull requests."""

__all__ = [
    "VERBS",
    "attend",
    "card",
    "decide",
    "merge_order",
    "merged_below",
    "pressed",
    "ready_to_merge",
    "still_open",
    "trouble",
    "waiting",
    "with_pull",
]


def decide(
    session: Session, event: PullsSeen | PullMergeTried | BaseTakenIn | OrderFailed
) -> Iterator[Deed]:
    match event:
        case PullsSeen(pulls=found):
            for pull in found:
                yield from seen(session, event, pull)
        case PullMergeTried():
            yield from merge_tried(session, event)
        case BaseTakenIn():
            yield from taken_in(session, event)
        case OrderFailed(task_id=task_id, what="merge_pull", reason=reason, remedy=remedy):
            task = session.task(task_id)
            if task and task.pull_request:
                not_merged(task, task.pull_request, sentences(reason, remedy))
        case OrderFailed(what="watch_pulls", reason=reason, remedy=remedy):
            session.pulls_problem = sentences(reason, remedy)
            session.pulls_problems += 1
            yield trouble(session)
        case OrderFailed():
            yield from blocked.hold(session, event)
