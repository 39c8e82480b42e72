"""Names: whatever people write, the result is a valid name, and nothing else is taken for one."""

from __future__ import annotations

import re
import subprocess
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.naming import (
    branch_for,
    derived_id,
    derived_nonce,
    is_agent_branch,
    is_spec_id,
    short,
    slug,
    spec_branch,
    spec_id_from,
    task_label,
    worktree_path,
)

ODD = st.text(
    st.one_of(
        st.sampled_from("abzABZ019 -_/\\.~^:?*[@{}\n\r\t\0\x7f'\"$`;|&<>()!#%+=,"),
        st.characters(),
        st.sampled_from("認証機能をＡｂ９é\u202e\u200b٣"),
    ),
    max_size=70,
)
TITLES = st.one_of(
    ODD, st.sampled_from(["HEAD", "-x", "a.lock", "a..b", "@", "@{", ".a", "a/", "//", "--", "CON"])
)


def git_accepts(name: str) -> bool:
    """The rules of `git check-ref-format --branch`."""
    parts = name.split("/")
    return not (
        re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//", name)
        or name in {"@", "HEAD"}
        or name.startswith(("-", "/"))
        or name.endswith(("/", "."))
        or any(part.startswith(".") or part.endswith(".lock") or not part for part in parts)
    )


@pytest.mark.covers(
    "G-RULE-BRANCH-1",
    "G-RULE-BRANCH-6",
    "G-RULE-BRANCH-8",
    "G-FR-004",
    "G-LIMIT-4",
    "G-OUT-3",
    "G-VALID-5",
    "G-VALID-6",
    "G-VALID-7",
)
@settings(max_examples=2000)
@given(
    TITLES,
    st.lists(st.sampled_from(["add-login", "x", "HEAD"]), max_size=2),
    st.sampled_from(["1a2b3c4d-t001", "…", ""]),
)
def test_any_title_gives_a_valid_branch(title: str, others: list[str], fallback: str) -> None:
    taken = {f"agent/{other}" for other in others} | {f"agent/{slug(title)}".upper()}
    branch = branch_for(title, taken, fallback)
    assert is_agent_branch(branch)
    assert git_accepts(branch)
    assert len(branch) <= 64
    assert branch.casefold() not in {name.casefold() for name in taken}
    assert not branch.endswith("-")
    assert worktree_path("/repo", branch) == f"/repo/.worktrees/{branch.replace('/', '-')}"


@pytest.mark.parametrize(
    "title", ["Fix: the 'login' (again!)", "認証機能を実装する", "HEAD", "x" * 200, "a.lock", "-x"]
)
def test_git_itself_accepts_the_branch(title: str) -> None:
    branch = branch_for(title, [], "1a2b3c4d-t001")
    checked = subprocess.run(
        ["git", "check-ref-format", "--branch", branch], capture_output=True, text=True, check=False
    )
    assert checked.stdout.strip() == branch


@pytest.mark.covers(
    "G-US2.4", "G-RULE-BRANCH-2", "G-RULE-BRANCH-3", "G-RULE-BRANCH-4", "G-RULE-BRANCH-5"
)
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Add JWT auth", "add-jwt-auth"),
        ("  a   b\tc\n", "a-b-c"),
        ("src/api\\v2 users", "src-api-v2-users"),
        ("keep_under_scores & drop: (signs)!", "keep_under_scores-drop-signs"),
        ("--a -- b--", "a-b"),
        ("Café ＡＢＣ１", "cafe-abc1"),
        ("認証機能を実装する", ""),
        ("JWT 認証 を追加", "jwt"),
    ],
)
def test_a_slug_keeps_plain_letters_digits_and_dashes(text: str, wanted: str) -> None:
    assert slug(text) == wanted


@pytest.mark.covers("G-RULE-BRANCH-5")
def test_a_title_without_ascii_falls_back_to_a_name_with_meaning() -> None:
    assert branch_for("認証機能を実装する", [], "1a2b3c4d-t001") == "agent/1a2b3c4d-t001"
    assert branch_for("2つの画面", [], "1a2b3c4d-t001") == "agent/1a2b3c4d-t001-2"
    assert branch_for("…", [], "…") == "agent/task"


