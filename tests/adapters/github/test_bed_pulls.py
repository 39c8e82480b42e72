"""Pull requests on the played GitHub, as PyGithub sees them: what is accepted, and what is refused in which words."""

from __future__ import annotations

import asyncio
from pathlib import Path

import github
import pytest

from tests.adapters.github.bed_stage import CALC, Stage, errors, message
from tests.beds.github import GithubBed


async def test_a_pull_request_is_opened_and_found_by_its_head(github_stage: Stage) -> None:
    made = await github_stage.open()
    found = await github_stage.ask(
        lambda repo: list(repo.get_pulls(state="all", head="acme:agent/a", base="main"))
    )
    assert [one.number for one in found] == [made.number] == [1]
    assert (made.head.sha, made.title, made.user.login) == (
        github_stage.shop.tip("agent/a"),
        "Add it",
        "gwt-bot",
    )
    none = await github_stage.ask(lambda repo: list(repo.get_pulls(head="acme:agent/b")))
    assert none == []
    closed = await github_stage.ask(lambda repo: list(repo.get_pulls(state="closed")))
    assert closed == []


async def test_without_commits_there_is_no_pull_request(github_stage: Stage) -> None:
    await github_stage.ask(
        lambda repo: repo.create_git_ref("refs/heads/agent/c", github_stage.shop.tip("main"))
    )
    error = await github_stage.refused(
        lambda repo: repo.create_pull(title="x", head="agent/c", base="main")
    )
    assert error.status == 422
    assert errors(error)[0]["message"] == "No commits between main and agent/c"


async def test_a_head_that_is_not_there_is_invalid(github_stage: Stage) -> None:
    error = await github_stage.refused(
        lambda repo: repo.create_pull(title="x", head="agent/none", base="main")
    )
    assert (error.status, errors(error)) == (
        422,
        [{"resource": "PullRequest", "code": "invalid", "field": "head"}],
    )


async def test_the_same_pull_request_is_not_opened_twice(github_stage: Stage) -> None:
    await github_stage.open()
    error = await github_stage.refused(
        lambda repo: repo.create_pull(title="x", head="acme:agent/a", base="main")
    )
    assert error.status == 422
    assert errors(error)[0]["message"] == "A pull request already exists for acme:agent/a."
    assert len(github_stage.shop.pulls) == 1


async def test_a_title_or_body_that_is_too_long_is_refused(github_stage: Stage) -> None:
    error = await github_stage.refused(
        lambda repo: repo.create_pull(title="x" * 257, head="agent/a", base="main")
    )
    assert "maximum is 256" in errors(error)[0]["message"]
    error = await github_stage.refused(
        lambda repo: repo.create_pull(title="x", body="y" * 65_537, head="agent/a", base="main")
    )
    assert "maximum is 65536" in errors(error)[0]["message"]


async def test_title_and_text_and_state_are_edited(github_stage: Stage) -> None:
    pull = await github_stage.open()
    await github_stage.ask(lambda repo: repo.get_pull(1).edit(title="Better", body="Because"))
    assert (github_stage.shop.pull(1).title, github_stage.shop.pull(1).body) == (
        "Better",
        "Because",
    )
    await github_stage.ask(lambda repo: repo.get_pull(pull.number).edit(state="closed"))
    assert github_stage.shop.pull(1).state == "closed"
    await github_stage.ask(lambda repo: repo.get_pull(pull.number).edit(state="open"))
    assert github_stage.shop.pull(1).is_open


async def test_a_draft_becomes_ready_and_a_draft_again(github_stage: Stage) -> None:
    pull = await github_stage.open(draft=True)
    assert pull.draft
    assert (await github_stage.settled(1)).mergeable_state == "draft"
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge())
    assert (error.status, message(error)) == (405, "Pull Request is still a draft")
    await github_stage.ask(lambda repo: repo.get_pull(1).mark_ready_for_review())
    assert not github_stage.shop.pull(1).draft
    await github_stage.ask(lambda repo: repo.get_pull(1).convert_to_draft())
    assert github_stage.shop.pull(1).draft


async def test_where_there_are_no_drafts_one_is_refused(github_stage: Stage) -> None:
    github_stage.shop.habits.drafts = False
    error = await github_stage.refused(
        lambda repo: repo.create_pull(title="x", head="agent/a", base="main", draft=True)
    )
    assert message(error) == "Draft pull requests are not supported in this repository."


async def test_whether_it_can_be_merged_is_unknown_at_first(github_stage: Stage) -> None:
    made = await github_stage.open()
    assert (made.mergeable, made.mergeable_state) == (None, "unknown")
    known = await github_stage.settled(1)
    assert (known.mergeable, known.mergeable_state) == (True, "clean")


async def test_a_push_to_its_branch_moves_the_head_and_makes_it_unknown_again(
    github_stage: Stage,
) -> None:
    await github_stage.open()
    await github_stage.settled(1)
    github_stage.shop.people.push("agent/a", {"more.py": "x = 1\n"})
    pull = await github_stage.ask(lambda repo: repo.get_pull(1))
    assert (pull.head.sha, pull.mergeable) == (github_stage.shop.tip("agent/a"), None)
    assert (await github_stage.settled(1)).mergeable is True
    assert pull.commits == 2


async def test_a_conflict_is_seen_and_cannot_be_merged(github_stage: Stage) -> None:
    await github_stage.open()
    before = github_stage.shop.people.push("main", {"calc.py": "nothing\n"})
    known = await github_stage.settled(1)
    assert (known.mergeable, known.mergeable_state) == (False, "dirty")
    error = await github_stage.refused(lambda repo: repo.get_pull(1).merge())
    assert (error.status, message(error)) == (405, "Pull Request is not mergeable")
    assert github_stage.shop.tip("main") == before


