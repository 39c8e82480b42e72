"""The interface texts of the page in Japanese, by their English. What the bot itself says in cards is not translated."""

from __future__ import annotations

JAPANESE: dict[str, str] = {}
