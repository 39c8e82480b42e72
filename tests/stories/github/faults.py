"""Stories of a GitHub that is not well: nothing is made twice, nothing goes round and round, and people are always told."""

from __future__ import annotations

from collections import Counter

from tests.stories.conversation.said import HOW_FAR
from tests.stories.conversation.scene import is_planned, sees_often
from tests.stories.github.shipping import MERGE_ALL, ends_complete, nothing_is_left, three_are_open
from tests.stories.github.workshop import Workshop

PUSHED = ("push", "transfer")
ANSWER = "T001 Discount codes: "
RULE = "Pushes of agents are not wanted on Fridays."


async def answers_get_lost(shop: Workshop) -> None:
    """What was done though nobody heard it is found; what was not done is tried again."""
    github = shop.github
    github.git_faults.lose_answer("push")
    github.git_faults.drop("push")
    github.faults.lose_answer("POST", "*/pulls")
    github.faults.answer(502, "POST", "*/pulls", 1)
    github.faults.secondary_limit(2, "POST", "*/pulls")
    github.faults.answer(500, "GET", "*", times=3)
    await three_are_open(shop.scene, shop.hosting)
    assert len(shop.there.pulls) == 3
    github.faults.lose_answer("PUT", "*/merge")
    github.faults.answer(503, "PUT", "*/merge")
    github.faults.answer(502, "PUT", "*/merge", after=True)
    await github.go_away()
    await shop.person.presses(MERGE_ALL, on="#3")
    await shop.person.sees("GitHub is not reached")
    await github.come_back()
    await ends_complete(shop.scene)
    are_merged_once(shop)
    assert len(github.called("PUT", "/merge")) <= 6
    nothing_is_left(shop.scene, shop.hosting)


def are_merged_once(shop: Workshop) -> None:
    pulls = shop.there.pulls
    assert len(pulls) == 3
    assert len({pull.head for pull in pulls}) == 3
    assert all(pull.merged_at for pull in pulls)
    numbers = Counter(line.rpartition("(#")[2] for line in shop.there.log("main") if "(#" in line)
    assert numbers == {f"{pull.number})": 1 for pull in pulls}


async def the_token_is_worth_nothing_for_a_while(shop: Workshop) -> None:
    """Before a pull request is made, and while they are watched: one card each, and a button that goes on."""
    await is_planned(shop.scene)
    shop.github.rights.expire()
    await shop.person.presses("Approve", on="revision 1?")
    for key in ("T001", "T002"):
        await shop.person.sees(f"{key} is done, but its pull request cannot be made")
    assert shop.there.pulls == []
    await nothing_goes_round(shop)
    shop.github.rights.expired = False
    for key in ("T001", "T002"):
        await shop.person.presses("Try again", on=f"{key} is done, but")
    await shop.until(lambda: len(shop.there.pulls) == 3)
    shop.github.rights.expire()
    await shop.person.sees("I cannot look at the pull requests any more")
    await nothing_goes_round(shop)
    shop.github.rights.expired = False
    await shop.person.presses("Look again", on="I cannot look at the pull requests")
    await shop.person.presses(MERGE_ALL, on="#3")
    await ends_complete(shop.scene)
    are_merged_once(shop)


async def nothing_goes_round(shop: Workshop) -> None:
    """The bot asks GitHub no more, though it answers whoever asks it: it waits for a person."""
    before = _asked(shop)
    for _ in range(2):
        answers = await shop.person.count(ANSWER)
        await shop.person.says(HOW_FAR)
        await sees_often(shop.scene, answers + 1, ANSWER)
    assert _asked(shop) == before


def _asked(shop: Workshop) -> int:
    return len(shop.github.calls) + len(shop.github.git_calls)


async def a_rule_refuses_the_push(shop: Workshop) -> None:
    """In the words of the forge, on a card; it is not tried again until somebody wants it."""
    shop.there.refuse_pushes("agent/*", RULE)
    await is_planned(shop.scene)
    await shop.person.presses("Approve", on="revision 1?")
    for key in ("T001", "T002"):
        await shop.person.sees(f"{key} is done, but its pull request cannot be made", RULE)
    await nothing_goes_round(shop)
    pushes = [call for call in shop.github.git_calls if (call.what, call.step) == PUSHED]
    assert len(pushes) == 2
    assert shop.posts() == []
    shop.there.refuse_pushes("agent/*", "")
    for key in ("T001", "T002"):
        await shop.person.presses("Try again", on=f"{key} is done, but")
    await shop.until(lambda: len(shop.there.pulls) == 3)
    assert Counter(shop.posts()) == Counter(pull.head for pull in shop.there.pulls)
