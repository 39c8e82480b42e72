"""What a model names as evidence holds only if it is there: a line with something on it, or a test by its name."""

from __future__ import annotations

import pytest

from bot.core.citations import Citation, CitedFiles, read_citation
from bot.core.diff_parts import changed_texts

PYTHON = "import cart\n\n\ndef test_discount_applied():\n    assert cart\n\n\nclass TestCart:\n    def test_empty(self):\n        pass\n"
GO = 'func TestTotal(t *testing.T) {\n\tt.Run("an empty cart", func(t *testing.T) {})\n}\n'
JEST = 'describe("Cart", () => {\n  it("applies a discount", () => {});\n});\n'
DIFF = """diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,2 +1,3 @@
 def total(items):
+    # test_mentioned is to come

diff --git a/tests/test_cart.py b/tests/test_cart.py
new file mode 100644
--- /dev/null
+++ b/tests/test_cart.py
@@ -0,0 +1 @@
+import cart
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-x = 1
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
"""
TEXTS = {
    "tests/test_cart.py": PYTHON,
    "README.md": "# Shop\n\nCodes.\n",
    "cart_test.go": GO,
    "web/cart.test.ts": JEST,
    "src/lib.rs": "#[test]\nfn adds() {}\n",
}
FILES = CitedFiles(
    changed_texts(DIFF),
    TEXTS,
    passed=("tests/test_other.py::test_in_the_report[one]",),
    failed=("tests/test_cart.py::test_broken",),
)


@pytest.mark.covers("B-OP-judgeTask")
@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("shop/cart.py:2", ""),
        ("`./shop/cart.py:1-2`", ""),
        ("shop/cart.py:L2", ""),
        ("README.md:3", ""),
        ("shop/cart.py:99", "shop/cart.py has no line 99"),
        ("shop/cart.py:0", "shop/cart.py: name a line of it"),
        ("README.md:2", "README.md:2 is an empty line"),
        ("README.md:1-9", "README.md has no line 9"),
        ("x:1", "there is no file x"),
        ("../etc/passwd:1", "there is no file ../etc/passwd"),
        ("shop/cart.py", "shop/cart.py: name a line of it"),
        ("old.py", ""),
        ("old.py:1", ""),
        ("logo.png", ""),
        ("tests/test_cart.py::test_discount_applied", ""),
        ("tests/test_cart.py::TestCart::test_empty", ""),
        ("test_discount_applied", ""),
        ("tests.test_cart.TestCart.test_empty", ""),
        ("tests/test_cart.py::test_nothing", "there is no test test_nothing in tests/test_cart.py"),
        ("test_mentioned", "there is no test test_mentioned in tests/test_cart.py"),
        ("test_broken", "the test test_broken fails"),
        ("tests/test_cart.py::test_broken", "the test test_broken fails"),
        ("test_in_the_report", ""),
        ("tests/none.py::test_x", "there is no file tests/none.py"),
        ("cart_test.go::TestTotal/an_empty_cart", ""),
        ("web/cart.test.ts::applies a discount", ""),
        ("web/cart.test.ts::Cart > applies a discount", ""),
        ("src/lib.rs::tests::adds", ""),
        ("def", "there is no test def in tests/test_cart.py"),
        ("", "there is no test  in tests/test_cart.py"),
        ("criterion met, see x:1", "there is no file criterion met, see x"),
    ],
)
def test_a_citation_holds_if_what_it_names_is_there(said: str, problem: str) -> None:
    assert FILES.problem(said) == problem


def test_only_what_the_change_does_not_show_is_read() -> None:
    files = CitedFiles(changed_texts(DIFF), {})
    assert files.wanted(["shop/cart.py:2", "old.py"]) == ("old.py",)
    assert files.wanted(["README.md:3", "shop/cart.py:9"]) == ("README.md", "shop/cart.py")
    assert files.wanted(["test_discount_applied"]) == ("tests/test_cart.py",)


def test_a_place_is_read_as_people_write_it() -> None:
    assert read_citation("a b/c.py:3–5") == Citation("a b/c.py", 3, 5)
    assert read_citation("a.py:7-3") == Citation("a.py", 7, 7)
    assert read_citation("Cart::applies") == Citation(test="Cart::applies")
