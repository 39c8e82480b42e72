"""A patch is shown whole, in parts where it must be, and what stands in no part is named."""

from __future__ import annotations

import json
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.diff_parts import changed_texts, divide_patch, listed_within, size_in_json
from tests.core.test_diffs import AS_GIT_WRITES_IT, binary, patch

PATHS = ("a.py", "b/日本.py", "b/c/d.md", "uv.lock", "e f.c", 'q"uoted.py')
_LENGTHS = st.integers(0, 900)
_HUNK = st.lists(st.tuples(st.sampled_from("+- "), _LENGTHS), min_size=1, max_size=12)
_FILES = st.dictionaries(
    st.sampled_from(PATHS), st.lists(_HUNK, min_size=1, max_size=4), min_size=1, max_size=6
)


def written(files: dict[str, list[list[tuple[str, int]]]]) -> tuple[str, dict[str, list[str]]]:
    """A patch in which no two lines are the same, and the changed lines of each file."""
    names = count()
    found: dict[str, list[str]] = {}
    diff = ""
    for path, hunks in files.items():
        texts = [
            [(mark, f"<{next(names)}>{'é' * length}") for mark, length in hunk] for hunk in hunks
        ]
        found[path] = [text for hunk in texts for mark, text in hunk if mark != " "]
        diff += patch(path, *("".join(f"{mark}{text}\n" for mark, text in one) for one in texts))
    return diff, found


@settings(max_examples=150, deadline=None)
@given(_FILES, st.integers(1_000, 6_000), st.integers(1, 5))
def test_every_changed_line_is_in_one_part_or_its_file_is_named(
    files: dict[str, list[list[tuple[str, int]]]], room: int, most: int
) -> None:
    diff, changed = written(files)
    found = divide_patch(diff, room, most)
    shown = "".join(part.text for part in found.parts)
    named = {one.partition(" (")[0] for one in found.unseen} | {*found.unread_locks}
    for path, lines in changed.items():
        counts = {shown.count(f"{text}\n") for text in lines}
        assert counts <= ({0, 1} if path in named else {1})
    assert named <= {*files}
    assert len(found.parts) <= most
    assert all(size_in_json(part.text) <= room for part in found.parts)
    assert len(found.files) == len(files)


@settings(max_examples=60, deadline=None)
@given(_FILES)
def test_what_fits_is_one_part_with_everything_in_it(
    files: dict[str, list[list[tuple[str, int]]]],
) -> None:
    diff, changed = written(files)
    found = divide_patch(diff, 10_000_000, 1)
    [part] = found.parts
    assert part.paths == tuple(files)
    assert all(f"{text}\n" in part.text for lines in changed.values() for text in lines)
    assert (found.unseen, found.unread_locks) == ((), ())


def test_each_line_of_the_new_version_has_its_number() -> None:
    diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -7,3 +9,3 @@ def f():\n a\n-b\n+c\n\\ No newline\n"
    [part] = divide_patch(diff, 9_000, 1).parts
    shown = "=== a.py +1 −1 (changed)\n@@ -7,3 +9,3 @@ def f():\n9  a\n-b\n10 +c\n\\ No newline\n"
    assert part.text == shown
    assert changed_texts(diff)["a.py"].lines == {9: "a", 10: "c"}


def test_a_file_is_divided_only_if_no_part_can_hold_it() -> None:
    small, large = "".join(f"+s{n}\n" for n in range(60)), "".join(f"+l{n}\n" for n in range(400))
    diff = patch("a.py", small) + patch("b.py", large) + patch("c.py", small)
    found = divide_patch(diff, 1_500, 9)
    holding = {path: [path in part.paths for part in found.parts] for path in ("a.py", "b.py")}
    assert (sum(holding["a.py"]), sum(holding["b.py"]) > 1) == (1, True)
    assert all(part.text.startswith("=== ") for part in found.parts)


@pytest.mark.parametrize(
    ("diff", "unseen"),
    [
        (binary("logo.png"), ("logo.png (binary)",)),
        (binary("logo.png").replace("index", "deleted file mode 100644\nindex"), ()),
        (binary("a.csv") + patch("a.csv", "+1\n"), ()),
        (AS_GIT_WRITES_IT, ("img.png (binary)",)),
    ],
    ids=["binary", "deleted", "declared binary only", "as git writes it"],
)
def test_a_file_without_a_text_is_named(diff: str, unseen: tuple[str, ...]) -> None:
    assert divide_patch(diff, 9_000, 1).unseen == unseen


def test_of_a_patch_that_is_cut_the_last_file_and_all_after_it_are_named() -> None:
    diff = patch("a.py", "+1\n") + patch("b.py", "+2\n")
    found = divide_patch(diff, 9_000, 1, is_cut=True, changed=["a.py", "b.py", "c.py"])
    assert found.unseen == ("b.py (too large to be read whole)", "c.py (not read)")


def test_a_lock_file_is_shown_where_all_fits_and_named_elsewhere() -> None:
    lock, code = patch("uv.lock", "+x\n"), patch("a.py", "+y\n" * 500)
    assert "uv.lock" in divide_patch(lock + code, 90_000, 1).parts[0].paths
    found = divide_patch(lock + code, 2_000, 9)
    assert (found.unread_locks, found.unseen) == (("uv.lock",), ())
    assert "uv.lock" not in {path for part in found.parts for path in part.paths}


def test_a_line_without_end_is_shortened_and_its_file_is_named() -> None:
    found = divide_patch(patch("min.js", f"+{'x' * 9_000}\n"), 3_000, 9)
    assert found.unseen == ("min.js (has lines that are too long to be shown)",)
    assert "… (shortened)" in found.parts[0].text


def test_a_file_that_can_be_run_or_is_a_link_says_so() -> None:
    diff = patch("run.sh", "+x\n").replace("index", "new file mode 100755\nindex")
    assert divide_patch(diff, 9_000, 1).files == ("run.sh +1 −0 (new, mode 100755)",)


def test_what_is_no_patch_is_shown_as_it_is() -> None:
    assert "not a patch" in divide_patch("not a patch", 900, 1).parts[0].text
    assert divide_patch(" \n", 900, 1).parts == ()


def test_a_list_says_how_much_of_it_is_left_out() -> None:
    lines = [f"file {n}" for n in range(100)]
    shown = listed_within(lines, 300)
    assert shown[-1] == f"… and {100 - len(shown) + 1} more files"
    assert len(json.dumps(shown)) < 400


def test_bytecode_beside_its_source_holds_nothing_up() -> None:
    text = binary("shop/__pycache__/mail.cpython-311.pyc") + binary("shop/tool.pyc")
    assert divide_patch(text, 10_000, 4).unseen == ("shop/tool.pyc (binary)",)
