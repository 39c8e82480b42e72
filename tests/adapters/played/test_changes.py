"""What the played plan becomes when somebody wants something else: before the approval, and while tasks run."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.spec_kit.spec import requirement_ids, story_titles
from tests.adapters.played.conftest import replied, written

WIDER = "Receipts of 40 columns, please"
EXPORT = "Also add a CSV export of the basket"


def test_a_revision_visibly_takes_in_what_was_asked_for() -> None:
    first = written("specify")
    second = written("specify", change_request=WIDER, previous={"spec": first})
    assert WIDER in second.partition("## Assumptions")[2]
    assert "exactly 40 columns wide" in second
    assert "32 columns" not in second
    assert WIDER in written("plan", change_request=WIDER)
    receipt = by_key(replied("tasks", change_request=WIDER))["T002"]
    assert "Every line is exactly 40 columns wide" in receipt["acceptance"]
    assert any(WIDER in text for text in receipt["acceptance"])


@pytest.mark.parametrize("wish", ["History too, 3 agents at once", "注文履歴も追加、3つ同時に"])
def test_as_many_agents_work_at_once_as_somebody_asked_for(wish: str) -> None:
    assert replied("tasks")["parallelism"] == 2
    assert replied("tasks", change_request=wish)["parallelism"] == 3
    kept = written("specify", change_request=wish)
    assert replied("tasks", change_request=WIDER, previous={"spec": kept})["parallelism"] == 3


def test_a_wish_is_held_against_the_tasks_it_is_about_and_no_others() -> None:
    before, after = by_key(replied("tasks")), by_key(replied("tasks", change_request=WIDER))
    assert [key for key in before if before[key] != after[key]] == ["T002"]
    vague = by_key(replied("tasks", change_request="Make it nicer"))
    assert [key for key in before if before[key] != vague[key]] == ["T003"]


def test_a_second_change_keeps_the_first() -> None:
    first = written("specify", change_request=WIDER, previous={"spec": written("specify")})
    told = {"change_request": "Codes of 割引 in capitals", "previous": {"spec": first}}
    second, tasks = written("specify", **told), by_key(replied("tasks", **told))
    for wish in (WIDER, "Codes of 割引 in capitals"):
        assert f"“{wish}”" in second.partition("## Assumptions")[2]
        assert wish in written("plan", **told)
    assert "exactly 40 columns wide" in second
    assert any(WIDER in text for text in tasks["T002"]["acceptance"])
    assert any("capitals" in text for text in tasks["T001"]["acceptance"])


def test_something_new_becomes_a_task_of_its_own_and_a_story_with_requirements() -> None:
    told = {"change_request": EXPORT}
    tasks = by_key(replied("tasks", **told))
    assert list(tasks) == ["T001", "T002", "T003", "T004"]
    assert tasks["T004"]["title"] == "CSV export of the basket"
    assert tasks["T004"]["depends_on"] == ["T001"]
    assert tasks["T004"]["requirements"] == ["FR-007", "FR-008"]
    assert {key: tasks[key] for key in list(tasks)[:3]} == by_key(replied("tasks"))
    spec = written("specify", **told)
    assert requirement_ids(spec)[-2:] == ("FR-007", "FR-008")
    assert story_titles(spec)["US4"] == "CSV export of the basket"


def test_while_tasks_run_those_that_are_not_affected_stay_letter_for_letter() -> None:
    now = under_way(affected="T002")
    now[0]["acceptance"] = ["Something people put there by hand: 32 columns"]
    now[2]["depends_on"] = ["T002"]
    tasks = by_key(replied("tasks", tasks_now=now, change_request=WIDER))
    assert list(tasks) == ["T001", "T002", "T003"]
    for kept in (now[0], now[2]):
        there = {name: kept[name] for name in kept if name not in ("state", "affected")}
        assert tasks[kept["key"]] == there
    receipt = tasks["T002"]
    assert "Every line is exactly 40 columns wide" in receipt["acceptance"]
    assert "a receipt of 40 columns" in receipt["description"]
    assert any(WIDER in text for text in receipt["acceptance"])
    before = by_key(replied("tasks"))["T002"]
    assert {
        name: receipt[name] for name in before if name not in ("description", "acceptance")
    } == {name: before[name] for name in before if name not in ("description", "acceptance")}


def under_way(affected: str) -> list[dict[str, Any]]:
    names = ("key", "title", "description", "acceptance", "files", "depends_on", "requirements")
    return [
        {name: task[name] for name in names}
        | {"state": "Running", "affected": task["key"] == affected}
        for task in replied("tasks")["tasks"]
    ]


def by_key(reply: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {task["key"]: task for task in reply["tasks"]}
