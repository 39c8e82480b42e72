"""What became of reactions is known after a restart, for as long as anybody may ask."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.matrix import storage
from adapters.matrix.storage import ANSWER_PERIOD, Click, Clicks, ClickState
from bot.core.choices import Choice, Verb
from bot.core.people import Person, Thread

AT = datetime(2026, 11, 18, 12, tzinfo=UTC)
THREAD = Thread(platform="matrix", channel="!room", root="$root")
ELSEWHERE = THREAD.model_copy(update={"root": "$other"})
HINT = Choice(label="Hint…", verb=Verb.HINT, about="t:1", asks="What?")


def click(number: int = 1, choice: Choice = HINT, state: ClickState = ClickState.ASKED) -> Click:
    by = Person(platform="matrix", id="@anna:hs")
    at = AT + timedelta(seconds=number)
    return Click(reaction=f"${number}", thread=THREAD, by=by, at=at, choice=choice, state=state)


def test_the_last_question_to_a_person_in_a_thread_is_what_the_next_words_answer(
    tmp_path: Path,
) -> None:
    kept = Clicks(tmp_path / "clicks.jsonl")
    for number in (1, 2):
        kept.record(click(number))
    for known in (kept, Clicks(tmp_path / "clicks.jsonl")):
        assert known.awaiting_answer(THREAD, "@anna:hs", AT) == click(2)
        assert known.awaiting_answer(THREAD, "@bob:hs", AT) is None
        assert known.awaiting_answer(ELSEWHERE, "@anna:hs", AT) is None


def test_half_an_hour_later_nobody_is_asked_any_more(tmp_path: Path) -> None:
    kept = Clicks(tmp_path / "clicks.jsonl")
    kept.record(click())
    until = click().at + ANSWER_PERIOD
    assert kept.awaiting_answer(THREAD, "@anna:hs", until)
    assert kept.awaiting_answer(THREAD, "@anna:hs", until + timedelta(seconds=1)) is None


@pytest.mark.parametrize(
    "other",
    [
        click(state=ClickState.COUNTED),
        click(state=ClickState.WITHDRAWN),
        click(choice=Choice(label="Change", verb=Verb.CHANGE, asks="What else?")),
        click(choice=HINT.model_copy(update={"confirm": "Sure?"})),
        click(choice=Choice(label="Retry", verb=Verb.RETRY)),
    ],
)
def test_other_clicks_wait_for_no_words(tmp_path: Path, other: Click) -> None:
    kept = Clicks(tmp_path / "clicks.jsonl")
    kept.record(other)
    assert kept.awaiting_answer(THREAD, "@anna:hs", AT) is None
    assert kept.find("$1") == other


def test_a_torn_line_costs_nothing_but_itself(tmp_path: Path) -> None:
    path = tmp_path / "clicks.jsonl"
    Clicks(path).record(click())
    path.write_bytes(path.read_bytes() + b'{"reaction": "$2", "thr')
    kept = Clicks(path)
    kept.set_state(click(), ClickState.COUNTED)
    assert Clicks(path).find("$1") == click(state=ClickState.COUNTED)


def test_old_clicks_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "MAX_CLICKS", 3)
    kept = Clicks(tmp_path / "clicks.jsonl")
    for number in range(5):
        kept.record(click(number))
    again = Clicks(tmp_path / "clicks.jsonl")
    assert [again.find(f"${number}") is not None for number in range(5)] == [
        False,
        False,
        *[True] * 3,
    ]
    assert len((tmp_path / "clicks.jsonl").read_text().split()) < 5 * len(
        click().model_dump_json().split()
    )
