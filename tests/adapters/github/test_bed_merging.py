"""Merging on the played GitHub is real, and refused as GitHub refuses it."""

from __future__ import annotations

import asyncio

import pytest
from github.Repository import Repository

from tests.adapters.github.bed_stage import CALC, Stage, errors, message
from tests.beds.github import STRANGER, CannotDo, Protection


async def test_a_merge_makes_a_commit_with_both_parents(github_stage: Stage) -> None:
    shop = github_stage.shop
    await github_stage.open()
    before = shop.people.push("main", {"other.py": "y = 2\n"})
    done = await github_stage.ask(lambda repo: repo.get_pull(1).merge(commit_title="Take it"))
    assert (done.merged, done.sha) == (True, shop.tip("main"))
    commit = await github_stage.ask(lambda repo: repo.get_commit(done.sha))
    assert [one.sha for one in commit.parents] == [before, shop.tip("agent/a")]
    assert shop.log("main")[0] == "Take it"
    assert (shop.read("main", "calc.py") + "\n", shop.read("main", "other.py")) == (CALC, "y = 2")
    pull = await github_stage.ask(lambda repo: repo.get_pull(1))
    assert (pull.merged, pull.state, pull.merge_commit_sha) == (True, "closed", done.sha)
    assert (pull.merged_by.login, pull.mergeable_state) == ("gwt-bot", "unknown")
    assert (pull.commits, pull.changed_files) == (1, 1), "it still tells what it was about"
    assert await github_stage.ask(lambda repo: repo.get_pull(1).is_merged())


async def test_a_squash_makes_one_commit_on_the_base(github_stage: Stage) -> None:
    shop = github_stage.shop
    shop.people.push("agent/a", {"more.py": "x = 1\n"}, "Add more")
    await github_stage.open()
    before = shop.people.push("main", {"other.py": "y = 2\n"})
    done = await github_stage.ask(lambda repo: repo.get_pull(1).merge(merge_method="squash"))
    commit = await github_stage.ask(lambda repo: repo.get_commit(done.sha))
    assert [one.sha for one in commit.parents] == [before]
    assert commit.commit.message == "Add it (#1)\n\n* Add calc\n\n* Add more"
    assert shop.read("main", "more.py") == "x = 1"


async def test_a_rebase_puts_the_commits_on_the_base(github_stage: Stage) -> None:
    shop = github_stage.shop
    shop.people.push("agent/a", {"calc.py": CALC + "more = 1\n"}, "Add more")
    await github_stage.open()
    shop.people.push("main", {"other.py": "y = 2\n"}, "Add other")
    await github_stage.ask(lambda repo: repo.get_pull(1).merge(merge_method="rebase"))
    assert shop.log("main") == ["Add more", "Add calc", "Add other", "Begin"]
    assert shop.read("main", "other.py") == "y = 2"
    assert shop.read("main", "calc.py").endswith("more = 1")


async def test_a_way_of_merging_can_be_forbidden(github_stage: Stage) -> None:
    github_stage.shop.habits.methods = ("squash",)
    await github_stage.open()
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge())
    assert (error.status, message(error)) == (
        405,
        "Merge commits are not allowed on this repository.",
    )


async def test_another_head_than_was_looked_at_is_not_merged(github_stage: Stage) -> None:
    pull = await github_stage.open()
    github_stage.shop.people.push("agent/a", {"evil.py": "\n"})
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge(sha=pull.head.sha))
    assert (error.status, message(error)) == (
        409,
        "Head branch was modified. Review and try the merge again.",
    )
    assert not github_stage.shop.pull(1).merged_at


async def test_nothing_is_merged_twice(github_stage: Stage) -> None:
    await github_stage.open()
    await github_stage.ask(lambda repo: repo.get_pull(1).merge())
    tip = github_stage.shop.tip("main")
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge())
    assert (error.status, message(error)) == (405, "Pull Request is not mergeable")
    assert github_stage.shop.tip("main") == tip


async def test_right_after_another_merge_the_base_was_modified_once(github_stage: Stage) -> None:
    shop = github_stage.shop
    shop.habits.race_after_merge = True
    shop.people.push("agent/b", {"b.py": "b = 1\n"})
    await github_stage.open()
    await github_stage.open("agent/b")
    await github_stage.ask(lambda repo: repo.get_pull(1).merge())
    error = await github_stage.refused(lambda repo: repo.get_pull(2).merge())
    assert (error.status, message(error)) == (
        405,
        "Base branch was modified. Review and try the merge again.",
    )
    assert (await github_stage.ask(lambda repo: repo.get_pull(2).merge())).merged


async def test_of_two_who_merge_at_once_each_is_merged_or_refused(github_stage: Stage) -> None:
    shop = github_stage.shop
    shop.people.push("agent/b", {"b.py": "b = 1\n"})
    await github_stage.open()
    await github_stage.open("agent/b")
    both = [github_stage.ask(lambda repo, n=n: repo.get_pull(n).merge()) for n in (1, 2)]
    assert all(one.merged for one in await asyncio.gather(*both))
    assert shop.read("main", "b.py") == "b = 1"
    assert shop.read("main", "calc.py")


