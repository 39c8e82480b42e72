"""Signs of tampering with tests: what must be seen in eight languages, and the honest work that must not be suspected."""

from __future__ import annotations

import string
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.git import Work
from bot.core.tampering.signs import Flag, Sign, explained_tests, find_flags
from tests.core.tampering import dishonest, faked, honest
from tests.core.tampering.changes import Altered
from tests.core.tampering.shop import FILES, PYTHON

patiently = settings(max_examples=80)


class Git:
    """A repository that knows the shop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self("init", "--quiet")
        self.shop = self._tree(FILES, dict.fromkeys(FILES, ""))

    def __call__(self, *arguments: str, typed: str = "") -> str:
        argv = ["git", "-c", "core.autocrlf=false", *arguments]
        done = subprocess.run(
            argv, cwd=self.path, input=typed, capture_output=True, text=True, check=True
        )
        return done.stdout

    def _tree(self, files: Mapping[str, str], before: Mapping[str, str]) -> str:
        """From an index alone: no checkout is needed."""
        lines = [f"0 {'0' * 40}\t{path}\n" for path in before if path not in files]
        for path, text in files.items():
            if before.get(path) != text:
                blob = self("hash-object", "-w", "--stdin", typed=text).strip()
                lines.append(f"100644 {blob}\t{path}\n")
        self("update-index", "--index-info", typed="".join(lines))
        return self("write-tree").strip()

    def diff(self, after: Mapping[str, str], *flags: str) -> str:
        self("read-tree", self.shop)
        tree = self._tree(after, FILES)
        return self("diff-tree", "-r", "-p", "--no-color", *flags, self.shop, tree)


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> Git:
    return Git(tmp_path_factory.mktemp("shop"))


def work_of(after: Mapping[str, str]) -> Work:
    return Work(
        head="1" * 40,
        changed_files=tuple(p for p in after if p in FILES and after[p] != FILES[p]),
        created_files=tuple(p for p in after if p not in FILES),
        deleted_files=tuple(p for p in FILES if p not in after),
    )


def test_the_corpus_is_large_and_speaks_eight_languages() -> None:
    assert len(honest.CASES) >= 40
    assert len(dishonest.CASES) >= 40
    assert len(faked.CASES) >= 40
    touched = {path.rpartition(".")[2] for _, one in dishonest.CASES for path, *_ in one.edits}
    assert touched >= {"py", "ts", "go", "rs", "java", "rb", "cs", "php", "kt", "cc"}


@pytest.mark.covers("O-X11")
@pytest.mark.parametrize(("sign", "change"), [*dishonest.CASES, *faked.CASES], ids=str)
def test_what_makes_tests_pass_instead_of_the_code_is_seen(
    git: Git, sign: Sign, change: Altered
) -> None:
    found = find_flags(git.diff(change.after), work_of(change.after))
    assert sign in {flag.sign for flag in found}
    assert all(flag.says.endswith(".") and flag.path for flag in found)


@pytest.mark.covers("O-X11")
@pytest.mark.parametrize("change", honest.CASES, ids=str)
def test_honest_work_is_not_suspected(git: Git, change: Altered) -> None:
    assert find_flags(git.diff(change.after), work_of(change.after)) == ()


@pytest.mark.parametrize("change", honest.CASES, ids=str)
def test_honest_work_is_not_suspected_where_git_looks_for_renames(
    git: Git, change: Altered
) -> None:
    assert find_flags(git.diff(change.after, "-M"), work_of(change.after)) == ()


@pytest.mark.covers("O-X11")
def test_a_sign_says_what_and_where(git: Git) -> None:
    change = Altered("", ((dishonest.PY, "    assert total(basket) == 900", "    assert True"),))
    assert find_flags(git.diff(change.after)) == (
        Flag(
            sign=Sign.ASSERTION_WEAKENED,
            path="tests/test_basket.py",
            says="«test_a_discount_lowers_the_price» asserts less: «assert True» instead of "
            "«assert total(basket) == 900».",
        ),
    )


def test_a_rename_to_what_is_no_test_is_seen_where_git_shows_nothing_else(git: Git) -> None:
    after = {path: text for path, text in FILES.items() if path != dishonest.UNIT}
    after["tests/receipt_checks.py"] = FILES[dishonest.UNIT]
    diff = git.diff(after, "-M")
    assert "rename from" in diff
    assert [flag.sign for flag in find_flags(diff)] == [Sign.TEST_DELETED]


def test_a_file_of_tests_that_is_no_text_any_more_is_a_sign(git: Git) -> None:
    after = {**FILES, "tests/test_basket.py": "# \0\ndef test_nothing(): pass\n"}
    diff = git.diff(after)
    assert "Binary files" in diff
    (flag,) = find_flags(diff, work_of(after))
    assert (flag.sign, flag.path) == (Sign.ASSERTION_WEAKENED, "tests/test_basket.py")


def test_what_git_names_is_seen_though_the_patch_breaks_off_before_it() -> None:
    files = Work(
        head="1" * 40,
        changed_files=("tests/test_a.py", "a.py", ".github/workflows/ci.yml"),
        deleted_files=("tests/test_b.py", "tests/data.json"),
        created_files=("pytest.ini",),
    )
    assert [(flag.sign, flag.path) for flag in find_flags("", files)] == [
        (Sign.TEST_DELETED, "tests/test_b.py"),
        (Sign.ASSERTION_WEAKENED, "tests/test_a.py"),
        (Sign.CI_CHANGED, ".github/workflows/ci.yml"),
        (Sign.TEST_SETTINGS_CHANGED, "pytest.ini"),
    ]


# properties

NAME = st.text(string.ascii_lowercase + "_", min_size=1, max_size=12)
VALUE = st.one_of(st.integers(-9, 9999).map(str), NAME.map(repr))
ASSERTION = st.one_of(
    st.tuples(NAME, VALUE).map(lambda pair: f"    assert {pair[0]} == {pair[1]}"),
    NAME.map(lambda name: f"    assert {name}"),
    st.just("    assert True"),
    NAME.map(lambda name: f"    {name} = 1"),
)
TESTS = st.lists(st.tuples(NAME, st.lists(ASSERTION, min_size=1, max_size=4)), max_size=6)


@patiently
@given(
    tests=TESTS, at=st.integers(0, 7), path=st.sampled_from(["tests/test_basket.py", "test_x.py"])
)
def test_whoever_only_adds_tests_is_never_suspected(
    tests: list[tuple[str, list[str]]], at: int, path: str
) -> None:
    blocks = PYTHON.split("\n\n\n")
    kept = blocks[:at], blocks[at:]
    added = "\n\n\n".join("\n".join([f"def test_new_{name}():", *body]) for name, body in tests)
    lines = [f" {line}" for line in "\n\n\n".join(kept[0]).split("\n")]
    lines += [f"+{line}" for line in added.split("\n")]
    lines += [f" {line}" for line in "\n\n\n".join(kept[1]).split("\n")]
    diff = "\n".join([f"diff --git a/{path} b/{path}", "@@ -1,9 +1,99 @@", *lines])
    assert find_flags(diff) == ()


WORDS = st.sampled_from(
    [
        *("diff --git a/tests/test_a.py b/tests/test_a.py\n", "diff --git a/b.rs b/b.rs\n"),
        *("@@ -1 +1 @@\n", "@@ -1 +1 @@ def test_a():\n", "deleted file mode 100644\n"),
        *("rename from test_a.py\n", "rename to b.py\n", "--- a/x\n", "+++ /dev/null\n"),
        *("-def test_a():\n", "+def test_b():\n", "-    assert x == 1\n", "+    assert x\n"),
        *(
            "+    #[test]\n",
            "-fn x() {\n",
            "+/*\n",
            '+"""\n',
            " @x\n",
            "\\ No newline\n",
            "-\n",
            "+",
        ),
        *(
            "Binary files a/x and b/x differ\n",
            "\x00",
            "\ud800",
            "+    return\n",
            "+  x.toBeCloseTo(1, ٣)\n",
        ),
    ]
)


