"""The story of a CI that takes its time: nothing is merged before it has said yes to exactly that commit."""

from __future__ import annotations

from tests.beds.github import Protection
from tests.stories.github.shipping import MERGE_ALL, ends_complete, nothing_is_left, three_are_open
from tests.stories.github.workshop import Workshop

CI = "tests"


async def waits_for_a_late_ci(shop: Workshop) -> None:
    """Its run appears some looks after each push, also after main was taken in. Of one commit it says no at last."""
    robots = shop.there.robots
    shop.there.habits.refusal = 422
    shop.there.protect("main", Protection(checks=(CI,), closed=False))

    def finds(commit: str) -> str:
        broken = robots.read(commit, "basket/receipt.py") and not robots.read(
            commit, "notes/T002.md"
        )
        return "failure" if broken else "success"

    robots.check_late(CI, finds)
    await three_are_open(shop.scene, shop.hosting)
    await shop.person.presses(MERGE_ALL, on="#3")
    await shop.person.sees(f"T002: checks failed on #{shop.pull('T002').number}")
    await shop.until(lambda: shop.task("T002").counters.review_rounds == 1)
    await shop.until(lambda: shop.there.pull(shop.pull("T003").number).merged_at)
    await shop.until(lambda: shop.task("T002").pull_request)
    number = shop.pull("T002").number
    assert not shop.there.pull(number).merged_at
    await shop.person.presses(f"Merge #{number}", on=f"#{number}")
    await ends_complete(shop.scene)
    came_to = {pull.number: robots.came_to(pull.head_sha) for pull in shop.there.pulls}
    assert came_to == {number: {CI: "success"} for number in came_to}
    assert [call.status for call in shop.github.called("PUT", "/merge")] == [200, 200, 200]
    nothing_is_left(shop.scene, shop.hosting)
