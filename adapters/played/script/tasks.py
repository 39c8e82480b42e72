"""The three tasks of the played plan: two independent ones, and one that needs the first one's code."""

from __future__ import annotations

from dataclasses import dataclass

PARALLELISM = 2


@dataclass(frozen=True)
class PlayedTask:
    key: str
    title: str
    description: str
    story: str
    files: tuple[str, ...]
    acceptance: tuple[str, ...]
    requirements: tuple[str, ...]
    depends_on: tuple[str, ...] = ()

    def as_reply(self) -> dict[str, object]:
        return {
            "key": self.key,
            "title": self.title,
            "description": self.description,
            "story": self.story,
            "parallel": not self.depends_on,
            "depends_on": list(self.depends_on),
            "files": list(self.files),
            "acceptance": list(self.acceptance),
            "requirements": list(self.requirements),
            "type": "implementation",
            "worktree": "new",
        }


TASKS = (
    PlayedTask(
        key="T001",
        title="Discount codes",
        description="Write a module that knows the issued codes and what each takes off a total. "
        "Money stays whole cents. Tests first.",
        story="US1",
        files=("basket/discount.py", "tests/test_discount.py"),
        acceptance=(
            "WELCOME10 takes 200 off a total of 2000",
            "A fraction of a cent is dropped",
            "An unknown code is refused, and the refusal names it",
        ),
        requirements=("FR-001", "FR-002", "FR-003"),
    ),
    PlayedTask(
        key="T002",
        title="Printable receipt",
        description="Write a module that prints a basket as a receipt of 32 columns: an item a "
        "line, the total below. Tests first.",
        story="US2",
        files=("basket/receipt.py", "tests/test_receipt.py"),
        acceptance=(
            "Every line is exactly 32 columns wide",
            "An amount of 205 cents is printed as 2.05",
            "The total stands on the last line",
        ),
        requirements=("FR-004", "FR-005"),
    ),
    PlayedTask(
        key="T003",
        title="Checkout with discounts",
        description="Write the checkout: the bill of a basket, with at most one discount code taken "
        "off by the module of T001. Tests first.",
        story="US3",
        files=("basket/checkout.py", "tests/test_checkout.py"),
        acceptance=(
            "Without a code the whole total is due",
            "With a code the bill shows total, reduction and what is due",
            "An unknown code stops the checkout",
        ),
        requirements=("FR-006",),
        depends_on=("T001",),
    ),
)
