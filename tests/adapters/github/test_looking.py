"""Looking at a pull request: what robots and people say, what is left out, and what it costs."""

from __future__ import annotations

import pytest

from adapters.github.checks import failure_excerpt
from adapters.github.pulls import resolved_comments
from bot.core.errors import Unavailable
from bot.core.forge import CiState, MergeState
from tests.adapters.github.forge_stage import BRANCH, SLUG, Stage
from tests.beds.github import Inline, annotation

LOG = (
    "2026-11-18T12:00:00.1234567Z ##[group]Run make test\n"
    "2026-11-18T12:00:01.1234567Z \x1b[31mFAILED tests/test_login.py\x1b[0m\n"
    "2026-11-18T12:00:02.1234567Z ##[error]Process completed with exit code 1.\n"
    "2026-11-18T12:00:03.1234567Z Post job cleanup.\n"
)


async def test_a_look_at_what_has_not_changed_costs_nothing(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.shop.robots.check(BRANCH, "unit", "failure", log=LOG)
    stage.shop.people.comment(pull.number, "Nice")
    first = await forge.look(SLUG, pull.number)
    used, calls = stage.bed.quota.used, len(stage.bed.calls)
    assert await forge.look(SLUG, pull.number) == first
    assert stage.bed.quota.used == used
    assert all(one.conditional for one in stage.bed.calls[calls:])
    stage.shop.people.comment(pull.number, "Very nice")
    assert len((await forge.look(SLUG, pull.number)).notes) == 2


async def test_the_last_tenth_of_the_quota_is_kept_for_what_people_wait_for(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.bed.quota.used = stage.bed.quota.limit - 400
    await forge.look(SLUG, pull.number)
    with pytest.raises(Unavailable) as kept:
        await forge.look(SLUG, pull.number)
    assert kept.value.retry_after is not None
    assert 3000 < kept.value.retry_after <= 3602
    assert (await forge.merge(SLUG, pull.number, stage.commit, "t")).merged


async def test_a_failure_is_told_with_what_was_found_and_where_it_failed(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    run = stage.shop.robots.check(
        BRANCH,
        "unit",
        "failure",
        title="1 failed",
        summary="of 12",
        annotations=[annotation("login.py", 3, "undefined name")],
        log=LOG,
    )
    seen = await forge.look(SLUG, pull.number)
    (failure,) = seen.failures
    assert failure.key == f"check:{run.id}:{stage.commit}"
    for told in ("1 failed", "of 12", "login.py:3: failure: undefined name", "FAILED tests/test"):
        assert told in failure.output
    assert failure.output.endswith("##[error]Process completed with exit code 1.")
    assert "2026-" not in failure.output
    assert "\x1b" not in failure.output


async def test_outputs_are_bounded_and_logs_read_once(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.shop.robots.check(
        BRANCH,
        "unit",
        "failure",
        summary="s" * 50_000,
        annotations=[annotation("a.py", n, "m" * 500) for n in range(50)],
        log="noise\n" * 200_000,
    )
    for _ in range(2):
        (failure,) = (await forge.look(SLUG, pull.number)).failures
        assert len(failure.output) <= 6_000
        assert failure.output.endswith("noise")
    assert len(stage.bed.called("GET", "/logs")) == 1


async def test_what_the_token_may_not_read_is_left_out(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.shop.robots.check(BRANCH, "unit", "failure", summary="bad", log=LOG)
    stage.bed.rights.give(actions="none")
    (failure,) = (await forge.look(SLUG, pull.number)).failures
    assert failure.output == "bad"
    stage.bed.rights.give(checks="none", statuses="none")
    assert (await forge.look(SLUG, pull.number)).ci is CiState.NONE


@pytest.mark.parametrize(("conclusions", "state"), [
    (["success", "skipped", "neutral"], CiState.PASSED),
    (["success", None], CiState.PENDING),
    (["success", "action_required"], CiState.PENDING),
    (["success", None, "timed_out"], CiState.FAILED),
    (["cancelled"], CiState.FAILED),
])  # fmt: skip
async def test_the_worst_check_counts(
    stage: Stage, conclusions: list[str | None], state: CiState
) -> None:
    forge, pull = await stage.with_pull()
    for number, conclusion in enumerate(conclusions):
        stage.shop.robots.check(BRANCH, f"check-{number}", conclusion)
    seen = await forge.look(SLUG, pull.number)
    assert seen.ci is state
    assert bool(seen.failures) == (state is CiState.FAILED)


async def test_statuses_count_as_checks_do_and_a_new_commit_begins_anew(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.shop.robots.status(
        BRANCH, "ci/old", "error", description="no machine", target_url="https://ci.example/1"
    )
    seen = await forge.look(SLUG, pull.number)
    (failure,) = seen.failures
    assert (failure.name, failure.output, failure.url) == (
        "ci/old",
        "no machine",
        "https://ci.example/1",
    )
    assert (seen.ci, seen.merge_state) == (CiState.FAILED, MergeState.UNSTABLE)
    stage.works({"more.py": "1\n"})
    stage.lies_there()
    again = await forge.look(SLUG, pull.number)
    assert (again.ci, again.failures) == (CiState.NONE, ())


async def test_what_github_still_thinks_about_is_asked_again_and_then_unknown(stage: Stage) -> None:
    stage.shop.habits.unknown_reads = 2
    forge, pull = await stage.with_pull()
    assert (await forge.look(SLUG, pull.number)).merge_state is MergeState.CLEAN
    stage.shop.habits.unknown_reads = 1_000
    stage.shop.people.push("main", {"other.py": "1\n"})
    assert (await forge.look(SLUG, pull.number)).merge_state is MergeState.UNKNOWN


async def test_robots_replies_and_the_bot_itself_are_not_heard(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    people = stage.shop.people
    stage.bed.world.accounts.add("helper[bot]", "Bot")
    people.comment(pull.number, "I am a robot", by="helper[bot]", association="COLLABORATOR")
    people.comment(pull.number, "<!-- gwt-bot note -->\nI am the bot")
    people.review(pull.number, "COMMENT", comments=[Inline("login.py", 1, "Why so?")])
    (inline,) = stage.shop.inline
    people.reply(inline, "Because")
    notes = (await forge.look(SLUG, pull.number)).notes
    assert [(one.text, one.path, one.line) for one in notes] == [("Why so?", "login.py", 1)]


async def test_a_wish_for_changes_holds_until_the_same_person_approves(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    people = stage.shop.people
    people.review(pull.number, "REQUEST_CHANGES", "Rename it")
    people.review(pull.number, "APPROVE", by="aki", association="OWNER")
    other = people.review(pull.number, "REQUEST_CHANGES", "No", by="ren", association="MEMBER")
    people.dismiss(other)
    notes = (await forge.look(SLUG, pull.number)).notes
    assert [(one.text, one.asks_for_changes) for one in notes] == [("Rename it", True)]
    people.review(pull.number, "APPROVE", "Good now")
    notes = (await forge.look(SLUG, pull.number)).notes
    assert [(one.text, one.asks_for_changes) for one in notes] == [("Good now", False)]


async def test_only_who_may_write_is_trusted(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    kinds = ("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "NONE")
    for kind in kinds:
        stage.shop.people.comment(pull.number, kind, by=kind.lower(), association=kind)
    notes = (await forge.look(SLUG, pull.number)).notes
    assert [one.text for one in notes if one.trusted] == ["OWNER", "MEMBER", "COLLABORATOR"]
    assert len(notes) == len(kinds)


async def test_any_number_of_strangers_does_not_drown_who_may_write(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.shop.people.comment(pull.number, "Rename it")
    for number in range(120):
        stage.shop.people.comment(pull.number, f"spam {number}", association="NONE")
    notes = (await forge.look(SLUG, pull.number)).notes
    assert len(notes) == 100
    assert [one.text for one in notes if one.trusted] == ["Rename it"]
    assert [one.text for one in notes[1:]] == [f"spam {number}" for number in range(21, 120)]


async def test_what_stands_on_further_pages_is_read_too(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    for number in range(130):
        stage.shop.people.comment(pull.number, f"word {number}")
    for number in range(101):
        stage.shop.robots.check(BRANCH, f"check-{number}", "failure" if number == 0 else "success")
    seen = await forge.look(SLUG, pull.number)
    assert [one.name for one in seen.failures] == ["check-0"]
    assert [one.text for one in seen.notes] == [f"word {n}" for n in range(30, 130)]


def test_resolved_threads_are_settled() -> None:
    def thread(number: int, *, resolved: bool) -> dict[str, object]:
        return {"isResolved": resolved, "comments": {"nodes": [{"databaseId": number}]}}

    nodes = [thread(1, resolved=True), thread(2, resolved=False), {"isResolved": True}, None]
    threads = {"reviewThreads": {"nodes": nodes}}
    assert resolved_comments({"data": {"repository": {"pullRequest": threads}}}) == {1}
    odd_ones: list[object] = [
        None,
        "",
        {"data": None},
        {"data": {"repository": {"pullRequest": 1}}},
    ]
    for odd in odd_ones:
        assert resolved_comments(odd) == frozenset()


def test_of_a_log_the_lines_before_the_last_failure_are_told() -> None:
    assert failure_excerpt(LOG, 1_000).splitlines() == [
        "##[group]Run make test",
        "FAILED tests/test_login.py",
        "##[error]Process completed with exit code 1.",
    ]
    assert failure_excerpt("a\nb\n", 100) == "a\nb"
    assert len(failure_excerpt("x" * 10_000, 50)) == 50
