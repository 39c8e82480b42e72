"""What stands below the line being typed."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from adapters.console.progress import status_changes, toolbar
from bot.core.cards import Card, StatusCard, TaskLine
from tests.fakes import cards


def read(
    status: StatusCard | None,
    card: Card | None,
    width: int = 100,
    height: int = 40,
    notice: str = "",
) -> list[str]:
    return "".join(part[1] for part in toolbar(status, card, width, height, notice)).split("\n")


def many(count: int) -> StatusCard:
    tasks = tuple(
        TaskLine(key=f"T{n:03}", name=f"Task {n}", state="Running" if n == count else "Pending")
        for n in range(1, count + 1)
    )
    return cards.STATUS.model_copy(update={"tasks": tasks})


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("card", [None, cards.APPROVAL, cards.NEEDS_YOU])
def test_it_never_wraps(width: int, card: Card | None) -> None:
    long = cards.STATUS.model_copy(update={"title": "長い題名" * 30, "trouble": "x\ny " * 40})
    assert max(cell_len(line) for line in read(long, card, width)) <= width


def test_it_shows_every_task_with_state_time_and_the_last_line_of_its_pane() -> None:
    head, *tasks, keys = read(cards.STATUS, None)
    assert head.startswith(
        "Add a dark mode  active · executing · 7 model calls, about 22,211 tokens"
    )
    assert [line.split()[1] for line in tasks] == ["T001", "T002", "T003"]
    assert "1 min 15 s" in tasks[0]
    assert tasks[1].endswith("│ E assert 1 == 2")
    assert keys == "Esc stop   Ctrl-D leave"


@pytest.mark.covers("G-RULE-UI-3")
def test_it_leaves_room_for_the_conversation() -> None:
    lines = read(many(50), None, height=24)
    assert len(lines) <= 24 // 2
    assert any("T050" in line for line in lines), "what moves is shown first"
    assert lines[-2] == "  and 43 pending"


def test_it_says_what_can_be_pressed() -> None:
    assert read(None, cards.APPROVAL) == [
        "Enter Approve   2 Request changes   3 Discard   ↓ choose   Ctrl-D leave"
    ]
    assert "Enter" not in read(None, None)[0]


def test_a_session_without_tasks_needs_no_room() -> None:
    assert len(read(cards.STATUS.model_copy(update={"tasks": ()}), None)) == 1


def test_a_notice_stands_in_for_the_keys() -> None:
    assert read(None, cards.APPROVAL, notice="Once more leaves.") == ["Once more leaves."]


def test_what_panes_and_titles_contain_is_harmless() -> None:
    task = cards.STATUS.tasks[1].model_copy(
        update={"tail": "\x1b[2Jx\u202e\x07", "name": "a\nb\x1b[1m"}
    )
    text = read(cards.STATUS.model_copy(update={"tasks": (task,), "title": "t\x1b]0;x\x07"}), None)
    assert not any(ord(char) < 32 or char == "\u202e" for line in text for char in line)
    assert len(text) == 3


def test_only_what_moved_is_told() -> None:
    assert status_changes(cards.STATUS, cards.STATUS) == []
    update = {"trouble": "No model", "status": "Queued", "queue_position": 1, "waiting": 2}
    lines = [
        line.plain for line in status_changes(cards.STATUS, cards.STATUS.model_copy(update=update))
    ]
    assert lines == ["Waiting: No model", "The session is queued, place 1 of 2."]
