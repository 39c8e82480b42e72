"""Stories of people who merge, close and give up waiting by themselves; and of work that never becomes a pull request."""

from __future__ import annotations

from bot.domain.states import Status, TaskState
from tests.stories.conversation.said import HISTORY
from tests.stories.conversation.scene import is_planned
from tests.stories.github.shipping import three_are_open
from tests.stories.github.workshop import Workshop

ACCEPT = "Accept as it is"


async def merge_close_and_give_up(shop: Workshop) -> None:
    """What people do on GitHub counts as much as a button."""
    before = shop.hosting.untouched()
    await three_are_open(shop.scene, shop.hosting)
    first, second, last = (shop.pull(key) for key in ("T001", "T002", "T003"))
    kept = second.head
    shop.there.people.merge(first.number, "squash")
    await shop.person.sees(f"T001: #{first.number} is merged")
    await shop.until(lambda: not shop.there.pull(last.number).draft)
    shop.there.people.close(second.number)
    await shop.person.sees(f"#{second.number} was closed without a merge")
    await shop.until(lambda: shop.task("T003").state is TaskState.COMPLETED)
    # a button counts for what its card shows: not that of a card that was still to be edited
    await shop.person.presses("Do not wait for them", on="closed")
    await shop.until(lambda: shop.session.status is Status.COMPLETED)
    ended = shop.session
    await shop.person.sees("1 of 3 pull requests merged", f"#{second.number} closed")
    await shop.person.sees(f"#{last.number} left open")
    assert ended.result
    assert {kept, last.head} <= set(shop.there.branches)
    assert first.head not in shop.there.branches
    local = shop.bot.git("branch", "--format=%(refname:short)").splitlines()
    assert {kept, last.head} <= set(local)
    assert first.head not in local
    assert [pull.state for pull in shop.there.pulls] == ["closed", "closed", "open"]
    assert shop.github.called("PUT", "/merge") == []
    after = shop.hosting.untouched()
    assert after["rev-parse HEAD"] == before["rev-parse HEAD"]
    assert after["status --porcelain --untracked-files=all"] == ""


async def nothing_dishonest_is_shown_to_anybody(shop: Workshop) -> None:
    """No commits, a deleted test, something left uncommitted: none of it is pushed; what a person accepts is."""
    shop.lie(T001="claims", T002="leaves", T004="deletes")
    await is_planned(shop.scene)
    await shop.person.says(HISTORY)
    await shop.person.presses("Approve", on="revision 2?")
    await shop.person.sees("T001 is blocked", "Nothing proves", "no commits")
    await shop.person.sees("T004 is blocked", "Its tests may have been made to pass")
    await shop.person.sees("T002 is blocked", "Nothing proves", "not committed", "forgotten.py")
    assert shop.posts() == []
    assert [call for call in shop.github.git_calls if call.what == "push"] == []
    assert list(shop.there.branches) == ["main"]
    await shop.person.presses(ACCEPT, on="T004")
    # what the diff shows was accepted; that tests of the base did not run is seen only when they are run
    await shop.person.presses(ACCEPT, on="of the base's did not run")
    await shop.until(lambda: shop.task("T004").pull_request)
    (pull,) = shop.there.pulls
    assert pull.head == "agent/order-history"
    assert "## Accepted by a person" in (pull.body or "")
    assert "test_items.py" in (pull.body or "").replace("\\", "")
    assert sorted(shop.there.branches) == [pull.head, "main"]
    assert shop.posts() == [pull.head]
