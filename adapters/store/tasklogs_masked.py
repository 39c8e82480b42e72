"""Entries of logs as they may be written: masked first and cut then, for half a secret is not known for one."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel, JsonValue

from bot.domain.masking import Masker
from bot.domain.tasklog import TRUNCATED, Bounds, LogEntry, truncated

log = logging.getLogger(__name__)
M = TypeVar("M", bound=BaseModel)
_END = 8192
"""Characters dropped behind a cut that was made before masking."""
_HIDDEN: dict[str, JsonValue] = {"hidden": "it could not be masked"}


class Masked:
    def __init__(self, masker: Masker, bounds: Bounds) -> None:
        self._masker = masker
        self._bounds = bounds

    def model(self, model: M) -> M:
        return self._masker.mask_model(model, personal=True)

    def entries(self, entries: Iterable[LogEntry]) -> list[LogEntry]:
        return [self._entry(entry) for entry in entries]

    def _entry(self, entry: LogEntry) -> LogEntry:
        try:
            content = {key: self._cut(value) for key, value in entry.content.items()}
            content = self._masker.mask_model(content, personal=True)
        except Exception:
            # whatever went wrong: what is not masked is not written, and the others are
            log.exception("a log entry could not be masked", extra={"data": {"id": entry.id}})
            content = _HIDDEN
        return truncated(entry.model_copy(update={"content": content}), self._bounds.entry)

    def _cut(self, value: JsonValue) -> JsonValue:
        """Masking takes its time: of a text that will be cut anyway only as much as can stay."""
        if isinstance(value, list):
            return [self._cut(inner) for inner in value]
        if isinstance(value, dict):
            return {key: self._cut(inner) for key, inner in value.items()}
        longest = self._bounds.entry + _END
        if not isinstance(value, str) or len(value) <= longest:
            return value
        return self._masker.mask_personal(value[:longest])[:-_END] + TRUNCATED
