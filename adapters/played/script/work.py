"""What the played agent does on each task: tests first, then code. T002 has a slip in it, and its repair."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.played import files


@dataclass(frozen=True)
class Step:
    """One file, written and committed."""

    path: str
    commit: str

    @property
    def content(self) -> str:
        return files.text(f"work/{self.path.rpartition('/')[2]}")


@dataclass(frozen=True)
class Repair:
    """What is put right once a failed check was told."""

    path: str
    wrong: str
    right: str
    cause: str
    commit: str


@dataclass(frozen=True)
class Work:
    thought: str
    steps: tuple[Step, ...]
    needs: str = ""
    """A file that an earlier task makes."""
    repair: Repair | None = None


WORK = {
    "T001": Work(
        thought="Codes are a table, the reduction a function: easy to test, easy to extend.",
        steps=(
            Step("tests/test_discount.py", "test(discount): say what a discount code does"),
            Step("basket/discount.py", "feat(discount): take discount codes off a total"),
        ),
    ),
    "T002": Work(
        thought="A receipt is text of a fixed width: columns for name, quantity, price, amount.",
        steps=(
            Step("tests/test_receipt.py", "test(receipt): say how a receipt looks"),
            Step("basket/receipt.py", "feat(receipt): print a basket as a receipt"),
        ),
        # The slip is a real one, and the test above finds it: 205 cents come out as "2.5".
        repair=Repair(
            path="basket/receipt.py",
            wrong="{cents % 100}",
            right="{cents % 100:02d}",
            cause="cents below ten lose their leading zero: 205 is printed as 2.5",
            commit="fix(receipt): print cents with two digits",
        ),
    ),
    "T003": Work(
        thought="The bill asks basket.discount for the reduction, and only adds up.",
        steps=(
            Step("tests/test_checkout.py", "test(checkout): say what a customer has to pay"),
            Step("basket/checkout.py", "feat(checkout): take a discount code at the checkout"),
        ),
        needs="basket/discount.py",
    ),
}
