"""What 0.1.0 has written is read as it was meant, and the same comes of it as before."""

from __future__ import annotations

import json

import pytest

from tests.traces import journals

KINDS = 40
"""Of events, and of actions, at least: each sort must be there before the samples say anything."""


def test_there_is_a_sample_of_every_event_and_action_of_that_version() -> None:
    _, inbox, outbox, *_ = map(json.loads, journals.expected()["every-kind"])
    for name, waiting in (inbox, outbox):
        assert len({one["kind"] for one in waiting}) >= KINDS, name
    assert {*journals.names()} == journals.expected().keys()


@pytest.mark.parametrize("name", journals.names())
def test_an_old_journal_is_read_and_goes_on_as_it_did(name: str) -> None:
    assert journals.told(journals.read(name)) == journals.expected()[name]
