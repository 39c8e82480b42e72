"""What others have written, as far as it can be written down again. Pure.

JSON may be nested deeper than whoever reads it next can follow, and hold halves of characters that no file and no
message takes. A single event like that, kept by the homeserver, would meet the bot at each of its starts.
"""

from __future__ import annotations

from typing import Any

DEEPEST = 100
"""Nothing in Matrix that means something comes near it."""


def pruned(value: Any, levels: int = DEEPEST) -> Any:
    """The same, with nothing in the place of what lies deeper, and a question mark in that of half a character."""
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-8", "replace").decode()
        case dict() if levels:
            return {pruned(name): pruned(one, levels - 1) for name, one in value.items()}
        case list() if levels:
            return [pruned(one, levels - 1) for one in value]
        case dict() | list():
            return None
        case _:
            return value
