"""Opening and merging pull requests: what the bot may change, and what stands in its way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.github.pulls import (
    digest,
    find_part,
    normalize_line_ends,
    render_body,
    replace_part,
    safe_title,
    without_references,
)
from bot.core.errors import Refused, Unavailable
from bot.core.forge import Obstacle
from tests.adapters.git.worlds import git
from tests.adapters.github.forge_stage import BRANCH, SLUG, Stage, forge_stage
from tests.beds.github import Protection


async def test_nothing_is_asked_to_change_where_nothing_has_changed(stage: Stage) -> None:
    forge = stage.github()
    await stage.opened(forge)
    before = len(stage.bed.calls)
    await forge.open(SLUG, stage.wanted())
    assert {one.method for one in stage.bed.calls[before:]} == {"GET"}


async def test_text_of_people_around_the_bots_is_kept(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    body = stage.shop.pull(pull.number).body or ""
    stage.shop.people.edit(pull.number, body=f"Ours above\r\n\r\n{body}\r\n\r\nOurs below")
    await forge.open(SLUG, stage.wanted(body="Something new"))
    now = stage.shop.pull(pull.number).body or ""
    assert now.startswith("Ours above\n")
    assert now.endswith("\nOurs below")
    assert "Something new" in now
    assert "\nWhat\n" not in now


async def test_a_title_of_peoples_stays_while_the_text_follows(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.shop.people.edit(pull.number, title="Ours")
    for words in ("One", "Two"):
        await forge.open(SLUG, stage.wanted(title=words, body=words))
        told = stage.shop.pull(pull.number)
        assert told.title == "Ours"
        assert words in (told.body or "")


async def test_a_draft_follows_the_bot_until_people_decide(stage: Stage) -> None:
    forge = stage.github()
    stage.lies_there()
    assert (await forge.open(SLUG, stage.wanted(draft=True))).draft
    assert not (await forge.open(SLUG, stage.wanted(draft=False))).draft
    pull = await forge.open(SLUG, stage.wanted(draft=True))
    assert pull.draft
    stage.shop.people.ready(pull.number)
    assert not (await forge.open(SLUG, stage.wanted(draft=True))).draft


async def test_where_there_are_no_drafts_it_is_opened_without(stage: Stage) -> None:
    stage.shop.habits.drafts = False
    forge = stage.github()
    stage.lies_there()
    pull = await forge.open(SLUG, stage.wanted(draft=True))
    assert (pull.open, pull.draft) == (True, False)
    assert (await forge.open(SLUG, stage.wanted(draft=True))).number == pull.number


async def test_a_pull_request_of_people_for_the_branch_is_taken_as_it_is(stage: Stage) -> None:
    forge = stage.github()
    stage.lies_there()
    theirs = stage.shop.people.open_pull(BRANCH, title="Theirs")
    pull = await forge.open(SLUG, stage.wanted(draft=True))
    assert (pull.number, pull.draft) == (theirs.number, False)
    assert (stage.shop.pull(pull.number).title, stage.shop.pull(pull.number).body) == (
        "Theirs",
        None,
    )


async def test_another_base_is_taken_over(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.shop.people.push("next", {"next.py": "1\n"})
    moved = await forge.open(SLUG, stage.wanted(base="next"))
    assert (moved.number, moved.base) == (pull.number, "next")


async def test_a_closed_one_is_not_opened_again_but_a_new_one_made(stage: Stage) -> None:
    forge = stage.github()
    first = await stage.opened(forge)
    stage.shop.people.close(first.number)
    second = await forge.open(SLUG, stage.wanted())
    assert second.number != first.number
    assert second.open


async def test_a_branch_or_base_that_is_not_there_is_said_with_a_remedy(stage: Stage) -> None:
    forge = stage.github()
    with pytest.raises(Refused, match=BRANCH) as refused:
        await forge.open(SLUG, stage.wanted())
    assert refused.value.remedy
    stage.lies_there()
    with pytest.raises(Refused, match="the branch local is not on GitHub") as refused:
        await forge.open(SLUG, stage.wanted(base="local"))
    assert "Push local" in refused.value.remedy


async def test_what_a_model_writes_mentions_and_closes_nothing(stage: Stage) -> None:
    forge = stage.github()
    stage.lies_there()
    words = {"title": "feat: @mika\n closes #1", "body": "@acme/team closes #2"}
    pull = await forge.open(SLUG, stage.wanted(**words))
    told = stage.shop.pull(pull.number)
    await forge.merge(SLUG, pull.number, stage.commit, "feat: @mika closes #3")
    log = stage.shop.log("main")[0]
    for text in (told.title, told.body or "", log):
        assert "@mika" not in text
        assert "@acme" not in text
        assert "closes #" not in text
    assert log.endswith(f"(#{pull.number})")


async def test_a_squash_carries_no_messages_of_the_agents(stage: Stage) -> None:
    stage.shop.habits.methods = ("squash",)
    git(stage.top, "commit", "--quiet", "--amend", "-m", "work\n\ncloses #9 for @mika")
    stage.commit = git(stage.top, "rev-parse", "HEAD")
    forge, pull = await stage.with_pull()
    assert (await forge.merge(SLUG, pull.number, stage.commit, "feat: log in")).merged
    hub = stage.bed.world.folder / f"{SLUG}.git"
    assert git(hub, "log", "-1", "--format=%B", "main") == f"feat: log in (#{pull.number})"


async def test_the_number_stands_in_the_message_once(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    await forge.merge(SLUG, pull.number, stage.commit, f"feat: log in (#{pull.number})")
    assert stage.shop.log("main")[0] == f"feat: log in (#{pull.number})"


@pytest.mark.parametrize(("setting", "allowed", "commits"), [
    ("", ("merge", "squash", "rebase"), ["feat: log in (#1)", "first"]),
    ("", ("merge", "rebase"), ["feat: log in (#1)", "work", "first"]),
    ("", ("rebase",), ["work", "first"]),
    ("rebase", ("merge", "squash", "rebase"), ["work", "first"]),
])  # fmt: skip
async def test_the_method_is_the_one_that_is_set_or_allowed(
    stage: Stage, setting: str, allowed: tuple[str, ...], commits: list[str]
) -> None:
    stage.shop.habits.methods = allowed
    forge, pull = await stage.with_pull(stage.github(merge_method=setting))
    assert (await forge.merge(SLUG, pull.number, stage.commit, "feat: log in")).merged
    assert sorted(stage.shop.log("main")) == sorted(commits)


async def test_a_method_that_is_not_allowed_is_an_obstacle_in_githubs_words(stage: Stage) -> None:
    stage.shop.habits.methods = ("merge",)
    forge, pull = await stage.with_pull(stage.github(merge_method="squash"))
    tried = await forge.merge(SLUG, pull.number, stage.commit, "t")
    assert tried.obstacle is Obstacle.RULES
    assert "not allowed" in tried.reason


async def test_a_base_that_moved_at_the_same_moment_is_tried_again(stage: Stage) -> None:
    stage.shop.habits.race_after_merge = True
    forge, pull = await stage.with_pull()
    assert (await forge.merge(SLUG, pull.number, stage.commit, "t")).merged
    stage.commit = stage.works({"more.py": "1\n"})
    second = await stage.opened(forge)
    before = len(stage.bed.called("PUT"))
    assert (await forge.merge(SLUG, second.number, stage.commit, "t")).merged
    assert len(stage.bed.called("PUT")) - before == 2


async def test_obstacles_are_told_with_githubs_reason(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.shop.protect("main", Protection(checks=("unit",)))
    tried = await forge.merge(SLUG, pull.number, stage.commit, "t")
    assert tried.obstacle is Obstacle.CHECKS_MISSING
    assert tried.reason == "not all checks have appeared: unit"
    stage.shop.protect("main", Protection(reviews=1))
    for _ in range(2):
        tried = await forge.merge(SLUG, pull.number, stage.commit, "t")
        assert tried.obstacle is Obstacle.RULES
        assert tried.reason.startswith("At least 1 approving review is required")
    assert len(stage.bed.called("PUT", "/merge")) == 1, "it is not asked again what it has said"
    stage.shop.protect("main", Protection(up_to_date=True))
    stage.shop.people.push("main", {"other.py": "1\n"})
    assert (await forge.merge(SLUG, pull.number, stage.commit, "t")).obstacle is Obstacle.BEHIND
    stage.shop.protect("main", None)
    stage.shop.people.push("main", {"login.py": "another\n"})
    assert (await forge.merge(SLUG, pull.number, stage.commit, "t")).obstacle is Obstacle.CONFLICT
    assert len(stage.shop.log("main")) == 3


async def test_a_head_that_moves_between_the_look_and_the_merge_is_not_merged(stage: Stage) -> None:
    forge, pull = await stage.with_pull()
    stage.bed.faults.answer(502, "PUT", "*/merge")
    with pytest.raises(Unavailable):
        await forge.merge(SLUG, pull.number, stage.commit, "t")
    stage.shop.people.push(BRANCH, {"theirs.py": "1\n"})
    tried = await forge.merge(SLUG, pull.number, stage.commit, "t")
    assert tried.obstacle is Obstacle.MOVED
    assert len(stage.shop.log("main")) == 1


@pytest.mark.covers("G-RULE-FINISH-7")
async def test_a_branch_that_github_removed_itself_after_the_merge_is_gone(stage: Stage) -> None:
    stage.shop.habits.delete_branch_on_merge = True
    forge, pull = await stage.with_pull()
    await forge.merge(SLUG, pull.number, stage.commit, "t")
    assert await forge.delete_remote_branch(SLUG, BRANCH, stage.commit) == ""


async def test_a_branch_that_may_not_be_removed_is_left_with_the_reason(stage: Stage) -> None:
    forge = stage.github()
    await stage.publish(forge)
    stage.shop.refuse_pushes("agent/*", "GH013: Nobody removes branches here")
    assert "Nobody removes" in await forge.delete_remote_branch(SLUG, BRANCH, stage.commit)
    assert stage.shop.tip(BRANCH) == stage.commit


async def test_an_enterprise_server_works_under_its_own_path(tmp_path: Path) -> None:
    async with forge_stage(tmp_path, prefix="/api/v3") as stage:
        forge = stage.github()
        hosted = await forge.find(str(stage.top))
        assert hosted is not None
        assert hosted.problem == ""
        await stage.publish(forge)
        pull = await forge.open(SLUG, stage.wanted(draft=True))
        await forge.make_ready(SLUG, pull.number)
        assert (await forge.merge(SLUG, pull.number, stage.commit, "t")).merged


CLOSES = re.compile(r"(?:close|fix|resolve)[sd]?\s*:?\s+(?:[\w./-]*#|https?://)", re.IGNORECASE)


@pytest.mark.parametrize("text", [
    "closes #12", "Fixes: #3", "RESOLVED acme/shop#4",
    "fix https://github.com/acme/shop/issues/4", "This closed\n#5", "fixes GH-7",
])  # fmt: skip
def test_a_text_of_a_models_closes_nothing(text: str) -> None:
    calm = without_references(text)
    assert not CLOSES.search(calm)
    assert calm.replace("\u2060", "") == text


def test_a_text_of_a_models_mentions_nobody() -> None:
    assert not re.search(r"@[A-Za-z0-9]", without_references("@mika and @acme/team, a@b.example"))
    assert "depends on #3" in without_references("depends on #3")
    assert without_references("@pytest.mark\n") != "@pytest.mark\n"


@given(st.text(max_size=300))
def test_whatever_a_model_writes_mentions_and_closes_nothing(text: str) -> None:
    for calm in (without_references(text), render_body(text, safe_title(text), draft=False)):
        assert not re.search(r"@[A-Za-z0-9]", calm)
        assert not re.search(r"(?i)\bcloses\s+#\d", calm)


@given(st.text(max_size=300), st.booleans())
def test_what_the_bot_wrote_is_known_again(text: str, draft: bool) -> None:
    body = render_body(text, "title", draft=draft)
    for shown in (
        body,
        f"Above\n\n{body}\n\nBelow",
        normalize_line_ends(body.replace("\n", "\r\n")),
    ):
        part = find_part(shown)
        assert part is not None
        assert (part.untouched, part.draft) == (True, draft)
        assert part.title_digest == digest("title")


def test_a_text_full_of_line_ends_is_gone_through_once() -> None:
    """Again and again it would take hours."""
    assert "x" in render_body(f"x{chr(10) * 300_000}x", "feat: x", draft=False)


def test_a_model_cannot_make_a_mark() -> None:
    forged = render_body("mine", "t", draft=False)
    body = render_body(f"{forged}\n\n<!-- hidden -->", "t", draft=True)
    part = find_part(body)
    assert part is not None
    assert (part.start, part.end, part.draft) == (0, len(body), True)


def test_the_mark_at_the_end_of_the_bots_own_text_stays_a_mark() -> None:
    body = render_body("Text\n\n<!-- gwt-bot task=task-1 -->\n", "t", draft=False)
    assert "Text\n\n<!-- gwt-bot task=task-1 -->\n<!-- /gwt-bot -->" in body
    inside = render_body("<!-- gwt-bot task=task-1 -->\nText", "t", draft=False)
    assert "<!-- gwt-bot task=" not in inside


def test_what_people_write_around_it_is_kept() -> None:
    old, new = render_body("old", "t", draft=False), render_body("new", "t", draft=False)
    shown = f"Above\n{old}\nBelow"
    part = find_part(shown)
    assert part is not None
    assert replace_part(shown, part, new) == f"Above\n{new}\nBelow"


def test_a_part_that_people_have_changed_is_theirs() -> None:
    body = render_body("The bot's words", "t", draft=False)
    part = find_part(body.replace("words", "words, and ours"))
    assert part is not None
    assert not part.untouched
    assert find_part("Only their words") is None


def test_texts_are_no_longer_than_github_takes_them() -> None:
    assert len(render_body("@" + "a@" * 60_000, "t", draft=False)) <= 65_000
    cut = render_body("x" * 100_000 + "\n\n<!-- gwt-bot task=t1 -->", "t", draft=False)
    assert cut.endswith("(shortened)\n\n<!-- gwt-bot task=t1 -->\n<!-- /gwt-bot -->")
    assert len(safe_title("word " * 200)) <= 256
    assert safe_title("  one\ntwo  ") == "one two"
