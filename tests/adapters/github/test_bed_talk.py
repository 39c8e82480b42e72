"""What people and robots say of a pull request on the played GitHub, as PyGithub reads it."""

from __future__ import annotations

import urllib.request
from typing import Any

from tests.adapters.github.bed_stage import CALC, Stage, errors
from tests.beds.github import STRANGER, Inline, annotation


async def raw_of(stage: Stage, path: str) -> Any:
    """What stands in the answer; the objects of a list would ask once more for that, where they are looked at."""
    return await stage.ask(
        lambda repo: repo.requester.requestJsonAndCheck("GET", repo.url + path)[1]
    )


async def test_comments_are_read_and_written(github_stage: Stage) -> None:
    await github_stage.open()
    github_stage.shop.people.comment(1, "Looks good", by=STRANGER)
    made = await github_stage.ask(lambda repo: repo.get_pull(1).create_issue_comment("Thanks"))
    said = await github_stage.ask(lambda repo: list(repo.get_pull(1).get_issue_comments()))
    assert [(one.body, one.user.login) for one in said] == [
        ("Looks good", STRANGER),
        ("Thanks", "gwt-bot"),
    ]
    raw = await raw_of(github_stage, "/issues/1/comments")
    assert [one["author_association"] for one in raw] == ["NONE", "COLLABORATOR"]
    await github_stage.ask(
        lambda repo: repo.get_pull(1).get_issue_comment(made.id).edit("Thank you")
    )
    assert github_stage.shop.comments[-1].body == "Thank you"
    await github_stage.ask(lambda repo: repo.get_pull(1).get_issue_comment(made.id).delete())
    assert len(github_stage.shop.comments) == 1


async def test_a_review_has_a_state_and_comments_in_lines(github_stage: Stage) -> None:
    await github_stage.open()
    github_stage.shop.people.review(
        1,
        "REQUEST_CHANGES",
        "Please",
        [Inline("calc.py", 2, "Types?")],
        by="aki",
        association="OWNER",
    )
    (review,) = await github_stage.ask(lambda repo: list(repo.get_pull(1).get_reviews()))
    assert (review.state, review.body, review.user.login) == ("CHANGES_REQUESTED", "Please", "aki")
    assert review.commit_id == github_stage.shop.tip("agent/a")
    (comment,) = await github_stage.ask(lambda repo: list(repo.get_pull(1).get_review_comments()))
    assert (comment.path, comment.line, comment.body) == ("calc.py", 2, "Types?")
    assert comment.pull_request_review_id == review.id
    raw = await raw_of(github_stage, "/pulls/1/comments")
    assert raw[0]["author_association"] == "OWNER"
    assert comment.diff_hunk == "@@ -0,0 +1,2 @@\n+def add(a, b):\n+    return a + b"


async def test_a_comment_in_a_line_is_answered(github_stage: Stage) -> None:
    await github_stage.open()
    github_stage.shop.people.review(1, comments=[Inline("calc.py", 1, "Types?")])
    first = github_stage.shop.inline[0]
    await github_stage.ask(
        lambda repo: repo.get_pull(1).create_review_comment_reply(first.id, "Done")
    )
    github_stage.shop.people.reply(github_stage.shop.inline[1], "Good")
    said = await raw_of(github_stage, "/pulls/1/comments")
    assert [(one["body"], one.get("in_reply_to_id")) for one in said] == [
        ("Types?", None),
        ("Done", first.id),
        ("Good", first.id),
    ]


async def test_a_comment_on_a_line_that_is_another_now_is_outdated(github_stage: Stage) -> None:
    await github_stage.open()
    github_stage.shop.people.review(1, comments=[Inline("calc.py", 1, "Types?")])
    github_stage.shop.people.push("agent/a", {"calc.py": "# types\n" + CALC})
    (said,) = await github_stage.ask(lambda repo: list(repo.get_pull(1).get_review_comments()))
    assert (said.line, said.original_line) == (None, 1)
    assert said.commit_id != github_stage.shop.tip("agent/a")


