"""What a document says of the repository is found in its text, and held against the files."""

from __future__ import annotations

import pytest

from bot.core.references import references_in, wrong_references

FILES = {"shop/discounts.py": "one\ntwo\nthree\n", "README.md": "A shop.\n", "web/app.tsx": "x\n"}
NAMES = {"apply_discount", "OrderTotal"}


def wrong(text: str) -> list[str]:
    cited = references_in(text)
    texts = {path: FILES[path] for path in cited.files if path in FILES}
    return [*wrong_references(cited, texts, [name for name in cited.names if name in NAMES])]


@pytest.mark.parametrize(
    "right",
    [
        "The code is in `shop/discounts.py:2`.",
        "Look at shop/discounts.py:1-3, README.md:1 and web/app.tsx.",
        "`shop/coupons.py` (new) holds them; tests go to `shop/coupons.py`.",
        "`shop/割引.py` を新規作成する",
        "`shop/coupons.py` holds them\nshop/\n├── coupons.py    new",
        "See specs/SPEC-1/spec.md.",
        "See https://example.org/docs/guide.html and https://example.org/a/b.py:90 for more.",
        "Any `views.py` may do, and/or v1.2, e.g. 3/4 of it, node.js, example.com.",
        "`apply_discount` calls `OrderTotal`; a new helper `half_price()` is added.",
        "`half_price` is used: `half_price()` again.",
        "`half_price` (new) stands beside `apply_discount` (shop/discounts.py:1).",
        "It is `True`, `pip install x`, `GET /orders`, `None`, `order`.",
        "",
    ],
)
def test_what_is_there_or_new_is_right(right: str) -> None:
    assert wrong(right) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("in `shop/discount.py`", "there is no file shop/discount.py"),
        ("in shop/discounts.py:4", "shop/discounts.py:4 does not exist: the file has 3 lines"),
        ("in `shop/discounts.py:2-9`", "shop/discounts.py:2-9 does not exist: the file has 3 lines"),
        ("in ./lib/x.go:1", "there is no file lib/x.go"),
        ("`apply_discounts()` (shop/discounts.py:1)", "nothing is called apply_discounts"),
        ("In shop/discounts.py:2 `shop.OrderSum` does it", "nothing is called OrderSum"),
        ("`app.tsx:1` does it", "there is no file app.tsx"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_named(text: str, problem: str) -> None:
    assert wrong(text) == [problem]


def test_a_line_of_a_new_file_cannot_be_cited() -> None:
    assert wrong("`shop/coupons.py` (new)\n`shop/coupons.py:12` does it") == [
        "there is no file shop/coupons.py"
    ]


def test_only_lines_are_checked_where_other_paths_may_be_new() -> None:
    cited = references_in(
        "- [ ] T001 in shop/new.py\n  - Read first: shop/old.py:3", lines_only=True
    )
    assert [str(one) for one in cited.paths] == ["shop/old.py:3"]
    assert cited.names == ()


def test_a_long_text_is_read_in_linear_time_and_bounded() -> None:
    text = "a/" * 50_000 + "`" * 20_000 + "".join(f" lib/f{n}.py:1" for n in range(500))
    assert len(references_in(text).paths) <= 100
