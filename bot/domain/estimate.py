"""What kind of work a wish is, judged by its words alone: for want of a model."""

from __future__ import annotations

import re

_TYPES = (
    ("fix", r"\b(?:fix|bug|broken|wrong|crash|error|fail)\w*|修正|バグ|不具合|直[すし]"),
    ("refactor", r"\b(?:refactor|clean up|simplif|rename|dedup|duplicate)\w*|リファクタ|整理|重複"),
    ("test", r"\b(?:tests?|coverage)\b|テスト"),
    ("docs", r"\b(?:docs?|documentation|readme|comment)\b|ドキュメント|文書"),
    ("audit", r"\b(?:audit|investigat|review|look into|find out)\w*|調査|監査"),
)


def type_of(text: str) -> str:
    """The first kind whose words stand in it; a feature where none does."""
    lower = text.casefold()
    return next((kind for kind, words in _TYPES if re.search(words, lower)), "feature")
