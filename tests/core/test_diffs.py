"""A patch within bounds: what is shown of it, what is only named, and where it is cut."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.diffs import shorten_patch, split_patch

patiently = settings(max_examples=60)
"""Nothing here is about time."""

AS_GIT_WRITES_IT = r"""diff --git a/empty.txt b/empty.txt
new file mode 100644
index 0000000..e69de29
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 45b983b..0000000
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-hi
diff --git a/img.png b/img.png
index bdc955b..8835708 100644
Binary files a/img.png and b/img.png differ
diff --git a/my file.txt b/my file.txt
old mode 100644
new mode 100755
index 587be6b..975fbec
--- a/my file.txt	
+++ b/my file.txt	
@@ -1 +1 @@
-x
+y
diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
diff --git "a/od\"d.txt" "b/od\"d.txt"
new file mode 100644
index 0000000..ea0c8a8
--- /dev/null
+++ "b/od\"d.txt"
@@ -0,0 +1 @@
+q
\ No newline at end of file
diff --git a/q.sql b/q.sql
index 31cbc49..12482a8 100644
--- a/q.sql
+++ b/q.sql
@@ -1,3 +1,3 @@
 a
--- sql
+++ c
 b
diff --git "a/\346\227\245\346\234\254.txt" "b/\346\227\245\346\234\254.txt"
new file mode 100755
index 0000000..e69de29
"""


def patch(path: str, *hunks: str) -> str:
    head = f"diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n"
    return head + "".join(f"@@ -1 +1 @@\n{hunk}" for hunk in hunks)


def binary(path: str) -> str:
    head = f"diff --git a/{path} b/{path}\nindex 1..2 100644\n"
    return f"{head}Binary files a/{path} and b/{path} differ\n"


def lines(count: int, text: str = "x" * 20) -> str:
    return f"+{text}\n" * count


_LINE = st.sampled_from(
    ["", "x", "日本", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "c\rd\x0c\u2028", "y" * 60]
)
_HUNK = st.lists(st.tuples(st.sampled_from("+- "), _LINE), min_size=1, max_size=8).map(
    lambda found: "".join(f"{sign}{text}\n" for sign, text in found)
)
_NAMES = st.sampled_from(
    ["a.py", "b/日本.py", "b/c/d.md", "uv.lock", "long/" * 9 + "e.py", "g b.c"]
)
_FILE = st.tuples(_NAMES, st.lists(_HUNK, min_size=1, max_size=3))
_PATCH = st.lists(_FILE, min_size=1, max_size=6, unique_by=lambda file: file[0])


@patiently
@given(_PATCH, st.integers(-5, 3000))
def test_it_is_never_longer_than_allowed(files: list[tuple[str, list[str]]], limit: int) -> None:
    diff = "".join(patch(path, *hunks) for path, hunks in files)
    assert len(shorten_patch(diff, limit)) <= max(limit, 0)


@patiently
@given(_PATCH, st.integers(300, 3000))
def test_every_file_is_named_unless_there_are_too_many(
    files: list[tuple[str, list[str]]], limit: int
) -> None:
    diff = "".join(patch(path, *hunks) for path, hunks in files)
    shown = shorten_patch(diff, limit)
    assert "more files\n" in shown or all(path in shown for path, _ in files)


@patiently
@given(_PATCH)
def test_what_fits_is_whole(files: list[tuple[str, list[str]]]) -> None:
    diff = "".join(patch(path, *hunks) for path, hunks in files)
    assert shorten_patch(diff, len(diff)) == diff


@patiently
@given(_PATCH)
def test_every_line_is_counted_and_every_hunk_is_found(
    files: list[tuple[str, list[str]]],
) -> None:
    found = split_patch("".join(patch(path, *hunks) for path, hunks in files))
    assert [(one.path, len(one.hunks)) for one in found] == [(p, len(h)) for p, h in files]
    for one, (_, hunks) in zip(found, files, strict=True):
        written = "".join(hunks).split("\n")
        assert one.added == sum(line.startswith("+") for line in written)
        assert one.removed == sum(line.startswith("-") for line in written)


@patiently
@given(st.text(), st.integers(0, 100))
@example("diff --git ", 3)
@example("diff --git a\n@@ ", 9)
def test_what_is_no_patch_is_only_bounded(text: str, limit: int) -> None:
    assert len(shorten_patch(text, limit)) <= limit


def test_a_patch_is_read_as_git_writes_it() -> None:
    told = [
        (one.path, one.kind, one.added, one.removed, one.binary)
        for one in split_patch(AS_GIT_WRITES_IT)
    ]
    assert told == [
        ("empty.txt", "new", 0, 0, False),
        ("gone.txt", "deleted", 0, 1, False),
        ("img.png", "changed", 0, 0, True),
        ("my file.txt", "changed", 1, 1, False),
        ("new.txt", "renamed", 0, 0, False),
        ('od"d.txt', "new", 1, 0, False),
        ("q.sql", "changed", 1, 1, False),
        ("日本.txt", "new", 0, 0, False),
    ]


def test_small_files_are_shown_and_a_large_one_loses_hunks_only() -> None:
    diff = patch("a/large.py", lines(40), "+short\n", lines(40)) + patch("b/small.py", "+tiny\n")
    shown = shorten_patch(diff, 700)
    assert "+tiny\n" in shown
    assert "@@ -1 +1 @@\n+short\n" in shown
    assert "[left out of a/large.py: 2 of 3 hunks]\n" in shown
    assert "x" * 20 not in shown


def test_the_most_files_are_shown_because_small_ones_come_first() -> None:
    diff = patch("large.py", lines(20)) + "".join(patch(f"f{n}.py", f"+{n}\n") for n in range(4))
    shown = shorten_patch(diff, 700)
    assert all(f"+{n}\n" in shown for n in range(4))
    assert "[the rest of large.py is left out]" in shown


@pytest.mark.parametrize(
    "path", ["package-lock.json", "web/yarn.lock", "Cargo.lock", "uv.lock", "go.sum"]
)
def test_a_lock_file_is_only_named(path: str) -> None:
    shown = shorten_patch(patch(path, "+secret\n") + patch("a.py", "+short\n", lines(90)), 800)
    assert f"{path} +1 −0 (changed, lock file)" in shown
    assert "+secret" not in shown
    assert "+short" in shown


def test_a_binary_file_is_only_named() -> None:
    shown = shorten_patch(binary("logo.png") + patch("a.py", "+short\n", lines(90)), 600)
    assert "logo.png (changed, binary)\n" in shown
    assert "Binary files" not in shown


def test_where_there_are_too_many_files_the_number_of_the_others_is_told() -> None:
    diff = "".join(patch(f"file{n}.py", lines(3)) for n in range(100))
    shown = shorten_patch(diff, 1000)
    named = sum(f"file{n}.py +3" in shown for n in range(100))
    assert 5 < named < 50
    assert f"… and {100 - named} more files\n" in shown
    assert "Files: 100, +300 −0\n" in shown


def test_of_a_single_hunk_that_is_too_long_the_beginning_is_shown() -> None:
    shown = shorten_patch(patch("new.py", "+first\n" + lines(200)), 500)
    assert "+first\n" in shown
    assert shown.endswith("+" + "x" * 20 + "\n[the rest of new.py is left out]\n")


def test_a_line_that_only_looks_like_the_end_of_one_is_not_cut() -> None:
    odd = "+a\x0cb\u2028c\rd\n"
    shown = shorten_patch(patch("a.py", odd, lines(90)), 600)
    assert odd in shown


def test_nothing_that_people_see_as_one_character_is_split() -> None:
    family = "👨\u200d👩\u200d👧"
    accented = "e\u0301"
    assert shorten_patch("ab" + family, 4) == "ab"
    assert shorten_patch("ab" + accented, 3) == "ab"
    assert shorten_patch("ab" + family, 7) == "ab" + family
