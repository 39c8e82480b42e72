"""Histories: one file per ended session, below `.forge/knowledge/history`."""

from __future__ import annotations

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from adapters.registry.text import block, line, stamp, written
from bot.domain.history import History, StepResult

LARGEST = 256 * 1024
MOST = 5_000
ENDING = ".yaml"


def new(history: History) -> bytes:
    return written(_told(history))


def change(data: CommentedMap, history: History) -> None:
    """The session went on and has ended again: what people wrote beside it stays."""
    for key, value in _told(history).items():
        if data.get(key) != value:
            data[key] = value


def _told(history: History) -> CommentedMap:
    return CommentedMap(
        intent_id=history.intent_id,
        intent_type=line(history.intent_type),
        intent_risk=history.intent_risk or None,
        title=line(history.title),
        flow=CommentedSeq(line(step) for step in history.flow),
        step_results=CommentedSeq(_step(step) for step in history.step_results),
        outcome=history.outcome.value,
        failure_reason=block(history.failure_reason) or None,
        observations=CommentedSeq(history.observations),
        created_at=stamp(history.created_at),
    )


def _step(step: StepResult) -> CommentedMap:
    return CommentedMap(
        step=line(step.step),
        result=line(step.result),
        started_at=stamp(step.started_at),
        seconds=step.seconds,
    )
