"""A new breakdown laid over the one that is being carried out: what a change does not touch stays as it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from bot.domain.spec_kit.drafts import TaskDraft


def merged(
    now: Sequence[TaskDraft], new: Sequence[TaskDraft], affected: Collection[str]
) -> tuple[TaskDraft, ...]:
    """The tasks of now, the affected ones as they are in `new`, and behind them what is new.

    An affected task that `new` lacks is removed, and nothing depends on it any longer. Whatever `new` says of a task
    that is not affected is not heard. What comes out may still be unsound: ask `problems`.
    """
    here = {draft.key for draft in now}
    laid = list(_laid(now, new, affected))
    laid += [draft for draft in new if draft.key not in here]
    removed = here - {draft.key for draft in laid}
    return tuple(_without(draft, removed) for draft in laid)


def _laid(
    now: Sequence[TaskDraft], new: Sequence[TaskDraft], affected: Collection[str]
) -> Iterator[TaskDraft]:
    # A key that `new` uses twice comes out twice, so that it is seen and asked about.
    edited: defaultdict[str, list[TaskDraft]] = defaultdict(list)
    for draft in new:
        edited[draft.key].append(draft)
    for draft in now:
        if draft.key in affected:
            yield from edited.pop(draft.key, [])
        else:
            yield draft


def _without(draft: TaskDraft, removed: Collection[str]) -> TaskDraft:
    if not any(key in removed for key in draft.depends_on):
        return draft
    kept = tuple(key for key in draft.depends_on if key not in removed)
    return draft.model_copy(update={"depends_on": kept})