async def test_files_and_commits_are_those_of_the_change(github_stage: Stage) -> None:
    await github_stage.open()
    github_stage.shop.people.push("main", {"other.py": "y = 2\n"})
    files = await github_stage.ask(lambda repo: list(repo.get_pull(1).get_files()))
    assert [(one.filename, one.status, one.additions) for one in files] == [("calc.py", "added", 2)]
    assert files[0].patch.startswith("@@ -0,0 +1,2 @@")
    commits = await github_stage.ask(lambda repo: list(repo.get_pull(1).get_commits()))
    assert [one.commit.message for one in commits] == ["Add calc"]


async def test_files_have_their_real_names_and_whatever_content(github_stage: Stage) -> None:
    shop = github_stage.shop
    shop.people.push("agent/a", {"設計 書.md": "計画\n", "calc.py": None, "sum.py": CALC})
    await github_stage.open()
    files = await github_stage.ask(lambda repo: list(repo.get_pull(1).get_files()))
    assert [(one.filename, one.status) for one in files] == [
        ("sum.py", "added"),
        ("設計 書.md", "added"),
    ]
    github_stage.shop.people.push("main", {"calc.py": CALC})
    shop.people.push("agent/r", {"calc.py": None, "moved.py": CALC})
    await github_stage.open("agent/r")
    (file,) = await github_stage.ask(lambda repo: list(repo.get_pull(2).get_files()))
    assert (file.status, file.filename, file.previous_filename) == (
        "renamed",
        "moved.py",
        "calc.py",
    )


async def test_a_pull_request_is_closed_when_its_branch_is_deleted(github_stage: Stage) -> None:
    await github_stage.open()
    github_stage.shop.people.delete_branch("agent/a")
    pull = await github_stage.ask(lambda repo: repo.get_pull(1))
    assert (pull.state, pull.merged) == ("closed", False)
    error = await github_stage.refused(lambda repo: repo.get_pull(1).edit(state="open"))
    assert errors(error)[0]["message"].endswith("The agent/a branch has been deleted.")


async def test_what_is_pushed_into_the_base_by_hand_is_merged(github_stage: Stage) -> None:
    await github_stage.open()
    clone = await github_stage.clone()
    await github_stage.git("merge", "-q", "--no-edit", "origin/agent/a", cwd=clone)
    done = await github_stage.git("push", "-q", "origin", "main", cwd=clone)
    assert done.code == 0, done.text
    assert (await github_stage.ask(lambda repo: repo.get_pull(1))).merged


async def test_what_is_stacked_on_a_merged_branch_goes_where_that_went(
    github_stage: Stage,
) -> None:
    github_stage.shop.people.push("agent/b", {"b.py": "b = 1\n"}, start="agent/a")
    await github_stage.open()
    await github_stage.open("agent/b", "agent/a")
    github_stage.shop.habits.delete_branch_on_merge = True
    await github_stage.ask(lambda repo: repo.get_pull(1).merge())
    pull = await github_stage.ask(lambda repo: repo.get_pull(2))
    assert (pull.state, pull.base.ref) == ("open", "main")


async def test_the_base_is_changed_by_hand(github_stage: Stage) -> None:
    github_stage.shop.people.push("agent/b", {"b.py": "b = 1\n"}, start="agent/a")
    await github_stage.open("agent/b", "agent/a")
    await github_stage.ask(lambda repo: repo.get_pull(1).edit(base="main"))
    pull = await github_stage.ask(lambda repo: repo.get_pull(1))
    assert (pull.base.ref, pull.commits) == ("main", 2)


async def test_a_list_comes_in_pages_of_the_wanted_size(github_stage: Stage) -> None:
    for count in range(5):
        github_stage.shop.people.push(f"agent/n{count}", {f"{count}.py": "\n"})
        github_stage.shop.people.open_pull(f"agent/n{count}")

    def numbers() -> list[int]:
        with github_stage.client() as client:
            client.per_page = 2
            return [one.number for one in client.get_repo("acme/shop").get_pulls()]

    assert await asyncio.to_thread(numbers) == [5, 4, 3, 2, 1]
    pages = [call.query.get("page", "1") for call in github_stage.bed.called("GET", "/pulls")]
    assert pages == ["1", "2", "3"]


async def test_labels_are_put_on_and_taken_off(github_stage: Stage) -> None:
    await github_stage.open()
    await github_stage.ask(lambda repo: repo.get_pull(1).add_to_labels("agent", "feature"))
    shown = await github_stage.ask(lambda repo: [one.name for one in repo.get_pull(1).labels])
    assert shown == ["agent", "feature"]
    await github_stage.ask(lambda repo: repo.get_pull(1).remove_from_labels("agent"))
    assert github_stage.shop.pull(1).labels == ["feature"]


async def test_a_repository_nobody_has_is_not_found(github_stage: Stage) -> None:
    with github_stage.client() as client, pytest.raises(github.UnknownObjectException):
        await asyncio.to_thread(client.get_repo, "acme/none")


async def test_an_enterprise_server_has_a_prefix(tmp_path: Path) -> None:
    async with GithubBed(tmp_path / "hub", prefix="/api/v3") as bed:
        shop = bed.repository("acme/shop")
        shop.people.push("agent/a", {"calc.py": CALC}, "Add calc")
        stage = Stage(bed, shop, tmp_path)
        await stage.open(draft=True)
        await stage.ask(lambda repo: repo.get_pull(1).mark_ready_for_review())
        assert not shop.pull(1).draft
