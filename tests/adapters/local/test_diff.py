"""A patch as files and numbered lines."""

from __future__ import annotations

import pytest

from adapters.local.page.diff import LONGEST_LINE, files_of, visible, with_hidden_named

PATCH = """diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -3,4 +3,5 @@ def f():
 same
-old
+new
+more
 same
\\ No newline at end of file
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
diff --git "a/\\342\\200\\256evil" "b/\\342\\200\\256evil"
deleted file mode 100644
--- "a/\\342\\200\\256evil"
+++ /dev/null
@@ -1 +0,0 @@
-gone
"""


def test_lines_have_the_numbers_that_they_have_in_their_files() -> None:
    file = files_of(PATCH, "")[0]
    assert [(row.mark, row.before, row.now, row.text, row.first) for row in file.rows[1:]] == [
        ("", 3, 3, "same", False),
        ("d", 4, 4, "old", True),
        ("a", 5, 4, "new", False),
        ("a", 5, 5, "more", False),
        ("", 5, 6, "same", False),
        ("end", 6, 7, " No newline at end of file", False),
    ]
    assert [row.place for row in file.rows[2:4]] == ["4d", "4"]


def test_files_are_named_with_what_happened_to_them() -> None:
    found = [
        (one.path, one.kind, one.binary, one.added, one.removed) for one in files_of(PATCH, "")
    ]
    assert found == [
        ("a.py", "changed", False, 2, 1),
        ("logo.png", "new", True, 0, 0),
        ("⟨U+202E⟩evil", "deleted", False, 0, 1),
    ]


def test_a_file_keeps_its_id_and_gets_another_digest_when_it_changes() -> None:
    before, now = files_of(PATCH, "T001")[0], files_of(PATCH.replace("+more", "+less"), "T001")[0]
    assert before.id == now.id
    assert before.digest != now.digest
    assert files_of(PATCH, "T002")[0].id != before.id


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext", "plain\ttext"),
        ("日本語 é", "日本語 é"),
        ("if a: \u202e} //", "if a: ⟨U+202E⟩} //"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("line\r", "line⟨U+000D⟩"),
    ],
)
def test_hidden_characters_are_named(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_before_masking_hidden_characters_are_named_at_the_end_of_their_line() -> None:
    patch = "+if a: \u202e} // b\u202c\r\n+plain\n+日本語 🧑‍🚀\n"
    assert with_hidden_named(patch) == (
        "+if a: \u202e} // b\u202c ⟨hidden: U+202E, U+202C⟩\n+plain\n+日本語 🧑‍🚀\n"
    )


def test_a_very_long_line_is_cut_and_says_so() -> None:
    patch = PATCH.replace("+more", "+" + "x" * 100_000)
    text = files_of(patch, "")[0].rows[4].text
    assert text.startswith("x" * LONGEST_LINE)
    assert text.endswith("(99,000 more characters)")
