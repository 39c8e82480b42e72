"""Stories of people who merge, close and give up waiting by themselves; and of work that never becomes a pull request."""

from __future__ import annotations

from bot.core.states import Status, TaskState
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
    assert ended.ending.result
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
    await shop.until(lambda: shop.task("T004").pull_request)
    (pull,) = shop.there.pulls
    assert pull.head == "agent/order-history"
    assert "## Accepted by a person" in (pull.body or "")
    assert "test_items.py" in (pull.body or "").replace("\\", "")
    assert sorted(shop.there.branches) == [pull.head, "main"]
    assert shop.posts() == [pull.head]


async def no_fake_check_counts_as_passed(shop: Workshop) -> None:
    """A package in the runner's place, tests that end their run, a product that does so: each would end with exit code 0."""
    shop.lie(T001="replaces_the_runner", T002="ends_the_tests", T004="ends_at_import")
    await is_planned(shop.scene)
    await shop.person.says(HISTORY)
    await shop.person.presses("Approve", on="revision 2?")
    await shop.person.sees("T001 is blocked", "Its tests may have been made to pass", "unittest/")
    await shop.person.sees("T002 is blocked", "What runs the tests: «os._exit(0)»")
    # nothing in its diff looks wrong: the run itself shows it
    await shop.person.sees(
        "T004 is blocked", "python3 -m unittest discover -s tests -t .: The run was ended"
    )
    for key in ("T001", "T002", "T004"):
        assert not shop.task(key).pull_request
    assert shop.posts() == []
    assert [call for call in shop.github.git_calls if call.what == "push"] == []
    first, last = shop.task("T001").check, shop.task("T004").check
    assert first, "it was run as before the task: what stands in the runner's place was left out"
    assert "unittest/__init__.py" in first.restored
    assert first.tests
    assert (first.tests.ran > 0, first.tests.signs) == (True, ())
    assert last
    assert (last.exit_code, last.passed) == (0, True), "by itself an exit code says so"
    await shop.person.presses(ACCEPT, on="T004")
    await shop.until(lambda: shop.task("T004").pull_request)
    (pull,) = shop.there.pulls
    assert "## Accepted by a person" in (pull.body or "")
    assert "The run was ended before its tests were through" in (pull.body or "")
    assert sorted(shop.there.branches) == [pull.head, "main"]
