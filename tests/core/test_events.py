"""Every event is a fact: it has an id and a time, and nobody changes it afterwards."""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic import BaseModel

from bot.core.events import Event, EventBase, Ticked

KINDS: tuple[type[BaseModel], ...] = get_args(get_args(Event)[0])


def test_there_are_events() -> None:
    assert Ticked in KINDS


@pytest.mark.covers("G-DATA-OrchestratorEvent")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_event_is_a_fact_with_an_id_and_a_time(kind: type[BaseModel]) -> None:
    assert issubclass(kind, EventBase)
    assert kind.model_config.get("frozen") is True
    assert {"id", "at", "kind"} <= set(kind.model_fields)
