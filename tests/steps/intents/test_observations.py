"""An agent's notes are data of a stranger: bounded, checked line by line, and never sorted into kinds."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from bot.core.intent import guess_type
from bot.core.projections.registry import (
    LONGEST_OBSERVATION,
    MAX_OBSERVATIONS_PER_RUN,
    EvidenceType,
    Observation,
    Observer,
    parse_observations,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)


def read(*lines: object) -> tuple[Observation, ...]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return parse_observations(text, "run-1", "add-codes", AT)


@pytest.mark.covers("F-OBSERVE-2", "F-OBSERVE-3", "F-OBSERVE-4")
def test_a_line_is_an_observation_with_its_evidence() -> None:
    grounds = [{"type": kind.value, "ref": f"ref of {kind}"} for kind in EvidenceType]
    [one] = read({"content": "  Doubled\n code ", "evidence": grounds, "mood": "bad"})
    assert (one.content, one.source, one.intent_id) == (
        "Doubled code",
        Observer.IMPLEMENT,
        "add-codes",
    )
    assert [ground.type for ground in one.evidence] == list(EvidenceType)
    assert (one.processed, one.created_at) == (False, AT)


def test_the_same_run_notes_the_same_under_the_same_id() -> None:
    line = {"content": "Dead code"}
    assert read(line, line) == read(line)
    assert parse_observations(json.dumps(line), "run-2", "add-codes", AT)[0].id != read(line)[0].id


@pytest.mark.covers("F-OBSERVE-3")
@pytest.mark.parametrize(
    "line",
    [
        "",
        "no JSON",
        "[1]",
        "null",
        {"content": ""},
        {"content": " \n"},
        {"content": 7},
        {"content": "x" * (LONGEST_OBSERVATION + 1)},
        {"content": "x", "evidence": [{"type": "rumour", "ref": "y"}]},
        {"content": "x", "evidence": [{"type": "file", "ref": "y"}] * 11},
        {"content": "x", "evidence": "README.md"},
        '{"content": "x"' * 1000,
        "[" * 100_000,
    ],
)
def test_what_is_no_observation_is_passed_over(line: object) -> None:
    assert [one.content for one in read(line, {"content": "Good"})] == ["Good"]


def test_what_names_nothing_is_no_evidence() -> None:
    bad = [{"type": "file", "ref": ref} for ref in ("", "a\nb", "a\u202eb", "x" * 400)]
    [one] = read({"content": "x", "evidence": [*bad, {"type": "file", "ref": "a b.py"}]})
    assert [ground.ref for ground in one.evidence] == ["a b.py"]


def test_one_run_notes_only_so_much() -> None:
    assert len(read(*({"content": f"n{n}"} for n in range(100)))) == MAX_OBSERVATIONS_PER_RUN


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("Fix the login", "fix"),
        ("ログインの不具合を修正", "fix"),
        ("Refactor the parsers", "refactor"),
        ("Raise the coverage", "test"),
        ("Update the README", "docs"),
        ("Investigate the slow start", "audit"),
        ("Add a reset link", "feature"),
        ("", "feature"),
    ],
)
def test_without_a_model_the_kind_follows_from_the_words(text: str, type: str) -> None:
    assert guess_type(text) == type