@pytest.mark.covers("G-RULE-BRANCH-7")
def test_clashes_are_numbered_whatever_their_case() -> None:
    taken = ["agent/Add-Login", "AGENT/add-login-2", "main"]
    assert branch_for("Add login", taken, "x") == "agent/add-login-3"


@pytest.mark.covers("G-RULE-BRANCH-7")
def test_a_branch_that_would_share_a_worktree_or_a_folder_counts_as_taken() -> None:
    assert branch_for("add login", ["agent/add/login"], "x") == "agent/add-login-2"
    assert branch_for("add", ["agent/add/login"], "x") == "agent/add-2"


@pytest.mark.covers("G-RULE-BRANCH-6")
def test_the_number_fits_into_the_limit() -> None:
    first = branch_for("x" * 100, [], "f")
    second = branch_for("x" * 100, [first], "f")
    assert len(first) == len(second) == 64
    assert second.endswith("x-2")
    dashed = branch_for(f"{'x' * 55} yz", [], "f")
    assert branch_for(f"{'x' * 55} yz", [dashed], "f") == f"agent/{'x' * 55}-2"


@pytest.mark.covers("G-RULE-BRANCH-1", "G-VALID-5", "G-VALID-6")
@pytest.mark.parametrize(
    "name",
    [
        "agent/x\n",
        "agent/１",
        "agent/٣",
        "agent/",
        "agent/-x",
        "agent/X",
        "agent/x/y",
        "main",
        "agent/" + "x" * 59,
        "agent/é",
    ],
)
def test_what_is_no_branch_of_ours_is_not_taken_for_one(name: str) -> None:
    assert not is_agent_branch(name)


@pytest.mark.covers("G-VALID-7")
def test_the_longest_branch_of_ours_is_one() -> None:
    assert is_agent_branch("agent/" + "x" * 58)


@pytest.mark.covers("G-RULE-SPECKIT-7")
@pytest.mark.parametrize(
    "name",
    ["SPEC-1A2B3C4D", "SPEC-1a2b3c4", "SPEC-1a2b3c4d\n", "SPEC-１a2b3c4d", "spec-1a2b3c4d", "../x"],
)
def test_what_is_no_spec_id_is_not_taken_for_one(name: str) -> None:
    assert not is_spec_id(name)


@pytest.mark.parametrize("branch", ["..", ".", "", "a\0b", "a b", "agent/x\n"])
def test_no_branch_leads_out_of_the_worktrees(branch: str) -> None:
    with pytest.raises(ValueError, match="no worktree"):
        worktree_path("/repo", branch)


def test_a_worktree_needs_an_absolute_repository() -> None:
    with pytest.raises(ValueError, match="no worktree"):
        worktree_path("repo", "agent/x")


@pytest.mark.covers(
    "G-RULE-SPECKIT-7", "G-RULE-TASKS-6", "B-ID-1", "B-ID-2", "B-ID-3", "B-ID-4", "B-WHY-1"
)
def test_spec_ids_and_labels_come_from_the_first_eight_digits() -> None:
    session = "1A2B3C4D-0000-4000-8000-000000000000"
    assert spec_id_from(session) == "SPEC-1a2b3c4d"
    assert is_spec_id(spec_id_from(session))
    assert task_label(session, 3) == "task-1a2b3c4d-3"
    assert is_agent_branch(spec_branch("SPEC-1a2b3c4d"))


@pytest.mark.covers("B-ID-3")
def test_an_id_that_is_no_uuid_has_eight_digits_too() -> None:
    assert is_spec_id(spec_id_from("task-001"))
    assert short("task-001") != short("task-002")


@pytest.mark.covers("G-RULE-TASKS-6", "G-VALID-3", "G-VALID-4")
@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_derived_ids_are_uuids_that_differ_as_their_parts_do(
    some: list[str], others: list[str]
) -> None:
    made = derived_id(*some)
    assert uuid.UUID(made).version == 4
    assert str(uuid.UUID(made)) == made
    assert re.fullmatch("[0-9a-f]{8}", derived_nonce(*some))
    assert (derived_id(*others) == made) == (some == others)
    assert (derived_nonce(*others) == derived_nonce(*some)) == (some == others)


@pytest.mark.covers("G-VALID-3")
def test_parts_are_kept_apart() -> None:
    assert derived_id("ab", "c") != derived_id("a", "bc")
    assert not derived_id("a").startswith(derived_nonce("a"))