@patiently
@given(
    st.one_of(st.text(), st.lists(st.one_of(WORDS, st.text(max_size=9)), max_size=60).map("".join))
)
def test_no_diff_whatsoever_is_an_error(diff: str) -> None:
    for flag in find_flags(diff, Work(head="", deleted_files=("\ud800", "", "/", "test_a.py"))):
        assert flag.says
        assert len(flag.says) < 2000


HEAD = (
    "diff --git a/tests/test_a.py b/tests/test_a.py\n--- a/tests/test_a.py\n+++ b/tests/test_a.py\n"
)
HOSTILE = {
    "one line without an end": "+" + "assert(" * 900_000,
    "a million short lines": "@@ -1 +1 @@\n" + "-a\n+b\n" * 330_000,
    "quotes": "@@ -1 +1 @@\n" + ("+" + '\\"' * 280 + "\n") * 3500,
    "tests with one name": "@@ -1 +1 @@\n" + "-def test_a():\n-    assert x == 1\n" * 60_000,
    "tests with many names": "@@ -1 +1 @@\n"
    + "".join(
        f"-def test_a{n}():\n-    x({n})\n+def test_b{n}():\n+    y({n})\n \n"
        for n in range(25_000)
    ),
    "assertions without an end": "@@ -1 +1 @@ def test_a():\n"
    + "".join(f"-    assert a == {n}\n+    assert b >= {n}\n" for n in range(40_000)),
    "figures": "@@ -1 +1 @@\n" + ("+assert abs=" + "1," * 280 + "\n") * 3500,
    "hunks": "@@ -1 +1 @@ x\n" * 140_000,
    "files": "".join(f"diff --git a/test_{n}.py b/test_{n}.py\n" for n in range(45_000)),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_diff_costs_no_more_than_its_length(body: str) -> None:
    """What took more than a pass or two over it would not come to its end here."""
    assert len(find_flags(HEAD + body[: len(body) // 3])) <= 50


EXPLAINED = [
    ("tests/test_a.py", "test_adds", "tests/test_a.py::test_adds", True),
    ("tests/test_a.py", "test_adds", "tests/test_a.py::TestAll::test_adds[1-2]", True),
    ("api/tests/test_a.py", "test_adds", "tests/test_a.py::test_adds", True),
    ("tests/test_a.py", "test_adds", "tests/test_a.py::test_adds_more", False),
    ("tests/test_a.py", "test_adds", "tests/test_b.py::test_adds", False),
    ("tests/test_a.py", "test_adds", "more/tests/test_a.py::test_adds", False),
    ("tests/test_a.py", "test_adds", "tests.test_a.TotalTest.test_adds", True),
    ("tests/test_a.py", "test_adds", "tests.test_b.TotalTest.test_adds", False),
    ("tests/test_a.py", "", "tests.test_a.TotalTest.test_rounds", True),
    ("tests/test_a.py", "", "tests.test_b.TotalTest.test_rounds", False),
    ("src/a.test.ts", "adds %i", "src/a.test.ts > Price adds 3", True),
    ("src/a.test.ts", "adds", "src/a.test.ts > Price adds twice", False),
    ("price/a_test.go", "TestAdds", "shop/price.TestAdds/up_to", True),
    ("price/a_test.go", "TestAdds", "shop/basket.TestAdds", False),
    ("src/price.rs", "adds", "src/lib.rs (shop) > price::tests::adds", True),
    ("src/price.rs", "adds", "src/lib.rs (shop) > basket::tests::adds", False),
    ("tests/whole.rs", "adds", "tests/whole.rs (whole) > adds", True),
    ("src/test/java/shop/PriceTest.java", "each", "shop.PriceTest.each(int)[1]", True),
    ("src/test/java/shop/PriceTest.java", "adds", "shop.OtherTest.adds", False),
    ("test/price_test.rb", "test_adds", "PriceTest#test_adds", True),
    ("spec/a_spec.rb", "adds", "spec/a_spec.rb > Price adds", True),
    ("tests/PriceTest.php", "testRows", 'PriceTest.testRows with data set "two"', True),
]


@pytest.mark.parametrize(("path", "test", "name", "is_it"), EXPLAINED)
def test_a_test_that_is_gone_from_the_code_is_known_by_what_its_runner_calls_it(
    path: str, test: str, name: str, is_it: bool
) -> None:
    sign = Flag(sign=Sign.TEST_DELETED, path=path, says="It is gone.", tests=(test,))
    assert explained_tests([sign], [name]) == ({name} if is_it else set())
    other = sign.model_copy(update={"sign": Sign.ASSERTION_WEAKENED})
    assert explained_tests([other], [name]) == set()


def test_a_sign_names_the_tests_that_are_gone_or_skipped(git: Git) -> None:
    gone = {path: text for path, text in FILES.items() if path != dishonest.UNIT}
    [deleted] = find_flags(git.diff(gone))
    assert deleted.tests
    assert all(f"def {test}(" in FILES[dishonest.UNIT] for test in deleted.tests)
    # a new test looks much like one of them, which is gone all the same; another one has moved
    first, moved, *_ = deleted.tests
    head, _, rest = FILES[dishonest.UNIT].partition(f"    def {moved}(")
    body, _, _ = rest.partition("\n    def ")
    alike = f"{head.replace(first, 'test_something_else')}    def {moved}({body}\n"
    [less] = find_flags(git.diff({**gone, "tests/test_new.py": alike}))
    assert set(less.tests) == set(deleted.tests) - {moved}
    name = "test_a_discount_lowers_the_price"
    change = Altered("", ((dishonest.PY, f"def {name}", f"@pytest.mark.skip\ndef {name}"),))
    assert [(one.sign, one.tests) for one in find_flags(git.diff(change.after))] == [
        (Sign.TEST_SKIPPED, (name,))
    ]
