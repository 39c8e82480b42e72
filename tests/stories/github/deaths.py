"""The story of a bot that is killed before and after each of its steps on GitHub, and comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tests.stories.conversation.scene import is_planned
from tests.stories.github.faults import are_merged_once
from tests.stories.github.shipping import MERGE_ALL, ends_complete, nothing_is_left
from tests.stories.github.workshop import Workshop

LONG = 600.0
"""Seconds that an answer takes while the bot is killed."""


async def around_every_step(shop: Workshop) -> None:
    """Before and after a push, before and after a pull request is made, and after one is merged."""
    github = shop.github
    github.git_faults.hang("push", greeting=False)
    await is_planned(shop.scene)
    await shop.person.presses("Approve", on="revision 1?")
    await _dies_when(shop, lambda: ("push", "transfer") in _of_git(shop))
    assert list(shop.there.branches) == ["main"]
    github.faults.hang("POST", "*/pulls")
    await _comes_back(shop)
    await _dies_when(shop, lambda: github.called("POST", "/pulls"))
    assert shop.there.pulls == []
    github.faults.trickle(LONG, "POST", "*/pulls")
    await _comes_back(shop)
    await _dies_when(shop, lambda: shop.there.pulls)
    made = len(shop.there.pulls)
    await _comes_back(shop)
    await shop.until(lambda: len(shop.there.pulls) == 3)
    assert made == 1
    github.faults.trickle(LONG, "PUT", "*/merge")
    await shop.person.presses(MERGE_ALL, on="#3")
    await _dies_when(shop, lambda: any(pull.merged_at for pull in shop.there.pulls))
    await _comes_back(shop)
    await ends_complete(shop.scene)
    are_merged_once(shop)
    nothing_is_left(shop.scene, shop.hosting)
    await _was_said_once(shop)


async def _dies_when(shop: Workshop, seen: Callable[[], object]) -> None:
    """The line is cut as well: a git that the bot had started may outlive it."""
    await shop.until(seen)
    shop.bot.kill()
    shop.github.faults.heal()
    shop.github.git_faults.heal()
    await shop.github.go_away()


async def _comes_back(shop: Workshop) -> None:
    await shop.github.come_back()
    shop.bot.start()


def _of_git(shop: Workshop) -> list[tuple[str, str]]:
    return [(call.what, call.step) for call in shop.github.git_calls]


async def _was_said_once(shop: Workshop) -> None:
    for key in ("T001", "T002", "T003"):
        number = shop.pull(key).number
        assert await shop.person.count(f"{key}: pull request #{number} is open") == 1
        assert await shop.person.count(f"{key}: #{number} is merged") == 1
    assert set(Counter(len(shop.runs(key)) for key in ("T001", "T003"))) == {1}