async def test_a_comment_in_a_line_that_was_not_changed_is_refused(github_stage: Stage) -> None:
    await github_stage.open()
    error = await github_stage.refused(
        lambda repo: repo.get_pull(1).create_review_comment(
            "x", repo.get_commit("agent/a"), "README.md", line=1
        )
    )
    assert error.status == 422
    made = await github_stage.ask(
        lambda repo: repo.get_pull(1).create_review_comment(
            "y", repo.get_commit("agent/a"), "calc.py", line=1
        )
    )
    assert made.body == "y"


async def test_nobody_approves_their_own(github_stage: Stage) -> None:
    await github_stage.open()
    error = await github_stage.refused(lambda repo: repo.get_pull(1).create_review(event="APPROVE"))
    assert error.status == 422
    assert errors(error) == ["Can not approve your own pull request"]
    made = await github_stage.ask(
        lambda repo: repo.get_pull(1).create_review(event="COMMENT", body="Note")
    )
    assert made.state == "COMMENTED"


async def test_statuses_are_combined(github_stage: Stage) -> None:
    robots = github_stage.shop.robots
    github_stage.bed.rights.give(statuses="write")

    async def state() -> str:
        return await github_stage.ask(
            lambda repo: repo.get_commit("agent/a").get_combined_status().state
        )

    assert await state() == "pending"
    robots.status("agent/a", "build", "success", target_url="http://ci.example.com/1")
    assert await state() == "success"
    await github_stage.ask(
        lambda repo: repo.get_commit("agent/a").create_status("failure", context="test")
    )
    assert await state() == "failure"
    robots.status("agent/a", "test", "success")
    assert await state() == "success"
    said = await github_stage.ask(lambda repo: list(repo.get_commit("agent/a").get_statuses()))
    assert [(one.context, one.state) for one in said] == [
        ("test", "success"),
        ("test", "failure"),
        ("build", "success"),
    ]


async def test_check_runs_tell_what_they_found(github_stage: Stage) -> None:
    robots = github_stage.shop.robots
    await github_stage.open()
    robots.check("agent/a", "ci", "cancelled")
    robots.check(
        "agent/a",
        "ci",
        "failure",
        title="1 failed",
        summary="test_add",
        text="assert 1 == 2",
        annotations=[annotation("calc.py", 2, "wrong")],
    )
    robots.check("agent/a", "lint")
    runs = await github_stage.ask(lambda repo: list(repo.get_commit("agent/a").get_check_runs()))
    assert [(one.name, one.status, one.conclusion) for one in runs] == [
        ("lint", "in_progress", None),
        ("ci", "completed", "failure"),
    ]
    output = runs[1].output
    assert (output.title, output.summary, output.text) == ("1 failed", "test_add", "assert 1 == 2")
    raw = await raw_of(github_stage, "/commits/agent/a/check-runs")
    assert raw["check_runs"][1]["pull_requests"][0]["number"] == 1
    found = await github_stage.ask(
        lambda repo: list(repo.get_check_run(runs[1].id).get_annotations())
    )
    assert [(one.path, one.start_line, one.message) for one in found] == [("calc.py", 2, "wrong")]
    suites = await github_stage.ask(
        lambda repo: list(repo.get_commit("agent/a").get_check_suites())
    )
    assert [one.status for one in suites] == ["in_progress"]
    every = await github_stage.ask(
        lambda repo: list(repo.get_commit("agent/a").get_check_runs(filter="all"))
    )
    assert len(every) == 3


async def test_the_log_of_a_job_stands_elsewhere(github_stage: Stage) -> None:
    run = github_stage.shop.robots.check("agent/a", "ci", "failure", log="E   assert 1 == 2\n")

    def read(repo: Any) -> str:
        url = f"{repo.url}/actions/jobs/{run.id}/logs"
        headers, _ = repo.requester.requestBlobAndCheck("GET", url)
        with urllib.request.urlopen(headers["location"]) as answer:  # noqa: S310 - the loopback
            return answer.read().decode()

    assert await github_stage.ask(read) == "E   assert 1 == 2\n"


async def test_commits_are_compared(github_stage: Stage) -> None:
    github_stage.shop.people.push("main", {"other.py": "y = 2\n"})
    found = await github_stage.ask(lambda repo: repo.compare("main", "agent/a"))
    assert (found.status, found.ahead_by, found.behind_by) == ("diverged", 1, 1)
    assert [one.filename for one in found.files] == ["calc.py"]
