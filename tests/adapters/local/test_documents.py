"""Documents of a plan line by line, and what changed in them by word."""

from __future__ import annotations

import pytest

from adapters.local.page.documents import ComparedDocument, compared


def shown(document: ComparedDocument) -> list[str]:
    return [f"{line.mark or '='}{line.number} {line.html}" for line in document.lines]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        pytest.param(
            "good for 24 hours and any number of times.",
            "good for 30 minutes and once.",
            [
                "d1 good for <del>24 hours</del> and <del>any number of times</del>.",
                "a1 good for <ins>30 minutes</ins> and <ins>once</ins>.",
            ],
            id="words",
        ),
        pytest.param("日本語の文章", "日本語の文書", ["d1 日本語の文<del>章</del>", "a1 日本語の文<ins>書</ins>"], id="signs without blanks"),
        pytest.param("a\nb", "a\n- all *new* here\nb", ["=1 a", "a2 <ins>all </ins><em><ins>new</ins></em><ins> here</ins>", "=3 b"], id="an added line"),
        pytest.param("a\nb\nc", "a\nc", ["=1 a", "d2 <del>b</del>", "=2 c"], id="a removed line"),
        pytest.param("one two", "six seven", ["a1 <ins>six seven</ins>", "d1 <del>one two</del>"], id="nothing in common"),
        pytest.param("", "a", ["d1 ", "a1 <ins>a</ins>"], id="a new document"),
    ],
)  # fmt: skip
def test_a_changed_line_marks_the_words_that_changed(old: str, new: str, lines: list[str]) -> None:
    document = compared(old, new)
    assert sorted(shown(document)) == sorted(lines)
    marks = [line.mark for line in document.lines]
    assert (document.added, document.removed) == (marks.count("a"), marks.count("d"))


@pytest.mark.parametrize(
    ("line", "kind", "html"),
    [
        ("## **R1** first", "h2", "<strong>R1</strong> first"),
        ("  - `a < b`", "b2", "<code>a &lt; b</code>"),
        ("2. *this*", "n1", "2. <em>this</em>"),
        ("> said", "q", "said"),
        ("<script>alert(1)</script>", "", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ('<b hx-post="/press">x</b>', "", "&lt;b hx-post=&#34;/press&#34;&gt;x&lt;/b&gt;"),
        ("![x](https://e.example/a.png)", "", '!<a href="https://e.example/a.png" target="_blank" rel="noopener noreferrer">x</a> <span class="to">(https://e.example/a.png)</span>'),
        ("[x](//e.example)", "", '<span>x</span> <span class="to">(//e.example)</span>'),
        ("[x](data:text/html,y)", "", "[x](data:text/html,y)"),
        ("\u202eright to left\u202c", "", "right to left"),
        ("*" * 100_000, "", "*" * 100_000),
    ],
)  # fmt: skip
def test_a_line_is_text_with_plain_elements_only(line: str, kind: str, html: str) -> None:
    (only,) = compared(None, f"{line}\n").lines
    assert (only.kind, str(only.html)) == (kind, html)


def test_code_is_shown_as_it_was_written() -> None:
    document = compared(None, "---\na: *b*\n---\n```\n# *no* heading\n```\n# heading")
    assert [line.kind for line in document.lines] == ["code"] * 6 + ["h1"]
    assert str(document.lines[4].html) == "# *no* heading"


def test_what_is_far_from_a_change_is_folded() -> None:
    lines = [str(number) for number in range(1, 21)]
    changed = [*lines[:9], "changed", *lines[10:]]
    parts = compared("\n".join(lines), "\n".join(changed)).stretches()
    numbers = [(part.folded, [line.number for line in part.lines]) for part in parts]
    assert numbers == [
        (True, [1, 2, 3, 4, 5, 6]),
        (False, [7, 8, 9, 10, 10, 11, 12, 13]),
        (True, [14, 15, 16, 17, 18, 19, 20]),
    ]
