"""What a request is about in a repository: words, definitions, ranks, and what fits into a budget."""

from __future__ import annotations

import pytest

from bot.core.context.excerpts import RequestContext, compose
from bot.core.context.outline import names, outline
from bot.core.context.ranking import PastChange, SourceFile, rank
from bot.core.context.words import compounds, paths_in, words

SAME = (
    ("parser", "parsing"),
    ("discounts", "discount"),
    ("retries", "retry"),
    ("configuration", "configure"),
    ("HTTPServer", "http_server"),
    ("userName", "user-names"),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_forms_of_a_word_are_one_stem(one: str, other: str) -> None:
    assert words(one) == words(other)


def test_words_that_say_nothing_are_left_out() -> None:
    assert words("please make it so that we have the discount") == ["discount"]


def test_japanese_is_compared_by_pairs_of_signs() -> None:
    assert set(words("割引を追加")) & set(words("割引の計算"))


def test_identifiers_and_paths_are_found_in_a_request() -> None:
    request = "Let `total` and BasketItem use round_half_up (see shop/prices.py, CHANGELOG.md)"
    assert compounds(request) == {"total", "basketitem", "round_half_up"}
    assert paths_in(request) >= {"shop/prices.py", "changelog.md"}


OUTLINES = {
    "python": (
        """\
import os

LIMIT = 3

@cached
async def total(items: list[int],
) -> int:
    return 1


class Basket(Base):
    def add(self, item):
        '''The
        class above
        '''
        self.items.append(item)


type Price = int
""",
        [("LIMIT", 3, 3), ("total", 6, 8), ("Basket", 11, 16), ("add", 12, 16), ("Price", 19, 19)],
    ),
    "go": (
        "package shop\n\nfunc (b *Basket) Total(items []Item) (int, error) {\n\treturn 1, nil\n}\n\ntype Item struct {\n\tName string\n}\n",
        [("shop", 1, 1), ("Total", 3, 5), ("Item", 7, 9)],
    ),
    "rust": (
        "pub(crate) struct Basket<T> {\n    items: Vec<T>,\n}\n\nimpl<T> Basket<T> {\n    pub async fn total(&self) -> u32 {\n        1\n    }\n}\n",
        [("Basket", 1, 3), ("Basket", 5, 9), ("total", 6, 8)],
    ),
    "typescript": (
        "export const total = (items: Item[]) => {\n  return 1\n}\n\nexport class Basket {\n  private add(item: Item): void {\n    this.items.push(item)\n  }\n}\n",
        [("total", 1, 3), ("Basket", 5, 9), ("add", 6, 8)],
    ),
    "java": (
        "public final class Basket {\n    @Override\n    public int total(List<Item> items) throws Oops {\n        if (items.isEmpty()) {\n            return 0;\n        }\n        return 1;\n    }\n}\n",
        [("Basket", 1, 9), ("total", 3, 8)],
    ),
    "c": (
        "#define LIMIT 3\n\nstatic int basket_total(struct basket *b)\n{\n    return 1;\n}\n",
        [("LIMIT", 1, 1), ("basket_total", 3, 6)],
    ),
    "ruby": (
        "class Basket\n  def total\n    1\n  end\nend\n",
        [("Basket", 1, 5), ("total", 2, 4)],
    ),
    "php": (
        "<?php\nclass Basket\n{\n    public function total(array $items): int\n    {\n        return 1;\n    }\n}\n",
        [("Basket", 2, 8), ("total", 4, 7)],
    ),
}


@pytest.mark.parametrize("language", OUTLINES)
def test_definitions_are_found_with_their_first_and_last_line(language: str) -> None:
    text, wanted = OUTLINES[language]
    path = "shop.py" if language == "python" else f"shop.{language}"
    assert [(one.name, one.first, one.last) for one in outline(text, path)] == wanted
    assert names(text, path) == [name for name, _, _ in wanted]


@pytest.mark.parametrize(
    "line",
    [
        "if (a) {",
        "return total(items)",
        "for (i = 0;;) {",
        "x = total(1)",
        "total(items)",
        "total(",
        "await total(items,",
    ],
)
@pytest.mark.parametrize("path", ["shop.py", "shop.java"])
def test_statements_are_no_definitions(line: str, path: str) -> None:
    assert names(f"    {line}\n        pass\n", path) == []


HOSTILE = (
    *("a" * 400_000, "a b " * 100_000, "public " * 60_000, "public\n" * 60_000, " " * 400_000),
    *("x" + ")" * 400_000, "f(" + "a)" * 200_000, "a*" * 200_000, "a & " * 100_000, "A" * 400_000),
    *("a::" * 130_000, "def f(" + "(" * 400_000, "\n" * 400_000, "x =\n" * 100_000, "`" * 400_000),
    *("Aa" * 200_000, "a/" * 200_000, "a." * 200_000, "CREATE " * 60_000, "<" * 400_000),
)


@pytest.mark.parametrize("path", ["shop.py", "shop.java"])
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_no_text_takes_longer_than_its_length(text: str, path: str) -> None:
    """A pattern that goes back and forth over these would not come to its end."""
    assert len(outline(text, path)) <= 2_000
    assert len(compounds(text) | paths_in(text)) <= 1
    assert all(words(text))


def _file(path: str, *defined: str) -> SourceFile:
    stems = " ".join(stem for name in defined for stem in words(name))
    return SourceFile(path, f" {stems} ", f" {' '.join(defined).lower()} ")


FILES = [
    _file("shop/discounts.py", "apply_discount", "Coupon"),
    _file("shop/basket.py", "Basket", "total"),
    _file("shop/mail.py", "send_mail"),
    _file("admin/discount_report.py", "render"),
    _file("lights/wiz/number.py", "setup"),
    _file("shop/refund.py"),
    _file("shop/refund_report_mailer.py"),
    *(_file(f"lib/other{n}.py", f"thing{n}") for n in range(40)),
]
RANKS = {
    "Discounts must not apply to gift cards": "shop/discounts.py",
    "The total of a basket is wrong": "shop/basket.py",
    "send_mail raises for an empty address": "shop/mail.py",
    "render the discount report as a table": "admin/discount_report.py",
    "Look at lib/other7.py": "lib/other7.py",
    "WiZ lamps with two heads": "lights/wiz/number.py",
    "A refund is paid twice": "shop/refund.py",
}


@pytest.mark.parametrize("request_text", RANKS)
def test_the_file_that_is_meant_comes_first(request_text: str) -> None:
    assert rank(request_text, FILES, [])[0].path == RANKS[request_text]


def test_what_similar_changes_touched_is_found_without_a_common_name() -> None:
    history = [PastChange(tuple(words("round prices half up")), ("lib/other3.py",))]
    history += [
        PastChange(tuple(words(f"change number {n}")), ("lib/other9.py",)) for n in range(30)
    ]
    assert "lib/other3.py" in [
        one.path for one in rank("Prices are rounded wrongly", FILES, history)[:2]
    ]


def test_a_sweeping_commit_says_nothing_about_its_files() -> None:
    wide = PastChange(tuple(words("round prices")), tuple(file.path for file in FILES))
    ranked = rank("round prices", FILES * 1, [wide])
    assert ranked == []


def test_ranks_do_not_depend_on_the_order_of_files() -> None:
    for request in RANKS:
        assert rank(request, FILES, []) == rank(request, FILES[::-1], [])


HELPERS = "".join(
    f"def helper{n}(value):\n    # nothing of interest\n    return value + {n}\n\n\n"
    for n in range(300)
)
CODE = (
    HELPERS + "def apply_discount(order):\n    rate = order.rate\n    return order.total * rate\n"
)


def _composed(tokens: int) -> RequestContext:
    request = "apply_discount must not go below zero"
    ranked = rank(request, [_file("shop/prices.py", "apply_discount"), *FILES], [])
    texts = {"shop/prices.py": CODE, "shop/discounts.py": "class Coupon:\n    pass\n"}
    return compose(request, "c" * 40, ranked, ["tests/test_prices.py"], texts, tokens=tokens)


@pytest.mark.parametrize("tokens", [300, 1_000, 4_000, 20_000])
def test_a_context_keeps_to_its_budget(tokens: int) -> None:
    found = _composed(tokens)
    assert 0 < found.tokens <= tokens
    assert found.tokens == -(-len(found.text.encode()) // 3)


def test_a_context_shows_the_code_that_is_meant_with_its_line_numbers() -> None:
    found = _composed(1_500)
    line = CODE.count("\n") - 2
    assert f"{line}: def apply_discount(order):" in found.text
    assert "tests/test_prices.py" in found.text
    prices = next(file for file in found.files if file.path == "shop/prices.py")
    assert any(first <= line <= last for first, last in prices.ranges)
    assert "defines apply_discount" in prices.why


def test_the_shown_lines_are_exactly_the_ranges_that_are_told() -> None:
    found = _composed(1_500)
    shown = found.text.partition("## Code")[2].splitlines()
    numbers = [int(line.partition(":")[0]) for line in shown if line.partition(":")[0].isdigit()]
    told = [
        n for file in found.files for first, last in file.ranges for n in range(first, last + 1)
    ]
    assert sorted(numbers) == sorted(told)


def test_nothing_matches_an_empty_request() -> None:
    assert compose("", "c", rank("", FILES, []), [], {}, tokens=100).files == ()