async def test_a_base_that_was_pushed_to_meanwhile_is_not_overwritten(github_stage: Stage) -> None:
    shop = github_stage.shop
    git = github_stage.bed.world.repository("acme/shop").git
    seen = shop.tip("main")
    theirs = shop.people.push("main", {"other.py": "y = 2\n"})
    assert not git.move("main", shop.tip("agent/a"), seen)
    assert shop.tip("main") == theirs


async def test_a_branch_that_is_deleted_on_merge_cannot_be_deleted_again(
    github_stage: Stage,
) -> None:
    github_stage.shop.habits.delete_branch_on_merge = True
    await github_stage.open()
    await github_stage.ask(lambda repo: repo.get_pull(1).merge())
    assert "agent/a" not in github_stage.shop.branches
    error = await github_stage.refused(
        lambda repo: repo.get_git_ref("heads/main").requester.requestJsonAndCheck(
            "DELETE", f"{repo.url}/git/refs/heads/agent/a"
        )
    )
    assert (error.status, message(error)) == (422, "Reference does not exist")


async def test_a_branch_with_a_slash_is_read_and_deleted(github_stage: Stage) -> None:
    ref = await github_stage.ask(lambda repo: repo.get_git_ref("heads/agent/a"))
    assert ref.object.sha == github_stage.shop.tip("agent/a")
    branch = await github_stage.ask(lambda repo: repo.get_branch("agent/a"))
    assert (branch.name, branch.protected) == ("agent/a", False)

    def delete(repo: Repository) -> None:
        repo.get_git_ref("heads/agent/a").delete()

    await github_stage.ask(delete)
    assert github_stage.bed.called("DELETE", "agent/a")[-1].status == 204
    assert "agent/a" not in github_stage.shop.branches


async def test_required_checks_block_until_they_have_succeeded(github_stage: Stage) -> None:
    shop = github_stage.shop
    shop.protect("main", Protection(checks=("ci",)))
    await github_stage.open()
    assert (await github_stage.settled(1)).mergeable_state == "blocked"
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge())
    assert (error.status, message(error)) == (405, 'Required status check "ci" is expected.')
    run = shop.robots.check("agent/a", "ci")
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge())
    assert message(error) == 'Required status check "ci" is in progress.'
    shop.robots.finish(run, "failure")
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge())
    assert message(error) == 'Required status check "ci" is failing.'
    shop.robots.check("agent/a", "ci", "success")
    assert (await github_stage.settled(1)).mergeable_state == "clean"
    assert (await github_stage.ask(lambda repo: repo.get_pull(1).merge())).merged


async def test_required_reviews_block_until_those_who_write_approve(github_stage: Stage) -> None:
    shop = github_stage.shop
    shop.protect("main", Protection(reviews=1))
    await github_stage.open()
    shop.people.review(1, "APPROVE", by=STRANGER)
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge())
    assert message(error) == (
        "At least 1 approving review is required by reviewers with write access."
    )
    shop.people.review(1, "REQUEST_CHANGES", "No")
    assert (await github_stage.settled(1)).mergeable_state == "blocked"
    shop.people.review(1, "APPROVE")
    assert (await github_stage.settled(1)).mergeable_state == "clean"


async def test_a_head_that_must_have_the_base_is_behind(github_stage: Stage) -> None:
    shop = github_stage.shop
    shop.protect("main", Protection(checks=("ci",), up_to_date=True))
    await github_stage.open()
    shop.robots.status("agent/a", "ci", "success")
    assert (await github_stage.settled(1)).mergeable_state == "clean"
    shop.people.push("main", {"other.py": "y = 2\n"})
    assert (await github_stage.settled(1)).mergeable_state == "behind"
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge())
    assert (error.status, message(error)) == (405, "1 of 1 required status checks are expected.")


async def test_a_check_nobody_requires_makes_it_unstable(github_stage: Stage) -> None:
    await github_stage.open()
    github_stage.shop.robots.check("agent/a", "lint", "failure")
    assert (await github_stage.settled(1)).mergeable_state == "unstable"
    assert (await github_stage.ask(lambda repo: repo.get_pull(1).merge())).merged


async def test_people_merge_and_close_too(github_stage: Stage) -> None:
    shop = github_stage.shop
    shop.people.push("agent/b", {"b.py": "b = 1\n"})
    await github_stage.open()
    await github_stage.open("agent/b")
    shop.people.merge(1, "squash")
    shop.people.close(2)
    pulls = await github_stage.ask(lambda repo: list(repo.get_pulls(state="closed")))
    assert [one.merged_at is not None for one in pulls] == [False, True]
    with pytest.raises(CannotDo, match="not mergeable"):
        shop.people.merge(2)


async def test_a_closed_pull_request_is_not_reopened_where_the_branch_was_rewritten(
    github_stage: Stage,
) -> None:
    await github_stage.open()
    github_stage.shop.people.close(1)
    github_stage.shop.people.push("agent/a", {"calc.py": "\n"}, "Anew", force=True)
    error = await github_stage.refused(lambda repo: repo.get_pull(1).edit(state="open"))
    assert errors(error)[0]["message"].endswith("was force-pushed or recreated.")
