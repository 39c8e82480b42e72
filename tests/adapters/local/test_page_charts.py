"""The geometry of the charts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from adapters.local.page.charts import LABEL, WIDTH, Item, Stretch, graph, timeline

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def item(id: str, *needs: str) -> Item:
    return Item(id, id, f"Task {id}", "done", "done", needs)


def minutes(number: float) -> datetime:
    return NOON + timedelta(minutes=number)


def test_a_task_is_right_of_all_that_it_needs() -> None:
    drawn = graph([item("d", "b", "c"), item("b", "a"), item("c", "a"), item("a")])
    x = {node.item.id: node.x for node in drawn.nodes}
    assert x["a"] < x["b"] == x["c"] < x["d"]
    assert len({(node.x, node.y) for node in drawn.nodes}) == 4
    assert all(0 < node.x < drawn.width and 0 < node.y < drawn.height for node in drawn.nodes)
    assert len(drawn.edges) == 4


@pytest.mark.parametrize(
    "items",
    [
        [],
        [item("a", "a")],
        [item("a", "b"), item("b", "a")],
        [item("a", "gone")],
    ],
)
def test_a_graph_that_cannot_be_ordered_is_drawn_without_what_does_not_fit(
    items: list[Item],
) -> None:
    assert len(graph(items).nodes) == len(items)


def test_a_timeline_keeps_the_order_and_proportions_of_what_happened() -> None:
    first = Stretch("done", NOON, minutes(10), "agent", "10 min")
    second = Stretch("check", minutes(10), minutes(11), "tests passed")
    drawn = timeline([(item("a"), [first, second])], minutes(12), over=False)
    one, two = drawn.lines[0].bars
    assert one.x == LABEL
    assert one.width == pytest.approx(10 * two.width)
    assert two.x == pytest.approx(one.x + one.width)
    assert drawn.now == pytest.approx(two.x + 2 * two.width)
    assert drawn.now is not None
    assert drawn.now < WIDTH
    assert drawn.folds == ()


def test_hours_in_which_nothing_happened_are_folded() -> None:
    early = Stretch("done", NOON, minutes(10), "agent", "10 min")
    late = Stretch("work", minutes(610), minutes(620), "agent at work")
    waits = Stretch("need", minutes(10), minutes(610), "waits for you", "10 h 00 min")
    drawn = timeline([(item("a"), [early, waits, late])], minutes(620), over=False)
    first, between, last = drawn.lines[0].bars
    assert first.width == pytest.approx(last.width)
    assert between.width < first.width / 5
    assert [fold.text for fold in drawn.folds] == ["10 h 00 min"]
    assert all(after.x - before.x > 40 for before, after in pairwise(drawn.ticks))
