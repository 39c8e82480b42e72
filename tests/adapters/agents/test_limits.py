"""Limits of an agent's account: in which words each CLI tells of them, and until when they last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from adapters.agents.launch import AgentClis
from bot.core.runs import CompletionSource, Limit, RunEnd
from bot.core.states import Outcome

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
"""13:00 in Berlin."""


def understood(
    agent: str, message: str, *, at: datetime = NOW, outcome: Outcome = Outcome.FAILED
) -> Limit | None:
    end = RunEnd(outcome=outcome, source=CompletionSource.PROCESS_EXIT, message=message)
    return AgentClis({}, zone=BERLIN).with_limit(agent, end, "", at).limit


def utc(day: int, hour: int, minute: int = 0, *, month: int = 11, year: int = 2026) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


@pytest.mark.covers("O-X14")
@pytest.mark.parametrize(
    ("agent", "says", "until"),
    [
        ("claude", "You've hit your 5-hour limit · resets 3pm (Europe/Berlin)", utc(18, 14)),
        ("claude", "You’ve hit your session limit · resets 3:30pm (Europe/Berlin)", utc(18, 14, 30)),
        ("claude", "You've hit your limit · resets 3pm (America/New_York)", utc(18, 20)),
        ("claude", "You've hit your limit · resets 3pm (Mars/Olympus)", utc(18, 14)),
        ("claude", "You've hit your weekly limit · resets Nov 20, 9am (UTC)", utc(20, 9)),
        ("claude", "You've hit your Opus limit · resets Nov 20 at 9am (UTC)", utc(20, 9)),
        ("claude", "You've hit your weekly limit · progress saved", None),
        ("claude", "You're out of extra usage · resets 12am (UTC)", utc(19, 0)),
        ("claude", "Claude AI usage limit reached|1795050000", utc(19, 1)),
        ("claude", "5-hour limit reached ∙ resets 12pm (UTC)", utc(19, 12)),
        ("claude", "Your credit balance is too low to access the API", None),
        ("codex", "You’ve hit your usage limit. Try again later.", None),
        ("codex", "You've hit your usage limit. Upgrade or try again at 3:05 PM.", utc(18, 14, 5)),
        ("codex", "You've hit your usage limit … or try again at Nov 19th, 2026 12:24 AM.", utc(18, 23, 24)),
        ("codex", "You've hit your usage limit. Try again in 2 hours 5 minutes.", utc(18, 14, 5)),
        ("codex", "You've hit your usage limit. Try again in 1 day, 1 hour and 1 minute.", utc(19, 13, 1)),
        ("codex", "exceeded retry limit, last status: 429 Too Many Requests", None),
        ("gemini", "Your quota will reset after 3h2m10s.", NOW + timedelta(hours=3, minutes=2, seconds=10)),
        ("gemini", "Usage limit reached for gemini-pro.\nAccess resets at 3:05 PM GMT+1.", utc(18, 14, 5)),
        ("gemini", "Usage limit reached.\nAccess resets at 3:05 PM UTC.", utc(18, 15, 5)),
        ("gemini", "Usage limit reached.\nAccess resets at 3:05 PM GMT-5.", utc(18, 20, 5)),
        ("gemini", "Usage limit reached.\nAccess resets at 15:05.", utc(18, 14, 5)),
        ("gemini", "[API Error: You have exhausted your daily quota on this model.]", None),
        ("opencode", "HTTP 429: Slow down (retry after 60 s)", utc(18, 12, 1)),
        ("opencode", "HTTP 429: Usage limit reached", None),
    ],
)  # fmt: skip
def test_a_limit_is_understood_with_its_end(agent: str, says: str, until: datetime | None) -> None:
    limit = understood(agent, says)
    assert limit is not None
    assert limit.resets_at == until
    assert limit.says.split()[0] in says


@pytest.mark.covers("O-X14")
@pytest.mark.parametrize("agent", ["claude", "claude-print", "codex", "gemini", "opencode"])
@pytest.mark.parametrize("message", [
    "I have raised the limit of the list to 100 and reset the counter at 3pm.",
    "FAILED tests/test_limits.py::test_limit_reached - assert 429 == 200",
    "API Error: 400 max_tokens: 8192 > 4096, which is the maximum",
    "HTTP 500: the rate of errors is at its limit", "",
])  # fmt: skip
def test_ordinary_words_about_limits_are_none(agent: str, message: str) -> None:
    assert understood(agent, message) is None


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.FAILED])
def test_the_agents_own_answer_is_never_taken_for_an_error(outcome: Outcome) -> None:
    said = "The message is now: You've hit your limit · resets 3pm (Europe/Berlin)"
    assert understood("claude", said, outcome=outcome) is None


def test_what_stands_on_the_screen_is_not_asked() -> None:
    end = RunEnd(outcome=Outcome.FAILED, source=CompletionSource.HOOK, message="It broke.")
    screen = '+    say("You\'ve hit your limit · resets 3pm (Europe/Berlin)")'
    assert AgentClis({}, zone=BERLIN).with_limit("claude", end, screen, NOW) == end


def test_a_time_of_day_that_is_over_is_tomorrows() -> None:
    limit = understood("claude", "You've hit your limit · resets 12:30am (Europe/Berlin)")
    assert limit is not None
    assert limit.resets_at == utc(18, 23, 30)


@pytest.mark.parametrize(
    ("at", "until"),
    [
        # the clocks go forward in the night to the 29th: seven in the morning comes an hour sooner
        (utc(28, 18, month=3), utc(29, 5, month=3)),
        (utc(27, 18, month=3), utc(28, 6, month=3)),
        # and back in the night to the 25th
        (utc(24, 18, month=10), utc(25, 6, month=10)),
        (utc(23, 18, month=10), utc(24, 5, month=10)),
    ],
)
def test_a_night_in_which_the_clocks_change_is_counted_as_it_is(
    at: datetime, until: datetime
) -> None:
    limit = understood("claude", "You've hit your limit · resets 7am (Europe/Berlin)", at=at)
    assert limit is not None
    assert limit.resets_at == until


def test_january_said_in_december_is_next_years() -> None:
    at = utc(30, 12, month=12)
    limit = understood("claude", "You've hit your weekly limit · resets Jan 2, 9am (UTC)", at=at)
    assert limit is not None
    assert limit.resets_at == utc(2, 9, month=1, year=2027)


@pytest.mark.parametrize("says", [
    "You've hit your limit · resets 25pm (UTC)",
    "You've hit your limit · resets Feb 30, 9am (UTC)",
    "You've hit your weekly limit · resets Nov 17, 9am (UTC)",
    "Claude AI usage limit reached|1600000000", "Claude AI usage limit reached|9999999999999",
])  # fmt: skip
def test_a_time_that_makes_no_sense_is_as_if_none_were_told(says: str) -> None:
    limit = understood("claude", says)
    assert limit is not None
    assert limit.resets_at is None


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=9)), BERLIN, None])
def test_the_end_is_always_in_the_future(zone: timezone | ZoneInfo | None) -> None:
    clis = AgentClis({}, zone=zone)
    for hour in range(24):
        at = NOW + timedelta(hours=hour, minutes=30)
        for clock in ("12am", "3:05 AM", "12pm", "11:59 pm", "15:00"):
            end = RunEnd(
                outcome=Outcome.FAILED,
                source=CompletionSource.HOOK,
                message=f"You've hit your usage limit. Try again at {clock}.",
            )
            limit = clis.with_limit("codex", end, "", at).limit
            assert limit is not None
            assert limit.resets_at is not None
            assert timedelta(0) < limit.resets_at - at <= timedelta(hours=24)


def test_the_words_are_kept_in_one_short_line() -> None:
    limit = understood("codex", "Failed.\nYou've hit your usage limit. " + "x" * 1000)
    assert limit is not None
    assert limit.says.startswith("You've hit")
    assert len(limit.says) <= 300


@pytest.mark.parametrize(("agent", "says"), [
    ("codex", "usage limit, try again in 99999999999999 days"),
    ("codex", f"usage limit, try again in {'9' * 400} days"),
    ("claude", "Session limit reached · resets 5pm (GMT+25)"),
    ("claude", "Session limit reached · resets Jan 1, 0001 at 5am (UTC+14)"),
    ("claude", "Session limit reached · resets Dec 31, 9999 at 11pm (UTC-12)"),
])  # fmt: skip
def test_a_moment_beyond_every_calendar_is_none(agent: str, says: str) -> None:
    limit = understood(agent, says)
    assert limit is not None
    assert limit.resets_at is None
