"""What people do to tests in good faith: none of it may leave a sign."""

from __future__ import annotations

from tests.core.tampering.changes import Altered
from tests.core.tampering.dishonest import (
    CC,
    CS,
    DISCOUNT,
    GO,
    JAVA,
    JS,
    KT,
    NEW_TESTS,
    PHP,
    PY,
    RB,
    RS,
    UNIT,
    edited,
)
from tests.core.tampering.shop import CPP, PYTHON, SNAPSHOTS, SOURCE, UNITTEST
from tests.core.tampering.shop import GO as GO_TESTS

ADDS = PYTHON[PYTHON.index("def test_add_one") :]
ROWS = """@pytest.mark.parametrize(
    ("one", "other", "sum_"),
    [
        (1, 1, 2),
        (2, 3, 5),
        (-1, -4, -5),
    ],
)
def test_add(one, other, sum_):
    assert add(one, other) == sum_
"""
EMPTY = """def test_an_empty_basket_costs_nothing(basket):
    assert total(basket) == 0


"""
TWO = """    basket.put("tea", 205)
    basket.put("cup", 1000)
    assert total(basket) == 1205
    assert len(basket) == 2
"""
HELPER = """def holds(basket, price, number):
    assert total(basket) == price
    assert len(basket) == number


"""
CASES = [
    # added
    edited("tests are added at the end", (PY, ADDS, ADDS + NEW_TESTS)),
    edited(
        "a test is added in the middle",
        (PY, "def test_add_one", NEW_TESTS.strip() + "\n\n\ndef test_add_one"),
    ),
    Altered("a file of tests is added", files={"tests/test_vat.py": f"import pytest\n{NEW_TESTS}"}),
    Altered(
        "a new test says where it cannot run",
        files={
            "tests/test_git.py": "import shutil\nimport pytest\n\npytestmark = pytest.mark.skipif(not shutil.which('git'), reason='no git')\n\n\n"
            "@pytest.mark.skipif(True, reason='x')\ndef test_git():\n    assert run()\n\n\ndef test_more():\n    if not shutil.which('git'):\n"
            "        pytest.skip('no git')\n    assert run() == 3\n"
        },
    ),
    edited(
        "an assertion is added",
        (
            PY,
            "    assert len(basket) == 2\n",
            "    assert len(basket) == 2\n    assert basket.codes == []\n",
        ),
    ),
    edited(
        "a test is added in JavaScript",
        (
            JS,
            "  it('is precise'",
            "  it('is new', () => {\n    expect(price(1, 1)).toBeTruthy()\n  })\n\n  it('is precise'",
        ),
    ),
    edited(
        "a test is added in Go",
        (
            GO,
            "func TestAdd(",
            'func TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Error("no")\n\t}\n}\n\nfunc TestAdd(',
        ),
    ),
    edited(
        "a test is added in Rust",
        (
            RS,
            "    #[test]\n    fn parses_a_number",
            "    #[test]\n    fn adds_nothing() {\n        assert_eq!(add(0, 0), 0);\n    }\n\n    #[test]\n    fn parses_a_number",
        ),
    ),
    edited(
        "a test is added in Java",
        (
            JAVA,
            "    @Test\n    void refusesWords",
            "    @Test\n    void isNew() {\n        assertEquals(1, Price.of(1));\n    }\n\n    @Test\n    void refusesWords",
        ),
    ),
    edited(
        "a spec is added",
        (
            RB,
            "  it 'refuses unknown",
            "  it 'is new' do\n    expect(basket.size).to eq(0)\n  end\n\n  it 'refuses unknown",
        ),
    ),
    edited(
        "a test is added in C#",
        (
            CS,
            "    [Fact]\n    public void RefusesWords",
            "    [Fact]\n    public void IsNew()\n    {\n        Assert.True(Price.Of(1) > 0);\n    }\n\n    [Fact]\n    public void RefusesWords",
        ),
    ),
    edited(
        "a test is added in PHP",
        (
            PHP,
            "    public function testRoundsHalfUp",
            "    public function testNew(): void\n    {\n        $this->assertTrue(true);\n    }\n\n    public function testRoundsHalfUp",
        ),
    ),
    edited(
        "a test is added in C++",
        (
            CC,
            "TEST(Price, RoundsHalfUp)",
            "TEST(Price, New) {\n  EXPECT_TRUE(ok());\n}\n\nTEST(Price, RoundsHalfUp)",
        ),
    ),
    # renamed, moved, merged, split
    edited(
        "a test is renamed",
        (PY, "def test_a_discount_lowers_the_price", "def test_a_code_takes_ten_per_cent_off"),
    ),
    edited(
        "a JavaScript test is renamed",
        (JS, "it('rounds half up'", "it('rounds halves away from zero'"),
    ),
    edited("a Go test is renamed", (GO, "func TestTotal(", "func TestSum(")),
    edited("a Rust test is renamed", (RS, "fn refuses_a_word", "fn words_are_refused")),
    edited("a Java test is renamed", (JAVA, "void roundsHalfUp", "void halvesAreRoundedUp")),
    edited("a Kotlin test is renamed", (KT, "fun `two items are added`", "fun `an item is added`")),
    edited(
        "a spec is renamed",
        (RB, "it 'refuses unknown codes'", "it 'raises on a code nobody issued'"),
    ),
    Altered("a file of tests is renamed", files={UNIT: None, "tests/test_printing.py": UNITTEST}),
    Altered("a file of tests is moved", files={CC: None, "native/tests/price_test.cc": CPP}),
    Altered(
        "a file of Go tests is moved", files={GO: None, "internal/shop/total_test.go": GO_TESTS}
    ),
    Altered(
        "a test is moved to another file",
        ((PY, DISCOUNT, ""),),
        {"tests/test_discount.py": f"from shop.basket import total\n\n\n{DISCOUNT}"},
    ),
    edited(
        "a test is moved within its file",
        (PY, EMPTY, ""),
        (PY, ADDS, f"{ADDS}\n\n{EMPTY.rstrip()}\n"),
    ),
    Altered(
        "a file of tests is split",
        files={
            PY: PYTHON[: PYTHON.index("def test_the_rate")].rstrip() + "\n",
            "tests/test_add.py": f"import pytest\nfrom shop.basket import add\n\n\n{PYTHON[PYTHON.index('def test_the_rate') :]}",
        },
    ),
    edited("tests become rows", (PY, ADDS, ROWS)),
    edited(
        "a test becomes a table",
        (
            GO,
            'if Add(1, 2) != 3 {\n\t\tt.Error("1 + 2 is not 3")\n\t}',
            'for _, tt := range []struct{ a, b, want int }{{1, 2, 3}, {2, 3, 5}} {\n\t\tif got := Add(tt.a, tt.b); got != tt.want {\n\t\t\tt.Errorf("got %d, want %d", got, tt.want)\n\t\t}\n\t}',
        ),
    ),
    edited(
        "assertions become a helper",
        (PY, EMPTY, HELPER + EMPTY),
        (
            PY,
            "    assert total(basket) == 1205\n    assert len(basket) == 2\n",
            "    holds(basket, 1205, 2)\n",
        ),
    ),
    edited(
        "two assertions become one",
        (
            PY,
            "    assert total(basket) == 1205\n    assert len(basket) == 2\n",
            "    assert (total(basket), len(basket)) == (1205, 2)\n",
        ),
    ),
    edited(
        "a test is split in two",
        (
            PY,
            "    assert total(basket) == 900\n    assert basket.codes",
            '    assert total(basket) == 900\n\n\ndef test_a_code_is_remembered(basket):\n    basket.use("WELCOME10")\n    assert basket.codes',
        ),
    ),
    edited(
        "two tests are merged",
        (PY, "def test_add_two():\n    assert add(2, 3) == 5\n\n\n", ""),
        (
            PY,
            "    assert add(1, 1) == 2\n",
            "    assert add(1, 1) == 2\n    assert add(2, 3) == 5\n",
        ),
    ),
    edited(
        "a class around tests",
        (
            PY,
            ADDS,
            "class TestAdd:\n"
            + "".join(
                f"    {line}\n" if line else "\n"
                for line in ADDS.replace("():", "(self):").splitlines()
            ),
        ),
    ),
    edited("a skip is taken away", (UNIT, '    @unittest.skip("no printer here")\n', "")),
    edited("a skip is explained otherwise", (UNIT, "no printer here", "no printer in the cellar")),
    edited(
        "a comparison within what is compared",
        (
            PY,
            "    assert total(basket) == 900",
            "    assert [one for one in basket if one.price != 100] == []",
        ),
    ),
    edited(
        "what is only called like an assertion",
        (PY, '    basket.put("tea", 1000)\n', '    verifying(basket).put("tea", 1000)\n'),
        (UNIT, "        self.lines = receipt", "        self.verifying = receipt"),
    ),
    # changed in good faith
    edited(
        "an expectation is another one",
        (PY, "assert total(basket) == 900", "assert total(basket) == 950"),
    ),
    edited("an expectation is another one in JavaScript", (JS, "toBe(116)", "toBe(115)")),
    edited(
        "an expectation is another one in Go",
        (
            GO,
            'if got != 1205 {\n\t\tt.Fatalf("got %d, want 1205"',
            'if got != 1206 {\n\t\tt.Fatalf("got %d, want 1206"',
        ),
    ),
    edited(
        "a function has another name",
        (
            PY,
            "from shop.basket import Basket, add, total",
            "from shop.basket import Basket, add, price",
        ),
        (PY, "    assert total(basket) == 1205", "    assert price(basket) == 1205"),
    ),
    edited(
        "an assertion is written over several lines",
        (
            PY,
            "    assert total(basket) == 1205\n",
            "    assert (\n        total(basket)\n        == 1205\n    )\n",
        ),
    ),
    edited(
        "another style",
        (
            UNIT,
            'self.assertEqual(self.lines[-1].strip(), "total 2.05")',
            'assert self.lines[-1].strip() == "total 2.05"',
        ),
    ),
    edited(
        "another style in Java",
        (
            JAVA,
            "assertEquals(116, price.withTax(10));",
            "assertThat(price.withTax(10)).isEqualTo(116);",
        ),
    ),
    edited("a smaller tolerance", (PY, "abs=1e-9", "abs=1e-12")),
    edited(
        "a test is stricter",
        (
            UNIT,
            'self.assertIn("2.05", self.lines[0])',
            'self.assertEqual(self.lines[0].split(), ["tea", "2.05"])',
        ),
    ),
    edited(
        "a behaviour is the other way round",
        (
            PY,
            '    with pytest.raises(ValueError, match="NOPE"):\n        basket.use("NOPE")\n',
            '    basket.use("NOPE")\n    assert basket.codes == []\n',
        ),
    ),
    edited(
        "a comment is written",
        (PY, "def test_add_one", "# pytest.skip() is not wanted here\ndef test_add_one"),
    ),
    edited(
        "a docstring is written",
        (
            PY,
            "def test_add_one():\n",
            'def test_add_one():\n    """One and one.\n\n    Nothing is skipped.\n    """\n',
        ),
    ),
    edited(
        "a block comment is written",
        (JS, "describe('price'", "/*\n * Prices are whole cents.\n */\ndescribe('price'"),
    ),
    edited(
        "an old test asserts more",
        (
            PY,
            "    assert add(1, 1) == 2\n",
            "    assert add(1, 1) == 2\n    assert add(1, 0) == 1\n",
        ),
    ),
    edited(
        "fixtures and imports",
        ("tests/conftest.py", "import pytest\n", "import pytest\nfrom pytest import mark\n"),
    ),
    edited(
        "a fixture is added",
        (
            "tests/conftest.py",
            "@pytest.fixture\n",
            "@pytest.fixture\ndef clock():\n    return Clock()\n\n\n@pytest.fixture\n",
        ),
    ),
    edited(
        "source is changed",
        (
            "shop/basket.py",
            "    return one + other\n",
            "    assert one is not None\n    try:\n        return one + other\n    except TypeError:\n        return 0\n",
        ),
    ),
    Altered("source is removed", files={"shop/basket.py": None}),
    Altered(
        "source that skips",
        files={
            "shop/pages.ts": "export const page = (n) => find({ skip: 10 * n, take: 10 })\n",
            "shop/model.py": f"{SOURCE}\n\ndef test_connection():\n    skip = 5\n    return model.fit(X)\n",
        },
    ),
    edited(
        "a dependency is added",
        ("pyproject.toml", '  "pydantic>=2",\n', '  "pydantic>=2",\n  "pytest>=9",\n'),
    ),
    edited("a linter is set up", ("pyproject.toml", "line-length = 100\n", "line-length = 120\n")),
    edited(
        "a package is added",
        ("package.json", '"preact": "^10.0.0"', '"preact": "^10.1.0",\n    "vitest-dom": "^1.0.0"'),
    ),
    edited(
        "a script is added",
        (
            "package.json",
            '    "lint": "eslint .",\n',
            '    "lint": "eslint .",\n    "format": "prettier .",\n',
        ),
    ),
    *(
        Altered(f"a program: {text[:40]}", files={path: text})
        for path, text in (
            ("shop/cli.py", "import sys\nsys.exit(0)\n"),
            ("shop/pool.py", "import atexit\natexit.register(pool.close)\n"),
            ("web/cli.ts", "process.exit(0);\n"),
            ("cmd/shop/main.go", "package main\nfunc main() { os.Exit(0) }\n"),
            ("src/main/java/Main.java", "class Main { void end() { System.exit(0); } }\n"),
            ("tests/calendar.py", "DAYS = 7\n"),
            ("conftest.py", "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return 1\n"),
        )
    ),
    edited("a target is added", ("Makefile", "clean:\n", "docs:\n\tmkdocs build\n\nclean:\n")),
    Altered("a snapshot is recorded anew", files={next(iter(SNAPSHOTS)): "line 0 0\nanother\n"}),
    Altered(
        "a helper of tests is removed and made",
        files={
            "tests/helpers.py": "def assert_fine(x):\n    assert x\n",
            "docs/ci.md": "# CI\n\nUse pytest.skip() never.\n",
        },
    ),
]
